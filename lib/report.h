/* SPDX-License-Identifier: MIT */
/* What the ways of reporting events share. */
#ifndef PXTU_REPORT_H
#define PXTU_REPORT_H

#include "common/record.h"

/**
 * pxtu_report() - tell the program of an event
 * @event: the event
 * @info: where to write what is known of it
 * @data: where to write its data
 * @room: bytes there; what does not fit is cut
 *
 * Return: bytes written to @data.
 */
size_t pxtu_report(const struct pxtu_event *event, struct posix_trace_event_info *info,
		   void *data, size_t room);

#endif /* PXTU_REPORT_H */
