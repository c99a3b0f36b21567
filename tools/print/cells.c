// SPDX-License-Identifier: GPL-2.0
/*
 * Table cells: see cells.h.
 */
#include <string.h>

#include "event/source.h"
#include "print/cells.h"
#include "util/escape.h"

size_t cells_text_width(const struct buffer *text)
{
	size_t width = 0;

	for (size_t i = 0; i < text->len; i++)
		width += (text->data[i] & 0xc0) != 0x80;
	return width;
}

size_t cells_width(const char *name)
{
	struct buffer text = { };
	size_t width;

	escape_plain(&text, name, strlen(name));
	width = cells_text_width(&text);
	buffer_free(&text);
	return width;
}

void cells_widen(size_t *column, const char *name)
{
	size_t width = cells_width(name);

	if (width > *column)
		*column = width;
}

void cells_text(FILE *to, const struct buffer *text, size_t column)
{
	size_t width = cells_text_width(text);

	if (text->len)
		fwrite(text->data, 1, text->len, to);
	fprintf(to, "%*s", width < column ? (int)(column - width) : 0, "");
}

void cells_name(FILE *to, const char *name, size_t column)
{
	struct buffer text = { };

	escape_plain(&text, name, strlen(name));
	cells_text(to, &text, column);
	buffer_free(&text);
}

const char *cells_time(char text[CELLS_SIZE], uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { NSEC_PER_SEC, "s" }, { 1000000, "ms" }, { 1000, "us" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double value = (double)ns / units[i].ns;

		if (ns < units[i].ns)
			continue;
		snprintf(text, CELLS_SIZE, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value,
			 units[i].name);
		return text;
	}
	snprintf(text, CELLS_SIZE, "%llu ns", (unsigned long long)ns);
	return text;
}

const char *cells_rate(char text[CELLS_SIZE], uint64_t count, uint64_t ns)
{
	double rate = ns ? (double)count * NSEC_PER_SEC / ns : 0;

	if (!ns)
		return "-";
	if (rate >= 1e6)
		snprintf(text, CELLS_SIZE, "%.2f M/s", rate / 1e6);
	else if (rate >= 1e4)
		snprintf(text, CELLS_SIZE, "%.1f k/s", rate / 1e3);
	else
		snprintf(text, CELLS_SIZE, "%.*f /s", rate < 100 ? 2 : 0, rate);
	return text;
}
