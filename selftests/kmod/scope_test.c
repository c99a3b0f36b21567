// SPDX-License-Identifier: GPL-2.0
/*
 * The module parameter trace_scope: which processes of the same user a process may trace. Removes
 * and inserts the module, so no other process may use the module during this test.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "pxt_test.h"
#include "credentials.h"
#include "module.h"
#include "parameter.h"
#include "uapi.h"

#define PARAMETER	"trace_scope"
#define USER		1000
#define PTRACE		CAP_MASK(CAP_SYS_PTRACE)

static int set_scope(int scope)
{
	char text[16];

	snprintf(text, sizeof(text), "%d\n", scope);
	return parameter_set(PARAMETER, text);
}

static int scope(void)
{
	char text[16] = "";
	int err = parameter_get(PARAMETER, text, sizeof(text));

	return err ? err : atoi(text);
}

static int set_default(void)
{
	const unsigned long long limit = now() + 20 * NSEC;
	int err;

	if (scope() != 3)
		return set_scope(0);
	/*
	 * Scope 3 can only be changed by unloading. An orphaned process that maps the gate may
	 * delay that.
	 */
	while ((err = module_unload()) == -EAGAIN && now() < limit)
		sched_yield();
	return err ? err : module_load();
}

/* ------------------------------------------------------------------ */
/* Relatives of a controller						*/

enum relative { SELF, CHILD, GRANDCHILD, ORPHAN, SIBLING, PARENT, RELATIVES };

static const char *const names[RELATIVES] = {
	"itself", "a child", "a grandchild", "a grandchild without its parent", "a sibling",
	"its parent",
};

/*
 * Starts a grandchild of the test, reports its pid, and ends on request. The grandchild lives as
 * long as the test's child.
 */
static int start_grandchild(void *arg, const struct talk *talk)
{
	const int *line = arg;
	pid_t pid = fork();
	char c;

	if (!pid) {
		close(line[1]);
		_exit(read(line[0], &c, 1) != 0);
	}
	say(talk, pid);
	hear(talk);
	return 0;
}

struct attempt {
	enum relative relative;
	unsigned long long caps;
	bool thread;		/* another thread of the controller calls CREATE */
	pid_t sibling;
	pid_t parent;
};

struct call {
	pid_t pid;
	int ret;
};

static void *create(void *arg)
{
	struct call *call = arg;
	struct posixtrace_create create;
	int fd = device_open();

	create_init(&create, call->pid);
	call->ret = command(fd, POSIXTRACE_IOC_CREATE, &create);
	close(fd);
	return NULL;
}

/*
 * Runs in a relative of the process: reports the result of CREATE. First sets the credentials, so
 * that all relatives have the same.
 */
static int try_relative(void *arg, const struct talk *talk)
{
	const struct ids ids = { USER, USER, USER };
	const struct attempt *attempt = arg;
	struct call call = { 0, 0 };
	struct child child;
	pthread_t thread;
	int line[2];

	/* If the parent already runs as that user, this child has inherited its credentials. */
	if (geteuid() == 0 && (become(&ids, attempt->caps, -1) || prctl(PR_SET_DUMPABLE, 1)))
		return 1;
	switch (attempt->relative) {
	case CHILD:
		if (child_start(&child, child_idle, NULL) || hear(&child.talk))
			return 2;
		call.pid = child.pid;
		break;
	case GRANDCHILD:
	case ORPHAN:
		if (pipe(line) || child_start(&child, start_grandchild, line))
			return 2;
		call.pid = hear(&child.talk);
		if (attempt->relative == ORPHAN && child_wait(&child))
			return 3;
		break;
	case SIBLING:
		call.pid = attempt->sibling;
		break;
	case PARENT:
		call.pid = attempt->parent;
		break;
	default:
		break;
	}
	if (!attempt->thread)
		create(&call);
	else if (pthread_create(&thread, NULL, create, &call) || pthread_join(thread, NULL))
		return 4;
	say(talk, call.ret);
	return 0;
}

static int be_parent(void *arg, const struct talk *talk)
{
	struct attempt *attempt = arg;
	struct child controller;

	if (become_user(USER))
		return 1;
	attempt->parent = getpid();
	if (child_start(&controller, try_relative, attempt))
		return 2;
	say(talk, hear(&controller.talk));
	return child_wait(&controller);
}

