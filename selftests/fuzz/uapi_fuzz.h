/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random calls of /dev/posixtrace. A supervisor runs some workers, which are processes with a
 * few threads each. A thread generates programs, which are short lists of calls, and runs them.
 * The threads of a worker deliberately write shared data without locks: the worst effect is an
 * odd argument.
 *
 * A call consists of a few numbers: its operation, its object, how it is spoiled, and a seed for
 * the rest. Programs can thus be kept and mutated, and a seed repeats the same calls.
 */
#ifndef _SELFTESTS_UAPI_FUZZ_H
#define _SELFTESTS_UAPI_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/posixtrace.h>

#ifndef __x86_64__
#error "knows the system calls of x86-64 only"
#endif

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define WORKERS_MAX	8
#define THREADS_MAX	4	/* threads of a worker, with its first one */
#define FILES_MAX	20
#define MAPPINGS_MAX	32
#define CALLS_MAX	24	/* calls of a program */
#define CORPUS_SIZE	4096
#define OPS_MAX		96
#define PIPES		2
#define LOG_KINDS	9
#define ERRORS_MAX	134	/* error numbers are smaller than this */

/* Address of the fuzzer's own data. No call uses this address, so no call can damage the data. */
#define SHARED_ADDRESS	0x50000000UL
#define SHARED_FD	500
#define KCOV_FD		510	/* descriptors of KCOV start here */
#define PIPE_FD		530	/* descriptors of pipes start here */
#define COVER_ADDRESS	0x60000000UL
/* Calls that need a fixed address use memory here. */
#define PLAYGROUND	0x6000000000UL
#define PLAYGROUND_SIZE	(64UL << 20)

/*
 * Memory for the arguments of one thread. It is below 4 GiB, for the calls of 32-bit programs. It
 * has two pages, a third page that is inaccessible, a read-only alias of the first one, and space
 * for memory to which arguments point.
 */
#define ARENA_SIZE	(256UL << 10)
#define ARENA_WRAP	2048UL		/* for CHECKED */
#define ARENA_HOLE	(8UL << 10)
#define ARENA_CONST	(16UL << 10)
#define ARENA_DATA	(64UL << 10)
#define ARENA_DATA_SIZE	(128UL << 10)
#define ARG_MAX		1024UL

/* Arenas of a worker: one per thread, and one for all its children. */
#define ARENAS		(THREADS_MAX + 1)

struct call {
	uint8_t op;
	uint8_t how;	/* how it is spoiled: see uapi_args.c */
	uint16_t pick;
	uint32_t seed;
};

struct program {
	uint32_t len;
	struct call calls[CALLS_MAX];
};

enum role {
	ROLE_NONE,
	ROLE_STREAM,
	ROLE_TARGET,
	ROLE_ANY,
};

/* A file of the device. The contents may be outdated. */
struct file {
	int fd;		/* 0: none */
	enum role role;
	unsigned int log_kind;	/* kind of its log, if it is a stream with log */
	struct posixtrace_create create;
	struct posixtrace_attach attach;
	struct posixtrace_slot slots[POSIXTRACE_SLOTS_MAX];
};

enum part {
	PART_READER,
	PART_VIEW,	/* ctrl, heads and pool of a stream */
	PART_RING,	/* heads and pool of a slot */
	PART_GATE,
	PART_WAKEUP,
	PART_OTHER,
	PARTS,
};

struct mapping {
	uintptr_t addr;	/* 0: none */
	size_t len;
	enum part part;
	int fd;
	uint32_t slot;
	uint64_t stream;
	uint64_t heads_size;
	uint32_t subbuf_size;
	uint32_t max_data;
};

/* The objects of the threads of a process. */
struct objects {
	struct file files[FILES_MAX];
	struct mapping mappings[MAPPINGS_MAX];
	pid_t children[8];
};

/* Counters of an operation. All threads of one worker write them. */
struct count {
	uint64_t calls;
	uint64_t good;
	uint64_t time;	/* total time in CPU cycles */
	uint32_t errors[ERRORS_MAX];
};

