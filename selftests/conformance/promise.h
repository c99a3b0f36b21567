/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promise of posix_trace_attr_getmaxusereventsize() and _getmaxsystemeventsize():
 * events are recorded without loss if the sum of their sizes does not exceed
 * stream-min-size. The tests plan a set of events with exactly that sum, record the events,
 * and check that all are there.
 */
#ifndef _SELFTESTS_PROMISE_H
#define _SELFTESTS_PROMISE_H

#include <linux/posixtrace_memory.h>

#include "../../kmod/ring/policy.h"
#include "trace_test.h"

#define PLAN_MAX	6000
#define PLAN_REST	4096

/* User events to record, by the length of their data. */
struct plan {
	size_t max_data_size;
	size_t sum;			/* sum of the sizes of the events in the stream */
	int count;
	size_t len[PLAN_MAX];
};

/* Creates a stream on the caller, and gets its attributes. */
static inline int promise_create(int policy, size_t stream_size, size_t max_data_size,
				 trace_id_t *trid, trace_attr_t *granted)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(&attr, policy);
	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, stream_size);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(&attr, max_data_size);
	if (!err)
		err = posix_trace_create(0, &attr, trid);
	return err ? err : posix_trace_get_attr(*trid, granted);
}

static inline size_t user_size(const trace_attr_t *attr, size_t len)
{
	size_t size = 0;

	posix_trace_attr_getmaxusereventsize(attr, len, &size);
	return size;
}

static inline size_t system_size(const trace_attr_t *attr)
{
	size_t size = 0;

	posix_trace_attr_getmaxsystemeventsize(attr, &size);
	return size;
}

static inline void plan_add(struct plan *plan, const trace_attr_t *attr, size_t len)
{
	if (plan->count == PLAN_MAX)
		return;
	plan->len[plan->count++] = len;
	plan->sum += user_size(attr, len);
}

/* Adds events with @rest as the sum of their sizes, or as close to it as possible. */
static inline void plan_rest(struct plan *plan, const trace_attr_t *attr, size_t rest)
{
	/*
	 * For each sum: the length of the last event that reaches it, plus 1; 0 if it cannot be
	 * reached.
	 */
	static size_t last[PLAN_REST + 1];

	memset(last, 0, sizeof(last));
	for (size_t len = 0; len <= plan->max_data_size && !last[rest]; len++) {
		size_t size = user_size(attr, len);

		if (size > rest)
			break;
		if (last[size])
			continue;
		last[size] = len + 1;
		for (size_t sum = size + 1; sum <= rest; sum++) {
			if (!last[sum] && last[sum - size])
				last[sum] = len + 1;
		}
	}
	while (rest && !last[rest])
		rest--;
	while (rest) {
		size_t len = last[rest] - 1;

		plan_add(plan, attr, len);
		rest -= user_size(attr, len);
	}
}

/*
 * Plans @first events without data, then events with @lens in turn, then events that bring
 * the sum up to @total.
 */
static inline void plan_make(struct plan *plan, const trace_attr_t *attr, size_t total,
			     int first, const size_t *lens, int count)
{
	memset(plan, 0, sizeof(*plan));
	posix_trace_attr_getmaxdatasize(attr, &plan->max_data_size);
	while (first--)
		plan_add(plan, attr, 0);
	for (int i = 0; plan->count < PLAN_MAX; i++) {
		if (plan->sum + user_size(attr, lens[i % count]) + PLAN_REST > total)
			break;
		plan_add(plan, attr, lens[i % count]);
	}
	while (total - plan->sum > PLAN_REST && plan->count < PLAN_MAX)
		plan_add(plan, attr, 0);
	plan_rest(plan, attr, total - plan->sum);
}

/* True if the sum is the largest possible one. */
static inline int plan_is_exact(const struct plan *plan, const trace_attr_t *attr, size_t total)
{
	/* If all events have the same size, only its multiples can be reached. */
	if (!plan->max_data_size)
		return total >= plan->sum && total - plan->sum < user_size(attr, 0);
	return plan->sum == total;
}

