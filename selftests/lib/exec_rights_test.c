// SPDX-License-Identifier: GPL-2.0
/*
 * A traced process executes a program that its controller may not inspect. It must no longer be
 * traced.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <posixtrace.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "pxt_test.h"
#include "exec.h"
#include "kernel_events.h"
#include "parameter.h"
#include "textfile.h"

#define USER	1000
#define OTHER	2000

/* ------------------------------------------------------------------ */
/* Users								*/

static int set_caps(unsigned int caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps },
	};

	return syscall(SYS_capset, &header, data);
}

/* Makes the calling process run as @uid, with or without CAP_SYS_PTRACE. */
static int become(uid_t uid, bool ptrace)
{
	if (setgroups(0, NULL) || prctl(PR_SET_KEEPCAPS, 1) || setresgid(uid, uid, uid) ||
	    setresuid(uid, uid, uid) || set_caps(ptrace ? 1 << CAP_SYS_PTRACE : 0))
		return -1;
	/* Make the process dumpable, which the kernel itself does only in an exec(). */
	return prctl(PR_SET_DUMPABLE, 1);
}

/* ------------------------------------------------------------------ */
/* Controllers								*/

struct controller {
	uid_t uid;
	bool ptrace;
	bool drop;	/* the controller drops its privilege after creating the stream */
	bool kernel;	/* the stream has kernel events */
};

enum word {
	NEXT_EVENT,	/* the number of the next user event, or 0 */
	PROCESSES,
	POLL,
	STOP,
	KERNEL,		/* the number of kernel events after the exec, -1 without an exec */
	FAULT,		/* the address of the next page fault, or 0 */
};

static long kernel_events_behind_exec(trace_id_t trid)
{
	struct event event;
	long count = -1;

	while (take(trid, &event) == 1) {
		if (event.info.posix_event_id == POSIXTRACE_EXEC)
			count = 0;
		else if (count >= 0 && event.info.posix_event_id >= POSIXTRACE_SWITCH_OUT &&
			 event.info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
			count++;
	}
	return count;
}

static long next_fault(trace_id_t trid)
{
	union kernel_data data;
	struct event event;

	while (take(trid, &event) == 1) {
		if (event.info.posix_event_id != POSIXTRACE_PAGE_FAULT)
			continue;
		memcpy(&data, event.data, sizeof(data.fault));
		if (data.fault.address)
			return data.fault.address;
	}
	return 0;
}

/* Only x86 has page fault events. */
static int start_kernel_stream(pid_t pid, trace_id_t *trid)
{
	const unsigned int classes = POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS |
		(posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES) & POSIXTRACE_CLASS_FAULT);
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posixtrace_attr_setkernel(&attr, classes);
	if (!err)
		err = posix_trace_create(pid, &attr, trid);
	return err ? err : posix_trace_start(*trid);
}

static long obey(trace_id_t trid, long word)
{
	struct pollfd pollfd = { .fd = posixtrace_fd(trid) };
	struct event event;

	switch (word) {
	case NEXT_EVENT:
		return take_user(trid, &event) == 1 ? event_number(&event) : 0;
	case PROCESSES:
		return processes_of(trid);
	case POLL:
		return poll(&pollfd, 1, 0) < 0 ? -1 : pollfd.revents;
	case STOP:
		return posix_trace_stop(trid);
	case KERNEL:
		return kernel_events_behind_exec(trid);
	case FAULT:
		return next_fault(trid);
	default:
		return -1;
	}
}

/* Receives the pid to trace, reports the result, then carries out requests. */
static int control(void *arg, const struct talk *talk)
{
	struct controller *controller = arg;
	trace_id_t trid;
	long word;
	int err;

	if (become(controller->uid, controller->ptrace))
		return 1;
	err = controller->kernel ? start_kernel_stream(hear(talk), &trid) :
				   start_family_stream(hear(talk), &trid);
	if (controller->drop && set_caps(0))
		return 2;
	say(talk, err);
	while ((word = hear(talk)) != -EPIPE)
		say(talk, obey(trid, word));
	return 0;
}

static long tell(const struct child *child, long word)
{
	say(&child->talk, word);
	return hear(&child->talk);
}

/* ------------------------------------------------------------------ */
/* Targets								*/

struct target {
	struct program program;
	uid_t uid;
	int *line;		/* NULL, or a pipe: a byte makes the target's child record */
};

static void record_once(const int *line)
{
	char c;

	if (read(line[0], &c, 1) == 1)
		record_plain(3);
	_exit(0);
}

static int record_and_execute(void *arg, const struct talk *talk)
{
	struct target *target = arg;

	if (become(target->uid, false))
		return 1;
	say(talk, 0);
	hear(talk);
	record_plain(1);
	if (target->line && fork() == 0)
		record_once(target->line);
	return execute(&target->program, talk);
}

