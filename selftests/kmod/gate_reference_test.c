// SPDX-License-Identifier: GPL-2.0
/*
 * Each page-table entry that maps the page of a gate holds a reference to the page. Users control
 * the number of these entries, so the module must keep the references from overflowing.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

#define REFERENCES	"pxt_references"

struct holder {
	const struct target *target;
	int count;
};

static unsigned long long look(const struct target *target)
{
	return LOAD(target->gate->generation);
}

static int load_references(const void *address, int count)
{
	int fd = open("/run/vm/" REFERENCES ".ko", O_RDONLY | O_CLOEXEC);
	char params[80];
	int err;

	if (fd < 0)
		return -errno;
	snprintf(params, sizeof(params), "address=%lu count=%d", (unsigned long)address, count);
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

static int unload_references(void)
{
	return syscall(SYS_delete_module, REFERENCES, O_NONBLOCK) ? -errno : 0;
}

/*
 * Runs in a child: adds references to the page that children see, until the parent closes the pipe.
 */
static int hold(void *arg, const struct talk *talk)
{
	const struct holder *holder = arg;
	int err;

	look(holder->target);
	err = load_references(holder->target->gate, holder->count);
	say(talk, err);
	hear(talk);
	return err || unload_references() ? 1 : 0;
}

static int look_once(void *arg, const struct talk *talk)
{
	const struct holder *holder = arg;

	(void)talk;
	look(holder->target);
	return 0;
}

/* Returns the wait status of a child that read the page, or negative errno. */
static int status_of_look(struct holder *holder)
{
	struct child child;
	int err = child_start(&child, look_once, holder);

	return err ? err : child_wait(&child);
}

FIXTURE(reference)
{
	struct target target;
	struct holder holder;
	struct child child;
};

FIXTURE_SETUP(reference)
{
	ASSERT_EQ(0, target_open(&self->target));
	self->holder.target = &self->target;
	self->child.pid = 0;
}

FIXTURE_TEARDOWN(reference)
{
	if (self->child.pid)
		EXPECT_EQ(0, child_wait(&self->child));
	target_close(&self->target);
}

TEST_F(reference, page_is_not_mapped_once_its_references_come_near_to_their_limit)
{
	int status;

	self->holder.count = INT_MAX / 2;
	ASSERT_EQ(0, child_start(&self->child, hold, &self->holder));
	ASSERT_EQ(0, hear(&self->child.talk));
	status = status_of_look(&self->holder);
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) {
		TH_LOG("status %#x", status);
	}
	EXPECT_EQ(0, child_wait(&self->child));
	self->child.pid = 0;
	EXPECT_EQ(0, status_of_look(&self->holder));
}

TEST_F(reference, page_is_mapped_while_its_references_are_few_enough)
{
	self->holder.count = INT_MAX / 2 - 1000;
	ASSERT_EQ(0, child_start(&self->child, hold, &self->holder));
	ASSERT_EQ(0, hear(&self->child.talk));
	EXPECT_EQ(0, status_of_look(&self->holder));
}

TEST_HARNESS_MAIN
