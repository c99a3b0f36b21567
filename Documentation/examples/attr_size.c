// SPDX-License-Identifier: MIT
/*
 * Computes the size of a stream that holds a given number of events without a loss.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "posix_trace_%s: %s\n", what, strerror(error));
		exit(1);
	}
}

#define EVENTS		1000
#define DATA_SIZE	100

static trace_id_t create_stream(void)
{
	size_t user, system, granted;
	trace_attr_t attr;
	trace_id_t trid;

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_attr_setmaxdatasize(&attr, DATA_SIZE), "attr_setmaxdatasize");
	/* Events that do not fit are dropped and counted. */
	check(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL),
	      "attr_setstreamfullpolicy");
	check(posix_trace_attr_getmaxusereventsize(&attr, DATA_SIZE, &user),
	      "attr_getmaxusereventsize");
	check(posix_trace_attr_getmaxsystemeventsize(&attr, &system),
	      "attr_getmaxsystemeventsize");
	/* The two system events are for start and stop. */
	check(posix_trace_attr_setstreamsize(&attr, EVENTS * user + 2 * system),
	      "attr_setstreamsize");
	check(posix_trace_create(0, &attr, &trid), "create");
	check(posix_trace_attr_destroy(&attr), "attr_destroy");

	check(posix_trace_get_attr(trid, &attr), "get_attr");
	check(posix_trace_attr_getstreamsize(&attr, &granted), "attr_getstreamsize");
	check(posix_trace_attr_destroy(&attr), "attr_destroy");
	printf("%s granted\n", granted < EVENTS * user + 2 * system ? "less" : "enough");
	return trid;
}

int main(void)
{
	struct posix_trace_status_info status;
	char data[DATA_SIZE] = "";
	trace_id_t trid = create_stream();

	check(posix_trace_start(trid), "start");
	for (int i = 0; i < EVENTS; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	check(posix_trace_stop(trid), "stop");

	check(posix_trace_get_status(trid, &status), "get_status");
	printf("%d events, %s\n", EVENTS,
	       status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN ?
	       "some of them lost" : "none lost");
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
