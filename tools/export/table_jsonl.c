// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a table as JSON lines: one object per row. Integers that are too large for a double are
 * strings, as in the output of "posixtrace dump --json".
 */
#include "export/table.h"
#include "print/json_fields.h"
#include "util/escape.h"

static void put_signed(struct buffer *to, int64_t number)
{
	json_number(to, number < 0 ? -(uint64_t)number : (uint64_t)number, number < 0);
}

static void put_cell(struct buffer *to, const struct column *column, const union cell *cell)
{
	switch (column->type) {
	case COLUMN_UINT64:
		json_number(to, (uint64_t)cell->number, false);
		break;
	case COLUMN_DOUBLE:
		buffer_real(to, cell->real, sizeof(double));
		break;
	case COLUMN_BOOL:
		buffer_text(to, cell->number ? "true" : "false");
		break;
	case COLUMN_TEXT:
		escape_string(to, cell->text.at, cell->text.len, false);
		break;
	case COLUMN_JSON:
		buffer_put(to, cell->text.at, cell->text.len);
		break;
	default:
		put_signed(to, cell->number);
	}
}

static int put_row(struct table *table)
{
	struct buffer *to = &table->out;

	for (size_t i = 0; i < table->schema->count; i++) {
		const struct column *column = &table->schema->columns[i];

		buffer_text(to, i ? ",\"" : "{\"");
		buffer_text(to, column->name);
		buffer_text(to, "\":");
		if (table_has(table, i))
			put_cell(to, column, &table->cells[i]);
		else
			buffer_text(to, "null");
	}
	buffer_text(to, "}\n");
	return table_flush(table, TABLE_WRITE_AT);
}

static int do_nothing(struct table *table)
{
	(void)table;
	return 0;
}

const struct table_format table_jsonl = {
	.suffix = ".jsonl",
	.begin = do_nothing,
	.row = put_row,
	.end = do_nothing,
};
