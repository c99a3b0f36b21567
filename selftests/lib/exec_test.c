// SPDX-License-Identifier: GPL-2.0
/*
 * A traced process or a controller executes another program.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <posixtrace.h>
#include <pthread.h>
#include <spawn.h>

#include "pxt_test.h"
#include "exec.h"

#define FIRST_EVENT	"common"

/* Expects that the next user event is @number of process @pid, and that its type is named @type. */
static void expect_event(struct __test_metadata *_metadata, trace_id_t trid, pid_t pid, int number,
			 const char *type)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct event event;

	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(pid, event.info.posix_pid);
	EXPECT_EQ(number, event_number(&event));
	ASSERT_EQ(0, posix_trace_eventid_get_name(trid, event.info.posix_event_id, name));
	EXPECT_STREQ(type, name);
}

static void expect_no_event(struct __test_metadata *_metadata, trace_id_t trid)
{
	struct event event;

	EXPECT_EQ(0, take_user(trid, &event));
}

/* Records, then executes a program. */
static int record_and_execute(void *arg, const struct talk *talk)
{
	trace_event_id_t id;

	if (posix_trace_eventid_open(FIRST_EVENT, &id))
		return 1;
	say(talk, id);
	if (hear(talk) < 0)
		return 2;
	record_as(id, 1);
	return execute(arg, talk);
}

FIXTURE(exec)
{
	struct program program;
	struct child child;
	trace_id_t trid;
	trace_event_id_t id;	/* event type of FIRST_EVENT */
};

FIXTURE_SETUP(exec)
{
	self->program = (struct program){ .path = HELPER, .name = "of the helper", .number = 2 };
}

FIXTURE_TEARDOWN(exec)
{
	posix_trace_shutdown(self->trid);
}

static void begin(struct __test_metadata *_metadata, struct _test_data_exec *self)
{
	long id;

	ASSERT_EQ(0, child_start(&self->child, record_and_execute, &self->program));
	id = hear(&self->child.talk);
	ASSERT_LT(0, id);
	self->id = id;
	ASSERT_EQ(0, start_family_stream(self->child.pid, &self->trid));
}

TEST_F(exec, events_of_the_new_program_appear)
{
	begin(_metadata, self);
	say(&self->child.talk, 0);
	ASSERT_EQ(0, child_wait(&self->child));
	expect_event(_metadata, self->trid, self->child.pid, 1, FIRST_EVENT);
	expect_event(_metadata, self->trid, self->child.pid, 2, "of the helper");
	expect_no_event(_metadata, self->trid);
	EXPECT_EQ(2, generated_for(self->trid));
	EXPECT_EQ(0, processes_of(self->trid));
}

TEST_F(exec, name_that_the_old_program_had_keeps_its_id)
{
	self->program.name = FIRST_EVENT;
	self->program.talks = true;
	begin(_metadata, self);
	say(&self->child.talk, 0);
	EXPECT_EQ(self->id, hear(&self->child.talk));
	EXPECT_EQ(1, processes_of(self->trid));
	say(&self->child.talk, 7);
	EXPECT_EQ(7, hear(&self->child.talk));
	EXPECT_EQ(0, child_wait(&self->child));
	expect_event(_metadata, self->trid, self->child.pid, 1, FIRST_EVENT);
	expect_event(_metadata, self->trid, self->child.pid, 7, FIRST_EVENT);
}

TEST_F(exec, each_id_has_one_meaning)
{
	trace_event_id_t id;

	self->program.talks = true;
	begin(_metadata, self);
	say(&self->child.talk, 0);
	id = hear(&self->child.talk);
	EXPECT_LT(0, id);
	EXPECT_NE(self->id, id);
	EXPECT_EQ(0, child_wait(&self->child));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, FIRST_EVENT, &id));
	EXPECT_EQ(self->id, id);
}

