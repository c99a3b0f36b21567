// SPDX-License-Identifier: GPL-2.0
/*
 * Identifies threads and processes: see lives.h.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "event/kevent.h"
#include "event/lives.h"
#include "util/threads.h"

#define IDS_MAX		(1U << 20)	/* limit of ids; beyond it, lives are not distinguished */
#define PROCESS		0		/* used as the thread id of the entry of a process */
#define FOREVER		(INT64_MAX / NSEC_PER_SEC * NSEC_PER_SEC)	/* later than any event */

enum end {
	ALIVE,
	EXITING,	/* some kernel events may follow */
	GONE,		/* switched out for the last time */
};

/**
 * struct ids - successive threads or processes with the same ids
 * @life: number of previous threads or processes with these ids
 * @process_life: for a thread: life of its process
 * @execs: number of execs of the process up to the last event
 * @end: if the current thread or process has ended
 * @end_time: time when it ended; of a process also the time of its last exec
 * @asked: number of the batch in which the log was last searched for births
 * @answered: the search succeeded; its result is valid for events before @next
 * @known: @born is known
 * @born: birth of the current thread or process, from the log
 * @last_known: @last_born is known
 * @last_born: birth of a previous thread or process
 * @next: birth of the next thread or process with these ids
 * @renamed: time of the last task_rename, or 0
 * @lost: number of events lost before that task_rename
 * @old_name: name before that task_rename
 * @name: name after that task_rename
 */
struct ids {
	uint32_t life;
	uint32_t process_life;
	uint32_t execs;
	enum end end;
	uint64_t end_time;
	uint64_t asked;
	bool answered;
	bool known;
	uint64_t born;
	bool last_known;
	uint64_t last_born;
	uint64_t next;
	uint64_t renamed;
	uint64_t lost;
	char old_name[POSIXTRACE_THREAD_NAME_SIZE];
	char name[POSIXTRACE_THREAD_NAME_SIZE];
};

/* Caches the last lookup, because most events are of the same thread as the previous event. */
struct found {
	pid_t pid;
	pid_t tid;
	uint32_t number;	/* index in lives.ids plus 1; 0: none */
};

struct lives {
	struct reader *const *readers;
	size_t nr_readers;
	const struct hosts *hosts;
	struct threads *numbers;
	struct found last[2];	/* [0]: of a thread, [1]: of a process */
	struct ids *ids;	/* index: number minus 1 */
	size_t room;
};

int lives_new(struct reader *const *readers, size_t count, const struct hosts *hosts,
	      struct lives **lives)
{
	struct lives *new = calloc(1, sizeof(*new));

	if (!new || threads_new(IDS_MAX, &new->numbers)) {
		free(new);
		return -ENOMEM;
	}
	new->readers = readers;
	new->nr_readers = count;
	new->hosts = hosts;
	*lives = new;
	return 0;
}

void lives_free(struct lives *lives)
{
	if (!lives)
		return;
	threads_free(lives->numbers);
	free(lives->ids);
	free(lives);
}

/*
 * Finds or adds ids. Returns 1 if they are new, 0 if known, or -ENOMEM. All ids beyond the limit
 * get the number THREADS_OTHERS.
 */
static int find(struct lives *lives, pid_t pid, pid_t tid, uint32_t *number)
{
	size_t room = lives->room ? 2 * lives->room : 64;
	struct found *last = &lives->last[tid == PROCESS];
	struct ids *more;
	int ret;

	if (last->pid == pid && last->tid == tid && last->number) {
		*number = last->number;
		return 0;
	}
	ret = threads_find(lives->numbers, pid, (uint32_t)tid, number);
	if (ret < 0 || *number == THREADS_OTHERS)
		return ret;
	*last = (struct found){ .pid = pid, .tid = tid, .number = *number };
	if (!ret)
		return 0;
	if (*number > lives->room) {
		more = reallocarray(lives->ids, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		lives->ids = more;
		lives->room = room;
	}
	memset(&lives->ids[*number - 1], 0, sizeof(*lives->ids));
	return 1;
}

static void begin_life(struct ids *ids)
{
	ids->life++;
	ids->end = ALIVE;
	ids->renamed = 0;
	if (ids->known) {
		ids->last_known = true;
		ids->last_born = ids->born;
	}
	ids->known = false;
	ids->answered = false;
	ids->asked = 0;
}

/* ------------------------------------------------------------------ */
/* Facts in the log							*/

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NSEC_PER_SEC),
		.tv_nsec = (long)(ns % NSEC_PER_SEC),
	};
}

