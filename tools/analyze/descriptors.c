// SPDX-License-Identifier: GPL-2.0
/*
 * The file descriptors of processes: see descriptors.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/descriptors.h"
#include "event/kevent.h"
#include "util/hash.h"

#define BUCKETS		1024U	/* a power of two */
#define PROCESSES_MAX	4096U
#define THREADS_MAX	4096U
#define PROCESS_FDS	1024U	/* known per process */
#define ALL_FDS		65536U
#define PATH_SIZE	DESCRIPTORS_PATH_SIZE

/* What a system call does with descriptors. */
enum effect {
	NOTHING,
	OPENS,			/* the result is a descriptor of the path in argument @arg */
	MAKES,			/* the result is another new descriptor */
	DUPLICATES,		/* the result is a duplicate of argument 0 */
	REPLACES,		/* also closes the descriptor in argument 1 */
	CLOSES,			/* argument 0 */
	CLOSES_MANY,
	EXECUTES,
	COPIES,			/* a child has a copy of the table */
	CLONES,			/* argument 0 has the flags */
	MAY_SHARE,		/* a child may share the table */
	SHARES,			/* a child shares it, or a thread has another one */
	CONTROLS,		/* fcntl() */
	UNSHARES,		/* argument 0 has the flags */
	CONFUSES,		/* descriptors change without further calls */
};

static const struct {
	const char *name;
	enum effect effect;
	unsigned int arg;
} calls[] = {
	{ "openat", OPENS, 1 }, { "open", OPENS, 0 }, { "close", CLOSES, 0 },
	{ "openat2", OPENS, 1 }, { "creat", OPENS, 0 }, { "fcntl", CONTROLS, 0 },
	{ "dup", DUPLICATES, 0 }, { "dup2", REPLACES, 0 }, { "dup3", REPLACES, 0 },
	{ "close_range", CLOSES_MANY, 0 }, { "execve", EXECUTES, 0 }, { "execveat", EXECUTES, 0 },
	{ "fork", COPIES, 0 }, { "vfork", COPIES, 0 }, { "clone", CLONES, 0 },
	{ "clone3", MAY_SHARE, 0 }, { "unshare", UNSHARES, 0 }, { "io_uring_setup", CONFUSES, 0 },
	{ "io_uring_enter", CONFUSES, 0 },
	{ "socket", MAKES, 0 }, { "accept", MAKES, 0 }, { "accept4", MAKES, 0 },
	{ "epoll_create", MAKES, 0 }, { "epoll_create1", MAKES, 0 }, { "eventfd", MAKES, 0 },
	{ "eventfd2", MAKES, 0 }, { "signalfd4", MAKES, 0 }, { "timerfd_create", MAKES, 0 },
	{ "inotify_init", MAKES, 0 }, { "inotify_init1", MAKES, 0 }, { "memfd_create", MAKES, 0 },
	{ "pidfd_open", MAKES, 0 }, { "pidfd_getfd", MAKES, 0 }, { "perf_event_open", MAKES, 0 },
	{ "open_tree", MAKES, 0 }, { "fsopen", MAKES, 0 }, { "fsmount", MAKES, 0 },
	{ "userfaultfd", MAKES, 0 }, { "bpf", MAKES, 0 }, { "mq_open", MAKES, 0 },
};

struct fd {
	int64_t number;
	char *path;
};

/**
 * struct process - a process with its table of descriptors
 * @next: in its bucket
 * @key: from event_process_key()
 * @sharer: key of the parent that may share the table until this one executes or exits, or 0
 * @unsure: children that may share the table, calls that may create one, and @sharer
 * @broken: no path is ever known again
 * @changes: number of calls that close descriptors
 * @sets: number of paths learned
 * @fds: those with a path
 */
struct process {
	struct process *next;
	uint64_t key;
	uint64_t sharer;
	unsigned int unsure;
	bool broken;
	uint64_t changes;
	uint64_t sets;
	size_t count;
	struct fd *fds;
};

/* A call that a thread is in. */
struct thread {
	struct thread *next;
	uint64_t key;		/* from event_thread_key() */
	uint64_t process;
	int64_t nr;
	enum effect effect;
	unsigned int arg;
	int64_t fd;		/* argument 0 */
	uint64_t changes;	/* of the process at its begin */
	uint64_t sets;
	bool doubts;		/* counts as process.unsure */
	bool forked;		/* the child was seen */
	bool has_path;
	char path[PATH_SIZE];
};

struct descriptors {
	struct process *processes[BUCKETS];
	struct thread *threads[BUCKETS];
	size_t nr_processes;
	size_t nr_threads;
	size_t nr_fds;
	uint64_t lost;
	bool blind;		/* any process may share a table */
};

