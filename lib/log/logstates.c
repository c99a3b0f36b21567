// SPDX-License-Identifier: MIT
/*
 * The states of threads in a log: what they did when recording started. The survey has the places
 * of the blocks; the file is read again when the caller asks for states.
 */
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "log/loghead.h"
#include "log/logstates.h"
#include "log/logtasks.h"

/**
 * struct pxtu_log_state_place - a block of states
 * @offset: of the first state in the file
 * @first: number of that state, from 0
 * @count: number of states
 * @seq: number of the block
 */
struct pxtu_log_state_place {
	__u64 offset;
	__u64 first;
	__u32 count;
	__u64 seq;
};

int pxtu_log_add_states(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	struct pxtu_log_states *states = &log->survey.states;
	const struct pxtu_log_state_place *last;
	__u64 first = 0;
	int err;

	if (!block->head.count ||
	    block->head.count > block->head.size / sizeof(struct posixtrace_state)) {
		log->survey.damaged = true;
		return 0;
	}
	last = states->nr_places ? &states->place[states->nr_places - 1] : NULL;
	if (last)
		first = last->first + last->count;
	err = pxtu_log_make_room(&states->place, sizeof(*states->place), states->nr_places,
				 &states->places_room);
	if (err)
		return err == -ENOSPC ? 0 : err;
	states->place[states->nr_places++] = (struct pxtu_log_state_place){
		.offset = block->offset + log->head.block_size,
		.first = first,
		.count = block->head.count,
		.seq = block->head.seq,
	};
	return 0;
}

/* Finds the block with a state, or NULL. */
static const struct pxtu_log_state_place *find(const struct pxtu_log_states *states, __u64 number)
{
	size_t low = 0, high = states->nr_places, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (states->place[middle].first + states->place[middle].count <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < states->nr_places ? &states->place[low] : NULL;
}

/* The writer may have restarted the metadata and written another block here. */
static bool still_there(struct pxtu_log *log, const struct pxtu_log_state_place *place)
{
	struct posixtrace_log_block head;
	const __u64 offset = place->offset - log->head.block_size;

	return pxtu_log_read(log, &head, sizeof(head), offset) == sizeof(head) &&
	       head.cookie == log->head.cookie && head.seq == place->seq &&
	       head.type == POSIXTRACE_LOG_STATES;
}

static bool is_valid(const struct posixtrace_state *state)
{
	return state->pid > 0 && state->tid > 0 && state->ppid >= 0 &&
	       memchr(state->name, '\0', sizeof(state->name)) &&
	       memchr(state->call_name, '\0', sizeof(state->call_name));
}

int pxtu_log_states(struct pxtu_log *log, struct posixtrace_state *to, size_t *count, __u64 *next)
{
	const struct pxtu_log_state_place *place = find(&log->survey.states, *next);
	const size_t room = *count;
	size_t kept = 0, n, i;
	ssize_t size;

	*count = 0;
	while (place && !kept) {
		n = place->first + place->count - *next;
		if (n > room)
			n = room;
		size = (ssize_t)(n * sizeof(*to));
		if (!still_there(log, place) ||
		    pxtu_log_read(log, to, (size_t)size,
				  place->offset + (*next - place->first) * sizeof(*to)) != size) {
			if (log->error)
				return pxtu_log_failed(log);
			/* Continue after what was overwritten. */
			*next = place->first + place->count;
		} else {
			*next += n;
			for (i = 0; i < n; i++)
				if (is_valid(&to[i]))
					to[kept++] = to[i];
		}
		place = find(&log->survey.states, *next);
	}
	*count = kept;
	return 0;
}

void pxtu_log_forget_states(struct pxtu_log_states *states)
{
	states->nr_places = 0;
}

void pxtu_log_free_states(struct pxtu_log_states *states)
{
	free(states->place);
}
