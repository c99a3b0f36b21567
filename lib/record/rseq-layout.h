/* SPDX-License-Identifier: MIT */
/* Offsets of the fields that restartable sequences use, for the architecture headers. */
#ifndef PXTU_RSEQ_LAYOUT_H
#define PXTU_RSEQ_LAYOUT_H

#include <stddef.h>
#include <sys/rseq.h>

#include "record/entry.h"

/* Offsets in bytes: an asm statement is limited to 30 operands and has no offsetof(). */
#define PXTU_RSEQ_CPU_ID	4
#define PXTU_RSEQ_CS		8
#define PXTU_HEAD_SHIFT		6
#define PXTU_HEAD_HEAD		0
#define PXTU_HEAD_LIMIT		8
#define PXTU_HEAD_ADDRESS_HIGH	12
#define PXTU_HEAD_LOST		16
#define PXTU_HEAD_LAST		24
#define PXTU_HEAD_WRITER_HEAD	32
#define PXTU_HEAD_IDS		40
#define PXTU_HEAD_THREAD_ID	48
#define PXTU_HEAD_TIME_END	56
#define PXTU_LIMIT_FULL		1
#define PXTU_SLOT_HEADS		0
#define PXTU_SLOT_POOL		8
#define PXTU_SLOT_POOL_SIZE	16
#define PXTU_SLOT_WAKEUP	24
#define PXTU_NEED_WAKEUP		0
#define PXTU_GATE_GENERATION	0
#define PXTU_GATE_ADDRESS_HIGH	8
#define PXTU_GATE_ENABLE	4096
#define PXTU_CLOCK_OFFSET	20480
#define PXTU_CLOCK_SEQ		20488
#define PXTU_CLOCK_COUNTER	20492
#define PXTU_CLOCK_CYCLE_LAST	20496
#define PXTU_CLOCK_BASE		20504
#define PXTU_CLOCK_FRACTION	20512
#define PXTU_CLOCK_MULT		20520
#define PXTU_CLOCK_REAL		20536
#define PXTU_COUNTER_TSC	1
#define PXTU_COUNTER_CNTVCT	2
#define PXTU_CLOCK_SHIFT	30
#define PXTU_ENTRY_HEADER	0
#define PXTU_ENTRY_ADDRESS	8
#define PXTU_ENTRY_DATA		16
#define PXTU_ENTRY_REST		24
#define PXTU_ENTRY_STEP		40
#define PXTU_ENTRY_TIME		48
#define PXTU_ENTRY_ENABLE	56
#define PXTU_ENTRY_GENERATION	64
#define PXTU_ENTRY_WRITER	72
#define PXTU_ENTRY_IDS		80
#define PXTU_ENTRY_THREAD_ID	88
#define PXTU_ENTRY_AREA		96
#define PXTU_ENTRY_BIT		104
#define PXTU_ENTRY_NR_CPUS	108
#define PXTU_ENTRY_PIECES	112
#define PXTU_ENTRY_REST_WORDS	116
#define PXTU_RECORD_DATA	16
#define PXTU_PACKED_DATA	12
#define PXTU_PACKED_BIT		29	/* number of the bit in the first word of a record */
#define PXTU_WRITER_SIZE	32
#define PXTU_WRITER_SPAN_BITS	31

#define PXTU_AT(number, type, member) \
	_Static_assert((number) == offsetof(struct type, member), "must match the sequences")

PXTU_AT(PXTU_RSEQ_CPU_ID, rseq, cpu_id);
PXTU_AT(PXTU_RSEQ_CS, rseq, rseq_cs);
_Static_assert(1 << PXTU_HEAD_SHIFT == sizeof(struct posixtrace_cpu_head),
	       "must match the sequences");
