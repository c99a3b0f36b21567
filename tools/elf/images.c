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
#define EXECS_MAX	1024	/* per process, because a lookup is a linear search */

struct node {
	struct image image;
	struct node *before;	/* previous image of the same process */
};

struct process {
	struct node *last;
	unsigned int count;	/* number of images of the process */
};

struct images {
	struct threads *numbers;
	struct process *processes;	/* index: process number */
};

static struct process *find(struct images *images, const struct event *event)
{
	uint32_t number;

	if (event->pid <= 0 ||
	    threads_find(images->numbers, event->pid, event_process_key(event), &number) < 0 ||
	    number == THREADS_OTHERS)
		return NULL;
	return &images->processes[number];
}

static int begin_image(struct process *process, uint64_t begin)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return -ENOMEM;
	if (process->last)
		process->last->image.next = begin;
	node->image = (struct image){ .begin = begin, .end = begin, .next = UINT64_MAX };
	node->before = process->last;
	process->last = node;
	process->count++;
	return 0;
}

static int begin_process(struct images *images, struct process *process, const struct event *event)
{
	struct event before = *event;
	struct process *other;
	uint64_t born;

	if (!source_get_birth(event->source, event, &born) || born > event->time)
		born = event->time;
	/* Adding the life before this one: the previous process with this id has ended. */
	before.process_life--;
	other = event->process_life ? find(images, &before) : NULL;
	if (other && other->last && other->last->image.next > born)
		other->last->image.next = born;
	return begin_image(process, born);
}

static int see(struct images *images, const struct event *event)
{
	struct process *process = find(images, event);
	struct kevent kevent;
	struct image *image;
	int err = 0;

	if (!process || (!event->user && !event_is_kernel(event)) || process->count > EXECS_MAX)
		return 0;
	if (!process->last)
		err = begin_process(images, process, event);
	if (err)
		return err;
	image = &process->last->image;
	if (event->time > image->end)
		image->end = event->time;
	if (event->type == POSIXTRACE_EXEC)
		return begin_image(process, event->time);
	if (event->type == POSIXTRACE_EXIT && kevent_read(event, &kevent) && kevent.group_dead)
		image->next = event->time;
	return 0;
}

int images_read(struct source *source, struct images **images)
{
	struct images *new = calloc(1, sizeof(*new));
	struct event event;
	int ret = -ENOMEM;

	if (!new)
		return -ENOMEM;
	new->processes = calloc(PROCESSES_MAX + 1, sizeof(*new->processes));
	if (new->processes)
		ret = threads_new(PROCESSES_MAX, &new->numbers);
	/*
	 * On an error, keep what is known so far. The main reader reaches the same error and
	 * reports it.
	 */
	while (!ret && source_next(source, &event) > 0)
		ret = see(new, &event);
	if (!ret)
		ret = source_rewind(source);
	if (ret)
		images_free(new);
	else
		*images = new;
	return ret;
}

bool images_find(struct images *images, const struct event *event, struct image *image)
{
	const struct process *process = find(images, event);
	const struct node *node = process && process->count <= EXECS_MAX ? process->last : NULL;

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
