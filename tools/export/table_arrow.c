// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a table as a stream in Arrow's IPC format, version 5: a schema, batches of rows, and an
 * end. The metadata of the schema contain the name of the table and the version of the schema. A
 * batch has for each column a mask of the values that are not null, and the values. A column of
 * texts has the offsets of the texts and then their bytes.
 */
#include <errno.h>
#include <stdlib.h>

#include "export/flat.h"
#include "export/table.h"

#define ALIGN		8U		/* alignment of buffers in a batch */
#define CONTINUATION	0xffffffffU	/* precedes each message */
#define BUFFERS_MAX	3		/* buffers of a column, at most */
#define BODY_MAX	(BUFFERS_MAX * TABLE_COLUMNS)

/* Numbers of Arrow's Message.fbs and Schema.fbs. */
#define METADATA_V5	4
#define HEADER_SCHEMA	1
#define HEADER_BATCH	3
#define TYPE_INT	2
#define TYPE_FLOAT	3
#define TYPE_UTF8	5
#define TYPE_BOOL	6
#define PRECISION_DOUBLE 2

/* Fields of the tables in these files, and their sizes. */
enum { MESSAGE_VERSION, MESSAGE_TYPE, MESSAGE_HEADER, MESSAGE_LENGTH, MESSAGE_FIELDS };
enum { SCHEMA_ENDIANNESS, SCHEMA_COLUMNS, SCHEMA_METADATA, SCHEMA_FIELDS };
enum {
	FIELD_NAME, FIELD_NULLABLE, FIELD_KIND, FIELD_TYPE, FIELD_DICTIONARY, FIELD_CHILDREN,
	FIELD_FIELDS
};

enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_FIELDS };
enum { PAIR_KEY, PAIR_VALUE, PAIR_FIELDS };

static const unsigned char message_sizes[] = { 2, 1, 4, 8 };
static const unsigned char schema_sizes[] = { 2, 4, 4 };
static const unsigned char field_sizes[] = { 4, 1, 1, 4, 0, 4 };
static const unsigned char batch_sizes[] = { 8, 4, 4 };
static const unsigned char pair_sizes[] = { 4, 4 };
static const unsigned char integer_sizes[] = { 4, 1 };
static const unsigned char float_sizes[] = { 2 };

/**
 * struct arrow_column - the values of a column in the batch
 * @valid: mask of the values that are not null
 * @nulls: number of nulls
 * @values: the values; COLUMN_BOOL: a bit mask of the values; texts: their offsets
 * @bytes: bytes of the texts
 */
struct arrow_column {
	unsigned char valid[TABLE_BATCH_ROWS / 8];
	size_t nulls;
	union {
		uint64_t numbers[TABLE_BATCH_ROWS];
		uint32_t small[TABLE_BATCH_ROWS];
		unsigned char mask[TABLE_BATCH_ROWS / 8];
		uint32_t offsets[TABLE_BATCH_ROWS + 1];
	};
	struct buffer bytes;
};

struct arrow {
	size_t rows;		/* rows in the batch so far */
	size_t bytes;		/* bytes of texts in the batch */
	struct arrow_column columns[];
};

/* A part of the body of a message. */
struct part {
	const void *at;
	size_t len;
};

static size_t padding(size_t len)
{
	return -len % ALIGN;
}

/* ------------------------------------------------------------------ */
/* Messages								*/

/* Begins the metadata of a message. Returns the place for the offset of the header. */
static size_t begin_message(struct buffer *to, unsigned int header, uint64_t body_len)
{
	size_t at[MESSAGE_FIELDS], place;

	buffer_reset(to);
	buffer_number(to, 0, 4);
	place = flat_table(to, message_sizes, MESSAGE_FIELDS, at);
	flat_refer(to, 0, place);
	buffer_patch(to, at[MESSAGE_VERSION], METADATA_V5, 2);
	buffer_patch(to, at[MESSAGE_TYPE], header, 1);
	buffer_patch(to, at[MESSAGE_LENGTH], body_len, 8);
	return at[MESSAGE_HEADER];
}

/* Writes the metadata. */
static int end_message(struct table *table, struct buffer *metadata)
{
	flat_pad(metadata, ALIGN);
	buffer_number(&table->out, CONTINUATION, 4);
	buffer_number(&table->out, metadata->len, 4);
	buffer_put(&table->out, metadata->data, metadata->len);
	return metadata->failed ? -ENOMEM : table_flush(table, 0);
}

/* ------------------------------------------------------------------ */
/* The schema								*/

static size_t put_integer(struct buffer *to, unsigned int bits, bool is_signed)
{
	size_t at[2], place = flat_table(to, integer_sizes, 2, at);

	buffer_patch(to, at[0], bits, 4);
	buffer_patch(to, at[1], is_signed, 1);
	return place;
}

