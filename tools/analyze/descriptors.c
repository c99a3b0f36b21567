// SPDX-License-Identifier: GPL-2.0
/*
 * The file descriptors of processes: see descriptors.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <trace.h>

#include "analyze/descriptor_calls.h"
#include "analyze/descriptors.h"
#include "analyze/fd_tables.h"
#include "analyze/open_files.h"
#include "event/kevent.h"
#include "util/hash.h"

#define BUCKETS		1024U	/* a power of two */
#define PROCESSES_MAX	4096U
#define THREADS_MAX	4096U
#define PATH_SIZE	DESCRIPTORS_PATH_SIZE

/**
 * struct process - a process with its table of descriptors
 * @next: next process in the bucket
 * @key: from event_process_key()
 * @sharer: key of the parent that may share the table until this process calls exec or exits, or 0
 * @unsure: number of reasons why the table may be shared: a child that may share it, a call that
 *	may create such a child, or @sharer
 * @broken: the table can no longer be followed, so no path is known
 * @changes: number of calls so far that close descriptors
 * @closing: number of threads that are in such a call
 * @table: the descriptors with a path
 */
struct process {
	struct process *next;
	uint64_t key;
	uint64_t sharer;
	unsigned int unsure;
	bool broken;
	uint64_t changes;
	unsigned int closing;
	struct fd_table table;
};

/* A system call that a thread is in. */
struct thread {
	struct thread *next;
	uint64_t key;		/* from event_thread_key() */
	uint64_t process;
	int64_t nr;
	enum call_effect effect;
	unsigned int arg;
	int64_t fd;		/* argument 0 */
	int64_t closes;		/* the descriptor that the call closes; -1: any */
	bool closing;		/* the call is counted in process.closing */
	bool socket;		/* @path is the name of a socket */
	bool keeps;		/* the new descriptor stays open at an exec */
	bool executed;		/* the process has executed a program */
	uint64_t changes;	/* process.changes when the call began */
	uint64_t sets;
	bool doubts;		/* the call is counted in process.unsure */
	bool forked;		/* the process that the call creates was seen */
	bool has_path;
	char path[PATH_SIZE];
};

struct descriptors {
	struct process *processes[BUCKETS];
	struct thread *threads[BUCKETS];
	size_t nr_processes;
	size_t nr_threads;
	struct fd_tables tables;
	struct open_files *files;	/* what was open at the start, or NULL */
	uint64_t complete_from;	/* no event after this time is missing; UINT64_MAX: unknown */
	bool held;		/* a STOP, FILTER or OVERFLOW has made @complete_from unknown */
	uint64_t lost;
	bool blind;		/* any process may share a table with another one */
};

/* ------------------------------------------------------------------ */
/* Tables								*/

void descriptors_forget(struct descriptors *all)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		while (all->processes[i]) {
			struct process *process = all->processes[i];

			all->processes[i] = process->next;
			fd_tables_drop(&all->tables, &process->table);
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
	if (!*descriptors)
		return -ENOMEM;
	(*descriptors)->complete_from = UINT64_MAX;
	return 0;
}

int descriptors_start(struct descriptors *descriptors, struct source *source)
{
	open_files_free(descriptors->files);
	return open_files_read(source, &descriptors->files);
}

void descriptors_free(struct descriptors *descriptors)
{
	if (!descriptors)
		return;
	descriptors_forget(descriptors);
	open_files_free(descriptors->files);
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
			(*slot)->table.process = key;
			all->nr_processes++;
		}
	}
	return *slot;
}

static struct thread **thread_slot(const struct descriptors *all, const struct event *event)
{
	const uint64_t key = event_thread_key(event), process = event_process_key(event);
	struct thread **slot;

	slot = (struct thread **)&all->threads[hash_pair(key, process) % BUCKETS];

	while (*slot && ((*slot)->key != key || (*slot)->process != process))
		slot = &(*slot)->next;
	return slot;
}

/* ------------------------------------------------------------------ */
/* Calls								*/

static void settle(struct process *process)
{
	if (process && process->unsure)
		process->unsure--;
}

/* From now on, the process has an unshared table with unknown contents. */
static void leave_table(struct descriptors *all, struct process *process)
{
	fd_tables_drop(&all->tables, &process->table);
	if (process->sharer) {
		settle(*process_slot(all, process->sharer));
		settle(process);
	}
	process->sharer = 0;
}

static void end_call(struct descriptors *all, struct thread **slot)
{
	struct thread *thread = *slot;
	struct process *process = *process_slot(all, thread->process);

	if (thread->doubts)
		settle(process);
	if (thread->closing && process && process->closing)
		process->closing--;
	*slot = thread->next;
	free(thread);
	all->nr_threads--;
}

