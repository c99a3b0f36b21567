// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptions of fields, and the values that they extract from data: every type, members at the
 * offsets of a C compiler, and data that does not match. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <stdbool.h>

#include "pxt_test.h"
#include "fields_show.h"

static struct posixtrace_fields *parse(const char *text)
{
	struct posixtrace_fields_error error;
	struct posixtrace_fields *fields = NULL;
	int err = posixtrace_fields_parse(text, &fields, &error);

	if (err)
		printf("# %s: %s at %u:%u\n", text, error.message, error.line, error.column);
	return fields;
}

/* Returns the values in the data as text, which is valid until the next call. */
static const char *shown(const char *description, const void *data, size_t len)
{
	static struct fields_show show;
	struct posixtrace_fields *fields = parse(description);

	if (!fields)
		return "cannot be parsed";
	fields_show(&show, fields, data, len);
	posixtrace_fields_free(fields);
	return show.text;
}

#define SHOWN(description, bytes)	shown(description, bytes, sizeof(bytes) - 1)

TEST(integers_of_each_size)
{
	EXPECT_STREQ("{ a=255 b=65535 c=4294967295 d=18446744073709551615 }",
		     SHOWN("{ u8 a; u16 b; u32 c; u64 d; }",
			   "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
	EXPECT_STREQ("{ a=-1 b=-2 c=-3 d=-4 }",
		     SHOWN("{ i8 a; i16 b; i32 c; i64 d; }",
			   "\xff\xfe\xff\xfd\xff\xff\xff\xfc\xff\xff\xff\xff\xff\xff\xff"));
	EXPECT_STREQ("{ a=-128 b=127 }", SHOWN("{ i8 a; i8 b; }", "\x80\x7f"));
	EXPECT_STREQ("{ a=0xff b=0x1234 c=0x12345678 d=0x123456789abcdef0 }",
		     SHOWN("{ x8 a; x16 b; x32 c; x64 d; }",
			   "\xff\x34\x12\x78\x56\x34\x12\xf0\xde\xbc\x9a\x78\x56\x34\x12"));
}

TEST(floats_and_booleans)
{
	struct __attribute__((packed)) {
		float f;
		double d;
		unsigned char no, yes, very;
	} data = { 1.5F, -0.25, 0, 1, 255 };

	EXPECT_STREQ("{ f=1.5 d=-0.25 no=false yes=true very=true }",
		     shown("{ f32 f; f64 d; bool no; bool yes; bool very; }", &data, sizeof(data)));
}

TEST(texts_end_at_a_null_byte_at_their_size_or_with_the_data)
{
	EXPECT_STREQ("{ c=\"ab\" }", SHOWN("{ char c[4]; }", "ab\0x"));
	EXPECT_STREQ("{ c=\"abcd\" }", SHOWN("{ char c[4]; }", "abcd"));
	EXPECT_STREQ("{ c=\"a\" }", SHOWN("{ char c; }", "a"));
	EXPECT_STREQ("{ s=\"ab\" t=\"\" u=1 }", SHOWN("{ string s; string t; u8 u; }", "ab\0\0\1"));
	EXPECT_STREQ("{ n=3 c=\"abc\" u=1 }", SHOWN("{ u8 n; char c[n]; u8 u; }", "\3abc\1"));
	EXPECT_STREQ("{ n=0 c=\"\" u=1 }", SHOWN("{ u8 n; char c[n]; u8 u; }", "\0\1"));
	EXPECT_STREQ("{ u=1 t=\"key\" }", SHOWN("{ u8 u; text t; }", "\1key"));
	EXPECT_STREQ("{ u=1 t=\"key\" }", SHOWN("{ u8 u; text t; }", "\1key\0"));
	EXPECT_STREQ("{ u=1 t=\"\" }", SHOWN("{ u8 u; text t; }", "\1"));
	EXPECT_STREQ("{ u=1 t=\"\" }", SHOWN("{ u8 u; text t; }", "\1\0"));
}

/* All bytes of a text, including embedded null bytes. */
TEST(text_has_all_bytes_but_a_last_null_byte)
{
	struct posixtrace_fields *fields = parse("{ text t; }");
	struct posixtrace_value value;
	struct posixtrace_walk walk;

	ASSERT_NE(NULL, fields);
	posixtrace_fields_begin(&walk, fields, "a\0b\0", 4);
	ASSERT_EQ(1, posixtrace_fields_next(&walk, &value));
	ASSERT_EQ(1, posixtrace_fields_next(&walk, &value));
	EXPECT_EQ(4, value.size);
	EXPECT_EQ(3, value.text_len);
	posixtrace_fields_free(fields);
}

TEST(enumerations_have_labels)
{
	EXPECT_STREQ("{ a=get b=set c=7 d=-1 }",
		     SHOWN("{ enum { get, set } a; enum { get, set } b; enum { get, set } c;"
			   "enum { get, set, } d; }",
			   "\0\0\0\0\1\0\0\0\7\0\0\0\xff\xff\xff\xff"));
	EXPECT_STREQ("{ a=low b=next c=big d=below }",
		     SHOWN("{ enum : u8 { low = 0x10, next } a; enum : u8 { low = 16, next } b;"
			   "enum : u64 { big = 0xffffffffffffffff } c;"
			   "enum : i16 { below = -2, last } d; }",
			   "\x10\x11\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff"));
	EXPECT_STREQ("{ a=last }", SHOWN("{ enum : i8 { first = -2, last } a; }", "\xff"));
	EXPECT_STREQ("{ a=min b=max }",
		     SHOWN("{ enum : i64 { min = -9223372036854775808 } a;"
			   "enum : i64 { max = 9223372036854775807 } b; }",
			   "\0\0\0\0\0\0\0\x80\xff\xff\xff\xff\xff\xff\xff\x7f"));
	EXPECT_STREQ("{ a=with \"quotes\" }",
		     SHOWN("{ enum : u8 { \"with \\\"quotes\\\"\" = 1 } a; }", "\1"));
}

TEST(first_label_of_a_value_is_shown)
{
	EXPECT_STREQ("{ a=zulu b=alpha }",
		     SHOWN("{ enum : u8 { x = 2, zulu = 1, alpha = 1, y = 0 } a;"
			   "enum : u8 { alpha = 1, zulu = 1 } b; }", "\1\1"));
}

TEST(labels_are_sorted_by_value)
{
	struct posixtrace_fields *fields = parse("{ enum { c = 5, a = -7, b = 0 } e; }");
	const struct posixtrace_field *field;

	ASSERT_NE(NULL, fields);
	field = posixtrace_fields_root(fields)->members;
	ASSERT_EQ(3, field->count);
	EXPECT_EQ(1, field->is_signed);
	EXPECT_EQ(-7, field->labels[0].value);
	EXPECT_STREQ("a", field->labels[0].name);
	EXPECT_EQ(0, field->labels[1].value);
	EXPECT_EQ(5, field->labels[2].value);
	posixtrace_fields_free(fields);
}

TEST(arrays_of_numbers_texts_and_structs)
{
	EXPECT_STREQ("{ a=[ 1 2 3 ] }", SHOWN("{ u8 a[3]; }", "\1\2\3"));
	EXPECT_STREQ("{ a=[ [ 1 2 3 ] [ 4 5 6 ] ] }", SHOWN("{ u8 a[2][3]; }", "\1\2\3\4\5\6"));
	EXPECT_STREQ("{ a=[ \"ab\" \"c\" ] }", SHOWN("{ char a[2][2]; }", "abc\0"));
	EXPECT_STREQ("{ a=[ \"ab\" \"\" ] u=9 }", SHOWN("{ string a[2]; u8 u; }", "ab\0\0\11"));
	EXPECT_STREQ("{ a=[ { x=1 y=2 } { x=3 y=4 } ] }",
		     SHOWN("{ { u8 x; u8 y; } a[2]; }", "\1\2\3\4"));
	EXPECT_STREQ("{ a=[ on off ] }", SHOWN("{ enum : u8 { off, on } a[2]; }", "\1\0"));
}

TEST(sequences_have_a_length_field)
{
	EXPECT_STREQ("{ n=2 a=[ 513 1027 ] }", SHOWN("{ u32 n; u16 a[n]; }", "\2\0\0\0\1\2\3\4"));
	EXPECT_STREQ("{ n=0 a=[ ] }", SHOWN("{ u8 n; u16 a[n]; }", "\0"));
	EXPECT_STREQ("{ n=2 m=0x1 a=[ [ 5 ] [ 6 ] ] }",
		     SHOWN("{ u8 n; x8 m; u8 a[n][m]; }", "\2\1\5\6"));
	/* the length is a field of an enclosing struct; it applies to each element */
	EXPECT_STREQ("{ n=2 in={ a=[ 1 2 ] } }", SHOWN("{ u8 n; { u8 a[n]; } in; }", "\2\1\2"));
	EXPECT_STREQ("{ a=[ { n=1 s=\"a\" } { n=2 s=\"bc\" } ] }",
		     SHOWN("{ { u8 n; char s[n]; } a[2]; }", "\1a\2bc"));
	/* if two fields have the same name, the innermost one is the length */
	EXPECT_STREQ("{ n=1 in={ n=2 a=[ 7 8 ] } b=[ 9 ] }",
		     SHOWN("{ u8 n; { u8 n; u8 a[n]; } in; u8 b[n]; }", "\1\2\7\10\11"));
}

TEST(nested_structs_may_end_in_strings)
{
	EXPECT_STREQ("{ a={ u=1 s=\"x\" } b={ c={ t=\"yz\" } } u=3 }",
		     SHOWN("{ { u8 u; string s; } a; { { string t; } c; } b; u8 u; }",
			   "\1x\0yz\0\3"));
}

TEST(elements_know_their_index)
{
	struct posixtrace_fields *fields = parse("{ { u8 x; } a[2]; u8 u; }");
	static const size_t want[] = { 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0 };
	struct posixtrace_value value;
	struct posixtrace_walk walk;

	ASSERT_NE(NULL, fields);
	posixtrace_fields_begin(&walk, fields, "\1\2\3", 3);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ASSERT_EQ(1, posixtrace_fields_next(&walk, &value));
		EXPECT_EQ(want[i], value.index) TH_LOG("value %zu", i);
		if (value.what == POSIXTRACE_BEGIN && value.field->type == POSIXTRACE_FIELD_ARRAY)
			EXPECT_EQ(2, value.number);
	}
	EXPECT_EQ(0, posixtrace_fields_next(&walk, &value));
	EXPECT_EQ(0, posixtrace_fields_next(&walk, &value));
	posixtrace_fields_free(fields);
}

TEST(units_belong_to_numbers)
{
	struct posixtrace_fields *fields = parse("{ u64 t \"ns\"; f32 v[2] \"\xc2\xb5V\"; u8 n; }");
	const struct posixtrace_field *members;

	ASSERT_NE(NULL, fields);
	members = posixtrace_fields_root(fields)->members;
	EXPECT_STREQ("ns", members[0].unit);
	EXPECT_EQ(NULL, members[1].unit);
	EXPECT_STREQ("\xc2\xb5V", members[1].members->unit);
	EXPECT_EQ(NULL, members[2].unit);
	posixtrace_fields_free(fields);
}

/* ------------------------------------------------------------------ */
/* Places								*/

/* Compares the size of the description with that of the C object, and the values with @text. */
#define SAME_AS_C(object, description, text) do {					\
	const __typeof__(object) *object_ = &(object);					\
	const char *description_ = (description);					\
	struct posixtrace_fields *fields_ = parse(description_);			\
	ASSERT_NE(NULL, fields_);							\
	EXPECT_EQ(sizeof(*object_), posixtrace_fields_root(fields_)->size);		\
	posixtrace_fields_free(fields_);						\
	EXPECT_STREQ(text, shown(description_, object_, sizeof(*object_)));		\
} while (0)