/* ------------------------------------------------------------------ */
/* Tables								*/

static void drop_fd(struct descriptors *all, struct process *process, size_t at)
{
	free(process->fds[at].path);
	process->fds[at] = process->fds[--process->count];
	all->nr_fds--;
}

static void drop_fds(struct descriptors *all, struct process *process)
{
	while (process->count)
		drop_fd(all, process, process->count - 1);
}

static struct fd *find_fd(const struct process *process, int64_t number)
{
	for (size_t i = 0; i < process->count; i++) {
		if (process->fds[i].number == number)
			return &process->fds[i];
	}
	return NULL;
}

static void close_fd(struct descriptors *all, struct process *process, int64_t number)
{
	struct fd *fd = find_fd(process, number);

	if (fd)
		drop_fd(all, process, (size_t)(fd - process->fds));
}

void descriptors_forget(struct descriptors *all)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		while (all->processes[i]) {
			struct process *process = all->processes[i];

			all->processes[i] = process->next;
			drop_fds(all, process);
			free(process->fds);
			free(process);
		}
		while (all->threads[i]) {
			struct thread *thread = all->threads[i];

			all->threads[i] = thread->next;
			free(thread);
		}
	}
	all->nr_processes = 0;
	all->nr_threads = 0;
}

int descriptors_new(struct descriptors **descriptors)
{
	*descriptors = calloc(1, sizeof(**descriptors));
	return *descriptors ? 0 : -ENOMEM;
}

void descriptors_free(struct descriptors *descriptors)
{
	if (descriptors)
		descriptors_forget(descriptors);
	free(descriptors);
}

static struct process **process_slot(const struct descriptors *all, uint64_t key)
{
	struct process **slot;

	slot = (struct process **)&all->processes[hash_pair(key, 0) % BUCKETS];
	while (*slot && (*slot)->key != key)
		slot = &(*slot)->next;
	return slot;
}

static struct process *get_process(struct descriptors *all, uint64_t key)
{
	struct process **slot = process_slot(all, key);

	if (!*slot && all->nr_processes < PROCESSES_MAX) {
		*slot = calloc(1, sizeof(**slot));
		if (*slot) {
			(*slot)->key = key;
			all->nr_processes++;
		}
	}
	return *slot;
}

static struct thread **thread_slot(struct descriptors *all, const struct event *event)
{
	const uint64_t key = event_thread_key(event), process = event_process_key(event);
	struct thread **slot = &all->threads[hash_pair(key, process) % BUCKETS];

	while (*slot && ((*slot)->key != key || (*slot)->process != process))
		slot = &(*slot)->next;
	return slot;
}

static void set_path(struct descriptors *all, struct process *process, int64_t number,
		     const char *path)
{
	struct fd *fds;
	size_t room;

	close_fd(all, process, number);
	room = process->count ? 2 * process->count : 1;
	if (process->count == PROCESS_FDS || all->nr_fds == ALL_FDS)
		return;
	if (!(process->count & (process->count - 1))) {
		fds = realloc(process->fds, room * sizeof(*fds));
		if (!fds)
			return;
		process->fds = fds;
	}
	fds = &process->fds[process->count];
	fds->number = number;
	fds->path = strdup(path);
	if (!fds->path)
		return;
	process->count++;
	process->sets++;
	all->nr_fds++;
}

/* ------------------------------------------------------------------ */
/* Calls								*/

static void settle(struct process *process)
{
	if (process && process->unsure)
		process->unsure--;
}

/* The process has its own table, with unknown contents. */
static void leave_table(struct descriptors *all, struct process *process)
{
	drop_fds(all, process);
	if (process->sharer) {
		settle(*process_slot(all, process->sharer));
		settle(process);
	}
	process->sharer = 0;
}

static void end_call(struct descriptors *all, struct thread **slot)
{
	struct thread *thread = *slot;

	if (thread->doubts)
		settle(*process_slot(all, thread->process));
	*slot = thread->next;
	free(thread);
	all->nr_threads--;
}

static void find_call(const struct kevent *kevent, struct thread *thread)
{
	thread->effect = NOTHING;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (kevent->name.len == strlen(calls[i].name) &&
		    !memcmp(kevent->name.at, calls[i].name, kevent->name.len)) {
			thread->effect = calls[i].effect;
			thread->arg = calls[i].arg;
			return;
		}
	}
}

static bool makes_descriptor(enum effect effect)
{
	return effect == OPENS || effect == MAKES || effect == DUPLICATES || effect == REPLACES;
}