/* Returns the result of CREATE. */
static long try_attempt(struct attempt *attempt)
{
	struct child child;
	long ret;

	if (child_start(&child, attempt->relative == PARENT ? be_parent : try_relative, attempt))
		return -ECHILD;
	ret = hear(&child.talk);
	return child_wait(&child) ? -ECHILD : ret;
}

static int idle_as_user(void *arg, const struct talk *talk)
{
	const struct ids ids = { USER, USER, USER };
	const int *space = arg;

	if (become(&ids, 0, *space) || prctl(PR_SET_DUMPABLE, 1))
		return 1;
	return child_idle(NULL, talk);
}

FIXTURE(scope)
{
	struct child sibling;
	int space;
};

FIXTURE_VARIANT(scope)
{
	int scope;
};

FIXTURE_VARIANT_ADD(scope, same_user) { 0 };
FIXTURE_VARIANT_ADD(scope, descendants) { 1 };
FIXTURE_VARIANT_ADD(scope, capability) { 2 };
FIXTURE_VARIANT_ADD(scope, none) { 3 };

FIXTURE_SETUP(scope)
{
	self->space = -1;
	ASSERT_EQ(0, set_scope(variant->scope));
	ASSERT_EQ(0, child_start(&self->sibling, idle_as_user, &self->space));
	ASSERT_EQ(0, hear(&self->sibling.talk));
}

FIXTURE_TEARDOWN(scope)
{
	EXPECT_EQ(0, child_wait(&self->sibling));
	EXPECT_EQ(0, set_default());
}

static bool is_allowed(enum relative relative, bool power, int scope)
{
	if (relative == SELF || scope == 0)
		return true;
	if (scope == 1 && (relative == CHILD || relative == GRANDCHILD))
		return true;
	return scope < 3 && power;
}

static void check_relatives(struct __test_metadata *_metadata, struct _test_data_scope *self,
			    int scope, unsigned long long caps)
{
	for (enum relative i = SELF; i < RELATIVES; i++) {
		struct attempt attempt = {
			.relative = i, .caps = caps, .sibling = self->sibling.pid,
		};

		/* The parent becomes a user without capabilities, so its child has none. */
		if (i == PARENT && caps)
			continue;
		EXPECT_EQ(is_allowed(i, caps & PTRACE, scope) ? 0 : -EPERM,
			  try_attempt(&attempt)) {
			TH_LOG("%s", names[i]);
		}
	}
}

TEST_F(scope, decides_which_relatives_a_user_may_trace)
{
	check_relatives(_metadata, self, variant->scope, 0);
}

TEST_F(scope, capability_passes_all_but_the_last)
{
	check_relatives(_metadata, self, variant->scope, PTRACE);
	check_relatives(_metadata, self, variant->scope, CAP_MASK(CAP_SYS_ADMIN));
}

TEST_F(scope, threads_of_a_controller_are_one_process)
{
	struct attempt attempt = { .relative = CHILD, .thread = true };

	EXPECT_EQ(variant->scope < 2 ? 0 : -EPERM, try_attempt(&attempt));
}

/* The owner of a user namespace has all capabilities in it. */
TEST_F(scope, capability_counts_in_the_user_namespace_of_the_process)
{
	int owned = user_ns_new(-1, USER), foreign = user_ns_new(-1, USER + 1);
	struct child in_owned, in_foreign;
	struct attempt attempt = { .relative = SIBLING };

	ASSERT_LE(0, owned);
	ASSERT_LE(0, foreign);
	ASSERT_EQ(0, child_start(&in_owned, idle_as_user, &owned));
	ASSERT_EQ(0, hear(&in_owned.talk));
	ASSERT_EQ(0, child_start(&in_foreign, idle_as_user, &foreign));
	ASSERT_EQ(0, hear(&in_foreign.talk));
	attempt.sibling = in_owned.pid;
	EXPECT_EQ(variant->scope < 3 ? 0 : -EPERM, try_attempt(&attempt));
	attempt.sibling = in_foreign.pid;
	EXPECT_EQ(variant->scope < 1 ? 0 : -EPERM, try_attempt(&attempt));
	/* End the later child first: it has a copy of the other one's pipe. */
	EXPECT_EQ(0, child_wait(&in_foreign));
	EXPECT_EQ(0, child_wait(&in_owned));
	close(owned);
	close(foreign);
}

