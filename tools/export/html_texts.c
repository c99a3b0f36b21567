// SPDX-License-Identifier: GPL-2.0
/*
 * Texts of an HTML page: see html_texts.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_names.h"
#include "event/syscall_args.h"
#include "export/export.h"
#include "export/html_texts.h"
#include "util/escape.h"
#include "util/threads.h"

#define CALLS_MAX	512	/* system calls with arguments; no machine has more */

struct html_texts {
	struct threads *processes;	/* the processes that were added */
	struct buffer commands;		/* JSON */
	struct buffer calls;		/* JSON */
	const struct syscall_args *known[CALLS_MAX];	/* the calls that are in @calls */
	size_t nr_known;
};

int html_texts_new(struct html_texts **texts)
{
	int err;

	*texts = calloc(1, sizeof(**texts));
	if (!*texts)
		return -ENOMEM;
	err = threads_new(EXPORT_THREADS, &(*texts)->processes);
	if (err) {
		free(*texts);
		*texts = NULL;
	}
	return err;
}

void html_texts_free(struct html_texts *texts)
{
	if (!texts)
		return;
	threads_free(texts->processes);
	buffer_free(&texts->commands);
	buffer_free(&texts->calls);
	free(texts);
}

static void put_separator(struct buffer *to)
{
	buffer_text(to, to->len ? ",\n" : "\n");
}

int html_texts_process(struct html_texts *texts, const struct event *event)
{
	char text[POSIXTRACE_PROGRAM_SIZE];
	uint32_t number;
	size_t len;
	int ret = threads_find(texts->processes, event->pid, event_process_key(event), &number);

	if (ret <= 0 || number == THREADS_OTHERS)
		return ret < 0 ? ret : 0;
	len = event_process_command(event, text);
	if (!len)
		return 0;
	put_separator(&texts->commands);
	buffer_printf(&texts->commands, "[%d,%" PRIu32 ",", (int)event->pid, event->process_life);
	escape_string(&texts->commands, text, len, true);
	buffer_byte(&texts->commands, ']');
	return 0;
}

static void put_args(struct buffer *to, const struct syscall_args *call)
{
	const char *at = call->args;
	struct syscall_arg arg;
	bool first = true;

	put_separator(to);
	escape_string(to, call->name, strlen(call->name), true);
	buffer_text(to, ":[");
	for (; syscall_args_next(&at, &arg); first = false) {
		buffer_printf(to, "%s[\"%c\",", first ? "" : ",", arg.type);
		escape_string(to, arg.name, arg.name_len, true);
		buffer_byte(to, ']');
	}
	buffer_byte(to, ']');
}

void html_texts_call(struct html_texts *texts, const char *name)
{
	const struct syscall_args *call = syscall_args_find(name, strlen(name));

	if (!call)
		return;
	for (size_t i = 0; i < texts->nr_known; i++) {
		if (texts->known[i] == call)
			return;
	}
	if (texts->nr_known == CALLS_MAX)
		return;
	texts->known[texts->nr_known++] = call;
	put_args(&texts->calls, call);
}

size_t html_texts_bytes(const struct html_texts *texts)
{
	return texts->commands.len + texts->calls.len + 64;
}

void html_texts_put(const struct html_texts *texts, struct buffer *to)
{
	buffer_text(to, "\"commands\":[");
	buffer_put(to, texts->commands.data, texts->commands.len);
	buffer_text(to, "\n],\"calls\":{");
	buffer_put(to, texts->calls.data, texts->calls.len);
	buffer_text(to, "\n}");
	to->failed |= texts->commands.failed || texts->calls.failed;
}
