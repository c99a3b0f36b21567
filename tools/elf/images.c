// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that processes ran: see images.h.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <stdlib.h>

#include "elf/images.h"
#include "event/event.h"
#include "event/kevent.h"
#include "util/threads.h"

#define PROCESSES_MAX	(1U << 16)
#define IMAGES_MAX	1024	/* with one id: each lookup goes through them */

struct node {
	struct image image;
	struct node *before;	/* previous image of the same process */
};

/* The processes that had the same id, one after the other. */
struct process {
	struct node *last;
	unsigned int count;	/* number of images */
	uint32_t life;		/* event.process_life of the last event */
};

struct images {
	struct threads *numbers;
	struct process *processes;	/* index: process number */
};

int images_new(struct images **images)
{
	struct images *new = calloc(1, sizeof(*new));
	int err = -ENOMEM;

	if (!new)
		return -ENOMEM;
	new->processes = calloc(PROCESSES_MAX + 1, sizeof(*new->processes));
	if (new->processes)
		err = threads_new(PROCESSES_MAX, &new->numbers);
	if (err)
		images_free(new);
	else
		*images = new;
	return err;
}

static struct process *find(struct images *images, const struct event *event)
{
	uint32_t number;

	/*
	 * Identify the process by its id alone: after a seek, a source counts the lives from zero
	 * again.
	 */
	if (event->pid <= 0 || threads_find(images->numbers, event->pid, 0, &number) < 0 ||
	    number == THREADS_OTHERS)
		return NULL;
	return &images->processes[number];
}

/* Begins an image, unless it is known already. */
static int begin_image(struct process *process, uint64_t begin)
{
	struct image *last = process->last ? &process->last->image : NULL;
	struct node *node;

	if (last && begin <= last->begin)
		return 0;
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	if (last && last->next > begin)
		last->next = begin;
	if (last && last->end > begin)
		last->end = begin;
	node->image = (struct image){ .begin = begin, .end = begin, .next = UINT64_MAX };
	node->before = process->last;
	process->last = node;
	process->count++;
	return 0;
}

static int begin_process(struct process *process, const struct event *event)
{
	uint64_t born;

	process->life = event->process_life;
	if (source_get_birth(event->source, event, &born) && born <= event->time)
		return begin_image(process, born);
	/* images_read() has already processed the event. */
	if (process->last && event->time <= process->last->image.end)
		return 0;
	return begin_image(process, event->time);
}

int images_event(struct images *images, const struct event *event)
{
	struct process *process = find(images, event);
	struct kevent kevent;
	struct image *image;
	int err = 0;

	if (!process || (!event->user && !event_is_kernel(event)) || process->count > IMAGES_MAX)
		return 0;
	if (!process->last || process->life != event->process_life)
		err = begin_process(process, event);
	if (err)
		return err;
	image = &process->last->image;
	if (event->time > image->end)
		image->end = event->time;
	if (event->type == POSIXTRACE_EXEC)
		return begin_image(process, event->time);
	if (event->type == POSIXTRACE_EXIT && event->time >= image->begin &&
	    kevent_read(event, &kevent) && kevent.group_dead)
		image->next = event->time;
	return 0;
}

int images_read(struct images *images, struct source *source)
{
	struct event event;
	int err = 0;

	/* Ignore errors of source_next(): the command gets them again when it reads the log. */
	while (!err && source_next(source, &event) > 0)
		err = images_event(images, &event);
	return err ? err : source_rewind(source);
}

bool images_find(struct images *images, const struct event *event, struct image *image)
{
	const struct process *process = find(images, event);
	const struct node *node = process && process->count <= IMAGES_MAX ? process->last : NULL;

	while (node && node->image.begin > event->time)
		node = node->before;
	if (node)
		*image = node->image;
	return node;
}

void images_free(struct images *images)
{
	struct node *node;

	if (!images)
		return;
	for (size_t i = 0; images->processes && i <= PROCESSES_MAX; i++) {
		while ((node = images->processes[i].last)) {
			images->processes[i].last = node->before;
			free(node);
		}
	}
	free(images->processes);
	threads_free(images->numbers);
	free(images);
}
