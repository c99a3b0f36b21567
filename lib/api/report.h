/* SPDX-License-Identifier: MIT */
/* Reports an event to the program. */
#ifndef PXTU_REPORT_H
#define PXTU_REPORT_H

#include <string.h>

#include "common/record.h"

/**
 * pxtu_report_data() - report the data of an event to the program
 * @info: the event; its truncation status is updated
 * @to: buffer for the data
 * @room: bytes there
 * @from: the data; the reader may have already copied it to @to
 * @len: bytes of data
 *
 * Return: bytes written to @to.
 */
static inline size_t pxtu_report_data(struct posix_trace_event_info *info, void *to, size_t room,
				      const void *from, size_t len)
{
	if (len > room) {
		len = room;
		info->posix_truncation_status = POSIX_TRACE_TRUNCATED_READ;
	}
	if (len && to != from)
		memcpy(to, from, len);
	return len;
}

#endif /* PXTU_REPORT_H */
