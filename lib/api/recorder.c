// SPDX-License-Identifier: MIT
/*
 * The functions of a program for its flight recorder, which the library has started because of an
 * environment variable: see record/flight.h.
 */
#include <posixtrace.h>

#include "api/recorder.h"
#include "common/sys.h"
#include "record/flight.h"
#include "record/gate.h"
#include "stream/open.h"
#include "stream/stream.h"
#include "stream/worker.h"

/* Gives the stream a trace id, and a thread that writes its log. */
static int share(struct pxtu_flight *flight)
{
	struct pxtu_stream *stream = pxtu_stream_alloc(true);
	int err;

	if (!stream)
		return -ENOMEM;
	stream->fd = flight->fd;
	err = pxtu_stream_share(stream, &flight->create);
	if (err)
		goto dealloc;
	err = pxtu_trid_install(&stream->source, &flight->trid);
	if (err)
		goto unshare;
	pxtu_stream_start_worker(stream);
	return 0;

unshare:
	pxtu_stream_unshare(stream);
dealloc:
	pxtu_stream_dealloc(stream);
	return err;
}

/* Does nothing if another thread has begun. */
static int share_alone(struct pxtu_flight *flight)
{
	int phase = PXTU_FLIGHT_RECORDS, err = 0, cancel;
	__u64 signals;

	/* Other threads wait for this one. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/*
	 * If a signal handler forked here, the child would store a trace id for the stream of its
	 * parent in its own state.
	 */
	pxtu_signals_block(&signals);
	if (__atomic_compare_exchange_n(&flight->phase, &phase, PXTU_FLIGHT_SHARING, false,
					__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		err = share(flight);
		/* Pairs with the load in recorder_get(). */
		pxtu_store_release(&flight->phase, err ? PXTU_FLIGHT_RECORDS : PXTU_FLIGHT_SHARED);
		pxtu_futex_wake(&flight->phase);
	}
	pxtu_signals_restore(signals);
	pthread_setcancelstate(cancel, NULL);
	return err;
}

/* Get the trace id of the recorder of this process. */
static int recorder_get(struct pxtu_flight *flight, trace_id_t *trid)
{
	int phase, err = 0;

	/* Pairs with the stores in share_alone() and record/flight.c. */
	while ((phase = pxtu_load_acquire(&flight->phase)) != PXTU_FLIGHT_SHARED) {
		if (phase == PXTU_FLIGHT_NONE)
			return -EINVAL;
		if (phase == PXTU_FLIGHT_SHARING)
			pxtu_futex_wait(&flight->phase, phase);
		else
			err = share_alone(flight);
		if (err)
			return err;
	}
	*trid = flight->trid;
	return 0;
}

/* Get the stream of the recorder, for pxtu_stream_put(). */
static int recorder_use(struct pxtu_flight **flight, struct pxtu_stream **stream)
{
	struct pxtu_state *state = pxtu_state();
	trace_id_t trid;
	int err;

	if (!state)
		return -ENOMEM;
	/*
	 * In a static program, this call makes the linker add the constructor, which starts the
	 * recorder.
	 */
	pxtu_gate_mapped();
	*flight = &state->flight;
	err = recorder_get(*flight, &trid);
	if (err)
		return err;
	*stream = pxtu_stream_get(trid);
	if (!*stream)
		return -EINVAL;
	/* The program may have closed the descriptor. */
	err = pxtu_stream_answer(*stream, 0);
	if (err)
		pxtu_stream_put(*stream);
	return err;
}

/**
 * posixtrace_get_recorder() - get the trace id of the flight recorder of this process
 * @trid: result
 *
 * An extension. The recorder is an active trace stream with log of this process. From the first
 * call on, the process has a thread for its log, as after posix_trace_create_withlog().
 *
 * Return: 0; EINVAL if this process has no flight recorder, if the recorder was shut down, or if
 * @trid is NULL; EAGAIN, ENOMEM.
 */
PXTU_API int posixtrace_get_recorder(trace_id_t *trid)
{
	struct pxtu_flight *flight;
	struct pxtu_stream *stream;
	int err;

	if (!trid)
		return EINVAL;
	err = recorder_use(&flight, &stream);
	if (err)
		return pxtu_error(err);
	*trid = flight->trid;
	pxtu_stream_put(stream);
	return 0;
}

/*
 * Is this stream the recorder of this process? Not in a child that a signal handler forked during
 * the call: its recorder, if any, has another number.
 */
static bool is_recorder(const struct pxtu_flight *flight, const struct pxtu_stream *stream)
{
	return flight->create.stream == stream->number;
}

/* Returns false if another thread changes the log. */
static bool begin_change(struct pxtu_flight *flight)
{
	int free = 0;

	return __atomic_compare_exchange_n(&flight->changing, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void end_change(struct pxtu_flight *flight)
{
	/* Pairs with the compare-and-swap in begin_change(), in another thread. */
	pxtu_store_release(&flight->changing, 0);
}

/*
 * Creates the next log. Blocks signals: a child that a signal handler forked in the middle would
 * create a file as well.
 */
static int open_next(const struct pxtu_flight *flight, const struct pxtu_stream *stream,
		     unsigned int *number)
{
	int fd = -ESTALE;
	__u64 signals;

	pxtu_signals_block(&signals);
	if (is_recorder(flight, stream))
		fd = pxtu_flight_open(number);
	pxtu_signals_restore(signals);
	return fd;
}

/* Notes the result of ROTATE. A child that a signal handler forked leaves the log to its parent. */
static int finish(struct pxtu_flight *flight, const struct pxtu_stream *stream, unsigned int next,
		  int err)
{
	__u64 signals;

	pxtu_signals_block(&signals);
	if (!is_recorder(flight, stream)) {
		err = -ESTALE;
	} else if (!err) {
		flight->number = next;
		flight->elsewhere = false;
	} else if (err != -ESHUTDOWN) {
		/* If the stream has ended, its last events may be in the next log. */
		pxtu_flight_remove(next);
	}
	pxtu_signals_restore(signals);
	return err;
}

/* Continues in the next log. Called by one thread at a time. */
static int rotate(struct pxtu_flight *flight, const struct pxtu_stream *stream)
{
	struct posixtrace_rotate arg = { 0 };
	unsigned int next = flight->number + 1;
	int fd, err;

	fd = open_next(flight, stream, &next);
	/*
	 * To the caller, EBADF is about the descriptor of the stream. Here only a filter returns
	 * it.
	 */
	if (fd < 0)
		return fd == -EBADF ? -EOPNOTSUPP : fd;
	arg.log_fd = fd;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_ROTATE, &arg);
	pxtu_close(fd);
	err = finish(flight, stream, next, err);
	return err ? err : -(int)arg.error;
}

/* Gets the path of the current log; it is empty if the program has opened the file. */
static int current_path(const struct pxtu_flight *flight, char *path, size_t size)
{
	if (!flight->elsewhere)
		return pxtu_flight_name(flight->number, path, size);
	if (!size)
		return -ERANGE;
	*path = '\0';
	return 0;
}

static int snapshot(struct pxtu_flight *flight, const struct pxtu_stream *stream, char *path,
		    size_t size)
{
	int err = 0;

	if (!begin_change(flight))
		return -EBUSY;
	if (path)
		err = current_path(flight, path, size);
	if (!err)
		err = rotate(flight, stream);
	end_change(flight);
	return err;
}

int pxtu_recorder_rotate(const struct pxtu_stream *stream, struct posixtrace_rotate *arg)
{
	struct pxtu_state *state = pxtu_state();
	struct pxtu_flight *flight = state ? &state->flight : NULL;
	__u64 signals;
	int err;

	if (!flight || !is_recorder(flight, stream))
		return pxtu_stream_ioctl(stream, POSIXTRACE_IOC_ROTATE, arg);
	if (!begin_change(flight))
		return -EBUSY;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_ROTATE, arg);
	pxtu_signals_block(&signals);
	if (!err && is_recorder(flight, stream))
		flight->elsewhere = true;
	pxtu_signals_restore(signals);
	end_change(flight);
	return err;
}

/**
 * posixtrace_snapshot() - write the events that the flight recorder has in memory to a log
 * @path: receives the path of this log; may be NULL
 * @size: bytes at @path
 *
 * An extension. Completes the current log with the events in memory, and continues in memory, with
 * the next log. No event is lost in between. The path is empty if the log is a file that the
 * program has passed to posixtrace_rotate().
 *
 * Return: 0; EINVAL if this process has no flight recorder, or the recorder was shut down; ERANGE
 * if @size is too small, then nothing was written; EBUSY while another thread changes the log;
 * EEXIST, EACCES, ENOENT, ENOSPC and others if the next log cannot be begun, then nothing changes;
 * the error of writing the log, then the events that are missing in it go to the next one; EAGAIN,
 * ENOMEM.
 */
PXTU_API int posixtrace_snapshot(char *path, size_t size)
{
	struct pxtu_flight *flight;
	struct pxtu_stream *stream;
	int cancel, err;

	err = recorder_use(&flight, &stream);
	if (err)
		return pxtu_error(err);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = snapshot(flight, stream, path, size);
	pthread_setcancelstate(cancel, NULL);
	pxtu_stream_put(stream);
	return pxtu_error(err);
}
