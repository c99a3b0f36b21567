// SPDX-License-Identifier: GPL-2.0
/*
 * Names of threads and processes in logs. Each event must have the names at its time, even if the
 * thread, the process and the controller are gone.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/posixtrace_log.h>
#include <posixtrace.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "pxt_test.h"
#include "exec.h"
#include "logfile.h"
#include "textfile.h"
#include "withlog.h"

#define USER	1000
#define OTHER	2000
/* A name that no other file or process has, of the maximum length of a thread name. */
#define UNIQUE	"pxt-names-of-it"

/* An event of a log, with the names at its time. */
struct seen {
	pid_t pid;
	pid_t tid;
	struct timespec time;
	int number;
	int err;		/* error from asking for the name */
	char name[POSIXTRACE_THREAD_NAME_SIZE];
};

static void look(trace_id_t trid, const struct posixtrace_batch_event *event, struct seen *seen)
{
	memset(seen, 0, sizeof(*seen));
	seen->pid = event->event.posix_pid;
	seen->tid = event->tid;
	seen->time = event->event.posix_timestamp;
	memcpy(&seen->number, event->data, sizeof(seen->number));
	seen->err = posixtrace_get_thread_name(trid, seen->pid, seen->tid, &seen->time,
					       seen->name);
}

/* Reads up to @max user events. Returns their number, or minus an error number. */
static int look_at_all(trace_id_t trid, struct seen *seen, int max)
{
	struct posixtrace_batch_event event;
	int data[256], n = 0, ret;

	while ((ret = take_user_batch(trid, &event, data, sizeof(data))) == 1) {
		if (n < max)
			look(trid, &event, &seen[n]);
		n++;
	}
	return ret ? ret : n;
}

static bool read_whole(int fd, void *to, size_t size)
{
	size_t done = 0;
	ssize_t len;

	while (done < size && (len = read(fd, to + done, size - done)) > 0)
		done += len;
	return done == size;
}

/* ------------------------------------------------------------------ */
/* One process								*/

FIXTURE(names)
{
	int fd;
	trace_id_t trid;
	struct seen seen[8];
};

FIXTURE_SETUP(names)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(names)
{
	close(self->fd);
}

/* Ends the stream, and opens its log. */
static int reopen(int fd, trace_id_t *trid)
{
	int err = posix_trace_shutdown(*trid);

	return err ? err : posix_trace_open(fd, trid);
}

static void *record_with_two_names(void *unused)
{
	prctl(PR_SET_NAME, "first name");
	record_plain(1);
	prctl(PR_SET_NAME, "second name");
	record_plain(2);
	return unused;
}

