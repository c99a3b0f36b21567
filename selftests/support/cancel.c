// SPDX-License-Identifier: GPL-2.0
/* Calls in threads with a pending cancellation. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

#include "cancel.h"

struct call {
	int (*fn)(void *arg);
	void *arg;
};

static void *cancel_and_call(void *arg)
{
	struct call *call = arg;

	pthread_cancel(pthread_self());
	return (void *)(long)call->fn(call->arg);
}

int call_cancelled(int (*fn)(void *arg), void *arg)
{
	struct call call = { fn, arg };
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, cancel_and_call, &call) || pthread_join(thread, &result))
		return -EINVAL;
	return result == PTHREAD_CANCELED ? -ECANCELED : (int)(long)result;
}

struct trid_call {
	int (*fn)(trace_id_t trid);
	trace_id_t trid;
};

static int call_trid(void *arg)
{
	struct trid_call *call = arg;

	return call->fn(call->trid);
}

int call_trid_cancelled(int (*fn)(trace_id_t trid), trace_id_t trid)
{
	struct trid_call call = { fn, trid };

	return call_cancelled(call_trid, &call);
}
