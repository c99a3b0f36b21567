// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings in logs: for each event, the file that contains its address, even if the library was
 * unloaded or the process is gone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <linux/posixtrace_log.h>
#include <posixtrace.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "pxt_test.h"
#include "exec.h"
#include "points_plugin.h"
#include "textfile.h"
#include "withlog.h"

#define PLUGIN		"./points_plugin.so"
#define EVENTS_MAX	16

/* An event of a log, and the mapping at its address. */
struct seen {
	pid_t pid;
	struct timespec time;
	const char *address;
	int err;		/* error from asking for the mapping */
	struct posixtrace_mapping_info mapping;
};

FIXTURE(mappings)
{
	int fd;
	trace_id_t trid;
	char program[PATH_MAX];
	struct seen seen[EVENTS_MAX];
};

FIXTURE_SETUP(mappings)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	ASSERT_NE(NULL, realpath("/proc/self/exe", self->program));
}

FIXTURE_TEARDOWN(mappings)
{
	close(self->fd);
}

static void ask(trace_id_t trid, struct seen *seen)
{
	seen->err = posixtrace_get_mapping(trid, seen->pid, &seen->time, seen->address,
					   &seen->mapping);
}

/* Reads up to @max user events. Returns their number, or minus an error number. */
static int look_at_all(trace_id_t trid, struct seen *seen, int max)
{
	struct posixtrace_batch_event event;
	int data[256], n = 0, ret;

	while ((ret = take_user_batch(trid, &event, data, sizeof(data))) == 1) {
		if (n == max)
			continue;
		seen[n].pid = event.event.posix_pid;
		seen[n].time = event.event.posix_timestamp;
		seen[n].address = event.event.posix_prog_address;
		ask(trid, &seen[n++]);
	}
	return ret ? ret : n;
}

/* Ends the stream, and reads its log. Returns the number of user events. */
static int read_back(struct _test_data_mappings *self)
{
	int err = posix_trace_shutdown(self->trid);

	if (!err)
		err = posix_trace_open(self->fd, &self->trid);
	return err ? -err : look_at_all(self->trid, self->seen, EVENTS_MAX);
}

/* The file that the dynamic linker finds at an address, with its build id. */
struct wanted {
	const char *address;
	unsigned int size;
	unsigned char id[64];
};

static bool is_inside(const struct dl_phdr_info *info, const char *address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *segment = &info->dlpi_phdr[i];
		const char *start = (const char *)(info->dlpi_addr + segment->p_vaddr);

		if (segment->p_type == PT_LOAD && address >= start &&
		    address < start + segment->p_memsz)
			return true;
	}
	return false;
}

static void look_for_build_id(const char *notes, size_t size, struct wanted *wanted)
{
	const Elf64_Nhdr *note;

	for (size_t pos = 0; pos + sizeof(*note) < size;) {
		note = (const void *)(notes + pos);
		pos += sizeof(*note) + (note->n_namesz + 3) / 4 * 4;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    note->n_descsz <= sizeof(wanted->id)) {
			memcpy(wanted->id, notes + pos, note->n_descsz);
			wanted->size = note->n_descsz;
		}
		pos += (note->n_descsz + 3) / 4 * 4;
	}
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct wanted *wanted = data;

	(void)size;
	if (!is_inside(info, wanted->address))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_NOTE)
			look_for_build_id((const char *)(info->dlpi_addr + segment->p_vaddr),
					  segment->p_memsz, wanted);
	}
	return 1;
}

static void expect_mapping(struct __test_metadata *_metadata, const struct seen *seen,
			   const char *path, const struct wanted *wanted)
{
	const struct posixtrace_mapping_info *mapping = &seen->mapping;

	ASSERT_EQ(0, seen->err);
	EXPECT_STREQ(path, mapping->path);
	EXPECT_LE(mapping->address, (uintptr_t)seen->address);
	EXPECT_GT(mapping->address + mapping->size, (uintptr_t)seen->address);
	EXPECT_LT(0, wanted->size);
	ASSERT_EQ(wanted->size, mapping->build_id_size);
	EXPECT_EQ(0, memcmp(wanted->id, mapping->build_id, wanted->size));
}

/* ------------------------------------------------------------------ */
/* The program								*/

