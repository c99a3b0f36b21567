// SPDX-License-Identifier: GPL-2.0
/*
 * Invalid descriptions of fields: each must be refused, with the reason and its position. Needs no
 * module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include "pxt_test.h"

#include <posixtrace/fields.h>

#define TEXT_MAX	4095	/* bytes of a description */

/* Returns the error message. The position of the error must be where @mark begins in the text. */
static const char *error_at(const char *text, const char *mark)
{
	static struct posixtrace_fields_error error;
	struct posixtrace_fields *fields = NULL;
	size_t offset = mark ? (size_t)(strstr(text, mark) - text) : strlen(text);
	static char wrong[300];
	int err = posixtrace_fields_parse(text, &fields, &error);

	posixtrace_fields_free(fields);
	if (err != EINVAL) {
		snprintf(wrong, sizeof(wrong), "returned %d", err);
		return wrong;
	}
	if (error.offset != offset) {
		snprintf(wrong, sizeof(wrong), "%s (at %zu, not at %zu)", error.message,
			 error.offset, offset);
		return wrong;
	}
	return error.message;
}

#define REFUSED(message, text, mark)	EXPECT_STREQ(message, error_at(text, mark))

TEST(other_text_than_a_struct_is_refused)
{
	REFUSED("expected \"struct\" or \"{\", but the text ends", "", NULL);
	REFUSED("expected \"struct\" or \"{\", but the text ends", " # u8 a;\n", NULL);
	REFUSED("expected \"struct\" or \"{\" (got \"u8\")", "u8 a;", "u8");
	REFUSED("expected \"{\" (got \"name\")", "struct name { u8 a; }", "name");
	REFUSED("expected a type or \"}\", but the text ends", "{ u8 a;", NULL);
	REFUSED("expected the end of the description (got \"u8\")", "{ u16 a; } u8", "u8");
	REFUSED("expected the end of the description (got text in quotes)",
		"{ u8 a; } \"x\"", "\"x");
}

TEST(wrong_types_are_refused)
{
	REFUSED("unknown type \"int\"", "{ int a; }", "int");
	REFUSED("unknown type \"U8\"", "{ U8 a; }", "U8");
	REFUSED("expected a type or \"}\" (got \";\")", "{ u8 a;; }", "; }");
	REFUSED("expected a type or \"}\" (got text in quotes)", "{ \"u8\" a; }", "\"u8");
	REFUSED("expected a type or \"}\" (got \"8\")", "{ 8 a; }", "8");
	REFUSED("a nested struct needs at least one member", "{ struct { } a; }", "} a");
}

TEST(wrong_names_are_refused)
{
	REFUSED("expected the name of the field (got \";\")", "{ u8; }", ";");
	REFUSED("expected the name of the field (got \"8\")", "{ u8 8; }", "8;");
	REFUSED("\"8a\" is not a number", "{ u8 8a; }", "8a");
	REFUSED("expected the name of the field (got text in quotes)", "{ u8 \"a b\"; }", "\"a");
	REFUSED("duplicate field \"a\"", "{ u8 a; { u8 a; } b; u16 a ; }", "a ;");
	REFUSED("unexpected character \"-\"", "{ u8 a-b; }", "-b");
	REFUSED("unexpected character \"*\"", "{ char *a; }", "*");
	REFUSED("unexpected byte 0xc3", "{ u8 gr\xc3\xb6sse; }", "\xc3");
	REFUSED("unexpected byte 0x1b", "{ u8 \x1b[31m; }", "\x1b");
	REFUSED("a name has at most 63 bytes",
		"{ u8 a123456789a123456789a123456789a123456789a123456789a123456789a123; }", "a123");
}

TEST(missing_punctuation_is_refused)
{
	REFUSED("expected \";\" (got \"u8\")", "{ u8 a u8 b; }", "u8 b");
	REFUSED("expected \";\" (got \"}\")", "{ u8 a }", "}");
	REFUSED("expected \";\", but the text ends", "{ u8 a", NULL);
	REFUSED("expected \"[\" (got \";\")", "{ pad; }", ";");
	REFUSED("expected \"]\" (got \";\")", "{ u8 a[2; }", ";");
	REFUSED("expected \"[\" (got \"name\")", "{ pad name[3]; }", "name");
}

