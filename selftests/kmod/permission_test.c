// SPDX-License-Identifier: GPL-2.0
/*
 * The module parameter kernel_classes: which users may record which kernel events.
 */
#define _GNU_SOURCE
#include <linux/capability.h>

#include "pxt_test.h"
#include "credentials.h"
#include "parameter.h"
#include "uapi.h"

#define PARAMETER	"kernel_classes"
#define DEFAULT		"sched:user,fault:user,signal:user,syscall:perfmon,irq:perfmon," \
			"process:user,strings:perfmon"
#define USER		1000

struct attempt {
	unsigned long long classes;
	unsigned long long caps;
};

/* Reports the classes of INFO, then the result of CREATE. */
static int try_classes(void *arg, const struct talk *talk)
{
	const struct ids ids = { USER, USER, USER };
	const struct attempt *attempt = arg;
	struct posixtrace_create create;
	struct posixtrace_info info;
	int fd = device_open();

	if (become(&ids, attempt->caps, -1))
		return 1;
	if (command(fd, POSIXTRACE_IOC_INFO, &info))
		return 2;
	say(talk, info.classes);
	create_init(&create, 0);
	create.attr.classes = attempt->classes;
	say(talk, command(fd, POSIXTRACE_IOC_CREATE, &create));
	return 0;
}

/* Runs CREATE as a user. Returns its result, and stores the classes that INFO reports. */
static int create_as_user(unsigned long long classes, unsigned long long caps,
			  unsigned long long *has)
{
	struct attempt attempt = { classes, caps };
	struct child child;
	int ret;

	if (child_start(&child, try_classes, &attempt))
		return -ECHILD;
	*has = hear(&child.talk);
	ret = hear(&child.talk);
	return child_wait(&child) ? -ECHILD : ret;
}

/* ------------------------------------------------------------------ */
/* Each class								*/

FIXTURE(class)
{
	unsigned long long kernel;	/* classes that this kernel supports */
};

FIXTURE_VARIANT(class)
{
	const char *name;
	unsigned long long bit;
	bool perfmon;			/* needs CAP_PERFMON by default */
};

FIXTURE_VARIANT_ADD(class, sched) { "sched", POSIXTRACE_CLASS_SCHED, false };
FIXTURE_VARIANT_ADD(class, fault) { "fault", POSIXTRACE_CLASS_FAULT, false };
FIXTURE_VARIANT_ADD(class, signal) { "signal", POSIXTRACE_CLASS_SIGNAL, false };
FIXTURE_VARIANT_ADD(class, syscall) { "syscall", POSIXTRACE_CLASS_SYSCALL, true };
FIXTURE_VARIANT_ADD(class, irq) { "irq", POSIXTRACE_CLASS_IRQ, true };
FIXTURE_VARIANT_ADD(class, process) { "process", POSIXTRACE_CLASS_PROCESS, false };
FIXTURE_VARIANT_ADD(class, strings) { "strings", POSIXTRACE_CLASS_STRINGS, true };

FIXTURE_SETUP(class)
{
	struct posixtrace_info info;
	int fd = device_open();

	ASSERT_EQ(0, command(fd, POSIXTRACE_IOC_INFO, &info));
	close(fd);
	self->kernel = info.classes;
}

/* Restores the default for later tests. No assertion comes before this, so it always happens. */
FIXTURE_TEARDOWN(class)
{
	EXPECT_EQ(0, parameter_set(PARAMETER, DEFAULT));
}

static int set_class(const char *name, const char *value)
{
	char text[64];

	snprintf(text, sizeof(text), "%s:%s\n", name, value);
	return parameter_set(PARAMETER, text);
}

static void check(struct __test_metadata *_metadata, struct _test_data_class *self,
		  unsigned long long bit, unsigned long long caps, bool may)
{
	const bool possible = self->kernel & bit;
	unsigned long long has;
	int ret = create_as_user(bit, caps, &has);

	EXPECT_EQ(!may ? -EPERM : possible ? 0 : -EOPNOTSUPP, ret);
	EXPECT_EQ(may && possible, !!(has & bit));
}

TEST_F(class, user_may_record_it_by_default)
{
	check(_metadata, self, variant->bit, 0, !variant->perfmon);
}

TEST_F(class, administrator_may_restrict_it)
{
	ASSERT_EQ(0, set_class(variant->name, "perfmon"));
	check(_metadata, self, variant->bit, 0, false);
	check(_metadata, self, variant->bit, CAP_MASK(CAP_SYS_PTRACE), false);
	check(_metadata, self, variant->bit, CAP_MASK(CAP_PERFMON), true);
	check(_metadata, self, variant->bit, CAP_MASK(CAP_SYS_ADMIN), true);
}

