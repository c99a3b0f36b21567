/* SPDX-License-Identifier: MIT */
/*
 * <posixtrace/points.h> - trace points with typed fields, one line each:
 *
 *	POSIXTRACE_POINT(cache_get, (u32, id), (text, key));
 *
 *	posixtrace_point_cache_get(id, key, key_len);
 *
 * While no stream records its type, a point costs two loads and a branch. When it is first reached
 * while a stream traces the process, it opens and describes its event type. Opening and recording
 * are async-signal-safe. There is no allocation and no formatting, because the fields are packed on
 * the stack.
 *
 * Each compiled point leaves a note in the program, in the ELF section .note.posixtrace, which is
 * not loaded. "posixtrace list PROGRAM" reads it.
 *
 * Requires gcc or clang, and C99 or C++11 or later.
 */
#ifndef _POSIXTRACE_POINTS_H
#define _POSIXTRACE_POINTS_H	1

#include <stdint.h>
#include <posixtrace/trace.h>

#ifdef __GNUC__

/* Maximum size of all strings and texts of one event together, in bytes. The rest is cut. */
#ifndef POSIXTRACE_POINT_TEXT_MAX
#define POSIXTRACE_POINT_TEXT_MAX	256
#endif

/* The name of the source file in notes. Define it as "" before including this to omit it. */
#ifndef POSIXTRACE_POINT_FILE
#define POSIXTRACE_POINT_FILE		__FILE__
#endif

/*
 * C needs the keyword "struct". In a C++ module, clang 14 takes it as the declaration of another
 * structure.
 */
#ifdef __cplusplus
#define __POSIXTRACE_STRUCT(tag)	tag
#define __POSIXTRACE_BOOL		bool
extern "C" {
#else
#define __POSIXTRACE_STRUCT(tag)	struct tag
#define __POSIXTRACE_BOOL		_Bool
#endif

#ifdef __POSIX_TRACE_NO_INLINE
/* Without __POSIX_TRACE_NO_INLINE, <posixtrace/trace.h> declares the gate. */
extern unsigned int __posix_trace_gate[1024 + 4096 + 1024 + 1024];
#endif

/* A point. The library writes the first member. */
struct __posixtrace_point {
	/* Word of the event type in the gate. Until the type is open: first word of the gate. */
	const unsigned int *__word;
	const char *__name;
	const char *__fields;	/* description, or null */
	unsigned long __reserved;
};

/* Record an event of the type of a point. The second function also marks the data as cut. */
void __posixtrace_point_event(struct __posixtrace_point *__point, const void *__data,
			      size_t __len);
void __posixtrace_point_truncated(struct __posixtrace_point *__point, const void *__data,
				  size_t __len);

/* ------------------------------------------------------------------ */
/* Functions, all inline						*/

#define __POSIXTRACE_INLINE	static inline __attribute__((__always_inline__, __unused__))

__POSIXTRACE_INLINE long __posixtrace_wanted(const struct __posixtrace_point *__point)
{
	const unsigned int *__word = __atomic_load_n(&__point->__word, __ATOMIC_RELAXED);

	return __builtin_expect(__atomic_load_n(__word, __ATOMIC_RELAXED) != 0, 0);
}

__POSIXTRACE_INLINE void
__posixtrace_record(struct __posixtrace_point *__point, const void *__data, size_t __len, int __cut)
{
	if (__builtin_expect(__cut, 0))
		__posixtrace_point_truncated(__point, __data, __len);
	else
		__posixtrace_point_event(__point, __data, __len);
	/* Prevent a tail call: the recorded return address must be in the caller. */
	__asm__ __volatile__ ("");
}

/* Buffer for packed fields. */
struct __posixtrace_room {
	unsigned char *__at;
	size_t __left;
	int __cut;
};

__POSIXTRACE_INLINE void
__posixtrace_put(struct __posixtrace_room *__room, const void *__from, size_t __len)
{
	if (__builtin_expect(__len > __room->__left, 0)) {
		__len = __room->__left;
		__room->__cut = 1;
	}
	__builtin_memcpy(__room->__at, __from, __len);
	__room->__at += __len;
	__room->__left -= __len;
}

/* A null pointer is an empty text. */
__POSIXTRACE_INLINE void
__posixtrace_put_text(struct __posixtrace_room *__room, const char *__text, size_t __len)
{
	if (__text)
		__posixtrace_put(__room, __text, __len);
}

__POSIXTRACE_INLINE void
__posixtrace_put_whole(struct __posixtrace_room *__room, const char *__text)
{
	if (__text)
		__posixtrace_put(__room, __text, __builtin_strlen(__text));
}

__POSIXTRACE_INLINE void
__posixtrace_put_string(struct __posixtrace_room *__room, const char *__text)
{
	if (!__text)
		__text = "";
	__posixtrace_put(__room, __text, __builtin_strlen(__text) + 1);
}

#ifdef __cplusplus
}