static void begin_call(struct descriptors *all, struct process *process, struct thread *thread,
		       const struct kevent *kevent)
{
	const uint64_t flags = (uint64_t)kevent->args[0];

	/* Other threads may close a descriptor at any time during the call. */
	switch (thread->effect) {
	case CLOSES:
		close_fd(all, process, (int32_t)kevent->args[0]);
		process->changes++;
		break;
	case REPLACES:
		if ((int32_t)kevent->args[0] != (int32_t)kevent->args[1])
			close_fd(all, process, (int32_t)kevent->args[1]);
		process->changes++;
		break;
	case CLOSES_MANY:
	case EXECUTES:
		drop_fds(all, process);
		process->changes++;
		break;
	case CONTROLS:
		thread->effect = kevent->args[1] == F_DUPFD || kevent->args[1] == F_DUPFD_CLOEXEC ?
				 DUPLICATES : NOTHING;
		break;
	case CLONES:
		if (!(flags & CLONE_THREAD) == !(flags & CLONE_FILES))
			thread->effect = flags & CLONE_THREAD ? NOTHING : COPIES;
		else
			thread->effect = SHARES;
		process->broken |= thread->effect == SHARES;
		break;
	case MAY_SHARE:
		thread->doubts = true;
		process->unsure++;
		break;
	case UNSHARES:
		process->broken |= flags & CLONE_FILES;
		break;
	case CONFUSES:
		process->broken = true;
		break;
	default:
		break;
	}
	thread->changes = process->changes;
	thread->sets = process->sets;
}

static void enter(struct descriptors *all, const struct event *event, const struct kevent *kevent)
{
	struct process *process = get_process(all, event_process_key(event));
	struct thread **slot = thread_slot(all, event), *thread;

	/* The exit of the call before was not seen, as of sigreturn(). */
	if (*slot)
		end_call(all, slot);
	thread = process && all->nr_threads < THREADS_MAX ? calloc(1, sizeof(*thread)) : NULL;
	if (!thread) {
		descriptors_forget(all);
		return;
	}
	process->broken |= kevent->compat != 0;
	find_call(kevent, thread);
	begin_call(all, process, thread, kevent);
	if (thread->effect == NOTHING) {
		free(thread);
		return;
	}
	thread->key = event_thread_key(event);
	thread->process = process->key;
	thread->nr = kevent->nr;
	thread->fd = (int32_t)kevent->args[0];
	slot = thread_slot(all, event);
	thread->next = *slot;
	*slot = thread;
	all->nr_threads++;
}

static void get_text(struct descriptors *all, const struct event *event,
		     const struct kevent *kevent)
{
	struct thread *thread = *thread_slot(all, event);
	const struct kevent_text *value = &kevent->value;

	if (!thread || thread->effect != OPENS || thread->nr != kevent->nr ||
	    thread->arg != (uint64_t)kevent->arg || kevent->state != KEVENT_TEXT_WHOLE ||
	    value->len >= PATH_SIZE || (value->len && memchr(value->at, '\0', value->len)))
		return;
	if (value->len)
		memcpy(thread->path, value->at, value->len);
	thread->path[value->len] = '\0';
	thread->has_path = value->len;
}

/* The call of the thread has returned the descriptor @number. */
static void get_descriptor(struct descriptors *all, struct process *process,
			   const struct thread *thread, int64_t number)
{
	const bool duplicates = thread->effect == DUPLICATES || thread->effect == REPLACES;
	const struct fd *fd = duplicates ? find_fd(process, thread->fd) : NULL;
	char path[PATH_SIZE] = "";

	if (fd)
		strcpy(path, fd->path);
	else if (thread->has_path)
		strcpy(path, thread->path);
	close_fd(all, process, number);
	/* Another thread may have closed it already. */
	if (path[0] && process->changes == thread->changes)
		set_path(all, process, number, path);
}

static void leave(struct descriptors *all, const struct event *event, const struct kevent *kevent)
{
	struct thread **slot = thread_slot(all, event), *thread = *slot;
	struct process *process = thread ? *process_slot(all, thread->process) : NULL;
	const bool returns = thread && kevent->nr == thread->nr;

	/* Nothing says who the child is. */
	if (thread && !thread->forked && (kevent->result > 0 || !returns) &&
	    (thread->effect == MAY_SHARE || thread->effect == SHARES))
		all->blind = true;
	if (process && returns && kevent->result >= 0 && makes_descriptor(thread->effect))
		get_descriptor(all, process, thread, kevent->result);
	if (thread)
		end_call(all, slot);
}

