// SPDX-License-Identifier: MIT
/*
 * Reports an event to the program.
 */
#include <string.h>
#include <time.h>

#include "api/report.h"

#define NSEC_PER_SEC	1000000000ULL

size_t pxtu_report(const struct pxtu_event *event, struct posix_trace_event_info *info,
		   void *data, size_t room)
{
	/* Not memset() of all of it: gcc makes that a string instruction, which is slow here. */
	info->__reserved1 = 0;
	memset(info->__reserved2, 0, sizeof(info->__reserved2));
	info->posix_event_id = event->id;
	info->posix_pid = event->pid;
	info->posix_prog_address = (void *)(uintptr_t)event->prog_address;
	info->posix_thread_id = (pthread_t)event->thread_id;
	info->posix_timestamp.tv_sec = (time_t)(event->timestamp / NSEC_PER_SEC);
	info->posix_timestamp.tv_nsec = (long)(event->timestamp % NSEC_PER_SEC);
	info->posix_truncation_status = event->truncated ?
		POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	return pxtu_report_data(info, data, room, event->data, event->data_len);
}