PXTU_AT(PXTU_HEAD_HEAD, posixtrace_cpu_head, head);
PXTU_AT(PXTU_HEAD_LIMIT, posixtrace_cpu_head, limit);
PXTU_AT(PXTU_HEAD_ADDRESS_HIGH, posixtrace_cpu_head, address_high);
PXTU_AT(PXTU_HEAD_LOST, posixtrace_cpu_head, lost);
PXTU_AT(PXTU_HEAD_LAST, posixtrace_cpu_head, last);
PXTU_AT(PXTU_HEAD_WRITER_HEAD, posixtrace_cpu_head, writer_head);
/* pid and tid are one word for the sequences, in the order of pxtu_entry.ids. */
PXTU_AT(PXTU_HEAD_IDS, posixtrace_cpu_head, pid);
PXTU_AT(PXTU_HEAD_IDS + 4, posixtrace_cpu_head, tid);
PXTU_AT(PXTU_HEAD_THREAD_ID, posixtrace_cpu_head, thread_id);
PXTU_AT(PXTU_HEAD_TIME_END, posixtrace_cpu_head, time_end);
_Static_assert(PXTU_LIMIT_FULL == POSIXTRACE_LIMIT_FULL, "must match the sequences");
PXTU_AT(PXTU_SLOT_HEADS, pxtu_slot, heads);
PXTU_AT(PXTU_SLOT_POOL, pxtu_slot, pool);
PXTU_AT(PXTU_SLOT_POOL_SIZE, pxtu_slot, pool_size);
PXTU_AT(PXTU_SLOT_WAKEUP, pxtu_slot, wakeup);
PXTU_AT(PXTU_NEED_WAKEUP, posixtrace_wakeup, need_wakeup);
PXTU_AT(PXTU_GATE_GENERATION, posixtrace_gate, generation);
PXTU_AT(PXTU_GATE_ADDRESS_HIGH, posixtrace_gate, address_high);
PXTU_AT(PXTU_GATE_ENABLE, posixtrace_gate, enable);
PXTU_AT(PXTU_CLOCK_OFFSET, posixtrace_gate, clock.offset);
PXTU_AT(PXTU_CLOCK_SEQ, posixtrace_gate, clock.seq);
PXTU_AT(PXTU_CLOCK_COUNTER, posixtrace_gate, clock.counter);
PXTU_AT(PXTU_CLOCK_CYCLE_LAST, posixtrace_gate, clock.cycle_last);
PXTU_AT(PXTU_CLOCK_BASE, posixtrace_gate, clock.base);
PXTU_AT(PXTU_CLOCK_FRACTION, posixtrace_gate, clock.fraction);
PXTU_AT(PXTU_CLOCK_MULT, posixtrace_gate, clock.mult);
PXTU_AT(PXTU_CLOCK_REAL, posixtrace_gate, clock.real);
_Static_assert(PXTU_CLOCK_SHIFT == POSIXTRACE_CLOCK_SHIFT, "must match the sequences");
_Static_assert(PXTU_COUNTER_TSC == POSIXTRACE_COUNTER_TSC, "must match the sequences");
_Static_assert(PXTU_COUNTER_CNTVCT == POSIXTRACE_COUNTER_CNTVCT, "must match the sequences");
PXTU_AT(PXTU_ENTRY_HEADER, pxtu_entry, header);
PXTU_AT(PXTU_ENTRY_GENERATION, pxtu_entry, generation);
PXTU_AT(PXTU_ENTRY_WRITER, pxtu_entry, writer);
PXTU_AT(PXTU_ENTRY_IDS, pxtu_entry, ids);
PXTU_AT(PXTU_ENTRY_THREAD_ID, pxtu_entry, thread_id);
PXTU_AT(PXTU_ENTRY_AREA, pxtu_entry, area);
PXTU_AT(PXTU_ENTRY_BIT, pxtu_entry, bit);
PXTU_AT(PXTU_ENTRY_NR_CPUS, pxtu_entry, nr_cpus);
PXTU_AT(PXTU_ENTRY_ADDRESS, pxtu_entry, prog_address);
_Static_assert(offsetof(struct pxtu_entry, prog_address) ==
	       offsetof(struct pxtu_entry, header) + sizeof(__u64), "they are copied together");
PXTU_AT(PXTU_ENTRY_DATA, pxtu_entry, data);
PXTU_AT(PXTU_ENTRY_REST, pxtu_entry, rest);
PXTU_AT(PXTU_ENTRY_STEP, pxtu_entry, step);
PXTU_AT(PXTU_ENTRY_TIME, pxtu_entry, time);
PXTU_AT(PXTU_ENTRY_ENABLE, pxtu_entry, enable);
PXTU_AT(PXTU_ENTRY_PIECES, pxtu_entry, pieces);
PXTU_AT(PXTU_ENTRY_REST_WORDS, pxtu_entry, rest_words);
_Static_assert(sizeof(struct posixtrace_record) == PXTU_RECORD_DATA, "must match the sequences");
_Static_assert(sizeof(struct posixtrace_packed_record) == PXTU_PACKED_DATA,
	       "must match the sequences");
_Static_assert(1U << PXTU_PACKED_BIT ==
	       (__u32)POSIXTRACE_RECORD_TYPE(0, POSIXTRACE_RECORD_PACKED) << 16,
	       "must match the sequences");
_Static_assert(sizeof(struct posixtrace_writer) == PXTU_WRITER_SIZE, "must match the sequences");
_Static_assert(1ULL << PXTU_WRITER_SPAN_BITS == POSIXTRACE_WRITER_SPAN, "must match the sequences");

#undef PXTU_AT

/* A number as text, for use in an instruction. */
#define PXTU_TEXT_(number)	#number
#define PXTU_TEXT(number)	PXTU_TEXT_(number)

#endif /* PXTU_RSEQ_LAYOUT_H */
