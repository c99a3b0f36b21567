// SPDX-License-Identifier: GPL-2.0
/*
 * The names of the values of system call arguments, such as flags: see syscall_values.h.
 * scripts/syscall-values generates the tables from the headers of the kernel and the C library.
 */
#include <stdlib.h>
#include <string.h>

#include "event/syscall_values.h"
#include "util/hash.h"

/* Flags of open() that create a file. They have the same values on x86-64 and arm64. */
#define CREATES		(00000100 | 020000000)	/* O_CREAT and the bit of O_TMPFILE */

struct syscall_value {
	const char *name;
	uint64_t value;
	char machine;		/* enum syscall_machine; 0: all */
};

/*
 * How to show an argument. The bits in @mask are together one of the values. The other bits are
 * flags, shown as a combination of values. Values with several flags precede those with a single
 * flag.
 */
struct syscall_use {
	const char *call;
	const char *arg;	/* name of the argument; "=": the result */
	const struct syscall_value *values;
	size_t count;
	uint64_t mask;
	unsigned int base;	/* if there are no values: the base of the number */
};

#define VALUES(call, arg, values, mask) \
	{ call, arg, values, sizeof(values) / sizeof((values)[0]), mask, 0 }
#define NUMBER(call, arg, base)	{ call, arg, NULL, 0, 0, base }

/* Defines uses[], sorted by call and argument. */
#include "event/syscall_values.inc"

enum syscall_machine syscall_machine_named(const char *name)
{
	if (!strcmp(name, "x86_64"))
		return SYSCALL_MACHINE_X86;
	return strcmp(name, "aarch64") ? SYSCALL_MACHINE_UNKNOWN : SYSCALL_MACHINE_ARM;
}

struct key {
	const char *call;
	const char *arg;
	int arg_len;
};

static int compare(const void *a, const void *b)
{
	const struct key *key = a;
	const struct syscall_use *use = b;
	int ret = strcmp(key->call, use->call);

	if (!ret)
		ret = strncmp(key->arg, use->arg, (size_t)key->arg_len);
	return ret || !use->arg[key->arg_len] ? ret : -1;
}

static const struct syscall_use *find_use(const char *call, const char *arg, int arg_len)
{
	const struct key key = { call, arg, arg_len };

	return bsearch(&key, uses, sizeof(uses) / sizeof(uses[0]), sizeof(uses[0]), compare);
}

/* ------------------------------------------------------------------ */
/* Values								*/

static bool is_wide(enum syscall_arg_type type)
{
	return type != SYSCALL_ARG_INT && type != SYSCALL_ARG_UINT && type != SYSCALL_ARG_BITS;
}

static void put_number(struct buffer *to, enum syscall_arg_type type, uint64_t value)
{
	switch (type) {
	case SYSCALL_ARG_INT:
		buffer_signed(to, (int32_t)value);
		break;
	case SYSCALL_ARG_LONG:
		buffer_signed(to, (int64_t)value);
		break;
	case SYSCALL_ARG_UINT:
	case SYSCALL_ARG_ULONG:
		buffer_integer(to, value, 10, "", 0);
		break;
	default:
		buffer_integer(to, value, 16, value ? "0x" : "", 0);
	}
}

static const struct syscall_value *find_value(const struct syscall_use *use, uint64_t value,
					      enum syscall_machine machine)
{
	for (size_t i = 0; i < use->count; i++) {
		const struct syscall_value *known = &use->values[i];

		if (known->value == value && (!known->machine || known->machine == (char)machine))
			return known;
	}
	return NULL;
}

static void put_separator(struct buffer *to, size_t begin)
{
	if (to->len > begin)
		buffer_byte(to, '|');
}

/* Appends the names of bits. Returns the bits without a name. */
static uint64_t put_bits(struct buffer *to, const struct syscall_use *use, uint64_t bits,
			 enum syscall_machine machine, size_t begin)
{
	for (size_t i = 0; i < use->count && bits; i++) {
		const struct syscall_value *known = &use->values[i];

		if (!known->value || known->value & use->mask || known->value & ~bits ||
		    (known->machine && known->machine != (char)machine))
			continue;
		put_separator(to, begin);
		buffer_text(to, known->name);
		bits &= ~known->value;
	}
	return bits;
}

static void put_value(struct buffer *to, const struct syscall_use *use, enum syscall_arg_type type,
		      uint64_t value, enum syscall_machine machine)
{
	const struct syscall_value *known = find_value(use, value & use->mask, machine);
	size_t begin = to->len;
	uint64_t left;

	if (!known && use->mask == UINT64_MAX) {
		put_number(to, type, value);
		return;
	}
	left = known ? 0 : value & use->mask;
	/* If @mask is 0, all bits are flags. A name for 0 is then used only if no bit is set. */
	if (known && (use->mask || !value))
		buffer_text(to, known->name);
	left |= put_bits(to, use, value & ~use->mask, machine, begin);
	if (left || to->len == begin) {
		put_separator(to, begin);
		buffer_integer(to, left, 16, left ? "0x" : "", 0);
	}
}

