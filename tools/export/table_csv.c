// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a table as CSV (RFC 4180). A null is an empty cell; an empty text has quotation marks.
 */
#include <inttypes.h>

#include "export/table.h"

/* Appends a text, in quotation marks if it needs them. Line ends are already escaped. */
static void put_text(struct table *table, const struct column *column, const union cell *cell)
{
	struct buffer *text = &table->scratch, *to = &table->out;
	bool quote;

	buffer_reset(text);
	table_text(text, column, cell);
	quote = !text->len || memchr(text->data, ',', text->len) ||
		memchr(text->data, '"', text->len);
	if (!quote) {
		buffer_put(to, text->data, text->len);
		return;
	}
	buffer_byte(to, '"');
	for (size_t i = 0; i < text->len; i++) {
		if (text->data[i] == '"')
			buffer_byte(to, '"');
		buffer_byte(to, text->data[i]);
	}
	buffer_byte(to, '"');
}

static void put_cell(struct table *table, const struct column *column, const union cell *cell)
{
	switch (column->type) {
	case COLUMN_UINT64:
		buffer_integer(&table->out, (uint64_t)cell->number, 10, "", 0);
		break;
	case COLUMN_DOUBLE:
		buffer_real(&table->out, cell->real, sizeof(double));
		break;
	case COLUMN_BOOL:
		buffer_text(&table->out, cell->number ? "true" : "false");
		break;
	case COLUMN_TEXT:
	case COLUMN_JSON:
		put_text(table, column, cell);
		break;
	default:
		buffer_signed(&table->out, cell->number);
	}
}

static int begin(struct table *table)
{
	for (size_t i = 0; i < table->schema->count; i++) {
		if (i)
			buffer_byte(&table->out, ',');
		buffer_text(&table->out, table->schema->columns[i].name);
	}
	buffer_text(&table->out, "\r\n");
	return 0;
}

static int put_row(struct table *table)
{
	for (size_t i = 0; i < table->schema->count; i++) {
		if (i)
			buffer_byte(&table->out, ',');
		if (table_has(table, i))
			put_cell(table, &table->schema->columns[i], &table->cells[i]);
	}
	buffer_text(&table->out, "\r\n");
	return table_flush(table, TABLE_WRITE_AT);
}

static int end(struct table *table)
{
	(void)table;
	return 0;
}

const struct table_format table_csv = {
	.suffix = ".csv",
	.begin = begin,
	.row = put_row,
	.end = end,
};
