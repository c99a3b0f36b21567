// SPDX-License-Identifier: GPL-2.0
/*
 * Single fields in the data of the kernel's events: see kernel_fields.h.
 */
#include <string.h>

#include "kernel_fields.h"

static const char *const names[KERNEL_FIELDS] = {
	[KERNEL_TID] = "tid",
	[KERNEL_REASON] = "reason",
	[KERNEL_RUNNABLE] = "runnable",
	[KERNEL_BY] = "by",
	[KERNEL_WAKER_PID] = "waker_pid",
	[KERNEL_WAKER_TID] = "waker_tid",
	[KERNEL_CHILD_PID] = "child_pid",
	[KERNEL_CHILD_TID] = "child_tid",
	[KERNEL_GROUP_DEAD] = "group_dead",
	[KERNEL_NR] = "nr",
	[KERNEL_COMPAT] = "compat",
	[KERNEL_NAME] = "name",
	[KERNEL_DURATION] = "duration",
	[KERNEL_NESTED] = "nested",
};

static bool is_integer(const struct posixtrace_field *field)
{
	switch (field->type) {
	case POSIXTRACE_FIELD_UNSIGNED:
	case POSIXTRACE_FIELD_SIGNED:
	case POSIXTRACE_FIELD_HEX:
	case POSIXTRACE_FIELD_BOOL:
	case POSIXTRACE_FIELD_ENUM:
		return true;
	default:
		return false;
	}
}

/* Finds the fields in a description. Those behind a field of any size have no fixed place. */
static void find_fields(struct kernel_fields *fields, const struct event *event)
{
	const struct posixtrace_field *root = description_root(event->description);
	size_t offset = 0;

	memset(&fields->types[event->type], 0, sizeof(fields->types[event->type]));
	fields->types[event->type].description = event->description;
	for (size_t i = 0; i < root->count; i++) {
		const struct posixtrace_field *field = &root->members[i];

		for (size_t j = 0; field->name && j < KERNEL_FIELDS; j++) {
			if (strcmp(field->name, names[j]))
				continue;
			fields->types[event->type].field[j] = field;
			fields->types[event->type].offset[j] = offset;
		}
		if (!field->size)
			return;
		offset += field->size;
	}
}

/* Returns the field, and where it is in the data; or NULL. */
static const struct posixtrace_field *find_field(struct kernel_fields *fields,
						 const struct event *event,
						 enum kernel_field which, size_t *offset)
{
	const struct posixtrace_field *field;

	if (!event->description || event->type >= KERNEL_FIELDS_TYPES)
		return NULL;
	if (fields->types[event->type].description != event->description)
		find_fields(fields, event);
	field = fields->types[event->type].field[which];
	*offset = fields->types[event->type].offset[which];
	return field && *offset <= event->len && field->size <= event->len - *offset ? field : NULL;
}

static const struct posixtrace_field *find_number(struct kernel_fields *fields,
						  const struct event *event,
						  enum kernel_field which, uint64_t *number)
{
	size_t offset;
	const struct posixtrace_field *field = find_field(fields, event, which, &offset);
	const unsigned char *data;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;

	if (!field || !is_integer(field))
		return NULL;
	data = event->data + offset;
	switch (field->size) {
	case 1:
		memcpy(&u8, data, sizeof(u8));
		*number = field->is_signed ? (uint64_t)(int8_t)u8 : u8;
		break;
	case 2:
		memcpy(&u16, data, sizeof(u16));
		*number = field->is_signed ? (uint64_t)(int16_t)u16 : u16;
		break;
	case 4:
		memcpy(&u32, data, sizeof(u32));
		*number = field->is_signed ? (uint64_t)(int32_t)u32 : u32;
		break;
	case 8:
		memcpy(number, data, sizeof(*number));
		break;
	default:
		return NULL;
	}
	return field;
}

uint64_t kernel_field_number(struct kernel_fields *fields, const struct event *event,
			     enum kernel_field which)
{
	uint64_t number;

	return find_number(fields, event, which, &number) ? number : 0;
}

bool kernel_field_is(struct kernel_fields *fields, const struct event *event,
		     enum kernel_field which, const char *label)
{
	const struct posixtrace_field *field;
	uint64_t number;

	field = find_number(fields, event, which, &number);
	if (!field || field->type != POSIXTRACE_FIELD_ENUM)
		return false;
	for (size_t i = 0; i < field->count; i++) {
		if ((uint64_t)field->labels[i].value == number)
			return !strcmp(field->labels[i].name, label);
	}
	return false;
}

void kernel_field_text(struct kernel_fields *fields, const struct event *event,
		       enum kernel_field which, char *to, size_t size)
{
	size_t offset, len = 0;
	const struct posixtrace_field *field = find_field(fields, event, which, &offset);

	if (field && field->type == POSIXTRACE_FIELD_TEXT) {
		len = event->len - offset;
		if (len > size - 1)
			len = size - 1;
		memcpy(to, event->data + offset, len);
	}
	to[len] = '\0';
}
