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

/* The user, namespace and capabilities of an actor. */
struct actor_is {
	uid_t uid;		/* user and group ids, valid in @user_ns */
	int user_ns;		/* descriptor; -1: the initial namespace */
	uint64_t caps;		/* capabilities in that namespace, or CAPS_ALL */
	rlim_t memlock;		/* soft limit in bytes; 0: unchanged */
};

/*
 * Requests: one of these words, and a number n. An error ends a request early. The answer has the
 * number of operations that succeeded, and the error or 0.
 */
enum actor_word {
	ACTOR_CREATE,		/* create n streams on itself */
	ACTOR_SHUTDOWN,		/* shut down the n newest streams; their files stay open */
	ACTOR_CLOSE,		/* close the files of the n newest streams */
	ACTOR_MEMLOCK,		/* set the soft limit to n bytes */
	ACTOR_START,		/* start and stop the newest stream n times */
	ACTOR_MEMORY,		/* the answer is the memory of the newest stream */
	ACTOR_BAD_CREATE,	/* n times: a CREATE that fails when the kernel writes its answer */
	ACTOR_END,		/* end; has no number */
};

struct actor {
	struct child child;
	struct posixtrace_attr attr;	/* sizes for its streams; set before actor_start() */
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

/* Sends ACTOR_END: closing the pipe is not enough, because later actors have a copy. */
void actor_end(struct actor *actor);

#endif /* _SELFTESTS_ACTOR_H */
