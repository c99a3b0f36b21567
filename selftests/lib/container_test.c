// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing in a container that an unprivileged user has created: user, PID and mount namespaces, and
 * a root directory that contains only /dev/posixtrace.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "pxt_test.h"
#include "textfile.h"
#include "trace_test.h"

#define ALICE	1000

/* ------------------------------------------------------------------ */
/* Creation: 0, or the number of the failed step			*/

/* Creates the namespaces, in which Alice is root. */
static int make_namespaces(int which)
{
	if (setresgid(ALICE, ALICE, ALICE) || setresuid(ALICE, ALICE, ALICE) ||
	    prctl(PR_SET_DUMPABLE, 1))
		return 11;
	if (unshare(CLONE_NEWUSER | which))
		return 12;
	if (write_text("/proc/self/setgroups", "deny") ||
	    write_text("/proc/self/gid_map", "0 1000 1") ||
	    write_text("/proc/self/uid_map", "0 1000 1"))
		return 13;
	return getuid() == 0 ? 0 : 14;
}

static int make_root(void)
{
	static const char root[] = "/tmp";
	int fd;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"))
		return 21;
	if (chdir(root) || mkdir("dev", 0755))
		return 22;
	fd = open("dev/posixtrace", O_CREAT | O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 23;
	close(fd);
	if (mount(PXT_DEVICE, "dev/posixtrace", NULL, MS_BIND, NULL))
		return 24;
	/* pivot_root() does not work on an initramfs. */
	if (chroot(".") || chdir("/"))
		return 25;
	/* The directory is otherwise empty. */
	return access(PXT_DEVICE, R_OK | W_OK) || !access("/proc", F_OK) || !access("/tmp", F_OK) ?
	       26 : 0;
}

struct inside {
	int (*fn)(const struct talk *talk);
	int which;	/* namespaces besides the user namespace */
};

static int be_inside(const struct inside *inside, const struct talk *talk)
{
	int err = make_root();

	return err ? err : inside->fn(talk);
}

/* Stays outside of the new PID namespace, which only its children enter. */
static int be_runtime(void *arg, const struct talk *talk)
{
	const struct inside *inside = arg;
	int err, status;
	pid_t pid;

	err = make_namespaces(inside->which);
	if (err)
		return err;
	pid = fork();
	if (pid == 0)
		_exit(be_inside(inside, talk));
	close(talk->in);
	close(talk->out);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 15;
	return WEXITSTATUS(status);
}

/* A process must be single-threaded to create a user namespace. */
#define NEEDS_NO_THREAD	PXT_NOT_WITH_TSAN("has an additional thread")

static int run_inside(int (*fn)(const struct talk *talk))
{
	struct inside inside = { fn, CLONE_NEWNS | CLONE_NEWPID };
	struct child child;
	int ret = child_start(&child, be_runtime, &inside);

	if (ret)
		return ret;
	ret = child_wait(&child);
	return WIFEXITED(ret) ? WEXITSTATUS(ret) : -ret;
}

/* ------------------------------------------------------------------ */
/* Inside the container							*/

static void record_number(int number)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &number, sizeof(number));
}

/* Returns true if the next user event has this number and comes from that process. */
static int took(trace_id_t trid, int number, pid_t pid)
{
	struct event event;

	return take_user(trid, &event) == 1 && event_number(&event) == number &&
	       event.info.posix_pid == pid;
}

static int trace_itself(const struct talk *talk)
{
	trace_event_id_t id;
	struct event event;
	trace_id_t trid;

	(void)talk;
	if (getpid() != 1 || new_stream(0, POSIX_TRACE_LOOP, &trid))
		return 31;
	if (posix_trace_eventid_open("inside", &id) || posix_trace_start(trid))
		return 32;
	for (int i = 0; i < 1000; i++) {
		posix_trace_event(id, &i, sizeof(i));
		if (!took(trid, i, 1))
			return 33;
	}
	if (posix_trace_stop(trid) || take(trid, &event) != 1 ||
	    event.info.posix_event_id != POSIX_TRACE_STOP)
		return 34;
	return posix_trace_shutdown(trid) ? 35 : 0;
}

static int record_on_demand(void *arg, const struct talk *talk)
{
	long number;

	(void)arg;
	say(talk, getpid());
	while ((number = hear(talk)) != -EPIPE) {
		record_number(number);
		say(talk, number);
	}
	return 0;
}

static int trace_a_child(const struct talk *talk)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	(void)talk;
	if (child_start(&child, record_on_demand, NULL) || hear(&child.talk) != child.pid)
		return 31;
	if (new_stream(child.pid, POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid))
		return 32;
	if (take(trid, &event) != 1)
		return 33;
	for (int i = 0; i < 10; i++) {
		/* The next read blocks until the event arrives. */
		say(&child.talk, i);
		if (posix_trace_getnext_event(trid, &event.info, event.data, sizeof(event.data),
					      &event.len, &event.unavailable))
			return 34;
		if (event_number(&event) != i || event.info.posix_pid != child.pid)
			return 35;
		hear(&child.talk);
	}
	if (posix_trace_shutdown(trid))
		return 36;
	return child_wait(&child) ? 37 : 0;
}

