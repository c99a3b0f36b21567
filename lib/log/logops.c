// SPDX-License-Identifier: MIT
/*
 * A log as a source of events.
 */
#include <string.h>
#include <time.h>

#include "attr/attr.h"
#include "log/log.h"
#include "log/logclocks.h"
#include "log/logmappings.h"
#include "log/logmerge.h"
#include "log/logmetadata.h"
#include "log/logsurvey.h"

/* Surveys for tasks that are not in the log: at most this many per event, then one per LOOK_NS. */
#define LOOKS_MAX	4
#define LOOK_NS		10000000U

static int log_next(struct pxtu_source *source, const struct pxtu_place *place,
		    const struct posixtrace_batch_event **event)
{
	struct pxtu_log *log = pxtu_log_of(source);

	(void)place;
	log->looks = 0;
	return pxtu_log_next(log, event);
}

static void log_unread(struct pxtu_source *source)
{
	pxtu_log_unread(pxtu_log_of(source));
}

/* Does nothing, because no thread waits for a log. */
static void log_settle(struct pxtu_source *source)
{
	(void)source;
}

/* A log lives until it is closed. */
static int log_alive(const struct pxtu_source *source)
{
	(void)source;
	return 0;
}

/* Needs no lock, because the attributes do not change. */
static int log_get_attr(struct pxtu_source *source, trace_attr_t *attr)
{
	pxtu_attr_from_uapi(attr, &pxtu_log_of(source)->head.attr);
	return 0;
}

static int log_get_status(struct pxtu_source *source, struct posix_trace_status_info *info)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err;

	pthread_mutex_lock(source->lock);
	err = pxtu_log_survey(log);
	if (!err)
		pxtu_log_status(log, info);
	pthread_mutex_unlock(source->lock);
	return err;
}

/* Survey what was appended, unless the log was complete at the last survey. */
static int survey_more(struct pxtu_log *log)
{
	return pxtu_log_final(&log->survey) ? 0 : pxtu_log_survey(log);
}

static int log_get_name(struct pxtu_source *source, trace_event_id_t id, char *name)
{
	struct pxtu_log *log = pxtu_log_of(source);
	const char *found;
	int err = 0;

	pthread_mutex_lock(source->lock);
	found = pxtu_log_name(log, id);
	if (!found) {
		/* The writer may have appended the name since the last survey. */
		err = survey_more(log);
		found = pxtu_log_name(log, id);
	}
	if (found)
		strcpy(name, found);
	pthread_mutex_unlock(source->lock);
	if (found)
		return 0;
	return err ? err : -EINVAL;
}

static int log_get_description(struct pxtu_source *source, trace_event_id_t id,
			       struct pxtu_text *text)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err, ret;

	pthread_mutex_lock(source->lock);
	err = pxtu_log_description(log, id, text);
	if (err == -ENOENT) {
		/* The writer may have appended the description since the last survey. */
		ret = survey_more(log);
		err = ret ? ret : pxtu_log_description(log, id, text);
		if (err == -ENOENT && !pxtu_log_name(log, id))
			err = -EINVAL;
	}
	pthread_mutex_unlock(source->lock);
	return err;
}

/*
 * Like survey_more(), for facts that many logs lack and that readers ask for with each event. The
 * writer appends the facts before the events, so another survey seldom finds them. After some
 * lookups for events that were read together, limit the rate of surveys.
 */
static int survey_often(struct pxtu_log *log)
{
	struct timespec time;
	__u64 now;

	if (log->looks >= LOOKS_MAX) {
		clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
		now = (__u64)time.tv_sec * 1000000000U + (__u64)time.tv_nsec;
		if (now - log->looked_at < LOOK_NS)
			return 0;
		log->looked_at = now;
	} else {
		log->looks++;
	}
	return survey_more(log);
}

static int log_get_task(struct pxtu_source *source, const struct pxtu_task *task, char *name)
{
	struct pxtu_log *log = pxtu_log_of(source);
	const char *found;
	int err = 0;

	pthread_mutex_lock(source->lock);
	found = pxtu_log_task(log, task);
	if (!found) {
		err = survey_often(log);
		found = pxtu_log_task(log, task);
	}
	if (found)
		memcpy(name, found, POSIXTRACE_LOG_TASK_NAME_SIZE);
	pthread_mutex_unlock(source->lock);
	if (found)
		return 0;
	return err ? err : -ENOENT;
}

static int log_get_life(struct pxtu_source *source, const struct pxtu_task *task,
			struct pxtu_life *life)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err, ret;

	pthread_mutex_lock(source->lock);
	err = pxtu_log_life(log, task, life);
	if (err == -ENOENT) {
		ret = survey_more(log);
		err = ret ? ret : pxtu_log_life(log, task, life);
	}
	pthread_mutex_unlock(source->lock);
	return err;
}

