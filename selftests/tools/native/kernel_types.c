// SPDX-License-Identifier: GPL-2.0
/* The event types of the kernel, and their data: see kernel_types.h. */
#include <linux/posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_types.h"

#define STATE	"enum : u8 { R, S, D, T, t, X, Z, P, I } state"
#define REASON	"enum : u8 { preempted, blocked, io, ended } reason"
#define WAKER	"enum : u8 { another, thread, interrupt, softirq, timer, child, signal, kernel } by"
#define SENDER	"enum : u8 { another, thread, kernel } by"
#define RESULT	"enum : u8 { delivered, ignored, already_pending, overflow_fail, lose_info } result"
#define ACTION	"enum : u8 { default, ignored, handler } action"
#define KIND	"enum : u8 { irq, softirq, vector } kind"
#define FUTEX	"enum : u8 { wait, wake, fd, requeue, cmp_requeue, wake_op, lock_pi, unlock_pi, " \
		"trylock_pi, wait_bitset, wake_bitset, wait_requeue_pi, cmp_requeue_pi, lock_pi2 } operation"
#define SIGNAL	"enum : i32 { SIGHUP = 1, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, " \
		"SIGFPE, SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, " \
		"SIGSTKFLT, SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, " \
		"SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR, SIGSYS } sig"

/* The errors that tests use. Setting the result of a call also sets the error. */
#define ERROR	"enum : u16 { none, EPERM, ENOENT, ESRCH, EINTR, EIO, EBADF = 9, EAGAIN = 11, " \
		"EFAULT = 14, EINVAL = 22, ENOSYS = 38, ETIMEDOUT = 110, ERESTARTSYS = 512 } error"

static const struct kernel_type types[] = {
	{ 16, POSIXTRACE_CLASS_SCHED, "sched_switch_out",
	  "struct { i32 tid; i32 prio; " STATE "; " REASON "; i32 next_tid; i32 next_prio; }" },
	{ 17, POSIXTRACE_CLASS_SCHED, "sched_switch_in",
	  "struct { i32 tid; i32 prio; u64 runnable \"ns\"; i32 prev_tid; i32 prev_prio; }" },
	{ 18, POSIXTRACE_CLASS_SCHED, "sched_wakeup",
	  "struct { i32 tid; i32 prio; u32 target_cpu; " WAKER "; bool new; "
	  "i32 waker_pid; i32 waker_tid; }" },
	{ 19, POSIXTRACE_CLASS_SCHED, "sched_migrate_task",
	  "struct { i32 tid; i32 prio; u32 orig_cpu; u32 dest_cpu; }" },
	{ 20, POSIXTRACE_CLASS_PROCESS, "sched_process_fork",
	  "struct { i32 tid; i32 child_pid; i32 child_tid; }" },
	{ 21, POSIXTRACE_CLASS_PROCESS, "sched_process_exec",
	  "struct { i32 tid; text filename; }" },
	{ 22, POSIXTRACE_CLASS_PROCESS, "sched_process_exit",
	  "struct { i32 tid; i32 exit_code; bool group_dead; }" },
	{ 23, POSIXTRACE_CLASS_PROCESS, "task_rename",
	  "struct { i32 tid; char oldcomm[16]; char newcomm[16]; }" },
	{ 24, POSIXTRACE_CLASS_SIGNAL, "signal_generate",
	  "struct { i32 tid; " SIGNAL "; i32 code; " SENDER "; bool group; " RESULT "; "
	  "i32 sender_pid; i32 sender_tid; }" },
	{ 25, POSIXTRACE_CLASS_SIGNAL, "signal_deliver",
	  "struct { i32 tid; " SIGNAL "; i32 code; " ACTION "; x64 flags; }" },
	{ 26, POSIXTRACE_CLASS_FAULT, "page_fault",
	  "struct { i32 tid; bool user; bool write; bool exec; bool protection; x64 address; "
	  "x64 ip; }" },
	{ 27, POSIXTRACE_CLASS_SYSCALL, "syscall_entry",
	  "struct { i32 tid; i32 nr; x64 args[6]; bool compat; text name; }" },
	{ 28, POSIXTRACE_CLASS_SYSCALL, "syscall_exit",
	  "struct { i32 tid; i32 nr; i64 result; bool compat; " ERROR "; text name; }" },
	{ 29, POSIXTRACE_CLASS_IRQ, "irq",
	  "struct { i32 tid; u32 number; u64 duration \"ns\"; " KIND "; bool nested; "
	  "text name; }" },
	{ 30, POSIXTRACE_CLASS_STRINGS, "syscall_text",
	  "struct { i32 tid; i32 nr; x64 address; u8 arg; enum : u8 { whole, cut, absent } state; "
	  "text value; }" },
	{ 31, POSIXTRACE_CLASS_SCHED, "futex_wait",
	  "{ i32 tid; x64 address; x64 ip; x32 lock; i32 owner; x32 kind; " FUTEX "; "
	  "bool known; bool same_ids; }" },
};

#define NR_TYPES	(sizeof(types) / sizeof(types[0]))

/* In the order of their bits. */
static const char *const class_names[] = {
	"sched", "fault", "signal", "syscall", "irq", "process", "strings",
};

#define NR_CLASSES	(sizeof(class_names) / sizeof(class_names[0]))

const struct kernel_type *kernel_type_at(size_t i)
{
	return i < NR_TYPES ? &types[i] : NULL;
}

const struct kernel_type *kernel_type_named(const char *name)
{
	for (size_t i = 0; i < NR_TYPES; i++) {
		if (!strcmp(types[i].name, name))
			return &types[i];
	}
	return NULL;
}