TEST(structs_have_the_layout_of_the_compiler)
{
	struct {
		uint8_t a;
		uint32_t b;
		uint8_t c;
		double d;
		int16_t e;
		char f[3];
		bool g;
		uint64_t h;
		uint8_t i;
	} one = { 1, 2, 3, 4.5, -5, "ab", true, 6, 7 };
	struct {
		uint16_t a[3];
		uint8_t b;
	} two = { { 1, 2, 3 }, 4 };
	enum small { SMALL };
	struct {
		uint8_t a;
		enum small b;
		float c;
		uint8_t d;
	} three = { 1, SMALL, 1.5F, 2 };

	SAME_AS_C(one,
		  "struct { u8 a; u32 b; u8 c; f64 d; i16 e; char f[3]; bool g; u64 h; u8 i; }",
		  "{ a=1 b=2 c=3 d=4.5 e=-5 f=\"ab\" g=true h=6 i=7 }");
	SAME_AS_C(two, "struct { u16 a[3]; u8 b; }", "{ a=[ 1 2 3 ] b=4 }");
	SAME_AS_C(three, "struct { u8 a; enum { SMALL } b; f32 c; u8 d; }",
		  "{ a=1 b=SMALL c=1.5 d=2 }");
}

TEST(nested_structs_have_the_layout_of_the_compiler)
{
	struct {
		uint8_t a;
		struct {
			uint8_t b;
			uint64_t c;
			uint16_t d;
		} e;
		uint8_t f;
		struct {
			uint32_t g;
			uint8_t h;
		} i[2];
		uint8_t j;
	} one = { 1, { 2, 3, 4 }, 5, { { 6, 7 }, { 8, 9 } }, 10 };
	struct {
		uint8_t a;
		struct __attribute__((packed)) {
			uint32_t b;
			uint8_t c;
		} d;
		uint16_t e;
	} two = { 1, { 2, 3 }, 4 };
	struct __attribute__((packed)) {
		uint8_t a;
		struct {
			uint8_t b;
			uint32_t c;
		} d;
	} three = { 1, { 2, 3 } };

	SAME_AS_C(one, "struct { u8 a; struct { u8 b; u64 c; u16 d; } e; u8 f;"
		  "struct { u32 g; u8 h; } i[2]; u8 j; }",
		  "{ a=1 e={ b=2 c=3 d=4 } f=5 i=[ { g=6 h=7 } { g=8 h=9 } ] j=10 }");
	SAME_AS_C(two, "struct { u8 a; { u32 b; u8 c; } d; u16 e; }",
		  "{ a=1 d={ b=2 c=3 } e=4 }");
	SAME_AS_C(three, "{ u8 a; struct { u8 b; u32 c; } d; }", "{ a=1 d={ b=2 c=3 } }");
}