TEST(wrong_sizes_are_refused)
{
	REFUSED("a size must be from 1 to 65536 (got 0)", "{ u8 a[0]; }", "0");
	REFUSED("a size must be from 1 to 65536 (got -1)", "{ u8 a[-1]; }", "-1");
	REFUSED("a size must be from 1 to 65536 (got 65537)", "{ u8 a[65537]; }", "65537");
	REFUSED("a size must be from 1 to 65536 (got 0)", "{ pad[0]; }", "0");
	REFUSED("expected a number (got \"n\")", "{ u8 n; pad[n]; }", "n]");
	REFUSED("expected a number or the name of a field (got \"]\")", "{ u8 a[]; }", "]");
	REFUSED("the number 18446744073709551616 is too large", "{ u8 a[18446744073709551616]; }",
		"1844");
	REFUSED("the number 0x10000000000000000 is too large", "{ u8 a[0x10000000000000000]; }",
		"0x");
	REFUSED("\"0x\" is not a number", "{ u8 a[0x]; }", "0x");
	REFUSED("\"-\" is not a number", "{ u8 a[-]; }", "-");
	REFUSED("the array has more than 65536 bytes", "{ u16 a[32769]; }", "32769");
	REFUSED("the array has more than 65536 bytes", "{ u8 a[65536][2]; }", "65536");
	REFUSED("the array has more than 65536 bytes", "{ u8 b; string a[65536][2]; }", "65536");
	REFUSED("the fields have more than 65536 bytes", "{ u8 a[65536]; u8 b; }", "u8 b");
	REFUSED("the fields have more than 65536 bytes", "struct { u8 a[65535]; u16 b; }", "u16");
	REFUSED("the fields have more than 65536 bytes", "{ { u8 a[65536]; } b; string c; }",
		"string");
}

TEST(wrong_lengths_are_refused)
{
	REFUSED("a length must be an earlier field, which \"n\" is not", "{ u8 a[n]; u8 n; }",
		"n]");
	REFUSED("a length must be an earlier field, which \"a\" is not", "{ u8 a[a]; }", "a]");
	REFUSED("a length must be an earlier field, which \"n\" is not",
		"{ { u8 n; } b; u8 a[n]; }", "n]");
	REFUSED("a length must be an unsigned integer, which \"n\" is not", "{ i8 n; u8 a[n]; }",
		"n]");
	REFUSED("a length must be an unsigned integer, which \"n\" is not", "{ u8 n[2]; u8 a[n]; }",
		"n]");
	REFUSED("a length must be an unsigned integer, which \"n\" is not",
		"{ enum { x } n; u8 a[n]; }", "n]");
	REFUSED("a length must be an unsigned integer, which \"n\" is not", "{ bool n; u8 a[n]; }",
		"n]");
}

TEST(text_before_the_end_is_refused)
{
	REFUSED("text must be the last member: it takes the rest", "{ text t; u8 a; }", "u8");
	REFUSED("text must be the last member: it takes the rest", "{ text t; pad[1]; }", "pad");
	REFUSED("only the outermost struct can contain text", "{ { text t; } a; }", "text");
	REFUSED("arrays of text are not supported", "{ text t[2]; }", "2");
	REFUSED("arrays of text are not supported", "{ u8 n; text t[n]; }", "n]");
}

TEST(wrong_enumerations_are_refused)
{
	REFUSED("expected \"{\" (got \"a\")", "{ enum a; }", "a");
	REFUSED("expected a label (got \"}\")", "{ enum { } a; }", "}");
	REFUSED("expected a label (got \"1\")", "{ enum { 1 } a; }", "1");
	REFUSED("expected \",\" or \"}\" (got \"y\")", "{ enum { x y } a; }", "y");
	REFUSED("expected a label (got \",\")", "{ enum { x,, } a; }", ", }");
	REFUSED("expected a label, but the text ends", "{ enum {", NULL);
	REFUSED("expected \",\" or \"}\", but the text ends", "{ enum { x", NULL);
	REFUSED("expected a number (got \"y\")", "{ enum { x = y } a; }", "y");
	REFUSED("expected u8 to u64 or i8 to i64 (got \"f32\")", "{ enum : f32 { x } a; }", "f32");
	REFUSED("expected u8 to u64 or i8 to i64 (got \"x32\")", "{ enum : x32 { y } a; }", "x32");
	REFUSED("duplicate label \"x\"", "{ enum { x, y, x } a; }", "x }");
	REFUSED("duplicate label \"x\"", "{ enum { x, \"x\" } a; }", "\"x");
	REFUSED("duplicate label \"?[31m?\"",
		"{ enum { \"\\x1b[31m\xff\", \"\\x1b[31m\xff\" } a; }", "\"\\x1b[31m\xff\" }");
}