/* ------------------------------------------------------------------ */
/* Images								*/

FIXTURE(image)
{
	char dir[64], path[80], program[80];
	struct child controller, child;
	struct target target;
	bool missing;
	const char *scope;	/* value of the module parameter trace_scope at the exec, or NULL */
};

FIXTURE_VARIANT(image)
{
	int mode;
	uid_t owner;
	gid_t group;
	bool caps;
	int script_mode;	/* mode of a script that the program interprets; 0: no script */
	bool secret;		/* the controller must not see the program */
};

FIXTURE_VARIANT_ADD(image, plain) { 0755, 0, 0 };
FIXTURE_VARIANT_ADD(image, set_uid_root) { 04755, 0, 0, .secret = true };
FIXTURE_VARIANT_ADD(image, set_uid_other) { 04755, OTHER, 0, .secret = true };
FIXTURE_VARIANT_ADD(image, set_uid_same) { 04755, USER, 0 };
FIXTURE_VARIANT_ADD(image, set_gid_other) { 02755, 0, OTHER, .secret = true };
FIXTURE_VARIANT_ADD(image, file_capabilities) { 0755, 0, 0, .caps = true, .secret = true };
FIXTURE_VARIANT_ADD(image, unreadable) { 0711, 0, 0, .secret = true };
FIXTURE_VARIANT_ADD(image, script) { 0755, 0, 0, .script_mode = 0755 };
/* The bit has no effect on a script. */
FIXTURE_VARIANT_ADD(image, set_uid_script) { 0755, 0, 0, .script_mode = 04755 };
FIXTURE_VARIANT_ADD(image, script_of_set_uid) { 04755, 0, 0, .script_mode = 0755, .secret = true };
FIXTURE_VARIANT_ADD(image, script_of_unreadable) {
	0711, 0, 0, .script_mode = 0755, .secret = true
};

static int make_script(const char *path, const char *program, int mode)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return -1;
	fprintf(file, "#!%s\n", program);
	return fclose(file) || chmod(path, mode);
}

/* Gives the program CAP_NET_RAW, effective: exec() then grants it to the process. */
static int add_caps(const char *path)
{
	struct vfs_cap_data caps = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data[0].permitted = 1 << CAP_NET_RAW,
	};

	return setxattr(path, "security.capability", &caps, sizeof(caps), 0) ? -errno : 0;
}

FIXTURE_SETUP(image)
{
	int err;

	strcpy(self->dir, "/tmp/exec_rights.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	ASSERT_EQ(0, chmod(self->dir, 0755));
	snprintf(self->program, sizeof(self->program), "%s/program", self->dir);
	snprintf(self->path, sizeof(self->path), "%s/script", self->dir);
	ASSERT_EQ(0, file_copy(HELPER, self->program));
	/* chmod() comes last, because chown() clears the bits. */
	ASSERT_EQ(0, chown(self->program, variant->owner, variant->group));
	ASSERT_EQ(0, chmod(self->program, variant->mode));
	if (variant->caps) {
		err = add_caps(self->program);
		self->missing = err == -EOPNOTSUPP;
		ASSERT_TRUE(!err || self->missing);
		/*
		 * Only test kernels may lack extended attributes. On a distribution kernel this is
		 * an error.
		 */
		if (self->missing)
			ASSERT_LT(3, pxt_time_scale());
	}
	if (variant->script_mode)
		ASSERT_EQ(0, make_script(self->path, self->program, variant->script_mode));
	self->target = (struct target){
		.program = { .path = variant->script_mode ? self->path : self->program,
			     .talks = true },
		.uid = USER,
	};
}

FIXTURE_TEARDOWN(image)
{
	if (self->scope)
		EXPECT_EQ(0, parameter_set("trace_scope", "0"));
	unlink(self->path);
	unlink(self->program);
	rmdir(self->dir);
}

/*
 * Lets the target record its first event and execute the program. Waits for the program's first
 * message.
 */
static void begin(struct __test_metadata *_metadata, struct _test_data_image *self,
		  struct controller *controller)
{
	ASSERT_EQ(0, child_start(&self->controller, control, controller));
	ASSERT_EQ(0, child_start(&self->child, record_and_execute, &self->target));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, tell(&self->controller, self->child.pid));
	EXPECT_EQ(1, tell(&self->controller, PROCESSES));
	if (self->scope)
		ASSERT_EQ(0, parameter_set("trace_scope", self->scope));
	say(&self->child.talk, 0);
	ASSERT_LT(0, hear(&self->child.talk));
}

