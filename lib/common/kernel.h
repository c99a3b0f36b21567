/* SPDX-License-Identifier: MIT */
/*
 * Records of kernel events, which are shorter than the data that their types describe. The kernel
 * wrote them, but a file may be forged, and memory may be overwritten while it is read.
 */
#ifndef PXTU_KERNEL_H
#define PXTU_KERNEL_H

#include "common/record.h"

/**
 * struct pxtu_kernel_cpu - what the records of a CPU refer to, in one use of a sub-buffer
 * @time: last time in a record; 0 before the first record with a time
 * @thread: threads by number; known only after a record with the thread
 */
struct pxtu_kernel_cpu {
	__u64 time;
	struct pxtu_writer thread[POSIXTRACE_KTHREADS_MAX];
};

/* Number of texts with names of system calls. The second half is for 32-bit programs. */
#define PXTU_CALL_TEXTS	(POSIXTRACE_ID_UNNAMED - POSIXTRACE_ID_CALL_NAMES)

/**
 * struct pxtu_call_names - the names of system calls in one stream or log
 * @text: descriptions of POSIXTRACE_ID_CALL_NAMES and so on; NULL if missing. The names are
 *	separated by NULs
 * @at: place of each name in its text
 * @count: number of names in each text; 0 without the text
 * @loaded: all texts that the log has were added
 * @of_exits: the data of SYSCALL_EXIT has an error and a name
 */
struct pxtu_call_names {
	char *text[PXTU_CALL_TEXTS];
	__u16 at[PXTU_CALL_TEXTS][POSIXTRACE_CALL_NAMES];
	__u16 count[PXTU_CALL_TEXTS];
	bool loaded;
	bool of_exits;
};

/**
 * pxtu_kernel_begin() - start with the first record of a sub-buffer or block
 * @cpu: result
 */
static inline void pxtu_kernel_begin(struct pxtu_kernel_cpu *cpu)
{
	memset(cpu, 0, sizeof(*cpu));
}

/**
 * pxtu_kernel_parse() - parse a record that the kernel may overwrite concurrently
 * @record: result; @header and @size as in the memory, @data_len as the type describes the data
 * @from: address of the record, aligned to 8 bytes
 * @room: largest size that the record can have, in bytes
 * @cpu: values of earlier records that this one may refer to; updated. Parsing the same record
 *	again changes nothing
 * @names: names of system calls
 *
 * Return: false if this cannot be a record. Its writer is unknown if an earlier record is missing.
 */
bool pxtu_kernel_parse(struct pxtu_record *record, const void *from, __u32 room,
		       struct pxtu_kernel_cpu *cpu, const struct pxtu_call_names *names);

/**
 * pxtu_kernel_data() - make the data of an event from its record
 * @record: from pxtu_kernel_parse()
 * @from: its words after the header; if they have changed, the result is undefined
 * @names: as for pxtu_kernel_parse()
 * @to: has room for @record->data_len bytes
 */
void pxtu_kernel_data(const struct pxtu_record *record, const void *from,
		      const struct pxtu_call_names *names, void *to);

/**
 * pxtu_call_names_add() - add a text
 * @names: zeroed at first
 * @id: POSIXTRACE_ID_CALL_NAMES or more, less than POSIXTRACE_ID_UNNAMED
 * @text: from malloc(), with a NUL; ownership passes to @names
 */
void pxtu_call_names_add(struct pxtu_call_names *names, __u32 id, char *text);

/**
 * pxtu_call_names_describe() - learn what the data of SYSCALL_EXIT consists of
 * @names: names of system calls of the same stream or log
 * @exit: description of the type; logs of older modules have another one
 */
void pxtu_call_names_describe(struct pxtu_call_names *names, const char *exit);

/**
 * pxtu_call_names_destroy() - free the texts
 * @names: zeroed, or filled
 */
void pxtu_call_names_destroy(struct pxtu_call_names *names);

#endif /* PXTU_KERNEL_H */
