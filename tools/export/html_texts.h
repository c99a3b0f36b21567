/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts that an HTML page has only once, not with each item: the command lines of processes, and
 * the arguments of system calls.
 */
#ifndef POSIXTRACE_HTML_TEXTS_H
#define POSIXTRACE_HTML_TEXTS_H

#include <stddef.h>

#include "event/source.h"
#include "util/buffer.h"

struct html_texts;

/* html_texts_new() - create an empty collection; returns 0 or -ENOMEM */
int html_texts_new(struct html_texts **texts);
void html_texts_free(struct html_texts *texts);

/* html_texts_process() - add the process of an event; returns 0 or -ENOMEM */
int html_texts_process(struct html_texts *texts, const struct event *event);

/* html_texts_call() - add a system call by its name */
void html_texts_call(struct html_texts *texts, const char *name);

/*
 * html_texts_bytes() - get an upper bound of the number of bytes that html_texts_put() will append
 */
size_t html_texts_bytes(const struct html_texts *texts);

/**
 * html_texts_put() - append the texts as members of an object
 * @texts: from html_texts_new()
 * @to: where to append
 *
 * The member "commands" has [PID, LIFE, TEXT] for each process with a known command line. The
 * member "calls" has the arguments of each system call, by the name of the call. Each argument is
 * [TYPE, NAME], where TYPE is an enum syscall_arg_type.
 */
void html_texts_put(const struct html_texts *texts, struct buffer *to);

#endif /* POSIXTRACE_HTML_TEXTS_H */
