// SPDX-License-Identifier: GPL-2.0
/*
 * Values in answers: see value.h.
 */
#include <math.h>
#include <string.h>

#include "print/json_fields.h"
#include "query/value.h"
#include "util/escape.h"

/* Decimals with more digits are strings in JSON, because JSON readers would round them. */
#define JSON_DIGITS	15

/* ------------------------------------------------------------------ */
/* Types								*/

static bool is_known(const struct duckdb *db, void *type, unsigned int depth);

/* Checks the type of a list or struct member. Frees @type. */
static bool child_is_known(const struct duckdb *db, void *type, unsigned int depth)
{
	bool known = is_known(db, type, depth + 1);

	db->destroy_logical_type(&type);
	return known;
}

static bool is_known(const struct duckdb *db, void *type, unsigned int depth)
{
	const int id = db->get_type_id(type);
	uint64_t children;

	if (depth >= VALUE_DEPTH)
		return false;
	switch (id) {
	case DUCKDB_LIST:
		return child_is_known(db, db->list_type_child_type(type), depth);
	case DUCKDB_STRUCT:
		children = db->struct_type_child_count(type);
		for (uint64_t i = 0; i < children; i++) {
			if (!child_is_known(db, db->struct_type_child_type(type, i), depth))
				return false;
		}
		return true;
	case DUCKDB_DECIMAL:
	case DUCKDB_ENUM:
	case DUCKDB_TIMESTAMP_TZ:
	case DUCKDB_SQLNULL:
		return true;
	default:
		return id >= DUCKDB_BOOLEAN && id <= DUCKDB_VARCHAR;
	}
}

bool value_is_known(const struct duckdb *db, void *type)
{
	return is_known(db, type, 0);
}

bool value_is_number(const struct duckdb *db, void *type)
{
	const int id = db->get_type_id(type);

	return (id >= DUCKDB_TINYINT && id <= DUCKDB_DOUBLE) || id == DUCKDB_HUGEINT ||
	       id == DUCKDB_DECIMAL;
}

/* ------------------------------------------------------------------ */
/* Texts								*/

void value_string(struct buffer *to, const char *text, size_t len)
{
	buffer_byte(to, '"');
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			buffer_byte(to, '\\');
		if (c < ' ' || c == 0x7f)
			buffer_printf(to, "\\u%04x", c);
		else
			buffer_byte(to, c);
	}
	buffer_byte(to, '"');
}

static void put_text(struct buffer *to, const char *text, size_t len, bool json)
{
	if (json)
		value_string(to, text, len);
	else
		escape_message(to, text, len);
}

/* Appends a text that the library has allocated, and frees it. */
static void put_owned(const struct duckdb *db, char *text, bool json, struct buffer *to)
{
	if (text)
		put_text(to, text, strlen(text), json);
	db->free(text);
}

/* Appends a value of the library as text, and frees it. */
static void put_value(const struct duckdb *db, void *value, bool json, struct buffer *to)
{
	put_owned(db, db->get_varchar(value), json, to);
	db->destroy_value(&value);
}

static void put_string(const union duckdb_string *string, bool json, struct buffer *to)
{
	const uint32_t len = string->inlined.length;

	put_text(to, len <= sizeof(string->inlined.at) ? string->inlined.at : string->far.at, len,
		 json);
}

/* ------------------------------------------------------------------ */
/* Numbers								*/

static void put_unsigned(uint64_t value, bool negative, bool json, struct buffer *to)
{
	if (json) {
		json_number(to, value, negative);
		return;
	}
	if (negative)
		buffer_byte(to, '-');
	buffer_integer(to, value, 10, "", 0);
}

static void put_signed(int64_t value, bool json, struct buffer *to)
{
	put_unsigned(value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0, json, to);
}

static void put_huge(const struct duckdb *db, struct duckdb_hugeint value, bool json,
		     struct buffer *to)
{
	/* DuckDB sums integers to 128 bits, but the sums are rarely large. */
	if (!value.upper)
		put_unsigned(value.lower, false, json, to);
	else if (value.upper == -1 && value.lower)
		put_unsigned(-value.lower, true, json, to);
	else
		put_value(db, db->create_hugeint(value), json, to);
}

static void put_real(double value, size_t size, bool json, struct buffer *to)
{
	const bool text = json && !isfinite(value);

	if (text)
		buffer_byte(to, '"');
	buffer_real(to, value, size);
	if (text)
		buffer_byte(to, '"');
}

static void put_decimal(const struct duckdb *db, void *type, const void *data, uint64_t row,
			bool json, struct buffer *to)
{
	struct duckdb_decimal decimal = {
		.width = db->decimal_width(type),
		.scale = db->decimal_scale(type),
	};
	struct duckdb_hugeint *value = &decimal.value;

	switch (db->decimal_internal_type(type)) {
	case DUCKDB_SMALLINT:
		value->lower = (uint64_t)((const int16_t *)data)[row];
		break;
	case DUCKDB_INTEGER:
		value->lower = (uint64_t)((const int32_t *)data)[row];
		break;
	case DUCKDB_BIGINT:
		value->lower = (uint64_t)((const int64_t *)data)[row];
		break;
	default:
		*value = ((const struct duckdb_hugeint *)data)[row];
		put_value(db, db->create_decimal(decimal), json, to);
		return;
	}
	if ((int64_t)value->lower < 0)
		value->upper = -1;
	put_value(db, db->create_decimal(decimal), json && decimal.width > JSON_DIGITS, to);
}