TEST(labels_that_do_not_fit_are_refused)
{
	REFUSED("256 does not fit an enum of 8 bits, unsigned", "{ enum : u8 { x = 256 } a; }",
		"256");
	REFUSED("-1 does not fit an enum of 8 bits, unsigned", "{ enum : u8 { x = -1 } a; }", "-1");
	REFUSED("128 does not fit an enum of 8 bits, signed", "{ enum : i8 { x = 128 } a; }",
		"128");
	REFUSED("-129 does not fit an enum of 8 bits, signed", "{ enum : i8 { x = -129 } a; }",
		"-129");
	REFUSED("2147483648 does not fit an enum of 32 bits, signed",
		"{ enum { x = 2147483648 } a; }", "2147");
	REFUSED("9223372036854775808 does not fit an enum of 64 bits, signed",
		"{ enum : i64 { x = 9223372036854775808 } a; }", "9223");
	REFUSED("-9223372036854775809 does not fit an enum of 64 bits, signed",
		"{ enum : i64 { x = -9223372036854775809 } a; }", "-9223");
	REFUSED("the label has no value: it would not fit the enum",
		"{ enum : u8 { x = 255, y } a; }", "y");
	REFUSED("the label has no value: it would not fit the enum",
		"{ enum : u64 { x = 0xffffffffffffffff, y } a; }", "y");
	REFUSED("the label has no value: it would not fit the enum",
		"{ enum : i8 { x = 127, y, } a; }", "y");
}

TEST(wrong_units_and_quotes_are_refused)
{
	REFUSED("only integers and floats have a unit", "{ bool a \"s\"; }", "\"s");
	REFUSED("only integers and floats have a unit", "{ char a[2] \"s\"; }", "\"s");
	REFUSED("only integers and floats have a unit", "{ { u8 a; } b \"s\"; }", "\"s");
	REFUSED("expected \";\" (got text in quotes)", "{ u8 a \"s\" \"t\"; }", "\"t");
	REFUSED("the text in quotes is empty", "{ u8 a \"\"; }", "\"\"");
	REFUSED("the closing quote is missing", "{ u8 a \"s; }", "\"s");
	REFUSED("the closing quote is missing", "{ u8 a \"s\n\"; }", "\"s");
	REFUSED("byte 0x1b in quotes: write \\x1b", "{ u8 a \"\x1b[31m\"; }", "\x1b");
	REFUSED("unknown escape in quotes: use \\\\, \\\", \\n, \\t or \\xNN", "{ u8 a \"x\\q\"; }",
		"\\q");
	REFUSED("unknown escape in quotes: use \\\\, \\\", \\n, \\t or \\xNN",
		"{ u8 a \"\\x00\"; }", "\\x");
	REFUSED("unknown escape in quotes: use \\\\, \\\", \\n, \\t or \\xNN", "{ u8 a \"\\", "\\");
	REFUSED("text in quotes has at most 63 bytes",
		"{ u8 a \"0123456789012345678901234567890123456789012345678901234567890123\"; }",
		"\"0");
}

TEST(too_many_levels_are_refused)
{
	struct posixtrace_fields *fields;

	ASSERT_EQ(0, posixtrace_fields_parse("{{{{{{{{u8 a;}b;}b;}b;}b;}b;}b;}b;}", &fields, NULL));
	posixtrace_fields_free(fields);
	ASSERT_EQ(0, posixtrace_fields_parse("{u8 a[1][1][1][1][1][1][1];}", &fields, NULL));
	posixtrace_fields_free(fields);
	ASSERT_EQ(0, posixtrace_fields_parse("{char a[1][1][1][1][1][1][1][9];}", &fields, NULL));
	posixtrace_fields_free(fields);
	REFUSED("more than 8 levels of structs and arrays",
		"{{{{{{{{struct{u8 a;}b;}b;}b;}b;}b;}b;}b;}b;}", "{u8");
	REFUSED("more than 8 levels of structs and arrays", "{u8 a[1][1][1][1][1][1][1][2];}", "1");
	REFUSED("more than 8 levels of structs and arrays", "{u8 a[1][1][1][1][1][1][1][1][1];}",
		"[1];");
	REFUSED("more than 8 levels of structs and arrays",
		"{{{{{{{{u8 a;}b;}b;}b;}b;}b;}b;}b[2];}", "2");
	REFUSED("more than 8 levels of structs and arrays",
		"{{{u8 a[1][1][1];}b[1];}c[1][3];}", "1][3");
}

