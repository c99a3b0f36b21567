// SPDX-License-Identifier: MIT
/*
 * The file of a log, and its header. A bad header is refused when the log is opened; after
 * that, the numbers in struct pxtu_log_head are valid bounds.
 */
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "common/sys.h"
#include "log/crc32c.h"
#include "log/log.h"
#include "log/loghead.h"

#define HEADER_MAX	4096U

/* Note an error of this process. All other errors come from the file, such as a bad sector. */
static void note_error(struct pxtu_log *log, int err)
{
	if (!log->error && (err == -ENOMEM || err == -EFAULT))
		log->error = err;
}

int pxtu_log_failed(struct pxtu_log *log)
{
	int err = log->error;

	log->error = 0;
	return err;
}

ssize_t pxtu_log_read(struct pxtu_log *log, void *to, size_t len, __u64 offset)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pxtu_pread(log->fd, (char *)to + done, len - done, offset + done);
		if (n < 0) {
			note_error(log, (int)n);
			return n;
		}
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

bool pxtu_log_reaches(struct pxtu_log *log, __u64 end)
{
	int saved_errno = errno;
	struct stat64 stat;

	if (end <= log->size)
		return true;
	log->size = 0;
	if (fstat64(log->fd, &stat)) {
		note_error(log, -errno);
		log->foreign = !log->error;
	} else {
		log->foreign = stat.st_dev != log->dev || stat.st_ino != log->ino;
		if (!log->foreign && stat.st_size > 0)
			log->size = (__u64)stat.st_size;
	}
	errno = saved_errno;
	return end <= log->size;
}

static bool aligned(__u64 number)
{
	return number % POSIXTRACE_LOG_ALIGN == 0;
}

/* Is this the header of a log that this version can read? */
static bool is_log(const struct posixtrace_log_header *header)
{
	return !memcmp(header->magic, POSIXTRACE_LOG_MAGIC, sizeof(header->magic)) &&
	       header->order == POSIXTRACE_LOG_ORDER &&
	       header->version == POSIXTRACE_LOG_VERSION &&
	       header->size >= sizeof(*header) && header->size <= HEADER_MAX &&
	       aligned(header->size);
}

static bool attr_valid(const struct posixtrace_attr *attr)
{
	return attr->inherited <= POSIXTRACE_INHERITED &&
	       attr->stream_policy <= POSIXTRACE_POLICY_FLUSH &&
	       attr->log_policy <= POSIXTRACE_POLICY_APPEND &&
	       attr->log_policy != POSIXTRACE_POLICY_FLUSH &&
	       attr->max_data_size <= POSIXTRACE_DATA_SIZE_MAX;
}

/* Check an area of a log, so that later calculations with offsets do not overflow. */
static bool area_valid(const struct posixtrace_log_header *header, __u64 offset, __u64 size)
{
	return aligned(offset) && offset >= header->size && offset < INT64_MAX / 2 &&
	       size < INT64_MAX / 2;
}

static bool layout_valid(const struct posixtrace_log_header *header)
{
	if (header->block_size < sizeof(struct posixtrace_log_block) ||
	    header->block_size > PXTU_LOG_BLOCK_MAX || !aligned(header->block_size) ||
	    header->subbuf_size < POSIXTRACE_SUBBUF_SIZE_MIN ||
	    header->subbuf_size > POSIXTRACE_SUBBUF_SIZE_MAX || !aligned(header->subbuf_size) ||
	    !header->nr_cpus || header->nr_cpus >= POSIXTRACE_LOG_CPUS_MAX ||
	    !area_valid(header, header->data_offset, header->ring_size))
		return false;
	if (header->attr.log_policy != POSIXTRACE_POLICY_LOOP)
		return !header->ring_size;
	return header->ring_size >= header->block_size && aligned(header->ring_size) &&
	       area_valid(header, header->names_offset, 0) &&
	       aligned(header->metadata_offset) && header->metadata_offset >= header->size &&
	       header->metadata_offset < INT64_MAX &&
	       area_valid(header, header->end_offset, 0);
}

static void set_head(struct pxtu_log_head *head, const struct posixtrace_log_header *header)
{
	const __u32 names = POSIXTRACE_ID_MAX * sizeof(struct posixtrace_log_name);

	*head = (struct pxtu_log_head){
		.cookie = header->cookie,
		.series = header->series,
		.part = header->part,
		.begin = header->data_offset,
		.block_size = header->block_size,
		.payload_max = header->subbuf_size > names ? header->subbuf_size : names,
		.subbuf_size = header->subbuf_size,
		.nr_cpus = header->nr_cpus,
		.max_data = (__u32)header->attr.max_data_size,
		.loop = header->attr.stream_policy == POSIXTRACE_POLICY_LOOP,
		.attr = header->attr,
	};
	if (header->ring_size) {
		head->ring_end = header->data_offset + header->ring_size;
		head->names = header->names_offset;
		head->end = header->end_offset;
		head->metadata = header->metadata_offset;
	}
}

int pxtu_log_head_read(struct pxtu_log *log)
{
	unsigned char raw[HEADER_MAX];
	struct posixtrace_log_header header;
	static const __u32 zero;
	ssize_t n;
	__u32 crc;

	n = pxtu_log_read(log, raw, sizeof(raw), 0);
	if (n < 0)
		return (int)n;
	if ((size_t)n < sizeof(header))
		return -EINVAL;
	memcpy(&header, raw, sizeof(header));
	if (!is_log(&header) || (size_t)n < header.size)
		return -EINVAL;
	crc = header.crc;
	memcpy(raw + offsetof(struct posixtrace_log_header, crc), &zero, sizeof(zero));
	if (pxtu_crc32c(0, raw, header.size) != crc)
		return -EINVAL;
	if (!attr_valid(&header.attr) || !layout_valid(&header))
		return -EINVAL;
	set_head(&log->head, &header);
	return 0;
}