/* If the size of a member depends on the data, no padding or alignment follows it. */
TEST(members_after_one_of_unknown_size_are_not_aligned)
{
	EXPECT_STREQ("{ a=1 b=2 s=\"x\" c=3 }",
		     SHOWN("struct { u8 a; u32 b; string s; u32 c; }",
			   "\1\0\0\0\2\0\0\0x\0\3\0\0\0"));
	EXPECT_STREQ("{ b=2 a=1 t=\"x\" }",
		     SHOWN("struct { u32 b; u8 a; text t; }", "\2\0\0\0\1x"));
	EXPECT_STREQ("{ n=1 a=[ { x=1 y=2 } ] z=3 }",
		     SHOWN("struct { u8 n; struct { u8 x; u16 y; } a[n]; u16 z; }",
			   "\1\0\1\0\2\0\3\0"));
	EXPECT_STREQ("{ v={ n=4 s=\"x\" } u=5 }",
		     SHOWN("struct { struct { u16 n; string s; } v; u32 u; }", "\4\0x\0\5\0\0\0"));
}

TEST(padding_is_skipped)
{
	EXPECT_STREQ("{ a=1 b=2 }", SHOWN("{ u8 a; pad[2]; u8 b; pad[1]; }", "\1xx\2x"));
	EXPECT_STREQ("{ a=1 }", SHOWN("{ u8 a; pad[0x2]; }", "\1xx"));
	EXPECT_STREQ("{ a=1 !", SHOWN("{ u8 a; pad[2]; }", "\1x"));
}

