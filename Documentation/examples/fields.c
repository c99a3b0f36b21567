// SPDX-License-Identifier: MIT
/*
 * Prints the fields in the data of an event, using names and types from a description.
 */
#include <inttypes.h>
#include <posixtrace/fields.h>
#include <stdio.h>

static const char description[] = "{ u32 id; enum { get, set } op; u16 sizes[2]; text key; }";

/* As reported by posix_trace_getnext_event(). */
static const unsigned char data[] = "\7\0\0\0\1\0\0\0\100\0\0\20some key";

static void print_value(const struct posixtrace_value *value)
{
	switch (value->field->type) {
	case POSIXTRACE_FIELD_FLOAT:
		printf("%g\n", value->real);
		break;
	case POSIXTRACE_FIELD_CHARS:
	case POSIXTRACE_FIELD_STRING:
	case POSIXTRACE_FIELD_TEXT:
		printf("\"%.*s\"\n", (int)value->text_len, (const char *)value->data);
		break;
	default:
		if (value->label)
			printf("%s\n", value->label);
		else if (value->field->is_signed)
			printf("%" PRId64 "\n", (int64_t)value->number);
		else
			printf("%" PRIu64 "\n", value->number);
		break;
	}
}

int main(void)
{
	struct posixtrace_fields_error error;
	struct posixtrace_fields *fields;
	struct posixtrace_value value;
	struct posixtrace_walk walk;
	int ret;

	if (posixtrace_fields_parse(description, &fields, &error)) {
		fprintf(stderr, "%u:%u: %s\n", error.line, error.column, error.message);
		return 1;
	}
	posixtrace_fields_begin(&walk, fields, data, sizeof(data) - 1);
	while ((ret = posixtrace_fields_next(&walk, &value)) == 1) {
		if (value.what != POSIXTRACE_VALUE)
			continue;
		if (value.field->name)
			printf("%s ", value.field->name);
		else
			printf("[%zu] ", value.index);
		print_value(&value);
	}
	if (ret)
		printf("the data does not match\n");
	posixtrace_fields_free(fields);
	return 0;
}
