// SPDX-License-Identifier: MIT
/*
 * A log as a source of events.
 */
#include <string.h>

#include "attr/attr.h"
#include "log/log.h"

static int log_next(struct pxtu_source *source, const struct pxtu_place *place,
		    const struct pxtu_event **event)
{
	(void)place;
	return pxtu_log_next(pxtu_log_of(source), event);
}

static void log_unread(struct pxtu_source *source)
{
	pxtu_log_unread(pxtu_log_of(source));
}

/* No thread waits for a log. */
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

/* Without the lock: they do not change. */
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

static int log_get_name(struct pxtu_source *source, trace_event_id_t id, char *name)
{
	struct pxtu_log *log = pxtu_log_of(source);
	const char *found;
	int err = 0;

	pthread_mutex_lock(source->lock);
	found = pxtu_log_name(log, id);
	if (!found) {
		/* The writer may have appended it since. */
		err = pxtu_log_survey(log);
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
		/* The writer may have appended it since. */
		ret = pxtu_log_survey(log);
		err = ret ? ret : pxtu_log_description(log, id, text);
		if (err == -ENOENT && !pxtu_log_name(log, id))
			err = -EINVAL;
	}
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
		err = pxtu_log_survey(log);
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
	.next_type = log_next_type,
	.rewind_types = log_rewind_types,
};
