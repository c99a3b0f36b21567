// SPDX-License-Identifier: GPL-2.0
/*
 * Parses format files: see formats.h. This file only finds the name and the end of each definition.
 * The library parses the fields.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/formats.h"
#include "util/message.h"

#define FILE_MAX_BYTES	(1 << 20)

const struct command_option formats_options[] = {
	{ OPTION_TEXT, 0, "format-file", "FILE",
	  "file that describes the data of events: see posixtrace-export(1)",
	  .value = OPTION_FILE },
	{ }
};

struct reader {
	const char *at;
	const char *end;
	unsigned int line;
	struct formats *formats;
};

__attribute__((format(printf, 3, 4)))
static int invalid(const struct reader *reader, unsigned int line, const char *format, ...)
{
	char *message;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&message, format, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	tell("%s:%u: %s", reader->formats->path, line, message);
	free(message);
	return -EINVAL;
}

/* ------------------------------------------------------------------ */
/* Names								*/

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

/* Returns the byte for "\x1b", "\\", "\"", "\n" or "\t", or 0. */
static char read_escape(struct reader *reader)
{
	static const char letters[] = "\\\"nt", bytes[] = "\\\"\n\t";
	static const char hex[] = "0123456789abcdef";
	const char *letter, *digit;
	int byte = 0;

	if (reader->at == reader->end || !*reader->at)
		return '\0';
	letter = strchr(letters, *reader->at);
	if (letter) {
		reader->at++;
		return bytes[letter - letters];
	}
	if (*reader->at++ != 'x')
		return '\0';
	for (int i = 0; i < 2; i++) {
		if (reader->at == reader->end || !*reader->at)
			return '\0';
		digit = strchr(hex, *reader->at++);
		if (!digit)
			return '\0';
		byte = byte << 4 | (int)(digit - hex);
	}
	return (char)byte;
}

static int read_quoted(struct reader *reader, char *name)
{
	size_t len = 0;

	for (reader->at++; reader->at < reader->end && *reader->at != '\n';) {
		char c = *reader->at++;

		if (c == '"') {
			name[len] = '\0';
			return 0;
		}
		if (c == '\\')
			c = read_escape(reader);
		if (!c)
			return invalid(reader, reader->line,
				       "unknown escape in quotes: use \\\\, \\\", \\n, \\t or \\xNN");
		if (len + 1 >= FORMAT_NAME_SIZE)
			return invalid(reader, reader->line, "a name has at most %d bytes",
				       FORMAT_NAME_SIZE - 1);
		name[len++] = c;
	}
	return invalid(reader, reader->line, "closing quote is missing");
}

/* Reads a word, which may be empty. */
static int read_word(struct reader *reader, char *word)
{
	size_t len = 0;

	while (reader->at < reader->end && !is_blank(*reader->at) &&
	       !(*reader->at && strchr("{}[];\"#", *reader->at))) {
		/*
		 * Reject control characters, because error messages would send them to a terminal.
		 */
		if (*reader->at <= ' ' || *reader->at == 0x7f)
			return invalid(reader, reader->line,
				       "byte %#x in a name: put the name in quotes",
				       (unsigned char)*reader->at);
		if (len + 1 >= FORMAT_NAME_SIZE)
			return invalid(reader, reader->line, "a name has at most %d bytes",
				       FORMAT_NAME_SIZE - 1);
		word[len++] = *reader->at++;
	}
	word[len] = '\0';
	return 0;
}

/* Reports the current token and what was expected instead. */
static int unexpected(const struct reader *reader, const char *wanted)
{
	char sign[] = "?";

	if (reader->at < reader->end && *reader->at > ' ' && *reader->at < 0x7f)
		sign[0] = *reader->at;
	return invalid(reader, reader->line, "expected %s (got \"%s\")", wanted,
		       reader->at == reader->end ? "end of file" : sign);
}

/*
 * Parses the head of a definition. "struct" may be before the name, or after it as in descriptions.
 */
static int read_head(struct reader *reader, struct format *format, bool *aligned)
{
	char word[FORMAT_NAME_SIZE];
	int err = read_word(reader, word);

	*aligned = !err && !strcmp(word, "struct");
	if (*aligned) {
		skip_blanks(reader);
		format->line = reader->line;
		err = read_word(reader, word);
	}
	if (!err && !*word && reader->at < reader->end && *reader->at == '"')
		err = read_quoted(reader, word);
	if (err)
		return err;
	if (!*word)
		return unexpected(reader, "the name of an event type");
	if (formats_find(reader->formats, word))
		return invalid(reader, format->line, "duplicate event type");
	strcpy(format->event, word);
	skip_blanks(reader);
	if (*aligned)
		return 0;
	err = read_word(reader, word);
	if (err || !*word)
		return err;
	*aligned = !strcmp(word, "struct");
	skip_blanks(reader);
	return *aligned ? 0 : invalid(reader, reader->line, "expected \"{\" (got \"%s\")", word);
}