/* Appends the type of a column. Returns its place. */
static size_t put_type(struct buffer *to, enum column_type type, unsigned int *kind)
{
	size_t at[1], place;

	switch (type) {
	case COLUMN_DOUBLE:
		*kind = TYPE_FLOAT;
		place = flat_table(to, float_sizes, 1, at);
		buffer_patch(to, at[0], PRECISION_DOUBLE, 2);
		return place;
	case COLUMN_BOOL:
		*kind = TYPE_BOOL;
		return flat_table(to, NULL, 0, NULL);
	case COLUMN_TEXT:
	case COLUMN_JSON:
		*kind = TYPE_UTF8;
		return flat_table(to, NULL, 0, NULL);
	default:
		*kind = TYPE_INT;
		return put_integer(to, type == COLUMN_INT64 || type == COLUMN_UINT64 ? 64 : 32,
				   type == COLUMN_INT64 || type == COLUMN_INT32);
	}
}

static size_t put_column(struct buffer *to, const struct column *column)
{
	size_t at[FIELD_FIELDS], place = flat_table(to, field_sizes, FIELD_FIELDS, at), none;
	unsigned int kind;

	buffer_patch(to, at[FIELD_NULLABLE], 1, 1);
	flat_refer(to, at[FIELD_NAME], flat_string(to, column->name));
	flat_refer(to, at[FIELD_TYPE], put_type(to, column->type, &kind));
	buffer_patch(to, at[FIELD_KIND], kind, 1);
	/* Some readers require the vector of children even for a column that cannot have any. */
	flat_refer(to, at[FIELD_CHILDREN], flat_vector(to, 0, 4, 4, &none));
	return place;
}

static void put_pair(struct buffer *to, size_t from, const char *key, const char *value)
{
	size_t at[PAIR_FIELDS];

	flat_refer(to, from, flat_table(to, pair_sizes, PAIR_FIELDS, at));
	flat_refer(to, at[PAIR_KEY], flat_string(to, key));
	flat_refer(to, at[PAIR_VALUE], flat_string(to, value));
}

static void put_schema(struct buffer *to, size_t from, const struct table_schema *schema)
{
	size_t at[SCHEMA_FIELDS], elements;

	flat_refer(to, from, flat_table(to, schema_sizes, SCHEMA_FIELDS, at));
	flat_refer(to, at[SCHEMA_COLUMNS], flat_vector(to, schema->count, 4, 4, &elements));
	for (size_t i = 0; i < schema->count; i++)
		flat_refer(to, elements + 4 * i, put_column(to, &schema->columns[i]));
	flat_refer(to, at[SCHEMA_METADATA], flat_vector(to, 2, 4, 4, &elements));
	put_pair(to, elements, "posixtrace.table", schema->name);
	put_pair(to, elements + 4, "posixtrace.version", TABLE_VERSION);
}

static int begin(struct table *table)
{
	struct buffer *metadata = &table->scratch;
	const size_t count = table->schema->count;

	table->state = calloc(1, sizeof(struct arrow) + count * sizeof(struct arrow_column));
	if (!table->state)
		return -ENOMEM;
	put_schema(metadata, begin_message(metadata, HEADER_SCHEMA, 0), table->schema);
	return end_message(table, metadata);
}

/* ------------------------------------------------------------------ */
/* Batches								*/

static bool is_text(const struct column *column)
{
	return column->type == COLUMN_TEXT || column->type == COLUMN_JSON;
}

static size_t value_bytes(const struct column *column, size_t rows)
{
	switch (column->type) {
	case COLUMN_BOOL:
		return (rows + 7) / 8;
	case COLUMN_INT32:
	case COLUMN_UINT32:
		return rows * 4;
	case COLUMN_TEXT:
	case COLUMN_JSON:
		return rows ? (rows + 1) * 4 : 0;
	default:
		return rows * 8;
	}
}

/* Lists the parts of the body of a batch. Returns their number. */
static size_t list_parts(const struct table *table, const struct arrow *arrow, struct part *parts)
{
	struct part *part = parts;

	for (size_t i = 0; i < table->schema->count; i++) {
		const struct arrow_column *values = &arrow->columns[i];
		const struct column *column = &table->schema->columns[i];

		/* The mask is left out if the column has no nulls. */
		*part++ = (struct part){ values->valid, values->nulls ? (arrow->rows + 7) / 8 : 0 };
		*part++ = (struct part){ values->numbers, value_bytes(column, arrow->rows) };
		if (is_text(column))
			*part++ = (struct part){ values->bytes.data, values->bytes.len };
	}
	return (size_t)(part - parts);
}