static int new_inherited(pid_t pid, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posix_trace_create(pid, &attr, trid);
	return err ? err : posix_trace_start(*trid);
}

static int hand_down(const struct talk *talk)
{
	trace_id_t trid;
	int status;
	pid_t pid;

	(void)talk;
	if (new_inherited(0, &trid))
		return 31;
	for (int i = 0; i < 10; i++) {
		record_number(i);
		pid = fork();
		if (pid == 0) {
			record_number(100 + i);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 32;
		if (!took(trid, i, 1) || !took(trid, 100 + i, pid))
			return 33;
	}
	return posix_trace_shutdown(trid) ? 34 : 0;
}

TEST(process_traces_itself)
{
	NEEDS_NO_THREAD;
	EXPECT_EQ(0, run_inside(trace_itself));
}

TEST(process_traces_its_child)
{
	NEEDS_NO_THREAD;
	EXPECT_EQ(0, run_inside(trace_a_child));
}

TEST(child_is_traced_by_an_inherited_stream)
{
	NEEDS_NO_THREAD;
	EXPECT_EQ(0, run_inside(hand_down));
}

/* ------------------------------------------------------------------ */
/* Across the boundary							*/

static int trace_outside(const struct talk *talk)
{
	trace_id_t trid;
	long pid;

	say(talk, 0);
	while ((pid = hear(talk)) != -EPIPE)
		say(talk, new_stream(pid, POSIX_TRACE_LOOP, &trid));
	return 0;
}

static int be_alice(void *arg, const struct talk *talk)
{
	if (setresuid(ALICE, ALICE, ALICE) || prctl(PR_SET_DUMPABLE, 1))
		return 1;
	return child_idle(arg, talk);
}

FIXTURE(outside)
{
	struct child root;
	struct child alice;
	struct child runtime;
};

FIXTURE_VARIANT(outside)
{
	int which;
	int for_root;
	int for_alice;
};

/* Processes outside the PID namespace do not exist inside. */
FIXTURE_VARIANT_ADD(outside, unseen) { CLONE_NEWNS | CLONE_NEWPID, ESRCH, ESRCH };
/* Root inside has no privileges outside, but is still the user Alice. */
FIXTURE_VARIANT_ADD(outside, seen) { CLONE_NEWNS, EPERM, 0 };

FIXTURE_SETUP(outside)
{
	ASSERT_EQ(0, child_start(&self->root, child_idle, NULL));
	ASSERT_EQ(0, hear(&self->root.talk));
	ASSERT_EQ(0, child_start(&self->alice, be_alice, NULL));
	ASSERT_EQ(0, hear(&self->alice.talk));
}

FIXTURE_TEARDOWN(outside)
{
	/* The case may have been skipped. */
	if (self->runtime.pid)
		EXPECT_EQ(0, child_wait(&self->runtime));
	EXPECT_EQ(0, child_wait(&self->alice));
	EXPECT_EQ(0, child_wait(&self->root));
}

TEST_F(outside, process_outside_is_traced_by_the_same_rules)
{
	struct inside inside = { trace_outside, variant->which };

	NEEDS_NO_THREAD;
	ASSERT_EQ(0, child_start(&self->runtime, be_runtime, &inside));
	ASSERT_EQ(0, hear(&self->runtime.talk));
	say(&self->runtime.talk, self->root.pid);
	EXPECT_EQ(variant->for_root, hear(&self->runtime.talk));
	say(&self->runtime.talk, self->alice.pid);
	EXPECT_EQ(variant->for_alice, hear(&self->runtime.talk));
}

/* The process does not know its pid outside. The test finds it as a child of its parent. */
static int record_inside(const struct talk *talk)
{
	return record_on_demand(NULL, talk);
}

static pid_t child_of(pid_t parent)
{
	pid_t pid = -1, ppid;
	char path[64];
	FILE *file;

	/* Pids are assigned in ascending order, so the child has a higher one than its parent. */
	for (pid_t i = parent + 1; pid < 0 && i < parent + 1000; i++) {
		snprintf(path, sizeof(path), "/proc/%d/stat", i);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fscanf(file, "%*d (%*[^)]) %*c %d", &ppid) == 1 && ppid == parent)
			pid = i;
		fclose(file);
	}
	return pid;
}

TEST(process_inside_is_traced_from_outside)
{
	struct inside inside = { record_inside, CLONE_NEWNS | CLONE_NEWPID };
	struct child child;
	trace_id_t trid;
	pid_t pid;

	NEEDS_NO_THREAD;
	ASSERT_EQ(0, child_start(&child, be_runtime, &inside));
	ASSERT_EQ(1, hear(&child.talk));
	pid = child_of(child.pid);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, new_inherited(pid, &trid));
	for (int i = 0; i < 10; i++) {
		say(&child.talk, i);
		ASSERT_EQ(i, hear(&child.talk));
		EXPECT_TRUE(took(trid, i, pid));
	}
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
