// SPDX-License-Identifier: GPL-2.0
/*
 * Critical paths in a Perfetto trace: see perfetto_why.h.
 *
 * The slice of an instance contains slices for what its thread did. The slice of a wait contains
 * slices for what the waker did in that time, and so on, as in the tree of "posixtrace why".
 */
#include <string.h>

#include "analyze/critical.h"
#include "export/perfetto_args.h"
#include "export/perfetto_why.h"
#include "export/proto.h"
#include "print/why_text.h"

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define EVENT_NAME			23
#define EVENT_FLOW_IDS			47
#define EVENT_TERMINATING_FLOW_IDS	48

/* Values. */
#define TYPE_SLICE_BEGIN	1
#define TYPE_SLICE_END		2
#define TYPE_INSTANT		3

#define DEPTH	(CRITICAL_DEPTH + 8)	/* nested parts around a step, at most */

/* The path of one instance. */
struct path {
	struct packets *packets;
	const struct perfetto_why_ops *ops;
	void *to;
	const struct why *why;
	const struct part *parts;
	uint64_t track;
	uint64_t *flows;		/* last flow id that was used, shared by all paths */
	uint32_t open[DEPTH];		/* parts with an open slice, the outermost first */
	uint64_t flow[DEPTH];		/* for each of @open: id of its flow, or 0 */
	size_t depth;
};

static void put_name(struct path *path, const struct buffer *name)
{
	struct buffer *to = packets_to(path->packets);

	/* Names of threads are already escaped. */
	proto_bytes(to, EVENT_NAME, name->data, name->len);
	to->failed |= name->failed;
}

static struct packets_event begin_slice(struct path *path, uint64_t time)
{
	struct packets_event event = packets_event(path->packets, time, TYPE_SLICE_BEGIN,
						   path->track);

	packets_category(path->packets, PACKETS_WHY);
	return event;
}

static void end_slice(struct path *path, uint64_t time)
{
	packets_end(path->packets,
		    packets_event(path->packets, time, TYPE_SLICE_END, path->track));
}

static void put_thread(struct path *path, uint32_t number)
{
	const struct track_thread *thread = tracks_thread(path->why->tracks, number);

	perfetto_arg_signed(path->packets, "tid", thread->plain_tid);
	perfetto_arg_signed(path->packets, "pid", thread->plain_pid);
}

/*
 * Returns the track of the thread that ended a wait or created the thread; 0 if it is not a thread.
 */
static uint64_t track_of_other(const struct path *path, const struct part *part)
{
	const struct track_thread *other;

	if (!part->other || (part->kind != PART_BLOCKED && part->kind != PART_FAULT &&
			     part->kind != PART_UNBORN))
		return 0;
	other = tracks_thread(path->why->tracks, part->other);
	return path->ops->thread(path->to, other->pid, other->key);
}

static void open_part(struct path *path, uint32_t number, uint64_t time)
{
	struct part part = path->parts[number];
	struct packets_event event = begin_slice(path, time);
	uint64_t flow = track_of_other(path, &part) ? ++*path->flows : 0;
	struct buffer name = { };

	/* Leave out the page faults: the part has one count for all its periods. */
	part.faults = 0;
	why_text_label(&name, path->why->tracks, part.thread);
	buffer_text(&name, ": ");
	why_text(&name, path->why->tracks, &part);
	put_name(path, &name);
	buffer_free(&name);
	put_thread(path, part.thread);
	if (flow)
		proto_fixed(packets_to(path->packets), EVENT_FLOW_IDS, flow);
	packets_end(path->packets, event);
	path->open[path->depth] = number;
	path->flow[path->depth++] = flow;
}

/* Ends the flow of a wait on the track of the thread that ended the wait. */
static void put_waker(struct path *path, const struct part *part, uint64_t flow, uint64_t time)
{
	struct packets_event event = packets_event(path->packets, time, TYPE_INSTANT,
						   track_of_other(path, part));
	struct buffer name = { };

	packets_category(path->packets, PACKETS_WHY);
	buffer_text(&name, part->kind == PART_UNBORN ? "created " : "woke ");
	why_text_label(&name, path->why->tracks, part->thread);
	put_name(path, &name);
	buffer_free(&name);
	proto_fixed(packets_to(path->packets), EVENT_TERMINATING_FLOW_IDS, flow);
	packets_end(path->packets, event);
}

static void close_to(struct path *path, size_t depth, uint64_t time)
{
	while (path->depth > depth) {
		path->depth--;
		end_slice(path, time);
		if (path->flow[path->depth])
			put_waker(path, &path->parts[path->open[path->depth]],
				  path->flow[path->depth], time);
	}
}

/*
 * Finds the parts around a step, from the outermost to its own part, without PART_WHOLE. Returns
 * their number.
 */
static size_t find_parts(const struct path *path, uint32_t part, uint32_t found[DEPTH])
{
	size_t depth = 0, at;

	for (uint32_t i = part; i; i = path->parts[i].parent)
		depth++;
	at = depth;
	for (uint32_t i = part; i; i = path->parts[i].parent) {
		at--;
		if (at < DEPTH)
			found[at] = i;
	}
	return depth < DEPTH ? depth : DEPTH;
}

static void put_step(struct path *path, const struct step *step)
{
	uint32_t found[DEPTH];
	size_t depth = find_parts(path, step->part, found), same = 0;

	while (same < path->depth && same < depth && path->open[same] == found[same])
		same++;
	close_to(path, same, step->begin);
	for (; same < depth; same++)
		open_part(path, found[same], step->begin);
	/*
	 * Close the part even if the next step has the same part, because that is another period.
	 */
	close_to(path, depth ? depth - 1 : 0, step->end);
}

static int put_steps(struct path *path)
{
	bool more;
	size_t count;
	const struct step *steps = parts_steps(path->why->parts, &count, &more);
	struct packets_event event = begin_slice(path, path->why->begin);
	int err = 0;

	packets_name(path->packets, path->why->scope, strlen(path->why->scope));
	put_thread(path, path->why->thread);
	perfetto_arg_number(path->packets, "number", path->why->number);
	perfetto_arg_number(path->packets, "path_complete", !more);
	packets_end(path->packets, event);
	for (size_t i = 0; !err && i < count; i++) {
		put_step(path, &steps[i]);
		err = path->ops->flush(path->to);
	}
	close_to(path, 0, count ? steps[count - 1].end : path->why->begin);
	end_slice(path, path->why->end);
	return err;
}

static int put_path(struct path *path, const struct why *why, size_t index)
{
	struct buffer name = { };
	size_t count;

	path->why = why;
	path->parts = parts_all(why->parts, &count);
	path->depth = 0;
	buffer_text(&name, why->scope);
	buffer_printf(&name, " %zu of %zu", why->number, why->of);
	buffer_byte(&name, '\0');
	if (!name.failed)
		path->track = path->ops->track(path->to, index, (const char *)name.data);
	packets_to(path->packets)->failed |= name.failed;
	buffer_free(&name);
	return put_steps(path);
}

int perfetto_why_put(const struct explain *explain, struct packets *packets,
		     const struct perfetto_why_ops *ops, void *to)
{
	uint64_t flows = 0;
	struct path path = { .packets = packets, .ops = ops, .to = to, .flows = &flows };
	struct parts *parts;
	struct why why;
	int err = 0;

	for (size_t i = 0; !err && i < explain_count(explain); i++) {
		err = explain_get(explain, i, &why, &parts);
		if (err)
			return err;
		if (ops->has(to, tracks_thread(why.tracks, why.thread)->pid))
			err = put_path(&path, &why, i);
		parts_free(parts);
	}
	return err;
}
