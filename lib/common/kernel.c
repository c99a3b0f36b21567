// SPDX-License-Identifier: MIT
/*
 * Expands the records of kernel events into the data that their event types describe. Whatever a
 * record contains, only its own words are read, and only the data of its length is written.
 */
#include <stdlib.h>

#include "common/kernel.h"

/* Largest error number that a system call returns. */
#define ERROR_MAX	4095

/* The data as kmod/target/kerneltype.c describes it. Each structure starts with the thread id. */

struct switch_out {
	__s32 tid;
	__s32 prio;
	__u8 state;
	__u8 reason;
	__u8 pad[2];
	__s32 next_tid;
	__s32 next_prio;
};

struct switch_in {
	__s32 tid;
	__s32 prio;
	__u64 runnable;
	__s32 prev_tid;
	__s32 prev_prio;
};

struct wakeup {
	__s32 tid;
	__s32 prio;
	__u32 target_cpu;
	__u8 by;
	__u8 new;
	__u8 pad[2];
	__s32 waker_pid;
	__s32 waker_tid;
};

struct migrate {
	__s32 tid;
	__s32 prio;
	__u32 orig_cpu;
	__u32 dest_cpu;
};

struct signal_generate {
	__s32 tid;
	__s32 sig;
	__s32 code;
	__u8 by;
	__u8 group;
	__u8 result;
	__u8 pad;
	__s32 sender_pid;
	__s32 sender_tid;
};

struct signal_deliver {
	__s32 tid;
	__s32 sig;
	__s32 code;
	__u8 action;
	__u8 pad[3];
	__u64 flags;
};

struct page_fault {
	__s32 tid;
	__u8 user;
	__u8 write;
	__u8 exec;
	__u8 protection;
	__u64 address;
	__u64 ip;
};

/* Followed by the name of the system call, without a NUL. */
struct syscall_entry {
	__s32 tid;
	__s32 nr;
	__u64 args[POSIXTRACE_KARGS];
	__u8 compat;
} __attribute__((__packed__));

/* Followed by the name of the system call, without a NUL. */
struct syscall_exit {
	__s32 tid;
	__s32 nr;
	__s64 result;
	__u8 compat;
	__u8 pad;
	__u16 error;
} __attribute__((__packed__));

/* In logs of older modules: without the error and the name, but with padding. */
struct bare_syscall_exit {
	__s32 tid;
	__s32 nr;
	__s64 result;
	__u8 compat;
	__u8 pad[7];
};

/* Words of data of a record, each read once. Words beyond the record are 0. */
struct words {
	const __u64 *from;
	__u32 count;
};

static __u64 word_at(const struct words *words, __u32 i)
{
	return i < words->count ? pxtu_load(&words->from[i]) : 0;
}

/* ------------------------------------------------------------------ */
/* Names of system calls						*/

/* The number of the text with the name of a call; PXTU_CALL_TEXTS if no text can have it. */
static __u32 text_of(__u32 nr, bool compat)
{
	__u32 text = nr / POSIXTRACE_CALL_NAMES;

	if (text >= PXTU_CALL_TEXTS / 2)
		return PXTU_CALL_TEXTS;
	return text + (compat ? PXTU_CALL_TEXTS / 2 : 0);
}

static const char *name_of(const struct pxtu_call_names *names, __u32 value)
{
	const __u32 nr = POSIXTRACE_KVALUE_NR(value);
	const __u32 text = text_of(nr, POSIXTRACE_KVALUE_COMPAT(value));
	const __u32 i = nr % POSIXTRACE_CALL_NAMES;
	const char *name;

	if (!names || text >= PXTU_CALL_TEXTS || i >= names->count[text])
		return "";
	name = names->text[text] + names->at[text][i];
	return strcmp(name, "-") ? name : "";
}

void pxtu_call_names_add(struct pxtu_call_names *names, __u32 id, char *text)
{
	__u32 i = id - POSIXTRACE_ID_CALL_NAMES, count = 0;
	char *rest = NULL, *name;

	free(names->text[i]);
	names->text[i] = text;
	for (name = strtok_r(text, " ", &rest); name && count < POSIXTRACE_CALL_NAMES;
	     name = strtok_r(NULL, " ", &rest))
		names->at[i][count++] = (__u16)(name - text);
	names->count[i] = (__u16)count;
}

void pxtu_call_names_describe(struct pxtu_call_names *names, const char *exit)
{
	names->of_exits = strstr(exit, " error; text name;");
}

