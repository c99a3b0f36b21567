/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes that execute exec_helper, which gets its instructions through the environment.
 */
#ifndef _SELFTESTS_EXEC_H
#define _SELFTESTS_EXEC_H

#include <limits.h>
#include <stdbool.h>

#include "family.h"

#define HELPER	"./exec_helper"

/* Instructions for exec_helper. */
struct program {
	const char *path;
	const char *name;	/* name of the event type to open */
	int number;		/* number to record, without a talk */
	int again;		/* how often it executes itself first */
	bool talks;		/* run on_demand() of the helper */
};

static inline void set_number(const char *name, long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", value);
	setenv(name, text, 1);
}

/* exec() closes the descriptors of a talk, but not these copies. */
static inline void set_program(const struct program *program, const struct talk *talk)
{
	setenv("EXEC_NAME", program->name ? program->name : "of the helper", 1);
	set_number("EXEC_NUMBER", program->number);
	set_number("EXEC_AGAIN", program->again);
	unsetenv("EXEC_IN");
	if (program->talks) {
		set_number("EXEC_IN", dup(talk->in));
		set_number("EXEC_OUT", dup(talk->out));
	}
}

/* Executes the helper. Returns only on failure. */
static inline int execute(const struct program *program, const struct talk *talk)
{
	set_program(program, talk);
	execl(program->path, program->path, (char *)NULL);
	return 100;
}

/* A child function: waits for a message, then executes the helper. */
static inline int execute_on_request(void *arg, const struct talk *talk)
{
	say(talk, 0);
	if (hear(talk) < 0)
		return 101;
	return execute(arg, talk);
}

#endif /* _SELFTESTS_EXEC_H */