static void end(struct __test_metadata *_metadata, struct _test_data_image *self)
{
	EXPECT_EQ(0, tell(&self->controller, STOP));
	EXPECT_EQ(0, child_wait(&self->child));
	EXPECT_EQ(0, child_wait(&self->controller));
}

/* Lets the new program record, and checks if the event is traced. */
static void check(struct __test_metadata *_metadata, struct _test_data_image *self, bool traced)
{
	EXPECT_EQ(traced, tell(&self->controller, PROCESSES));
	ASSERT_EQ(2, tell(&self->child, 2));
	/* Earlier events are kept, whatever the program is. */
	EXPECT_EQ(1, tell(&self->controller, NEXT_EVENT));
	EXPECT_EQ(traced ? 2 : 0, tell(&self->controller, NEXT_EVENT));
	EXPECT_EQ(traced ? 0 : POLLHUP, tell(&self->controller, POLL));
}

TEST_F(image, user_does_not_see_secrets)
{
	struct controller controller = { .uid = USER };

	if (self->missing)
		SKIP(return, "no extended attributes on tmpfs");
	begin(_metadata, self, &controller);
	check(_metadata, self, !variant->secret);
	end(_metadata, self);
}

/*
 * The events show that the old program has executed the file, but not what the kernel does
 * afterwards.
 */
TEST_F(image, user_sees_no_events_of_the_kernel_about_secrets)
{
	struct controller controller = { .uid = USER, .kernel = true };
	long count;

	if (self->missing)
		SKIP(return, "no extended attributes on tmpfs");
	begin(_metadata, self, &controller);
	ASSERT_EQ(2, tell(&self->child, 2));
	count = tell(&self->controller, KERNEL);
	EXPECT_TRUE(variant->secret ? !count : count > 0) {
		TH_LOG("%ld events", count);
	}
	end(_metadata, self);
}

/* The target is not a child of its controller. */
TEST_F(image, trace_scope_hides_events_of_the_kernel_as_secrets)
{
	struct controller controller = { .uid = USER, .kernel = true };

	if (self->missing)
		SKIP(return, "no extended attributes on tmpfs");
	self->scope = "1";
	begin(_metadata, self, &controller);
	ASSERT_EQ(2, tell(&self->child, 2));
	EXPECT_EQ(0, tell(&self->controller, KERNEL));
	EXPECT_EQ(0, tell(&self->controller, PROCESSES));
	end(_metadata, self);
}

/* Returns true if the process has memory at @address. */
static bool is_mapped(pid_t pid, unsigned long address)
{
	unsigned long begin, end;
	char path[64], line[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%lx-%lx", &begin, &end) == 2 && begin <= address &&
			address < end;
	if (file)
		fclose(file);
	return found;
}

/* The kernel writes to the memory of the new program before it reports the exec. */
TEST_F(image, user_gets_no_address_of_secrets)
{
	const int classes = posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
	struct controller controller = { .uid = USER, .kernel = true };
	unsigned long address;
	unsigned int known = 0;

	if (self->missing)
		SKIP(return, "no extended attributes on tmpfs");
	if (variant->secret)
		PXT_NOT_WITH_SANITIZERS("map memory at the same addresses in all programs");
	begin(_metadata, self, &controller);
	while ((address = tell(&self->controller, FAULT)))
		known += is_mapped(self->child.pid, address);
	EXPECT_EQ(!variant->secret && classes & POSIXTRACE_CLASS_FAULT, known > 0) {
		TH_LOG("%u addresses", known);
	}
	end(_metadata, self);
}

TEST_F(image, privileged_controller_sees_all_programs)
{
	struct controller controller = { .uid = USER, .ptrace = true };

	if (self->missing)
		SKIP(return, "no extended attributes on tmpfs");
	begin(_metadata, self, &controller);
	check(_metadata, self, true);
	end(_metadata, self);
}

TEST_F(image, controller_with_privileges_at_creation_sees_all_programs)
{
	struct controller controller = { .uid = OTHER, .ptrace = true, .drop = true };

	if (self->missing)
		SKIP(return, "no extended attributes on tmpfs");
	begin(_metadata, self, &controller);
	check(_metadata, self, true);
	end(_metadata, self);
}

/* A child of the target maps the memory of the stream, to which the new program would write. */
TEST_F(image, privileged_stream_of_a_child_shows_no_secrets)
{
	struct controller controller = { .uid = 0, .ptrace = true };
	int line[2], number;

	if (self->missing)
		SKIP(return, "no extended attributes on tmpfs");
	ASSERT_EQ(0, pipe(line));
	self->target.line = line;
	begin(_metadata, self, &controller);
	EXPECT_EQ(variant->secret ? 1 : 2, tell(&self->controller, PROCESSES));
	ASSERT_EQ(2, tell(&self->child, 2));
	EXPECT_EQ(1, tell(&self->controller, NEXT_EVENT));
	EXPECT_EQ(variant->secret ? 0 : 2, tell(&self->controller, NEXT_EVENT));
	EXPECT_EQ(0, tell(&self->controller, POLL));
	/* The child itself remains traced. */
	ASSERT_EQ(1, write(line[1], "", 1));
	while (!(number = tell(&self->controller, NEXT_EVENT)))
		sched_yield();
	EXPECT_EQ(3, number);
	end(_metadata, self);
}

/* ------------------------------------------------------------------ */
/* A process that traces itself and its children			*/

struct own {
	const char *path;
	int expected;		/* the number of the next event after the child's end */
};

static int trace_and_spawn(void *arg)
{
	struct program program = { .path = ((struct own *)arg)->path, .number = 2 };
	struct event event;
	trace_id_t trid;
	pid_t pid;

	if (become(USER, false) || start_family_stream(0, &trid))
		return 1;
	set_program(&program, NULL);
	pid = vfork();
	if (pid == 0) {
		execl(program.path, program.path, (char *)NULL);
		_exit(100);
	}
	if (pid < 0 || ended(pid))
		return 2;
	record_plain(5);
	if (take_user(trid, &event) != 1)
		return 3;
	return event_number(&event) == ((struct own *)arg)->expected ? 0 : 4;
}

TEST_F(image, child_of_a_process_that_traces_itself)
{
	struct own own = { self->target.program.path, variant->secret ? 5 : 2 };
	pid_t pid;

	if (self->missing)
		SKIP(return, "no extended attributes on tmpfs");
	pid = by_fork(trace_and_spawn, &own);
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, ended(pid));
}

