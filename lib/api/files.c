// SPDX-License-Identifier: MIT
/*
 * Lists the open files of the traced processes.
 */
#include <posixtrace.h>
#include <string.h>

#include "common/sys.h"
#include "common/trid.h"

/* Number of rows that are converted at a time. */
#define BATCH	64

static void convert(const struct posixtrace_file *from, struct posixtrace_open_file *to)
{
	_Static_assert(sizeof(to->text) == sizeof(from->text), "one size of texts");
	*to = (struct posixtrace_open_file){
		.time = {
			.tv_sec = (time_t)(from->time / PXTU_NSEC_PER_SEC),
			.tv_nsec = (long)(from->time % PXTU_NSEC_PER_SEC),
		},
		.inode = from->inode,
		.pid = from->pid,
		.fd = from->fd,
		.kind = from->kind,
		.flags = from->flags,
	};
	memcpy(to->text, from->text, sizeof(to->text));
}

/**
 * posixtrace_get_files() - get the open descriptors of the traced processes
 * @trid: trace id of a stream or log
 * @files: result
 * @max_files: number of elements of @files, at least POSIXTRACE_FILES_MIN
 * @count: number of rows stored; 0 after the last one
 * @next: 0 for the first call; set for the next one
 *
 * An extension. For an active stream: the current descriptors. For a log: the descriptors each time
 * that recording started. Each row is correct for the time in it.
 *
 * Return: 0; EINVAL if @trid is not a trace stream or log of this process, a pointer is NULL or
 * @max_files is too small; ENOTSUP for a stream without class strings; for a log, also ENOMEM.
 */
PXTU_API int posixtrace_get_files(trace_id_t trid, struct posixtrace_open_file *files,
				  size_t max_files, size_t *count, unsigned long long *next)
{
	struct posixtrace_file batch[BATCH];
	size_t got = max_files < BATCH ? max_files : BATCH, i;
	struct pxtu_source *source;
	__u64 at;
	int err;

	if (!files || max_files < POSIXTRACE_FILES_MIN || !count || !next)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	at = *next;
	err = source->ops->get_files(source, batch, &got, &at);
	pxtu_trid_put(source);
	if (err)
		return pxtu_error(err);
	for (i = 0; i < got; i++)
		convert(&batch[i], &files[i]);
	*count = got;
	*next = at;
	return 0;
}