static inline void plan_record(const struct plan *plan, int i)
{
	static __thread unsigned char data[70000];

	memcpy(data, &i, sizeof(i));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, plan->len[i]);
}

/* Moves to the next CPU before the @i-th of @count events, in three rounds over all CPUs. */
static inline void next_cpu(int i, int count)
{
	static long cpus;
	int step;

	/* Call sysconf() only once: it reads a file. */
	if (!cpus)
		cpus = sysconf(_SC_NPROCESSORS_ONLN);
	step = count / (3 * cpus) + 1;

	if (i % step == 0)
		run_on(i / step);
}

/* Records the first @count events of the plan, on all CPUs. */
static inline void plan_record_in_turn(const struct plan *plan, int count)
{
	for (int i = 0; i < count; i++) {
		next_cpu(i, count);
		plan_record(plan, i);
	}
}

/* Is the event planned, complete and not seen before? */
static inline int plan_has(const struct plan *plan, char *seen, const unsigned char *data,
			   size_t len)
{
	int i = 0;

	if (len >= sizeof(i)) {
		memcpy(&i, data, sizeof(i));
		if (i < 0 || i >= plan->count)
			return 0;
	} else {
		/*
		 * The data is too short to contain the number of the event, so take any event of
		 * that length.
		 */
		while (i < plan->count && (seen[i] || plan->len[i] != len))
			i++;
		/* Otherwise the event may have been truncated to that length. */
		for (int k = 0; i == plan->count && k < plan->count; k++) {
			if (!seen[k] && plan->len[k] > len && len == plan->max_data_size)
				i = k;
		}
	}
	if (i == plan->count || seen[i] ||
	    len != (plan->len[i] < plan->max_data_size ? plan->len[i] : plan->max_data_size))
		return 0;
	seen[i] = 1;
	return 1;
}

/*
 * Reads the stream until it is empty. Expects exactly the events of the plan, and the
 * system events @system in this order. Returns a description of the first error, or "".
 */
static inline const char *plan_verify(const struct plan *plan, trace_id_t trid,
				      const trace_event_id_t *system, int count)
{
	static unsigned char data[70000];
	struct posix_trace_status_info status;
	struct posix_trace_event_info info;
	int unavailable, found = 0, next = 0;
	static char seen[PLAN_MAX];
	size_t len;

	memset(seen, 0, sizeof(seen));
	if (posix_trace_get_status(trid, &status))
		return "no status";
	if (status.posix_stream_overrun_status != POSIX_TRACE_NO_OVERRUN)
		return "overrun";
	if (status.posix_stream_full_status != POSIX_TRACE_NOT_FULL)
		return "full";
	for (;;) {
		if (posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len,
						 &unavailable))
			return "no event";
		if (unavailable)
			break;
		if (info.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT) {
			if (!plan_has(plan, seen, data, len))
				return "an event that was not planned";
			found++;
		} else if (next == count || info.posix_event_id != system[next++]) {
			return "another system event than planned";
		}
	}
	if (next != count)
		return "system events are missing";
	return found == plan->count ? "" : "user events are missing";
}

/* Records events of the largest size on all CPUs until the stream is full. */
static inline int record_until_full(trace_id_t trid, const trace_attr_t *attr)
{
	struct posix_trace_status_info status;
	static unsigned char data[70000];
	size_t stream_size, len;
	int count;

	posix_trace_attr_getstreamsize(attr, &stream_size);
	posix_trace_attr_getmaxdatasize(attr, &len);
	/* Each CPU adds one sub-buffer to the size of the stream. */
	stream_size += (size_t)pxt_subbuf_size(stream_size, len) *
		       sysconf(_SC_NPROCESSORS_CONF);
	/* Each event takes its data and a header of at least 16 bytes in memory. */
	count = 3 * stream_size / (len + 24) + 100;
	for (int i = 0; i < count; i++) {
		next_cpu(i, count);
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, len);
	}
	return !posix_trace_get_status(trid, &status) &&
	       status.posix_stream_full_status == POSIX_TRACE_FULL;
}

#endif /* _SELFTESTS_PROMISE_H */