/* ------------------------------------------------------------------ */
/* The value								*/

TEST(default_is_the_same_user)
{
	EXPECT_EQ(0, scope());
}

TEST(wrong_value_changes_nothing)
{
	static const char *const bad[] = { "4", "-1", "\n", "one", "0x4", "1 2", "1," };

	ASSERT_EQ(0, set_scope(2));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(-EINVAL, parameter_set(PARAMETER, bad[i])) {
			TH_LOG("accepted: %s", bad[i]);
		}
		EXPECT_EQ(2, scope());
	}
	EXPECT_EQ(0, set_scope(0));
}

TEST(last_value_stays_until_the_module_is_removed)
{
	ASSERT_EQ(0, set_scope(3));
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(-EPERM, set_scope(i));
		EXPECT_EQ(3, scope());
	}
	EXPECT_EQ(0, set_scope(3));
	EXPECT_EQ(-EINVAL, set_scope(4));
	ASSERT_EQ(0, set_default());
	EXPECT_EQ(0, scope());
}

/* ------------------------------------------------------------------ */
/* exec of a traced process						*/

#define EXECUTED_VARIABLE	"SCOPE_TEST_EXECUTED"

/* Executes itself again at each message, and reports when the new program runs. */
static int execute_on_request(const struct talk *talk)
{
	char text[32];

	say(talk, 0);
	if (hear(talk) == -EPIPE)
		return 0;
	snprintf(text, sizeof(text), "%d,%d", talk->in, talk->out);
	setenv(EXECUTED_VARIABLE, text, 1);
	fcntl(talk->in, F_SETFD, 0);
	fcntl(talk->out, F_SETFD, 0);
	execl("/proc/self/exe", "target", NULL);
	return 1;
}

static void __attribute__((constructor)) executed(void)
{
	const char *text = getenv(EXECUTED_VARIABLE);
	struct talk talk;

	if (text && sscanf(text, "%d,%d", &talk.in, &talk.out) == 2)
		_exit(execute_on_request(&talk));
}

/* The pipes between the test and the target. */
struct line {
	int there[2];
	int back[2];
};

/* The parent of the target: reports its pid, and lives until it receives a message. */
static int be_middle(void *arg, const struct talk *talk)
{
	const struct line *line = arg;
	const struct talk end = { .in = line->there[0], .out = line->back[1] };
	pid_t pid;

	if (geteuid() == 0 && become_user(USER))
		return 1;
	say(talk, 0);
	hear(talk);
	pid = fork();
	close(line->there[1]);
	close(line->back[0]);
	if (!pid)
		_exit(execute_on_request(&end));
	say(talk, pid);
	hear(talk);
	return 0;
}

/* Messages of the test to the controller. */
enum { BEAR, CREATE, END_MIDDLE, PROCESSES };

struct control {
	struct line line;
	unsigned long long caps;
	bool inherit;		/* the stream is on the parent of the target, and is inherited */
	pid_t stranger;		/* the target, if it has a different parent; or 0 */
};

static long create_stream(struct stream *stream, pid_t pid)
{
	memset(stream, 0, sizeof(*stream));
	create_init(&stream->arg, pid);
	stream->arg.attr.inherited = POSIXTRACE_INHERITED;
	return stream_open(stream);
}

static long processes(const struct stream *stream)
{
	struct posixtrace_stats stats;
	int err = command(stream->fd, POSIXTRACE_IOC_GET_STATS, &stats);

	return err ? err : (long)stats.processes;
}

static int control(void *arg, const struct talk *talk)
{
	const struct ids ids = { USER, USER, USER };
	struct control *control = arg;
	pid_t target = control->stranger;
	struct child middle = { .pid = 0 };
	struct stream stream;
	long word;

	if (become(&ids, control->caps, -1) || prctl(PR_SET_DUMPABLE, 1))
		return 1;
	if (!target && (child_start(&middle, be_middle, &control->line) || hear(&middle.talk)))
		return 2;
	close(control->line.there[1]);
	close(control->line.back[0]);
	while ((word = hear(talk)) != -EPIPE) {
		switch (word) {
		case BEAR:
			say(&middle.talk, 0);
			target = hear(&middle.talk);
			say(talk, target);
			break;
		case CREATE:
			say(talk, create_stream(&stream,
						control->inherit ? middle.pid : target));
			break;
		case END_MIDDLE:
			say(talk, child_wait(&middle));
			break;
		default:
			say(talk, processes(&stream));
		}
	}
	return 0;
}

