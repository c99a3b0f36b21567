/* SPDX-License-Identifier: MIT */
/*
 * <posixtrace/fields.h> - the fields in the data of events: reads descriptions such as
 * "struct { u32 id; enum { get = 0, set } op; text key; }", and finds the values in data.
 *
 * posixtrace-fields(7) has the grammar. Descriptions and data may come from any process, so these
 * functions do not trust them.
 */
#ifndef _POSIXTRACE_FIELDS_H
#define _POSIXTRACE_FIELDS_H	1

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of fields. */
#define POSIXTRACE_FIELD_UNSIGNED	1	/* u8 to u64 */
#define POSIXTRACE_FIELD_SIGNED		2	/* i8 to i64 */
#define POSIXTRACE_FIELD_HEX		3	/* x8 to x64: unsigned, shown in hexadecimal */
#define POSIXTRACE_FIELD_FLOAT		4	/* f32, f64 */
#define POSIXTRACE_FIELD_BOOL		5	/* a byte, zero or nonzero */
#define POSIXTRACE_FIELD_ENUM		6	/* an integer with labels for its values */
#define POSIXTRACE_FIELD_CHARS		7	/* text of a given size, or up to a null byte */
#define POSIXTRACE_FIELD_STRING		8	/* text up to a null byte, which must exist */
#define POSIXTRACE_FIELD_TEXT		9	/* the rest of the data */
#define POSIXTRACE_FIELD_PAD		10	/* ignored bytes */
#define POSIXTRACE_FIELD_STRUCT		11
#define POSIXTRACE_FIELD_ARRAY		12

/*
 * A label of an enumeration. If the enumeration is unsigned, the value may have the highest bit
 * set.
 */
struct posixtrace_label {
	const char *name;
	int64_t value;
};

/* A field. Everything it points to is valid as long as its description. */
struct posixtrace_field {
	const char *name;	/* NULL: outermost struct, element of an array, padding */
	const char *unit;	/* unit of an integer or a float, or NULL */
	const struct posixtrace_field *members;	/* STRUCT: its members. ARRAY: its element */
	const struct posixtrace_field *length;	/* ARRAY, CHARS: field with their size, or NULL */
	const struct posixtrace_label *labels;	/* ENUM: by value, then as described */
	size_t size;		/* bytes, or 0 if that depends on the data */
	size_t count;		/* number of members, labels or elements; 0 with a length field */
	int type;		/* POSIXTRACE_FIELD_* */
	int is_signed;		/* 1 for SIGNED, and for an ENUM of a signed integer */
	unsigned int __slot;
	unsigned int __reserved[5];
};

/* An error in a description, and its position: line and column count from 1. */
struct posixtrace_fields_error {
	size_t offset;		/* position in bytes */
	unsigned int line;
	unsigned int column;	/* in bytes */
	char message[112];	/* printable ASCII */
};

/* A parsed description; immutable. */
struct posixtrace_fields;

/*
 * Parse a description. Returns 0 with the fields in *fields, to be freed with
 * posixtrace_fields_free(); ENOMEM; or EINVAL with the reason in *error, unless error is NULL.
 */
int posixtrace_fields_parse(const char *__description, struct posixtrace_fields **__fields,
			    struct posixtrace_fields_error *__error);

/* The outermost struct. Padding that a C compiler would insert is also a member of its struct. */
const struct posixtrace_field *posixtrace_fields_root(const struct posixtrace_fields *__fields);

/* The description without comments and unnecessary white space. */
const char *posixtrace_fields_text(const struct posixtrace_fields *__fields);

void posixtrace_fields_free(struct posixtrace_fields *__fields);

/* What posixtrace_fields_next() has found. */
#define POSIXTRACE_VALUE	1	/* a value */
#define POSIXTRACE_BEGIN	2	/* the start of a struct or an array */
#define POSIXTRACE_END		3	/* its end */

/* A value in the data of an event. */
struct posixtrace_value {
	const struct posixtrace_field *field;
	const void *data;	/* start of the value. POSIXTRACE_END: its end */
	size_t size;		/* bytes. POSIXTRACE_BEGIN: size of the field */
	size_t index;		/* index of the element, within an array */
	size_t text_len;	/* CHARS, STRING, TEXT: bytes without the null byte */
	uint64_t number;	/* integer, sign-extended. BOOL: 0 or 1. Array start: elements */
	double real;		/* FLOAT */
	const char *label;	/* ENUM: label of the number, or NULL */
	int what;		/* POSIXTRACE_VALUE, POSIXTRACE_BEGIN, POSIXTRACE_END */
	int __reserved1;
	unsigned long long __reserved2[3];
};

struct __posixtrace_level {
	const struct posixtrace_field *__field;
	unsigned int __next;
	unsigned int __count;
};

/* A position in the data of an event. */
struct posixtrace_walk {
	const struct posixtrace_fields *__fields;
	const unsigned char *__at;
	const unsigned char *__end;
	unsigned long long __left;
	int __result;
	unsigned int __depth;
	struct __posixtrace_level __levels[8];
	unsigned int __lengths[64];
	unsigned long long __reserved[4];
};

/*
 * posixtrace_fields_begin() starts to read the values in data, which have len bytes.
 * posixtrace_fields_next() gets the next value, in the order of the description, without padding.
 * The first value is the start of the outermost struct, the last one its end. Returns 1; 0 after
 * the last value; -1 if the data does not match the description: it ends within a field, a string
 * has no null byte, or bytes remain. The values returned before are complete. Both functions are
 * async-signal-safe.
 */
void posixtrace_fields_begin(struct posixtrace_walk *__walk,
			     const struct posixtrace_fields *__fields, const void *__data,
			     size_t __len);
int posixtrace_fields_next(struct posixtrace_walk *__walk, struct posixtrace_value *__value);

#ifdef __cplusplus
}
#endif

#endif /* _POSIXTRACE_FIELDS_H */