TEST_F(names, each_event_has_the_name_of_its_time)
{
	pthread_t thread;

	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	ASSERT_EQ(0, pthread_create(&thread, NULL, record_with_two_names, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	record_plain(3);
	ASSERT_EQ(0, reopen(self->fd, &self->trid));
	ASSERT_EQ(3, look_at_all(self->trid, self->seen, 8));
	EXPECT_STREQ("first name", self->seen[0].name);
	EXPECT_STREQ("second name", self->seen[1].name);
	EXPECT_STREQ(program_invocation_short_name, self->seen[2].name);
	EXPECT_EQ(self->seen[0].tid, self->seen[1].tid);
	EXPECT_NE(getpid(), self->seen[0].tid);
	EXPECT_EQ(getpid(), self->seen[2].tid);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

#define RENAMES	10

static void *record_with_many_names(void *unused)
{
	char name[POSIXTRACE_THREAD_NAME_SIZE];

	for (int i = 0; i < RENAMES; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		prctl(PR_SET_NAME, name);
		record_plain(i);
	}
	return unused;
}

/* If a thread is renamed several times between two flushes, the log has only its last name. */
TEST_F(names, name_that_is_not_in_the_log_is_unknown)
{
	struct seen seen[RENAMES];
	pthread_t thread;
	char name[32];

	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	ASSERT_EQ(0, pthread_create(&thread, NULL, record_with_many_names, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, reopen(self->fd, &self->trid));
	ASSERT_EQ(RENAMES, look_at_all(self->trid, seen, RENAMES));
	for (int i = 0; i < RENAMES; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		if (seen[i].err) {
			EXPECT_EQ(ENOENT, seen[i].err);
			EXPECT_GT(RENAMES - 3, i);
		} else {
			EXPECT_STREQ(name, seen[i].name);
		}
	}
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(names, life_of_a_thread)
{
	struct timespec born, next;
	struct seen *seen = self->seen;
	pthread_t thread;

	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	ASSERT_EQ(0, pthread_create(&thread, NULL, record_with_two_names, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, reopen(self->fd, &self->trid));
	ASSERT_EQ(2, look_at_all(self->trid, seen, 8));
	ASSERT_EQ(0, posixtrace_get_thread_life(self->trid, seen[0].pid, seen[0].tid, &seen[0].time,
						&born, &next));
	EXPECT_LE(seen[0].time.tv_sec - 60, born.tv_sec);
	EXPECT_GE(seen[0].time.tv_sec, born.tv_sec);
	EXPECT_LT(seen[0].time.tv_sec + 1000000000, next.tv_sec);
	EXPECT_EQ(0, posixtrace_get_thread_life(self->trid, seen[0].pid, seen[0].tid, &seen[0].time,
						NULL, NULL));
	EXPECT_EQ(ENOENT, posixtrace_get_thread_life(self->trid, seen[0].pid, INT_MAX,
						     &seen[0].time, &born, &next));
	EXPECT_EQ(EINVAL, posixtrace_get_thread_life(self->trid, seen[0].pid, seen[0].tid, NULL,
						     &born, &next));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	EXPECT_EQ(EINVAL, posixtrace_get_thread_life(self->trid, seen[0].pid, seen[0].tid,
						     &seen[0].time, &born, &next));
}

/* A thread that talks to the test over pipes. */
struct early {
	struct talk talk;
	struct talk other;
};

static int early_start(struct early *early, void *(*fn)(void *arg), pthread_t *thread)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		return errno;
	early->talk = (struct talk){ there[0], back[1] };
	early->other = (struct talk){ back[0], there[1] };
	return pthread_create(thread, NULL, fn, early);
}

static void *record_on_request(void *arg)
{
	struct early *early = arg;

	prctl(PR_SET_NAME, "early thread");
	say(&early->talk, 0);
	hear(&early->talk);
	record_plain(1);
	return NULL;
}

TEST_F(names, thread_that_was_there_before_the_stream)
{
	struct early early;
	pthread_t thread;

	ASSERT_EQ(0, early_start(&early, record_on_request, &thread));
	ASSERT_EQ(0, hear(&early.other));
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	say(&early.other, 0);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, reopen(self->fd, &self->trid));
	ASSERT_EQ(1, look_at_all(self->trid, self->seen, 8));
	EXPECT_STREQ("early thread", self->seen[0].name);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

/* A thread that another thread renames with pthread_setname_np(). */
static void *be_renamed(void *arg)
{
	struct early *early = arg;

	say(&early->talk, gettid());
	hear(&early->talk);
	record_plain(1);
	return NULL;
}

TEST_F(names, name_that_another_thread_gave)
{
	struct early early;
	pthread_t thread;

	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	ASSERT_EQ(0, early_start(&early, be_renamed, &thread));
	ASSERT_LT(0, hear(&early.other));
	ASSERT_EQ(0, pthread_setname_np(thread, "given name"));
	say(&early.other, 0);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, reopen(self->fd, &self->trid));
	ASSERT_EQ(1, look_at_all(self->trid, self->seen, 8));
	EXPECT_STREQ("given name", self->seen[0].name);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(names, names_are_in_the_log_after_clear)
{
	prctl(PR_SET_NAME, "cleared");
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	record_plain(1);
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	record_plain(2);
	ASSERT_EQ(0, reopen(self->fd, &self->trid));
	ASSERT_EQ(1, look_at_all(self->trid, self->seen, 8));
	EXPECT_STREQ("cleared", self->seen[0].name);
	EXPECT_EQ(2, self->seen[0].number);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(names, log_says_where_it_was_written)
{
	struct posixtrace_host_info info;
	struct utsname names;
	char id[64] = "", text[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);
	size_t len = 0;

	ASSERT_EQ(0, uname(&names));
	ASSERT_LT(0, read(fd, id, sizeof(id) - 1));
	close(fd);
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	ASSERT_EQ(0, reopen(self->fd, &self->trid));
	ASSERT_EQ(0, posixtrace_get_host(self->trid, &info));
	EXPECT_STREQ(names.nodename, info.node);
	EXPECT_STREQ(names.release, info.release);
	EXPECT_STREQ(names.machine, info.machine);
	EXPECT_LT(0, info.realtime_offset);
	for (int i = 0; i < 16; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%02x",
				i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", info.boot_id[i]);
	id[strcspn(id, "\n")] = '\0';
	EXPECT_STREQ(id, text);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(names, active_stream_has_the_current_names)
{
	struct posixtrace_host_info info;
	char program[POSIXTRACE_PROGRAM_SIZE];

	ASSERT_EQ(0, posix_trace_create(0, NULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_plain(1);
	prctl(PR_SET_NAME, "name of now");
	ASSERT_EQ(1, look_at_all(self->trid, self->seen, 8));
	EXPECT_STREQ("name of now", self->seen[0].name);
	EXPECT_EQ(getpid(), self->seen[0].tid);
	EXPECT_EQ(0, posixtrace_get_program(self->trid, getpid(), &self->seen[0].time, program,
					    sizeof(program), NULL));
	EXPECT_STREQ(program_invocation_name, program);
	EXPECT_EQ(0, posixtrace_get_host(self->trid, &info));
	EXPECT_EQ(ENOENT, posixtrace_get_thread_name(self->trid, getpid(), INT_MAX,
						     &self->seen[0].time, self->seen[0].name));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(names, wrong_arguments)
{
	struct timespec time = { 0 };
	char name[POSIXTRACE_THREAD_NAME_SIZE];

	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	ASSERT_EQ(0, reopen(self->fd, &self->trid));
	EXPECT_EQ(EINVAL, posixtrace_get_thread_name(self->trid, 1, 1, NULL, name));
	EXPECT_EQ(EINVAL, posixtrace_get_thread_name(self->trid, 1, 1, &time, NULL));
	EXPECT_EQ(EINVAL, posixtrace_get_program(self->trid, 1, NULL, name, 1, NULL));
	EXPECT_EQ(EINVAL, posixtrace_get_program(self->trid, 1, &time, NULL, 1, NULL));
	EXPECT_EQ(EINVAL, posixtrace_get_host(self->trid, NULL));
	EXPECT_EQ(ENOENT, posixtrace_get_thread_name(self->trid, 1, 1, &time, name));
	EXPECT_EQ(ENOENT, posixtrace_get_program(self->trid, 1, &time, name, 1, NULL));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	EXPECT_EQ(EINVAL, posixtrace_get_thread_name(self->trid, 1, 1, &time, name));
	EXPECT_EQ(EINVAL, posixtrace_get_program(self->trid, 1, &time, name, 1, NULL));
}

/* ------------------------------------------------------------------ */
/* Other processes							*/

static int record_and_end(void *arg, const struct talk *talk)
{
	(void)arg;
	(void)talk;
	prctl(PR_SET_NAME, "child");
	record_plain(1);
	return 0;
}

TEST_F(names, child_has_the_program_of_its_parent)
{
	char program[POSIXTRACE_PROGRAM_SIZE];
	struct child child;
	size_t needed;

	/*
	 * Attach before the fork, so that the arguments are known: a child does not read its
	 * arguments.
	 */
	record_plain(0);
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	ASSERT_EQ(0, child_start(&child, record_and_end, NULL));
	ASSERT_EQ(0, child_wait(&child));
	ASSERT_EQ(0, reopen(self->fd, &self->trid));
	ASSERT_EQ(1, look_at_all(self->trid, self->seen, 8));
	EXPECT_EQ(child.pid, self->seen[0].pid);
	EXPECT_STREQ("child", self->seen[0].name);
	ASSERT_EQ(0, posixtrace_get_program(self->trid, child.pid, &self->seen[0].time, program,
					    sizeof(program), &needed));
	EXPECT_STREQ(program_invocation_name, program);
	EXPECT_LE(strlen(program) + 1, needed);
	EXPECT_EQ(ERANGE, posixtrace_get_program(self->trid, child.pid, &self->seen[0].time,
						 program, needed - 1, NULL));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(names, program_that_was_executed)
{
	struct program helper = { .path = HELPER, .number = 7 };
	char program[POSIXTRACE_PROGRAM_SIZE];
	struct child child;

	ASSERT_EQ(0, child_start(&child, execute_on_request, &helper));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, withlog_begin(child.pid, self->fd, POSIX_TRACE_APPEND, &self->trid));
	say(&child.talk, 0);
	ASSERT_EQ(0, child_wait(&child));
	ASSERT_EQ(0, reopen(self->fd, &self->trid));
	ASSERT_EQ(1, look_at_all(self->trid, self->seen, 8));
	EXPECT_STREQ("exec_helper", self->seen[0].name);
	ASSERT_EQ(0, posixtrace_get_program(self->trid, child.pid, &self->seen[0].time, program,
					    sizeof(program), NULL));
	EXPECT_STREQ(HELPER, program);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

struct dying {
	int fd;
	int policy;
};

/* Records in a thread, which ends. The test then kills the process. */
static int die(void *arg, const struct talk *talk)
{
	const struct dying *dying = arg;
	pthread_t thread;
	trace_id_t trid;
	long err = withlog_begin(0, dying->fd, dying->policy, &trid);

	if (!err)
		err = pthread_create(&thread, NULL, record_with_two_names, NULL);
	if (!err)
		err = pthread_join(thread, NULL);
	say(talk, err);
	hear(talk);
	return 0;
}

static void expect_two_names(struct __test_metadata *_metadata, struct _test_data_names *self)
{
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->trid));
	ASSERT_EQ(2, look_at_all(self->trid, self->seen, 8));
	EXPECT_STREQ("first name", self->seen[0].name);
	EXPECT_STREQ("second name", self->seen[1].name);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(names, names_are_in_the_log_if_all_processes_were_killed)
{
	const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };
	struct dying dying = { self->fd, 0 };
	struct child child;

	for (int i = 0; i < 3; i++) {
		dying.policy = policies[i];
		ASSERT_EQ(0, ftruncate(self->fd, 0));
		ASSERT_EQ(0, child_start(&child, die, &dying));
		ASSERT_EQ(0, hear(&child.talk));
		ASSERT_EQ(SIGKILL, child_kill(&child));
		expect_two_names(_metadata, self);
	}
}

/* ------------------------------------------------------------------ */
/* Secrets								*/

FIXTURE(secret)
{
	char dir[64], path[96];
	int fd;
	struct child controller, child;
	struct program program;
};

FIXTURE_VARIANT(secret)
{
	int mode;
	bool shown;
};

FIXTURE_VARIANT_ADD(secret, plain) { 0755, true };
FIXTURE_VARIANT_ADD(secret, set_uid) { 04755, false };

FIXTURE_SETUP(secret)
{
	strcpy(self->dir, "/tmp/log_names.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	ASSERT_EQ(0, chmod(self->dir, 0755));
	snprintf(self->path, sizeof(self->path), "%s/" UNIQUE, self->dir);
	ASSERT_EQ(0, file_copy(HELPER, self->path));
	ASSERT_EQ(0, chown(self->path, OTHER, 0));
	ASSERT_EQ(0, chmod(self->path, variant->mode));
	self->program = (struct program){ .path = self->path, .number = 7 };
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(secret)
{
	close(self->fd);
	unlink(self->path);
	rmdir(self->dir);
}

static int become_user(void)
{
	return setgroups(0, NULL) || setresgid(USER, USER, USER) ||
	       setresuid(USER, USER, USER) || prctl(PR_SET_DUMPABLE, 1);
}

static int control(void *arg, const struct talk *talk)
{
	trace_id_t trid;

	if (become_user())
		return 1;
	say(talk, withlog_begin(hear(talk), *(int *)arg, POSIX_TRACE_APPEND, &trid));
	hear(talk);
	return posix_trace_shutdown(trid);
}

static int record_and_execute(void *arg, const struct talk *talk)
{
	if (become_user())
		return 1;
	record_plain(1);
	return execute_on_request(arg, talk);
}

TEST_F(secret, name_of_a_program_that_the_controller_may_not_trace)
{
	ASSERT_EQ(0, child_start(&self->controller, control, &self->fd));
	ASSERT_EQ(0, child_start(&self->child, record_and_execute, &self->program));
	ASSERT_EQ(0, hear(&self->child.talk));
	say(&self->controller.talk, self->child.pid);
	ASSERT_EQ(0, hear(&self->controller.talk));
	say(&self->child.talk, 0);
	ASSERT_EQ(0, child_wait(&self->child));
	EXPECT_EQ(0, child_wait(&self->controller));
	EXPECT_EQ(variant->shown, log_file_has(self->fd, UNIQUE));
	/* The log has the previous name in any case. */
	EXPECT_TRUE(log_file_has(self->fd, "log_names_test"));
}

/* ------------------------------------------------------------------ */
/* Bounds								*/

/* Runs a child that ends immediately. vfork() saves the time to copy the memory. */
static int __attribute__((noinline)) run_child(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	return pid < 0 || waitpid(pid, NULL, 0) != pid ? errno : 0;
}

static int fork_often(trace_id_t trid, int count)
{
	int err = 0;

	for (int i = 0; i < count && !err; i++) {
		err = run_child();
		if (!err && i % 50 == 49)
			err = withlog_flush(trid);
	}
	return err;
}

/* Runs with a long command line, which each child has. */
static int churn(int fd, int policy)
{
	trace_id_t trid;
	int err;

	record_plain(0);
	err = withlog_begin(0, fd, policy, &trid);
	if (!err)
		err = fork_often(trid, 1200);
	record_plain(1);
	return err ? err : posix_trace_shutdown(trid);
}

static int execute_churn(void *arg, const struct talk *talk)
{
	const struct dying *dying = arg;
	char text[5000], fd[16], policy[16];

	(void)talk;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	snprintf(fd, sizeof(fd), "%d", dup(dying->fd));
	snprintf(policy, sizeof(policy), "%d", dying->policy);
	execl("/proc/self/exe", "churn", fd, policy, text, (char *)NULL);
	return 1;
}

TEST_F_TIMEOUT(names, log_with_a_bound_stays_bounded_with_many_processes, 90)
{
	const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
	struct posixtrace_log_info info;
	struct posixtrace_log_header header;
	struct dying dying = { self->fd, 0 };
	struct child child;
	off_t end;

	for (int i = 0; i < 2; i++) {
		dying.policy = policies[i];
		ASSERT_EQ(0, ftruncate(self->fd, 0));
		ASSERT_EQ(0, child_start(&child, execute_churn, &dying));
		ASSERT_EQ(0, child_wait(&child));
		ASSERT_EQ(sizeof(header), pread(self->fd, &header, sizeof(header), 0));
		end = header.ring_size ? header.metadata_offset : sizeof(header);
		/*
		 * The limit was reached: the 1200 command lines have 4.8 MiB in total, which is
		 * more.
		 */
		EXPECT_LT(4 << 20, log_file_size(self->fd) - end);
		EXPECT_GT(9 << 19, log_file_size(self->fd) - end);
		ASSERT_EQ(0, posix_trace_open(self->fd, &self->trid));
		EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &info));
		EXPECT_EQ(POSIXTRACE_LOG_ENDED, info.flags);
		ASSERT_EQ(1, look_at_all(self->trid, self->seen, 8));
		EXPECT_STREQ("exe", self->seen[0].name);
		EXPECT_EQ(0, posix_trace_close(self->trid));
	}
}

/* Reads the next block. Returns true if it has user events, or negative errno. */
static int has_events(int fd, unsigned int nr_cpus)
{
	struct posixtrace_log_block block;
	char *payload;
	bool whole;

	if (!read_whole(fd, &block, sizeof(block)))
		return -EIO;
	payload = malloc(block.size + 1);
	whole = payload && read_whole(fd, payload, block.size);
	free(payload);
	if (!whole)
		return -EIO;
	return block.type == POSIXTRACE_LOG_EVENTS && block.cpu < nr_cpus;
}

static void *end_at_once(void *unused)
{
	return unused;
}

/* Makes more threads than a metadata block can name, so the log thread never catches up. */
static int make_threads(void)
{
	pthread_t thread;
	int err = 0;

	for (int i = 0; i < 30 && !err; i++) {
		err = pthread_create(&thread, NULL, end_at_once, NULL);
		if (!err)
			err = pthread_join(thread, NULL);
	}
	return err;
}

/* The test makes new threads for each block that it reads from the pipe. */
TEST_F_TIMEOUT(names, many_new_threads_do_not_keep_events_from_the_log, 90)
{
	struct posixtrace_log_header header;
	int pipe[2], blocks, ret = 0;

	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	ASSERT_LE(0, fcntl(pipe[1], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(0, withlog_begin(0, pipe[1], POSIX_TRACE_APPEND, &self->trid));
	ASSERT_TRUE(read_whole(pipe[0], &header, sizeof(header)));
	record_plain(1);
	/* Fill the pipe with the names of the threads. */
	for (int i = 0; i < 5; i++)
		ASSERT_EQ(0, make_threads());
	ASSERT_EQ(0, posix_trace_flush(self->trid));
	for (blocks = 0; blocks < 100 && !ret; blocks++) {
		ASSERT_EQ(0, make_threads());
		ret = has_events(pipe[0], header.nr_cpus);
	}
	EXPECT_EQ(1, ret);
	close(pipe[0]);
	posix_trace_shutdown(self->trid);
	close(pipe[1]);
}

struct again {
	int times;
	const struct talk *talk;
};

static void *execute_again(void *arg)
{
	const struct again *next = arg;
	char times[16], in[16], out[16];

	snprintf(times, sizeof(times), "%d", next->times);
	snprintf(in, sizeof(in), "%d", next->talk->in);
	snprintf(out, sizeof(out), "%d", next->talk->out);
	execl("/proc/self/exe", "again", times, in, out, (char *)NULL);
	return NULL;
}

/*
 * Makes another thread execute this program, @times times in succession. The last program reports
 * that it runs, and waits until the test ends it.
 */
static int again(int times, const struct talk *talk)
{
	const struct again next = { times - 1, talk };
	pthread_t thread;

	if (times) {
		pthread_create(&thread, NULL, execute_again, (void *)&next);
		pthread_join(thread, NULL);
		return 1;
	}
	say(talk, 0);
	hear(talk);
	return 0;
}

static int begin_again(void *arg, const struct talk *talk)
{
	const int *times = arg;

	fcntl(talk->in, F_SETFD, 0);
	fcntl(talk->out, F_SETFD, 0);
	say(talk, 0);
	hear(talk);
	return again(*times, talk);
}

/* Returns the number of thread names of a process in a sequential log. */
static int count_tasks(int fd, pid_t pid)
{
	const struct posixtrace_log_block *block;
	const struct posixtrace_log_task *task;
	unsigned long long seq = 1;
	unsigned int i, nr;
	struct logfile log;
	int count = 0;
	size_t pos;

	if (logfile_read(&log, fd))
		return -1;
	pos = log.header.data_offset;
	while ((block = logfile_block(&log, pos, seq++))) {
		task = (const void *)(block + 1);
		nr = block->type == POSIXTRACE_LOG_TASKS ? block->count : 0;
		for (i = 0; i < nr; i++)
			count += task[i].pid == pid;
		pos = logfile_next(block, pos);
	}
	logfile_free(&log);
	return count;
}

/* Each thread that executes the program takes over the id of the main thread. */
TEST_F(names, threads_that_executed_a_program_are_forgotten)
{
	int times = 20;
	struct child child;

	ASSERT_EQ(0, child_start(&child, begin_again, &times));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, withlog_begin(child.pid, self->fd, POSIX_TRACE_APPEND, &self->trid));
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, withlog_flush(self->trid));
	/* The log restarts, with everything that is known. */
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, withlog_flush(self->trid));
	EXPECT_EQ(1, count_tasks(self->fd, child.pid));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

int main(int argc, char **argv)
{
	struct talk talk;

	if (argc == 4 && !strcmp(argv[0], "again")) {
		talk = (struct talk){ .in = atoi(argv[2]), .out = atoi(argv[3]) };
		return again(atoi(argv[1]), &talk);
	}
	if (argc == 4 && !strcmp(argv[0], "churn"))
		return churn(atoi(argv[1]), atoi(argv[2]));
	return test_harness_run(argc, argv);
}
