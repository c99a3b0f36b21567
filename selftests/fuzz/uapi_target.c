// SPDX-License-Identifier: GPL-2.0
/* Operations on files with the role target, and operations on files of both roles. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "uapi_fuzz.h"

static struct file *target(struct actor *a)
{
	return pick_file(a, ROLE_TARGET);
}

long op_attach(struct actor *a)
{
	struct posixtrace_attach *attach = argument(a);
	struct file *file = pick_file(a, ROLE_NONE);
	long ret;

	if (!file) {
		ret = op_open(a);
		file = pick_file(a, ROLE_NONE);
		if (!file)
			return ret;
	}
	ret = ioctl_with(a, file, POSIXTRACE_IOC_ATTACH, attach, sizeof(*attach));
	if (!ret) {
		file->attach = *attach;
		file->role = ROLE_TARGET;
	} else if (ret == -EBUSY) {
		drop_file(file);	/* its role is unknown */
	}
	return ret;
}

/* Calls SYNC. Later calls use the slots and ranges in its answer. */
long op_sync(struct actor *a)
{
	size_t size = POSIXTRACE_SLOTS_MAX * sizeof(struct posixtrace_slot);
	struct posixtrace_sync *sync = argument(a);
	struct file *file = target(a);
	long ret;

	sync->slots = (uintptr_t)data_pointer(a, size);
	ret = ioctl_with(a, file, POSIXTRACE_IOC_SYNC, sync, sizeof(*sync));
	if (!ret && file)
		copy(file->slots, (void *)(uintptr_t)sync->slots, size);
	return ret;
}

/* Returns a slot that is in use, or any number. */
static unsigned int pick_slot(struct actor *a, const struct file *file)
{
	unsigned int slot = below(a, POSIXTRACE_SLOTS_MAX), i;

	for (i = 0; file && i < POSIXTRACE_SLOTS_MAX; i++)
		if (file->slots[(slot + i) % POSIXTRACE_SLOTS_MAX].heads.size)
			return (slot + i) % POSIXTRACE_SLOTS_MAX;
	return slot;
}

long op_next(struct actor *a)
{
	struct posixtrace_next *next = argument(a);
	struct file *file = target(a);
	unsigned int slot = pick_slot(a, file);
	uint32_t max = file ? file->slots[slot].max_data_size : 0;

	next->slot = slot;
	next->size = POSIXTRACE_RECORD_SIZE(below(a, max + 1));
	if (file)
		next->stream = file->slots[slot].stream;
	return ioctl_with(a, file, POSIXTRACE_IOC_NEXT, next, sizeof(*next));
}

long op_event(struct actor *a)
{
	static const uint32_t sizes[] = { 0, 1, 7, 8, 16, 64, 255, 256, 257, 1024, 4096 };
	struct posixtrace_event *event = argument(a);

	event->event_id = one_in(a, 3) ? 64 + below(a, 40) : POSIXTRACE_ID_UNNAMED;
	event->data_len = sizes[below(a, ARRAY_SIZE(sizes))];
	if (one_in(a, 64))
		event->data_len = below(a, 2 * POSIXTRACE_DATA_SIZE_MAX);
	event->data = (uintptr_t)data_pointer(a, event->data_len);
	event->prog_address = rnd(a);
	event->thread_id = one_in(a, 2) ? a->thread : rnd(a);
	event->skip = one_in(a, 8) ? rnd(a) : 0;
	if (one_in(a, 4)) {
		event->flags = POSIXTRACE_EVENT_TIME;
		event->skip = one_in(a, 8) ? rnd(a) : ~(1U << below(a, 4));
	}
	return ioctl_with(a, target(a), POSIXTRACE_IOC_EVENT, event, sizeof(*event));
}

long op_wake(struct actor *a)
{
	uint32_t *mask = argument(a);

	*mask = one_in(a, 2) ? ~0U : rnd(a);
	return ioctl_with(a, target(a), POSIXTRACE_IOC_WAKE, mask, sizeof(*mask));
}

long op_met(struct actor *a)
{
	struct posixtrace_met *met = argument(a);
	struct file *file = target(a);

	met->time = rnd(a);
	met->duration = one_in(a, 2) ? rnd(a) : below(a, 1 << 30);
	met->slot = pick_slot(a, file);
	if (one_in(a, 64))
		met->slot = rnd(a);
	met->condition = below(a, POSIXTRACE_CONDITIONS_MAX + one_in(a, 32));
	/* Numbers are consecutive, so some of these belong to a condition. */
	met->number = one_in(a, 2) ? rnd(a) : 1 + below(a, 1 << 16);
	met->count = one_in(a, 32) ? rnd(a) : 1;
	return ioctl_with(a, file, POSIXTRACE_IOC_MET, met, sizeof(*met));
}

/*
 * Makes a text, usually a valid one. Its length is one of a few, so that types often get a text
 * that they had before. Returns its size with the null byte.
 */
static unsigned int make_text(struct actor *a)
{
	size_t len = one_in(a, 8) ? below(a, POSIXTRACE_DESCRIPTION_SIZE + 2) : below(a, 4);
	char *text = a->arena + ARENA_DATA;

	memset(text, '{', len);
	text[len] = one_in(a, 8) ? rnd(a) : '\0';
	return one_in(a, 8) ? rnd(a) : len + 1;
}

#define NAME(id, name)	name,

long op_eventid_open(struct actor *a)
{
	static const char * const names[] = {
		POSIXTRACE_SYSTEM_TYPES(NAME) POSIXTRACE_UNNAMED_NAME,
	};
	struct posixtrace_eventid *eventid = argument(a);
	struct file *file = one_in(a, 2) ? target(a) : pick_file(a, ROLE_STREAM);
	unsigned int i;

	if (one_in(a, 8)) {
		strcpy(eventid->name, names[below(a, ARRAY_SIZE(names))]);
	} else if (one_in(a, 8)) {
		for (i = 0; i < below(a, sizeof(eventid->name)); i++)
			eventid->name[i] = rnd(a);
	} else {
		eventid->name[0] = 'e';
		eventid->name[1] = '0' + below(a, 40);
	}
	if (one_in(a, 2))
		eventid->flags = one_in(a, 8) ? rnd(a) : POSIXTRACE_OPEN_EXACT;
	if (one_in(a, 2)) {
		eventid->description_size = make_text(a);
		eventid->description = (uintptr_t)a->arena + ARENA_DATA;
	}
	return ioctl_with(a, file, POSIXTRACE_IOC_EVENTID_OPEN, eventid, sizeof(*eventid));
}

long op_describe(struct actor *a)
{
	struct posixtrace_description *description = argument(a);
	struct file *file = one_in(a, 2) ? target(a) : pick_file(a, ROLE_STREAM);

	description->size = make_text(a);
	description->id = one_in(a, 8) ? rnd(a) : user_type(a);
	description->text = one_in(a, 8)
		? (uintptr_t)data_pointer(a, POSIXTRACE_DESCRIPTION_SIZE)
		: (uintptr_t)a->arena + ARENA_DATA;
	return ioctl_with(a, file, POSIXTRACE_IOC_DESCRIBE, description, sizeof(*description));
}
