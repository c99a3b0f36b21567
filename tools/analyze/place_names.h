/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the places where threads spend time: system calls, their first arguments, and
 * interrupts.
 */
#ifndef POSIXTRACE_PLACE_NAMES_H
#define POSIXTRACE_PLACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "event/kevent.h"

#define PLACE_NAMES_IRQS	(1U << 10)	/* limit of interrupts with a name */

struct place_names;

/* place_names_new() - create an empty set of names; returns 0 or -ENOMEM */
int place_names_new(struct place_names **names);

/**
 * place_names_call() - find the place of a system call
 * @names: from place_names_new()
 * @entry: fields of the syscall_entry
 * @place: where to store the number of the place: see waits.h
 * @has_arg: where to store if the first argument identifies the object on which the call works,
 *	such as a descriptor
 *
 * Return: 0 or -ENOMEM.
 */
int place_names_call(struct place_names *names, const struct kevent *entry, uint32_t *place,
		     bool *has_arg);

/* place_names_irq() - find the number of an interrupt by the fields of its event */
int place_names_irq(struct place_names *names, const struct kevent *irq, uint32_t *number);

/* place_names_place(), place_names_interrupt() - get a name (any bytes) */
const char *place_names_place(const struct place_names *names, uint32_t place);
const char *place_names_interrupt(const struct place_names *names, uint32_t number);

/* place_names_arg() - get what the first argument of a call is: "fd", "address", "pid", or NULL */
const char *place_names_arg(const char *call);

void place_names_free(struct place_names *names);

#endif /* POSIXTRACE_PLACE_NAMES_H */
