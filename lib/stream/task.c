// SPDX-License-Identifier: MIT
/*
 * Names of threads and processes of an active stream: as /proc says now.
 */
#include <stdio.h>
#include <string.h>

#include "common/host.h"
#include "stream/stream.h"

/* The thread may have ended, or /proc may not show it to the caller. */
static int not_known(ssize_t err)
{
	return err == -ENOMEM ? -ENOMEM : -ENOENT;
}

int pxtu_stream_get_task(struct pxtu_source *source, const struct pxtu_task *task, char *name)
{
	char path[64];
	ssize_t len;

	(void)source;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", task->pid, task->tid);
	len = pxtu_read_file(path, name, POSIXTRACE_THREAD_NAME_SIZE);
	if (len <= 0)
		return not_known(len);
	/* It ends with a newline. */
	name[len - 1] = '\0';
	return 0;
}

int pxtu_stream_get_program(struct pxtu_source *source, const struct pxtu_task *task,
			    struct pxtu_text *text)
{
	char copy[POSIXTRACE_PROGRAM_SIZE], path[32];
	ssize_t len;

	(void)source;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", task->pid);
	len = pxtu_read_file(path, copy, sizeof(copy));
	if (len <= 0)
		return not_known(len);
	copy[len - 1] = '\0';
	text->needed = (size_t)len;
	if (text->needed <= text->room)
		memcpy(text->to, copy, text->needed);
	return 0;
}

int pxtu_stream_get_host(struct pxtu_source *source, struct posixtrace_host_info *info)
{
	(void)source;
	pxtu_host(info);
	return 0;
}
