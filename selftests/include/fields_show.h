/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Formats the fields of event data as text, for tests of descriptions.
 */
#ifndef FIELDS_SHOW_H
#define FIELDS_SHOW_H

#include <inttypes.h>
#include <posixtrace/fields.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct fields_show {
	char text[65536];
	size_t len;
};

__attribute__((format(printf, 2, 3)))
static inline void fields_show_put(struct fields_show *show, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(show->text + show->len, sizeof(show->text) - show->len, format, args);
	va_end(args);
	if (len > 0 && (size_t)len < sizeof(show->text) - show->len)
		show->len += (size_t)len;
}

static inline void fields_show_value(struct fields_show *show, const struct posixtrace_value *value)
{
	switch (value->field->type) {
	case POSIXTRACE_FIELD_UNSIGNED:
		fields_show_put(show, "%" PRIu64, value->number);
		break;
	case POSIXTRACE_FIELD_SIGNED:
		fields_show_put(show, "%" PRId64, (int64_t)value->number);
		break;
	case POSIXTRACE_FIELD_HEX:
		fields_show_put(show, "%#" PRIx64, value->number);
		break;
	case POSIXTRACE_FIELD_FLOAT:
		fields_show_put(show, "%g", value->real);
		break;
	case POSIXTRACE_FIELD_BOOL:
		fields_show_put(show, value->number ? "true" : "false");
		break;
	case POSIXTRACE_FIELD_ENUM:
		if (value->label)
			fields_show_put(show, "%s", value->label);
		else if (value->field->is_signed)
			fields_show_put(show, "%" PRId64, (int64_t)value->number);
		else
			fields_show_put(show, "%" PRIu64, value->number);
		break;
	default:
		fields_show_put(show, "\"%.*s\"", (int)value->text_len, (const char *)value->data);
		break;
	}
}

/*
 * Appends all fields, and "!" if the data does not match. Returns the last result of
 * posixtrace_fields_next().
 */
static inline int fields_show(struct fields_show *show, const struct posixtrace_fields *fields,
			      const void *data, size_t len)
{
	struct posixtrace_value value;
	struct posixtrace_walk walk;
	int ret;

	show->len = 0;
	show->text[0] = '\0';
	posixtrace_fields_begin(&walk, fields, data, len);
	while ((ret = posixtrace_fields_next(&walk, &value)) == 1) {
		int type = value.field->type;

		if (value.what == POSIXTRACE_END) {
			fields_show_put(show, type == POSIXTRACE_FIELD_ARRAY ? " ]" : " }");
			continue;
		}
		if (show->len)
			fields_show_put(show, " ");
		if (value.field->name)
			fields_show_put(show, "%s=", value.field->name);
		if (value.what == POSIXTRACE_BEGIN)
			fields_show_put(show, type == POSIXTRACE_FIELD_ARRAY ? "[" : "{");
		else
			fields_show_value(show, &value);
	}
	if (ret < 0)
		fields_show_put(show, " !");
	return ret;
}

#endif /* FIELDS_SHOW_H */
