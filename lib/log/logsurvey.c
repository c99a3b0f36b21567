// SPDX-License-Identifier: MIT
/*
 * Collects facts about the whole log: names of event types, status, and whether it is complete.
 * Walks over all blocks when the log is opened, unless logbrief.c could avoid that, and over
 * appended blocks later.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "log/crc32c.h"
#include "log/log.h"
#include "log/logblock.h"
#include "log/loghead.h"
#include "log/logmappings.h"
#include "log/logmarks.h"
#include "log/logmetadata.h"
#include "log/logstates.h"
#include "log/logsurvey.h"
#include "log/logwalk.h"

#define NAMES_MIN	64U
/* Attempts to read a structure: the writer may be in the middle of writing it. */
#define TRIES	4

#define PREDEFINED(id, name)		{ POSIXTRACE_ID_##id, name },
#define KERNEL_TYPE(id, class, name)	{ POSIXTRACE_CLASS_##class, POSIXTRACE_ID_##id, name },

static const struct {
	__u32 id;
	const char *name;
} predefined[] = {
	POSIXTRACE_SYSTEM_TYPES(PREDEFINED)
	{ POSIXTRACE_ID_UNNAMED, POSIXTRACE_UNNAMED_NAME },
};

static const struct {
	__u64 class;
	__u32 id;
	const char *name;
} kernel_types[] = {
	POSIXTRACE_KERNEL_TYPES(KERNEL_TYPE)
};

static bool has_kernel_type(const struct pxtu_log *log, unsigned int i)
{
	return log->head.attr.classes & kernel_types[i].class;
}

const char *pxtu_log_name(const struct pxtu_log *log, __u32 id)
{
	unsigned int i;

	for (i = 0; i < PXTU_ARRAY_SIZE(kernel_types); i++)
		if (kernel_types[i].id == id && has_kernel_type(log, i))
			return kernel_types[i].name;
	for (i = 0; i < PXTU_ARRAY_SIZE(predefined); i++)
		if (predefined[i].id == id)
			return predefined[i].name;
	if (id >= POSIXTRACE_ID_MAX || !log->survey.place[id])
		return NULL;
	return log->survey.names[log->survey.place[id] - 1].name;
}

__u32 pxtu_log_type(const struct pxtu_log *log, __u32 place)
{
	const __u32 first = PXTU_ARRAY_SIZE(predefined);
	unsigned int i;

	if (place < first)
		return predefined[place].id;
	place -= first;
	for (i = 0; i < PXTU_ARRAY_SIZE(kernel_types); i++) {
		if (!has_kernel_type(log, i))
			continue;
		if (!place)
			return kernel_types[i].id;
		place--;
	}
	return place < log->survey.nr_names ? log->survey.names[place].id : 0;
}

/* The names of a LOOP log are outside of blocks, so their checksums include the cookie. */
static bool name_valid(const struct pxtu_log *log, const struct posixtrace_log_name *name)
{
	const __u64 cookie = log->head.cookie;
	struct posixtrace_log_name copy = *name;
	__u32 crc = log->head.ring_end ? pxtu_crc32c(0, &cookie, sizeof(cookie)) : 0;

	copy.crc = 0;
	return pxtu_crc32c(crc, &copy, sizeof(copy)) == name->crc &&
	       name->id > POSIXTRACE_ID_UNNAMED && name->id < POSIXTRACE_ID_MAX &&
	       name->name[0] && memchr(name->name, '\0', sizeof(name->name));
}

static int add_name(struct pxtu_log *log, const struct posixtrace_log_name *name)
{
	struct pxtu_log_survey *survey = &log->survey;
	__u32 room = survey->names_room ? 2 * survey->names_room : NAMES_MIN;
	struct posixtrace_log_name *names;

	if (!name_valid(log, name)) {
		survey->damaged = true;
		return 0;
	}
	if (survey->place[name->id])
		return 0;
	/* This is bounded: there are at most as many names as event types. */
	if (survey->nr_names == survey->names_room) {
		names = realloc(survey->names, room * sizeof(*names));
		if (!names)
			return -ENOMEM;
		survey->names = names;
		survey->names_room = room;
	}
	survey->names[survey->nr_names++] = *name;
	survey->place[name->id] = (__u16)survey->nr_names;
	return 0;
}

