// SPDX-License-Identifier: GPL-2.0
/*
 * A program with two threads that record events of type "storm" without pause. A signal ends it.
 */
#include <pthread.h>
#include <trace.h>

static void *record(void *type)
{
	for (;;)
		posix_trace_event(*(trace_event_id_t *)type, NULL, 0);
	return NULL;
}

int main(void)
{
	trace_event_id_t storm;
	pthread_t thread;

	if (posix_trace_eventid_open("storm", &storm))
		return 101;
	if (pthread_create(&thread, NULL, record, &storm))
		return 102;
	record(&storm);
	return 0;
}
