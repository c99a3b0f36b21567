// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace stat --diff A B": compares two logs.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <posixtrace.h>
#include <stdio.h>
#include <trace.h>

#include "analyze/durations.h"
#include "cmd/stat_diff.h"
#include "event/logend.h"
#include "print/cells.h"
#include "print/compare_print.h"
#include "print/measures_json.h"
#include "util/escape.h"
#include "util/message.h"
#include "util/pager.h"

struct side {
	const char *path;
	struct source *source;	/* keep open: the measures use strings of the source */
	struct measures *measures;
	struct logend end;
};

static int begin_side(const struct stat_diff *diff, struct side *side)
{
	struct measures_options options = diff->measure;
	int err = source_get_classes(side->source, &options.classes);

	if (err)
		return err;
	options.names = true;
	options.kinds = 1U << MEASURE_EVENT | 1U << MEASURE_SCOPE | 1U << MEASURE_CALL;
	if (options.classes & POSIXTRACE_CLASS_SCHED)
		options.kinds |= 1U << MEASURE_STATE;
	err = measures_new(&options, &side->measures);
	return err ? err : measures_start(side->measures, side->source);
}

static int read_side(const struct stat_diff *diff, struct side *side)
{
	struct event event;
	int ret, err = begin_side(diff, side);

	while (!err && (ret = select_next(diff->selection, side->source, &event)) != 0) {
		if (ret < 0)
			return ret;
		logend_event(&side->end, &event);
		err = measures_event(side->measures, &event,
				     select_event(diff->selection, &event));
	}
	if (!err)
		err = measures_end(side->measures);
	return err ? err : logend_read(&side->end, side->source);
}

static int open_side(const struct stat_diff *diff, struct side *side)
{
	int err = source_open_log(side->path, &side->source);

	if (err) {
		source_complain(side->path, err);
		return err;
	}
	select_restart(diff->selection);
	err = durations_select(diff->selection, side->source, NULL);
	if (err)
		return err;
	err = read_side(diff, side);
	if (err)
		complain(side->path, -err);
	return err ? err : select_complain(diff->selection, side->path, side->source);
}

static void print_head(const struct side *side, char name)
{
	const struct measures *measures = side->measures;
	char time[CELLS_SIZE];

	printf("%c  ", name);
	cells_name(stdout, side->path, 0);
	printf(": %llu user, %llu system events, %llu lost, %s\n",
	       (unsigned long long)measures_user(measures),
	       (unsigned long long)measures_system(measures),
	       (unsigned long long)side->end.lost,
	       cells_time(time, measures_last(measures) - measures_first(measures)));
}

static int print_sides(const struct stat_diff *diff, const struct side *sides)
{
	int err;

	if (diff->json) {
		struct measures *const measures[] = { sides[0].measures, sides[1].measures };
		const uint64_t lost[] = { sides[0].end.lost, sides[1].end.lost };

		err = compare_json(measures, lost, stdout);
	} else {
		print_head(&sides[0], 'A');
		print_head(&sides[1], 'B');
		err = compare_print(sides[0].measures, sides[1].measures, diff->by, stdout,
				    diff->all);
	}
	if (err) {
		complain("stat", -err);
		return err;
	}
	return end_output();
}

int stat_diff(const struct stat_diff *diff)
{
	struct side sides[2] = {
		{ .path = source_path(diff->paths[0]) },
		{ .path = source_path(diff->paths[1]) },
	};
	int err, told = 0;

	err = open_side(diff, &sides[0]);
	if (!err)
		err = open_side(diff, &sides[1]);
	if (!err)
		pager_begin();
	if (!err)
		err = print_sides(diff, sides);
	for (int i = 0; !err && i < 2; i++) {
		int damaged = logend_tell(&sides[i].end, sides[i].path, sides[i].source);

		told = damaged ? damaged : told;
	}
	for (int i = 0; i < 2; i++) {
		measures_free(sides[i].measures);
		source_close(sides[i].source);
	}
	return err ? err : told;
}