/* The end of a scope: its point if the start was recorded, otherwise null. */
class __posixtrace_scope {
public:
	__attribute__((__always_inline__))
	explicit __posixtrace_scope(__posixtrace_point *__end) : __point(__end) {}

	__attribute__((__always_inline__))
	~__posixtrace_scope()
	{
		if (__point && __posixtrace_wanted(__point))
			__posixtrace_record(__point, nullptr, 0, 0);
	}

	__posixtrace_scope(const __posixtrace_scope &) = delete;
	__posixtrace_scope &operator=(const __posixtrace_scope &) = delete;

private:
	__posixtrace_point *__point;
};

/* C++ itself rejects jumps past the object, so it needs no guard. */
#define __POSIXTRACE_GUARD(scope, begin)
#define __POSIXTRACE_LEAVE(scope, end)		const __posixtrace_scope scope(end)
#define __POSIXTRACE_CAST(type, value)		static_cast<type>(value)
#define __POSIXTRACE_ASSERT(condition, text)	static_assert(condition, text)
#define __POSIXTRACE_NULL			nullptr
#else
__POSIXTRACE_INLINE void __posixtrace_leave(struct __posixtrace_point **__point)
{
	if (*__point && __posixtrace_wanted(*__point))
		__posixtrace_record(*__point, (void *)0, 0, 0);
}

/*
 * Compilers reject jumps past a variably modified type. A jump past the start of a scope would
 * otherwise reach its end without the start.
 */
#define __POSIXTRACE_GUARD(scope, begin) \
	_Pragma("GCC diagnostic push") \
	_Pragma("GCC diagnostic ignored \"-Wvla\"") \
	typedef char __POSIXTRACE_JOIN(scope, _guard)[(begin).__reserved + 1] \
		__attribute__((__unused__)); \
	_Pragma("GCC diagnostic pop")
#define __POSIXTRACE_CAST(type, value)		((type)(value))
#define __POSIXTRACE_LEAVE(scope, end) \
	struct __posixtrace_point *scope \
		__attribute__((__cleanup__(__posixtrace_leave), __unused__)) = end
/* gcc and clang support _Static_assert also in C99. */
#define __POSIXTRACE_ASSERT(condition, text)	__extension__ _Static_assert(condition, text)
#define __POSIXTRACE_NULL			((void *)0)
#endif

/* ------------------------------------------------------------------ */
/* Lists of up to 16 fields						*/

#define __POSIXTRACE_STRING_(...)	#__VA_ARGS__
#define __POSIXTRACE_STRING(...)	__POSIXTRACE_STRING_(__VA_ARGS__)
#define __POSIXTRACE_JOIN_(a, b)	a##b
#define __POSIXTRACE_JOIN(a, b)		__POSIXTRACE_JOIN_(a, b)
#define __POSIXTRACE_FIRST_(a, ...)	a
#define __POSIXTRACE_FIRST(...)		__POSIXTRACE_FIRST_(__VA_ARGS__, 0)

#define __POSIXTRACE_17TH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, ...)	q
#define __POSIXTRACE_COUNT(...) \
	__POSIXTRACE_17TH(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
/* Classify the arguments after a name: no fields (0), up to 16 fields (1), up to 48 fields (2). */
#define __POSIXTRACE_50TH(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
			  a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, \
			  a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, \
			  a45, a46, a47, a48, a49, a50, ...) a50