struct worker {
	pid_t pid;
	uint32_t restarts;
	uint64_t execs;
	uint64_t progress[THREADS_MAX];	/* number of calls so far, for each thread */
	uint32_t doing[THREADS_MAX];	/* current operation of each thread */
	uint64_t digest;		/* hash of the calls of the first thread */
	struct count counts[OPS_MAX];
};

struct options {
	uint64_t seed;
	uint64_t calls;		/* number of calls to make; 0: until stopped */
	unsigned int seconds;
	unsigned int workers;
	unsigned int threads;
	bool feedback;
	bool alone;		/* repeatable run: the same seed makes the same calls */
	bool print;		/* print the calls of a single thread */
};

/* Data that all processes share. */
struct shared {
	char arenas[WORKERS_MAX][ARENAS][ARENA_SIZE];
	struct options options;
	uint32_t logs[LOG_KINDS];	/* counts of streams, by kind of log; written by workers */
	char fuse_path[64];	/* written by the supervisor before workers start */
	int stop;
	uint64_t calls;		/* for workers with a limited number of calls */
	uint64_t kills;
	struct worker workers[WORKERS_MAX];
	uint32_t corpus_len;
	uint32_t new_edges;
	struct program corpus[CORPUS_SIZE];
	uint8_t edges[1 << 18];
	uint8_t points[1 << 20];
};

/* A thread of a worker, or a child process of a worker. It makes calls. */
struct actor {
	struct objects *objects;
	struct worker *worker;
	unsigned int thread;	/* number of the thread; THREADS_MAX: a child */
	char *arena;
	uint64_t random;	/* state of the random numbers for programs */
	uint64_t call_random;	/* state of the random numbers within a call */
	struct call call;
	unsigned int log_kind;	/* kind of the last log that it opened */
	enum part want;		/* part to map next; PARTS: any */
	uint64_t *cover;	/* coverage buffer of KCOV, or NULL */
	uint64_t edges_found;
};

extern struct shared *shared;

/* ------------------------------------------------------------------ */
/* uapi_access.c							*/

long sys6(long nr, long a, long b, long c, long d, long e, long f);
long sys_ioctl32(int fd, unsigned int cmd, uint32_t arg);

#define sys(nr, ...)	sys_(nr, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define sys_(nr, a, b, c, d, e, f, ...) \
	sys6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Access memory. Return 0 or -EFAULT, because other threads may unmap the memory at any time. */
long peek(const void *addr, uint64_t *value);
long poke(void *addr, uint64_t value);
long poke4(void *addr, uint32_t value);
long cas(void *addr, uint64_t before, uint64_t after);	/* 1: the value differed */
long copy(void *to, const void *from, size_t len);

void access_init(void);

/* Labels before and after the code of these functions. */
extern const char access_begin[], access_failed[];

/* ------------------------------------------------------------------ */
/* uapi_random.c							*/

uint64_t mix(uint64_t value);
uint64_t next_random(uint64_t *state);

/* Returns a random number for a choice within a call. */
uint64_t rnd(struct actor *a);
uint64_t below(struct actor *a, uint64_t bound);
bool one_in(struct actor *a, unsigned int n);

/* ------------------------------------------------------------------ */
/* uapi_args.c								*/

/* Values of struct call.how. */
#define HOW_COMPAT	(1U << 7)	/* call as a 32-bit program */
#define HOW_CHECKED	(1U << 6)	/* place the argument within CHECKED */
#define HOW_SPOIL	0x3fU		/* mask of enum spoil in uapi_args.c */

uint8_t random_how(uint64_t *state);
struct file *pick_file(struct actor *a, enum role role);
struct file *add_file(struct actor *a, int fd);
struct mapping *pick_mapping(struct actor *a, enum part part);
struct mapping *add_mapping(struct actor *a, uintptr_t addr, size_t len);
struct mapping *view_of(struct actor *a, const struct mapping *reader);
void drop_file(struct file *file);
void drop_mapping(struct mapping *map);
void *argument(struct actor *a);
uint32_t user_type(struct actor *a);
void *data_pointer(struct actor *a, size_t len);
long ioctl_with(struct actor *a, struct file *file, unsigned int cmd, void *arg, size_t size);