void pxtu_call_names_destroy(struct pxtu_call_names *names)
{
	for (__u32 i = 0; i < PXTU_CALL_TEXTS; i++) {
		free(names->text[i]);
		names->text[i] = NULL;
		names->count[i] = 0;
	}
}

/* ------------------------------------------------------------------ */
/* Parsing								*/

/* Get the size of the data that the type describes. False for a type without short records. */
static bool data_size(__u32 id, __u32 value, const struct pxtu_call_names *names, __u32 *size)
{
	switch (id) {
	case POSIXTRACE_ID_SWITCH_OUT:
		*size = sizeof(struct switch_out);
		return true;
	case POSIXTRACE_ID_SWITCH_IN:
		*size = sizeof(struct switch_in);
		return true;
	case POSIXTRACE_ID_WAKEUP:
		*size = sizeof(struct wakeup);
		return true;
	case POSIXTRACE_ID_MIGRATE:
		*size = sizeof(struct migrate);
		return true;
	case POSIXTRACE_ID_SIGNAL_GENERATE:
		*size = sizeof(struct signal_generate);
		return true;
	case POSIXTRACE_ID_SIGNAL_DELIVER:
		*size = sizeof(struct signal_deliver);
		return true;
	case POSIXTRACE_ID_PAGE_FAULT:
		*size = sizeof(struct page_fault);
		return true;
	case POSIXTRACE_ID_SYSCALL_ENTRY:
		*size = (__u32)(sizeof(struct syscall_entry) + strlen(name_of(names, value)));
		return true;
	case POSIXTRACE_ID_SYSCALL_EXIT:
		*size = names && names->of_exits ?
			(__u32)(sizeof(struct syscall_exit) + strlen(name_of(names, value))) :
			(__u32)sizeof(struct bare_syscall_exit);
		return true;
	}
	return false;
}

static bool plain_size(__u32 words, __u32 padding, __u32 *size)
{
	if (padding >= sizeof(__u64) || padding > words * sizeof(__u64))
		return false;
	*size = (__u32)(sizeof(__s32) + words * sizeof(__u64)) - padding;
	return true;
}

/* Get the thread of a record: from its words, or else the last thread with this number. */
static const struct pxtu_writer *thread_of(struct pxtu_kernel_cpu *cpu, __u64 head,
					   const __u64 *word)
{
	struct pxtu_writer *thread = &cpu->thread[POSIXTRACE_KHEAD_THREAD(head)];
	__u64 ids;

	if (POSIXTRACE_KHEAD_FLAGS(head) & POSIXTRACE_KFLAG_THREAD) {
		ids = pxtu_load(word);
		thread->known = true;
		memcpy(&thread->pid, &ids, sizeof(thread->pid));
		memcpy(&thread->tid, (const char *)&ids + sizeof(thread->pid), sizeof(thread->tid));
		thread->thread_id = pxtu_load(&word[1]);
	}
	return thread;
}

bool pxtu_kernel_parse(struct pxtu_record *record, const void *from, __u32 room,
		       struct pxtu_kernel_cpu *cpu, const struct pxtu_call_names *names)
{
	const __u64 *word = from;
	__u32 words, flags, used = 1, stack = 0;
	__u64 head;

	if (room < sizeof(head))
		return false;
	head = pxtu_load(word);
	words = POSIXTRACE_KHEAD_WORDS(head);
	flags = POSIXTRACE_KHEAD_FLAGS(head);
	if (flags & POSIXTRACE_KFLAG_TIME)
		used++;
	if (flags & POSIXTRACE_KFLAG_THREAD)
		used += sizeof(struct posixtrace_kthread) / sizeof(head);
	if (flags & POSIXTRACE_KFLAG_STACK)
		used += sizeof(struct posixtrace_stack) / sizeof(head);
	if (words < used || words * sizeof(head) > room || !POSIXTRACE_KHEAD_ID(head))
		return false;
	if (flags & POSIXTRACE_KFLAG_STACK &&
	    (!pxtu_record_stack(&word[used - 1], &stack) || words * sizeof(head) + stack > room))
		return false;
	if (flags & POSIXTRACE_KFLAG_TIME)
		cpu->time = pxtu_load(&word[1]);
	*record = (struct pxtu_record){
		.header = used * (__u32)sizeof(head),
		.size = words * (__u32)sizeof(head) + stack,
		.words = words - used,
		.event_id = POSIXTRACE_KHEAD_ID(head),
		.flags = flags & POSIXTRACE_KFLAG_TRUNCATED ? POSIXTRACE_RECORD_TRUNCATED : 0,
		.timestamp = posixtrace_record_time(cpu->time, POSIXTRACE_KHEAD_TIME(head)),
		.plain = flags & POSIXTRACE_KFLAG_PLAIN,
		.value = POSIXTRACE_KHEAD_VALUE(head),
		.writer = *thread_of(cpu, head, &word[flags & POSIXTRACE_KFLAG_TIME ? 2 : 1]),
	};
	/* A record without any time cannot be used, like a record without a thread. */
	record->writer.known = record->writer.known && cpu->time;
	if (record->plain)
		return plain_size(record->words, record->value, &record->data_len);
	/* A forged log may have names of any length. */
	return data_size(record->event_id, record->value, names, &record->data_len) &&
	       record->data_len <= POSIXTRACE_SYSDATA_MAX;
}

