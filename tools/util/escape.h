/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Escapes names and data for printing, because a traced process can choose them freely. Printable
 * characters stay unchanged. All other bytes become "\n", "\t" or "\xNN".
 */
#ifndef POSIXTRACE_ESCAPE_H
#define POSIXTRACE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/**
 * escape_length() - length of the first character of a text
 * @text: the bytes
 * @len: number of bytes, not 0
 *
 * Return: 1 to 4, or 0 if it is not printable: invalid UTF-8, a control character, or a character
 *	that changes the direction of text or ends a line.
 */
size_t escape_length(const unsigned char *text, size_t len);

/**
 * escape_is_text() - check if all bytes are printable text
 * @text: the bytes
 * @len: number of bytes
 *
 * Return: true if they are printable characters, tabs and line ends; false if @len is 0.
 */
bool escape_is_text(const unsigned char *text, size_t len);

/**
 * escape_plain() - append bytes as text, with each backslash doubled
 * @to: where to append
 * @text: the bytes
 * @len: number of bytes
 */
void escape_plain(struct buffer *to, const void *text, size_t len);

/**
 * escape_message() - append text to a message for people; backslashes stay unchanged
 * @to: where to append
 * @text: the bytes
 * @len: number of bytes
 */
void escape_message(struct buffer *to, const void *text, size_t len);

/**
 * escape_quoted() - append bytes as quoted text for people
 * @to: where to append
 * @text: the bytes
 * @len: number of bytes
 *
 * Each quotation mark in the text gets a backslash.
 */
void escape_quoted(struct buffer *to, const void *text, size_t len);

/**
 * escape_string() - append bytes as a quoted string for JSON and TSDL
 * @to: where to append
 * @text: the bytes
 * @len: number of bytes
 * @html: @to becomes part of an HTML page: write "<", ">" and "&" as "\u003c" and so on
 *
 * The string contains the result of escape_plain().
 */
void escape_string(struct buffer *to, const void *text, size_t len, bool html);

/* escape_hex() - append bytes as hexadecimal digits */
void escape_hex(struct buffer *to, const void *data, size_t len);

#endif /* POSIXTRACE_ESCAPE_H */