/* Read the names in a block, even if its payload is damaged: each name has a checksum. */
static int read_names(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	__u64 offset = block->offset + log->head.block_size;
	struct posixtrace_log_name name;
	int err = 0;
	__u32 i;

	for (i = 0; i < block->head.count && !err; i++, offset += sizeof(name)) {
		if (pxtu_log_read(log, &name, sizeof(name), offset) == sizeof(name))
			err = add_name(log, &name);
		else
			err = pxtu_log_failed(log);
	}
	return err;
}

static bool end_valid(const struct posixtrace_log_end *end)
{
	struct posixtrace_log_end copy = *end;

	copy.crc = 0;
	return pxtu_crc32c(0, &copy, sizeof(copy)) == end->crc && end->error >= 0;
}

/* Returns -ENOENT if there is no status, -EBADMSG if it is damaged. */
static int try_end(struct pxtu_log *log, __u64 offset, struct posixtrace_log_end *end)
{
	static const struct posixtrace_log_end none;
	int i;

	for (i = 0; i < TRIES; i++) {
		if (pxtu_log_read(log, end, sizeof(*end), offset) != sizeof(*end) ||
		    !memcmp(end, &none, sizeof(*end)))
			return -ENOENT;
		if (!end_valid(end))
			continue;
		if (end->cookie == log->head.cookie)
			return 0;
		/*
		 * A LOOP log may have no status yet: the writer has written its header, and this
		 * is the status of an earlier log in the file.
		 */
		return log->head.ring_end ? -ENOENT : -EBADMSG;
	}
	return -EBADMSG;
}

/* Returns false if there is no name. */
static bool read_fixed_name(struct pxtu_log *log, __u32 place, struct posixtrace_log_name *name)
{
	return pxtu_log_read(log, name, sizeof(*name), log->head.names + place * sizeof(*name)) ==
			     sizeof(*name) && (name->id || name->crc || name->name[0]);
}

/* Does the file contain a different log now? The writer writes the header before the names. */
static bool log_replaced(struct pxtu_log *log)
{
	__u64 cookie;

	return pxtu_log_read(log, &cookie, sizeof(cookie),
			     offsetof(struct posixtrace_log_header, cookie)) ==
	       sizeof(cookie) && cookie != log->head.cookie;
}

/* Number of names, if the writer will add no more; otherwise 0. */
static __u32 names_known(const struct pxtu_log_survey *survey)
{
	return pxtu_log_final(survey) ? survey->end.names : 0;
}

/* Read the names that the writer of a LOOP log has added, at their fixed place. */
static int read_fixed_names(struct pxtu_log *log)
{
	struct pxtu_log_survey *survey = &log->survey;
	struct posixtrace_log_name name, next;
	int i, err = 0;

	while (survey->names_read < POSIXTRACE_ID_MAX && !err) {
		for (i = 0; i < TRIES; i++) {
			if (!read_fixed_name(log, survey->names_read, &name) &&
			    (log->error || survey->names_read >= names_known(survey)))
				return 0;
			if (name_valid(log, &name))
				break;
		}
		if (i == TRIES && log_replaced(log))
			return 0;
		/* If the last name is invalid, its write may not be complete: read it later. */
		if (i == TRIES && !pxtu_log_final(survey) &&
		    !read_fixed_name(log, survey->names_read + 1, &next))
			return 0;
		err = add_name(log, &name);
		if (!err)
			survey->names_read++;
	}
	return err;
}

void pxtu_log_read_end(struct pxtu_log *log, __u64 offset)
{
	struct pxtu_log_survey *survey = &log->survey;
	struct posixtrace_log_end end;
	int err = try_end(log, offset, &end);

	survey->end_valid = !err;
	if (!err)
		survey->end = end;
	if (err == -EBADMSG)
		survey->damaged = true;
}

bool pxtu_log_final_now(struct pxtu_log *log)
{
	struct posixtrace_log_end end;

	return !try_end(log, log->head.end, &end) && end.flags & POSIXTRACE_LOG_END_FINAL;
}

