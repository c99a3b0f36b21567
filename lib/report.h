/* SPDX-License-Identifier: MIT */
/* Reporting of an event to the program. */
#ifndef PXTU_REPORT_H
#define PXTU_REPORT_H

#include "common/record.h"

/**
 * pxtu_report() - report an event to the program
 * @event: the event
 * @info: where to write its fields
 * @data: where to write its data
 * @room: bytes there; data that does not fit is truncated
 *
 * Return: bytes written to @data.
 */
size_t pxtu_report(const struct pxtu_event *event, struct posix_trace_event_info *info,
		   void *data, size_t room);

#endif /* PXTU_REPORT_H */
