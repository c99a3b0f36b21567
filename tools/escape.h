/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names and data are what a traced process wants them to be. Before they get into any text,
 * they become text: what can be printed stays, the rest is told as "\n", "\t" and "\xNN".
 */
#ifndef POSIXTRACE_ESCAPE_H
#define POSIXTRACE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"

/**
 * escape_length() - how long the character is that some bytes begin with
 * @text: the bytes
 * @len: how many there are, not 0
 *
 * Return: 1 to 4, or 0 if it is none that can be printed: no valid UTF-8, a control
 *	character, or one that changes the direction of text or ends a line.
 */
size_t escape_length(const unsigned char *text, size_t len);

/**
 * escape_is_text() - whether all of it can be printed
 * @text: the bytes
 * @len: how many
 *
 * Tabs and ends of lines count as text. Nothing at all is no text.
 */
bool escape_is_text(const unsigned char *text, size_t len);

/**
 * escape_plain() - as text; a backslash is doubled
 * @to: where to put it
 * @text: the bytes
 * @len: how many
 */
void escape_plain(struct buffer *to, const void *text, size_t len);

/**
 * escape_string() - as escape_plain(), in quotes, for JSON and TSDL
 * @to: where to put it
 * @text: the bytes
 * @len: how many
 *
 * "<", ">" and "&" are spelled "\u003c" and so on if @to is to be part of HTML.
 * @html: whether it is
 */
void escape_string(struct buffer *to, const void *text, size_t len, bool html);

/* As hexadecimal digits. */
void escape_hex(struct buffer *to, const void *data, size_t len);

#endif /* POSIXTRACE_ESCAPE_H */
