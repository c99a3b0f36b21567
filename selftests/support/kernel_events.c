// SPDX-License-Identifier: GPL-2.0
/* Kernel events: the worker, the kernel's counters, and how to read the events. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "kernel_events.h"
#include "scale.h"

#define BATCH		64
#define THREADS_MAX	64

/* ------------------------------------------------------------------ */
/* Types								*/

static const struct kernel_type types[] = {
	{ POSIXTRACE_SWITCH_OUT, POSIXTRACE_CLASS_SCHED, "sched_switch_out" },
	{ POSIXTRACE_SWITCH_IN, POSIXTRACE_CLASS_SCHED, "sched_switch_in" },
	{ POSIXTRACE_WAKEUP, POSIXTRACE_CLASS_SCHED, "sched_wakeup" },
	{ POSIXTRACE_MIGRATE, POSIXTRACE_CLASS_SCHED, "sched_migrate_task" },
	{ POSIXTRACE_FORK, POSIXTRACE_CLASS_PROCESS, "sched_process_fork" },
	{ POSIXTRACE_EXEC, POSIXTRACE_CLASS_PROCESS, "sched_process_exec" },
	{ POSIXTRACE_EXIT, POSIXTRACE_CLASS_PROCESS, "sched_process_exit" },
	{ POSIXTRACE_RENAME, POSIXTRACE_CLASS_PROCESS, "task_rename" },
	{ POSIXTRACE_SIGNAL_GENERATE, POSIXTRACE_CLASS_SIGNAL, "signal_generate" },
	{ POSIXTRACE_SIGNAL_DELIVER, POSIXTRACE_CLASS_SIGNAL, "signal_deliver" },
	{ POSIXTRACE_PAGE_FAULT, POSIXTRACE_CLASS_FAULT, "page_fault" },
	{ POSIXTRACE_SYSCALL_ENTRY, POSIXTRACE_CLASS_SYSCALL, "syscall_entry" },
	{ POSIXTRACE_SYSCALL_EXIT, POSIXTRACE_CLASS_SYSCALL, "syscall_exit" },
	{ POSIXTRACE_IRQ, POSIXTRACE_CLASS_IRQ, "irq" },
	{ POSIXTRACE_SYSCALL_TEXT, POSIXTRACE_CLASS_STRINGS, "syscall_text" },
	{ POSIXTRACE_FUTEX_WAIT, POSIXTRACE_CLASS_SCHED, "futex_wait" },
};

const struct kernel_type *kernel_type_next(unsigned int classes, const struct kernel_type *last)
{
	const struct kernel_type *type = last ? last + 1 : types;
	const struct kernel_type *end = types + sizeof(types) / sizeof(types[0]);

	while (type < end && !(type->class & classes))
		type++;
	return type < end ? type : NULL;
}

/* ------------------------------------------------------------------ */
/* Reading								*/

static void count_system(struct kernel_events *events, const struct kernel_event *event,
			 const void *data)
{
	int automatic;

	switch (event->id) {
	case POSIX_TRACE_START:
		events->starts++;
		break;
	case POSIX_TRACE_STOP:
		memcpy(&automatic, data, sizeof(automatic));
		events->stops++;
		events->automatic_stops += automatic;
		break;
	case POSIX_TRACE_OVERFLOW:
		events->overflows++;
		break;
	case POSIX_TRACE_ERROR:
		events->errors++;
		break;
	case POSIX_TRACE_FILTER:
		events->filter = event->time;
		break;
	}
}

static int add(struct kernel_events *events, const struct posixtrace_batch_event *from)
{
	struct kernel_event event = {
		.id = from->event.posix_event_id,
		.pid = from->event.posix_pid,
		.cpu = from->cpu,
		.time = from->event.posix_timestamp.tv_sec * NSEC +
			from->event.posix_timestamp.tv_nsec,
		.thread = (unsigned long long)from->event.posix_thread_id,
	};
	size_t len = from->data_len, room = events->count;
	void *more;

	events->lost = from->lost;
	events->late += from->flags & POSIXTRACE_EVENT_LATE;
	if (event.id < POSIXTRACE_SWITCH_OUT) {
		count_system(events, &event, from->data);
		return 0;
	}
	memcpy(&event.data, from->data, len < sizeof(event.data) ? len : sizeof(event.data) - 1);
	/* Double the array whenever the number of events is a power of two. */
	if (!(room & (room - 1))) {
		more = realloc(events->event, (room ? 2 * room : 1) * sizeof(event));
		if (!more)
			return ENOMEM;
		events->event = more;
	}
	events->event[events->count++] = event;
	return 0;
}

