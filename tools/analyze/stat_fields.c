// SPDX-License-Identifier: GPL-2.0
/*
 * Collects and prints field statistics: see stat_fields.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stat_fields.h"
#include "util/escape.h"

#define PATH_BYTES	(DESCRIPTION_LEVELS * 64)
#define NAME_WIDTH	40

/* ------------------------------------------------------------------ */
/* Fields								*/

static bool is_counted(const struct posixtrace_field *field)
{
	return field->type == POSIXTRACE_FIELD_ENUM || field->type == POSIXTRACE_FIELD_BOOL;
}

static int add_field(struct stat_fields *fields, const struct posixtrace_field *field,
		     const char *path)
{
	struct stat_field *grown, *new;

	grown = reallocarray(fields->fields, fields->nr_fields + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	fields->fields = grown;
	new = &grown[fields->nr_fields++];
	*new = (struct stat_field){ .field = field, .path = strdup(path) };
	if (is_counted(field))
		new->labels = calloc(field->count + 2, sizeof(*new->labels));
	return new->path && (new->labels || !is_counted(field)) ? 0 : -ENOMEM;
}

/* Adds the members of a field, in the order of the description. */
static int add_fields(struct stat_fields *fields, const struct posixtrace_field *field,
		      char *path, size_t len)
{
	int err = 0;

	if (field->name)
		len += (size_t)snprintf(path + len, PATH_BYTES - len, "%s%s", len ? "." : "",
					field->name);
	switch (field->type) {
	case POSIXTRACE_FIELD_ARRAY:
		return add_fields(fields, field->members, path, len);
	case POSIXTRACE_FIELD_STRUCT:
		for (size_t i = 0; !err && i < field->count; i++)
			err = add_fields(fields, &field->members[i], path, len);
		return err;
	case POSIXTRACE_FIELD_CHARS:
	case POSIXTRACE_FIELD_STRING:
	case POSIXTRACE_FIELD_TEXT:
	case POSIXTRACE_FIELD_PAD:
		return 0;
	default:
		return add_field(fields, field, path);
	}
}

void stat_fields_free(struct stat_fields *fields)
{
	for (size_t i = 0; i < fields->nr_fields; i++) {
		free(fields->fields[i].path);
		free(fields->fields[i].labels);
	}
	free(fields->fields);
}

/* ------------------------------------------------------------------ */
/* Values								*/

static void count_label(struct stat_field *field, const struct posixtrace_value *value)
{
	size_t i = 0;

	if (field->field->type == POSIXTRACE_FIELD_BOOL) {
		field->labels[value->number]++;
		return;
	}
	while (i < field->field->count && field->field->labels[i].name != value->label)
		i++;
	field->labels[i]++;
}

static bool is_less(const struct posixtrace_field *field, uint64_t a, uint64_t b)
{
	return field->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static void count_value(struct stat_field *field, const struct posixtrace_value *value)
{
	double number = field->field->type == POSIXTRACE_FIELD_FLOAT ? value->real :
			field->field->is_signed ? (double)(int64_t)value->number :
						  (double)value->number;

	if (isnan(number))
		return;
	if (field->labels)
		count_label(field, value);
	if (!field->count || number < field->min)
		field->min = number;
	if (!field->count || number > field->max)
		field->max = number;
	/* Also keep the limits as integers: a double cannot represent all large ones. */
	if (!field->count || is_less(field->field, value->number, field->least))
		field->least = value->number;
	if (!field->count || is_less(field->field, field->most, value->number))
		field->most = value->number;
	field->sum += number;
	field->count++;
}

int stat_fields_event(struct stat_fields *fields, const struct event *event)
{
	char path[PATH_BYTES] = "";
	struct posixtrace_value value;
	struct values values;
	size_t at = 0;
	int err;

	if (!event_has_fields(event, event->len))
		return 0;
	if (!fields->description) {
		err = add_fields(fields, description_root(event->description), path, 0);
		if (err)
			return err;
		fields->description = event->description;
	}
	values_begin(&values, event->description, event->data, event->len);
	while (values_next(&values, &value)) {
		if (value.what != POSIXTRACE_VALUE)
			continue;
		/*
		 * Start after the field of the previous value: values have the order of the fields,
		 * except in arrays.
		 */
		for (size_t i = 0; i < fields->nr_fields; i++) {
			struct stat_field *field = &fields->fields[(at + i) % fields->nr_fields];

			if (field->field != value.field)
				continue;
			count_value(field, &value);
			at += i;
			break;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* Output								*/

static void print_name(FILE *to, const char *type, const char *path, const char *label)
{
	struct buffer text = { };

	escape_plain(&text, type, strlen(type));
	buffer_printf(&text, ": %s", path);
	if (label) {
		buffer_text(&text, " = ");
		escape_plain(&text, label, strlen(label));
	}
	fprintf(to, "%-*.*s", NAME_WIDTH, (int)text.len, (const char *)text.data);
	buffer_free(&text);
}

static void print_labels(const struct stat_field *field, const char *type, FILE *to)
{
	bool is_bool = field->field->type == POSIXTRACE_FIELD_BOOL;
	size_t count = is_bool ? 2 : field->field->count + 1;

	for (size_t i = 0; i < count; i++) {
		const char *label = is_bool ? (i ? "true" : "false") :
				    i < field->field->count ? field->field->labels[i].name :
							      "(other)";

		if (!field->labels[i])
			continue;
		print_name(to, type, field->path, label);
		fprintf(to, " %10" PRIu64 "\n", field->labels[i]);
	}
}

/* Prints the smallest or the largest value, exact for integers. */
static void print_limit(FILE *to, const struct stat_field *field, double real, uint64_t integer)
{
	if (field->field->type == POSIXTRACE_FIELD_FLOAT)
		fprintf(to, "%12.10g", real);
	else if (field->field->is_signed)
		fprintf(to, "%12" PRId64, (int64_t)integer);
	else
		fprintf(to, "%12" PRIu64, integer);
}

/* If the values include both infinities, the mean is NaN. */
static void print_mean(FILE *to, const struct stat_field *field)
{
	const double mean = field->sum / (double)field->count;

	if (isnan(mean))
		fprintf(to, " %12s ", "-");
	else
		fprintf(to, " %12.8g ", mean);
}

void stat_fields_print(const struct stat_fields *fields, const char *type, FILE *to)
{
	for (size_t i = 0; i < fields->nr_fields; i++) {
		const struct stat_field *field = &fields->fields[i];
		struct buffer unit = { };

		if (!field->count)
			continue;
		if (field->labels) {
			print_labels(field, type, to);
			continue;
		}
		if (field->field->unit) {
			buffer_text(&unit, "  ");
			escape_plain(&unit, field->field->unit, strlen(field->field->unit));
		}
		print_name(to, type, field->path, NULL);
		fprintf(to, " %10" PRIu64 " ", field->count);
		print_limit(to, field, field->min, field->least);
		print_mean(to, field);
		print_limit(to, field, field->max, field->most);
		fprintf(to, "%.*s\n", (int)unit.len, (const char *)unit.data);
		buffer_free(&unit);
	}
}