static void put_octal(struct buffer *to, uint64_t value)
{
	char digits[24], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + value % 8);
		value /= 8;
	} while (value);
	if (*at != '0')
		*--at = '0';
	buffer_put(to, at, (size_t)(digits + sizeof(digits) - at));
}

static void put_arg(struct buffer *to, const struct syscall_use *use, enum syscall_arg_type type,
		    uint64_t value, enum syscall_machine machine)
{
	if (!is_wide(type))
		value = (uint32_t)value;
	if (type == SYSCALL_ARG_TEXT && !value)
		buffer_text(to, "NULL");
	else if (!use)
		put_number(to, type, value);
	else if (use->values)
		put_value(to, use, type, value, machine);
	else if (use->base == 8)
		put_octal(to, value);
	else
		buffer_integer(to, value, 16, value ? "0x" : "", 0);
}

/* ------------------------------------------------------------------ */
/* Calls								*/

/* Descriptor arguments are recognized by the names that the kernel uses: fd, dfd, fd_in, fildes. */
static bool is_descriptor(const struct syscall_arg *arg)
{
	static const char *const names[] = {
		"fd", "dfd", "fildes", "oldfd", "newfd", "olddfd", "newdfd", "from_dfd", "to_dfd",
		"fd_in", "fd_out", "in_fd", "out_fd", "fdin", "fdout", "ufd", "epfd",
	};

	const size_t len = (size_t)arg->name_len;
	size_t i = 0, count = sizeof(names) / sizeof(names[0]);

	if (arg->type != SYSCALL_ARG_INT)
		return false;
	while (i < count && (strncmp(arg->name, names[i], len) || names[i][len]))
		i++;
	return i < count;
}

/* An argument of a call, for the cache. Both strings are constants of the table of calls. */
struct known_arg {
	const char *call;
	const char *name;	/* different calls may share this string */
	const struct syscall_use *use;
	bool is_descriptor;
};

#define KNOWN_ARGS	256

/*
 * Finds an argument. Programs make few different calls, and each needs many lookups, so the last
 * results are cached.
 */
static const struct known_arg *find_arg(const char *call, const struct syscall_arg *arg)
{
	static _Thread_local struct known_arg cache[KNOWN_ARGS];
	uint64_t hash = hash_pair((uintptr_t)call, (uintptr_t)arg->name);
	struct known_arg *known = &cache[hash % KNOWN_ARGS];

	if (known->call != call || known->name != arg->name) {
		known->call = call;
		known->name = arg->name;
		known->use = find_use(call, arg->name, arg->name_len);
		known->is_descriptor = is_descriptor(arg);
	}
	return known;
}

int syscall_descriptor(const struct syscall_args *known)
{
	const char *args = known->args;
	struct syscall_arg arg;

	for (int i = 0; i < SYSCALL_ARGS && syscall_args_next(&args, &arg); i++) {
		if (find_arg(known->name, &arg)->is_descriptor)
			return i;
	}
	return -1;
}

void syscall_put(struct buffer *to, const struct syscall_call *call)
{
	const struct syscall_use *use = NULL, *before;
	const char *args = call->known->args;
	const struct known_arg *known;
	struct syscall_arg arg;

	buffer_text(to, call->known->name);
	buffer_byte(to, '(');
	for (int i = 0; i < SYSCALL_ARGS && syscall_args_next(&args, &arg); i++) {
		before = use;
		known = find_arg(call->known->name, &arg);
		use = known->use;
		if (use && use->base == 8 && before && before->values == values_open &&
		    !(call->args[i - 1] & CREATES))
			continue;
		if (i)
			buffer_text(to, ", ");
		put_arg(to, use, arg.type, (uint64_t)call->args[i], call->machine);
		if (call->put_fd && known->is_descriptor)
			call->put_fd(to, call->context, (int32_t)call->args[i]);
	}
	buffer_byte(to, ')');
}

void syscall_put_result(struct buffer *to, const struct syscall_args *known, int64_t result)
{
	static const struct syscall_arg arg = { SYSCALL_ARG_LONG, "=", 1 };
	const struct syscall_use *use = NULL;

	/* Only a positive result has names: 0 and the result of a failed call have none. */
	if (known && result > 0)
		use = find_arg(known->name, &arg)->use;
	if (use)
		buffer_integer(to, (uint64_t)result, 16, "0x", 0);
	else
		buffer_signed(to, result);
}