int kernel_events_read(struct kernel_events *events, trace_id_t trid)
{
	struct posixtrace_batch_event batch[BATCH];
	static unsigned char data[64 << 10];
	size_t count, i;
	int err;

	do {
		err = posixtrace_getevents(trid, batch, BATCH, data, sizeof(data), &count,
					   POSIXTRACE_NOWAIT);
		for (i = 0; !err && i < count; i++)
			err = add(events, &batch[i]);
	} while (!err && count);
	return err;
}

void kernel_events_free(struct kernel_events *events)
{
	free(events->event);
	memset(events, 0, sizeof(*events));
}

size_t kernel_events_count(const struct kernel_events *events, trace_event_id_t id)
{
	size_t count = 0, i;

	for (i = 0; i < events->count; i++)
		count += events->event[i].id == id;
	return count;
}

size_t kernel_events_blocked(const struct kernel_events *events)
{
	size_t count = 0, i;

	for (i = 0; i < events->count; i++)
		count += events->event[i].id == POSIXTRACE_SWITCH_OUT &&
			 events->event[i].data.out.reason != PREEMPTED;
	return count;
}

/* The state of a thread after an event. */
struct state {
	int tid;
	trace_event_id_t last;		/* its last switch */
	bool waits;
	unsigned int wakeups;		/* number of wake-ups since it last ran */
	unsigned long long runnable;	/* earliest time at which the thread could run */
};

static struct state *state_of(struct state *states, int tid)
{
	for (int i = 0; i < THREADS_MAX; i++) {
		if (!states[i].tid)
			states[i].tid = tid;
		if (states[i].tid == tid)
			return &states[i];
	}
	abort();
}

static const char *check(struct state *state, const struct kernel_event *event)
{
	const char *wrong = NULL;

	switch (event->id) {
	case POSIXTRACE_WAKEUP:
		state->wakeups++;
		state->runnable = event->time;
		break;
	case POSIXTRACE_SWITCH_OUT:
		if (state->last == POSIXTRACE_SWITCH_OUT)
			wrong = "leaves twice";
		if (event->data.out.reason == PREEMPTED ?
		    event->data.out.state != STATE_RUNNING :
		    event->data.out.state == STATE_RUNNING)
			wrong = "leaves for no reason";
		state->last = POSIXTRACE_SWITCH_OUT;
		state->waits = event->data.out.reason != PREEMPTED;
		if (!state->waits)
			state->runnable = event->time;
		break;
	case POSIXTRACE_SWITCH_IN:
		if (state->last == POSIXTRACE_SWITCH_IN)
			wrong = "comes twice";
		if (state->last && state->waits && !state->wakeups)
			wrong = "was not woken";
		/* The kernel reports a time of 0 if it does not know the time. */
		if (state->runnable && event->data.in.runnable &&
		    (event->data.in.runnable > event->time - state->runnable))
			wrong = "was runnable for too long";
		state->last = POSIXTRACE_SWITCH_IN;
		state->wakeups = 0;
		break;
	}
	return wrong;
}