static uint64_t to_ns(const struct timespec *time)
{
	if ((uint64_t)time->tv_sec > FOREVER / NSEC_PER_SEC)
		return FOREVER;
	return (uint64_t)time->tv_sec * NSEC_PER_SEC + (uint64_t)time->tv_nsec;
}

/* Must ask() search the log again? A stream has no log, and passes batch 0. */
static bool needs_answer(const struct ids *ids, uint64_t at, uint64_t batch)
{
	return batch && !(ids->asked == batch && (!ids->answered || at < ids->next));
}

/*
 * Finds the last birth up to a time, and the first one after that time, in all logs of the host.
 */
static bool find_birth(const struct lives *lives, pid_t pid, pid_t tid, uint64_t at, uint64_t *born,
		       uint64_t *next)
{
	const unsigned int count = hosts_count(lives->hosts), host = hosts_of_id(count, pid);
	const struct timespec time = to_timespec(at);
	struct timespec born_at, next_at;
	bool found = false;

	*born = 0;
	*next = FOREVER;
	for (size_t i = 0; i < lives->nr_readers; i++) {
		if (hosts_of(lives->hosts, i) != host ||
		    posixtrace_get_thread_life(reader_trid(lives->readers[i]),
					       hosts_plain_id(count, pid),
					       hosts_plain_id(count, tid), &time, &born_at,
					       &next_at))
			continue;
		found = true;
		if (to_ns(&born_at) > *born)
			*born = to_ns(&born_at);
		if (to_ns(&next_at) < *next)
			*next = to_ns(&next_at);
	}
	return found;
}

/*
 * Searches the logs. Begins a new life if they have a newer birth for these ids before the event.
 */
static void ask(const struct lives *lives, struct ids *ids, pid_t pid, pid_t tid, uint64_t at,
		uint64_t batch)
{
	uint64_t born, next;

	if (!needs_answer(ids, at, batch))
		return;
	ids->asked = batch;
	ids->answered = find_birth(lives, pid, tid, at, &born, &next);
	if (!ids->answered)
		return;
	ids->next = next;
	/*
	 * This is still the birth of the previous life. An event has already begun the current one,
	 * but the log lacks its birth. Births and events have slightly different clocks, so compare
	 * births only.
	 */
	if (!ids->known && ids->last_known && born <= ids->last_born)
		return;
	/* A newer life must have a later birth. In a damaged log, times may run backwards. */
	if (ids->known && born <= ids->born)
		return;
	if (ids->known)
		begin_life(ids);
	ids->known = true;
	ids->born = born;
	ids->asked = batch;
	ids->answered = true;
}

/* ------------------------------------------------------------------ */
/* Events								*/

/*
 * Does the event show that the ids were reused? If the previous thread has ended, it cannot have
 * recorded this event.
 */
static bool is_of_another(const struct ids *ids, const struct event *event,
			  const struct kevent *kevent)
{
	/* A stream may deliver events late, so this one may have been recorded before the end. */
	if (ids->end == ALIVE || event->time < ids->end_time || event->late)
		return false;
	switch (event->type) {
	case POSIXTRACE_FORK:
	case POSIXTRACE_EXEC:
	case POSIXTRACE_SIGNAL_DELIVER:
	case POSIXTRACE_SYSCALL_ENTRY:
	case POSIXTRACE_SYSCALL_EXIT:
	case POSIXTRACE_SYSCALL_TEXT:
	case POSIXTRACE_FUTEX_WAIT:
		return true;
	case POSIXTRACE_SWITCH_IN:
		return ids->end == GONE;
	case POSIXTRACE_WAKEUP:
		return kevent && kevent->new;
	default:
		return event->user;
	}
}

