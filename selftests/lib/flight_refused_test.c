// SPDX-License-Identifier: GPL-2.0
/*
 * The flight recorder of a program must do no harm: it opens no existing file, a set-user-ID
 * program has no recorder, and a wrong value only causes a line on standard error.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "pxt_test.h"
#include "credentials.h"
#include "flight.h"

FIXTURE(refused)
{
	struct flight run;
};

FIXTURE_SETUP(refused)
{
	ASSERT_EQ(0, flight_begin(&self->run));
	self->run.pattern = "a.log";
}

FIXTURE_TEARDOWN(refused)
{
	flight_end(&self->run);
}

/* Expects that the program ran without a recorder, and printed one line that contains @text. */
static void expect_refused(struct __test_metadata *_metadata, struct flight *run, const char *text)
{
	const int files = flight_files(run, false);
	const char *end;

	ASSERT_EQ(0, flight_run(run, "none"));
	EXPECT_TRUE(WIFEXITED(run->status));
	EXPECT_EQ(0, WEXITSTATUS(run->status)) TH_LOG("%s", run->out);
	EXPECT_EQ(0, strncmp("posixtrace: POSIXTRACE_RECORD", run->out, 29))
		TH_LOG("\"%s\"", run->out);
	EXPECT_NE(NULL, strstr(run->out, text)) TH_LOG("\"%s\" lacks \"%s\"", run->out, text);
	end = strchr(run->out, '\n');
	ASSERT_NE(NULL, end);
	EXPECT_STREQ("", end + 1);
	EXPECT_EQ(files, flight_files(run, false));
}

static void path_of(const struct flight *run, const char *name, char path[64])
{
	snprintf(path, 64, "%s/%s", run->dir, name);
}