int kernel_events_impossible(const struct kernel_events *events)
{
	struct state states[THREADS_MAX] = { 0 };
	unsigned int known = 0, unknown = 0;
	const struct kernel_event *event;
	const char *wrong;
	int count = 0;
	size_t i;

	for (i = 0; i < events->count; i++) {
		event = &events->event[i];
		if (event->id >= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		wrong = check(state_of(states, event->data.tid), event);
		if (wrong) {
			fprintf(stderr, "# %llu: thread %d %s\n", event->time, event->data.tid,
				wrong);
			count++;
		}
		if (event->id == POSIXTRACE_SWITCH_IN) {
			known += event->data.in.runnable != 0;
			unknown += event->data.in.runnable == 0;
		}
	}
	if (known < unknown) {
		fprintf(stderr, "# runnable for an unknown time: %u of %u\n", unknown,
			known + unknown);
		count++;
	}
	return count;
}

static int attr_of(trace_attr_t *attr, unsigned int classes, size_t size)
{
	int err = posix_trace_attr_init(attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(attr, size);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(attr, 256);
	if (!err)
		err = posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posixtrace_attr_setkernel(attr, classes);
	return err;
}

static int stream_of_size(pid_t pid, unsigned int classes, size_t size, int policy,
			  trace_id_t *trid)
{
	trace_attr_t attr;
	int err = attr_of(&attr, classes, size);

	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(&attr, policy);
	return err ? err : posix_trace_create(pid, &attr, trid);
}

int kernel_stream(pid_t pid, unsigned int classes, int policy, trace_id_t *trid)
{
	return stream_of_size(pid, classes, 1 << 20, policy, trid);
}

int kernel_small_stream(pid_t pid, unsigned int classes, int policy, trace_id_t *trid)
{
	return stream_of_size(pid, classes, 32 << 10, policy, trid);
}

int kernel_withlog(pid_t pid, unsigned int classes, size_t size, int log_policy, int fd,
		   trace_id_t *trid)
{
	trace_attr_t attr;
	int err = attr_of(&attr, classes, size);

	if (!err)
		err = posix_trace_attr_setlogfullpolicy(&attr, log_policy);
	return err ? err : posix_trace_create_withlog(pid, &attr, fd, trid);
}

/* ------------------------------------------------------------------ */
/* The worker								*/

struct storm {
	int begin[2];		/* pipe with which the threads are told how often to yield */
	int end[2];		/* one byte from each thread that is done */
	int count;
	pthread_t thread[THREADS_MAX];
};

struct work {
	int ping[2];
	int pong[2];
	struct storm storm;
};

static void *pong(void *arg)
{
	struct work *work = arg;
	char byte;

	run_on(0);
	while (read(work->ping[0], &byte, 1) == 1) {
		if (write(work->pong[1], &byte, 1) != 1)
			break;
	}
	return NULL;
}

static int ping_pong(struct work *work, long number)
{
	char byte = 0;

	run_on(0);
	for (long i = 0; i < number; i++) {
		if (write(work->ping[1], &byte, 1) != 1 || read(work->pong[0], &byte, 1) != 1)
			return EIO;
	}
	return 0;
}

static int make_children(const struct talk *talk, long number)
{
	int status[THREADS_MAX] = { 0 };
	pid_t pid[THREADS_MAX];

	for (long i = 0; i < number; i++) {
		pid[i] = fork();
		if (!pid[i] && i % 2)
			execl("./exec_helper", "exec_helper", (char *)NULL);
		if (!pid[i])
			_exit(i);
		if (waitpid(pid[i], &status[i], 0) != pid[i])
			return ECHILD;
	}
	say(talk, 0);
	for (long i = 0; i < number; i++) {
		say(talk, pid[i]);
		say(talk, status[i]);
	}
	return -1;
}

static void *renamed(void *arg)
{
	prctl(PR_SET_NAME, "renamed");
	return arg;
}

static int make_thread(void)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, renamed, NULL);

	return err ? err : pthread_join(thread, NULL);
}

static int make_calls(long number)
{
	for (long i = 0; i < number; i++)
		syscall(SYS_getppid);
	return syscall(SYS_lseek, CALL_FD, CALL_OFFSET, CALL_WHENCE) == -1 ? 0 : EINVAL;
}

/* Causes page faults, then reports the addresses of the pages. */
static int make_faults(const struct talk *talk)
{
	size_t page = sysconf(_SC_PAGESIZE), size = (FAULTS_WRITE + FAULTS_KERNEL) * page;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC), err = 0;
	char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (fd < 0 || pages == MAP_FAILED)
		return errno;
	/* Ignore an error: kernels without huge pages do not support this. */
	madvise(pages, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < FAULTS_WRITE; i++)
		__atomic_store_n(&pages[i * page], 1, __ATOMIC_RELAXED);
	for (size_t i = FAULTS_WRITE; i < FAULTS_WRITE + FAULTS_KERNEL; i++) {
		if (read(fd, pages + i * page, 1) != 1)
			err = errno;
	}
	close(fd);
	say(talk, err);
	say(talk, (long)pages);
	return -1;
}

static void ignore(int sig)
{
	(void)sig;
}

static int send_signals(long number)
{
	for (long i = 0; i < number; i++) {
		if (raise(SIGUSR1))
			return errno;
	}
	return 0;
}

static int spin(long number)
{
	unsigned long long end = now() + number * 1000000ULL;

	run_on(0);
	while (now() < end)
		;
	return 0;
}

static void *stormy(void *arg)
{
	struct storm *storm = arg;
	struct timespec moment = { 0, 1000 };
	char byte = 0;
	int number;

	while (read(storm->begin[0], &number, sizeof(number)) == sizeof(number) && number) {
		for (int i = 0; i < number; i++) {
			sched_yield();
			if (i % 16 == 0)
				nanosleep(&moment, NULL);
		}
		if (write(storm->end[1], &byte, 1) != 1)
			break;
	}
	return NULL;
}

