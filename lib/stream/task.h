/* SPDX-License-Identifier: MIT */
/* Operations of a stream as a source: its threads and processes, and the host. */
#ifndef PXTU_TASK_H
#define PXTU_TASK_H

#include "stream/stream.h"

int pxtu_stream_get_task(struct pxtu_source *source, const struct pxtu_task *task, char *name);
int pxtu_stream_get_life(struct pxtu_source *source, const struct pxtu_task *task,
			 struct pxtu_life *life);
int pxtu_stream_get_program(struct pxtu_source *source, const struct pxtu_task *task,
			    struct pxtu_text *text);
int pxtu_stream_get_mapping(struct pxtu_source *source, const struct pxtu_task *task,
			    __u64 address, struct posixtrace_mapping_info *info);
int pxtu_stream_get_host(struct pxtu_source *source, struct posixtrace_host_info *info);

#endif /* PXTU_TASK_H */