/* ------------------------------------------------------------------ */
/* Data									*/

static void put_switch_out(const struct pxtu_record *record, const struct words *words, void *to)
{
	const __u64 word = word_at(words, 0);
	const struct switch_out data = {
		.tid = record->writer.tid,
		.prio = POSIXTRACE_KVALUE_PRIO(record->value),
		.state = (__u8)(word >> 40),
		.reason = POSIXTRACE_KVALUE_REASON(record->value),
		.next_tid = (__s32)word,
		.next_prio = POSIXTRACE_KVALUE_PRIO(word >> 32),
	};

	memcpy(to, &data, sizeof(data));
}

static void put_switch_in(const struct pxtu_record *record, const struct words *words, void *to)
{
	const __u64 word = word_at(words, 0);
	const struct switch_in data = {
		.tid = record->writer.tid,
		.prio = POSIXTRACE_KVALUE_PRIO(record->value),
		.runnable = word >> 32 | word_at(words, 1) << 32,
		.prev_tid = word & 0xffffff,
		.prev_prio = POSIXTRACE_KVALUE_PRIO(word >> 24),
	};

	memcpy(to, &data, sizeof(data));
}

static void put_wakeup(const struct pxtu_record *record, const struct words *words, void *to)
{
	const __u64 word = word_at(words, 0);
	const struct wakeup data = {
		.tid = record->writer.tid,
		.prio = POSIXTRACE_KVALUE_PRIO(record->value),
		.target_cpu = (__u32)(word >> 48),
		.by = (__u8)POSIXTRACE_KWAKER_BY(record->value, word),
		.new = POSIXTRACE_KVALUE_NEW(record->value),
		.waker_pid = word & 0xffffff,
		.waker_tid = POSIXTRACE_KWAKER_TID(word),
	};

	memcpy(to, &data, sizeof(data));
}

static void put_migrate(const struct pxtu_record *record, const struct words *words, void *to)
{
	const __u64 word = word_at(words, 0);
	const struct migrate data = {
		.tid = record->writer.tid,
		.prio = POSIXTRACE_KVALUE_PRIO(record->value),
		.orig_cpu = (__u32)word,
		.dest_cpu = (__u32)(word >> 32),
	};

	memcpy(to, &data, sizeof(data));
}

static void put_signal_generate(const struct pxtu_record *record, const struct words *words,
				void *to)
{
	const __u64 word = word_at(words, 0);
	const struct signal_generate data = {
		.tid = record->writer.tid,
		.sig = POSIXTRACE_KVALUE_SIG(record->value),
		.code = (__s32)POSIXTRACE_KSENT_CODE(word),
		.by = POSIXTRACE_KVALUE_SENDER(record->value),
		.group = POSIXTRACE_KVALUE_GROUP(record->value),
		.result = POSIXTRACE_KSENT_RESULT(word),
		.sender_pid = word & 0xffffff,
		.sender_tid = word >> 24 & 0xffffff,
	};

	memcpy(to, &data, sizeof(data));
}

static void put_signal_deliver(const struct pxtu_record *record, const struct words *words,
			       void *to)
{
	const __u64 word = word_at(words, 0);
	const struct signal_deliver data = {
		.tid = record->writer.tid,
		.sig = POSIXTRACE_KVALUE_SIG(record->value),
		.code = (__s32)(word >> 32),
		.action = POSIXTRACE_KVALUE_ACTION(record->value),
		.flags = (__u32)word,
	};

	memcpy(to, &data, sizeof(data));
}

