/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Child processes of any user, in any user namespace, with the capabilities that a test
 * needs. They create streams on request.
 */
#ifndef _SELFTESTS_ACTOR_H
#define _SELFTESTS_ACTOR_H

#include <linux/capability.h>
#include <stdint.h>
#include <sys/resource.h>

#include "process.h"
#include "uapi.h"

#define CAPS_ALL	(~0ULL)
#define CAP(name)	(1ULL << CAP_ ## name)

/* The identity of an actor. */
struct actor_is {
	uid_t uid;		/* all of its user and group ids, as in its namespace */
	int user_ns;		/* descriptor, or -1: the initial one */
	uint64_t caps;		/* those in its namespace, or CAPS_ALL */
	rlim_t memlock;		/* soft limit in bytes; 0: unchanged */
};

/* Requests: two words, the second is a number. */
enum actor_word {
	ACTOR_CREATE,		/* at most so many; answers with the number, and the last error */
	ACTOR_SHUTDOWN,		/* the last so many; the files stay open */
	ACTOR_CLOSE,		/* the same with close() */
	ACTOR_MEMLOCK,		/* changes the soft limit */
	ACTOR_START,		/* START and STOP of the last one, at most so many times */
	ACTOR_MEMORY,		/* answers with the memory of the last one */
	ACTOR_BAD_CREATE,	/* so many that fail when the answer is written */
	ACTOR_END,		/* without a number */
};

struct actor {
	struct child child;
	struct posixtrace_attr attr;	/* of its streams; set before the start */
	struct actor_is is;
};

struct actor_answer {
	long count;
	long error;
};

int set_memlock(rlim_t bytes);
int actor_become(const struct actor_is *is);

int actor_run(void *arg, const struct talk *talk);

/* Returns 0, or negative errno of the failed change of identity. */
int actor_start(struct actor *actor);

void actor_tell(struct actor *actor, enum actor_word word, long number);
struct actor_answer actor_answer(struct actor *actor);
struct actor_answer actor_do(struct actor *actor, enum actor_word word, long number);

/* Creates @nr streams. Returns their number, or negative errno of the first failure. */
long actor_add(struct actor *actor, int nr);

/* Creates streams until one fails with @error. Returns their number, or another error. */
long actor_fill(struct actor *actor, int error);

/* The end is a request, since later actors hold the pipes of earlier ones. */
void actor_end(struct actor *actor);

#endif /* _SELFTESTS_ACTOR_H */