unsigned int kernel_classes(const char *list)
{
	unsigned int classes = 0;

	if (!strncmp(list, "all", 3)) {
		classes = POSIXTRACE_CLASS_ALL;
		list += 3 + (list[3] == ',');
	}
	while (*list) {
		size_t len = strcspn(list, ","), i = 0;

		while (i < NR_CLASSES && (strncmp(class_names[i], list, len) ||
					  class_names[i][len]))
			i++;
		if (i == NR_CLASSES)
			return 0;
		classes |= 1U << i;
		list += len + (list[len] == ',');
	}
	return classes;
}

/* ------------------------------------------------------------------ */
/* Fields								*/

/* A member of a struct, at its offset in C. */
struct member {
	char name[32];
	char type[8];		/* name of the C type, without "char" for text and "enum" */
	size_t size;		/* size of an element */
	size_t count;
	size_t offset;
	const char *labels;	/* "{ a, b = 3 }", or NULL */
	bool packed;		/* its struct has no padding */
};

/* Reads the next member, and advances *at past it. Returns false at the end of the struct. */
static bool next_member(const char **at, struct member *member)
{
	size_t end = member->offset + member->size * member->count;
	const char *type = *at + strspn(*at, " ");
	bool is_enum = !strncmp(type, "enum : ", 7), packed = member->packed;

	memset(member, 0, sizeof(*member));
	member->packed = packed;
	if (*type == '}')
		return false;
	member->count = 1;
	if (is_enum)
		type += strlen("enum : ");
	memcpy(member->type, type, strcspn(type, " "));
	type += strcspn(type, " ") + 1;
	if (is_enum) {
		member->labels = type;
		type = strchr(type, '}') + 2;
	}
	memcpy(member->name, type, strcspn(type, " [;"));
	type += strlen(member->name);
	if (*type == '[')
		member->count = strtoul(type + 1, NULL, 10);
	if (strcmp(member->type, "text"))
		member->size = strcmp(member->type, "bool") && strcmp(member->type, "char") ?
			       strtoul(member->type + 1, NULL, 10) / 8 : 1;
	member->offset = member->size && !packed ?
			 (end + member->size - 1) / member->size * member->size :
					end;
	*at = strchr(type, ';') + 1;
	return true;
}

/* Begins with the members of a type. Returns where they are. */
static const char *begin_members(const struct kernel_type *type, struct member *member)
{
	memset(member, 0, sizeof(*member));
	member->packed = type->description[0] == '{';
	return strchr(type->description, '{') + 1;
}

size_t kernel_data_begin(const struct kernel_type *type, unsigned char *data)
{
	struct member member;
	const char *at = begin_members(type, &member);
	size_t end = 0, align = 1;

	while (next_member(&at, &member)) {
		end = member.offset + member.size * member.count;
		if (!member.size)
			align = 1;
		else if (member.size > align && !member.packed)
			align = member.size;
	}
	end = (end + align - 1) / align * align;
	memset(data, 0, end);
	return end;
}

/* Gets the value of a label. */
static bool find_label(const char *labels, const char *wanted, unsigned long long *value)
{
	unsigned long long number = 0;
	char label[32];
	int used;

	for (labels += 2; sscanf(labels, "%31[A-Za-z0-9_]%n", label, &used) == 1; number++) {
		labels += used;
		if (sscanf(labels, " = %llu%n", &number, &used) == 1)
			labels += used;
		if (!strcmp(label, wanted)) {
			*value = number;
			return true;
		}
		labels += strspn(labels, " ,");
	}
	return false;
}

static bool parse_value(const struct member *member, const char **text, unsigned long long *value)
{
	char *end;

	*value = strtoull(*text, &end, 0);
	if (end == *text) {
		if (!strcmp(*text, "true") || !strcmp(*text, "false"))
			*value = **text == 't';
		else if (!member->labels || !find_label(member->labels, *text, value))
			return false;
		*text += strlen(*text);
		return true;
	}
	*text = end;
	return !*end || *end == ',';
}

static void set_error(const struct kernel_type *type, unsigned char *data, size_t *len,
		      long long result)
{
	char text[8];

	sprintf(text, "%lld", result < 0 && result >= -4095 ? -result : 0);
	kernel_data_set(type, data, len, "error", text, strlen(text));
}

bool kernel_data_set(const struct kernel_type *type, unsigned char *data, size_t *len,
		     const char *name, const char *value, size_t value_len)
{
	struct member member;
	const char *at = begin_members(type, &member);
	unsigned long long number;

	do {
		if (!next_member(&at, &member))
			return false;
	} while (strcmp(member.name, name));
	if (!strcmp(member.type, "text")) {
		if (value_len > KERNEL_DATA_MAX - member.offset)
			return false;
		memcpy(data + member.offset, value, value_len);
		*len = member.offset + value_len;
		return true;
	}
	if (!strcmp(member.type, "char")) {
		memcpy(data + member.offset, value,
		       value_len < member.count ? value_len : member.count);
		return true;
	}
	for (size_t i = 0; i < member.count && *value; i++) {
		if (!parse_value(&member, &value, &number))
			return false;
		/* Little-endian only, as in logs. */
		memcpy(data + member.offset + i * member.size, &number, member.size);
		value += *value == ',';
	}
	if (type->id == POSIXTRACE_ID_SYSCALL_EXIT && !strcmp(name, "result"))
		set_error(type, data, len, (long long)number);
	return !*value;
}