static int see_child(struct lives *lives, struct event *event, const struct kevent *kevent)
{
	const pid_t pid = (pid_t)kevent->child_pid, tid = (pid_t)kevent->child_tid;
	uint32_t number;
	int ret;

	if (!pid || !tid || (pid == event->pid && tid == event->tid))
		return 0;
	event->child_process_life = event->process_life;
	if (pid != event->pid) {
		ret = find(lives, pid, PROCESS, &number);
		if (ret < 0)
			return ret;
		if (!ret && number)
			begin_life(&lives->ids[number - 1]);
		event->child_process_life = number ? lives->ids[number - 1].life : 0;
	}
	ret = find(lives, pid, tid, &number);
	if (ret < 0)
		return ret;
	if (!number)
		return 0;
	if (!ret)
		begin_life(&lives->ids[number - 1]);
	lives->ids[number - 1].process_life = event->child_process_life;
	event->child_life = lives->ids[number - 1].life;
	return 0;
}

static void see_end(struct ids *ids, const struct event *event, enum end end)
{
	ids->end = end;
	ids->end_time = event->time;
}

static void copy_name(const struct kevent_text *from, char name[POSIXTRACE_THREAD_NAME_SIZE])
{
	size_t len = from->len ? strnlen(from->at, from->len) : 0;

	if (len >= POSIXTRACE_THREAD_NAME_SIZE)
		len = POSIXTRACE_THREAD_NAME_SIZE - 1;
	if (len)
		memcpy(name, from->at, len);
	name[len] = '\0';
}

static void see_name(struct ids *ids, const struct event *event, const struct kevent *kevent)
{
	copy_name(&kevent->oldcomm, ids->old_name);
	copy_name(&kevent->newcomm, ids->name);
	ids->renamed = event->time;
	ids->lost = event->lost;
}

static int find_process(struct lives *lives, struct event *event, const struct kevent *kevent,
			uint64_t batch, uint32_t *number)
{
	int ret = find(lives, event->pid, PROCESS, number);
	struct ids *process;

	if (ret < 0 || !*number)
		return ret;
	process = &lives->ids[*number - 1];
	if (is_of_another(process, event, kevent))
		begin_life(process);
	ask(lives, process, event->pid, event->pid, event->time, batch);
	event->process_life = process->life;
	return ret;
}

/*
 * After an exec, only the thread with the process id is left: notes the end of the other threads.
 */
static void see_exec(struct ids *process, struct ids *thread, const struct event *event,
		     bool is_new)
{
	if (event->type == POSIXTRACE_EXEC) {
		process->execs++;
		process->end_time = event->time;
	} else if (!is_new && thread->execs != process->execs && event->tid != event->pid &&
		   thread->end == ALIVE) {
		see_end(thread, event, GONE);
		thread->end_time = process->end_time;
	}
	thread->execs = process->execs;
}

static int find_thread(struct lives *lives, struct event *event, const struct kevent *kevent,
		       uint64_t batch, uint32_t in, uint32_t *number)
{
	int ret = find(lives, event->pid, event->tid, number);
	struct ids *process = in ? &lives->ids[in - 1] : NULL;
	struct ids *thread;

	if (ret < 0 || !*number)
		return ret;
	thread = &lives->ids[*number - 1];
	if (ret)
		thread->process_life = event->process_life;
	if (process)
		see_exec(process, thread, event, ret);
	if (thread->process_life != event->process_life || is_of_another(thread, event, kevent))
		begin_life(thread);
	thread->process_life = event->process_life;
	ask(lives, thread, event->pid, event->tid, event->time, batch);
	event->life = thread->life;
	return ret;
}

/* Reads the fields of an event if they are used here. For other types, only checks the data. */
static bool read_kevent(const struct event *event, struct kevent *kevent)
{
	switch (event->type) {
	case POSIXTRACE_FORK:
	case POSIXTRACE_EXIT:
	case POSIXTRACE_SWITCH_OUT:
	case POSIXTRACE_RENAME:
	case POSIXTRACE_WAKEUP:
		return kevent_read(event, kevent);
	default:
		return kevent_is_complete(event);
	}
}