/* ------------------------------------------------------------------ */
/* Data that does not match						*/

TEST(truncated_data_shows_its_complete_fields)
{
	EXPECT_STREQ("{ !", SHOWN("{ u32 a; u32 b; }", "\1\0\0"));
	EXPECT_STREQ("{ a=1 !", SHOWN("{ u32 a; u32 b; }", "\1\0\0\0\2\0\0"));
	EXPECT_STREQ("{ a=[ 1 2 !", SHOWN("{ u8 a[3]; }", "\1\2"));
	EXPECT_STREQ("{ a=1 !", SHOWN("{ u8 a; char c[3]; }", "\1ab"));
	EXPECT_STREQ("{ a=1 !", SHOWN("{ u8 a; string s; }", "\1ab"));
	EXPECT_STREQ("{ n=200 !", SHOWN("{ u8 n; char c[n]; }", "\310ab"));
	EXPECT_STREQ("{ n=200 a=[ 1 2 !", SHOWN("{ u8 n; u8 a[n]; }", "\xc8\1\2"));
	EXPECT_STREQ("{ a={ b=1 !", SHOWN("{ { u8 b; u8 c; } a; }", "\1"));
}

TEST(extra_bytes_do_not_match)
{
	EXPECT_STREQ("{ a=1 !", SHOWN("{ u8 a; }", "\1\2"));
	EXPECT_STREQ("{ s=\"\" !", SHOWN("{ string s; }", "\0a"));
	EXPECT_STREQ("{ n=1 a=[ 1 ] !", SHOWN("{ u8 n; u8 a[n]; }", "\1\1\1"));
	EXPECT_STREQ("{ !", SHOWN("{ }", "a"));
}

