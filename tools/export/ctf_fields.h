/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields of events in CTF: their types in TSDL and their values.
 *
 * Texts become CTF strings of printable characters, a bool becomes an enumeration, and padding is
 * omitted.
 */
#ifndef POSIXTRACE_CTF_FIELDS_H
#define POSIXTRACE_CTF_FIELDS_H

#include "event/source.h"
#include "util/buffer.h"

/* ctf_fields_aliases() - append the type aliases that ctf_fields_describe() uses */
void ctf_fields_aliases(struct buffer *text);

/**
 * ctf_fields_possible() - check if TSDL can describe a set of fields
 * @description: the fields
 *
 * TSDL looks up the length of an array by name, which must find the same field as in the
 * description. Readers reject arrays of structs without members.
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