TEST_F(exec, stream_does_not_change)
{
	trace_event_set_t set;
	long id;

	self->program.talks = true;
	begin(_metadata, self);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	say(&self->child.talk, 0);
	id = hear(&self->child.talk);
	ASSERT_LT(0, id);
	say(&self->child.talk, 5);
	ASSERT_EQ(5, hear(&self->child.talk));
	expect_no_event(_metadata, self->trid);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	say(&self->child.talk, 6);
	ASSERT_EQ(6, hear(&self->child.talk));
	expect_event(_metadata, self->trid, self->child.pid, 6, "of the helper");
	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(id, &set);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	say(&self->child.talk, 7);
	ASSERT_EQ(7, hear(&self->child.talk));
	expect_no_event(_metadata, self->trid);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SUB_EVENTSET));
	say(&self->child.talk, 8);
	ASSERT_EQ(8, hear(&self->child.talk));
	expect_event(_metadata, self->trid, self->child.pid, 8, "of the helper");
	EXPECT_EQ(0, child_wait(&self->child));
	EXPECT_EQ(2, generated_for(self->trid));
}

#define MANY	20

TEST_F(exec, several_programs_in_a_row)
{
	self->program.again = MANY;
	begin(_metadata, self);
	say(&self->child.talk, 0);
	ASSERT_EQ(0, child_wait(&self->child));
	expect_event(_metadata, self->trid, self->child.pid, 1, FIRST_EVENT);
	for (int i = 0; i <= MANY; i++)
		expect_event(_metadata, self->trid, self->child.pid, 2, "of the helper");
	expect_no_event(_metadata, self->trid);
	EXPECT_EQ(MANY + 2, generated_for(self->trid));
}

/* ------------------------------------------------------------------ */
/* Failed exec								*/

static int fail_to_execute(void *arg, const struct talk *talk)
{
	trace_event_id_t id, again;

	(void)arg;
	if (posix_trace_eventid_open(FIRST_EVENT, &id))
		return 1;
	say(talk, id);
	hear(talk);
	execl("./no_such_program", "", (char *)NULL);
	execl("/proc/self/status", "", (char *)NULL);
	record_as(id, 3);
	return posix_trace_eventid_open(FIRST_EVENT, &again) || id != again;
}

TEST_F(exec, failed_exec_changes_nothing)
{
	ASSERT_EQ(0, child_start(&self->child, fail_to_execute, NULL));
	ASSERT_LT(0, hear(&self->child.talk));
	ASSERT_EQ(0, start_family_stream(self->child.pid, &self->trid));
	say(&self->child.talk, 0);
	ASSERT_EQ(0, child_wait(&self->child));
	expect_event(_metadata, self->trid, self->child.pid, 3, FIRST_EVENT);
	EXPECT_EQ(1, generated_for(self->trid));
}

/* ------------------------------------------------------------------ */
/* Threads								*/

struct thread_exec {
	const struct program *program;
	const struct talk *talk;
	int *begun;
};

static void *thread_executes(void *arg)
{
	struct thread_exec *exec = arg;

	execute(exec->program, exec->talk);
	_exit(104);
}

static void *thread_records(void *arg)
{
	struct thread_exec *exec = arg;

	/* Record until exec ends the thread. */
	while (exec->begun)
		record_plain(__atomic_add_fetch(exec->begun, 1, __ATOMIC_RELAXED));
	return NULL;
}

struct threads_arg {
	struct program program;
	int *begun;		/* shared with the test */
	bool main_executes;
};

static int execute_beside_threads(void *arg, const struct talk *talk)
{
	struct threads_arg *threads = arg;
	struct thread_exec exec = { &threads->program, talk, threads->begun };
	pthread_t thread;

	say(talk, 0);
	hear(talk);
	for (int i = 0; i < 3; i++) {
		if (pthread_create(&thread, NULL, thread_records, &exec))
			return 1;
	}
	while (__atomic_load_n(threads->begun, __ATOMIC_RELAXED) < 100)
		sched_yield();
	if (threads->main_executes)
		thread_executes(&exec);
	if (pthread_create(&thread, NULL, thread_executes, &exec))
		return 1;
	thread_records(&exec);
	return 1;
}

