// SPDX-License-Identifier: GPL-2.0
/*
 * Generates programs, or mutates programs that reached new code. A program uses the objects that
 * earlier programs have left, so every precondition is met sooner or later.
 */
#include <stdio.h>
#include <string.h>

#include "uapi_fuzz.h"

/*
 * Columns: name, weight, maximum of repeats, precondition. Expensive operations have a low weight,
 * and so do those that enable no further calls. Operations that have an effect only after many
 * calls are repeated.
 */
const struct op ops[] = {
	{ "open", 100, 1, NEED_NOTHING, op_open },
	{ "close", 60, 1, NEED_NOTHING, op_close },
	{ "dup", 60, 1, NEED_NOTHING, op_dup },
	{ "pass", 60, 1, NEED_NOTHING, op_pass },
	{ "other call", 40, 1, NEED_NOTHING, op_other_call },
	{ "poll", 120, 4, NEED_STREAM, op_poll },
	{ "INFO", 60, 4, NEED_NOTHING, op_info },
	{ "unknown", 100, 8, NEED_NOTHING, op_unknown },
	{ "CREATE", 100, 1, NEED_NOTHING, op_create },
	{ "START", 300, 2, NEED_STREAM, op_start },
	{ "STOP", 250, 2, NEED_STREAM, op_stop },
	{ "SHUTDOWN", 60, 1, NEED_STREAM, op_shutdown },
	{ "GET_STATUS", 300, 8, NEED_STREAM, op_get_status },
	{ "GET_ATTR", 120, 8, NEED_STREAM, op_get_attr },
	{ "EVENT_NAME", 120, 8, NEED_STREAM, op_event_name },
	{ "EVENT_TYPES", 120, 4, NEED_STREAM, op_event_types },
	{ "DESCRIPTION", 120, 8, NEED_STREAM, op_description },
	{ "WAIT", 250, 2, NEED_STREAM, op_wait },
	{ "DEFER", 200, 4, NEED_STREAM, op_defer },
	{ "RELEASE", 400, 8, NEED_STREAM, op_release },
	{ "SET_FILTER", 200, 1, NEED_STREAM, op_set_filter },
	{ "GET_FILTER", 100, 8, NEED_STREAM, op_get_filter },
	{ "CLEAR", 120, 1, NEED_STREAM, op_clear },
	{ "FLUSH", 300, 2, NEED_STREAM, op_flush },
	{ "WRITE_LOG", 120, 1, NEED_STREAM, op_write_log },
	{ "GET_STATS", 200, 4, NEED_STREAM, op_get_stats },
	{ "KERNEL_STATS", 100, 4, NEED_STREAM, op_kernel_stats },
	{ "STATES", 100, 4, NEED_STREAM, op_states },
	{ "FILES", 250, 4, NEED_STREAM, op_files },
	{ "ADD", 250, 1, NEED_STREAM, op_add },
	{ "ROTATE", 250, 1, NEED_STREAM, op_rotate },
	{ "TRIGGER", 150, 2, NEED_STREAM, op_trigger },
	{ "TRIGGERED", 100, 2, NEED_STREAM, op_triggered },
	{ "CLOCK_ERROR", 150, 2, NEED_STREAM, op_clock_error },
	{ "ATTACH", 200, 1, NEED_NOTHING, op_attach },
	{ "SYNC", 400, 2, NEED_TARGET, op_sync },
	{ "NEXT", 800, 8, NEED_TARGET, op_next },
	{ "EVENT", 2200, 32, NEED_TARGET, op_event },
	{ "WAKE", 300, 8, NEED_TARGET, op_wake },
	{ "MET", 200, 8, NEED_TARGET, op_met },
	{ "EVENTID_OPEN", 200, 4, NEED_TARGET, op_eventid_open },
	{ "DESCRIBE", 200, 4, NEED_TARGET, op_describe },
	{ "MAP", 200, 1, NEED_STREAM, op_map },
	{ "mmap", 300, 1, NEED_STREAM, op_mmap },
	{ "munmap", 200, 1, NEED_MAPPING, op_munmap },
	{ "mremap", 80, 1, NEED_MAPPING, op_mremap },
	{ "mprotect", 120, 1, NEED_MAPPING, op_mprotect },
	{ "madvise", 120, 1, NEED_MAPPING, op_madvise },
	{ "mlock", 80, 1, NEED_MAPPING, op_mlock },
	{ "write ring", 1200, 8, NEED_RING, op_write_ring },
	{ "read ring", 800, 16, NEED_READER, op_read_ring },
	{ "scribble", 600, 8, NEED_RING, op_scribble },
	{ "spoil arguments", 200, 4, NEED_NOTHING, op_spoil_args },
	{ "fork", 16, 1, NEED_NOTHING, op_fork },
	{ "vfork", 16, 1, NEED_NOTHING, op_vfork },
	{ "exec", 12, 1, NEED_NOTHING, op_exec },
	{ "exec itself", 1, 1, NEED_NOTHING, op_exec_self },
	{ "kill", 6, 1, NEED_NOTHING, op_kill },
	{ "signal", 40, 1, NEED_NOTHING, op_signal },
	{ "affinity", 100, 1, NEED_NOTHING, op_affinity },
	{ "limits", 40, 1, NEED_NOTHING, op_limits },
};