/* Writes a description with @count consecutive members. */
static void many_members(char *text, size_t size, int count, const char *kind)
{
	size_t len = snprintf(text, size, "%s", kind);

	for (int i = 0; i < count; i++)
		len += snprintf(text + len, size - len, "u8 a%d;", i);
	snprintf(text + len, size - len, "}");
}

TEST(too_many_members_are_refused)
{
	struct posixtrace_fields *fields;
	char text[TEXT_MAX + 1];

	many_members(text, sizeof(text), 256, "{");
	ASSERT_EQ(0, posixtrace_fields_parse(text, &fields, NULL));
	posixtrace_fields_free(fields);
	many_members(text, sizeof(text), 257, "{");
	REFUSED("more than 256 members, padding included", text, "u8 a256");
	/* members of a nested struct also count, and the padding after a struct */
	many_members(text, sizeof(text), 254, "struct{u16 b;struct{u16 a;u8 b;}c;");
	REFUSED("more than 256 members, padding included", text, "u8 a251");
}

TEST(too_many_lengths_are_refused)
{
	struct posixtrace_fields *fields;
	char text[TEXT_MAX + 1];
	size_t len = 0;

	for (int count = 63; count <= 64; count++) {
		len = snprintf(text, sizeof(text), "{");
		for (int i = 0; i < count; i++)
			len += snprintf(text + len, sizeof(text) - len, "u8 n%d;u8 a%d[n%d];",
					i, i, i);
		len += snprintf(text + len, sizeof(text) - len, "u8 z[n0];}");
		if (count == 63) {
			ASSERT_EQ(0, posixtrace_fields_parse(text, &fields, NULL));
			posixtrace_fields_free(fields);
		}
	}
	REFUSED("more than 63 fields are lengths of others", text, "n63]");
}

TEST(long_descriptions_are_refused)
{
	struct posixtrace_fields_error error;
	struct posixtrace_fields *fields;
	char text[TEXT_MAX + 2];

	memset(text, ' ', sizeof(text));
	memcpy(text, "{ }", 3);
	text[TEXT_MAX] = '\0';
	ASSERT_EQ(0, posixtrace_fields_parse(text, &fields, NULL));
	EXPECT_STREQ("{}", posixtrace_fields_text(fields));
	posixtrace_fields_free(fields);
	text[TEXT_MAX] = ' ';
	text[TEXT_MAX + 1] = '\0';
	EXPECT_EQ(EINVAL, posixtrace_fields_parse(text, &fields, &error));
	EXPECT_STREQ("the description has more than 4095 bytes", error.message);
	EXPECT_EQ(TEXT_MAX, error.offset);
}

TEST(line_and_column)
{
	struct posixtrace_fields_error error;
	struct posixtrace_fields *fields;

	ASSERT_EQ(EINVAL, posixtrace_fields_parse("{\n\tu8 a;\n\tint b;\n}", &fields, &error));
	EXPECT_EQ(3, error.line);
	EXPECT_EQ(2, error.column);
	ASSERT_EQ(EINVAL, posixtrace_fields_parse("int", &fields, &error));
	EXPECT_EQ(1, error.line);
	EXPECT_EQ(1, error.column);
	ASSERT_EQ(EINVAL, posixtrace_fields_parse("{ u8 a;\n", &fields, &error));
	EXPECT_EQ(2, error.line);
	EXPECT_EQ(1, error.column);
	EXPECT_EQ(EINVAL, posixtrace_fields_parse("int", &fields, NULL));
}

TEST(wrong_arguments)
{
	struct posixtrace_fields *fields;

	EXPECT_EQ(EINVAL, posixtrace_fields_parse(NULL, &fields, NULL));
	EXPECT_EQ(EINVAL, posixtrace_fields_parse("{ }", NULL, NULL));
	posixtrace_fields_free(NULL);
}

TEST_HARNESS_MAIN
