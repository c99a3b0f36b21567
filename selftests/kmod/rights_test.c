// SPDX-License-Identifier: GPL-2.0
/*
 * The right to trace, for every kind of controller and every kind of process. The test computes the
 * expected result from the rule in Documentation/abi.rst. It also compares that rule with the
 * kernel's own checks for signals and for access to the memory of a process.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "pxt_test.h"
#include "credentials.h"
#include "uapi.h"

#define ROOT		{ 0, 0, 0 }
#define ALICE		{ 1000, 1000, 1000 }
#define BOB		{ 1001, 1001, 1001 }
#define CAROL		{ 1002, 1002, 1002 }
#define PTRACE		CAP_MASK(CAP_SYS_PTRACE)
#define KILL		CAP_MASK(CAP_KILL)

/* The user namespaces. Each is created after the namespace that contains it. */
enum { INIT, ROOTS, ALICES, NESTED, SPACES };

static const struct space {
	int parent;
	uid_t owner;
} spaces[SPACES] = {
	[INIT] = { -1, 0 },
	[ROOTS] = { INIT, 0 },
	[ALICES] = { INIT, 1000 },
	[NESTED] = { ALICES, 1001 },
};

static int space_fd[SPACES];

/* Ways to become dumpable or undumpable. */
enum { SAYS_YES, SAYS_NO, HAS_CHANGED_IDS };

struct controller {
	const char *name;
	struct ids ids;
	int space;
	unsigned long long caps;
};

static const struct controller controllers[] = {
	{ "root", ROOT, INIT, PTRACE | KILL },
	{ "root with CAP_SYS_PTRACE", ROOT, INIT, PTRACE },
	{ "root with CAP_KILL", ROOT, INIT, KILL },
	{ "root without capabilities", ROOT, INIT, 0 },
	{ "alice", ALICE, INIT, 0 },
	{ "alice with CAP_SYS_PTRACE", ALICE, INIT, PTRACE },
	{ "alice with CAP_KILL", ALICE, INIT, KILL },
	{ "alice with all but CAP_SYS_PTRACE", ALICE, INIT, CAP_MASK(CAP_SETUID) | KILL |
	  CAP_MASK(CAP_SYS_ADMIN) | CAP_MASK(CAP_DAC_OVERRIDE) },
	{ "bob", BOB, INIT, 0 },
	{ "bob with CAP_SYS_PTRACE", BOB, INIT, PTRACE },
	{ "bob with CAP_KILL", BOB, INIT, KILL },
	{ "carol", CAROL, INIT, 0 },
	{ "alice, effectively bob", { 1000, 1001, 1001 }, INIT, 0 },
	{ "bob, effectively alice", { 1001, 1000, 1001 }, INIT, 0 },
	{ "bob who was alice", { 1001, 1001, 1000 }, INIT, 0 },
	{ "alice who can be root", { 1000, 1000, 0 }, INIT, 0 },
	{ "root of root's namespace", ROOT, ROOTS, PTRACE | KILL },
	{ "alice in root's namespace", ALICE, ROOTS, 0 },
	{ "bob in root's namespace with CAP_SYS_PTRACE", BOB, ROOTS, PTRACE },
	{ "root of alice's namespace", ROOT, ALICES, PTRACE | KILL },
	{ "alice in her namespace", ALICE, ALICES, 0 },
	{ "alice in her namespace with CAP_SYS_PTRACE", ALICE, ALICES, PTRACE },
	{ "bob in alice's namespace", BOB, ALICES, 0 },
	{ "carol in alice's namespace with CAP_KILL", CAROL, ALICES, KILL },
	{ "carol in alice's namespace with CAP_SYS_PTRACE", CAROL, ALICES, PTRACE },
	{ "carol in the nested namespace", CAROL, NESTED, 0 },
	{ "carol in the nested namespace with CAP_SYS_PTRACE", CAROL, NESTED, PTRACE },
};

/* ------------------------------------------------------------------ */
/* The rule								*/