TEST(no_data_matches_no_fields)
{
	EXPECT_STREQ("{ }", SHOWN("{ }", ""));
	EXPECT_STREQ("{ }", SHOWN("struct { }", ""));
	EXPECT_STREQ("{ t=\"\" }", SHOWN("{ text t; }", ""));
	EXPECT_STREQ("{ !", SHOWN("{ u8 a; }", ""));
	EXPECT_STREQ("{ }", shown("{ }", NULL, 0));
}

TEST(a_failed_walk_stays_failed)
{
	struct posixtrace_fields *fields = parse("{ u8 a; u16 b; }");
	struct posixtrace_value value;
	struct posixtrace_walk walk;

	ASSERT_NE(NULL, fields);
	posixtrace_fields_begin(&walk, fields, "\1\2", 2);
	EXPECT_EQ(1, posixtrace_fields_next(&walk, &value));
	EXPECT_EQ(1, posixtrace_fields_next(&walk, &value));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(-1, posixtrace_fields_next(&walk, &value));
	posixtrace_fields_free(fields);
}

static int count_values(const char *description, const void *data, size_t len, size_t *count)
{
	struct posixtrace_fields *fields = parse(description);
	struct posixtrace_value value;
	struct posixtrace_walk walk;
	int ret;

	*count = 0;
	if (!fields)
		return -2;
	posixtrace_fields_begin(&walk, fields, data, len);
	while ((ret = posixtrace_fields_next(&walk, &value)) == 1)
		++*count;
	posixtrace_fields_free(fields);
	return ret;
}

/* An array of elements without bytes could have any number of them, so its number is limited. */
TEST(elements_without_bytes_end)
{
	size_t count;

	EXPECT_EQ(-1, count_values("{ u32 n; u8 m; { u8 x[m]; } y[n]; }",
				   "\xff\xff\xff\xff\0", 5, &count));
	EXPECT_GT(10000, count);
	EXPECT_EQ(-1, count_values("{ u64 n; char c[n][n][n]; }",
				   "\xff\xff\xff\xff\xff\xff\xff\xff", 8, &count));
	EXPECT_GT(10000, count);
	EXPECT_EQ(-1, count_values("{ u8 n; char c[65536][65536][n]; }", "\0", 1, &count));
	EXPECT_GT(10000, count);
	/* An array with a small number of such elements is accepted. */
	EXPECT_EQ(0, count_values("{ u32 n; u8 m; u8 y[n][m]; }", "\350\3\0\0\0", 5, &count));
	EXPECT_EQ(2 + 2 + 2 + 2000, count);
}

TEST(eight_levels_for_each_byte_are_accepted)
{
	static unsigned char data[65000];
	size_t count;

	EXPECT_EQ(0, count_values("{ u16 n; { { { { { { u8 x; } a; } a; } a; } a; } a; } a[n]; }",
				  memcpy(data, "\xe6\xfd", 2), 64998 + 2, &count));
	EXPECT_EQ(2 + 1 + 2 + 64998 * 13, count);
}

/* ------------------------------------------------------------------ */
/* Canonical text							*/

TEST(canonical_text_has_no_comments_and_is_a_fixed_point)
{
	static const char *const texts[][2] = {
		{ "{ }", "{}" },
		{ "struct\t{\n\tu32 id; # the id\n\tpad [ 4 ] ;\n}\n",
		  "struct{u32 id;pad[4];}" },
		{ "{ enum:i8{get=0,\"two words\"=-0x1,}op[2]; u64 t \"n\\\"s\" ; text key; } # end",
		  "{enum:i8{get=0,\"two words\"=-0x1,}op[2];u64 t\"n\\\"s\";text key;}" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct posixtrace_fields *fields, *again;

		fields = parse(texts[i][0]);
		ASSERT_NE(NULL, fields);
		EXPECT_STREQ(texts[i][1], posixtrace_fields_text(fields));
		again = parse(posixtrace_fields_text(fields));
		ASSERT_NE(NULL, again);
		EXPECT_STREQ(posixtrace_fields_text(fields), posixtrace_fields_text(again));
		posixtrace_fields_free(again);
		posixtrace_fields_free(fields);
	}
}

TEST_HARNESS_MAIN