int pxtu_log_survey_block(struct pxtu_log *log, enum pxtu_log_step step,
			  const struct pxtu_log_block *block)
{
	struct pxtu_log_survey *survey = &log->survey;
	int err = 0;

	if (!block->head.type)
		return 0;
	if (block->head.gap_generation > survey->generation) {
		survey->generation = block->head.gap_generation;
		survey->gap = true;
	}
	switch (block->head.type) {
	case POSIXTRACE_LOG_EVENTS:
	case POSIXTRACE_LOG_KERNEL:
		return pxtu_marks_add(log, block);
	case POSIXTRACE_LOG_NAMES:
		return read_names(log, block);
	case POSIXTRACE_LOG_DESCRIPTIONS:
	case POSIXTRACE_LOG_KERNEL_TYPES:
		/* Ignore a damaged payload: its parts have no checksums. */
		return step == PXTU_LOG_BLOCK ? pxtu_log_add_descriptions(log, block) : 0;
	case POSIXTRACE_LOG_HOST:
	case POSIXTRACE_LOG_TASKS:
	case POSIXTRACE_LOG_PROGRAMS:
		return step == PXTU_LOG_BLOCK ? pxtu_log_add_tasks(log, block) : 0;
	case POSIXTRACE_LOG_MAPPINGS:
		return step == PXTU_LOG_BLOCK ? pxtu_log_add_mappings(log, block) : 0;
	case POSIXTRACE_LOG_STATES:
	case POSIXTRACE_LOG_FILES:
		return step == PXTU_LOG_BLOCK ? pxtu_log_add_rows(log, block) : 0;
	case POSIXTRACE_LOG_CLOCKS:
		return step == PXTU_LOG_BLOCK ? pxtu_log_add_clocks(log, block) : 0;
	case POSIXTRACE_LOG_END:
		pxtu_log_read_end(log, block->offset + log->head.block_size);
		err = pxtu_log_failed(log);
		survey->ended = !err;
		break;
	case POSIXTRACE_LOG_RESET:
		if (block->head.gap_generation)
			survey->generation = block->head.gap_generation;
		survey->gap = false;
		pxtu_marks_forget(log);
		pxtu_log_forget_rows(survey);
		survey->start = survey->walk;
		survey->start_generation = survey->generation;
		break;
	}
	return err;
}

/* Load the marks of a LOOP log. If they are damaged, the survey reads the whole ring. */
static int load_marks(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	int err = pxtu_marks_load(log, block);

	if (err != -EBADMSG)
		return err;
	log->survey.damaged = true;
	pxtu_marks_forget(log);
	return 0;
}

/* Read the metadata of a LOOP log, which is not in the ring. */
static int read_metadata(struct pxtu_log *log)
{
	struct pxtu_log_walk *walk = &log->survey.metadata, before;
	struct pxtu_log_block block;
	enum pxtu_log_step step;
	int err;

	pxtu_log_begin_metadata(log);
	for (;;) {
		before = *walk;
		step = pxtu_log_walk_metadata(log, walk, &block);
		err = pxtu_log_failed(log);
		if (!err && step == PXTU_LOG_NOTHING)
			return 0;
		if (!err && step == PXTU_LOG_DAMAGE)
			log->survey.damaged = true;
		else if (!err && (block.head.type == POSIXTRACE_LOG_DESCRIPTIONS ||
				  block.head.type == POSIXTRACE_LOG_KERNEL_TYPES))
			err = pxtu_log_add_descriptions(log, &block);
		else if (!err && block.head.type == POSIXTRACE_LOG_MAPPINGS)
			err = pxtu_log_add_mappings(log, &block);
		else if (!err && (block.head.type == POSIXTRACE_LOG_STATES ||
				  block.head.type == POSIXTRACE_LOG_FILES))
			err = pxtu_log_add_rows(log, &block);
		else if (!err && block.head.type == POSIXTRACE_LOG_CLOCKS)
			err = pxtu_log_add_clocks(log, &block);
		else if (!err && block.head.type == POSIXTRACE_LOG_INDEX && log->survey.brief)
			err = load_marks(log, &block);
		else if (!err)
			err = pxtu_log_add_tasks(log, &block);
		if (err) {
			*walk = before;
			return err;
		}
	}
}

/* Read the status of a LOOP log. */
void pxtu_log_read_status(struct pxtu_log *log)
{
	const struct posixtrace_log_end before = log->survey.end;

	/* This also checks that the descriptor still refers to this file. */
	log->survey.end_valid = false;
	if (!pxtu_log_reaches(log, log->head.end + sizeof(before)))
		return;
	pxtu_log_read_end(log, log->head.end);
	/*
	 * Each change of the status renews the search budget of the metadata. Only a writer changes
	 * the status, so a forged file cannot renew it again and again.
	 */
	if (memcmp(&before, &log->survey.end, sizeof(before)))
		pxtu_log_renew_metadata(log);
}

