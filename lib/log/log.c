// SPDX-License-Identifier: MIT
/*
 * The lifetime of a log that is open for reading. log.h lists the files that read it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/sys.h"
#include "log/log.h"
#include "log/loghead.h"
#include "log/logbrief.h"
#include "log/logindex.h"
#include "log/logmarks.h"
#include "log/logsurvey.h"
#include "log/logwalk.h"

/* Check that the descriptor is open for reading, and that its file supports pread(). */
static int check_descriptor(int fd, struct pxtu_log *log)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat64 stat;

	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_WRONLY)
		return -EBADF;
	if (fstat64(fd, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -EINVAL;
	log->dev = stat.st_dev;
	log->ino = stat.st_ino;
	return 0;
}

/* Close our descriptor, unless the program has closed it and opened another file. */
static void close_ours(const struct pxtu_log *log)
{
	struct stat64 stat;

	if (!fstat64(log->fd, &stat) && stat.st_dev == log->dev && stat.st_ino == log->ino)
		pxtu_close(log->fd);
}

static void free_log(struct pxtu_log *log)
{
	pxtu_index_destroy(log);
	pxtu_call_names_destroy(&log->call_names);
	free(log->survey.names);
	free(log->survey.described);
	free(log->survey.marks.mark);
	free(log->survey.tasks.task);
	free(log->survey.tasks.program);
	free(log->survey.tasks.mapping);
	free(log->survey.clocks.pair);
	pxtu_log_free_rows(log);
	free(log->data);
	free(log->scratch);
	free(log->piece);
	free(log);
}

int pxtu_log_rewind(struct pxtu_log *log)
{
	int err;

	log->sought = false;
	/* Survey the log again: its writer may have overwritten the oldest event. */
	err = log->survey.brief ? 0 : pxtu_log_survey(log);
	if (err)
		return err;
	pxtu_index_start(log);
	return pxtu_log_failed(log);
}

int pxtu_log_seek(struct pxtu_log *log, __u64 time)
{
	int err = pxtu_log_rewind(log);

	if (err)
		return err;
	log->sought = true;
	pxtu_index_seek(log, time);
	return pxtu_log_failed(log);
}

static int read_log(struct pxtu_log *log)
{
	int err = pxtu_log_head_read(log);

	if (err)
		return err;
	log->scratch = malloc(PXTU_LOG_SCRATCH);
	log->data = malloc(pxtu_record_room(log->head.max_data));
	if (!log->scratch || !log->data)
		return -ENOMEM;
	err = pxtu_index_init(log);
	if (err)
		return err;
	err = pxtu_log_survey_briefly(log);
	if (err)
		return err;
	pxtu_log_walk_start(log, &log->survey.start);
	log->survey.walk = log->survey.start;
	err = pxtu_log_failed(log);
	return err ? err : pxtu_log_rewind(log);
}

int pxtu_log_open(int fd, struct pxtu_log **opened)
{
	struct pxtu_log *log = calloc(1, sizeof(*log));
	int err;

	if (!log)
		return -ENOMEM;
	pxtu_source_init(&log->source, &pxtu_log_ops, true);
	err = check_descriptor(fd, log);
	if (err)
		goto free;
	/* Do not use the number of a standard stream, which the program may reopen by number. */
	log->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	err = -errno;
	if (log->fd < 0)
		goto free;
	err = read_log(log);
	if (err)
		goto close_fd;
	*opened = log;
	return 0;

close_fd:
	close_ours(log);
free:
	free_log(log);
	return err;
}

void pxtu_log_close(struct pxtu_log *log)
{
	close_ours(log);
	free_log(log);
}
