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
	if (end->overwritten)
		fprintf(stderr,
			"posixtrace: %s: %llu older events were overwritten: use a larger log\n",
			path, (unsigned long long)end->overwritten);
	else if (status->posix_log_full_status == POSIX_TRACE_FULL)
		fprintf(stderr, "posixtrace: %s: was full: what came then is missing\n", path);
	if (!logend_ended(source))
		fprintf(stderr,
			"posixtrace: %s: has no end: it is still being written, or it was cut\n",
			path);
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
		fprintf(stderr, "posixtrace: %s: %llu event%s lost: use a larger %s\n", path,
			(unsigned long long)end->lost, end->lost == 1 ? " was" : "s were",
			status.posix_log_full_status == POSIX_TRACE_FULL && !end->overwritten ?
			"log" : "stream");
	if (end->damaged) {
		fprintf(stderr,
			"posixtrace: %s: is damaged in %llu place%s: this is what is left of it\n",
			path, (unsigned long long)end->damaged, end->damaged == 1 ? "" : "s");
		return -EIO;
	}
	tell_what_is_missing(end, path, source, &status);
	return 0;
}