/*
 * Does the controller have this capability over a namespace? It does if it has the capability there
 * or in an outer namespace, or if its user created the namespace, or one around it, from the parent
 * namespace.
 */
static bool has_power(const struct controller *controller, unsigned long long cap, int space)
{
	for (; space != INIT; space = spaces[space].parent) {
		if (space == controller->space)
			break;
		if (spaces[space].parent == controller->space &&
		    spaces[space].owner == controller->ids.euid)
			return true;
	}
	return space == controller->space && controller->caps & cap;
}

static bool are_one_user(const struct ids *sender, const struct ids *receiver)
{
	const uid_t has[] = { sender->ruid, sender->euid };
	const uid_t wants[] = { receiver->ruid, receiver->suid };

	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 2; j++) {
			if (has[i] == wants[j])
				return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------------ */
/* The process to trace							*/

FIXTURE(rights)
{
	struct child child;
};

/*
 * A kind of process. Its program was executed in namespace @image; its credentials are in @space.
 */
struct kind {
	struct ids ids;
	int space;
	int image;
	unsigned long long caps;
	int dumpable;
};

FIXTURE_VARIANT(rights)
{
	struct kind kind;
};

FIXTURE_VARIANT_ADD(rights, user) {
	{ ALICE, INIT, INIT, 0, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, user_not_dumpable) {
	{ ALICE, INIT, INIT, 0, SAYS_NO }
};

FIXTURE_VARIANT_ADD(rights, user_formerly_root) {
	{ ALICE, INIT, INIT, 0, HAS_CHANGED_IDS }
};

FIXTURE_VARIANT_ADD(rights, user_with_capabilities) {
	{ ALICE, INIT, INIT, PTRACE | KILL, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, set_uid_program) {
	{ { 1000, 0, 0 }, INIT, INIT, 0, HAS_CHANGED_IDS }
};

FIXTURE_VARIANT_ADD(rights, set_uid_program_that_is_dumpable) {
	{ { 1000, 0, 0 }, INIT, INIT, 0, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, set_uid_program_of_another_user) {
	{ { 1001, 1000, 1000 }, INIT, INIT, 0, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, only_effectively_alice) {
	{ { 1001, 1000, 1001 }, INIT, INIT, 0, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, alice_with_saved_root) {
	{ { 1000, 1000, 0 }, INIT, INIT, 0, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, bob_with_saved_alice) {
	{ { 1001, 1001, 1000 }, INIT, INIT, 0, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, root) {
	{ ROOT, INIT, INIT, PTRACE | KILL, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, root_not_dumpable) {
	{ ROOT, INIT, INIT, PTRACE | KILL, SAYS_NO }
};

FIXTURE_VARIANT_ADD(rights, root_of_roots_namespace) {
	{ ROOT, ROOTS, INIT, PTRACE | KILL, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, bob_in_roots_namespace) {
	{ BOB, ROOTS, ROOTS, 0, SAYS_NO }
};

FIXTURE_VARIANT_ADD(rights, alice_in_her_namespace) {
	{ ALICE, ALICES, INIT, 0, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, alice_in_her_namespace_not_dumpable) {
	{ ALICE, ALICES, INIT, 0, SAYS_NO }
};

FIXTURE_VARIANT_ADD(rights, carol_executed_in_alices_namespace) {
	{ CAROL, ALICES, ALICES, 0, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, carol_executed_in_alices_namespace_not_dumpable) {
	{ CAROL, ALICES, ALICES, 0, SAYS_NO }
};

FIXTURE_VARIANT_ADD(rights, carol_in_nested_namespace) {
	{ CAROL, NESTED, INIT, 0, SAYS_YES }
};

FIXTURE_VARIANT_ADD(rights, bob_executed_in_nested_namespace_not_dumpable) {
	{ BOB, NESTED, NESTED, 0, SAYS_NO }
};

#define EXECUTED_VARIABLE	"RIGHTS_TEST_EXECUTED"

/* Changes the user ids like a set-user-ID program. The kernel then makes the process undumpable. */
static int change_ids(void)
{
	return seteuid(1) || seteuid(0) || prctl(PR_GET_DUMPABLE) == 1;
}

static int idle_as(int dumpable, const struct talk *talk)
{
	if (dumpable != HAS_CHANGED_IDS && prctl(PR_SET_DUMPABLE, dumpable == SAYS_YES))
		return 1;
	return child_idle(NULL, talk);
}

/*
 * Runs before main() in the program that be_target() executes for a process with a different image.
 */
static void __attribute__((constructor)) executed(void)
{
	const char *text = getenv(EXECUTED_VARIABLE);
	struct talk talk;
	int dumpable;

	if (text && sscanf(text, "%d,%d,%d", &talk.in, &talk.out, &dumpable) == 3)
		_exit(idle_as(dumpable, &talk));
}

static int be_target(void *arg, const struct talk *talk)
{
	const struct kind *kind = arg;
	char text[64];

	if (kind->dumpable == HAS_CHANGED_IDS && change_ids())
		return 1;
	if (become(&kind->ids, kind->caps, space_fd[kind->space]))
		return 1;
	if (kind->image == INIT)
		return idle_as(kind->dumpable, talk);
	snprintf(text, sizeof(text), "%d,%d,%d", talk->in, talk->out, kind->dumpable);
	setenv(EXECUTED_VARIABLE, text, 1);
	fcntl(talk->in, F_SETFD, 0);
	fcntl(talk->out, F_SETFD, 0);
	execl("/proc/self/exe", "target", NULL);
	return 2;
}

FIXTURE_SETUP(rights)
{
	space_fd[INIT] = -1;
	for (int i = INIT + 1; i < SPACES; i++) {
		space_fd[i] = user_ns_new(space_fd[spaces[i].parent], spaces[i].owner);
		ASSERT_LE(0, space_fd[i]);
	}
	ASSERT_EQ(0, child_start(&self->child, be_target, (void *)&variant->kind));
	ASSERT_EQ(0, hear(&self->child.talk));
}

FIXTURE_TEARDOWN(rights)
{
	EXPECT_EQ(0, child_wait(&self->child));
}

/* ------------------------------------------------------------------ */
/* Every controller							*/

struct attempt {
	const struct controller *controller;
	pid_t pid;
};

enum { BECAME, CREATED, CREATED_OWN, LOOKED, SIGNALLED, ANSWERS };

/* Tests access to the memory of a process, at an address that may be unmapped. */
static int look_into(pid_t pid)
{
	char byte;
	struct iovec local = { &byte, 1 }, remote = { BAD_POINTER, 1 };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0 && errno != EFAULT ? -errno : 0;
}

static int try_all(void *arg, const struct talk *talk)
{
	const struct attempt *attempt = arg;
	const struct controller *controller = attempt->controller;
	struct posixtrace_create create;
	int fd = device_open();

	say(talk, become(&controller->ids, controller->caps, space_fd[controller->space]));
	create_init(&create, attempt->pid);
	say(talk, command(fd, POSIXTRACE_IOC_CREATE, &create));
	/* After a failed CREATE, the file has no role, so the process can trace itself with it. */
	create_init(&create, 0);
	say(talk, command(fd, POSIXTRACE_IOC_CREATE, &create));
	say(talk, look_into(attempt->pid));
	set_capabilities(0);
	say(talk, kill(attempt->pid, 0) ? -errno : 0);
	return 0;
}

TEST_F(rights, follow_the_rule)
{
	const struct kind *kind = &variant->kind;
	const bool dumpable = kind->dumpable == SAYS_YES;

	for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++) {
		const struct controller *controller = &controllers[i];
		struct controller stripped = *controller;
		struct attempt attempt = { controller, self->child.pid };
		bool same = are_one_user(&controller->ids, &kind->ids);
		bool power = has_power(controller, PTRACE, kind->space);
		bool may = (same || power) &&
			   (dumpable || has_power(controller, PTRACE, kind->image));
		bool signals;
		long answer[ANSWERS];
		struct child child;

		stripped.caps = 0;
		signals = same || has_power(&stripped, KILL, kind->space);
		ASSERT_EQ(0, child_start(&child, try_all, &attempt));
		for (int j = 0; j < ANSWERS; j++)
			answer[j] = hear(&child.talk);
		ASSERT_EQ(0, child_wait(&child));
		ASSERT_EQ(0, answer[BECAME]);
		EXPECT_EQ(may ? 0 : -EPERM, answer[CREATED])
			TH_LOG("controller: %s", controller->name);
		EXPECT_EQ(may ? -EBUSY : 0, answer[CREATED_OWN])
			TH_LOG("controller: %s", controller->name);
		/* A controller that may not trace the process may not ptrace it either. */
		EXPECT_TRUE(may || answer[LOOKED] == -EPERM)
			TH_LOG("controller: %s", controller->name);
		/* The rule for signals agrees with the kernel. */
		EXPECT_EQ(signals ? 0 : -EPERM, answer[SIGNALLED])
			TH_LOG("controller: %s", controller->name);
	}
}

/* ------------------------------------------------------------------ */
/* Time of the check, and its subject					*/

static int trace_itself(void *arg, const struct talk *talk)
{
	const struct ids ids = { 1000, 0, 0 };
	struct stream stream;

	(void)arg;
	(void)talk;
	if (change_ids() || become(&ids, 0, -1) || prctl(PR_GET_DUMPABLE) == 1)
		return 1;
	if (stream_create(&stream, 0) || stream_start(&stream))
		return 2;
	stream_close(&stream);
	return stream_create(&stream, getpid()) ? 3 : 0;
}

TEST(every_process_may_trace_itself)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, trace_itself, NULL));
	EXPECT_EQ(0, child_wait(&child));
}

static int open_as_root(void *arg, const struct talk *talk)
{
	struct posixtrace_create create;
	int fd = device_open();

	(void)talk;
	create_init(&create, *(pid_t *)arg);
	if (become_user(1001))
		return 1;
	return command(fd, POSIXTRACE_IOC_CREATE, &create) == -EPERM ? 0 : 2;
}

TEST(opener_of_the_device_does_not_matter_for_create)
{
	struct child child;
	pid_t pid = getpid();

	ASSERT_EQ(0, child_start(&child, open_as_root, &pid));
	EXPECT_EQ(0, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* CREATE while the process executes a set-user-ID program		*/

#define SET_UID_PROGRAM		"/tmp/rights_test_set_uid"
#define SET_UID_VARIABLE	"RIGHTS_TEST_SET_UID"
#define AGAIN_VARIABLE		"RIGHTS_TEST_AGAIN"

static int make_set_uid_program(void)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(SET_UID_PROGRAM, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0700);
	char buffer[4096];
	ssize_t n = -1;

	if (from >= 0 && to >= 0) {
		while ((n = read(from, buffer, sizeof(buffer))) > 0) {
			if (write(to, buffer, n) != n)
				return -1;
		}
	}
	if (n || fchmod(to, 04755))
		return -1;
	close(from);
	close(to);
	return 0;
}

/* Returns the number of streams that trace the caller. */
static int count_streams(void)
{
	struct target target;
	int count = 0;

	if (target_open(&target) || target_sync(&target))
		return -1;
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++)
		count += target.slots[i].heads.size != 0;
	target_close(&target);
	return count;
}

/*
 * Runs before main() of the set-user-ID program: reports its effective user, then the number of
 * streams on it. Like sudo(8), it may first execute a dumpable program after setting all user ids
 * to root.
 */
static void __attribute__((constructor)) executed_with_set_uid(void)
{
	const char *text = getenv(SET_UID_VARIABLE);
	struct talk talk;

	if (!text || sscanf(text, "%d,%d", &talk.in, &talk.out) != 2)
		return;
	if (getenv(AGAIN_VARIABLE)) {
		unsetenv(AGAIN_VARIABLE);
		if (!setresuid(0, 0, 0))
			execl("/proc/self/exe", "program", NULL);
		_exit(1);
	}
	say(&talk, geteuid());
	hear(&talk);
	say(&talk, count_streams());
	_exit(0);
}

static void *execute(void *unused)
{
	execl(SET_UID_PROGRAM, "program", NULL);
	return unused;
}

/*
 * Executes the program from a second thread. The exec ends the main thread, and the second thread
 * takes its place.
 */
static void execute_from_thread(void)
{
	pthread_t thread;

	setenv(AGAIN_VARIABLE, "", 1);
	if (!pthread_create(&thread, NULL, execute, NULL))
		pthread_join(thread, NULL);
}

static int execute_set_uid(void *arg, const struct talk *talk)
{
	const bool *thread = arg;
	char text[32];

	if (become_user(1000) || count_streams() < 0)
		return 1;
	snprintf(text, sizeof(text), "%d,%d", talk->in, talk->out);
	setenv(SET_UID_VARIABLE, text, 1);
	fcntl(talk->in, F_SETFD, 0);
	fcntl(talk->out, F_SETFD, 0);
	say(talk, 0);
	hear(talk);
	if (*thread)
		execute_from_thread();
	else
		execute(NULL);
	return 2;
}

struct request {
	pid_t pid;
	size_t stream_size;
};

static int create_of_size(void *arg, const struct talk *talk)
{
	const struct request *request = arg;
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct posixtrace_create create;
	/*
	 * The file was opened as root. That makes no difference, because CREATE checks its caller.
	 */
	int fd = device_open();

	if (setrlimit(RLIMIT_MEMLOCK, &unlimited) || become_user(1000))
		return 1;
	create_init(&create, request->pid);
	create.attr.stream_size = request->stream_size;
	say(talk, 0);
	hear(talk);
	say(talk, command(fd, POSIXTRACE_IOC_CREATE, &create));
	hear(talk);
	return 0;
}

FIXTURE(gains)
{
	int unused;
};

FIXTURE_VARIANT(gains)
{
	bool thread;
	int rounds;
};

FIXTURE_VARIANT_ADD(gains, main_thread) { false, 20 };
/* If a second thread calls exec, the process has the old credentials for longer. */
FIXTURE_VARIANT_ADD(gains, another_thread) { true, 6 };

FIXTURE_SETUP(gains)
{
}

FIXTURE_TEARDOWN(gains)
{
}

TEST_F(gains, program_that_gains_privileges_during_create_is_not_traced)
{
	bool thread = variant->thread;
	struct child target, controller;
	struct request request;
	int granted = 0, refused = 0;
	struct stream stream;
	long ret;

	ASSERT_EQ(0, make_set_uid_program());
	for (int i = 0; i < variant->rounds; i++) {
		ASSERT_EQ(0, child_start(&target, execute_set_uid, &thread));
		ASSERT_EQ(0, hear(&target.talk));
		/* This stream exists during the whole test, so the target remains the same. */
		ASSERT_EQ(0, stream_create(&stream, target.pid));
		/*
		 * In some rounds, allocate so much memory that the process can execute a program
		 * during CREATE.
		 */
		request = (struct request){ target.pid, i % 2 ? 64 << 20 : 64 << 10 };
		ASSERT_EQ(0, child_start(&controller, create_of_size, &request));
		ASSERT_EQ(0, hear(&controller.talk));

		say(&controller.talk, 0);
		say(&target.talk, 0);
		ASSERT_EQ(0, hear(&target.talk));
		ret = hear(&controller.talk);
		granted += ret == 0;
		refused += ret == -EPERM;
		say(&target.talk, 0);
		EXPECT_EQ(1, hear(&target.talk));

		EXPECT_EQ(0, child_wait(&controller));
		EXPECT_EQ(0, child_wait(&target));
		stream_close(&stream);
	}
	TH_LOG("granted %d times, refused %d times", granted, refused);
	EXPECT_EQ(variant->rounds, granted + refused);
	EXPECT_LT(0, refused);
	unlink(SET_UID_PROGRAM);
}

TEST_HARNESS_MAIN
