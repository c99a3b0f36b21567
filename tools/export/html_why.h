/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why the slowest instances of each scope took so long, as data of an HTML page.
 */
#ifndef POSIXTRACE_HTML_WHY_H
#define POSIXTRACE_HTML_WHY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "export/export.h"
#include "util/buffer.h"

struct html_why;

/**
 * html_why_new() - divide as many instances of export.explain as fit into the page
 * @export: the log
 * @why: where to store the result
 *
 * Return: 0 or a negative error number.
 */
int html_why_new(const struct export *export, struct html_why **why);
void html_why_free(struct html_why *why);

/* html_why_bytes() - get an upper bound of the number of bytes that html_why_put() will append */
size_t html_why_bytes(const struct html_why *why);

/**
 * html_why_put() - append the instances as the member "why" of an object
 * @why: from html_why_new()
 * @to: where to append
 * @since: time of the first event in the page
 * @find_track: returns the index of the track of a thread in the page, or -1
 * @arg: first argument of @find_track
 *
 * "why" is null if the log has no scheduler events. Otherwise it is an object: "worst" is the
 * largest number of instances of a scope, "leftOut" is the number of instances that did not fit,
 * and "instances" has the instances of the threads in the page. Each of these is [TRACK, BEGIN,
 * LENGTH, OBJECT], where BEGIN is relative to @since, and OBJECT is from why_page().
 */
void html_why_put(const struct html_why *why, struct buffer *to, uint64_t since,
		  int64_t (*find_track)(void *arg, pid_t pid, uint64_t key), void *arg);

#endif /* POSIXTRACE_HTML_WHY_H */