static int storm_begin(struct storm *storm, long number)
{
	if (pipe(storm->begin) || pipe(storm->end))
		return errno;
	for (storm->count = 0; storm->count < number; storm->count++) {
		if (pthread_create(&storm->thread[storm->count], NULL, stormy, storm))
			return EAGAIN;
	}
	return 0;
}

static int storm_once(struct storm *storm, int number)
{
	char byte;

	for (int i = 0; i < storm->count; i++) {
		if (write(storm->begin[1], &number, sizeof(number)) != sizeof(number))
			return EIO;
	}
	for (int i = 0; number && i < storm->count; i++) {
		if (read(storm->end[0], &byte, 1) != 1)
			return EIO;
	}
	return 0;
}

static int storm_end(struct storm *storm)
{
	int err = storm_once(storm, 0);

	for (int i = 0; !err && i < storm->count; i++)
		err = pthread_join(storm->thread[i], NULL);
	close(storm->begin[0]);
	close(storm->begin[1]);
	close(storm->end[0]);
	close(storm->end[1]);
	return err;
}

static int record_events(long number)
{
	for (int i = 0; i < number; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
	return 0;
}

static int perform(struct work *work, const struct talk *talk, long task, long number)
{
	switch (task) {
	case DO_NOTHING:
		return 0;
	case DO_EVENT:
		return record_events(number);
	case DO_PING_PONG:
		return ping_pong(work, number);
	case DO_CHILDREN:
		return make_children(talk, number);
	case DO_THREAD:
		return make_thread();
	case DO_CALLS:
		return make_calls(number);
	case DO_FAULTS:
		return make_faults(talk);
	case DO_SIGNALS:
		return send_signals(number);
	case DO_SPIN:
		return spin(number);
	case DO_STORM_BEGIN:
		return storm_begin(&work->storm, number);
	case DO_STORM:
		return storm_once(&work->storm, number);
	case DO_STORM_END:
		return storm_end(&work->storm);
	default:
		return EINVAL;
	}
}

int worker(void *arg, const struct talk *talk)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };
	struct work work = { .storm.count = 0 };
	pthread_t thread;
	long task, number;
	int ret;

	(void)arg;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	if (pipe(work.ping) || pipe(work.pong) ||
	    pthread_create(&thread, NULL, pong, &work))
		return 1;
	say(talk, 0);
	while ((task = hear(talk)) >= 0) {
		number = hear(talk);
		ret = perform(&work, talk, task, number);
		if (ret >= 0)
			say(talk, ret);
	}
	return 0;
}

int worker_do_later(const struct child *worker, long task, long number)
{
	say(&worker->talk, task);
	say(&worker->talk, number);
	return 0;
}

int worker_do(const struct child *worker, long task, long number)
{
	worker_do_later(worker, task, number);
	return hear(&worker->talk);
}

static unsigned long long line_of(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Reads a file of a thread as text. Returns false if the file is missing or empty. */
static bool read_of_thread(pid_t pid, const char *tid, const char *name, char *text, size_t room)
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, room - 1);
	close(fd);
	if (len <= 0)
		return false;
	text[len] = '\0';
	return true;
}

/*
 * Adds the counters of a thread. Returns false if the thread does not sleep. A thread that seems to
 * sleep may still be on its CPU: reading its file "syscall" waits until it has left the CPU.
 */
static bool add_thread(struct switches *sum, pid_t pid, const char *tid)
{
	char text[4096];

	if (!read_of_thread(pid, tid, "syscall", text, sizeof(text)) ||
	    !read_of_thread(pid, tid, "status", text, sizeof(text)))
		return false;
	/*
	 * The name of the other counter ends with the name of this one, so begin the search with a
	 * newline.
	 */
	sum->voluntary += line_of(text, "\nvoluntary_ctxt_switches:");
	sum->involuntary += line_of(text, "\nnonvoluntary_ctxt_switches:");
	return strstr(text, "State:\tS");
}

static bool add_threads(struct switches *sum, pid_t pid)
{
	struct dirent *entry;
	bool asleep = true;
	char path[32];
	DIR *dir;

	*sum = (struct switches){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && !add_thread(sum, pid, entry->d_name))
			asleep = false;
	}
	closedir(dir);
	return asleep;
}

/* Read the counters twice: a thread that another one has woken up may already be asleep again. */
struct switches worker_switches(const struct child *worker)
{
	struct switches first, second;
	bool asleep;

	do {
		asleep = add_threads(&first, worker->pid);
		usleep(10000 * pxt_time_scale());
		asleep = add_threads(&second, worker->pid) && asleep;
	} while (!asleep || first.voluntary != second.voluntary ||
		 first.involuntary != second.involuntary);
	return second;
}