/* Has a LOOP log ended, but without its last block of events or of metadata? */
static bool lacks_last(const struct pxtu_log_survey *survey)
{
	return pxtu_log_final(survey) && (survey->walk.newest != survey->end.seq ||
					 survey->metadata.seq != survey->end.metadata + 1);
}

int pxtu_log_survey_fixed(struct pxtu_log *log)
{
	int err = read_fixed_names(log);

	if (!err)
		err = read_metadata(log);
	return err ? err : pxtu_log_failed(log);
}

/* Survey the parts of a LOOP log that are outside of the ring. */
static int survey_loop(struct pxtu_log *log)
{
	int err = pxtu_log_survey_fixed(log);

	if (!err && lacks_last(&log->survey))
		log->survey.damaged = true;
	return err;
}

void pxtu_log_forget_brief(struct pxtu_log *log)
{
	struct pxtu_log_survey *survey = &log->survey;

	survey->brief = false;
	pxtu_marks_forget(log);
	/* Keep what is outside of the ring: a brief survey has read that completely. */
	if (log->head.ring_end)
		return;
	survey->ended = false;
	survey->end_valid = false;
	survey->gap = false;
	survey->generation = 0;
	survey->nr_names = 0;
	memset(survey->place, 0, sizeof(survey->place));
	pxtu_log_forget_places(survey);
	survey->tasks.nr_tasks = 0;
}

int pxtu_log_survey(struct pxtu_log *log)
{
	struct pxtu_log_survey *survey = &log->survey;
	struct pxtu_log_block block;
	struct pxtu_log_walk before;
	enum pxtu_log_step step;
	int err;

	/* After posixtrace_seek(), the facts from the end of the log are enough. */
	if (survey->brief && log->sought)
		return log->foreign ? -ESHUTDOWN : 0;
	if (survey->brief)
		pxtu_log_forget_brief(log);
	/* The file may also have become shorter. */
	log->size = 0;
	log->error = 0;
	/* Read the status before the blocks: if it is final, all blocks are there. */
	if (log->head.ring_end)
		pxtu_log_read_status(log);
	while (!survey->ended) {
		before = survey->walk;
		step = pxtu_log_walk(log, &survey->walk, &block);
		err = pxtu_log_failed(log);
		if (!err && step == PXTU_LOG_NOTHING)
			break;
		if (!err)
			err = pxtu_log_survey_block(log, step, &block);
		if (err) {
			survey->walk = before;
			return err;
		}
		if (step == PXTU_LOG_DAMAGE)
			survey->damaged = true;
	}
	if (log->foreign)
		return -ESHUTDOWN;
	return log->head.ring_end ? survey_loop(log) : 0;
}

/* Was the log completed, and is all of it there? */
static bool log_whole(const struct pxtu_log *log)
{
	const struct pxtu_log_survey *survey = &log->survey;
	const struct posixtrace_log_end *end = &survey->end;

	return !survey->damaged && !survey->overwritten && pxtu_log_final(survey) &&
	       !(end->flags & POSIXTRACE_LOG_END_OVERRUN) && !end->overwritten && !end->error &&
	       !(end->flags & POSIXTRACE_LOG_END_FULL && end->lost);
}

void pxtu_log_status(const struct pxtu_log *log, struct posix_trace_status_info *info)
{
	const struct pxtu_log_survey *survey = &log->survey;
	bool lost, full;

	lost = survey->gap || survey->damaged || (survey->end_valid && survey->end.lost);
	/* A LOOP log that has overwritten blocks is full, like a LOOP stream. */
	full = survey->end_valid && survey->end.flags & (POSIXTRACE_LOG_END_FULL |
						       POSIXTRACE_LOG_END_OVERRUN);
	memset(info, 0, sizeof(*info));
	info->posix_stream_status = POSIX_TRACE_SUSPENDED;
	info->posix_stream_full_status = POSIX_TRACE_NOT_FULL;
	info->posix_stream_overrun_status = lost ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	info->posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING;
	info->posix_stream_flush_error = survey->end_valid ? survey->end.error : 0;
	info->posix_log_overrun_status = log_whole(log) ?
					 POSIX_TRACE_NO_OVERRUN : POSIX_TRACE_OVERRUN;
	info->posix_log_full_status = full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
}
