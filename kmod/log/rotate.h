/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_ROTATE_H
#define PXT_ROTATE_H

#include <linux/posixtrace_log.h>

#include "log/logfile.h"

struct pxt_log;
struct pxt_stream;

/**
 * enum pxt_rotation_phase - progress of a ROTATE
 * @PXT_ROTATION_NEW: requested
 * @PXT_ROTATION_FLUSHING: the header of the next log is written, and the last flush of the old log
 *	has begun
 * @PXT_ROTATION_ENDING: the index or the end of the old log may be written in part: no event may
 *	follow
 * @PXT_ROTATION_ENDED: the old log has its end, apart from the rest of a partial write
 */
enum pxt_rotation_phase {
	PXT_ROTATION_NEW,
	PXT_ROTATION_FLUSHING,
	PXT_ROTATION_ENDING,
	PXT_ROTATION_ENDED,
};

/**
 * struct pxt_rotation - a ROTATE in progress
 * @file: the next file; after pxt_log_switch() the old one; used by the serving task
 * @header: header of the next log; used by the serving task
 * @phase: used by the serving task
 * @end_error: error number with which the old log ended, or 0; set before @done
 * @error: negative errno if the old log is still in use, or 0; set before @done
 * @awaited: the caller of ROTATE waits, and will free this; guarded by pxt_log.lock
 * @done: the serving task no longer uses this; written under pxt_log.lock with release; read under
 *	the lock, or with acquire
 */
struct pxt_rotation {
	struct pxt_logfile file;
	struct posixtrace_log_header header;
	enum pxt_rotation_phase phase;
	u32 end_error;
	int error;
	bool awaited;
	bool done;
};

int pxt_log_rotate(struct pxt_stream *stream, int fd, u32 *end_error);
void pxt_log_rotated(struct pxt_log *log, int error);
int pxt_log_prepare_next(struct pxt_log *log);
void pxt_log_switch(struct pxt_log *log);

#endif /* PXT_ROTATE_H */
