// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the tables of "posixtrace top" of a log, as if its events were read while they happened:
 * an interval ends when this many ns have passed since the first event, and at the last event.
 *
 * usage: top_tables LOG NS [ORDER [FILTER]]    ORDER as for --sort; "-ORDER": reverse
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/text.h"

static struct top_model *model;
static struct top_threads *threads;
static struct source *source;
static struct top_view view;
static struct top_head head;

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "top_tables: %s: error %d\n", what, err);
	exit(1);
}

static void set_order(const char *name)
{
	view.reverse = *name == '-';
	name += view.reverse;
	while (view.order < TOP_ORDERS && strcmp(name, top_text_order(view.order)))
		view.order++;
	check(view.order == TOP_ORDERS, name);
}

static void set_filter(const char *text)
{
	struct filter *filter;

	check(filter_option(text, &filter), text);
	check(top_model_filter(model, filter), text);
}

static void print(uint64_t ns)
{
	struct buffer text = { };

	check(top_model_tick(model, ns), "tick");
	check(top_threads_read(threads, source, model), "states");
	top_text_head(&text, model, &head);
	check(top_text_rows(&text, model, TOP_SCOPES, &view, SIZE_MAX), "scopes");
	check(top_text_rows(&text, model, TOP_EVENTS, &view, SIZE_MAX), "events");
	top_text_threads(&text, threads, source, model, &view, SIZE_MAX);
	fwrite(text.data, 1, text.len, stdout);
	buffer_free(&text);
}

int main(int argc, char **argv)
{
	uint64_t began = 0, interval;
	struct event event;

	if (argc < 3)
		return 2;
	interval = strtoull(argv[2], NULL, 10);
	check(source_open_log(source_path(argv[1]), &source), argv[1]);
	check(top_model_new(&model) || top_threads_new(&threads), "memory");
	if (argc > 3)
		set_order(argv[3]);
	if (argc > 4)
		set_filter(argv[4]);
	while (source_next(source, &event) == 1) {
		if (!began)
			began = event.time;
		for (; event.time - began >= interval; began += interval)
			print(interval);
		check(top_model_event(model, &event), "event");
	}
	print(event.time - began);
	top_threads_free(threads);
	top_model_free(model);
	source_close(source);
	return 0;
}
