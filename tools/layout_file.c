// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a format file: see layout.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "layout.h"

struct layouts {
	struct layout *layouts;
	size_t nr_layouts;
};

enum token {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_QUOTED,
	TOKEN_SIGN,	/* { } [ ] or ; */
	TOKEN_BAD,
};

struct reader {
	const char *path;
	const char *at;
	const char *end;
	unsigned int line;
	unsigned int token_line;
	enum token token;
	char text[LAYOUT_NAME_MAX];
	struct layouts *layouts;
	struct layout *layout;	/* being read */
	bool in_struct;
	size_t offset;		/* end of the fields so far */
	size_t align;		/* alignment of the struct */
};

static const struct {
	const char *name;
	enum layout_type type;
	size_t size;
} types[] = {
	{ "u8", LAYOUT_UNSIGNED, 1 },
	{ "u16", LAYOUT_UNSIGNED, 2 },
	{ "u32", LAYOUT_UNSIGNED, 4 },
	{ "u64", LAYOUT_UNSIGNED, 8 },
	{ "i8", LAYOUT_SIGNED, 1 },
	{ "i16", LAYOUT_SIGNED, 2 },
	{ "i32", LAYOUT_SIGNED, 4 },
	{ "i64", LAYOUT_SIGNED, 8 },
	{ "x8", LAYOUT_HEX, 1 },
	{ "x16", LAYOUT_HEX, 2 },
	{ "x32", LAYOUT_HEX, 4 },
	{ "x64", LAYOUT_HEX, 8 },
	{ "f32", LAYOUT_FLOAT, 4 },
	{ "f64", LAYOUT_FLOAT, 8 },
	{ "char", LAYOUT_CHARS, 0 },
	{ "string", LAYOUT_STRING, 0 },
	{ "pad", LAYOUT_PAD, 0 },
};

#define NR_TYPES	(sizeof(types) / sizeof(types[0]))

__attribute__((format(printf, 2, 3)))
static int invalid(const struct reader *reader, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%u: ", reader->path, reader->token_line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return -EINVAL;
}

/* ------------------------------------------------------------------ */
/* Words								*/

static bool is_sign(char c)
{
	return c && strchr("{}[];", c);
}

static bool is_blank(char c)
{
	return c && strchr(" \t\r\n\v\f", c);
}

static void skip_blanks(struct reader *reader)
{
	bool comment = false;

	for (; reader->at < reader->end; reader->at++) {
		if (*reader->at == '\n') {
			reader->line++;
			comment = false;
		} else if (*reader->at == '#') {
			comment = true;
		} else if (!comment && !is_blank(*reader->at)) {
			return;
		}
	}
}

/* Returns the byte that "\x1b", "\\", "\"", "\n" or "\t" stands for, or -1. */
static int read_escape(struct reader *reader)
{
	static const char hex[] = "0123456789abcdef";
	const char *digit;
	int byte = 0;

	if (reader->at == reader->end)
		return -1;
	switch (*reader->at++) {
	case '\\':
		return '\\';
	case '"':
		return '"';
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'x':
		break;
	default:
		return -1;
	}
	for (int i = 0; i < 2; i++) {
		if (reader->at == reader->end || !*reader->at)
			return -1;
		digit = strchr(hex, *reader->at++);
		if (!digit)
			return -1;
		byte = byte << 4 | (int)(digit - hex);
	}
	return byte ? byte : -1;
}

static int read_quoted(struct reader *reader)
{
	size_t len = 0;

	for (reader->at++; reader->at < reader->end && *reader->at != '\n';) {
		int c = (unsigned char)*reader->at++;

		if (c == '"') {
			reader->text[len] = '\0';
			reader->token = TOKEN_QUOTED;
			return 0;
		}
		if (c == '\\')
			c = read_escape(reader);
		if (c <= 0)
			return invalid(reader,
				       "unknown escape in quotes: use \\\\, \\\", \\n, \\t or \\xNN");
		if (len + 1 >= sizeof(reader->text))
			return invalid(reader, "a name has at most %d bytes", LAYOUT_NAME_MAX - 1);
		reader->text[len++] = c;
	}
	return invalid(reader, "closing quote is missing");
}

