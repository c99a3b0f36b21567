/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields of events in CTF: their types in TSDL, and their values.
 *
 * Texts become strings of CTF, in which all characters can be printed. A bool becomes an
 * enumeration. Padding is left out.
 */
#ifndef POSIXTRACE_CTF_FIELDS_H
#define POSIXTRACE_CTF_FIELDS_H

#include "event/source.h"
#include "util/buffer.h"

/* ctf_fields_aliases() - append the types that ctf_fields_describe() uses */
void ctf_fields_aliases(struct buffer *text);

/**
 * ctf_fields_possible() - check whether TSDL can describe fields
 * @description: the fields
 *
 * TSDL finds the length of an array by its name. That must not be another field than in the
 * description. Readers do not accept a struct without members in an array.
 */
bool ctf_fields_possible(const struct description *description);

/* ctf_fields_describe() - append the members of the outermost struct as TSDL */
void ctf_fields_describe(struct buffer *text, const struct description *description);

/**
 * ctf_fields_put() - append the values of an event
 * @bytes: where to append
 * @event: an event for which event_has_fields() returned true, with complete data
 */
void ctf_fields_put(struct buffer *bytes, const struct event *event);

#endif /* POSIXTRACE_CTF_FIELDS_H */
