/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Child processes of any user, in any user namespace, with the capabilities that a test
 * needs. They create streams on request.
 */
#ifndef _SELFTESTS_ACTOR_H
#define _SELFTESTS_ACTOR_H

#include <linux/capability.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

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

static inline int set_caps(uint64_t caps)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps },
		{ .effective = caps >> 32, .permitted = caps >> 32 },
	};

	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

static inline int set_memlock(rlim_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return -errno;
	limit.rlim_cur = bytes;
	return setrlimit(RLIMIT_MEMLOCK, &limit) ? -errno : 0;
}

static inline int actor_become(const struct actor_is *is)
{
	if (is->user_ns >= 0 && setns(is->user_ns, CLONE_NEWUSER))
		return -errno;
	if (is->memlock) {
		struct rlimit limit = { is->memlock, RLIM_INFINITY };

		/* Without the right to raise the hard limit, keep it. */
		if (setrlimit(RLIMIT_MEMLOCK, &limit) && set_memlock(is->memlock))
			return -errno;
	}
	if (prctl(PR_SET_KEEPCAPS, 1) || setresgid(is->uid, is->uid, is->uid) ||
	    setresuid(is->uid, is->uid, is->uid))
		return -errno;
	return is->caps == CAPS_ALL ? 0 : set_caps(is->caps);
}

/* The streams of a running actor. */
struct actor_streams {
	int fd[POSIXTRACE_SLOTS_MAX + 1];
	int nr;
};

static inline void actor_init_create(const struct actor *actor, struct posixtrace_create *arg)
{
	create_init(arg, 0);
	arg->attr.stream_size = actor->attr.stream_size;
	arg->attr.max_data_size = actor->attr.max_data_size;
}

/* Creates a stream on itself. */
static inline int actor_create(const struct actor *actor, struct actor_streams *streams)
{
	struct posixtrace_create arg;
	int fd, ret;

	if (streams->nr == POSIXTRACE_SLOTS_MAX + 1)
		return -ENFILE;
	actor_init_create(actor, &arg);
	fd = device_open();
	if (fd < 0)
		return fd;
	ret = command(fd, POSIXTRACE_IOC_CREATE, &arg);
	if (ret)
		close(fd);
	else
		streams->fd[streams->nr++] = fd;
	return ret;
}

/* A CREATE that fails late, since its answer cannot be written. */
static inline int actor_bad_create(const struct actor *actor)
{
	size_t size = sizeof(struct posixtrace_create);
	struct posixtrace_create *arg;
	int fd, ret;

	arg = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arg == MAP_FAILED)
		return -errno;
	actor_init_create(actor, arg);
	mprotect(arg, size, PROT_READ);
	fd = device_open();
	ret = fd < 0 ? fd : command(fd, POSIXTRACE_IOC_CREATE, arg);
	close(fd);
	munmap(arg, size);
	if (ret == -EFAULT)
		return 0;
	return ret ? ret : -EPROTO;
}

static inline int actor_start_stop(int fd)
{
	struct stream stream = { .fd = fd };
	int ret = stream_start(&stream);

	return ret ? ret : stream_stop(&stream);
}

static inline int actor_once(const struct actor *actor, struct actor_streams *streams, long word)
{
	switch (word) {
	case ACTOR_CREATE:
		return actor_create(actor, streams);
	case ACTOR_BAD_CREATE:
		return actor_bad_create(actor);
	default:
		break;
	}
	if (!streams->nr)
		return -ENOENT;
	switch (word) {
	case ACTOR_SHUTDOWN:
		/* The file stays open until the actor ends. */
		return command(streams->fd[--streams->nr], POSIXTRACE_IOC_SHUTDOWN, NULL);
	case ACTOR_CLOSE:
		return close(streams->fd[--streams->nr]) ? -errno : 0;
	case ACTOR_START:
		return actor_start_stop(streams->fd[streams->nr - 1]);
	default:
		return -EPROTO;
	}
}

static inline long actor_memory(const struct actor_streams *streams)
{
	struct posixtrace_status status = {};
	struct stream stream = { .fd = streams->nr ? streams->fd[streams->nr - 1] : -1 };

	return stream_status(&stream, &status) ? -1 : (long)status.memory;
}

static inline int actor_run(void *arg, const struct talk *talk)
{
	struct actor_streams streams = {};
	const struct actor *actor = arg;
	struct actor_answer answer;
	int err = actor_become(&actor->is);
	long word, number;

	say(talk, err);
	if (err)
		return 1;
	for (;;) {
		word = hear(talk);
		if (word < 0 || word == ACTOR_END)
			return 0;
		number = hear(talk);
		answer = (struct actor_answer){};
		if (word == ACTOR_MEMLOCK)
			answer.error = set_memlock(number);
		else if (word == ACTOR_MEMORY)
			answer.count = actor_memory(&streams);
		else
			while (answer.count < number && !answer.error) {
				answer.error = actor_once(actor, &streams, word);
				answer.count += !answer.error;
			}
		say(talk, answer.count);
		say(talk, answer.error);
	}
}

/* Returns 0, or negative errno of the failed change of identity. */
static inline int actor_start(struct actor *actor)
{
	int err = child_start(&actor->child, actor_run, actor);

	return err ? err : (int)hear(&actor->child.talk);
}

static inline void actor_tell(struct actor *actor, enum actor_word word, long number)
{
	say(&actor->child.talk, word);
	say(&actor->child.talk, number);
}

static inline struct actor_answer actor_answer(struct actor *actor)
{
	struct actor_answer answer;

	answer.count = hear(&actor->child.talk);
	answer.error = hear(&actor->child.talk);
	return answer;
}

static inline struct actor_answer actor_do(struct actor *actor, enum actor_word word, long number)
{
	actor_tell(actor, word, number);
	return actor_answer(actor);
}

/* Creates @nr streams. Returns their number, or negative errno of the first failure. */
static inline long actor_add(struct actor *actor, int nr)
{
	struct actor_answer answer = actor_do(actor, ACTOR_CREATE, nr);

	return answer.error ? answer.error : answer.count;
}

/* Creates streams until one fails with @error. Returns their number, or another error. */
static inline long actor_fill(struct actor *actor, int error)
{
	struct actor_answer answer = actor_do(actor, ACTOR_CREATE, POSIXTRACE_SLOTS_MAX + 1);

	return answer.error == error ? answer.count : answer.error;
}

/* The end is a request, since later actors hold the pipes of earlier ones. */
static inline void actor_end(struct actor *actor)
{
	say(&actor->child.talk, ACTOR_END);
	child_wait(&actor->child);
}

#endif /* _SELFTESTS_ACTOR_H */