static void check_threads(struct __test_metadata *_metadata, bool main_executes, trace_id_t *trid)
{
	struct threads_arg threads = {
		.program = { .path = HELPER, .number = -2, .talks = true },
		.begun = share(sizeof(int)),
		.main_executes = main_executes,
	};
	int old = 0, new = 0;
	struct child child;
	struct event event;

	ASSERT_NE(NULL, threads.begun);
	ASSERT_EQ(0, child_start(&child, execute_beside_threads, &threads));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_family_stream(child.pid, POSIX_TRACE_INHERITED, 16 << 20,
				       POSIX_TRACE_UNTIL_FULL, trid));
	ASSERT_EQ(0, posix_trace_start(*trid));
	say(&child.talk, 0);
	ASSERT_LT(0, hear(&child.talk));
	say(&child.talk, -7);
	ASSERT_EQ(-7, hear(&child.talk));
	EXPECT_EQ(1, processes_of(*trid));
	ASSERT_EQ(0, child_wait(&child));
	/* The threads may end at any point, but each event is either complete or absent. */
	while (take_user(*trid, &event) == 1) {
		ASSERT_EQ(child.pid, event.info.posix_pid);
		if (event_number(&event) == -7) {
			new++;
		} else {
			ASSERT_EQ(0, new);
			ASSERT_GE(*threads.begun, event_number(&event));
			old++;
		}
	}
	EXPECT_EQ(1, new);
	EXPECT_GE(*threads.begun, old);
	EXPECT_LE(*threads.begun - 4, old);
}

TEST_F(exec, main_thread_executes_while_others_record)
{
	check_threads(_metadata, true, &self->trid);
}

TEST_F(exec, another_thread_executes_while_others_record)
{
	check_threads(_metadata, false, &self->trid);
}

/* ------------------------------------------------------------------ */
/* vfork, posix_spawn							*/

static pid_t spawn(const struct program *program)
{
	char *const argv[] = { (char *)program->path, NULL };
	pid_t pid;

	set_program(program, NULL);
	return posix_spawn(&pid, program->path, NULL, NULL, argv, environ) ? -1 : pid;
}

/* The child records between vfork() and exec. */
static pid_t vfork_and_record(const struct program *program)
{
	pid_t pid;

	set_program(program, NULL);
	pid = vfork();
	if (pid == 0) {
		record_plain(10);
		execl(program->path, program->path, (char *)NULL);
		_exit(100);
	}
	return pid;
}

TEST_F(exec, spawned_programs_are_traced)
{
	pid_t pid;

	ASSERT_EQ(0, start_family_stream(0, &self->trid));
	for (int i = 0; i < rounds(20); i++) {
		pid = spawn(&self->program);
		ASSERT_LT(0, pid);
		ASSERT_EQ(0, ended(pid));
		expect_event(_metadata, self->trid, pid, 2, "of the helper");
		record_plain(3);
		expect_event(_metadata, self->trid, getpid(), 3, "posix_trace_unnamed_userevent");
		expect_no_event(_metadata, self->trid);
	}
	EXPECT_EQ(1, processes_of(self->trid));
}

TEST_F(exec, program_of_a_vfork_is_traced)
{
	pid_t pid;

	PXT_NOT_WITH_TSAN("calls fork() for vfork()");
	ASSERT_EQ(0, start_family_stream(0, &self->trid));
	for (int i = 0; i < rounds(20); i++) {
		pid = vfork_and_record(&self->program);
		ASSERT_LT(0, pid);
		/* The child may or may not have ended. */
		record_plain(3);
		ASSERT_EQ(0, ended(pid));
		expect_event(_metadata, self->trid, pid, 10, "posix_trace_unnamed_userevent");
		for (int j = 0; j < 2; j++) {
			struct event event;

			ASSERT_EQ(1, take_user(self->trid, &event));
			EXPECT_EQ(event.info.posix_pid == pid ? 2 : 3, event_number(&event));
		}
		expect_no_event(_metadata, self->trid);
	}
}

TEST_F(exec, spawned_programs_are_not_traced_by_other_streams)
{
	pid_t pid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	pid = spawn(&self->program);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	expect_no_event(_metadata, self->trid);
}

