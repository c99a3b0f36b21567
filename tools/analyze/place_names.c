// SPDX-License-Identifier: GPL-2.0
/*
 * Names of places: see place_names.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/place_names.h"
#include "analyze/waits.h"
#include "event/syscall_args.h"
#include "util/threads.h"

#define IRQ_NAME	64

struct place_names {
	struct waits *calls;		/* only for the names of system calls */
	struct threads *irqs;		/* assigns numbers to pairs of interrupt kind and number */
	char (*irq_names)[IRQ_NAME];	/* index: number in @irqs */
};

int place_names_new(struct place_names **names)
{
	struct place_names *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	err = waits_new(&new->calls);
	if (!err)
		err = threads_new(PLACE_NAMES_IRQS, &new->irqs);
	new->irq_names = calloc(PLACE_NAMES_IRQS + 1, sizeof(*new->irq_names));
	if (!err && !new->irq_names)
		err = -ENOMEM;
	if (err) {
		place_names_free(new);
		return err;
	}
	strcpy(new->irq_names[THREADS_OTHERS], "another interrupt");
	*names = new;
	return 0;
}

int place_names_call(struct place_names *names, const struct kevent *entry, uint32_t *place,
		     bool *has_arg)
{
	int err = waits_call(names->calls, entry, place);

	*has_arg = !err && *place != WAITS_IN_CALL &&
		   place_names_arg(waits_place_name(names->calls, *place));
	return err;
}

int place_names_irq(struct place_names *names, const struct kevent *irq, uint32_t *number)
{
	char room[KEVENT_CALL_NAME];
	struct kevent_text name;
	/* threads_find() accepts any pair of numbers, not only ids of threads. */
	int ret = threads_find(names->irqs, (pid_t)irq->kind, (uint64_t)irq->number, number);

	if (ret <= 0 || *number == THREADS_OTHERS)
		return ret < 0 ? ret : 0;
	name = kevent_irq_name(irq, room);
	snprintf(names->irq_names[*number], IRQ_NAME, "%s %.*s", kevent_irq_kind(irq),
		 (int)name.len, name.at);
	return 0;
}

const char *place_names_place(const struct place_names *names, uint32_t place)
{
	return waits_place_name(names->calls, place);
}

const char *place_names_interrupt(const struct place_names *names, uint32_t number)
{
	return names->irq_names[number];
}

const char *place_names_arg(const char *call)
{
	static const struct {
		const char *arg;	/* name of the argument in event/syscall_args.inc */
		const char *name;
	} known[] = {
		{ "fd", "fd" }, { "epfd", "fd" }, { "fildes", "fd" }, { "in_fd", "fd" },
		{ "out_fd", "fd" }, { "fd_in", "fd" }, { "ufd", "fd" }, { "mqdes", "fd" },
		{ "uaddr", "address" }, { "upid", "pid" }, { "pid", "pid" },
	};
	const struct syscall_args *args = syscall_args_find(call, strlen(call));
	const char *at = args ? args->args : "";
	struct syscall_arg arg;

	if (!syscall_args_next(&at, &arg))
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].arg) == (size_t)arg.name_len &&
		    !memcmp(known[i].arg, arg.name, (size_t)arg.name_len))
			return known[i].name;
	}
	return NULL;
}

void place_names_free(struct place_names *names)
{
	if (!names)
		return;
	waits_free(names->calls);
	threads_free(names->irqs);
	free(names->irq_names);
	free(names);
}