#define __POSIXTRACE_FIELDS(...) \
	__POSIXTRACE_50TH(__VA_ARGS__, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, \
			  2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
			  1, 1, 1, 1, 0, 0)
#define __POSIXTRACE_TOO_MANY	__POSIXTRACE_ASSERT(0, "at most 16 fields")

/* Pass each field but the last one to one macro, the last one to another. */
#define __POSIXTRACE_EACH_1(m, last, f)		last(f)
#define __POSIXTRACE_EACH_2(m, last, f, ...)	m(f) __POSIXTRACE_EACH_1(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_3(m, last, f, ...)	m(f) __POSIXTRACE_EACH_2(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_4(m, last, f, ...)	m(f) __POSIXTRACE_EACH_3(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_5(m, last, f, ...)	m(f) __POSIXTRACE_EACH_4(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_6(m, last, f, ...)	m(f) __POSIXTRACE_EACH_5(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_7(m, last, f, ...)	m(f) __POSIXTRACE_EACH_6(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_8(m, last, f, ...)	m(f) __POSIXTRACE_EACH_7(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_9(m, last, f, ...)	m(f) __POSIXTRACE_EACH_8(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_10(m, last, f, ...)	m(f) __POSIXTRACE_EACH_9(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_11(m, last, f, ...)	m(f) __POSIXTRACE_EACH_10(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_12(m, last, f, ...)	m(f) __POSIXTRACE_EACH_11(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_13(m, last, f, ...)	m(f) __POSIXTRACE_EACH_12(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_14(m, last, f, ...)	m(f) __POSIXTRACE_EACH_13(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_15(m, last, f, ...)	m(f) __POSIXTRACE_EACH_14(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH_16(m, last, f, ...)	m(f) __POSIXTRACE_EACH_15(m, last, __VA_ARGS__)
#define __POSIXTRACE_EACH(m, last, ...) \
	__POSIXTRACE_JOIN(__POSIXTRACE_EACH_, __POSIXTRACE_COUNT(__VA_ARGS__))(m, last, __VA_ARGS__)

/* ------------------------------------------------------------------ */
/* Fields								*/

/* For each type: its kind, its C type, its name in a description. */
#define __POSIXTRACE_TYPE_u8		__number, uint8_t, "u8"
#define __POSIXTRACE_TYPE_u16		__number, uint16_t, "u16"
#define __POSIXTRACE_TYPE_u32		__number, uint32_t, "u32"
#define __POSIXTRACE_TYPE_u64		__number, uint64_t, "u64"
#define __POSIXTRACE_TYPE_i8		__number, int8_t, "i8"
#define __POSIXTRACE_TYPE_i16		__number, int16_t, "i16"
#define __POSIXTRACE_TYPE_i32		__number, int32_t, "i32"
#define __POSIXTRACE_TYPE_i64		__number, int64_t, "i64"
#define __POSIXTRACE_TYPE_x8		__number, uint8_t, "x8"
#define __POSIXTRACE_TYPE_x16		__number, uint16_t, "x16"
#define __POSIXTRACE_TYPE_x32		__number, uint32_t, "x32"
#define __POSIXTRACE_TYPE_x64		__number, uint64_t, "x64"
#define __POSIXTRACE_TYPE_f32		__number, float, "f32"
#define __POSIXTRACE_TYPE_f64		__number, double, "f64"
#define __POSIXTRACE_TYPE_bool		__number, __POSIXTRACE_BOOL, "bool"
/* The same type, because <stdbool.h> defines bool as _Bool. */
#define __POSIXTRACE_TYPE__Bool		__POSIXTRACE_TYPE_bool
#define __POSIXTRACE_TYPE_string	__string, const char *, "string"
#define __POSIXTRACE_TYPE_text		__text, const char *, "text"

/*
 * A field is (TYPE, NAME), and in a scope also (TYPE, NAME, VALUE) or (text, NAME, POINTER,
 * LENGTH). These macros take a field as their argument, and call another macro with the three
 * properties of its TYPE, followed by the rest of the field.
 */