/* ------------------------------------------------------------------ */
/* Values								*/

static void put_enum(const struct duckdb *db, void *type, const void *data, uint64_t row,
		     bool json, struct buffer *to)
{
	uint64_t i;

	switch (db->enum_internal_type(type)) {
	case DUCKDB_UTINYINT:
		i = ((const uint8_t *)data)[row];
		break;
	case DUCKDB_USMALLINT:
		i = ((const uint16_t *)data)[row];
		break;
	default:
		i = ((const uint32_t *)data)[row];
	}
	put_owned(db, db->enum_dictionary_value(type, i), json, to);
}

static void put_list(const struct duckdb *db, void *type, void *vector,
		     const struct duckdb_list_entry *entry, bool json, struct buffer *to)
{
	void *child_type = db->list_type_child_type(type);
	void *child = db->list_vector_get_child(vector);

	buffer_byte(to, '[');
	for (uint64_t i = 0; i < entry->length; i++) {
		if (i)
			buffer_text(to, json ? "," : ", ");
		value_put(db, child_type, child, entry->offset + i, json, to);
	}
	buffer_byte(to, ']');
	db->destroy_logical_type(&child_type);
}

static void put_struct(const struct duckdb *db, void *type, void *vector, uint64_t row, bool json,
		       struct buffer *to)
{
	const uint64_t count = db->struct_type_child_count(type);

	buffer_byte(to, '{');
	for (uint64_t i = 0; i < count; i++) {
		void *child_type = db->struct_type_child_type(type, i);

		if (i)
			buffer_text(to, json ? "," : ", ");
		put_owned(db, db->struct_type_child_name(type, i), json, to);
		buffer_text(to, json ? ":" : ": ");
		value_put(db, child_type, db->struct_vector_get_child(vector, i), row, json, to);
		db->destroy_logical_type(&child_type);
	}
	buffer_byte(to, '}');
}

static void put_time(const struct duckdb *db, int id, const void *data, uint64_t row, bool json,
		     struct buffer *to)
{
	const struct duckdb_micros *micros = data;
	void *value;

	switch (id) {
	case DUCKDB_DATE:
		value = db->create_date(((const struct duckdb_date *)data)[row]);
		break;
	case DUCKDB_TIME:
		value = db->create_time(micros[row]);
		break;
	case DUCKDB_TIMESTAMP:
		value = db->create_timestamp(micros[row]);
		break;
	case DUCKDB_TIMESTAMP_TZ:
		value = db->create_timestamp_tz(micros[row]);
		break;
	default:
		value = db->create_interval(((const struct duckdb_interval *)data)[row]);
	}
	put_value(db, value, json, to);
}

void value_put(const struct duckdb *db, void *type, void *vector, uint64_t row, bool json,
	       struct buffer *to)
{
	const uint64_t *validity = db->vector_get_validity(vector);
	const void *data = db->vector_get_data(vector);
	const int id = db->get_type_id(type);

	if (id == DUCKDB_SQLNULL || (validity && !(validity[row / 64] >> row % 64 & 1))) {
		buffer_text(to, json ? "null" : "-");
		return;
	}
	switch (id) {
	case DUCKDB_BOOLEAN:
		buffer_text(to, ((const bool *)data)[row] ? "true" : "false");
		break;
	case DUCKDB_TINYINT:
		put_signed(((const int8_t *)data)[row], json, to);
		break;
	case DUCKDB_SMALLINT:
		put_signed(((const int16_t *)data)[row], json, to);
		break;
	case DUCKDB_INTEGER:
		put_signed(((const int32_t *)data)[row], json, to);
		break;
	case DUCKDB_BIGINT:
		put_signed(((const int64_t *)data)[row], json, to);
		break;
	case DUCKDB_UTINYINT:
		put_unsigned(((const uint8_t *)data)[row], false, json, to);
		break;
	case DUCKDB_USMALLINT:
		put_unsigned(((const uint16_t *)data)[row], false, json, to);
		break;
	case DUCKDB_UINTEGER:
		put_unsigned(((const uint32_t *)data)[row], false, json, to);
		break;
	case DUCKDB_UBIGINT:
		put_unsigned(((const uint64_t *)data)[row], false, json, to);
		break;
	case DUCKDB_HUGEINT:
		put_huge(db, ((const struct duckdb_hugeint *)data)[row], json, to);
		break;
	case DUCKDB_FLOAT:
		put_real((double)((const float *)data)[row], sizeof(float), json, to);
		break;
	case DUCKDB_DOUBLE:
		put_real(((const double *)data)[row], sizeof(double), json, to);
		break;
	case DUCKDB_DECIMAL:
		put_decimal(db, type, data, row, json, to);
		break;
	case DUCKDB_ENUM:
		put_enum(db, type, data, row, json, to);
		break;
	case DUCKDB_VARCHAR:
		put_string(&((const union duckdb_string *)data)[row], json, to);
		break;
	case DUCKDB_LIST:
		put_list(db, type, vector, &((const struct duckdb_list_entry *)data)[row], json,
			 to);
		break;
	case DUCKDB_STRUCT:
		put_struct(db, type, vector, row, json, to);
		break;
	default:
		put_time(db, id, data, row, json, to);
	}
}