/* If the call makes a descriptor without a path, sets thread->path to the kind of its file. */
static void find_kind(const struct descriptors *all, const struct process *process,
		      const struct kevent *kevent, struct thread *thread, const char *kind)
{
	const struct fd *from;
	size_t len;

	if (!kind || thread->effect != MAKES)
		return;
	len = strlen(kind);
	if (strcmp(kind, "socket") != 0) {
		snprintf(thread->path, sizeof(thread->path), "%s", kind);
	} else if (kevent->name.len == len && !memcmp(kevent->name.at, kind, len)) {
		snprintf(thread->path, sizeof(thread->path), "%s", descriptor_socket_kind(kevent));
		thread->socket = true;
	} else {
		from = fd_tables_find(&all->tables, &process->table, (int32_t)kevent->args[0]);
		if (from && from->socket)
			snprintf(thread->path, sizeof(thread->path), "%.*s,accepted",
				 (int)descriptor_address_size(from->path), from->path);
		else
			snprintf(thread->path, sizeof(thread->path), "socket");
		thread->socket = true;
	}
	thread->has_path = true;
}

/* Sets the effect of the call. Returns the kind of the descriptor that it makes, or NULL. */
static const char *find_call(const struct kevent *kevent, struct thread *thread)
{
	const struct descriptor_call *call = descriptor_call_find(kevent);

	thread->effect = call ? call->effect : NOTHING;
	thread->arg = call ? call->arg : 0;
	return call ? call->kind : NULL;
}

static bool makes_descriptor(enum call_effect effect)
{
	return effect == OPENS || effect == MAKES || effect == DUPLICATES || effect == REPLACES;
}

/* Notes if a new descriptor may be closed when the process executes a program. */
static void close_on_exec(const struct descriptors *all, const struct process *process,
			  int64_t number)
{
	struct fd *fd = fd_tables_find(&all->tables, &process->table, number);

	if (fd)
		fd->keeps = false;
}

/* Notes that a call closes descriptor @number (-1: any) at an unknown time before it returns. */
static void begin_closing(struct process *process, struct thread *thread, int64_t number)
{
	process->changes++;
	process->closing++;
	thread->closing = true;
	thread->closes = number;
}