const unsigned int nr_ops = ARRAY_SIZE(ops);

_Static_assert(ARRAY_SIZE(ops) <= OPS_MAX, "struct worker has room for all");

static unsigned int random_op(uint64_t *state)
{
	static unsigned int total;
	unsigned int i, sum = total;
	uint64_t r;

	/*
	 * Several threads may do this at the same time, because all of them compute the same sum.
	 */
	if (!sum) {
		for (i = 0; i < nr_ops; i++)
			sum += ops[i].weight;
		__atomic_store_n(&total, sum, __ATOMIC_RELAXED);
	}
	r = next_random(state) % sum;
	for (i = 0; r >= ops[i].weight; i++)
		r -= ops[i].weight;
	return i;
}

void random_call(struct actor *a, struct call *call)
{
	uint64_t r = next_random(&a->random);

	call->op = random_op(&a->random);
	call->how = random_how(&a->random);
	call->pick = r;
	call->seed = r >> 32;
}

static bool has_slot(const struct file *file)
{
	unsigned int i;

	for (i = 0; i < POSIXTRACE_SLOTS_MAX; i++)
		if (file->slots[i].heads.size)
			return true;
	return false;
}

static unsigned int op_of(long (*run)(struct actor *a))
{
	unsigned int i = 0;

	while (ops[i].run != run)
		i++;
	return i;
}

/* Returns an operation that is needed before a part of a file can be mapped. */
static unsigned int op_to_map(struct actor *a, enum part part)
{
	a->want = part;
	return op_of(one_in(a, 2) ? op_map : op_mmap);
}

static unsigned int op_to_ring(struct actor *a, unsigned int op)
{
	const struct file *file = pick_file(a, ROLE_TARGET);

	if (pick_mapping(a, PART_RING))
		return op;
	if (!file)
		return op_of(op_attach);
	/* Occasionally get a slot even if one is known, because the known slot may be gone. */
	if (has_slot(file) && !one_in(a, 4))
		return op_to_map(a, PART_RING);
	return op_of(pick_file(a, ROLE_STREAM) ? op_sync : op_create);
}

static unsigned int op_to_reader(struct actor *a, unsigned int op)
{
	const struct mapping *reader = pick_mapping(a, PART_READER);

	if (!pick_file(a, ROLE_STREAM))
		return op_of(op_create);
	if (!reader)
		return op_to_map(a, PART_READER);
	return view_of(a, reader) ? op : op_to_map(a, PART_VIEW);
}

/* Returns the operation, or one that must precede it. */
static unsigned int op_that_helps(struct actor *a, unsigned int op)
{
	a->want = PARTS;
	if (one_in(a, 16))
		return op;
	switch (ops[op].need) {
	case NEED_STREAM:
		return pick_file(a, ROLE_STREAM) ? op : op_of(op_create);
	case NEED_TARGET:
		return pick_file(a, ROLE_TARGET) ? op : op_of(op_attach);
	case NEED_RING:
		return op_to_ring(a, op);
	case NEED_READER:
		return op_to_reader(a, op);
	case NEED_MAPPING:
		return pick_mapping(a, PARTS) ? op : op_to_reader(a, op);
	default:
		return op;
	}
}

static void print_call(const struct actor *a, long ret)
{
	printf("# %s how %#x pick %u seed %#x = %ld\n", ops[a->call.op].name, a->call.how,
	       a->call.pick, a->call.seed, ret > 1000 ? 1000 : ret);
	fflush(stdout);
}

/* Returns the state on which the success of later calls depends. */
static uint64_t state_of(const struct objects *objects)
{
	uint64_t state = 0;
	unsigned int i;

	for (i = 0; i < FILES_MAX; i++)
		state = state * 4 + (objects->files[i].fd ? 1 + objects->files[i].role : 0);
	for (i = 0; i < MAPPINGS_MAX; i++)
		if (objects->mappings[i].addr)
			state = mix(state ^ (1 + objects->mappings[i].part)) + i;
	return state;
}

/*
 * Returns the time. Does not use clock_gettime(), because a call may have unmapped the vDSO's data.
 */
static uint64_t now(void)
{
	return __builtin_ia32_rdtsc();
}

