// SPDX-License-Identifier: GPL-2.0
/*
 * The program of Documentation/questions.rst: a small service with the usual problems.
 *
 * usage: service_helper requests|slower|hang|pipeline|errors|faults|rivals
 *
 *	requests	answers requests for the tables users and orders; an order waits for a lock
 *			that the thread "flusher" holds while it computes and writes a file
 *	slower		the same, but a request for users takes five times the work
 *	hang		the threads "left" and "right" wait for each other
 *	pipeline	"reader", "parser" and "writer" hand blocks on; the parser works most
 *	errors		looks for files in directories that do not have them
 *	faults		uses fresh memory for each request
 *	rivals		two threads compute on one processor
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <posixtrace/points.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REQUESTS	40
#define WORK		200000
#define BLOCKS		20
#define FRESH		(1 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static atomic_bool answered;
static int user_work = WORK;
/*
 * On a slow kernel, the program must do more work. Otherwise its system calls would take most of
 * the time.
 */
static int scale = 1;

static void work(int count)
{
	for (int i = 0; i < count * scale; i++)
		__asm__ __volatile__("" : : : "memory");
}

static void start(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg)
{
	if (pthread_create(thread, NULL, run, arg))
		exit(1);
	pthread_setname_np(*thread, name);
}

/* ------------------------------------------------------------------ */
/* Requests								*/

/* Takes the lock when an order comes, and holds it while it computes and writes a file. */
static void *flush(void *arg)
{
	static const char block[262144];
	const int file = *(int *)arg;

	for (int i = 0; i < REQUESTS / 4; i++) {
		pthread_mutex_lock(&lock);
		pthread_barrier_wait(&barrier);
		for (int n = 0; n < 8; n++) {
			/*
			 * Long enough that no other request takes longer, even on a busy machine.
			 */
			work(16 * WORK);
			if (write(file, block, sizeof(block)) < 0)
				exit(1);
		}
		pthread_mutex_unlock(&lock);
		/* Wait for the order. */
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void answer(const char *table, unsigned int number)
{
	POSIXTRACE_SCOPE("request", (u32, number), (text, table));
	if (!strcmp(table, "users")) {
		work(user_work);
		return;
	}
	pthread_mutex_lock(&lock);
	work(WORK);
	pthread_mutex_unlock(&lock);
}

static int requests(void)
{
	/*
	 * Open the file before other threads run: if threads open files at the same time, the trace
	 * may not show which is which.
	 */
	int file = open("/tmp/service.journal", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	pthread_t flusher;

	pthread_barrier_init(&barrier, NULL, 2);
	start(&flusher, "flusher", flush, &file);
	for (unsigned int i = 0; i < REQUESTS; i++) {
		if (i % 4 != 3) {
			answer("users", i);
			continue;
		}
		pthread_barrier_wait(&barrier);
		answer("orders", i);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(flusher, NULL);
	close(file);
	unlink("/tmp/service.journal");
	return 0;
}

static int slower(void)
{
	user_work = 5 * WORK;
	return requests();
}

/* ------------------------------------------------------------------ */
/* Other problems							*/

static void *lock_in_turn(void *arg)
{
	pthread_mutex_t *first = arg;

	pthread_mutex_lock(first);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(first == &lock ? &other_lock : &lock);
	return NULL;
}

static int hang(void)
{
	pthread_t left, right;

	pthread_barrier_init(&barrier, NULL, 2);
	start(&left, "left", lock_in_turn, &lock);
	start(&right, "right", lock_in_turn, &other_lock);
	return pthread_join(left, NULL);
}

struct stage {
	int in;
	int out;
	int work;
};

static void *run_stage(void *arg)
{
	const struct stage *stage = arg;
	char block[4096] = "";

	for (int i = 0; i < BLOCKS; i++) {
		if (stage->in >= 0 && read(stage->in, block, sizeof(block)) != sizeof(block))
			exit(1);
		work(stage->work);
		if (stage->out >= 0 && write(stage->out, block, sizeof(block)) != sizeof(block))
			exit(1);
	}
	return NULL;
}

static int pipeline(void)
{
	static struct stage stages[3] = {
		{ -1, -1, WORK }, { -1, -1, 10 * WORK }, { -1, -1, WORK },
	};
	static const char *const names[3] = { "reader", "parser", "writer" };
	pthread_t threads[3];
	int ends[2];

	for (int i = 0; i < 2; i++) {
		if (pipe(ends))
			return 1;
		fcntl(ends[1], F_SETPIPE_SZ, 4096);
		stages[i].out = ends[1];
		stages[i + 1].in = ends[0];
	}
	for (int i = 0; i < 3; i++)
		start(&threads[i], names[i], run_stage, &stages[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int errors(void)
{
	static const char *const directories[] = { "/etc/service", "/usr/local/etc", "/etc" };
	char path[64];
	int file;

	for (int i = 0; i < REQUESTS; i++) {
		for (int d = 0; d < 3; d++) {
			snprintf(path, sizeof(path), "%s/%s", directories[d],
				 d == 2 ? "passwd" : "service.conf");
			file = open(path, O_RDONLY | O_CLOEXEC);
			if (file >= 0)
				close(file);
		}
	}
	return 0;
}

static int faults(void)
{
	for (unsigned int i = 0; i < REQUESTS; i++) {
		POSIXTRACE_SCOPE("request", (u32, number, i));
		char *memory = mmap(NULL, FRESH, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return 1;
		memset(memory, 1, FRESH);
		munmap(memory, FRESH);
	}
	return 0;
}

static void *compute(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	while (!atomic_load(&answered))
		;
	return NULL;
}

static int rivals(void)
{
	pthread_t rival;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	pthread_barrier_init(&barrier, NULL, 2);
	start(&rival, "rival", compute, NULL);
	pthread_barrier_wait(&barrier);
	{
		POSIXTRACE_SCOPE("request");
		/* Longer than several time slices. */
		work(5 * REQUESTS * WORK);
	}
	atomic_store(&answered, true);
	return pthread_join(rival, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} ways[] = {
		{ "requests", requests }, { "slower", slower }, { "hang", hang },
		{ "pipeline", pipeline }, { "errors", errors }, { "faults", faults },
		{ "rivals", rivals },
	};

	const char *slow = getenv("PXT_TIMEOUT_SCALE");

	if (slow && atoi(slow) > 0)
		scale = atoi(slow);
	for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!strcmp(argv[1], ways[i].name))
			return ways[i].run();
	}
	fputs("usage: service_helper requests|slower|hang|pipeline|errors|faults|rivals\n", stderr);
	return 2;
}
