// SPDX-License-Identifier: GPL-2.0
/*
 * Which wakers an event may name. A controller may know a waker that it does not trace only if it
 * is a thread of a process that the controller could have traced at the time of the wake-up.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/prctl.h>

#include "pxt_test.h"
#include "credentials.h"
#include "parameter.h"
#include "wakers.h"
#include "withlog.h"

#define USER	1000
#define OTHER	1001
#define CLASSES	(POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_SIGNAL)

FIXTURE(scene)
{
	struct scene scene;
};

FIXTURE_SETUP(scene)
{
	self->scene = (struct scene){ .way = NULL };
}

FIXTURE_TEARDOWN(scene)
{
	scene_close(&self->scene);
}

static int play(struct scene *scene, const struct way *way, int waker, int (*prepare)(void),
		int controller)
{
	int err = scene_open(scene, way);

	if (!err)
		err = scene_start_waker(scene, waker, prepare);
	if (!err && controller >= 0)
		err = become_user(controller);
	return err ?: scene_start_sleeper(scene, CLASSES) ?: scene_play(scene);
}

/* Returns how many events have an id of the waker. */
static int is_named(const struct scene *scene)
{
	const struct kernel_event *event;
	int count = 0;

	for (size_t i = 0; i < scene->events.count; i++) {
		event = &scene->events.event[i];
		if (event->id == POSIXTRACE_WAKEUP)
			count += event->data.wakeup.waker_pid == scene->waker.pid ||
				 event->data.wakeup.waker_tid == scene->waker.pid;
		else if (event->id == POSIXTRACE_SIGNAL_GENERATE)
			count += event->data.generate.sender_pid == scene->waker.pid ||
				 event->data.generate.sender_tid == scene->waker.pid;
	}
	return count;
}

TEST_F(scene, thread_of_another_user_is_anonymous)
{
	ASSERT_EQ(0, play(&self->scene, &way_pipe, OTHER, NULL, USER));
	EXPECT_LE(1, scene_count(&self->scene, BY_ANOTHER, 0));
	EXPECT_EQ(0, is_named(&self->scene));
}

/* The event must not even reveal that a thread was interrupted. */
TEST_F(scene, softirq_in_a_thread_of_another_user_is_an_interrupt)
{
	ASSERT_EQ(0, play(&self->scene, &way_tcp, OTHER, NULL, USER));
	EXPECT_LE(1, scene_count(&self->scene, BY_INTERRUPT, 0));
	EXPECT_EQ(0, scene_count(&self->scene, BY_SOFTIRQ, 0));
	EXPECT_EQ(0, is_named(&self->scene));
}

TEST_F(scene, sender_of_another_user_is_anonymous)
{
	ASSERT_EQ(0, play(&self->scene, &way_signal, -1, NULL, USER));
	EXPECT_LE(1, scene_count(&self->scene, BY_SIGNAL, 0));
	EXPECT_EQ(0, is_named(&self->scene));
}

TEST_F(scene, sender_of_a_signal_is_named_like_a_waker)
{
	int senders = 0;

	ASSERT_EQ(0, play(&self->scene, &way_signal, USER, NULL, USER));
	EXPECT_LE(1, scene_count(&self->scene, BY_SIGNAL, self->scene.waker.pid));
	for (size_t i = 0; i < self->scene.events.count; i++) {
		const struct kernel_event *event = &self->scene.events.event[i];

		senders += event->id == POSIXTRACE_SIGNAL_GENERATE &&
			   event->data.generate.by == SENT_BY_THREAD &&
			   event->data.generate.sender_pid == self->scene.waker.pid;
	}
	EXPECT_EQ(1, senders);
}

TEST_F(scene, capability_names_threads_of_all_users)
{
	ASSERT_EQ(0, play(&self->scene, &way_pipe, OTHER, NULL, -1));
	EXPECT_LE(1, scene_count(&self->scene, BY_THREAD, self->scene.waker.pid));
}

static int hide(void)
{
	return prctl(PR_SET_DUMPABLE, 0) ? -errno : 0;
}

TEST_F(scene, process_that_is_not_dumpable_is_anonymous)
{
	ASSERT_EQ(0, play(&self->scene, &way_pipe, USER, hide, USER));
	EXPECT_LE(1, scene_count(&self->scene, BY_ANOTHER, 0));
	EXPECT_EQ(0, is_named(&self->scene));
}

/*
 * Runs as the user of the controller, but with saved user id 0, so the process can become root
 * again.
 */
static int lend_root(void)
{
	return setresuid(USER, USER, 0) || prctl(PR_SET_DUMPABLE, 1) ? -errno : 0;
}

static int become_other(void)
{
	return setresuid(0, 0, 0) ? -errno : become_user(OTHER);
}

TEST_F(scene, change_of_credentials_has_an_immediate_effect)
{
	struct scene *scene = &self->scene;

	ASSERT_EQ(0, scene_open(scene, &way_pipe));
	scene->change = become_other;
	ASSERT_EQ(0, scene_start_waker(scene, -1, lend_root));
	ASSERT_EQ(0, become_user(USER));
	ASSERT_EQ(0, scene_start_sleeper(scene, CLASSES));
	ASSERT_EQ(0, scene_play(scene));
	EXPECT_LE(1, scene_count(scene, BY_THREAD, scene->waker.pid));
	ASSERT_EQ(0, scene_play(scene));
	EXPECT_LE(1, scene_count(scene, BY_ANOTHER, 0));
	EXPECT_EQ(0, is_named(scene));
}

