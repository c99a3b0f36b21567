/* SPDX-License-Identifier: GPL-2.0 */
/* The definition of the event for LTTng-UST. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_tp.h"

#if !defined(BENCH_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_TP_H

#include <lttng/tracepoint.h>

#define BENCH_ARGS	LTTNG_UST_TP_ARGS(const unsigned char *, data, size_t, len)
#define BENCH_FIELDS	lttng_ust_field_sequence(unsigned char, data, data, unsigned int, len)

LTTNG_UST_TRACEPOINT_EVENT(bench, event, BENCH_ARGS, LTTNG_UST_TP_FIELDS(BENCH_FIELDS))

#endif

#include <lttng/tracepoint-event.h>
