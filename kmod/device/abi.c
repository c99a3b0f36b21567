// SPDX-License-Identifier: GPL-2.0
/*
 * The layout of the structures in uapi/, with which programs were compiled. If an assertion fails,
 * fix the structure, not the number here.
 */
#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/utsname.h>

#include <linux/posixtrace.h>
#include <linux/posixtrace_log.h>

/* Raise the version for any change to an asserted layout or to the meaning of a member. */
static_assert(POSIXTRACE_ABI_VERSION == 26);

#define ASSERT_SIZE(type, size) \
	static_assert(sizeof(struct type) == (size) && sizeof(struct type) % 8 == 0)
#define ASSERT_OFFSET(type, member, offset) \
	static_assert(offsetof(struct type, member) == (offset))

ASSERT_SIZE(posixtrace_event_set, 512);
ASSERT_SIZE(posixtrace_record, 16);
ASSERT_OFFSET(posixtrace_record, time, 4);
ASSERT_OFFSET(posixtrace_record, prog_address, 8);
ASSERT_SIZE(posixtrace_stack, 8);
ASSERT_SIZE(posixtrace_kthread, 16);
ASSERT_OFFSET(posixtrace_kthread, tid, 4);
ASSERT_OFFSET(posixtrace_kthread, thread_id, 8);
ASSERT_SIZE(posixtrace_writer, 32);
ASSERT_OFFSET(posixtrace_writer, address_high, 4);
ASSERT_OFFSET(posixtrace_writer, pid, 8);
ASSERT_OFFSET(posixtrace_writer, thread_id, 16);
ASSERT_OFFSET(posixtrace_writer, time, 24);
ASSERT_SIZE(posixtrace_clock, 4096);
ASSERT_SIZE(posixtrace_gate_condition, 16);
ASSERT_OFFSET(posixtrace_gate_condition, threshold, 8);
ASSERT_SIZE(posixtrace_gate, 4096 + 4 * 4096 + 4096 + 4096);
ASSERT_OFFSET(posixtrace_gate, address_high, 8);
ASSERT_OFFSET(posixtrace_gate, condition, 16);
ASSERT_OFFSET(posixtrace_gate, pending, 3984);
ASSERT_OFFSET(posixtrace_gate, enable, 4096);
ASSERT_OFFSET(posixtrace_gate, clock, 5 * 4096);
ASSERT_OFFSET(posixtrace_gate, door, 6 * 4096);
ASSERT_SIZE(posixtrace_cpu_head, 64);
ASSERT_OFFSET(posixtrace_cpu_head, address_high, 12);
ASSERT_OFFSET(posixtrace_cpu_head, lost, 16);
ASSERT_OFFSET(posixtrace_cpu_head, pid, 40);
ASSERT_OFFSET(posixtrace_cpu_head, time_end, 56);
ASSERT_SIZE(posixtrace_subbuf, 64);
ASSERT_OFFSET(posixtrace_subbuf, cpu, 24);
ASSERT_SIZE(posixtrace_ctrl, 192);
ASSERT_OFFSET(posixtrace_ctrl, gap_lock, 32);
ASSERT_OFFSET(posixtrace_ctrl, gap_generation, 40);
ASSERT_OFFSET(posixtrace_ctrl, previous_first, 80);
ASSERT_OFFSET(posixtrace_ctrl, kernel_heads_offset, 96);
ASSERT_OFFSET(posixtrace_ctrl, system, 128);
ASSERT_SIZE(posixtrace_consumed, 16);
ASSERT_SIZE(posixtrace_reader, 64);
ASSERT_OFFSET(posixtrace_reader, consumed, 64);

ASSERT_SIZE(posixtrace_rotate, 8);
ASSERT_SIZE(posixtrace_condition, 144);
ASSERT_OFFSET(posixtrace_condition, threshold, 128);
ASSERT_SIZE(posixtrace_trigger, 32);
ASSERT_OFFSET(posixtrace_trigger, conditions, 16);
ASSERT_SIZE(posixtrace_triggered, 40);
ASSERT_OFFSET(posixtrace_triggered, kind, 32);
ASSERT_SIZE(posixtrace_info, 64);
ASSERT_SIZE(posixtrace_attr, 240);
ASSERT_OFFSET(posixtrace_attr, classes, 200);
ASSERT_OFFSET(posixtrace_attr, compression, 208);
ASSERT_SIZE(posixtrace_map, 16);
ASSERT_SIZE(posixtrace_create, 384);
ASSERT_SIZE(posixtrace_origin, 32);
ASSERT_SIZE(posixtrace_status, 64);
ASSERT_SIZE(posixtrace_filter, 552);
ASSERT_SIZE(posixtrace_kernel_stats, 192);
ASSERT_SIZE(posixtrace_stats, 64);
ASSERT_SIZE(posixtrace_eventid, 88);
ASSERT_SIZE(posixtrace_event_types, 24);
ASSERT_SIZE(posixtrace_description, 24);
ASSERT_SIZE(posixtrace_state, 184);
ASSERT_OFFSET(posixtrace_state, flags, 44);
ASSERT_OFFSET(posixtrace_state, args, 80);
ASSERT_OFFSET(posixtrace_state, name, 136);
ASSERT_SIZE(posixtrace_states, 16);
ASSERT_SIZE(posixtrace_file, 256);
ASSERT_OFFSET(posixtrace_file, kind, 24);
ASSERT_OFFSET(posixtrace_file, text, 32);
ASSERT_SIZE(posixtrace_files, 24);
ASSERT_SIZE(posixtrace_wait, 24);
ASSERT_SIZE(posixtrace_release, 8);
ASSERT_SIZE(posixtrace_defer, 32);
ASSERT_SIZE(posixtrace_attach, 56);
ASSERT_SIZE(posixtrace_slot, 88);
ASSERT_SIZE(posixtrace_wakeup, 64);
ASSERT_SIZE(posixtrace_sync, 24);
ASSERT_SIZE(posixtrace_next, 24);
ASSERT_SIZE(posixtrace_event, 56);
ASSERT_OFFSET(posixtrace_event, time, 48);
ASSERT_SIZE(posixtrace_met, 32);
ASSERT_OFFSET(posixtrace_met, slot, 16);
ASSERT_SIZE(posixtrace_checked, 24);
ASSERT_OFFSET(posixtrace_checked, cmd, 16);
ASSERT_SIZE(posixtrace_mapping, 32);
ASSERT_OFFSET(posixtrace_mapping, address, 24);

