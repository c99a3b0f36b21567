// SPDX-License-Identifier: GPL-2.0
/* Threads that wait in the functions that read a stream, and events to read. */
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "reading.h"

int record_on_request(void *arg, const struct talk *talk)
{
	long number;

	(void)arg;
	say(talk, 0);
	while ((number = hear(talk)) != -EPIPE) {
		record_number(number);
		say(talk, number);
	}
	return 0;
}

void *reader_thread(void *arg)
{
	struct reader *reader = arg;

	__atomic_store_n(&reader->tid, gettid(), __ATOMIC_RELEASE);
	if (reader->abstime)
		reader->ret = read_timed(reader->trid, &reader->event,
					 sizeof(reader->event.data), reader->abstime);
	else
		reader->ret = read_next(reader->trid, &reader->event,
					sizeof(reader->event.data));
	__atomic_store_n(&reader->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

int reader_start_over(struct reader *reader, trace_id_t trid, const struct timespec *abstime,
		      int unavailable)
{
	int err;

	*reader = (struct reader){
		.trid = trid,
		.abstime = abstime,
		.event = { .unavailable = unavailable },
		.ret = -1,
	};
	err = pthread_create(&reader->thread, NULL, reader_thread, reader);
	if (err)
		return err;
	return reader_sleeps(reader) ? 0 : EAGAIN;
}

int reader_start(struct reader *reader, trace_id_t trid, const struct timespec *abstime)
{
	return reader_start_over(reader, trid, abstime, 0);
}

int reader_end(struct reader *reader)
{
	pthread_join(reader->thread, NULL);
	return reader->ret;
}
