// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a log: the last pairs of clocks, the index, and the status.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "log/logblock.h"

/* Write a block that take_back() can remove. */
static int write_last(struct pxt_logwriter *w, u32 type, u32 size, u32 count)
{
	struct pxt_logindex *index = &w->index;
	int err;

	if (!index->blocks)
		index->eventless = w->eventless;
	err = pxt_logwriter_metadata(w, type, size, count);
	if (!err) {
		index->blocks++;
		index->size += sizeof(struct posixtrace_log_block) + size;
		index->end = w->file.pos;
	}
	return err;
}

/* Write the pairs of clocks at the end, once. */
static int write_clocks(struct pxt_logwriter *w, const struct pxt_clock_error *error)
{
	u32 count;
	int err;

	if (w->clocks.ended)
		return 0;
	count = pxt_logclocks_fill(&w->clocks, error, pxt_logwriter_payload(w));
	err = write_last(w, POSIXTRACE_LOG_CLOCKS, count * sizeof(struct posixtrace_log_clock),
			 count);
	if (!err) {
		pxt_logclocks_written(&w->clocks);
		w->clocks.ended = true;
	}
	return err;
}

/* Write the marks in as many blocks as they need. If interrupted, the next call continues. */
static int write_index(struct pxt_logwriter *w)
{
	const u32 most = pxt_logwriter_room(w) / sizeof(*w->index.mark);
	struct pxt_logindex *index = &w->index;
	u32 count, size;
	int err = 0;

	while (!err && pxt_logindex_finish(index, pxt_logwriter_oldest(w))) {
		count = min(index->count - index->written, most);
		size = count * sizeof(*index->mark);
		memcpy(pxt_logwriter_payload(w), index->mark + index->written, size);
		err = write_last(w, POSIXTRACE_LOG_INDEX, size, count);
		if (!err)
			index->written += count;
	}
	return err;
}

static bool lacks_room(int err)
{
	return err == -EFBIG || err == -ENOSPC || err == -EDQUOT;
}

/* Make the next block overwrite the last pairs and the index. Returns false if there are none. */
static bool take_back(struct pxt_logwriter *w)
{
	if (w->policy == POSIXTRACE_POLICY_LOOP || !w->file.seekable || !w->index.blocks ||
	    w->file.pos != w->index.end)
		return false;
	w->file.pos -= w->index.size;
	w->seq -= w->index.blocks;
	w->eventless = w->index.eventless;
	w->index.blocks = 0;
	w->index.size = 0;
	return true;
}

/**
 * pxt_logwriter_end() - write the status of the log
 * @w: started
 * @end: flags, error, lost; the other fields are filled in
 * @error: a new error of CLOCK_REALTIME for the last status, or NULL
 *
 * Pairs of clocks and the index precede the last status of a log without errors.
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_end(struct pxt_logwriter *w, const struct posixtrace_log_end *end,
		      const struct pxt_clock_error *error)
{
	const bool last = end->flags & POSIXTRACE_LOG_END_FINAL && !end->error;
	int err = 0;

	if (last)
		err = write_clocks(w, error);
	if (last && !err)
		err = write_index(w);
	if (err == -ERESTARTSYS)
		return err;
	err = pxt_logwriter_status(w, end);
	if (lacks_room(err) && take_back(w))
		err = pxt_logwriter_status(w, end);
	return err;
}
