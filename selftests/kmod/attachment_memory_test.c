// SPDX-License-Identifier: GPL-2.0
/*
 * The memory cost of untraced processes that attached. Every program with the library attaches, so
 * the whole system pays this cost.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "pxt_test.h"
#include "memgroup.h"
#include "process.h"
#include "uapi.h"

#define PROCESSES	1000

/*
 * Bytes of kernel memory per attached process, without page tables: the struct file and inode of
 * the device, a mapping, and the attachment. 1236 bytes on Linux 6.1, 1036 on 6.12.
 */
#define MEMORY_MIN	512
#define MEMORY_MAX	1400

/* Data that all processes share. */
static struct {
	__u64 offset;		/* for mmap(): the kernel attaches or refuses */
	pid_t pid[PROCESSES];
} *crowd;

/*
 * Attaches the process. All processes do the same, so that they touch the same private pages. A
 * process without a gate reads @none instead.
 */
static int attach(void)
{
	static const struct posixtrace_gate none;
	const struct posixtrace_gate *gate;
	int fd = device_open();

	if (fd < 0)
		return 1;
	gate = mmap(NULL, sizeof(*gate), PROT_READ, MAP_SHARED, fd, crowd->offset);
	close(fd);
	if (gate == MAP_FAILED)
		gate = &none;
	return LOAD(gate->generation) ? 2 : 0;
}

static int idle_crowd(void *arg, const struct talk *talk)
{
	int ready[2], end[2], i;
	char byte = 0;
	pid_t pid;

	(void)arg;
	if (memgroup_enter() || pipe(ready) || pipe(end))
		return 1;
	for (i = 0; i < PROCESSES; i++) {
		pid = fork();
		if (pid < 0)
			break;
		if (!pid) {
			close(end[1]);
			byte = attach();
			if (write(ready[1], &byte, 1) != 1)
				_exit(1);
			_exit(read(end[0], &byte, 1));
		}
		crowd->pid[i] = pid;
		if (read(ready[0], &byte, 1) != 1 || byte)
			break;
	}
	say(talk, i);
	hear(talk);
	close(end[1]);
	while (wait(NULL) > 0)
		;
	return i != PROCESSES;
}

/* Returns the size of a process's page tables in bytes, or -1. */
static long page_tables(pid_t pid)
{
	char path[64], line[128];
	long size = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "VmPTE: %ld kB", &size) == 1)
			size *= 1024;
	}
	fclose(file);
	return size;
}

struct memory {
	long all;
	long tables;
};

static void measure(struct __test_metadata *_metadata, __u64 offset, struct memory *memory)
{
	struct child child;
	long size;

	crowd->offset = offset;
	ASSERT_EQ(0, memgroup_begin("max"));
	ASSERT_EQ(0, child_start(&child, idle_crowd, NULL));
	ASSERT_EQ(PROCESSES, hear(&child.talk));
	ASSERT_EQ(0, memgroup_shrink());
	memory->all = memgroup_current();
	memory->tables = 0;
	for (int i = 0; i < PROCESSES; i++) {
		size = page_tables(crowd->pid[i]);
		ASSERT_LT(0, size) TH_LOG("process %d", i);
		memory->tables += size;
	}
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, memgroup_end());
}

FIXTURE(crowd)
{
	int unused;
};

FIXTURE_SETUP(crowd)
{
	crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, crowd);
}

FIXTURE_TEARDOWN(crowd)
{
	munmap(crowd, sizeof(*crowd));
}

TEST_F_TIMEOUT(crowd, attached_processes_use_little_memory, 120)
{
	const __u64 refused = POSIXTRACE_ATTACH_OFFSET(POSIXTRACE_ABI_VERSION + 1);
	const __u64 attached = POSIXTRACE_ATTACH_OFFSET(POSIXTRACE_ABI_VERSION);
	struct memory without, with;
	long all, tables;

	/*
	 * Do this once before the measurement: the first processes make the kernel allocate memory
	 * that it does not free.
	 */
	measure(_metadata, attached, &with);
	measure(_metadata, refused, &without);
	measure(_metadata, attached, &with);
	all = (with.all - without.all) / PROCESSES;
	tables = (with.tables - without.tables) / PROCESSES;
	TH_LOG("a process: %ld bytes without attachment, %ld more with it, %ld of them page tables",
	       without.all / PROCESSES, all, tables);
	EXPECT_GT(MEMORY_MAX, all - tables);
	/* A smaller value means that the test does not measure the attachment. */
	EXPECT_LT(MEMORY_MIN, all - tables);
}

TEST_HARNESS_MAIN
