// SPDX-License-Identifier: GPL-2.0
/*
 * Instances of scopes in an HTML page: see html_why.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export/explain.h"
#include "export/html_why.h"

#define BYTES_ALL	(16U << 20)	/* limit of all objects, plus one object */
#define BYTES_HEAD	128		/* bytes of an instance besides its object */

/* An instance. Its JSON object has @len bytes at offset @at of html_why.objects. */
struct shown {
	pid_t pid;
	uint64_t key;
	uint64_t begin;
	uint64_t end;
	size_t at;
	size_t len;
};

struct html_why {
	bool known;
	unsigned long worst;
	struct buffer objects;
	struct shown *shown;
	size_t count;
	size_t left_out;
};

static int add(struct html_why *html, const struct explain *explain, size_t index)
{
	struct shown *shown = &html->shown[html->count];
	const struct track_thread *thread;
	struct parts *parts;
	struct why why;
	int err = explain_get(explain, index, &why, &parts);

	if (err)
		return err;
	thread = tracks_thread(why.tracks, why.thread);
	*shown = (struct shown){
		.pid = thread->pid,
		.key = thread->key,
		.begin = why.begin,
		.end = why.end,
		.at = html->objects.len,
	};
	err = why_page(&why, &html->objects);
	parts_free(parts);
	shown->len = html->objects.len - shown->at;
	html->count++;
	return err;
}

/* Adds the longest instance of each scope first, so that it is kept if others do not fit. */
static int add_all(struct html_why *html, const struct explain *explain)
{
	const size_t count = explain_count(explain);
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		if (html->objects.len >= BYTES_ALL)
			html->left_out++;
		else
			err = add(html, explain, i);
	}
	return err;
}

int html_why_new(const struct export *export, struct html_why **why)
{
	struct html_why *new = calloc(1, sizeof(*new));
	int err = 0;

	*why = NULL;
	if (!new)
		return -ENOMEM;
	new->known = export->explain;
	new->worst = export->worst ? export->worst : EXPLAIN_WORST;
	if (export->explain) {
		new->shown = calloc(explain_count(export->explain) + 1, sizeof(*new->shown));
		err = new->shown ? add_all(new, export->explain) : -ENOMEM;
	}
	if (err)
		html_why_free(new);
	else
		*why = new;
	return err;
}

void html_why_free(struct html_why *why)
{
	if (!why)
		return;
	buffer_free(&why->objects);
	free(why->shown);
	free(why);
}

size_t html_why_bytes(const struct html_why *why)
{
	return why->objects.len + (why->count + 1) * BYTES_HEAD;
}

void html_why_put(const struct html_why *why, struct buffer *to, uint64_t since,
		  int64_t (*find_track)(void *arg, pid_t pid, uint64_t key), void *arg)
{
	bool first = true;

	if (!why->known) {
		buffer_text(to, "\"why\":null");
		return;
	}
	buffer_printf(to, "\"why\":{\"worst\":%lu,\"leftOut\":%zu,\"instances\":[",
		      why->worst, why->left_out);
	for (size_t i = 0; i < why->count; i++) {
		const struct shown *shown = &why->shown[i];
		int64_t track = find_track(arg, shown->pid, shown->key);

		/*
		 * Leave out an instance that began before the first exported event: it is not in
		 * the page.
		 */
		if (track < 0 || shown->begin < since)
			continue;
		buffer_printf(to, "%s\n[%" PRId64 ",%" PRIu64 ",%" PRIu64 ",", first ? "" : ",",
			      track, shown->begin - since, shown->end - shown->begin);
		buffer_put(to, why->objects.data + shown->at, shown->len);
		buffer_byte(to, ']');
		first = false;
	}
	buffer_text(to, "\n]}");
}