/* ------------------------------------------------------------------ */
/* Processes								*/

static void copy_table(struct descriptors *all, const struct process *from, struct process *to)
{
	for (size_t i = 0; i < from->count; i++)
		set_path(all, to, from->fds[i].number, from->fds[i].path);
}

static void fork_process(struct descriptors *all, const struct event *event,
			 const struct kevent *kevent)
{
	const struct event as_child = {
		.pid = (pid_t)kevent->child_pid,
		.process_life = event->child_process_life,
	};
	struct process *process = get_process(all, event_process_key(event)), *child = NULL;
	struct thread *thread = *thread_slot(all, event);
	/* It may have begun before the trace. */
	enum effect effect = thread ? thread->effect : MAY_SHARE;

	if (thread)
		thread->forked = true;
	if (kevent->child_pid == event->pid) {
		if (thread && thread->doubts)
			settle(process);
		if (thread)
			thread->doubts = false;
		return;
	}
	if (process)
		child = get_process(all, event_process_key(&as_child));
	if (!child) {
		descriptors_forget(all);
		return;
	}
	leave_table(all, child);
	if (effect == COPIES && !process->broken && !process->unsure) {
		/* Another thread may have changed the table after the copy. */
		if (thread->changes == process->changes && thread->sets == process->sets)
			copy_table(all, process, child);
		return;
	}
	/* Shared tables of more than two processes are not followed. */
	process->broken |= process->sharer != 0;
	child->broken = process->broken;
	if (effect == COPIES)
		return;
	drop_fds(all, process);
	child->sharer = process->key;
	child->unsure++;
	if (thread && thread->doubts)
		thread->doubts = false;
	else
		process->unsure++;
}

static void end_process(struct descriptors *all, const struct event *event)
{
	struct process **slot = process_slot(all, event_process_key(event)), *process = *slot;

	if (!process)
		return;
	leave_table(all, process);
	slot = process_slot(all, process->key);
	*slot = process->next;
	free(process->fds);
	free(process);
	all->nr_processes--;
}

static void follow(struct descriptors *all, const struct event *event, const struct kevent *kevent)
{
	struct process *process;
	struct thread **slot;

	switch (event->type) {
	case POSIXTRACE_SYSCALL_ENTRY:
		enter(all, event, kevent);
		break;
	case POSIXTRACE_SYSCALL_TEXT:
		get_text(all, event, kevent);
		break;
	case POSIXTRACE_SYSCALL_EXIT:
		leave(all, event, kevent);
		break;
	case POSIXTRACE_FORK:
		fork_process(all, event, kevent);
		break;
	case POSIXTRACE_EXEC:
		process = *process_slot(all, event_process_key(event));
		if (process) {
			leave_table(all, process);
			process->broken = false;
		}
		break;
	case POSIXTRACE_EXIT:
		slot = thread_slot(all, event);
		if (*slot)
			end_call(all, slot);
		if (kevent->group_dead)
			end_process(all, event);
		break;
	}
}

void descriptors_event(struct descriptors *descriptors, const struct event *event)
{
	struct kevent kevent;

	if (event->lost != descriptors->lost)
		descriptors_forget(descriptors);
	descriptors->lost = event->lost;
	switch (event->type) {
	case POSIX_TRACE_ERROR:
	case POSIX_TRACE_START:
	case POSIX_TRACE_STOP:
	case POSIX_TRACE_OVERFLOW:
	case POSIX_TRACE_RESUME:
	case POSIX_TRACE_FILTER:
		descriptors_forget(descriptors);
		return;
	case POSIXTRACE_SYSCALL_ENTRY:
	case POSIXTRACE_SYSCALL_TEXT:
	case POSIXTRACE_SYSCALL_EXIT:
	case POSIXTRACE_FORK:
	case POSIXTRACE_EXEC:
	case POSIXTRACE_EXIT:
		/* An event that cannot be read may be any call. */
		if (kevent_read(event, &kevent) && !event->late)
			follow(descriptors, event, &kevent);
		else
			descriptors_forget(descriptors);
	}
}

const char *descriptors_path(const struct descriptors *descriptors, const struct event *event,
			     int64_t fd)
{
	const struct process *process = *process_slot(descriptors, event_process_key(event));
	const struct fd *found = process && !process->broken && !process->unsure &&
				 !descriptors->blind ? find_fd(process, fd) : NULL;

	return found ? found->path : NULL;
}

bool descriptors_makes(const struct kevent *exit)
{
	struct thread thread = { };

	find_call(exit, &thread);
	return makes_descriptor(thread.effect) && exit->result >= 0;
}