/* ------------------------------------------------------------------ */
/* Operations								*/

/*
 * The precondition of a call. If it is not met, usually a call that would meet it is made instead.
 */
enum need {
	NEED_NOTHING,
	NEED_STREAM,
	NEED_TARGET,
	NEED_RING,
	NEED_READER,
	NEED_MAPPING,
};

/* The operations. They return the result of the last system call, or negative errno. */
long op_open(struct actor *a);
long op_close(struct actor *a);
long op_dup(struct actor *a);
long op_pass(struct actor *a);
long op_other_call(struct actor *a);
long op_poll(struct actor *a);
long op_info(struct actor *a);
long op_unknown(struct actor *a);

long op_create(struct actor *a);
long op_start(struct actor *a);
long op_stop(struct actor *a);
long op_shutdown(struct actor *a);
long op_get_status(struct actor *a);
long op_get_attr(struct actor *a);
long op_event_name(struct actor *a);
long op_event_types(struct actor *a);
long op_description(struct actor *a);
long op_wait(struct actor *a);
long op_defer(struct actor *a);
long op_release(struct actor *a);
long op_set_filter(struct actor *a);
long op_get_filter(struct actor *a);
long op_clear(struct actor *a);
long op_write_log(struct actor *a);
long op_flush(struct actor *a);
long op_get_stats(struct actor *a);
long op_kernel_stats(struct actor *a);
long op_states(struct actor *a);
long op_files(struct actor *a);
long op_add(struct actor *a);
long op_rotate(struct actor *a);
long op_trigger(struct actor *a);
long op_triggered(struct actor *a);
long op_clock_error(struct actor *a);

long op_attach(struct actor *a);
long op_sync(struct actor *a);
long op_next(struct actor *a);
long op_event(struct actor *a);
long op_wake(struct actor *a);
long op_met(struct actor *a);
long op_eventid_open(struct actor *a);
long op_describe(struct actor *a);

long op_map(struct actor *a);
long op_mmap(struct actor *a);
long op_munmap(struct actor *a);
long op_mremap(struct actor *a);
long op_mprotect(struct actor *a);
long op_madvise(struct actor *a);
long op_mlock(struct actor *a);

long op_write_ring(struct actor *a);
long op_read_ring(struct actor *a);
long op_scribble(struct actor *a);
long op_spoil_args(struct actor *a);

long op_fork(struct actor *a);
long op_vfork(struct actor *a);
long op_exec(struct actor *a);
long op_exec_self(struct actor *a);
long op_kill(struct actor *a);
long op_signal(struct actor *a);
long op_affinity(struct actor *a);
long op_limits(struct actor *a);

/* ------------------------------------------------------------------ */
/* uapi_logs.c								*/

/* Opens a new log. Returns a descriptor, or negative errno. */
int open_log(struct actor *a);
int open_log_of_kind(struct actor *a, unsigned int kind);
void show_logs(void);

/* ------------------------------------------------------------------ */
/* uapi_program.c							*/

struct op {
	const char *name;
	unsigned int weight;
	unsigned int times;
	enum need need;
	long (*run)(struct actor *a);
};

extern const struct op ops[];
extern const unsigned int nr_ops;

void random_call(struct actor *a, struct call *call);
void run_call(struct actor *a, const struct call *call);
void run_program(struct actor *a);

/* ------------------------------------------------------------------ */
/* uapi_cover.c								*/

void cover_open(struct actor *a);
void cover_start(struct actor *a);
void cover_stop(struct actor *a);
void cover_begin(struct actor *a);
void cover_end(struct actor *a);

/* uapi_reach.c */
void show_unreached(void);

/* ------------------------------------------------------------------ */
/* uapi_worker.c							*/

void actor_init(struct actor *a, unsigned int worker, unsigned int thread, uint64_t seed);
void block_signals(bool block);
void interrupt_every(unsigned int milliseconds);
void end_after(unsigned int seconds);
void map_shared(int fd);
int worker_main(unsigned int number, uint64_t seed);
int short_main(unsigned int number, uint64_t seed);

#endif /* _SELFTESTS_UAPI_FUZZ_H */