TEST_F(class, administrator_may_allow_it)
{
	ASSERT_EQ(0, set_class(variant->name, "user"));
	check(_metadata, self, variant->bit, 0, true);
}

TEST_F(class, other_classes_keep_their_value)
{
	char value[128], before[128];
	unsigned long long has, now;

	ASSERT_EQ(0, parameter_get(PARAMETER, before, sizeof(before)));
	create_as_user(0, 0, &has);
	ASSERT_EQ(0, set_class(variant->name, variant->perfmon ? "user" : "perfmon"));
	create_as_user(0, 0, &now);
	EXPECT_EQ(self->kernel & variant->bit, has ^ now);
	ASSERT_EQ(0, set_class(variant->name, variant->perfmon ? "perfmon" : "user"));
	ASSERT_EQ(0, parameter_get(PARAMETER, value, sizeof(value)));
	EXPECT_STREQ(before, value);
}

/* A class that is refused is never left out silently. */
TEST_F(class, refused_class_refuses_the_stream)
{
	const unsigned long long rest = POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS;
	unsigned long long has;

	ASSERT_EQ(0, set_class(variant->name, "perfmon"));
	EXPECT_EQ(-EPERM, create_as_user(rest | variant->bit, 0, &has));
	EXPECT_EQ(0, create_as_user(rest & ~variant->bit, 0, &has));
}

/* ------------------------------------------------------------------ */
/* The value								*/

FIXTURE(value)
{
	int unused;
};

FIXTURE_SETUP(value)
{
}

FIXTURE_TEARDOWN(value)
{
	EXPECT_EQ(0, parameter_set(PARAMETER, DEFAULT));
}

TEST_F(value, default_restricts_irq_and_syscall)
{
	char value[128];

	ASSERT_EQ(0, parameter_get(PARAMETER, value, sizeof(value)));
	EXPECT_STREQ(DEFAULT, value);
}

TEST_F(value, several_classes_change_in_one_write)
{
	char value[128], changed[128];

	snprintf(changed, sizeof(changed), "%s,%s",
		 "sched:perfmon,fault:user,signal:user,syscall:perfmon,irq:user",
		 "process:perfmon,strings:perfmon");
	ASSERT_EQ(0, parameter_set(PARAMETER, "irq:user,process:perfmon,sched:perfmon"));
	ASSERT_EQ(0, parameter_get(PARAMETER, value, sizeof(value)));
	EXPECT_STREQ(changed, value);
}

TEST_F(value, wrong_value_changes_nothing)
{
	static const char *const bad[] = {
		"\n", "user", "irq", "irq:", ":user", "irq:root", "disk:user", "irq:user,",
		",irq:user", "irq:user,,sched:user", "irq:user sched:user", "irq:users",
		"irq:use", "irqs:user", "ir:user", "irq:user,disk:user", "irq:user,sched",
		"irq:user,irq:user", "irq:user,irq:perfmon", "IRQ:user", " irq:user",
		"irq:user\nsched:perfmon", "irq=user", "all:user",
	};
	char value[128];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(-EINVAL, parameter_set(PARAMETER, bad[i])) {
			TH_LOG("accepted: %s", bad[i]);
		}
		ASSERT_EQ(0, parameter_get(PARAMETER, value, sizeof(value)));
		EXPECT_STREQ(DEFAULT, value) {
			TH_LOG("changed by: %s", bad[i]);
		}
	}
}

static int write_as_user(void *arg, const struct talk *talk)
{
	(void)arg;
	(void)talk;
	if (become_user(USER))
		return 1;
	return parameter_set(PARAMETER, "irq:user") == -EACCES ? 0 : 2;
}

TEST_F(value, only_root_may_change_it)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, write_as_user, NULL));
	EXPECT_EQ(0, child_wait(&child));
}

static int sched_stream(struct stream *stream)
{
	create_init(&stream->arg, 0);
	stream->arg.attr.classes = POSIXTRACE_CLASS_SCHED;
	return stream_open(stream);
}

static int start_on_request(void *arg, const struct talk *talk)
{
	struct stream stream;

	(void)arg;
	if (become_user(USER))
		return 1;
	say(talk, sched_stream(&stream));
	hear(talk);
	say(talk, stream_start(&stream));
	stream_close(&stream);
	say(talk, sched_stream(&stream));
	return 0;
}

TEST_F(value, change_applies_to_new_streams_only)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, start_on_request, NULL));
	EXPECT_EQ(0, hear(&child.talk));
	EXPECT_EQ(0, parameter_set(PARAMETER, "sched:perfmon"));
	say(&child.talk, 0);
	EXPECT_EQ(0, hear(&child.talk));
	EXPECT_EQ(-EPERM, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