TEST_F(exec, system_and_its_children_are_traced)
{
	ASSERT_EQ(0, start_family_stream(0, &self->trid));
	set_program(&self->program, NULL);
	ASSERT_EQ(0, system(HELPER "; " HELPER " | " HELPER "; (" HELPER " &) ; wait"));
	/* The background process may live longer. */
	while (processes_of(self->trid) > 1)
		sched_yield();
	for (int i = 0; i < 4; i++) {
		struct event event;

		ASSERT_EQ(1, take_user(self->trid, &event));
		EXPECT_EQ(2, event_number(&event));
	}
	expect_no_event(_metadata, self->trid);
}

/* ------------------------------------------------------------------ */
/* Untraced processes							*/

TEST_F(exec, untraced_program_has_its_own_event_types)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t ids[3], id;
	struct child child;

	/* This order gives the second type different numbers in the parent and in the program. */
	ASSERT_EQ(0, posix_trace_eventid_open("filler", &ids[0]));
	ASSERT_EQ(0, posix_trace_eventid_open("of the helper", &ids[1]));
	self->program.talks = true;
	ASSERT_EQ(0, child_start(&child, execute_on_request, &self->program));
	ASSERT_EQ(0, hear(&child.talk));
	say(&child.talk, 0);
	EXPECT_EQ(ids[0], hear(&child.talk));
	/* A later stream does not make the processes share types. */
	ASSERT_EQ(0, start_family_stream(child.pid, &self->trid));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "of the controller", &id));
	EXPECT_EQ(ids[1], id);
	ASSERT_EQ(0, posix_trace_eventid_open("of the parent", &ids[2]));
	EXPECT_EQ(ids[1] + 1, ids[2]);
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, ids[2], name));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(exec, stream_shut_down_before_has_no_effect)
{
	self->program.talks = true;
	begin(_metadata, self);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	say(&self->child.talk, 0);
	/* Another name gets the former number of FIRST_EVENT. */
	EXPECT_EQ(self->id, hear(&self->child.talk));
	EXPECT_EQ(0, child_wait(&self->child));
}

/* ------------------------------------------------------------------ */
/* The controller							*/

#define SLOTS	31

/* Returns how many more streams this process can create. */
static int free_slots(void)
{
	trace_id_t trids[SLOTS + 1];
	int count = 0;

	while (count <= SLOTS && !new_stream(0, POSIX_TRACE_LOOP, &trids[count]))
		count++;
	for (int i = 0; i < count; i++)
		posix_trace_shutdown(trids[i]);
	return count;
}

struct controller {
	struct program program;
	pid_t target;
	bool keep_descriptor;
	bool by_thread;
};

static int control_and_execute(void *arg, const struct talk *talk)
{
	struct controller *controller = arg;
	struct thread_exec exec = { &controller->program, talk, NULL };
	pthread_t thread;
	trace_id_t trid;
	int fd;

	if (start_family_stream(controller->target, &trid))
		return 1;
	fd = posixtrace_fd(trid);
	if (controller->keep_descriptor) {
		fcntl(fd, F_SETFD, 0);
		set_number("EXEC_POLL", fd);
	}
	say(talk, 0);
	hear(talk);
	if (controller->by_thread && !pthread_create(&thread, NULL, thread_executes, &exec))
		pthread_join(thread, NULL);
	return execute(&controller->program, talk);
}

static void check_controller(struct __test_metadata *_metadata, bool keep_descriptor,
			     bool by_thread)
{
	struct controller controller = {
		.program = { .path = HELPER, .talks = true },
		.target = getpid(),
		.keep_descriptor = keep_descriptor,
		.by_thread = by_thread,
	};
	struct child child;

	ASSERT_EQ(SLOTS, free_slots());
	ASSERT_EQ(0, child_start(&child, control_and_execute, &controller));
	ASSERT_EQ(0, hear(&child.talk));
	record_plain(1);
	ASSERT_EQ(SLOTS - 1, free_slots());
	say(&child.talk, 0);
	if (keep_descriptor)
		EXPECT_EQ(POLLHUP, hear(&child.talk));
	ASSERT_LT(0, hear(&child.talk));
	/* The new program runs, and controls no stream. */
	EXPECT_EQ(SLOTS, free_slots());
	record_plain(2);
	EXPECT_EQ(0, child_wait(&child));
}