static void begin_call(struct descriptors *all, struct process *process, struct thread *thread,
		       const struct kevent *kevent)
{
	const uint64_t flags = (uint64_t)kevent->args[0];

	/* Other threads may close a descriptor at any time during the call. */
	switch (thread->effect) {
	case CLOSES:
		fd_tables_close(&all->tables, &process->table, (int32_t)kevent->args[0]);
		begin_closing(process, thread, (int32_t)kevent->args[0]);
		break;
	case REPLACES:
		if ((int32_t)kevent->args[0] != (int32_t)kevent->args[1])
			fd_tables_close(&all->tables, &process->table, (int32_t)kevent->args[1]);
		begin_closing(process, thread, (int32_t)kevent->args[1]);
		/*
		 * Descriptors made by dup2() stay open at an exec. dup3() may have set O_CLOEXEC.
		 */
		thread->keeps = kevent->name.len == strlen("dup2") && kevent->name.at[3] == '2';
		break;
	case CLOSES_MANY:
		fd_tables_drop(&all->tables, &process->table);
		begin_closing(process, thread, -1);
		break;
	case EXECUTES:
		begin_closing(process, thread, -1);
		break;
	case DUPLICATES:
		thread->keeps = true;
		break;
	case CONTROLS_FILE:
		if ((uint32_t)kevent->args[1] == FIOCLEX)
			close_on_exec(all, process, (int32_t)kevent->args[0]);
		thread->effect = NOTHING;
		break;
	case ADDRESSES:
		fd_tables_strip_socket(&all->tables, &process->table, (int32_t)kevent->args[0]);
		thread->effect = NOTHING;
		break;
	case CONTROLS:
		thread->keeps = kevent->args[1] == F_DUPFD;
		if (kevent->args[1] == F_SETFD)
			close_on_exec(all, process, (int32_t)kevent->args[0]);
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
	thread->sets = process->table.sets;
}

static void enter(struct descriptors *all, const struct event *event, const struct kevent *kevent)
{
	struct process *process = get_process(all, event_process_key(event));
	struct thread **slot = thread_slot(all, event), *thread;
	const char *kind;

	/* The previous call has no recorded exit. For example, sigreturn() never has one. */
	if (*slot) {
		if ((*slot)->effect == EXECUTES && !(*slot)->executed && process)
			fd_tables_drop(&all->tables, &process->table);
		end_call(all, slot);
	}
	if (process)
		process->broken |= kevent->compat != 0;
	/* Most calls do not change descriptors. Their exit needs no struct thread. */
	if (process && !descriptor_call_find(kevent))
		return;
	thread = process && all->nr_threads < THREADS_MAX ? calloc(1, sizeof(*thread)) : NULL;
	if (!thread) {
		descriptors_forget(all);
		return;
	}
	kind = find_call(kevent, thread);
	find_kind(all, process, kevent, thread, kind);
	begin_call(all, process, thread, kevent);
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

/* Handles a call that has returned the new descriptor @number. */
static void get_descriptor(struct descriptors *all, struct process *process,
			   const struct thread *thread, int64_t number)
{
	const bool duplicates = thread->effect == DUPLICATES || thread->effect == REPLACES;
	const struct fd *fd = duplicates ?
			      fd_tables_find(&all->tables, &process->table, thread->fd) : NULL;
	const bool keeps = thread->keeps;
	bool socket = fd ? fd->socket : thread->socket;
	char path[PATH_SIZE] = "";
	struct fd *new;

	if (fd)
		snprintf(path, sizeof(path), "%s", fd->path);
	else if (thread->has_path)
		snprintf(path, sizeof(path), "%s", thread->path);
	fd_tables_close(&all->tables, &process->table, number);
	/* Another thread may have closed the descriptor already. */
	if (path[0] && process->changes == thread->changes) {
		new = fd_tables_set(&all->tables, &process->table, number, path, socket);
		if (new)
			new->keeps = keeps;
	}
}

/* Ends a call that began before the trace, so its arguments are unknown. */
static void leave_unseen(struct descriptors *all, const struct event *event,
			 const struct kevent *kevent)
{
	struct process *process = *process_slot(all, event_process_key(event));
	struct thread thread = { };

	if (!process || kevent->result < 0)
		return;
	find_call(kevent, &thread);
	switch (thread.effect) {
	case CLOSES:
	case REPLACES:
	case CLOSES_MANY:
		fd_tables_drop(&all->tables, &process->table);
		process->changes++;
		break;
	case OPENS:
	case MAKES:
	case DUPLICATES:
	case CONTROLS:
		fd_tables_close(&all->tables, &process->table, kevent->result);
		break;
	case CLONES:
	case MAY_SHARE:
	case SHARES:
		/* A result of 0 is the return in the new thread or process. */
		process->broken |= kevent->result > 0;
		break;
	case UNSHARES:
	case CONFUSES:
		process->broken = true;
		break;
	default:
		break;
	}
}

static void leave(struct descriptors *all, const struct event *event, const struct kevent *kevent)
{
	struct thread **slot = thread_slot(all, event), *thread = *slot;
	struct process *process = thread ? *process_slot(all, thread->process) : NULL;
	const bool returns = thread && kevent->nr == thread->nr;

	if (!thread)
		leave_unseen(all, event, kevent);
	/*
	 * The call created a process, but no event shows which one: any process may share the
	 * table.
	 */
	if (thread && !thread->forked && (kevent->result > 0 || !returns) &&
	    (thread->effect == MAY_SHARE || thread->effect == SHARES))
		all->blind = true;
	if (process && returns && kevent->result >= 0 && makes_descriptor(thread->effect))
		get_descriptor(all, process, thread, kevent->result);
	/* The process has executed a program, but without the class process, no event says so. */
	if (process && thread->effect == EXECUTES && !thread->executed &&
	    (!returns || kevent->result >= 0))
		fd_tables_drop(&all->tables, &process->table);
	if (thread)
		end_call(all, slot);
}

/* ------------------------------------------------------------------ */
/* Processes								*/

static void copy_table(struct descriptors *all, const struct process *from, struct process *to)
{
	for (const struct fd *fd = from->table.fds; fd; fd = fd->after) {
		struct fd *new = fd_tables_set(&all->tables, &to->table, fd->number, fd->path,
					       fd->socket);

		if (new)
			new->keeps = fd->keeps;
	}
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
	/* The call may have begun before the trace. */
	enum call_effect effect = thread ? thread->effect : MAY_SHARE;

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
		if (thread->changes == process->changes && thread->sets == process->table.sets)
			copy_table(all, process, child);
		return;
	}
	/* Tables that more than two processes share are not followed. */
	process->broken |= process->sharer != 0;
	child->broken = process->broken;
	if (effect == COPIES)
		return;
	fd_tables_drop(&all->tables, &process->table);
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
	free(process);
	all->nr_processes--;
}

/* The process has executed a program: keeps only the descriptors that stay open. */
static void execute(struct descriptors *all, const struct event *event)
{
	struct process *process = *process_slot(all, event_process_key(event));
	struct thread *thread = *thread_slot(all, event);
	struct fd *fd, *after;

	if (!process)
		return;
	if (process->sharer || process->unsure || process->broken)
		leave_table(all, process);
	for (fd = process->table.fds; fd; fd = after) {
		after = fd->after;
		if (!fd->keeps)
			fd_tables_close(&all->tables, &process->table, fd->number);
	}
	process->broken = false;
	if (thread)
		thread->executed = true;
}

static void follow(struct descriptors *all, const struct event *event, const struct kevent *kevent)
{
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
		execute(all, event);
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

/* ------------------------------------------------------------------ */
/* Descriptors at the start						*/

/* May a thread of the process have closed the descriptor in a call that has not returned? */
static bool is_closing(const struct descriptors *all, const struct process *process, int64_t number)
{
	if (!process->closing)
		return false;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (const struct thread *thread = all->threads[i]; thread; thread = thread->next) {
			if (thread->process == process->key && thread->closing &&
			    (thread->closes < 0 || thread->closes == number))
				return true;
		}
	}
	return false;
}

static void take_row(struct descriptors *all, struct process *process,
		     const struct posixtrace_open_file *row)
{
	struct buffer name = { };
	struct fd *fd;

	if (row->kind == POSIXTRACE_FILE_OTHER && strstr(row->text, "[io_uring]"))
		process->broken = true;
	if (row->fd < 0 || is_closing(all, process, row->fd))
		return;
	open_files_name(all->files, row, &name);
	fd_tables_close(&all->tables, &process->table, row->fd);
	if (name.len && name.len < PATH_SIZE && !name.failed) {
		buffer_byte(&name, '\0');
		fd = fd_tables_set(&all->tables, &process->table, row->fd, (const char *)name.data,
				   row->kind == POSIXTRACE_FILE_SOCKET);
		if (fd)
			fd->keeps = !(row->flags & POSIXTRACE_FILE_CLOEXEC);
	}
	buffer_free(&name);
}

void descriptors_reach(struct descriptors *all, struct source *source, uint64_t time)
{
	const struct posixtrace_open_file *row;
	struct process *process;
	struct event event;

	while (all->files && (row = open_files_next(all->files, time))) {
		if (open_files_ns(row) < all->complete_from || row->pid <= 0)
			continue;
		event = (struct event){
			.time = open_files_ns(row), .name = "", .pid = row->pid,
			.tid = row->pid, .user = true, .source = source,
		};
		process = source_identify(source, &event) ? NULL :
			  get_process(all, event_process_key(&event));
		if (!process)
			continue;
		if (row->flags & POSIXTRACE_FILE_UNSURE)
			process->broken = true;
		take_row(all, process, row);
	}
}

void descriptors_event(struct descriptors *descriptors, const struct event *event)
{
	struct kevent kevent;

	descriptors_reach(descriptors, event->source, event->time);
	if (event->lost != descriptors->lost) {
		descriptors_forget(descriptors);
		descriptors->complete_from = UINT64_MAX;
	}
	if (descriptors->complete_from == UINT64_MAX && !descriptors->held)
		descriptors->complete_from = event->time;
	descriptors->lost = event->lost;
	if (event->partial)
		return;
	switch (event->type) {
	case POSIX_TRACE_START:
	case POSIX_TRACE_RESUME:
		descriptors_forget(descriptors);
		descriptors->complete_from = event->time;
		descriptors->held = false;
		return;
	case POSIX_TRACE_ERROR:
		descriptors_forget(descriptors);
		descriptors->complete_from = event->time;
		return;
	case POSIX_TRACE_STOP:
	case POSIX_TRACE_OVERFLOW:
	case POSIX_TRACE_FILTER:
		descriptors_forget(descriptors);
		descriptors->complete_from = UINT64_MAX;
		descriptors->held = true;
		return;
	case POSIXTRACE_SYSCALL_ENTRY:
	case POSIXTRACE_SYSCALL_TEXT:
	case POSIXTRACE_SYSCALL_EXIT:
	case POSIXTRACE_FORK:
	case POSIXTRACE_EXEC:
	case POSIXTRACE_EXIT:
		/* An event that cannot be read may be any system call, with any effect. */
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
	const struct thread *thread = *thread_slot(descriptors, event);
	const struct fd *found = process && !process->broken && !process->unsure &&
				 !descriptors->blind ?
				 fd_tables_find(&descriptors->tables, &process->table, fd) : NULL;

	/* The exit of exec may be missing. The descriptors are unknown at the next call. */
	if (thread && thread->effect == EXECUTES && event->type == POSIXTRACE_SYSCALL_ENTRY &&
	    !thread->executed)
		return NULL;
	return found ? found->path : NULL;
}

bool descriptors_makes(const struct kevent *exit)
{
	struct thread thread = { };

	find_call(exit, &thread);
	return makes_descriptor(thread.effect) && exit->result >= 0;
}
