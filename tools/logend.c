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

static int log_policy(const struct source *source)
{
	trace_attr_t attr;
	int policy = -1;

	if (posix_trace_get_attr(source_trid(source), &attr))
		return -1;
	posix_trace_attr_getlogfullpolicy(&attr, &policy);
	posix_trace_attr_destroy(&attr);
	return policy;
}

bool logend_complete(const struct source *source)
{
	struct posix_trace_status_info status;

	if (posix_trace_get_status(source_trid(source), &status))
		return false;
	if (status.posix_log_overrun_status == POSIX_TRACE_NO_OVERRUN)
		return true;
	/* Nothing more fits into such a log. */
	return status.posix_log_full_status == POSIX_TRACE_FULL &&
	       log_policy(source) == POSIX_TRACE_UNTIL_FULL;
}

/* Nothing of it is damaged, but not all is there. */
static void tell_what_is_missing(const char *path, const struct source *source,
				 const struct posix_trace_status_info *status)
{
	if (status->posix_stream_flush_error)
		fprintf(stderr, "posixtrace: %s: is not complete: writing it failed: %s\n", path,
			strerror(status->posix_stream_flush_error));
	else if (status->posix_log_full_status != POSIX_TRACE_FULL)
		fprintf(stderr,
			"posixtrace: %s: has no end: it is still being written, or it was cut\n",
			path);
	else if (log_policy(source) == POSIX_TRACE_LOOP)
		fprintf(stderr,
			"posixtrace: %s: older events were overwritten: use a larger log\n", path);
	else
		fprintf(stderr, "posixtrace: %s: was full: what came then is missing\n", path);
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
		fprintf(stderr, "posixtrace: %s: %llu event%s lost: use a larger stream\n", path,
			(unsigned long long)end->lost, end->lost == 1 ? " was" : "s were");
	if (end->damaged) {
		fprintf(stderr,
			"posixtrace: %s: is damaged in %llu place%s: this is what is left of it\n",
			path, (unsigned long long)end->damaged, end->damaged == 1 ? "" : "s");
		return -EIO;
	}
	if (status.posix_log_overrun_status != POSIX_TRACE_NO_OVERRUN)
		tell_what_is_missing(path, source, &status);
	return 0;
}