/* Reads the next token; reports an invalid one. */
static int next(struct reader *reader)
{
	size_t len = 0;

	reader->token = TOKEN_BAD;
	skip_blanks(reader);
	reader->token_line = reader->line;
	if (reader->at == reader->end) {
		reader->token = TOKEN_END;
		strcpy(reader->text, "end of file");
		return 0;
	}
	if (*reader->at == '"')
		return read_quoted(reader);
	if (is_sign(*reader->at)) {
		reader->text[0] = *reader->at++;
		reader->text[1] = '\0';
		reader->token = TOKEN_SIGN;
		return 0;
	}
	while (reader->at < reader->end && !is_sign(*reader->at) && !is_blank(*reader->at) &&
	       *reader->at != '"' && *reader->at != '#') {
		/* Refuse control characters, which an error message would print to a terminal. */
		if (*reader->at <= ' ' || *reader->at == 0x7f)
			return invalid(reader, "byte %#x in a name: put the name in quotes",
				       (unsigned char)*reader->at);
		if (len + 1 >= sizeof(reader->text))
			return invalid(reader, "a name has at most %d bytes", LAYOUT_NAME_MAX - 1);
		reader->text[len++] = *reader->at++;
	}
	reader->text[len] = '\0';
	reader->token = TOKEN_WORD;
	return 0;
}

static bool is_at(const struct reader *reader, const char *sign)
{
	return reader->token == TOKEN_SIGN && strcmp(reader->text, sign) == 0;
}

static int expect(struct reader *reader, const char *sign)
{
	int err = next(reader);

	if (!err && !is_at(reader, sign))
		err = invalid(reader, "expected \"%s\" (got \"%s\")", sign, reader->text);
	return err;
}

/* ------------------------------------------------------------------ */
/* Fields								*/

/* A field needs a C identifier as its name: readers of CTF accept no other. */
static bool is_identifier(const char *text)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	return strchr(first, text[0]) && text[0] &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
	       strlen(text);
}

static int read_size(struct reader *reader, size_t *size)
{
	unsigned long value;
	char *end;
	int err = next(reader);

	if (err)
		return err;
	value = strtoul(reader->text, &end, 10);
	if (reader->token != TOKEN_WORD || *end || reader->text[0] < '0' ||
	    reader->text[0] > '9' || !value || value > LAYOUT_SIZE_MAX)
		return invalid(reader, "a size must be from 1 to %d (got \"%s\")", LAYOUT_SIZE_MAX,
			       reader->text);
	*size = value;
	return expect(reader, "]");
}

static int add_field(struct reader *reader, enum layout_type type, size_t size,
		     struct layout_field **field)
{
	struct layout *layout = reader->layout;
	struct layout_field *fields;