/* Returns the number of events in a log of this name, or minus an error number. */
static int events_in(const struct flight *run, const char *name)
{
	struct log_content content;
	char path[64];
	int fd;

	path_of(run, name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	log_content_fd(fd, &content);
	close(fd);
	return content.err ? -content.err : content.numbers;
}

/* ------------------------------------------------------------------ */
/* Files								*/

TEST_F(refused, log_is_only_for_its_owner)
{
	struct stat stat;
	char path[64];

	ASSERT_EQ(0, flight_run(&self->run, "nothing"));
	path_of(&self->run, "a.log", path);
	ASSERT_EQ(0, lstat(path, &stat)) TH_LOG("%s", self->run.out);
	EXPECT_EQ(S_IFREG | 0600, stat.st_mode);
	EXPECT_EQ(geteuid(), stat.st_uid);
}

TEST_F(refused, file_that_exists_is_not_touched)
{
	char path[64], text[8] = "";
	int fd;

	path_of(&self->run, "a.log", path);
	fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
	ASSERT_EQ(4, write(fd, "mine", 4));
	ASSERT_EQ(0, flight_run(&self->run, "nothing"));
	EXPECT_STREQ("", self->run.out);
	EXPECT_EQ(4, pread(fd, text, sizeof(text), 0));
	EXPECT_STREQ("mine", text);
	EXPECT_LT(0, events_in(&self->run, "a.1.log"));
	EXPECT_EQ(2, flight_files(&self->run, false));
	close(fd);
}

TEST_F(refused, symbolic_link_is_not_followed)
{
	char path[64], target[64];

	path_of(&self->run, "a.log", path);
	path_of(&self->run, "target", target);
	ASSERT_EQ(0, symlink(target, path));
	ASSERT_EQ(0, flight_run(&self->run, "nothing"));
	EXPECT_STREQ("", self->run.out);
	EXPECT_EQ(-ENOENT, events_in(&self->run, "target"));
	EXPECT_EQ(-ELOOP, events_in(&self->run, "a.log"));
	EXPECT_LT(0, events_in(&self->run, "a.1.log"));
}

TEST_F(refused, number_goes_to_the_end_of_another_name)
{
	char path[64];

	self->run.pattern = "%%a";
	path_of(&self->run, "%a", path);
	ASSERT_EQ(0, mkdir(path, 0700));
	ASSERT_EQ(0, flight_run(&self->run, "nothing"));
	EXPECT_LT(0, events_in(&self->run, "%a.1")) TH_LOG("%s", self->run.out);
	EXPECT_EQ(0, rmdir(path));
}

/* Creates dangling links with the names a.log, a.1.log and so on, starting with number @first. */
static int take_names(const struct flight *run, int first, int count)
{
	char path[64];

	for (int i = first; i < first + count; i++) {
		if (i)
			snprintf(path, sizeof(path), "%s/a.%d.log", run->dir, i);
		else
			path_of(run, "a.log", path);
		if (symlink("nowhere", path))
			return -errno;
	}
	return 0;
}

TEST_F(refused, names_are_not_tried_without_end)
{
	ASSERT_EQ(0, take_names(&self->run, 0, 1000));
	expect_refused(_metadata, &self->run, "names");
}

TEST_F(refused, snapshot_has_the_next_number_that_is_free)
{
	ASSERT_EQ(0, take_names(&self->run, 1, 999));
	ASSERT_EQ(0, flight_run(&self->run, "snapshots"));
	EXPECT_EQ(SIGKILL, self->run.status) TH_LOG("%s", self->run.out);
	EXPECT_EQ(10, events_in(&self->run, "a.log"));
	EXPECT_EQ(10, events_in(&self->run, "a.1000.log"));
	EXPECT_EQ(10, events_in(&self->run, "a.1001.log"));
}

/* The name of the log is in the directory that the program starts in. */
static void make_relative(void)
{
	char *pattern = getenv("POSIXTRACE_RECORD"), *name = strrchr(pattern, '/');

	*name = '\0';
	if (chdir(pattern))
		_exit(102);
	setenv("POSIXTRACE_RECORD", name + 1, 1);
}

TEST_F(refused, relative_name_is_in_the_first_directory)
{
	char helper[PATH_MAX];

	ASSERT_NE(NULL, realpath(FLIGHT_HELPER, helper));
	self->run.program = helper;
	self->run.pattern = "relative.log";
	self->run.prepare = make_relative;
	ASSERT_EQ(0, flight_run(&self->run, "chdir"));
	EXPECT_EQ(0, self->run.status) TH_LOG("%s", self->run.out);
	EXPECT_LT(0, events_in(&self->run, "relative.log")) TH_LOG("%s", self->run.out);
	EXPECT_EQ(2, flight_files(&self->run, false));
}

TEST_F(refused, full_disk_leaves_no_file)
{
	char path[64], page[4096] = "";
	int fd;

	ASSERT_EQ(0, mount("none", self->run.dir, "tmpfs", 0, "size=4k,mode=777"));
	path_of(&self->run, "ballast", path);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	EXPECT_EQ(sizeof(page), write(fd, page, sizeof(page)));
	close(fd);
	expect_refused(_metadata, &self->run, "a.log: No space left on device");
	EXPECT_EQ(1, flight_files(&self->run, false));
	EXPECT_EQ(0, umount(self->run.dir));
}

/* ------------------------------------------------------------------ */
/* Rights and limits							*/

/* Makes a copy of the helper that runs as root when another user executes it. */
static int copy_helper(const char *path, mode_t mode)
{
	int from = open(FLIGHT_HELPER, O_RDONLY | O_CLOEXEC);
	int to = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
	char buffer[4096];
	ssize_t n = -1;

	while (from >= 0 && to >= 0 && (n = read(from, buffer, sizeof(buffer))) > 0) {
		if (write(to, buffer, n) != n)
			break;
	}
	if (n || fchmod(to, mode))
		n = -1;
	close(from);
	close(to);
	return n ? -1 : 0;
}

static void become_a_user(void)
{
	if (become_user(1000))
		_exit(102);
}

TEST_F(refused, set_user_id_program_ignores_the_variable)
{
	char program[64];

	self->run.program = program;
	self->run.prepare = become_a_user;
	path_of(&self->run, "set_user_id", program);
	ASSERT_EQ(0, copy_helper(program, 0755));
	ASSERT_EQ(0, flight_run(&self->run, "nothing"));
	EXPECT_LT(0, events_in(&self->run, "a.log")) TH_LOG("%s", self->run.out);

	flight_files(&self->run, true);
	ASSERT_EQ(0, copy_helper(program, 04755));
	ASSERT_EQ(0, flight_run(&self->run, "none"));
	EXPECT_EQ(0, self->run.status);
	EXPECT_STREQ("", self->run.out);
	EXPECT_EQ(1, flight_files(&self->run, false));
}

TEST_F(refused, set_user_id_program_does_not_pass_the_variable_on)
{
	char program[64];

	self->run.program = program;
	self->run.prepare = become_a_user;
	self->run.options = "size=1M";
	path_of(&self->run, "set_user_id", program);
	ASSERT_EQ(0, copy_helper(program, 04755));
	ASSERT_EQ(0, flight_run(&self->run, "become_root"));
	EXPECT_EQ(0, self->run.status);
	EXPECT_STREQ("", self->run.out);
	EXPECT_EQ(1, flight_files(&self->run, false));
}

static void limit_memory(void)
{
	const struct rlimit limit = { 64 << 10, 64 << 10 };

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || become_user(1000))
		_exit(102);
}

TEST_F(refused, memory_is_within_the_limit_of_the_user)
{
	self->run.prepare = limit_memory;
	self->run.options = "size=64M";
	expect_refused(_metadata, &self->run, "a.log: not enough memory");
}