static void put_page_fault(const struct pxtu_record *record, const struct words *words, void *to)
{
	const struct page_fault data = {
		.tid = record->writer.tid,
		.user = record->value & 1,
		.write = record->value >> 1 & 1,
		.exec = record->value >> 2 & 1,
		.protection = record->value >> 3 & 1,
		.address = word_at(words, 0),
		.ip = word_at(words, 1),
	};

	memcpy(to, &data, sizeof(data));
}

/* Take the next @size bytes of the words, at most 8, as a number. */
static __u64 take_bytes(const struct words *words, __u32 *at, __u32 size)
{
	__u64 value = 0;
	__u32 i, byte;

	for (i = 0; i < size && i < sizeof(value); i++) {
		byte = (*at)++;
		value |= (word_at(words, byte / 8) >> byte % 8 * 8 & 0xff) << i * 8;
	}
	return value;
}

static void put_syscall_entry(const struct pxtu_record *record, const struct words *words,
			      const struct pxtu_call_names *names, void *to)
{
	const char *name = name_of(names, record->value);
	const __u64 sizes = POSIXTRACE_KARGS_SIZES(word_at(words, 0));
	__u32 at = POSIXTRACE_KARGS_BYTES, i;
	struct syscall_entry data = {
		.tid = record->writer.tid,
		.nr = POSIXTRACE_KVALUE_NR(record->value),
		.compat = POSIXTRACE_KVALUE_COMPAT(record->value),
	};

	for (i = 0; i < POSIXTRACE_KARGS; i++)
		data.args[i] = take_bytes(words, &at, POSIXTRACE_KARG_SIZE(sizes, i));
	memcpy(to, &data, sizeof(data));
	memcpy((char *)to + sizeof(data), name, record->data_len - sizeof(data));
}

static void put_syscall_exit(const struct pxtu_record *record, const struct words *words,
			     const struct pxtu_call_names *names, void *to)
{
	const __s64 result = (__s64)word_at(words, 0);
	const char *name = name_of(names, record->value);
	const struct bare_syscall_exit bare = {
		.tid = record->writer.tid,
		.nr = POSIXTRACE_KVALUE_NR(record->value),
		.result = result,
		.compat = POSIXTRACE_KVALUE_COMPAT(record->value),
	};
	const struct syscall_exit data = {
		.tid = bare.tid,
		.nr = bare.nr,
		.result = result,
		.compat = bare.compat,
		.error = result < 0 && result >= -ERROR_MAX ? (__u16)-result : 0,
	};

	if (!names || !names->of_exits) {
		memcpy(to, &bare, sizeof(bare));
		return;
	}
	memcpy(to, &data, sizeof(data));
	memcpy((char *)to + sizeof(data), name, record->data_len - sizeof(data));
}

static void put_plain(const struct pxtu_record *record, const void *from, void *to)
{
	memcpy(to, &record->writer.tid, sizeof(record->writer.tid));
	memcpy((char *)to + sizeof(record->writer.tid), from,
	       record->data_len - sizeof(record->writer.tid));
}

void pxtu_kernel_data(const struct pxtu_record *record, const void *from,
		      const struct pxtu_call_names *names, void *to)
{
	const struct words words = {
		.from = from,
		.count = record->words,
	};

	if (record->plain) {
		put_plain(record, from, to);
		return;
	}
	switch (record->event_id) {
	case POSIXTRACE_ID_SWITCH_OUT:
		put_switch_out(record, &words, to);
		break;
	case POSIXTRACE_ID_SWITCH_IN:
		put_switch_in(record, &words, to);
		break;
	case POSIXTRACE_ID_WAKEUP:
		put_wakeup(record, &words, to);
		break;
	case POSIXTRACE_ID_MIGRATE:
		put_migrate(record, &words, to);
		break;
	case POSIXTRACE_ID_SIGNAL_GENERATE:
		put_signal_generate(record, &words, to);
		break;
	case POSIXTRACE_ID_SIGNAL_DELIVER:
		put_signal_deliver(record, &words, to);
		break;
	case POSIXTRACE_ID_PAGE_FAULT:
		put_page_fault(record, &words, to);
		break;
	case POSIXTRACE_ID_SYSCALL_ENTRY:
		put_syscall_entry(record, &words, names, to);
		break;
	case POSIXTRACE_ID_SYSCALL_EXIT:
		put_syscall_exit(record, &words, names, to);
		break;
	}
}
