// SPDX-License-Identifier: GPL-2.0
/* Children of any user that create streams on request. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "actor.h"

static int set_caps(uint64_t caps)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps },
		{ .effective = caps >> 32, .permitted = caps >> 32 },
	};

	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

int set_memlock(rlim_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return -errno;
	limit.rlim_cur = bytes;
	return setrlimit(RLIMIT_MEMLOCK, &limit) ? -errno : 0;
}

int actor_become(const struct actor_is *is)
{
	if (is->user_ns >= 0 && setns(is->user_ns, CLONE_NEWUSER))
		return -errno;
	if (is->memlock) {
		struct rlimit limit = { is->memlock, RLIM_INFINITY };

		/* Without CAP_SYS_RESOURCE, this fails: then change only the soft limit. */
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

static void actor_init_create(const struct actor *actor, struct posixtrace_create *arg)
{
	create_init(arg, 0);
	arg->attr.stream_size = actor->attr.stream_size;
	arg->attr.max_data_size = actor->attr.max_data_size;
}

/* Creates a stream on itself. */
static int actor_create(const struct actor *actor, struct actor_streams *streams)
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

/* Makes a CREATE that fails late, when the kernel writes the answer. */
static int actor_bad_create(const struct actor *actor)
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

static int actor_start_stop(int fd)
{
	struct stream stream = { .fd = fd };
	int ret = stream_start(&stream);

	return ret ? ret : stream_stop(&stream);
}

static int actor_once(const struct actor *actor, struct actor_streams *streams, long word)
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

static long actor_memory(const struct actor_streams *streams)
{
	struct posixtrace_status status = {};
	struct stream stream = { .fd = streams->nr ? streams->fd[streams->nr - 1] : -1 };

	return stream_status(&stream, &status) ? -1 : (long)status.memory;
}

int actor_run(void *arg, const struct talk *talk)
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

int actor_start(struct actor *actor)
{
	int err = child_start(&actor->child, actor_run, actor);

	return err ? err : (int)hear(&actor->child.talk);
}

void actor_tell(struct actor *actor, enum actor_word word, long number)
{
	say(&actor->child.talk, word);
	say(&actor->child.talk, number);
}

struct actor_answer actor_answer(struct actor *actor)
{
	struct actor_answer answer;

	answer.count = hear(&actor->child.talk);
	answer.error = hear(&actor->child.talk);
	return answer;
}

struct actor_answer actor_do(struct actor *actor, enum actor_word word, long number)
{
	actor_tell(actor, word, number);
	return actor_answer(actor);
}

long actor_add(struct actor *actor, int nr)
{
	struct actor_answer answer = actor_do(actor, ACTOR_CREATE, nr);

	return answer.error ? answer.error : answer.count;
}

long actor_fill(struct actor *actor, int error)
{
	struct actor_answer answer = actor_do(actor, ACTOR_CREATE, POSIXTRACE_SLOTS_MAX + 1);

	return answer.error == error ? answer.count : answer.error;
}

void actor_end(struct actor *actor)
{
	say(&actor->child.talk, ACTOR_END);
	child_wait(&actor->child);
}
