// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the latest events to a log: see window.h.
 */
#include <stdlib.h>
#include <string.h>

#include <posixtrace.h>

#include "top/window.h"
#include "util/message.h"

static int set_attr(const struct session *session, trace_attr_t *attr)
{
	int err = session_attr(session, "posixtrace top", attr);

	if (err)
		return err;
	err = posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_LOOP);
	if (!err)
		err = posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_APPEND);
	if (!err)
		err = posixtrace_attr_setcompression(attr, POSIXTRACE_COMPRESS_LZ4);
	if (err)
		posix_trace_attr_destroy(attr);
	return err;
}

static int create(struct top_window *window, struct session *session)
{
	trace_attr_t attr;
	int err = set_attr(session, &attr);

	if (err) {
		complain("attributes", err);
		return err;
	}
	err = session_create_beside(session, &attr, window->log.fd, &window->trid);
	posix_trace_attr_destroy(&attr);
	return err;
}

int top_window_open(struct top_window *window, struct session *session)
{
	int err;

	if (!window->log.path)
		return 0;
	window->log.no_force = true;
	window->rotation.skip = true;
	err = logfile_open(&window->log, false);
	if (err)
		return err;
	err = rotation_begin(&window->rotation, &window->log);
	if (!err)
		err = create(window, session);
	if (err) {
		logfile_discard(&window->log);
		logfile_close(&window->log);
		return err;
	}
	window->open = true;
	return 0;
}

int top_window_start(struct top_window *window)
{
	int err = window->open ? posix_trace_start(window->trid) : 0;

	if (err)
		complain(logfile_name(&window->log), err);
	return err;
}

void top_window_write(struct top_window *window)
{
	char *path;
	int end_error = 0;

	if (!window->open) {
		tell("start \"posixtrace top\" with --output=LOG to write the latest events");
		return;
	}
	path = strdup(logfile_name(&window->log));
	if (path && !rotation_next(&window->rotation, &window->log, window->trid, &end_error)) {
		if (end_error)
			complain(path, end_error);
		else
			tell("wrote the latest events to %s", path);
	}
	free(path);
}

void top_window_close(struct top_window *window)
{
	if (!window->open)
		return;
	window->open = false;
	posix_trace_shutdown(window->trid);
	/* The user has not asked to write the current log. */
	logfile_discard(&window->log);
	logfile_close(&window->log);
	rotation_free(&window->rotation);
}
