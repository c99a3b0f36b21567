// SPDX-License-Identifier: GPL-2.0
/*
 * What is missing in a log, in words: see logend.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>

#include "commands.h"
#include "logend.h"

void logend_event(struct logend *end, const struct event *event)
{
	if (!end->begun) {
		end->begun = true;
		end->lost_before = event->lost;
	}
	end->lost = event->lost;
	end->damaged += event->type == POSIX_TRACE_ERROR;
	end->gaps += event->type == POSIX_TRACE_RESUME;
}

bool logend_ended(const struct source *source)
{
	struct posixtrace_log_info info;

	return !posixtrace_get_log_info(source_trid(source), &info) &&
	       info.flags & POSIXTRACE_LOG_ENDED;
}

int logend_read(struct logend *end, const struct source *source)
{
	struct posixtrace_log_info info;
	int err = posixtrace_get_log_info(source_trid(source), &info);

	if (err)
		return -err;
	end->overwritten = info.overwritten;
	if (info.lost > end->lost) {
		end->lost_behind = info.lost - end->lost;
		end->lost = info.lost;
	}
	return 0;
}

/* Nothing of it is damaged, but is all there? */
static void tell_what_is_missing(const struct logend *end, const char *path,
				 const struct source *source,
				 const struct posix_trace_status_info *status)
{
	if (status->posix_stream_flush_error)
		fprintf(stderr, "posixtrace: %s: is not complete: writing it failed: %s\n", path,
			strerror(status->posix_stream_flush_error));
	/* That is what its policy is for: no advice. */
	if (end->overwritten)
		tell("%s: %llu older events were overwritten in the log: its policy is loop", path,
		     (unsigned long long)end->overwritten);
	else if (status->posix_log_full_status == POSIX_TRACE_FULL)
		fprintf(stderr, "posixtrace: %s: was full: what came then is missing\n", path);
	if (!logend_ended(source))
		fprintf(stderr,
			"posixtrace: %s: has no end: it is still being written, or it was cut\n",
			path);
}

/* A stream with the policy loop keeps the last events, as it was asked to. */
static bool is_loop(const struct source *source)
{
	int policy = POSIX_TRACE_FLUSH;
	trace_attr_t attr;

	if (!posix_trace_get_attr(source_trid(source), &attr)) {
		posix_trace_attr_getstreamfullpolicy(&attr, &policy);
		posix_trace_attr_destroy(&attr);
	}
	return policy == POSIX_TRACE_LOOP;
}

static void tell_what_was_lost(const struct logend *end, const char *path,
			       const struct source *source,
			       const struct posix_trace_status_info *status)
{
	unsigned long long lost = end->lost;

	if (is_loop(source))
		tell("%s: %llu event%s not in the log: the stream's policy is loop", path, lost,
		     lost == 1 ? " is" : "s are");
	else
		tell("%s: %llu event%s lost: use a larger %s", path, lost,
		     lost == 1 ? " was" : "s were",
		     status->posix_log_full_status == POSIX_TRACE_FULL && !end->overwritten ?
		     "log" : "stream");
}

int logend_tell(const struct logend *end, const char *path, const struct source *source)
{
	struct posix_trace_status_info status;
	int err = posix_trace_get_status(source_trid(source), &status);

	if (err) {
		complain(path, err);
		return -err;
	}
	if (end->lost)
		tell_what_was_lost(end, path, source, &status);
	if (end->damaged) {
		fprintf(stderr,
			"posixtrace: %s: is damaged in %llu place%s: this is what is left of it\n",
			path, (unsigned long long)end->damaged, end->damaged == 1 ? "" : "s");
		return -EIO;
	}
	tell_what_is_missing(end, path, source, &status);
	return 0;
}
