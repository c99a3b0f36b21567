// SPDX-License-Identifier: GPL-2.0
/*
 * Reports which events and data are missing in a log: see logend.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>

#include "event/logend.h"
#include "util/message.h"

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

static bool has_flag(trace_id_t log, uint32_t flag)
{
	struct posixtrace_log_info info;

	return !posixtrace_get_log_info(log, &info) && info.flags & flag;
}

bool logend_ended(const struct source *source)
{
	return source_is_complete(source);
}

static bool has_ended(trace_id_t log)
{
	return has_flag(log, POSIXTRACE_LOG_ENDED);
}

/*
 * Is a log damaged? Includes damage to the names and metadata of a LOOP log, which no event
 * reports.
 */
static bool is_damaged(trace_id_t log)
{
	return has_flag(log, POSIXTRACE_LOG_DAMAGED);
}

/*
 * Gets the number of events that were lost before the last event of each log. With several logs,
 * @end->lost is larger by one for each missing log of a series, so it is not used.
 */
static uint64_t lost_in_logs(const struct logend *end, const struct source *source)
{
	uint64_t damaged, lost, sum = 0;

	if (source_logs(source) == 1)
		return end->lost;
	for (size_t i = 0; i < source_logs(source); i++) {
		source_log_losses(source, i, &damaged, &lost);
		sum += lost;
	}
	return sum;
}

int logend_read(struct logend *end, const struct source *source)
{
	struct posixtrace_log_info info;
	int err = source_get_info(source, &info);
	uint64_t lost;

	if (err)
		return err;
	end->overwritten = info.overwritten;
	lost = lost_in_logs(end, source);
	if (info.lost > lost) {
		end->lost_after = info.lost - lost;
		end->lost += end->lost_after;
	}
	return 0;
}

/* Reports what is missing in a log that is not damaged. */
static void tell_missing(const struct logend *end, const char *path, trace_id_t log,
			 const struct posix_trace_status_info *status)
{
	if (status->posix_stream_flush_error)
		tell("%s: incomplete: writing the log failed: %s", path,
		     strerror(status->posix_stream_flush_error));
	/*
	 * Overwritten events need no advice, because the policy LOOP overwrites events by design.
	 */
	if (end->overwritten)
		tell("%s: %llu older events were overwritten in the log: its policy is loop", path,
		     (unsigned long long)end->overwritten);
	else if (status->posix_log_full_status == POSIX_TRACE_FULL)
		tell("%s: the log was full: later events are missing", path);
	if (!has_ended(log))
		tell("%s: the log has no end: it is still being written, or was cut short", path);
}

/* Does the stream overwrite events by design? */
static bool is_loop(trace_id_t log)
{
	int policy = POSIX_TRACE_FLUSH;
	trace_attr_t attr;

	if (!posix_trace_get_attr(log, &attr)) {
		posix_trace_attr_getstreamfullpolicy(&attr, &policy);
		posix_trace_attr_destroy(&attr);
	}
	return policy == POSIX_TRACE_LOOP;
}

/* Explains why events were lost, or what to do about it. */
static const char *lost_because(const struct logend *end, trace_id_t log,
				const struct posix_trace_status_info *status)
{
	if (status->posix_stream_flush_error)
		return "the log could not be written";
	if (status->posix_log_full_status == POSIX_TRACE_FULL && !end->overwritten)
		return "use a larger log";
	/* Only a finished log records if the disk was full. */
	if (!has_ended(log))
		return "the stream is too small, or the disk was full";
	return "use a larger stream";
}

static void tell_lost(const struct logend *end, const char *path, trace_id_t log,
		      const struct posix_trace_status_info *status)
{
	unsigned long long lost = end->lost;

	if (is_loop(log))
		tell("%s: %llu event%s not in the log: the stream's policy is loop", path, lost,
		     lost == 1 ? " is" : "s are");
	else
		tell("%s: %llu event%s lost: %s", path, lost, lost == 1 ? " was" : "s were",
		     lost_because(end, log, status));
}

static int tell_log(const struct logend *end, const char *path, trace_id_t log)
{
	struct posix_trace_status_info status;
	int err = posix_trace_get_status(log, &status);

	if (err) {
		complain(path, err);
		return -err;
	}
	if (end->lost)
		tell_lost(end, path, log, &status);
	if (end->damaged) {
		tell("%s: the log is damaged in %llu place%s: events may be missing there", path,
		     (unsigned long long)end->damaged, end->damaged == 1 ? "" : "s");
		return -EIO;
	}
	tell_missing(end, path, log, &status);
	if (is_damaged(log)) {
		tell("%s: the log is damaged elsewhere: names or the last events may be missing",
		     path);
		return -EIO;
	}
	return 0;
}

int logend_read_log(struct logend *end, const struct source *source, size_t log)
{
	struct posixtrace_log_info info;
	int err = posixtrace_get_log_info(source_log_trid(source, log), &info);

	if (err)
		return -err;
	*end = (struct logend){ .overwritten = info.overwritten };
	source_log_losses(source, log, &end->damaged, &end->lost);
	if (info.lost > end->lost)
		end->lost = info.lost;
	return 0;
}

int logend_tell(const struct logend *end, const char *path, const struct source *source)
{
	struct logend one;
	int err, worst = 0;

	if (source_logs(source) == 1)
		return tell_log(end, path, source_trid(source));
	for (size_t i = 0; i < source_logs(source); i++) {
		path = source_log_path(source, i);
		err = logend_read_log(&one, source, i);
		if (err)
			complain(path, -err);
		else
			err = tell_log(&one, path, source_log_trid(source, i));
		if (err)
			worst = err;
	}
	return worst;
}