ASSERT_SIZE(posixtrace_log_header, 512);
ASSERT_OFFSET(posixtrace_log_header, attr, 80);
ASSERT_OFFSET(posixtrace_log_header, metadata_offset, 320);
ASSERT_OFFSET(posixtrace_log_header, part, 344);
ASSERT_SIZE(posixtrace_log_block, 128);
ASSERT_OFFSET(posixtrace_log_block, opened, 56);
ASSERT_OFFSET(posixtrace_log_block, compression, 112);
ASSERT_SIZE(posixtrace_log_piece, 16);
ASSERT_SIZE(posixtrace_log_name, 72);
ASSERT_SIZE(posixtrace_log_description, 8);
ASSERT_SIZE(posixtrace_log_host, 280);
ASSERT_SIZE(posixtrace_log_task, 40);
ASSERT_SIZE(posixtrace_log_program, 24);
ASSERT_SIZE(posixtrace_log_mapping, 72);
ASSERT_SIZE(posixtrace_log_clock, 32);
ASSERT_OFFSET(posixtrace_log_clock, flags, 28);
ASSERT_SIZE(posixtrace_log_end, 64);

static_assert(POSIXTRACE_LOG_TASK_NAME_SIZE == TASK_COMM_LEN);
static_assert(sizeof_field(struct posixtrace_state, name) == TASK_COMM_LEN);
static_assert(POSIXTRACE_LOG_HOST_TEXT_SIZE > __NEW_UTS_LEN);

/* Readers check the type before they know which of the three structures it is in. */
static_assert(offsetof(struct posixtrace_record, type) ==
	      offsetof(struct posixtrace_writer, type));
static_assert(offsetof(struct posixtrace_record, type) ==
	      offsetof(struct posixtrace_packed_record, type));
static_assert(offsetof(struct posixtrace_record, time) ==
	      offsetof(struct posixtrace_packed_record, time));
static_assert(sizeof(struct posixtrace_packed_record) == 12);
/* A packed record is a prefix of a full one: the lower half of the address comes first. */
static_assert(offsetof(struct posixtrace_record, prog_address) ==
	      offsetof(struct posixtrace_packed_record, address_low));
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
/* Positions are multiples of 8, so this value is never a valid limit. */
static_assert(POSIXTRACE_LIMIT_FULL % POSIXTRACE_RECORD_ALIGN);
/* A packed record is never smaller than a record without data. */
static_assert(POSIXTRACE_RECORD_PACKED_STEP(1) == POSIXTRACE_RECORD_STEP(0));
/* The type has room for all ids and flags, data_len for all lengths. */
static_assert(POSIXTRACE_RECORD_ID(~0U) == POSIXTRACE_ID_MAX - 1);
static_assert(POSIXTRACE_DATA_SIZE_MAX <= U16_MAX && POSIXTRACE_SYSDATA_MAX <= U16_MAX);
/*
 * A consumer position can hold any position in a sub-buffer, and the largest number of records in
 * it. The first record includes its writer.
 */
static_assert(POSIXTRACE_SUBBUF_SIZE_MAX < 8U << POSIXTRACE_CONSUMED_POS_BITS);
static_assert((POSIXTRACE_SUBBUF_SIZE_MAX - sizeof(struct posixtrace_writer)) /
	      sizeof(struct posixtrace_record) < 1U << POSIXTRACE_CONSUMED_COUNT_BITS);
/*
 * The largest sub-buffer holds at least 8 of the largest user records. The smallest sub-buffer
 * holds the largest system event and a STOP.
 */
static_assert(8 * POSIXTRACE_RECORD_SIZE(POSIXTRACE_DATA_SIZE_MAX) <= POSIXTRACE_SUBBUF_SIZE_MAX);
static_assert(POSIXTRACE_RECORD_SIZE(POSIXTRACE_SYSDATA_MAX) +
	      POSIXTRACE_RECORD_SIZE(sizeof(__s32)) <= POSIXTRACE_SUBBUF_SIZE_MIN);
/* With pages of 4 KiB, each sub-buffer and posixtrace_gate.enable start at a page boundary. */
static_assert(POSIXTRACE_SUBBUF_SIZE_MIN % PAGE_SIZE == 0);
/* Consumer positions and heads are loaded and stored in one piece. */
static_assert(sizeof(long) == sizeof(__u64));
/* The number of each class is below POSIXTRACE_CLASSES_MAX. */
static_assert(POSIXTRACE_CLASS_VALID < 1U << POSIXTRACE_CLASSES_MAX);
