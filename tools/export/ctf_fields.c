// SPDX-License-Identifier: GPL-2.0
/*
 * Describes and writes the fields of events in CTF: see ctf_fields.h.
 */
#include <inttypes.h>
#include <string.h>

#include "export/ctf_fields.h"
#include "util/escape.h"

void ctf_fields_aliases(struct buffer *text)
{
	static const struct {
		const char *prefix;
		const char *is_signed;
		int base;
	} kinds[] = {
		{ "uint", "false", 10 }, { "int", "true", 10 }, { "xint", "false", 16 },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (unsigned int bits = 8; bits <= 64; bits *= 2) {
			buffer_printf(text, "typealias integer { size = %u; align = 8; ", bits);
			buffer_printf(text, "signed = %s; base = %d; } := %s%u_t;\n",
				      kinds[i].is_signed, kinds[i].base, kinds[i].prefix, bits);
		}
	}
	buffer_text(text,
		    "typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := float32_t;\n"
		    "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := float64_t;\n");
}

/* ------------------------------------------------------------------ */
/* Limits of TSDL							*/

static const struct posixtrace_field *find_member(const struct posixtrace_field *in,
						  const char *name)
{
	for (size_t i = 0; i < in->count; i++) {
		if (in->members[i].name && !strcmp(in->members[i].name, name))
			return &in->members[i];
	}
	return NULL;
}

/*
 * Checks if @length is the field that is found by its name, searching from the innermost struct
 * outwards.
 */
static bool finds_length(const struct posixtrace_field *length,
			 const struct posixtrace_field *const *around, size_t depth)
{
	const struct posixtrace_field *found = NULL;

	while (!found && depth-- > 0)
		found = find_member(around[depth], length->name);
	return found == length;
}

static bool possible(const struct posixtrace_field *field,
		     const struct posixtrace_field **around, size_t depth)
{
	bool named = false;

	while (field->type == POSIXTRACE_FIELD_ARRAY) {
		if (field->length && !finds_length(field->length, around, depth))
			return false;
		field = field->members;
	}
	if (field->type != POSIXTRACE_FIELD_STRUCT)
		return true;
	around[depth++] = field;
	for (size_t i = 0; i < field->count; i++) {
		named |= !!field->members[i].name;
		if (!possible(&field->members[i], around, depth))
			return false;
	}
	return named || depth == 1;
}

bool ctf_fields_possible(const struct description *description)
{
	const struct posixtrace_field *around[DESCRIPTION_LEVELS];

	return possible(description_root(description), around, 0);
}

/* ------------------------------------------------------------------ */
/* Types								*/

static void put_tabs(struct buffer *text, unsigned int depth)
{
	while (depth-- > 0)
		buffer_byte(text, '\t');
}

/*
 * Can Trace Compass read the value of a label? It parses the digits without the sign as a signed
 * 64-bit number, and rejects the whole trace if that fails. A value without a label is shown as a
 * number.
 */
static bool has_form(const struct posixtrace_field *field, int64_t value)
{
	return field->is_signed ? value != INT64_MIN : value >= 0;
}

static void put_enum(struct buffer *text, const struct posixtrace_field *field)
{
	const char *separator = "";
	size_t count = 0;

	for (size_t i = 0; i < field->count; i++)
		count += has_form(field, field->labels[i].value);
	if (!count) {
		buffer_printf(text, "%sint%zu_t", field->is_signed ? "" : "u", 8 * field->size);
		return;
	}
	buffer_printf(text, "enum : %sint%zu_t { ", field->is_signed ? "" : "u", 8 * field->size);
	for (size_t i = 0; i < field->count; i++) {
		const struct posixtrace_label *label = &field->labels[i];

		/* CTF viewers show all labels of a value, so keep only the first label. */
		if ((i && label->value == label[-1].value) || !has_form(field, label->value))
			continue;
		buffer_text(text, separator);
		separator = ", ";
		escape_string(text, label->name, strlen(label->name), false);
		if (field->is_signed)
			buffer_printf(text, " = %" PRId64, label->value);
		else
			buffer_printf(text, " = %" PRIu64, (uint64_t)label->value);
	}
	buffer_text(text, " }");
}

static void put_members(struct buffer *text, const struct posixtrace_field *in,
			unsigned int depth);

static void put_type(struct buffer *text, const struct posixtrace_field *field,
		     unsigned int depth)
{
	switch (field->type) {
	case POSIXTRACE_FIELD_UNSIGNED:
		buffer_printf(text, "uint%zu_t", 8 * field->size);
		break;
	case POSIXTRACE_FIELD_SIGNED:
		buffer_printf(text, "int%zu_t", 8 * field->size);
		break;
	case POSIXTRACE_FIELD_HEX:
		buffer_printf(text, "xint%zu_t", 8 * field->size);
		break;
	case POSIXTRACE_FIELD_FLOAT:
		buffer_printf(text, "float%zu_t", 8 * field->size);
		break;
	case POSIXTRACE_FIELD_BOOL:
		buffer_text(text, "enum : uint8_t { \"false\" = 0, \"true\" = 1 }");
		break;
	case POSIXTRACE_FIELD_ENUM:
		put_enum(text, field);
		break;
	case POSIXTRACE_FIELD_STRUCT:
		buffer_text(text, "struct {\n");
		put_members(text, field, depth + 1);
		put_tabs(text, depth);
		buffer_byte(text, '}');
		break;
	default:
		buffer_text(text, "string { encoding = UTF8; }");
	}
}

/*
 * Prefix each name with "_", so that it cannot clash with a TSDL keyword. Viewers remove the "_".
 */
static void put_members(struct buffer *text, const struct posixtrace_field *in,
			unsigned int depth)
{
	for (size_t i = 0; i < in->count; i++) {
		const struct posixtrace_field *member = &in->members[i], *type = member;

		if (!member->name)
			continue;
		while (type->type == POSIXTRACE_FIELD_ARRAY)
			type = type->members;
		put_tabs(text, depth);
		put_type(text, type, depth);
		buffer_printf(text, " _%s", member->name);
		for (type = member; type->type == POSIXTRACE_FIELD_ARRAY; type = type->members) {
			if (type->length)
				buffer_printf(text, "[_%s]", type->length->name);
			else
				buffer_printf(text, "[%zu]", type->count);
		}
		buffer_text(text, ";\n");
	}
}

void ctf_fields_describe(struct buffer *text, const struct description *description)
{
	put_members(text, description_root(description), 2);
}

/* ------------------------------------------------------------------ */
/* Values								*/

void ctf_fields_put(struct buffer *bytes, const struct event *event)
{
	struct posixtrace_value value;
	struct values values;

	values_begin(&values, event->description, event->data, event->len);
	while (values_next(&values, &value)) {
		if (value.what != POSIXTRACE_VALUE)
			continue;
		if (value_is_text(&value)) {
			escape_plain(bytes, value.data, value.text_len);
			buffer_byte(bytes, '\0');
		} else if (value.field->type == POSIXTRACE_FIELD_BOOL) {
			buffer_byte(bytes, value.number != 0);
		} else {
			buffer_put(bytes, value.data, value.size);
		}
	}
}