/* Are the bytes in the file, at the offset that the mapping gives, the same as in memory? */
static bool file_has_code(const struct seen *seen)
{
	const struct posixtrace_mapping_info *mapping = &seen->mapping;
	off_t offset = (uintptr_t)seen->address - mapping->address + mapping->offset;
	int fd = open(mapping->path, O_RDONLY);
	char code[16];
	bool same = pread(fd, code, sizeof(code), offset) == sizeof(code) &&
		    !memcmp(code, seen->address, sizeof(code));

	close(fd);
	return same;
}

TEST_F(mappings, event_has_the_file_of_its_address)
{
	const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };
	struct wanted wanted;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, ftruncate(self->fd, 0));
		ASSERT_EQ(0, withlog_begin(0, self->fd, policies[i], &self->trid));
		record_plain(1);
		ASSERT_EQ(1, read_back(self));
		wanted = (struct wanted){ .address = self->seen[0].address };
		dl_iterate_phdr(look_at_object, &wanted);
		expect_mapping(_metadata, &self->seen[0], self->program, &wanted);
		EXPECT_TRUE(file_has_code(&self->seen[0]));
		EXPECT_EQ(0, posix_trace_close(self->trid));
	}
}

TEST_F(mappings, process_that_recorded_before_the_stream)
{
	record_plain(0);
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	record_plain(1);
	ASSERT_EQ(1, read_back(self));
	EXPECT_EQ(0, self->seen[0].err);
	EXPECT_STREQ(self->program, self->seen[0].mapping.path);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(mappings, cleared_log_has_the_mappings)
{
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	record_plain(1);
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	record_plain(2);
	ASSERT_EQ(1, read_back(self));
	EXPECT_EQ(0, self->seen[0].err);
	EXPECT_STREQ(self->program, self->seen[0].mapping.path);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(mappings, addresses_without_a_file)
{
	struct posixtrace_mapping_info info;
	struct seen *seen = self->seen;

	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	record_plain(1);
	ASSERT_EQ(1, read_back(self));
	EXPECT_EQ(ENOENT, posixtrace_get_mapping(self->trid, seen->pid, &seen->time, NULL, &info));
	EXPECT_EQ(ENOENT, posixtrace_get_mapping(self->trid, seen->pid, &seen->time, &info,
						 &info));
	EXPECT_EQ(ENOENT, posixtrace_get_mapping(self->trid, seen->pid + 1, &seen->time,
						 seen->address, &info));
	EXPECT_EQ(EINVAL, posixtrace_get_mapping(self->trid, seen->pid, NULL, NULL, &info));
	EXPECT_EQ(EINVAL, posixtrace_get_mapping(self->trid, seen->pid, &seen->time, NULL, NULL));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	EXPECT_EQ(EINVAL, posixtrace_get_mapping(self->trid, seen->pid, &seen->time, NULL, &info));
}

TEST_F(mappings, active_stream_has_the_current_mappings)
{
	struct seen *seen = self->seen;
	unsigned long long next = 0;
	size_t count;

	ASSERT_EQ(0, posix_trace_create(0, NULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_plain(1);
	errno = 4711;
	ASSERT_EQ(1, look_at_all(self->trid, seen, EVENTS_MAX));
	EXPECT_EQ(4711, errno);
	ASSERT_EQ(0, seen->err);
	EXPECT_STREQ(self->program, seen->mapping.path);
	EXPECT_TRUE(file_has_code(seen));
	seen->address = NULL;
	ask(self->trid, seen);
	EXPECT_EQ(ENOENT, seen->err);
	EXPECT_EQ(ENOTSUP, posixtrace_get_mappings(self->trid, &seen->mapping, 1, &count, &next));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* A thread with a pending cancellation that asks for a mapping. */
struct question {
	trace_id_t trid;
	struct posixtrace_mapping_info mapping;
	struct posixtrace_host_info host;
	char name[POSIXTRACE_THREAD_NAME_SIZE];
	char program[POSIXTRACE_PROGRAM_SIZE];
	int answers;
};

static void *ask_cancelled(void *arg)
{
	struct question *question = arg;
	const unsigned long long at = clock_now(CLOCK_REALTIME);
	const struct timespec time = { .tv_sec = at / NSEC, .tv_nsec = at % NSEC };
	trace_id_t trid = question->trid;
	pid_t pid = getpid();

	pthread_cancel(pthread_self());
	question->answers += !posixtrace_get_mapping(trid, pid, &time, ask_cancelled,
						     &question->mapping);
	question->answers += !posixtrace_get_thread_name(trid, pid, pid, &time, question->name);
	question->answers += !posixtrace_get_program(trid, pid, &time, question->program,
						     sizeof(question->program), NULL);
	question->answers += !posixtrace_get_host(trid, &question->host);
	pthread_testcancel();
	return NULL;
}

TEST_F(mappings, no_cancellation_point)
{
	struct question question = { 0 };
	pthread_t thread;
	void *result;

	ASSERT_EQ(0, posix_trace_create(0, NULL, &question.trid));
	ASSERT_EQ(0, pthread_create(&thread, NULL, ask_cancelled, &question));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
	EXPECT_EQ(4, question.answers);
	EXPECT_STREQ(self->program, question.mapping.path);
	/* Shutdown would wait if the cancelled thread still counted as a user of the stream. */
	EXPECT_EQ(0, posix_trace_shutdown(question.trid));
}

/* ------------------------------------------------------------------ */
/* Libraries								*/

static int open_type(int number)
{
	trace_event_id_t id;
	char name[32];

	snprintf(name, sizeof(name), "of the mappings %d", number);
	return posix_trace_eventid_open(name, &id);
}

/* Loads the plug-in, which records, and unloads it. Gets its build id. */
static bool use_plugin(const char *path, struct wanted *wanted)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*record)(int number);

	if (!library)
		return false;
	*(void **)&record = dlsym(library, "plugin_record");
	record(1);
	*wanted = (struct wanted){ .address = *(void **)&record };
	dl_iterate_phdr(look_at_object, wanted);
	return !dlclose(library);
}

/* The constructor, the function and the destructor record. */
TEST_F(mappings, library_that_was_loaded_later_and_unloaded)
{
	char path[PATH_MAX];
	struct wanted wanted;

	ASSERT_NE(NULL, realpath(PLUGIN, path));
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	record_plain(0);
	ASSERT_TRUE(use_plugin(PLUGIN, &wanted));
	/*
	 * When it opens a type, the process checks its mappings again, and finds that the library
	 * is gone.
	 */
	ASSERT_EQ(0, open_type(1));
	ASSERT_EQ(4, read_back(self));
	EXPECT_STREQ(self->program, self->seen[0].mapping.path);
	for (int i = 1; i < 4; i++)
		expect_mapping(_metadata, &self->seen[i], path, &wanted);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

/* Two libraries are loaded at the same address in turn, more often than the log is written. */
TEST_F(mappings, library_at_the_place_of_another)
{
	const char *const paths[] = {
		"/tmp/log_mappings_one.so", "/tmp/log_mappings_two.so",
		"/tmp/log_mappings_one.so", "/tmp/log_mappings_two.so",
	};
	const int each = 3;
	struct wanted wanted;
	int n;

	ASSERT_EQ(0, file_copy(PLUGIN, paths[0]));
	ASSERT_EQ(0, file_copy(PLUGIN, paths[1]));
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	for (int i = 0; i < 4; i++) {
		ASSERT_TRUE(use_plugin(paths[i], &wanted));
		/* Opening a type checks the mappings. Those that were unloaded are kept. */
		ASSERT_EQ(0, open_type(100 + i));
	}
	n = read_back(self);
	ASSERT_EQ(4 * each, n);
	for (int i = 0; i < n; i++) {
		ASSERT_EQ(0, self->seen[i].err);
		EXPECT_STREQ(paths[i / each], self->seen[i].mapping.path);
	}
	EXPECT_EQ(0, posix_trace_close(self->trid));
	ASSERT_EQ(0, unlink(paths[0]) || unlink(paths[1]));
}

TEST_F(mappings, library_whose_file_was_deleted)
{
	char path[] = "/tmp/log_mappings_plugin.so", deleted[64];
	struct wanted wanted;

	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	ASSERT_EQ(0, file_copy(PLUGIN, path));
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	ASSERT_NE(NULL, dlopen(path, RTLD_NOW | RTLD_LOCAL));
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, unlink(path));
	/* The plug-in changes the hash of the mappings, so the process checks them again. */
	ASSERT_TRUE(use_plugin(PLUGIN, &wanted));
	ASSERT_LE(2, read_back(self));
	EXPECT_STREQ(path, self->seen[0].mapping.path);
	self->seen[0].time.tv_sec++;
	ask(self->trid, &self->seen[0]);
	EXPECT_STREQ(deleted, self->seen[0].mapping.path);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

/* Creates directories below the current one, and enters them. */
static int descend(int depth, const char *name)
{
	int err = 0;

	while (depth-- && !err)
		err = mkdir(name, 0700) || chdir(name) ? errno : 0;
	return err;
}

TEST_F(mappings, path_that_is_too_long_is_left_out)
{
	char dir[] = "/tmp/log_mappings.XXXXXX", plugin[PATH_MAX], here[PATH_MAX], name[200];
	struct wanted wanted;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ASSERT_NE(NULL, getcwd(here, sizeof(here)));
	ASSERT_NE(NULL, realpath(PLUGIN, plugin));
	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, chdir(dir));
	ASSERT_EQ(0, descend(6, name));
	ASSERT_EQ(0, file_copy(plugin, "plugin.so"));
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	ASSERT_TRUE(use_plugin("./plugin.so", &wanted));
	ASSERT_EQ(3, read_back(self));
	expect_mapping(_metadata, &self->seen[1], "", &wanted);
	EXPECT_EQ(0, posix_trace_close(self->trid));
	ASSERT_EQ(0, unlink("plugin.so"));
	for (int i = 0; i < 6; i++)
		ASSERT_EQ(0, chdir("..") || rmdir(name));
	ASSERT_EQ(0, rmdir(dir));
	ASSERT_EQ(0, chdir(here));
}

/* ------------------------------------------------------------------ */
/* Processes								*/

static int record_once(void *arg, const struct talk *talk)
{
	(void)talk;
	if (arg)
		record_plain(1);
	return 0;
}

TEST_F(mappings, children_that_record_have_their_own_mappings)
{
	struct child silent, child;

	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	record_plain(0);
	ASSERT_EQ(0, child_start(&silent, record_once, NULL));
	ASSERT_EQ(0, child_wait(&silent));
	ASSERT_EQ(0, child_start(&child, record_once, self));
	ASSERT_EQ(0, child_wait(&child));
	ASSERT_EQ(2, read_back(self));
	EXPECT_EQ(child.pid, self->seen[1].pid);
	EXPECT_STREQ(self->program, self->seen[1].mapping.path);
	/* The log has no mappings of processes without events. Otherwise shells would fill it. */
	self->seen[1].pid = silent.pid;
	ask(self->trid, &self->seen[1]);
	EXPECT_EQ(ENOENT, self->seen[1].err);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

static int record_and_execute(void *arg, const struct talk *talk)
{
	record_plain(1);
	return execute_on_request(arg, talk);
}

/*
 * Each event must have the mapping of its own program, with or without a flush between the two
 * programs.
 */
TEST_F(mappings, executed_program_has_other_mappings)
{
	struct program helper = { .path = HELPER, .number = 7 };
	char path[PATH_MAX], program[POSIXTRACE_PROGRAM_SIZE];
	struct seen *seen = self->seen;
	struct child child;

	ASSERT_NE(NULL, realpath(HELPER, path));
	for (int flushes = 0; flushes < 2; flushes++) {
		ASSERT_EQ(0, ftruncate(self->fd, 0));
		ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
		ASSERT_EQ(0, child_start(&child, record_and_execute, &helper));
		ASSERT_EQ(0, hear(&child.talk));
		if (flushes)
			ASSERT_EQ(0, withlog_flush(self->trid));
		say(&child.talk, 0);
		ASSERT_EQ(0, child_wait(&child));
		ASSERT_EQ(2, read_back(self));
		EXPECT_STREQ(self->program, seen[0].mapping.path);
		EXPECT_STREQ(path, seen[1].mapping.path);
		EXPECT_EQ(0, posixtrace_get_program(self->trid, child.pid, &seen[0].time, program,
						    sizeof(program), NULL));
		EXPECT_STRNE(HELPER, program);
		EXPECT_EQ(0, posixtrace_get_program(self->trid, child.pid, &seen[1].time, program,
						    sizeof(program), NULL));
		EXPECT_STREQ(HELPER, program);
		EXPECT_EQ(0, posix_trace_close(self->trid));
	}
}

/* ------------------------------------------------------------------ */
/* Processes with many or changing mappings				*/

/* Maps code of a file more often than the log can hold. */
TEST_F(mappings, process_with_many_mappings)
{
	size_t page = sysconf(_SC_PAGESIZE);
	int fd = open(PLUGIN, O_RDONLY);
	struct wanted wanted;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	for (int i = 0; i < 1200; i++)
		ASSERT_NE(MAP_FAILED, mmap(NULL, page, PROT_READ | (i % 2 ? PROT_EXEC : 0),
					   MAP_PRIVATE, fd, 0));
	ASSERT_EQ(0, open_type(1));
	ASSERT_TRUE(use_plugin(PLUGIN, &wanted));
	record_plain(1);
	ASSERT_EQ(4, read_back(self));
	/* The program has the lowest addresses. */
	EXPECT_STREQ(self->program, self->seen[3].mapping.path);
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(fd);
}

/* Makes a file that looks like a library, but has a mistake that depends on @seed. */
static void spoil(char *image, size_t size, unsigned int seed)
{
	Elf64_Ehdr *head = (Elf64_Ehdr *)image;
	Elf64_Phdr *segment = (Elf64_Phdr *)(image + head->e_phoff);

	switch (seed % 8) {
	case 0:
		head->e_phnum = 0xffff;
		break;
	case 1:
		head->e_phoff = ~0ULL - seed;
		break;
	case 2:
		head->e_ident[EI_CLASS] = ELFCLASS32;
		break;
	case 3:
		head->e_phentsize = seed;
		break;
	default:
		for (int i = 0; i < head->e_phnum; i++) {
			segment[i].p_type = PT_NOTE;
			segment[i].p_offset = seed % 16 < 8 ? ~0ULL - seed : seed * 4;
			segment[i].p_filesz = seed % 3 ? ~0ULL : seed;
		}
		for (size_t i = seed * 4; i + 4 < size; i += 4)
			*(unsigned int *)(image + i) =
				rand() % 5 ? rand() % 64U : ~0U - rand() % 8;
	}
}

TEST_F(mappings, files_that_look_like_libraries)
{
	size_t size = 4 * sysconf(_SC_PAGESIZE);
	int plugin = open(PLUGIN, O_RDONLY), fd;
	char *image, *code;

	ASSERT_LE(0, plugin);
	image = malloc(size);
	ASSERT_NE(NULL, image);
	ASSERT_EQ(0, withlog_begin(0, self->fd, POSIX_TRACE_APPEND, &self->trid));
	record_plain(1);
	srand(2018);
	for (unsigned int seed = 0; seed < 200; seed++) {
		ASSERT_EQ(size, pread(plugin, image, size, 0));
		spoil(image, size, seed);
		fd = log_tmpfile();
		ASSERT_EQ(size, write(fd, image, size));
		/* Half of the files are shorter than their mapping. */
		ASSERT_EQ(0, ftruncate(fd, seed % 2 ? size : 0));
		code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		ASSERT_NE(MAP_FAILED, code);
		ASSERT_EQ(0, open_type(seed));
		ASSERT_EQ(0, munmap(code, size));
		close(fd);
	}
	ASSERT_EQ(1, read_back(self));
	EXPECT_STREQ(self->program, self->seen[0].mapping.path);
	EXPECT_EQ(0, posix_trace_close(self->trid));
	free(image);
	close(plugin);
}

struct dying {
	int fd;
};

static int die(void *arg, const struct talk *talk)
{
	const struct dying *dying = arg;
	trace_id_t trid;
	long err = withlog_begin(0, dying->fd, POSIX_TRACE_APPEND, &trid);

	record_plain(1);
	say(talk, err);
	hear(talk);
	return 0;
}

TEST_F(mappings, mappings_are_in_the_log_if_all_processes_were_killed)
{
	struct dying dying = { self->fd };
	struct child child;

	ASSERT_EQ(0, child_start(&child, die, &dying));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(SIGKILL, child_kill(&child));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->trid));
	ASSERT_EQ(1, look_at_all(self->trid, self->seen, EVENTS_MAX));
	EXPECT_EQ(0, self->seen[0].err);
	EXPECT_STREQ(self->program, self->seen[0].mapping.path);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_HARNESS_MAIN