TEST(exec_of_the_controller_ends_its_streams)
{
	check_controller(_metadata, false, false);
}

TEST(exec_of_the_controller_ends_streams_with_inherited_descriptors)
{
	check_controller(_metadata, true, false);
}

TEST(exec_by_a_thread_of_the_controller_ends_its_streams)
{
	check_controller(_metadata, true, true);
}

/*
 * The process traces itself, and executes a program. The streams of the old program must not affect
 * the new one.
 */
static int trace_itself_and_execute(void *arg, const struct talk *talk)
{
	trace_event_id_t ids[2];
	trace_id_t trid;

	if (posix_trace_eventid_open("filler", &ids[0]) ||
	    posix_trace_eventid_open("of the helper", &ids[1]) || start_family_stream(0, &trid))
		return 1;
	record_plain(1);
	say(talk, ids[0]);
	return execute(arg, talk);
}

TEST_F(exec, of_a_process_that_traces_itself)
{
	long first;

	self->program.talks = true;
	ASSERT_EQ(0, child_start(&self->child, trace_itself_and_execute, &self->program));
	first = hear(&self->child.talk);
	ASSERT_LT(0, first);
	EXPECT_EQ(first, hear(&self->child.talk));
	ASSERT_EQ(0, start_family_stream(self->child.pid, &self->trid));
	say(&self->child.talk, 5);
	ASSERT_EQ(5, hear(&self->child.talk));
	expect_event(_metadata, self->trid, self->child.pid, 5, "of the helper");
	EXPECT_EQ(0, child_wait(&self->child));
}

/* ------------------------------------------------------------------ */
/* Races								*/

struct race {
	struct program program;
	struct line *line;
	int delay;
	bool attached;
};

static int execute_at_the_line(void *arg, const struct talk *talk)
{
	struct race *race = arg;

	/* The process is already attached; exec must detach it. */
	if (race->attached)
		record_plain(1);
	line_up(race->line, 2);
	dawdle(race->delay);
	return execute(&race->program, talk);
}

TEST_F(exec, stream_created_during_exec_traces_the_new_program)
{
	struct race race = {
		.program = { .path = HELPER, .name = "of the helper", .talks = true },
		.line = share(sizeof(struct line)),
	};
	struct child child;
	trace_id_t trid;
	long id;

	ASSERT_NE(NULL, race.line);
	for (int i = 0; i < rounds(150); i++) {
		race.attached = i % 2;
		race.delay = i * 7919 % 100000;
		ASSERT_EQ(0, child_start(&child, execute_at_the_line, &race));
		line_up(race.line, 2);
		dawdle(i % 5 * 50000);
		ASSERT_EQ(0, new_family_stream(child.pid, i % 4 / 2, 32 << 10, POSIX_TRACE_LOOP,
					       &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		ASSERT_EQ(1, processes_of(trid));
		id = hear(&child.talk);
		ASSERT_LT(0, id);
		say(&child.talk, i);
		ASSERT_EQ(i, hear(&child.talk));
		expect_event(_metadata, trid, child.pid, i, "of the helper");
		ASSERT_EQ(0, child_wait(&child));
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
}

TEST_F(exec, stream_shut_down_during_exec)
{
	struct race race = {
		.program = { .path = HELPER, .name = "of the helper", .talks = true },
		.line = share(sizeof(struct line)),
		.attached = true,
	};
	struct child child;
	trace_id_t trid;

	ASSERT_NE(NULL, race.line);
	for (int i = 0; i < rounds(100); i++) {
		ASSERT_EQ(0, child_start(&child, execute_at_the_line, &race));
		ASSERT_EQ(0, new_family_stream(child.pid, i % 2, 32 << 10, POSIX_TRACE_LOOP,
					       &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		line_up(race.line, 2);
		dawdle(i * 7919 % 200000);
		ASSERT_EQ(0, posix_trace_shutdown(trid));
		ASSERT_LT(0, hear(&child.talk));
		say(&child.talk, i);
		ASSERT_EQ(i, hear(&child.talk));
		ASSERT_EQ(0, child_wait(&child));
	}
}

TEST_HARNESS_MAIN