	if (layout->nr_fields >= LAYOUT_FIELDS_MAX)
		return invalid(reader, "an event type has at most %d fields, including padding",
			       LAYOUT_FIELDS_MAX);
	fields = realloc(layout->fields, (layout->nr_fields + 1) * sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	layout->fields = fields;
	*field = &fields[layout->nr_fields++];
	**field = (struct layout_field){ .type = type, .size = size };
	return 0;
}

/* Adds the padding that a C compiler inserts to align the next field to @align. */
static int pad_to(struct reader *reader, size_t align)
{
	size_t pad = -reader->offset & (align - 1);
	struct layout_field *field;

	reader->offset += pad;
	if (align > reader->align)
		reader->align = align;
	return pad ? add_field(reader, LAYOUT_PAD, pad, &field) : 0;
}

/* Reads the name of a field, which follows its type. */
static int read_name(struct reader *reader, struct layout_field *field)
{
	const struct layout *layout = reader->layout;
	int err = next(reader);

	if (err)
		return err;
	if (reader->token != TOKEN_WORD || !is_identifier(reader->text))
		return invalid(reader, "a field name must be a C identifier (got \"%s\")",
			       reader->text);
	for (size_t i = 0; i < layout->nr_fields; i++) {
		if (!strcmp(layout->fields[i].name, reader->text))
			return invalid(reader, "duplicate field \"%s\"", reader->text);
	}
	strcpy(field->name, reader->text);
	return 0;
}

static int read_field(struct reader *reader)
{
	struct layout_field *field;
	size_t i = 0;
	int err;

	while (i < NR_TYPES && strcmp(types[i].name, reader->text) != 0)
		i++;
	if (reader->token != TOKEN_WORD || i == NR_TYPES)
		return invalid(reader,
			       "unknown type \"%s\": see \"FORMAT FILES\" in posixtrace-export(1)",
			       reader->text);
	if (reader->in_struct && types[i].type == LAYOUT_STRING)
		return invalid(reader, "a struct cannot have a string: use char NAME[SIZE]");
	err = reader->in_struct ? pad_to(reader, types[i].size ? types[i].size : 1) : 0;
	if (!err)
		err = add_field(reader, types[i].type, types[i].size, &field);
	if (!err && types[i].type != LAYOUT_PAD)
		err = read_name(reader, field);
	if (!err && (types[i].type == LAYOUT_CHARS || types[i].type == LAYOUT_PAD)) {
		err = expect(reader, "[");
		if (!err)
			err = read_size(reader, &field->size);
	}
	if (!err) {
		reader->offset += field->size;
		err = expect(reader, ";");
	}
	return err;
}

/* ------------------------------------------------------------------ */
/* Event types								*/

static int add_layout(struct reader *reader)
{
	struct layouts *layouts = reader->layouts;
	struct layout *grown;

	if ((reader->token != TOKEN_WORD && reader->token != TOKEN_QUOTED) || !reader->text[0])
		return invalid(reader, "expected the name of an event type (got \"%s\")",
			       reader->text);
	if (layouts_find(layouts, reader->text))
		return invalid(reader, "duplicate event type");
	grown = realloc(layouts->layouts, (layouts->nr_layouts + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	layouts->layouts = grown;
	reader->layout = &grown[layouts->nr_layouts++];
	*reader->layout = (struct layout){ .line = reader->token_line };
	strcpy(reader->layout->event, reader->text);
	return 0;
}

static int read_event(struct reader *reader)
{
	int err = 0;

	reader->in_struct = reader->token == TOKEN_WORD && !strcmp(reader->text, "struct");
	reader->offset = 0;
	reader->align = 1;
	if (reader->in_struct)
		err = next(reader);
	if (!err)
		err = add_layout(reader);
	if (!err)
		err = expect(reader, "{");
	if (!err)
		err = next(reader);
	while (!err && !is_at(reader, "}")) {
		err = read_field(reader);
		if (!err)
			err = next(reader);
	}
	if (!err && reader->in_struct)
		err = pad_to(reader, reader->align);
	return err;
}

static int read_file(const char *path, char **text, size_t *len)
{
	FILE *file = fopen(path, "re");
	int err = 0;

	if (!file) {
		err = -errno;
	} else {
		*text = malloc(LAYOUT_FILE_MAX + 1);
		errno = 0;
		if (!*text)
			err = -ENOMEM;
		else
			*len = fread(*text, 1, LAYOUT_FILE_MAX + 1, file);
		/* Reading a directory fails, opening it does not. */
		if (!err && ferror(file))
			err = errno ? -errno : -EIO;
		else if (!err && *len > LAYOUT_FILE_MAX)
			err = -EFBIG;
		fclose(file);
	}
	if (err == -EFBIG)
		tell("--format-file: %s: must have at most %d bytes", path, LAYOUT_FILE_MAX);
	else if (err)
		tell("--format-file: %s: %s", path, strerror(-err));
	return err;
}

int layouts_load(const char *path, struct layouts **layouts)
{
	struct reader reader = { .path = path, .line = 1 };
	char *text = NULL;
	size_t len = 0;
	int err;

	err = read_file(path, &text, &len);
	if (err)
		goto out;
	reader.layouts = calloc(1, sizeof(*reader.layouts));
	if (!reader.layouts) {
		err = -ENOMEM;
		goto out;
	}
	reader.at = text;
	reader.end = text + len;
	err = next(&reader);
	while (!err && reader.token != TOKEN_END) {
		err = read_event(&reader);
		if (!err)
			err = next(&reader);
	}
	if (err)
		layouts_free(reader.layouts);
	else
		*layouts = reader.layouts;
out:
	free(text);
	return err;
}

struct layout *layouts_find(const struct layouts *layouts, const char *event)
{
	for (size_t i = 0; layouts && i < layouts->nr_layouts; i++) {
		if (!strcmp(layouts->layouts[i].event, event))
			return &layouts->layouts[i];
	}
	return NULL;
}

const struct layout *layouts_get(const struct layouts *layouts, size_t number)
{
	return layouts && number < layouts->nr_layouts ? &layouts->layouts[number] : NULL;
}

void layouts_free(struct layouts *layouts)
{
	if (!layouts)
		return;
	for (size_t i = 0; i < layouts->nr_layouts; i++)
		free(layouts->layouts[i].fields);
	free(layouts->layouts);
	free(layouts);
}