#define __POSIXTRACE_CALL(m, ...)	m(__VA_ARGS__)

#define __POSIXTRACE_PARAM(field)	__POSIXTRACE_PARAM_1 field
#define __POSIXTRACE_PARAM_1(type, name) \
	__POSIXTRACE_CALL(__POSIXTRACE_PARAM_2, __POSIXTRACE_TYPE_##type, name)
#define __POSIXTRACE_PARAM_2(kind, ctype, text, name) __POSIXTRACE_PARAM_3##kind(ctype, name)
#define __POSIXTRACE_PARAM_3__number(ctype, name)	ctype name
#define __POSIXTRACE_PARAM_3__string(ctype, name)	ctype name
#define __POSIXTRACE_PARAM_3__text(ctype, name)		ctype name, size_t name##_len
#define __POSIXTRACE_PARAM_COMMA(field)	__POSIXTRACE_PARAM(field),

#define __POSIXTRACE_TEXT(field)	__POSIXTRACE_TEXT_1 field
#define __POSIXTRACE_TEXT_1(type, ...) \
	__POSIXTRACE_CALL(__POSIXTRACE_TEXT_2, __POSIXTRACE_TYPE_##type, \
			  __POSIXTRACE_FIRST(__VA_ARGS__))
#define __POSIXTRACE_TEXT_2(kind, ctype, text, name) text " " #name ";"

/* Size of a field, in bytes; 0 for strings and texts. */
#define __POSIXTRACE_SIZE(field)	__POSIXTRACE_SIZE_1 field
#define __POSIXTRACE_SIZE_1(type, ...) \
	__POSIXTRACE_CALL(__POSIXTRACE_SIZE_2, __POSIXTRACE_TYPE_##type)
#define __POSIXTRACE_SIZE_2(kind, ctype, text)	+ __POSIXTRACE_SIZE_3##kind(ctype)
#define __POSIXTRACE_SIZE_3__number(ctype)	sizeof(ctype)
#define __POSIXTRACE_SIZE_3__string(ctype)	0
#define __POSIXTRACE_SIZE_3__text(ctype)	0

/* Does the size of a field depend on its value? */
#define __POSIXTRACE_LONG(field)	__POSIXTRACE_LONG_1 field
#define __POSIXTRACE_LONG_1(type, ...) \
	__POSIXTRACE_CALL(__POSIXTRACE_LONG_2, __POSIXTRACE_TYPE_##type)
#define __POSIXTRACE_LONG_2(kind, ctype, text)	|| __POSIXTRACE_LONG_3##kind
#define __POSIXTRACE_LONG_3__number		0
#define __POSIXTRACE_LONG_3__string		1
#define __POSIXTRACE_LONG_3__text		1

/* Is a field the rest of the data? */
#define __POSIXTRACE_REST(field)	__POSIXTRACE_REST_1 field
#define __POSIXTRACE_REST_1(type, ...) \
	__POSIXTRACE_CALL(__POSIXTRACE_REST_2, __POSIXTRACE_TYPE_##type)
#define __POSIXTRACE_REST_2(kind, ctype, text)	|| __POSIXTRACE_REST_3##kind
#define __POSIXTRACE_REST_3__number		0
#define __POSIXTRACE_REST_3__string		0
#define __POSIXTRACE_REST_3__text		1
#define __POSIXTRACE_REST_NO(field)

#define __POSIXTRACE_SHORT(field)	__POSIXTRACE_SHORT_1 field
#define __POSIXTRACE_SHORT_1(type, ...)	__POSIXTRACE_SHORT_2(__POSIXTRACE_FIRST(__VA_ARGS__))
#define __POSIXTRACE_SHORT_2(name)	__POSIXTRACE_SHORT_3(name)
#define __POSIXTRACE_SHORT_3(name)	&& sizeof(#name) <= 64

/* Make the names members of a struct, so that the compiler rejects duplicates. */
#define __POSIXTRACE_MEMBER(field)	__POSIXTRACE_MEMBER_1 field
#define __POSIXTRACE_MEMBER_1(type, ...)	char __POSIXTRACE_FIRST(__VA_ARGS__);

/* Put a field of a point: the value is the parameter with the name of the field. */
#define __POSIXTRACE_PUT(field)		__POSIXTRACE_PUT_1 field
#define __POSIXTRACE_PUT_1(type, name) \
	__POSIXTRACE_CALL(__POSIXTRACE_PUT_2, __POSIXTRACE_TYPE_##type, name)
#define __POSIXTRACE_PUT_2(kind, ctype, text, name)	__POSIXTRACE_PUT_3##kind(name)
#define __POSIXTRACE_PUT_3__number(name) \
	__posixtrace_put(&__posixtrace_to, &name, sizeof(name));
#define __POSIXTRACE_PUT_3__string(name)	__posixtrace_put_string(&__posixtrace_to, name);
#define __POSIXTRACE_PUT_3__text(name) \
	__posixtrace_put_text(&__posixtrace_to, name, name##_len);

/* Put a field of a scope: an explicit value, or the variable with the name of the field. */
#define __POSIXTRACE_SET(field)		__POSIXTRACE_SET_1 field
#define __POSIXTRACE_SET_1(type, ...) \
	__POSIXTRACE_JOIN(__POSIXTRACE_SET_OF_, __POSIXTRACE_COUNT(__VA_ARGS__))(type, __VA_ARGS__)
#define __POSIXTRACE_SET_OF_1(type, name)	__POSIXTRACE_SET_OF_2(type, name, name)
#define __POSIXTRACE_SET_OF_2(type, name, value) \
	__POSIXTRACE_CALL(__POSIXTRACE_SET_2, __POSIXTRACE_TYPE_##type, value)
#define __POSIXTRACE_SET_OF_3(type, name, value, length) \
	__POSIXTRACE_CALL(__POSIXTRACE_SET_LENGTH, __POSIXTRACE_TYPE_##type, value, length)
#define __POSIXTRACE_SET_2(kind, ctype, text, value)	__POSIXTRACE_SET_3##kind(ctype, value)
#define __POSIXTRACE_SET_3__number(ctype, value) \
	{ \
		const ctype __posixtrace_value = (value); \
		__posixtrace_put(&__posixtrace_to, &__posixtrace_value, \
				 sizeof(__posixtrace_value)); \
	}
#define __POSIXTRACE_SET_3__string(ctype, value) \
	__posixtrace_put_string(&__posixtrace_to, value);
#define __POSIXTRACE_SET_3__text(ctype, value)	__posixtrace_put_whole(&__posixtrace_to, value);
#define __POSIXTRACE_SET_LENGTH(kind, ctype, text, value, length) \
	__POSIXTRACE_SET_4##kind(value, length)
#define __POSIXTRACE_SET_4__text(value, length) \
	__posixtrace_put_text(&__posixtrace_to, value, length);

/* ------------------------------------------------------------------ */
/* Building blocks of points						*/

#define __POSIXTRACE_DESCRIPTION(...) \
	"{" __POSIXTRACE_EACH(__POSIXTRACE_TEXT, __POSIXTRACE_TEXT, __VA_ARGS__) "}"

#define __POSIXTRACE_ROOM(...) \
	((0 __POSIXTRACE_EACH(__POSIXTRACE_SIZE, __POSIXTRACE_SIZE, __VA_ARGS__)) + \
	 ((0 __POSIXTRACE_EACH(__POSIXTRACE_LONG, __POSIXTRACE_LONG, __VA_ARGS__)) ? \
	  POSIXTRACE_POINT_TEXT_MAX : 0))

#define __POSIXTRACE_CHECK_FIELDS(...) \
	__POSIXTRACE_ASSERT(!(0 __POSIXTRACE_EACH(__POSIXTRACE_REST, __POSIXTRACE_REST_NO, \
						  __VA_ARGS__)), \
			    "text must be the last field: it takes the rest of the data"); \
	__POSIXTRACE_ASSERT(1 __POSIXTRACE_EACH(__POSIXTRACE_SHORT, __POSIXTRACE_SHORT, \
						__VA_ARGS__), \
			    "the name of a field must have at most 63 characters")

/* Check the name of an event type. Can end a macro, because the user adds the semicolon. */
#define __POSIXTRACE_CHECK_NAME(text) \
	__POSIXTRACE_ASSERT(sizeof(text) > 1 && sizeof(text) <= 64, \
			    "the name of an event type must have 1 to 63 characters")

/* Check that the name is a plain literal, because the assembler reads it as well. */
#define __POSIXTRACE_CHECK_LITERAL(name) \
	__POSIXTRACE_ASSERT(!__builtin_memcmp(__POSIXTRACE_STRING(name), "\"", 1), \
			    "the name must be a string literal without a prefix such as R")

#define __POSIXTRACE_DEFINE(point, name, description) \
	static __POSIXTRACE_STRUCT(__posixtrace_point) point __attribute__((__unused__)) = \
		{ __posix_trace_gate, name, description, 0 }

/*
 * The note of a point, see tools/elf/points.c. The note is made in the code of the point, so that
 * it exists only for code that may run, and its address identifies the function. If the compiler
 * duplicates the code, it duplicates the note. "name" and "file" are in quotes; the assembler
 * handles escapes in them.
 */
#ifdef __ELF__
#if __SIZEOF_POINTER__ == 8
#define __POSIXTRACE_NOTE_ADDRESS	".8byte "
#else
#define __POSIXTRACE_NOTE_ADDRESS	".4byte "
#endif
#define __POSIXTRACE_NOTE(name, suffix, description) \
	__posixtrace_note(name, suffix, description, __POSIXTRACE_STRING(__LINE__), \
			  __POSIXTRACE_STRING(POSIXTRACE_POINT_FILE))
#define __posixtrace_note(name, suffix, description, line, file) \
	__asm__ __volatile__ ("990:\n\t" \
		".pushsection .note.posixtrace, \"?\", \"note\"\n\t" \
		".balign 4\n\t" \
		".4byte 992f - 991f, 994f - 993f, 1\n" \
		"991:\n\t" \
		".asciz \"posixtrace\"\n" \
		"992:\n\t" \
		".balign 4\n" \
		"993:\n\t" \
		__POSIXTRACE_NOTE_ADDRESS "990b\n\t" \
		".4byte " line "\n\t" \
		".ascii " name "\n\t" \
		".asciz \"" suffix "\"\n\t" \
		".asciz \"" description "\"\n\t" \
		".ascii " file "\n\t" \
		".byte 0\n" \
		"994:\n\t" \
		".balign 4\n\t" \
		".popsection")
#else
#define __POSIXTRACE_NOTE(name, suffix, description)	((void)0)
#endif

/* Start packing; followed by the fields, then by __POSIXTRACE_PACKED. */
#define __POSIXTRACE_PACK(...) \
	unsigned char __posixtrace_data[__POSIXTRACE_ROOM(__VA_ARGS__)] \
		__attribute__((__aligned__(8))); \
	__POSIXTRACE_STRUCT(__posixtrace_room) __posixtrace_to = \
		{ __posixtrace_data, sizeof(__posixtrace_data), 0 }
#define __POSIXTRACE_PACKED(point) \
	__posixtrace_record(point, __posixtrace_data, \
			    sizeof(__posixtrace_data) - __posixtrace_to.__left, \
			    __posixtrace_to.__cut)

/* ------------------------------------------------------------------ */
/* Points								*/

/*
 * POSIXTRACE_POINT(NAME, (TYPE, FIELD), ...): define two inline functions. posixtrace_point_NAME
 * records an event of type NAME. Each field is a parameter; a text has two, FIELD and FIELD_len.
 * Only the last field may be a text. posixtrace_wanted_NAME returns whether a call would record an
 * event, or open its type: call it first if the arguments are expensive. Define each point once, in
 * a header or a file.
 */
#define POSIXTRACE_POINT(...) \
	__POSIXTRACE_JOIN(__POSIXTRACE_POINT_, __POSIXTRACE_FIELDS(__VA_ARGS__))(__VA_ARGS__)

#define __POSIXTRACE_WANTED(name) \
	__POSIXTRACE_INLINE __POSIXTRACE_BOOL posixtrace_wanted_##name(void) \
	{ \
		return __posixtrace_wanted(&__posixtrace_the_##name) != 0; \
	}

#define __POSIXTRACE_POINT_0(name) \
	__POSIXTRACE_DEFINE(__posixtrace_the_##name, #name, __POSIXTRACE_NULL); \
	__POSIXTRACE_WANTED(name) \
	__POSIXTRACE_INLINE void posixtrace_point_##name(void) \
	{ \
		if (__posixtrace_wanted(&__posixtrace_the_##name)) { \
			__POSIXTRACE_NOTE("\"" #name "\"", "", ""); \
			__posixtrace_record(&__posixtrace_the_##name, __POSIXTRACE_NULL, 0, 0); \
		} \
	} \
	__POSIXTRACE_CHECK_NAME(#name)

#define __POSIXTRACE_POINT_1(name, ...) \
	__POSIXTRACE_CHECK_FIELDS(__VA_ARGS__); \
	__POSIXTRACE_DEFINE(__posixtrace_the_##name, #name, \
			    __POSIXTRACE_DESCRIPTION(__VA_ARGS__)); \
	__POSIXTRACE_WANTED(name) \
	__POSIXTRACE_INLINE void \
	posixtrace_point_##name(__POSIXTRACE_EACH(__POSIXTRACE_PARAM_COMMA, __POSIXTRACE_PARAM, \
						  __VA_ARGS__)) \
	{ \
		if (__posixtrace_wanted(&__posixtrace_the_##name)) { \
			__POSIXTRACE_PACK(__VA_ARGS__); \
			__POSIXTRACE_NOTE("\"" #name "\"", "", \
					  __POSIXTRACE_DESCRIPTION(__VA_ARGS__)); \
			__POSIXTRACE_EACH(__POSIXTRACE_PUT, __POSIXTRACE_PUT, __VA_ARGS__) \
			__POSIXTRACE_PACKED(&__posixtrace_the_##name); \
		} \
	} \
	__POSIXTRACE_CHECK_NAME(#name)

#define __POSIXTRACE_POINT_2(...)	__POSIXTRACE_TOO_MANY

/* POSIXTRACE_MARK("NAME"): a statement that records an event of type NAME without data. */
#define POSIXTRACE_MARK(name) \
	do { \
		__POSIXTRACE_CHECK_LITERAL(name); \
		__POSIXTRACE_DEFINE(__posixtrace_point, "" name, __POSIXTRACE_NULL); \
		__POSIXTRACE_CHECK_NAME(name); \
		if (__posixtrace_wanted(&__posixtrace_point)) { \
			__POSIXTRACE_NOTE(__POSIXTRACE_STRING(name), "", ""); \
			__posixtrace_record(&__posixtrace_point, __POSIXTRACE_NULL, 0, 0); \
		} \
	} while (0)

/*
 * POSIXTRACE_COUNTER("NAME", VALUE): a statement that records the value of an integer. VALUE is
 * evaluated only if the event is recorded, or when the type is opened. Tools show a type with
 * "counter" as its only field as a counter.
 */
#define POSIXTRACE_COUNTER(name, value) \
	do { \
		__POSIXTRACE_CHECK_LITERAL(name); \
		__POSIXTRACE_DEFINE(__posixtrace_point, "" name, "{i64 counter;}"); \
		__POSIXTRACE_CHECK_NAME(name); \
		if (__posixtrace_wanted(&__posixtrace_point)) { \
			/* The bitwise OR rejects floating point. */ \
			const int64_t __posixtrace_value = \
				__POSIXTRACE_CAST(int64_t, (value) | 0); \
			__POSIXTRACE_NOTE(__POSIXTRACE_STRING(name), "", "{i64 counter;}"); \
			__posixtrace_record(&__posixtrace_point, &__posixtrace_value, \
					    sizeof(__posixtrace_value), 0); \
		} \
	} while (0)

/*
 * POSIXTRACE_SCOPE("NAME", (TYPE, FIELD), ...): a declaration that records an event of type
 * NAME:begin here, and an event of type NAME:end wherever the block is left, if the first event was
 * recorded. NAME:begin has the fields, each with the value of the variable of that name, or of an
 * expression: (TYPE, FIELD, EXPRESSION), (text, FIELD, POINTER, LENGTH). Expressions are evaluated
 * only if NAME:begin is recorded, or when its type is opened. At most one scope per line. goto and
 * switch must not jump past a scope.
 */
#define POSIXTRACE_SCOPE(...) \
	__POSIXTRACE_JOIN(__POSIXTRACE_SCOPE_, __POSIXTRACE_FIELDS(__VA_ARGS__))( \
		__POSIXTRACE_JOIN(__posixtrace_begin_, __LINE__), \
		__POSIXTRACE_JOIN(__posixtrace_end_, __LINE__), \
		__POSIXTRACE_JOIN(__posixtrace_scope_, __LINE__), __VA_ARGS__)

/* Check again if NAME:begin is wanted: the call may only have opened the type. */
#define __POSIXTRACE_BEGUN(begin, end) \
	__posixtrace_begun = __posixtrace_wanted(&begin) ? &end : __POSIXTRACE_NULL

#define __POSIXTRACE_SCOPE_0(begin, end, scope, name) \
	__POSIXTRACE_CHECK_LITERAL(name); \
	__POSIXTRACE_DEFINE(begin, name ":begin", __POSIXTRACE_NULL); \
	__POSIXTRACE_DEFINE(end, name ":end", __POSIXTRACE_NULL); \
	__POSIXTRACE_CHECK_NAME(name ":begin"); \
	__POSIXTRACE_GUARD(scope, begin) \
	__POSIXTRACE_LEAVE(scope, (__extension__ ({ \
		__POSIXTRACE_STRUCT(__posixtrace_point) *__posixtrace_begun = __POSIXTRACE_NULL; \
		if (__posixtrace_wanted(&begin)) { \
			__POSIXTRACE_NOTE(__POSIXTRACE_STRING(name), ":begin", ""); \
			__POSIXTRACE_NOTE(__POSIXTRACE_STRING(name), ":end", ""); \
			__posixtrace_record(&begin, __POSIXTRACE_NULL, 0, 0); \
			__POSIXTRACE_BEGUN(begin, end); \
		} \
		__posixtrace_begun; \
	})))

#define __POSIXTRACE_SCOPE_1(begin, end, scope, name, ...) \
	__POSIXTRACE_CHECK_LITERAL(name); \
	__POSIXTRACE_CHECK_FIELDS(__VA_ARGS__); \
	__POSIXTRACE_DEFINE(begin, name ":begin", __POSIXTRACE_DESCRIPTION(__VA_ARGS__)); \
	__POSIXTRACE_DEFINE(end, name ":end", __POSIXTRACE_NULL); \
	__POSIXTRACE_CHECK_NAME(name ":begin"); \
	__POSIXTRACE_GUARD(scope, begin) \
	__POSIXTRACE_LEAVE(scope, (__extension__ ({ \
		__POSIXTRACE_STRUCT(__posixtrace_point) *__posixtrace_begun = __POSIXTRACE_NULL; \
		if (__posixtrace_wanted(&begin)) { \
			struct __posixtrace_members { \
				__POSIXTRACE_EACH(__POSIXTRACE_MEMBER, __POSIXTRACE_MEMBER, \
						  __VA_ARGS__) \
			}; \
			__POSIXTRACE_PACK(__VA_ARGS__); \
			__POSIXTRACE_NOTE(__POSIXTRACE_STRING(name), ":begin", \
					  __POSIXTRACE_DESCRIPTION(__VA_ARGS__)); \
			__POSIXTRACE_NOTE(__POSIXTRACE_STRING(name), ":end", ""); \
			__POSIXTRACE_EACH(__POSIXTRACE_SET, __POSIXTRACE_SET, __VA_ARGS__) \
			__POSIXTRACE_PACKED(&begin); \
			__POSIXTRACE_BEGUN(begin, end); \
		} \
		__posixtrace_begun; \
	})))

#define __POSIXTRACE_SCOPE_2(...)	__POSIXTRACE_TOO_MANY

#endif /* __GNUC__ */

#endif /* _POSIXTRACE_POINTS_H */
