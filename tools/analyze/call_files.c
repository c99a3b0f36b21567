// SPDX-License-Identifier: GPL-2.0
/*
 * The files of system calls: see call_files.h.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/call_files.h"
#include "event/syscall_values.h"

/* The last system call of a thread, and the file on which it works. */
struct call_file {
	uint64_t begin;
	char path[DESCRIPTORS_PATH_SIZE];	/* "" if unknown */
};

struct call_files {
	struct descriptors *descriptors;
	struct call_file *calls;		/* index: number of the thread */
	size_t room;
	size_t max;
};

void call_files_note(const struct descriptors *descriptors, const struct event *event,
		     const struct kevent *kevent, char path[DESCRIPTORS_PATH_SIZE])
{
	const struct syscall_args *known = NULL;
	const char *found = NULL;
	int arg;

	if (event->type == POSIXTRACE_SYSCALL_ENTRY) {
		path[0] = '\0';
		if (!kevent->compat && kevent->name.len)
			known = syscall_args_find(kevent->name.at, kevent->name.len);
		arg = known ? syscall_descriptor(known) : -1;
		if (arg >= 0)
			found = descriptors_path(descriptors, event, (int32_t)kevent->args[arg]);
	} else if (event->type == POSIXTRACE_SYSCALL_EXIT && !path[0] &&
		   descriptors_makes(kevent)) {
		found = descriptors_path(descriptors, event, kevent->result);
	}
	if (found)
		snprintf(path, DESCRIPTORS_PATH_SIZE, "%s", found);
}

int call_files_new(struct source *source, size_t max, struct call_files **files)
{
	struct call_files *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->max = max;
	err = descriptors_new(&new->descriptors);
	if (!err)
		err = descriptors_start(new->descriptors, source);
	if (err)
		call_files_free(new);
	else
		*files = new;
	return err;
}

/* Makes room for a thread in the array @calls. */
static int reach_thread(struct call_files *files, uint32_t thread)
{
	size_t room = files->room ? files->room : 64;
	struct call_file *calls;

	if (thread < files->room)
		return 0;
	while (room <= thread)
		room *= 2;
	calls = reallocarray(files->calls, room, sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	for (size_t i = files->room; i < room; i++) {
		calls[i].begin = 0;
		calls[i].path[0] = '\0';
	}
	files->calls = calls;
	files->room = room;
	return 0;
}

static int note_call(struct call_files *files, uint32_t thread, const struct event *event)
{
	struct call_file *call;
	struct kevent kevent;
	int err;

	if (!thread || thread > files->max || !kevent_read(event, &kevent))
		return 0;
	err = reach_thread(files, thread);
	if (err)
		return err;
	call = &files->calls[thread];
	if (event->type == POSIXTRACE_SYSCALL_ENTRY)
		call->begin = event->time;
	call_files_note(files->descriptors, event, &kevent, call->path);
	return 0;
}

int call_files_event(struct call_files *files, uint32_t thread, const struct event *event)
{
	/* A system call closes a descriptor when it begins, and opens one when it ends. */
	const bool ends = event->type == POSIXTRACE_SYSCALL_EXIT;
	int err = 0;

	descriptors_reach(files->descriptors, event->source, event->time);
	if (ends)
		descriptors_event(files->descriptors, event);
	if (ends || event->type == POSIXTRACE_SYSCALL_ENTRY)
		err = note_call(files, thread, event);
	if (!ends)
		descriptors_event(files->descriptors, event);
	return err;
}

static const char *path_of(const struct call_files *files, uint32_t thread)
{
	return thread < files->room && files->calls[thread].path[0] ? files->calls[thread].path :
	       NULL;
}

const char *call_files_of_call(const struct call_files *files, const struct call *call)
{
	const char *path = path_of(files, call->thread);

	/*
	 * The path belongs to the last call of the thread. @call may be an earlier one without an
	 * exit.
	 */
	return path && files->calls[call->thread].begin == call->begin ? path : NULL;
}

const char *call_files_of_wait(const struct call_files *files, const struct interval *interval)
{
	const char *path = interval->call[0] ? path_of(files, interval->thread) : NULL;

	return path && files->calls[interval->thread].begin <= interval->begin ? path : NULL;
}

void call_files_free(struct call_files *files)
{
	if (!files)
		return;
	descriptors_free(files->descriptors);
	free(files->calls);
	free(files);
}