/*
 * The fast path for most events: the thread is the same as that of the previous event and has not
 * ended, and the event changes no life. Returns false for all other events.
 */
static bool repeat(const struct lives *lives, struct event *event, uint64_t batch)
{
	const struct found *last = lives->last;
	const struct ids *thread, *process;

	if (!last[0].number || !last[1].number || last[0].pid != event->pid ||
	    last[0].tid != event->tid || last[1].pid != event->pid)
		return false;
	thread = &lives->ids[last[0].number - 1];
	process = &lives->ids[last[1].number - 1];
	if (thread->end != ALIVE || process->end != ALIVE || thread->execs != process->execs ||
	    thread->process_life != process->life || needs_answer(thread, event->time, batch) ||
	    needs_answer(process, event->time, batch))
		return false;
	switch (event->type) {
	case POSIXTRACE_PAGE_FAULT:
	case POSIXTRACE_SYSCALL_ENTRY:
	case POSIXTRACE_SYSCALL_EXIT:
	case POSIXTRACE_IRQ:
		if (!kevent_is_complete(event))
			return false;
		break;
	default:
		if (!event->user)
			return false;
	}
	event->process_life = process->life;
	event->life = thread->life;
	return true;
}

int lives_event(struct lives *lives, struct event *event, uint64_t batch)
{
	struct kevent kevent;
	uint32_t process, thread;
	bool is_kernel;
	int ret;

	if (repeat(lives, event, batch))
		return 0;
	is_kernel = event_is_kernel(event) && read_kevent(event, &kevent);
	if (event->pid <= 0 || (!event->user && !is_kernel))
		return 0;
	ret = find_process(lives, event, is_kernel ? &kevent : NULL, batch, &process);
	if (ret < 0 || event->tid <= 0)
		return ret < 0 ? ret : 0;
	ret = find_thread(lives, event, is_kernel ? &kevent : NULL, batch, process, &thread);
	if (ret < 0 || !is_kernel || !process || !thread)
		return ret < 0 ? ret : 0;
	switch (event->type) {
	case POSIXTRACE_FORK:
		return see_child(lives, event, &kevent);
	case POSIXTRACE_EXIT:
		see_end(&lives->ids[thread - 1], event, EXITING);
		if (kevent.group_dead)
			see_end(&lives->ids[process - 1], event, EXITING);
		break;
	case POSIXTRACE_SWITCH_OUT:
		if (kevent.reason == KEVENT_ENDED)
			see_end(&lives->ids[thread - 1], event, GONE);
		break;
	case POSIXTRACE_RENAME:
		see_name(&lives->ids[thread - 1], event, &kevent);
		break;
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* Names								*/

static const struct ids *find_ids(struct lives *lives, const struct event *event, bool process)
{
	const pid_t tid = process ? PROCESS : event->tid;
	const struct ids *ids;
	uint32_t number;

	if (event->pid <= 0 || find(lives, event->pid, tid, &number) < 0 || !number)
		return NULL;
	ids = &lives->ids[number - 1];
	return ids->life == (process ? event->process_life : event->life) ? ids : NULL;
}

const char *lives_name(struct lives *lives, const struct event *event)
{
	const struct ids *thread = event->tid > 0 ? find_ids(lives, event, false) : NULL;
	const char *name;

	if (!thread || !thread->renamed || event->time < thread->renamed ||
	    event->lost != thread->lost)
		return NULL;
	name = event->type == POSIXTRACE_RENAME && event->time == thread->renamed ?
	       thread->old_name : thread->name;
	return name[0] ? name : NULL;
}

uint64_t lives_end(struct lives *lives, const struct event *event, bool process)
{
	const struct ids *ids = find_ids(lives, event, process);

	if (!ids)
		return event->time;
	if (ids->known && ids->answered)
		return ids->next < FOREVER ? ids->next - 1 : FOREVER;
	return ids->life ? event->time : FOREVER;
}
