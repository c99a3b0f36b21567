// SPDX-License-Identifier: GPL-2.0
/* Files at descriptor numbers that the library had used. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "foreign.h"

#define FOREIGN_TEXT	"not the library's"
#define FOREIGN_OFFSET	4

int foreign_open(struct foreign *file, enum foreign_kind kind, pid_t pid)
{
	struct posixtrace_origin origin = { .prog_address = 0 };
	struct posixtrace_attach attach = { .flags = 0 };
	int pair[2] = { -1, -1 }, err = 0;

	*file = (struct foreign){ .kind = kind, .fd = -1, .peer = -1 };
	switch (kind) {
	case FOREIGN_NONE:
		return 0;
	case FOREIGN_FILE:
		pair[0] = memfd_create("foreign", MFD_CLOEXEC);
		break;
	case FOREIGN_PIPE:
		err = pipe2(pair, O_CLOEXEC);
		break;
	case FOREIGN_SOCKET:
		err = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
		break;
	default:
		pair[0] = device_open();
		break;
	}
	file->fd = pair[0];
	file->peer = pair[1];
	if (err || file->fd < 0 || fstat(file->fd, &file->stat))
		return -1;

	switch (kind) {
	case FOREIGN_FILE:
		if (write(file->fd, FOREIGN_TEXT, sizeof(FOREIGN_TEXT)) != sizeof(FOREIGN_TEXT) ||
		    lseek(file->fd, FOREIGN_OFFSET, SEEK_SET) != FOREIGN_OFFSET)
			return -1;
		return 0;
	case FOREIGN_PIPE:
	case FOREIGN_SOCKET:
		return write(file->peer, FOREIGN_TEXT, sizeof(FOREIGN_TEXT)) < 0 ? -1 : 0;
	case FOREIGN_TARGET:
		return command(file->fd, POSIXTRACE_IOC_ATTACH, &attach);
	case FOREIGN_STREAM:
	case FOREIGN_DEAD_STREAM:
		create_init(&file->create, pid);
		err = command(file->fd, POSIXTRACE_IOC_CREATE, &file->create);
		if (!err)
			err = command(file->fd, POSIXTRACE_IOC_START, &origin);
		if (!err && kind == FOREIGN_DEAD_STREAM)
			err = command(file->fd, POSIXTRACE_IOC_SHUTDOWN, NULL);
		return err;
	default:
		return 0;
	}
}

int foreign_place(struct foreign *file, enum foreign_kind kind, int number, pid_t pid)
{
	int below[256], count = 0, err, fd;

	close(number);
	while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) < number) {
		if (fd < 0 || count == 256)
			return -1;
		below[count++] = fd;
	}
	close(fd);
	err = fd == number ? foreign_open(file, kind, pid) : -1;
	while (count--)
		close(below[count]);
	return err ? err : kind != FOREIGN_NONE && file->fd != number ? -1 : 0;
}

/* Checks the list of types and the state of a stream on another process. */
static const char *foreign_check_stream(const struct foreign *file)
{
	__u32 ids[16];
	struct posixtrace_event_types types = { .ids = (uintptr_t)ids, .count = 16 };
	struct posixtrace_info info;
	struct posixtrace_checked checked = {
		.stream = file->create.stream,
		.arg = (uintptr_t)&info,
		.cmd = POSIXTRACE_IOC_INFO,
	};
	struct posixtrace_status status;
	int ret = command(file->fd, POSIXTRACE_IOC_GET_STATUS, &status);

	if (command(file->fd, POSIXTRACE_IOC_CHECKED, &checked))
		return "another stream";
	if (file->kind == FOREIGN_DEAD_STREAM)
		return ret == -ESHUTDOWN ? "" : "no longer dead";
	if (ret)
		return "stream shut down";
	if (!(status.flags & POSIXTRACE_STATUS_RUNNING))
		return "stream stopped";
	if (command(file->fd, POSIXTRACE_IOC_EVENT_TYPES, &types))
		return "no list of types";
	return types.count == 9 ? "" : "event type opened in another process";
}

static const char *foreign_check_content(const struct foreign *file)
{
	struct posixtrace_slot slots[POSIXTRACE_SLOTS_MAX];
	struct posixtrace_sync sync = { .slots = (uintptr_t)slots };
	char text[sizeof(FOREIGN_TEXT)] = "";

	switch (file->kind) {
	case FOREIGN_FILE:
		if (lseek(file->fd, 0, SEEK_CUR) != FOREIGN_OFFSET)
			return "moved";
		if (pread(file->fd, text, sizeof(text), 0) != sizeof(text) ||
		    strcmp(text, FOREIGN_TEXT))
			return "other content";
		if (pwrite(file->fd, text, sizeof(text), 0) != sizeof(text))
			return "not writable";
		return "";
	case FOREIGN_PIPE:
	case FOREIGN_SOCKET:
		if (read(file->fd, text, sizeof(text)) != sizeof(text) ||
		    strcmp(text, FOREIGN_TEXT))
			return "other content";
		/* Put the text back into the pipe for the next check. */
		return write(file->peer, text, sizeof(text)) == sizeof(text) ? "" : "broken";
	case FOREIGN_DEVICE:
		return command(file->fd, POSIXTRACE_IOC_SYNC, &sync) == -EINVAL &&
		       command(file->fd, POSIXTRACE_IOC_CLEAR, NULL) == -EINVAL ? "" : "has a role";
	case FOREIGN_TARGET:
		return command(file->fd, POSIXTRACE_IOC_SYNC, &sync) ? "no target" : "";
	default:
		return foreign_check_stream(file);
	}
}

const char *foreign_check(const struct foreign *file)
{
	struct stat stat;

	if (file->kind == FOREIGN_NONE)
		return "";
	if (fstat(file->fd, &stat))
		return "closed";
	if (stat.st_dev != file->stat.st_dev || stat.st_ino != file->stat.st_ino ||
	    stat.st_mode != file->stat.st_mode)
		return "another file";
	return foreign_check_content(file);
}

void foreign_close(struct foreign *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->peer >= 0)
		close(file->peer);
}

int count_device_fds(int *first)
{
	DIR *dir = opendir("/proc/self/fd");
	char target[64];
	int count = 0;
	struct dirent *entry;
	ssize_t len;

	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		if (strcmp(target, DEVICE))
			continue;
		if (!count++ && first)
			*first = atoi(entry->d_name);
	}
	closedir(dir);
	return count;
}

int count_device_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	int count = 0;

	if (!maps)
		return -1;
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, DEVICE) || strstr(line, "anon_inode:[posixtrace]");
	fclose(maps);
	return count;
}