#define NAME	"pxt-the-waker"

static int name_it(void)
{
	return prctl(PR_SET_NAME, NAME) ? -errno : 0;
}

/*
 * Checks if the log has the waker's name at that time. Returns 0, ENOENT, or -1 for a different
 * name.
 */
static int check_name(const struct scene *scene, trace_id_t log, unsigned long long when)
{
	const struct timespec time = to_timespec(when);
	char name[POSIXTRACE_THREAD_NAME_SIZE];
	int err = posixtrace_get_thread_name(log, scene->waker.pid, scene->waker.pid, &time, name);

	return !err && strcmp(name, NAME) ? -1 : err;
}

/* Plays with a log, and opens it. Returns an error number. */
static int play_for_log(struct scene *scene, int waker, trace_id_t *log)
{
	int err = scene_open(scene, &way_pipe) ?: scene_start_waker(scene, waker, name_it) ?:
		  become_user(USER);

	scene->log = log_tmpfile();
	if (!err)
		err = scene_start_sleeper(scene, CLASSES) ?: scene_play(scene);
	if (!err)
		err = posix_trace_shutdown(scene->trid);
	scene->trid = 0;
	return err ?: posix_trace_open(scene->log, log) ?: kernel_events_read(&scene->events, *log);
}

TEST_F(scene, log_has_the_name_of_a_waker)
{
	const struct kernel_event *event;
	trace_id_t log;

	ASSERT_EQ(0, play_for_log(&self->scene, USER, &log));
	EXPECT_LE(1, scene_count(&self->scene, BY_THREAD, self->scene.waker.pid));
	for (size_t i = 0; i < self->scene.events.count; i++) {
		event = &self->scene.events.event[i];
		if (event->id == POSIXTRACE_WAKEUP &&
		    event->data.wakeup.waker_pid == self->scene.waker.pid)
			EXPECT_EQ(0, check_name(&self->scene, log, event->time));
	}
	EXPECT_EQ(0, posix_trace_close(log));
}

TEST_F(scene, log_has_no_name_of_a_waker_of_another_user)
{
	trace_id_t log;

	ASSERT_EQ(0, play_for_log(&self->scene, OTHER, &log));
	EXPECT_LE(1, scene_count(&self->scene, BY_ANOTHER, 0));
	EXPECT_EQ(0, is_named(&self->scene));
	EXPECT_EQ(ENOENT, check_name(&self->scene, log, now()));
	EXPECT_EQ(0, posix_trace_close(log));
}

FIXTURE(descendants)
{
	struct scene scene;
};

FIXTURE_SETUP(descendants)
{
	self->scene = (struct scene){ .way = NULL };
	ASSERT_EQ(0, parameter_set("trace_scope", "1\n"));
}

FIXTURE_TEARDOWN(descendants)
{
	scene_close(&self->scene);
	parameter_set("trace_scope", "0\n");
}

/* The controller, in a separate process: the waker is its sibling. Returns what is wrong. */
static int control(void *arg, const struct talk *talk)
{
	struct scene *scene = arg;
	int wrong = 0;

	(void)talk;
	if (become_user(USER) || scene_start_sleeper(scene, CLASSES) || scene_play(scene))
		return 1;
	wrong |= scene_count(scene, BY_ANOTHER, 0) < 1 ? 2 : 0;
	wrong |= is_named(scene) ? 4 : 0;
	child_kill(&scene->sleeper);
	return wrong;
}

TEST_F(descendants, sibling_outside_of_trace_scope_is_anonymous)
{
	struct child controller;

	ASSERT_EQ(0, scene_open(&self->scene, &way_pipe));
	ASSERT_EQ(0, scene_start_waker(&self->scene, USER, NULL));
	ASSERT_EQ(0, child_start(&controller, control, &self->scene));
	EXPECT_EQ(0, child_wait(&controller));
}

/* Like control(), but as root, who has the capability to trace more processes. */
static int control_as_root(void *arg, const struct talk *talk)
{
	struct scene *scene = arg;
	int wrong;

	(void)talk;
	if (scene_start_sleeper(scene, CLASSES) || scene_play(scene))
		return 1;
	wrong = scene_count(scene, BY_THREAD, scene->waker.pid) < 1 ? 2 : 0;
	child_kill(&scene->sleeper);
	return wrong;
}

TEST_F(descendants, capability_names_siblings)
{
	struct child controller;

	ASSERT_EQ(0, scene_open(&self->scene, &way_pipe));
	ASSERT_EQ(0, scene_start_waker(&self->scene, USER, NULL));
	ASSERT_EQ(0, child_start(&controller, control_as_root, &self->scene));
	EXPECT_EQ(0, child_wait(&controller));
}

/* The controller is root in a PID namespace in which the waker has no id. */
TEST_F(scene, process_outside_of_the_pid_namespace_is_anonymous)
{
	struct child controller;

	ASSERT_EQ(0, scene_open(&self->scene, &way_pipe));
	ASSERT_EQ(0, scene_start_waker(&self->scene, USER, NULL));
	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	ASSERT_EQ(0, child_start(&controller, control, &self->scene));
	EXPECT_EQ(0, child_wait(&controller));
}

TEST_HARNESS_MAIN