static void put_batch(const struct table *table, const struct arrow *arrow, struct buffer *to,
		      size_t from, const struct part *parts, size_t nr_parts)
{
	size_t at[BATCH_FIELDS], nodes, buffers;
	uint64_t offset = 0;

	flat_refer(to, from, flat_table(to, batch_sizes, BATCH_FIELDS, at));
	buffer_patch(to, at[BATCH_LENGTH], arrow->rows, 8);
	flat_refer(to, at[BATCH_NODES], flat_vector(to, table->schema->count, 16, 8, &nodes));
	for (size_t i = 0; i < table->schema->count; i++, nodes += 16) {
		buffer_patch(to, nodes, arrow->rows, 8);
		buffer_patch(to, nodes + 8, arrow->columns[i].nulls, 8);
	}
	flat_refer(to, at[BATCH_BUFFERS], flat_vector(to, nr_parts, 16, 8, &buffers));
	for (size_t i = 0; i < nr_parts; i++, buffers += 16) {
		buffer_patch(to, buffers, offset, 8);
		buffer_patch(to, buffers + 8, parts[i].len, 8);
		offset += parts[i].len + padding(parts[i].len);
	}
}

static void clear_batch(const struct table *table, struct arrow *arrow)
{
	for (size_t i = 0; i < table->schema->count; i++) {
		struct arrow_column *column = &arrow->columns[i];

		memset(column->valid, 0, sizeof(column->valid));
		if (table->schema->columns[i].type == COLUMN_BOOL)
			memset(column->mask, 0, sizeof(column->mask));
		column->nulls = 0;
		/* Free a huge buffer: a forged log may have a huge text. */
		if (column->bytes.room > 2 * TABLE_BATCH_BYTES)
			buffer_free(&column->bytes);
		buffer_reset(&column->bytes);
	}
	arrow->rows = 0;
	arrow->bytes = 0;
}

static int write_batch(struct table *table, struct arrow *arrow)
{
	static const unsigned char zeroes[ALIGN];
	struct buffer *metadata = &table->scratch;
	struct part parts[BODY_MAX];
	const size_t nr_parts = list_parts(table, arrow, parts);
	uint64_t len = 0;
	int err;

	for (size_t i = 0; i < nr_parts; i++)
		len += parts[i].len + padding(parts[i].len);
	put_batch(table, arrow, metadata, begin_message(metadata, HEADER_BATCH, len), parts,
		  nr_parts);
	err = end_message(table, metadata);
	for (size_t i = 0; i < nr_parts && !err; i++) {
		err = table_write(table, parts[i].at, parts[i].len);
		if (!err)
			err = table_write(table, zeroes, padding(parts[i].len));
	}
	clear_batch(table, arrow);
	return err;
}

static void put_value(struct arrow *arrow, struct arrow_column *values,
		      const struct column *column, const union cell *cell)
{
	const size_t row = arrow->rows, before = values->bytes.len;

	switch (column->type) {
	case COLUMN_BOOL:
		values->mask[row / 8] |= (unsigned char)(!!cell->number << row % 8);
		break;
	case COLUMN_INT32:
	case COLUMN_UINT32:
		values->small[row] = (uint32_t)cell->number;
		break;
	case COLUMN_TEXT:
	case COLUMN_JSON:
		table_text(&values->bytes, column, cell);
		arrow->bytes += values->bytes.len - before;
		break;
	default:
		memcpy(&values->numbers[row], cell, sizeof(values->numbers[row]));
	}
	values->valid[row / 8] |= (unsigned char)(1U << row % 8);
}

static int put_row(struct table *table)
{
	struct arrow *arrow = table->state;
	const size_t row = arrow->rows;
	bool failed = false;

	for (size_t i = 0; i < table->schema->count; i++) {
		const struct column *column = &table->schema->columns[i];
		struct arrow_column *values = &arrow->columns[i];

		if (table_has(table, i)) {
			put_value(arrow, values, column, &table->cells[i]);
		} else {
			values->nulls++;
			if (column->type == COLUMN_INT32 || column->type == COLUMN_UINT32)
				values->small[row] = 0;
			else if (column->type != COLUMN_BOOL && !is_text(column))
				values->numbers[row] = 0;
		}
		if (is_text(column))
			values->offsets[row + 1] = (uint32_t)values->bytes.len;
		failed |= values->bytes.failed;
	}
	if (failed)
		return -ENOMEM;
	arrow->rows++;
	if (arrow->rows < TABLE_BATCH_ROWS && arrow->bytes < TABLE_BATCH_BYTES)
		return 0;
	return write_batch(table, arrow);
}

static int end(struct table *table)
{
	struct arrow *arrow = table->state;
	int err = arrow->rows ? write_batch(table, arrow) : 0;

	buffer_number(&table->out, CONTINUATION, 4);
	buffer_number(&table->out, 0, 4);
	return err;
}

static void free_columns(struct table *table)
{
	struct arrow *arrow = table->state;

	for (size_t i = 0; arrow && i < table->schema->count; i++)
		buffer_free(&arrow->columns[i].bytes);
	free(arrow);
}

const struct table_format table_arrow = {
	.suffix = ".arrows",
	.begin = begin,
	.row = put_row,
	.end = end,
	.free = free_columns,
};
