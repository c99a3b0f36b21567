// SPDX-License-Identifier: GPL-2.0
/*
 * Escapes unprintable bytes: see escape.h.
 */
#include <stdint.h>

#include "util/escape.h"

static const char digits[] = "0123456789abcdef";

/*
 * Is it a character that reorders, hides or ends text? A name with such a character could look like
 * a different name.
 */
static bool is_deceptive(uint32_t c)
{
	return (c >= 0x80 && c < 0xa0) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb) ||
	       (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe ||
	       (c >= 0xd800 && c <= 0xdfff) || (c >= 0xe0000 && c <= 0xe0fff) || c > 0x10ffff;
}

size_t escape_length(const unsigned char *text, size_t len)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	uint32_t c;

	if (text[0] < 0x80)
		return text[0] >= ' ' && text[0] != 0x7f;
	if (text[0] < 0xc2 || text[0] > 0xf4 || len < n)
		return 0;
	c = text[0] & (0xff >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (text[i] & 0x3f);
	}
	return c >= smallest[n] && !is_deceptive(c) ? n : 0;
}

bool escape_is_text(const unsigned char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = text[i] == '\n' || text[i] == '\t' ? 1 :
			   escape_length(text + i, len - i);

		if (!n)
			return false;
		i += n;
	}
	return len > 0;
}

static void put_hex(struct buffer *to, const char *before, unsigned char byte)
{
	char text[] = { digits[byte >> 4], digits[byte & 15] };

	buffer_text(to, before);
	buffer_put(to, text, sizeof(text));
}

/* @backslash: how the output format writes a backslash. */
static void put_unprintable(struct buffer *to, const char *backslash, unsigned char byte)
{
	buffer_text(to, backslash);
	if (byte == '\n')
		buffer_byte(to, 'n');
	else if (byte == '\t')
		buffer_byte(to, 't');
	else
		put_hex(to, "x", byte);
}

/* Bytes that at least one output format changes. */
static const bool changed[256] = {
	[0 ... ' ' - 1] = true,
	[0x7f ... 0xff] = true,
	['\\'] = true,
	['"'] = true,
	['<'] = true,
	['>'] = true,
	['&'] = true,
};

/*
 * Returns the length of the longest prefix, usually the whole text, that no output format changes.
 */
static size_t plain_length(const unsigned char *text, size_t len)
{
	size_t i = 0;

	while (i < len && !changed[text[i]])
		i++;
	return i;
}

static size_t put_plain(struct buffer *to, const unsigned char *text, size_t len)
{
	size_t n = plain_length(text, len);

	buffer_put(to, text, n);
	return n;
}

void escape_plain(struct buffer *to, const void *text, size_t len)
{
	const unsigned char *p = text;

	for (size_t i = put_plain(to, p, len); i < len; i += put_plain(to, p + i, len - i)) {
		size_t n = escape_length(p + i, len - i);

		if (p[i] == '\\')
			buffer_text(to, "\\\\");
		else if (n)
			buffer_put(to, p + i, n);
		else
			put_unprintable(to, "\\", p[i]);
		i += n ? n : 1;
	}
}

void escape_message(struct buffer *to, const void *text, size_t len)
{
	const unsigned char *p = text;

	for (size_t i = put_plain(to, p, len); i < len; i += put_plain(to, p + i, len - i)) {
		size_t n = escape_length(p + i, len - i);

		if (n)
			buffer_put(to, p + i, n);
		else
			put_unprintable(to, "\\", p[i]);
		i += n ? n : 1;
	}
}

void escape_quoted(struct buffer *to, const void *text, size_t len)
{
	const unsigned char *p = text;
	size_t plain = plain_length(p, len);

	buffer_byte(to, '"');
	buffer_put(to, p, plain);
	for (size_t i = plain; i < len;) {
		size_t part = 0;

		while (i + part < len && p[i + part] != '"')
			part++;
		escape_plain(to, p + i, part);
		i += part;
		if (i < len) {
			buffer_text(to, "\\\"");
			i++;
		}
	}
	buffer_byte(to, '"');
}

void escape_string(struct buffer *to, const void *text, size_t len, bool html)
{
	const unsigned char *p = text;

	buffer_byte(to, '"');
	for (size_t i = put_plain(to, p, len); i < len; i += put_plain(to, p + i, len - i)) {
		size_t n = escape_length(p + i, len - i);

		if (p[i] == '\\')
			buffer_text(to, "\\\\\\\\");
		else if (p[i] == '"')
			buffer_text(to, "\\\"");
		else if (html && (p[i] == '<' || p[i] == '>' || p[i] == '&'))
			put_hex(to, "\\u00", p[i]);
		else if (n)
			buffer_put(to, p + i, n);
		else
			put_unprintable(to, "\\\\", p[i]);
		i += n ? n : 1;
	}
	buffer_byte(to, '"');
}

void escape_hex(struct buffer *to, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		put_hex(to, "", p[i]);
}