static int log_get_program(struct pxtu_source *source, const struct pxtu_task *task,
			   struct pxtu_text *text)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err, ret;

	pthread_mutex_lock(source->lock);
	err = pxtu_log_program(log, task, text);
	if (err == -ENOENT) {
		ret = survey_often(log);
		err = ret ? ret : pxtu_log_program(log, task, text);
	}
	pthread_mutex_unlock(source->lock);
	return err;
}

static int log_get_mapping(struct pxtu_source *source, const struct pxtu_task *task, __u64 address,
			   struct posixtrace_mapping_info *info)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err, ret;

	pthread_mutex_lock(source->lock);
	err = pxtu_log_mapping(log, task, address, info);
	if (err == -ENOENT) {
		ret = survey_often(log);
		err = ret ? ret : pxtu_log_mapping(log, task, address, info);
	}
	pthread_mutex_unlock(source->lock);
	return err;
}

static int log_get_mappings(struct pxtu_source *source, struct posixtrace_mapping_info *infos,
			    size_t *count, __u64 *next)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err;

	pthread_mutex_lock(source->lock);
	err = survey_more(log);
	if (!err)
		err = pxtu_log_mappings(log, infos, count, next);
	pthread_mutex_unlock(source->lock);
	return err;
}

static int log_get_host(struct pxtu_source *source, struct posixtrace_host_info *info)
{
	struct pxtu_log *log = pxtu_log_of(source);
	const struct posixtrace_log_host *host = &log->survey.tasks.host;
	int err = 0;

	pthread_mutex_lock(source->lock);
	if (!log->survey.tasks.hosted)
		err = survey_more(log);
	if (!err && !log->survey.tasks.hosted)
		err = -ENOENT;
	if (!err) {
		memset(info, 0, sizeof(*info));
		memcpy(info->boot_id, host->boot_id, sizeof(info->boot_id));
		memcpy(info->node, host->node, sizeof(info->node));
		memcpy(info->release, host->release, sizeof(info->release));
		memcpy(info->machine, host->machine, sizeof(info->machine));
		info->realtime_offset = host->realtime_offset;
		info->boottime_offset = host->boottime_offset;
		info->counter = host->counter;
		info->resolution = host->resolution;
	}
	pthread_mutex_unlock(source->lock);
	return err;
}

static int log_get_states(struct pxtu_source *source, struct posixtrace_state *states,
			  size_t *count, __u64 *next)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err;

	pthread_mutex_lock(source->lock);
	err = survey_more(log);
	if (!err)
		err = pxtu_log_states(log, states, count, next);
	pthread_mutex_unlock(source->lock);
	return err;
}

static int log_get_files(struct pxtu_source *source, struct posixtrace_file *files,
			 size_t *count, __u64 *next)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err;

	pthread_mutex_lock(source->lock);
	err = survey_more(log);
	if (!err)
		err = pxtu_log_files(log, files, count, next);
	pthread_mutex_unlock(source->lock);
	return err;
}

static int log_get_clock_pairs(struct pxtu_source *source, struct posixtrace_clock_pair *pairs,
			       size_t *count, __u64 *next)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err;

	pthread_mutex_lock(source->lock);
	err = survey_more(log);
	if (!err)
		pxtu_log_clock_pairs(log, pairs, count, next);
	pthread_mutex_unlock(source->lock);
	return err;
}

static int log_convert_times(struct pxtu_source *source, int clock, const uint64_t *times,
			     size_t count, struct posixtrace_clock_time *results)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err;

	pthread_mutex_lock(source->lock);
	err = survey_more(log);
	if (!err)
		err = pxtu_log_convert(log, clock, times, count, results);
	pthread_mutex_unlock(source->lock);
	return err;
}

static int log_next_type(struct pxtu_source *source, trace_event_id_t *id)
{
	struct pxtu_log *log = pxtu_log_of(source);
	int err = 0;

	pthread_mutex_lock(source->lock);
	*id = pxtu_log_type(log, log->types_next);
	if (!*id) {
		err = survey_more(log);
		*id = pxtu_log_type(log, log->types_next);
	}
	if (!err && *id)
		log->types_next++;
	pthread_mutex_unlock(source->lock);
	return err;
}

static int log_rewind_types(struct pxtu_source *source)
{
	pthread_mutex_lock(source->lock);
	pxtu_log_of(source)->types_next = 0;
	pthread_mutex_unlock(source->lock);
	return 0;
}

const struct pxtu_source_ops pxtu_log_ops = {
	.next = log_next,
	.unread = log_unread,
	.settle = log_settle,
	.alive = log_alive,
	.get_attr = log_get_attr,
	.get_status = log_get_status,
	.get_name = log_get_name,
	.get_description = log_get_description,
	.get_task = log_get_task,
	.get_life = log_get_life,
	.get_program = log_get_program,
	.get_mapping = log_get_mapping,
	.get_mappings = log_get_mappings,
	.get_host = log_get_host,
	.get_states = log_get_states,
	.get_files = log_get_files,
	.get_clock_pairs = log_get_clock_pairs,
	.convert_times = log_convert_times,
	.next_type = log_next_type,
	.rewind_types = log_rewind_types,
};