static void count(struct actor *a, long ret, uint64_t started)
{
	struct count *counts = &a->worker->counts[a->call.op];

	__atomic_fetch_add(&counts->calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->time, now() - started, __ATOMIC_RELAXED);
	if (ret >= 0)
		__atomic_fetch_add(&counts->good, 1, __ATOMIC_RELAXED);
	else if (ret > -ERRORS_MAX)
		__atomic_fetch_add(&counts->errors[-ret], 1, __ATOMIC_RELAXED);
	if (shared->options.calls)
		__atomic_fetch_add(&shared->calls, 1, __ATOMIC_RELAXED);
}

static void run_once(struct actor *a, const struct call *call, uint64_t word, unsigned int op)
{
	uint64_t started = now();
	long ret;

	a->call = *call;
	a->call.op = op;
	a->call_random = mix(word);
	if (a->thread < THREADS_MAX) {
		__atomic_store_n(&a->worker->doing[a->thread], op, __ATOMIC_RELAXED);
		__atomic_fetch_add(&a->worker->progress[a->thread], 1, __ATOMIC_RELAXED);
	}
	cover_begin(a);
	ret = ops[op].run(a);
	cover_end(a);
	count(a, ret, started);
	if (shared->options.print && shared->options.alone)
		print_call(a, ret);
	if (!a->thread)
		a->worker->digest = mix(a->worker->digest ^ word) + state_of(a->objects);
}

void run_call(struct actor *a, const struct call *call)
{
	unsigned int op, times;
	uint64_t word;

	memcpy(&word, call, sizeof(word));
	a->call = *call;
	a->call_random = ~mix(word);
	op = op_that_helps(a, call->op % nr_ops);
	times = 1 + below(a, ops[op].times);
	while (times--)
		run_once(a, call, word + ((uint64_t)times << 32), op);
}

static uint32_t corpus_len(void)
{
	uint32_t len = __atomic_load_n(&shared->corpus_len, __ATOMIC_RELAXED);

	return len < CORPUS_SIZE ? len : CORPUS_SIZE;
}

/*
 * Copies a program from the corpus. Another thread may be writing it, but any mixture is a program
 * as well.
 */
static void from_corpus(struct actor *a, struct program *program)
{
	*program = shared->corpus[next_random(&a->random) % corpus_len()];
	if (program->len > CALLS_MAX)
		program->len = CALLS_MAX;
}

static void insert_call(struct actor *a, struct program *program, uint32_t at)
{
	if (program->len == CALLS_MAX)
		program->len--;
	memmove(&program->calls[at + 1], &program->calls[at],
		(program->len - at) * sizeof(program->calls[0]));
	random_call(a, &program->calls[at]);
	program->len++;
}

static void change_program(struct actor *a, struct program *program)
{
	uint64_t r = next_random(&a->random);
	uint32_t at = program->len ? (r >> 32) % program->len : 0;
	struct call *call = &program->calls[at];
	struct program other;

	if (!program->len || r % 8 < 2) {
		insert_call(a, program, at < CALLS_MAX ? at : 0);
		return;
	}
	switch (r % 8) {
	case 2:
		call->how = random_how(&a->random);
		break;
	case 3:
		call->pick = r >> 16;
		break;
	case 4:
		random_call(a, call);
		break;
	case 5:	/* append the end of another program */
		from_corpus(a, &other);
		while (at < CALLS_MAX && at < other.len) {
			program->calls[at] = other.calls[at];
			at++;
		}
		if (at > program->len)
			program->len = at;
		break;
	default:
		call->seed = r >> 8;
		break;
	}
}

static void make_program(struct actor *a, struct program *program)
{
	uint64_t r = next_random(&a->random), n;

	if (shared->options.feedback && corpus_len() && r % 2) {
		from_corpus(a, program);
		for (n = 0; n <= (r >> 8) % 4; n++)
			change_program(a, program);
		return;
	}
	program->len = 1 + (r >> 8) % CALLS_MAX;
	for (n = 0; n < program->len; n++)
		random_call(a, &program->calls[n]);
}

static void keep_program(struct actor *a, const struct program *program, uint32_t len)
{
	uint32_t at = __atomic_fetch_add(&shared->corpus_len, 1, __ATOMIC_RELAXED);
	struct program *place;

	if (at >= CORPUS_SIZE)
		at = next_random(&a->random) % CORPUS_SIZE;
	place = &shared->corpus[at];
	memcpy(place->calls, program->calls, len * sizeof(program->calls[0]));
	place->len = len;
}

void run_program(struct actor *a)
{
	uint64_t found = a->edges_found;
	struct program program;
	uint32_t i, len = 0;

	make_program(a, &program);
	for (i = 0; i < program.len; i++) {
		run_call(a, &program.calls[i]);
		if (a->edges_found != found)
			len = i + 1;
		found = a->edges_found;
		if (__atomic_load_n(&shared->stop, __ATOMIC_RELAXED))
			return;
	}
	if (len)
		keep_program(a, &program, len);
}