/* ------------------------------------------------------------------ */
/* Dumpable or not							*/

static int change_dumpable(void *arg, const struct talk *talk)
{
	long word;

	if (become(*(uid_t *)arg, false))
		return 1;
	while ((word = hear(talk)) != -EPIPE) {
		if (word < 2 && prctl(PR_SET_DUMPABLE, word))
			return 2;
		if (word >= 2)
			record_plain(word);
		say(talk, word);
	}
	return 0;
}

/* Returns the result of CREATE by a controller that starts now. */
static long try_to_trace(struct controller *controller, pid_t pid)
{
	struct child child;
	long ret;

	if (child_start(&child, control, controller))
		return -1;
	ret = tell(&child, pid);
	return child_wait(&child) ? -2 : ret;
}

FIXTURE(dumpable)
{
	struct child child;
	uid_t uid;
};

FIXTURE_SETUP(dumpable)
{
	self->uid = USER;
	ASSERT_EQ(0, child_start(&self->child, change_dumpable, &self->uid));
	ASSERT_EQ(1, tell(&self->child, 1));
}

FIXTURE_TEARDOWN(dumpable)
{
	EXPECT_EQ(0, child_wait(&self->child));
}

TEST_F(dumpable, only_dumpable_process_is_traced_by_its_user)
{
	struct controller user = { .uid = USER };

	EXPECT_EQ(0, try_to_trace(&user, self->child.pid));
	ASSERT_EQ(0, tell(&self->child, 0));
	EXPECT_EQ(EPERM, try_to_trace(&user, self->child.pid));
	ASSERT_EQ(1, tell(&self->child, 1));
	EXPECT_EQ(0, try_to_trace(&user, self->child.pid));
}

TEST_F(dumpable, process_is_traced_by_a_privileged_controller_if_not_dumpable)
{
	struct controller privileged = { .uid = OTHER, .ptrace = true };

	EXPECT_EQ(0, try_to_trace(&privileged, self->child.pid));
	ASSERT_EQ(0, tell(&self->child, 0));
	EXPECT_EQ(0, try_to_trace(&privileged, self->child.pid));
}

TEST_F(dumpable, process_is_never_traced_by_other_users)
{
	struct controller other = { .uid = OTHER };

	EXPECT_EQ(EPERM, try_to_trace(&other, self->child.pid));
	ASSERT_EQ(0, tell(&self->child, 0));
	EXPECT_EQ(EPERM, try_to_trace(&other, self->child.pid));
}

TEST_F(dumpable, process_remains_traced_when_no_longer_dumpable)
{
	struct controller user = { .uid = USER };
	struct child controller;

	ASSERT_EQ(0, child_start(&controller, control, &user));
	ASSERT_EQ(0, tell(&controller, self->child.pid));
	ASSERT_EQ(0, tell(&self->child, 0));
	ASSERT_EQ(2, tell(&self->child, 2));
	EXPECT_EQ(2, tell(&controller, NEXT_EVENT));
	EXPECT_EQ(0, child_wait(&controller));
}

TEST_HARNESS_MAIN
