// SPDX-License-Identifier: GPL-2.0
/*
 * A table of an export: see table.h.
 */
#include <errno.h>

#include "export/table.h"
#include "util/escape.h"

int table_begin(struct table *table, const struct table_schema *schema,
		const struct table_format *format, FILE *file, void *sink)
{
	*table = (struct table){
		.schema = schema, .format = format, .file = file, .sink = sink
	};
	return format->begin(table);
}

int table_row(struct table *table)
{
	int err = table->format->row(table);

	table->set = 0;
	table->rows++;
	return err;
}

int table_end(struct table *table)
{
	int err = table->format->end(table);

	return err ? err : table_flush(table, 0);
}

void table_free(struct table *table)
{
	if (table->format && table->format->free)
		table->format->free(table);
	buffer_free(&table->out);
	buffer_free(&table->scratch);
	*table = (struct table){ };
}

int table_write(struct table *table, const void *data, size_t len)
{
	errno = 0;
	if (len && fwrite(data, len, 1, table->file) != 1)
		return errno ? -errno : -EIO;
	return 0;
}

int table_flush(struct table *table, size_t least)
{
	int err;

	if (table->out.failed || table->scratch.failed)
		return -ENOMEM;
	if (table->out.len < least)
		return 0;
	err = table_write(table, table->out.data, table->out.len);
	buffer_reset(&table->out);
	return err;
}

/* Would escape_plain() leave the text unchanged, because all of its bytes are printable ASCII? */
static bool is_plain(const unsigned char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] < ' ' || text[i] > '~' || text[i] == '\\')
			return false;
	}
	return true;
}

void table_text(struct buffer *to, const struct column *column, const union cell *cell)
{
	if (column->type == COLUMN_JSON || is_plain(cell->text.at, cell->text.len))
		buffer_put(to, cell->text.at, cell->text.len);
	else
		escape_plain(to, cell->text.at, cell->text.len);
}