/* ------------------------------------------------------------------ */
/* Definitions								*/

static void copy_quoted(struct reader *reader, struct buffer *text)
{
	do {
		if (*reader->at == '\\' && reader->at + 1 < reader->end && reader->at[1] != '\n')
			buffer_byte(text, *reader->at++);
		buffer_byte(text, *reader->at++);
	} while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\n');
	if (reader->at < reader->end && *reader->at == '"')
		buffer_byte(text, *reader->at++);
}

/*
 * Copies the fields up to the closing bracket, but without comments and white space, which must not
 * count towards the size limit of a description. Keeps line breaks.
 */
static void copy_fields(struct reader *reader, struct buffer *text)
{
	unsigned int depth = 0;

	do {
		unsigned int line = reader->line;
		const char *at = reader->at;

		skip_blanks(reader);
		if (reader->at != at)
			buffer_byte(text, ' ');
		for (; line < reader->line; line++)
			buffer_byte(text, '\n');
		if (reader->at == reader->end)
			return;
		if (*reader->at == '"') {
			copy_quoted(reader, text);
			continue;
		}
		depth += *reader->at == '{';
		depth -= *reader->at == '}';
		buffer_byte(text, *reader->at++);
	} while (depth);
}

static int read_fields(struct reader *reader, struct format *format, bool aligned)
{
	struct posixtrace_fields_error error;
	unsigned int line = reader->line;
	struct buffer text = { };
	int err;

	if (reader->at == reader->end || *reader->at != '{')
		return unexpected(reader, "\"{\"");
	if (aligned)
		buffer_text(&text, "struct");
	copy_fields(reader, &text);
	/* A null byte in the text ends the description. */
	buffer_byte(&text, '\0');
	err = text.failed ? -ENOMEM :
	      description_new((char *)text.data, &format->description, &error);
	if (err == -EINVAL)
		invalid(reader, line + error.line - 1, "%s", error.message);
	buffer_free(&text);
	return err;
}

static int read_format(struct reader *reader)
{
	struct formats *formats = reader->formats;
	struct format new = { .line = reader->line }, *grown;
	bool aligned;
	int err;

	err = read_head(reader, &new, &aligned);
	if (!err)
		err = read_fields(reader, &new, aligned);
	if (err)
		return err;
	grown = reallocarray(formats->formats, formats->nr_formats + 1, sizeof(*grown));
	if (!grown) {
		description_free(new.description);
		return -ENOMEM;
	}
	formats->formats = grown;
	grown[formats->nr_formats++] = new;
	return 0;
}

/* ------------------------------------------------------------------ */
/* The file								*/

static int read_file(const char *path, char **text, size_t *len)
{
	FILE *file = fopen(path, "re");
	int err = 0;

	if (!file) {
		err = -errno;
	} else {
		*text = malloc(FILE_MAX_BYTES + 1);
		errno = 0;
		if (!*text)
			err = -ENOMEM;
		else
			*len = fread(*text, 1, FILE_MAX_BYTES + 1, file);
		/* The open of a directory succeeds, but reading it fails. */
		if (!err && ferror(file))
			err = errno ? -errno : -EIO;
		else if (!err && *len > FILE_MAX_BYTES)
			err = -EFBIG;
		fclose(file);
	}
	if (err == -EFBIG)
		tell("--format-file: %s: must have at most %d bytes", path, FILE_MAX_BYTES);
	else if (err)
		tell("--format-file: %s: %s", path, strerror(-err));
	return err;
}

int formats_load(const char *path, struct formats **formats)
{
	struct reader reader = { .line = 1 };
	char *text = NULL;
	size_t len = 0;
	int err;

	err = read_file(path, &text, &len);
	if (err)
		goto out;
	reader.formats = calloc(1, sizeof(*reader.formats));
	if (!reader.formats) {
		err = -ENOMEM;
		goto out;
	}
	reader.formats->path = path;
	reader.at = text;
	reader.end = text + len;
	skip_blanks(&reader);
	while (!err && reader.at < reader.end) {
		err = read_format(&reader);
		skip_blanks(&reader);
	}
	if (err)
		formats_free(reader.formats);
	else
		*formats = reader.formats;
	if (err == -ENOMEM)
		complain(path, ENOMEM);
out:
	free(text);
	return err;
}

struct description *formats_find(const struct formats *formats, const char *event)
{
	for (size_t i = 0; formats && i < formats->nr_formats; i++) {
		if (!strcmp(formats->formats[i].event, event))
			return formats->formats[i].description;
	}
	return NULL;
}

void formats_free(struct formats *formats)
{
	if (!formats)
		return;
	for (size_t i = 0; i < formats->nr_formats; i++)
		description_free(formats->formats[i].description);
	free(formats->formats);
	free(formats);
}