TEST_F(refused, directory_without_permission_is_told)
{
	self->run.prepare = become_a_user;
	self->run.pattern = "/a.log";
	expect_refused(_metadata, &self->run, "/a.log: Permission denied");
}

static void close_standard_error(void)
{
	close(STDIN_FILENO);
	close(STDERR_FILENO);
}

TEST_F(refused, closed_standard_error_does_not_matter)
{
	self->run.prepare = close_standard_error;
	self->run.pattern = "%x";
	ASSERT_EQ(0, flight_run(&self->run, "none"));
	EXPECT_EQ(0, self->run.status);
	EXPECT_STREQ("", self->run.out);
}

static void lose_standard_error(void)
{
	int pair[2];

	signal(SIGPIPE, SIG_DFL);
	if (pipe(pair) || dup2(pair[1], STDERR_FILENO) < 0)
		_exit(102);
	close(pair[0]);
	close(pair[1]);
}

TEST_F(refused, standard_error_without_reader_does_not_matter)
{
	self->run.prepare = lose_standard_error;
	self->run.pattern = "%x";
	ASSERT_EQ(0, flight_run(&self->run, "none"));
	EXPECT_EQ(0, self->run.status);
}

/* ------------------------------------------------------------------ */
/* Values								*/

FIXTURE(value)
{
	struct flight run;
};

FIXTURE_VARIANT(value)
{
	const char *pattern;
	const char *options;
	const char *text;
};

FIXTURE_VARIANT_ADD(value, conversion_is_unknown) {
	"%x.log", NULL, "RECORD: only %p and %% are known (got \"%x\")" };
FIXTURE_VARIANT_ADD(value, conversion_is_cut) {
	"log%", NULL, "RECORD: only %p and %% are known (got \"%\")" };
FIXTURE_VARIANT_ADD(value, directory_does_not_exist) {
	"/nowhere/a.log", NULL, "/nowhere/a.log: No such file" };
FIXTURE_VARIANT_ADD(value, name_is_a_directory) { "/tmp/", NULL, "/tmp/: Is a directory" };
FIXTURE_VARIANT_ADD(value, option_is_unknown) { "a.log", "size=1M foo", "OPTIONS: unknown option" };
FIXTURE_VARIANT_ADD(value, option_is_no_flag) { "a.log", "size", "OPTIONS: size:" };
FIXTURE_VARIANT_ADD(value, flag_has_a_value) { "a.log", "children=1", "OPTIONS: unknown option" };
FIXTURE_VARIANT_ADD(value, size_is_no_number) { "a.log", "size=many", "OPTIONS: size: " };
FIXTURE_VARIANT_ADD(value, size_is_zero) { "a.log", "size=0", "OPTIONS: size: " };
FIXTURE_VARIANT_ADD(value, size_is_too_large) { "a.log", "size=2G", "OPTIONS: size: " };
FIXTURE_VARIANT_ADD(value, size_is_huge) {
	"a.log", "size=18446744073709551617", "OPTIONS: size: " };
FIXTURE_VARIANT_ADD(value, size_is_negative) { "a.log", "size=-1", "OPTIONS: size: " };
FIXTURE_VARIANT_ADD(value, unit_is_unknown) { "a.log", "size=1MB", "(got \"1MB\")" };
FIXTURE_VARIANT_ADD(value, data_size_is_too_large) {
	"a.log", "data-size=65489", "OPTIONS: data-size: " };
FIXTURE_VARIANT_ADD(value, class_is_unknown) { "a.log", "kernel=sched,foo", "(got \"foo\")" };
FIXTURE_VARIANT_ADD(value, class_is_empty) { "a.log", "kernel=", "OPTIONS: kernel: " };
FIXTURE_VARIANT_ADD(value, order_is_unknown) { "a.log", "order=any", "OPTIONS: order: " };
FIXTURE_VARIANT_ADD(value, option_has_control_characters) {
	"a.log", "\033[31m", "(got \"?[31m\")" };
FIXTURE_VARIANT_ADD(value, option_has_other_control_characters) {
	"a.log", "\23331m\302\23331m\177", "(got \"?31m??31m?\")" };

FIXTURE_SETUP(value)
{
	ASSERT_EQ(0, flight_begin(&self->run));
	self->run.pattern = variant->pattern;
	self->run.options = variant->options;
}

FIXTURE_TEARDOWN(value)
{
	flight_end(&self->run);
}

TEST_F(value, is_refused_in_one_line)
{
	expect_refused(_metadata, &self->run, variant->text);
}

TEST_F(refused, name_is_too_long)
{
	char name[PATH_MAX + 1];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	self->run.pattern = name;
	expect_refused(_metadata, &self->run, "the log: File name too long");
}

TEST_HARNESS_MAIN
