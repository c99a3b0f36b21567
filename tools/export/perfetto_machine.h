/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine that a Perfetto trace shows: its name, kernel and clocks.
 *
 * If a trace has several machines, each packet has the id of its machine. Perfetto then takes
 * nothing of two machines for the same: neither processes nor processors, nor numbers of sequences,
 * tracks and names.
 *
 * All times in a trace are CLOCK_REALTIME, which Perfetto takes to be the same clock on all
 * machines. The clock of the events may differ from it, because it never goes back. So the times of
 * a machine are moved by the difference at its first event, which leaves all durations as they are.
 */
#ifndef POSIXTRACE_PERFETTO_MACHINE_H
#define POSIXTRACE_PERFETTO_MACHINE_H

#include <stdint.h>

#include "event/source.h"
#include "export/perfetto_packets.h"
#include "util/buffer.h"

/**
 * machine_shift() - get what must be added to times of a host to get CLOCK_REALTIME
 * @event: the first event of the host
 *
 * Return: the difference in ns; 0 if the log has no pairs of clocks.
 */
int64_t machine_shift(const struct event *event);

/**
 * machine_put() - write the name and the kernel of the machine, and its pairs of clocks
 * @packets: packets of the machine, before packets_begin()
 * @event: the first event of the host
 *
 * Perfetto assumes that CLOCK_BOOTTIME is the clock of the trace if it has to convert a time before
 * it knows a pair.
 *
 * Return: 0 or a negative error number.
 */
int machine_put(struct packets *packets, const struct event *event);

/**
 * machine_stamp() - append packets with the id of their machine
 * @packets: whole packets
 * @id: the id; 0: append the packets without an id
 * @to: where to append them
 */
void machine_stamp(const struct buffer *packets, uint32_t id, struct buffer *to);

#endif /* POSIXTRACE_PERFETTO_MACHINE_H */