FIXTURE(exec)
{
	struct child controller, middle;
	struct control control;
	struct talk target;
};

FIXTURE_VARIANT(exec)
{
	int scope;
};

FIXTURE_VARIANT_ADD(exec, same_user) { 0 };
FIXTURE_VARIANT_ADD(exec, descendants) { 1 };
FIXTURE_VARIANT_ADD(exec, capability) { 2 };
FIXTURE_VARIANT_ADD(exec, none) { 3 };

FIXTURE_SETUP(exec)
{
	self->control = (struct control){ .caps = 0 };
	ASSERT_EQ(0, pipe(self->control.line.there));
	ASSERT_EQ(0, pipe(self->control.line.back));
	self->target = (struct talk){
		.in = self->control.line.back[0], .out = self->control.line.there[1],
	};
}

FIXTURE_TEARDOWN(exec)
{
	close(self->target.in);
	close(self->target.out);
	EXPECT_EQ(0, child_wait(&self->controller));
	if (self->control.stranger)
		EXPECT_EQ(0, child_wait(&self->middle));
	EXPECT_EQ(0, set_default());
}

static long tell(const struct child *child, long word)
{
	say(&child->talk, word);
	return hear(&child->talk);
}

/* Starts the controller, with a stream on the target. The scope is still the default. */
static void begin(struct __test_metadata *_metadata, struct _test_data_exec *self)
{
	ASSERT_EQ(0, child_start(&self->controller, control, &self->control));
	if (!self->control.stranger && !self->control.inherit)
		ASSERT_LT(0, tell(&self->controller, BEAR));
	ASSERT_EQ(0, tell(&self->controller, CREATE));
	if (self->control.inherit)
		ASSERT_LT(0, tell(&self->controller, BEAR));
	close(self->control.line.there[0]);
	close(self->control.line.back[1]);
	ASSERT_EQ(0, hear(&self->target));
}

static void start_stranger(struct __test_metadata *_metadata, struct _test_data_exec *self)
{
	ASSERT_EQ(0, child_start(&self->middle, be_middle, &self->control.line));
	ASSERT_EQ(0, hear(&self->middle.talk));
	self->control.stranger = tell(&self->middle, 0);
	ASSERT_LT(0, self->control.stranger);
}

/*
 * Sets the scope of the variant, which does not end the stream, and makes the target execute a
 * program.
 */
static void execute(struct __test_metadata *_metadata, struct _test_data_exec *self,
		    long before, int scope, long after)
{
	ASSERT_EQ(0, set_scope(scope));
	EXPECT_EQ(before, tell(&self->controller, PROCESSES));
	say(&self->target, 0);
	ASSERT_EQ(0, hear(&self->target));
	EXPECT_EQ(after, tell(&self->controller, PROCESSES));
}

TEST_F(exec, descendant_stays_if_it_is_one)
{
	begin(_metadata, self);
	execute(_metadata, self, 1, variant->scope, variant->scope < 2);
}

TEST_F(exec, descendant_with_a_new_parent_stays_until_it_executes)
{
	begin(_metadata, self);
	ASSERT_EQ(0, tell(&self->controller, END_MIDDLE));
	execute(_metadata, self, 1, variant->scope, variant->scope < 1);
}

TEST_F(exec, other_process_stays_until_it_executes)
{
	start_stranger(_metadata, self);
	begin(_metadata, self);
	execute(_metadata, self, 1, variant->scope, variant->scope < 1);
}

TEST_F(exec, capability_at_creation_counts)
{
	start_stranger(_metadata, self);
	self->control.caps = PTRACE;
	begin(_metadata, self);
	execute(_metadata, self, 1, variant->scope, variant->scope < 3);
}

TEST_F(exec, inherited_child_is_a_descendant)
{
	self->control.inherit = true;
	begin(_metadata, self);
	execute(_metadata, self, 2, variant->scope, 1 + (variant->scope < 2));
}

TEST_HARNESS_MAIN
