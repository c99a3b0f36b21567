// SPDX-License-Identifier: GPL-2.0
/*
 * Checks if several logs can be read as one: see logs_fit.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "event/logs_fit.h"
#include "util/message.h"

typedef unsigned char boot_id[16];

/* Gets the boot in which a log was recorded. */
static bool get_boot(const struct reader *reader, boot_id boot)
{
	static const boot_id unknown;
	struct posixtrace_host_info host;

	if (posixtrace_get_host(reader_trid(reader), &host))
		return false;
	memcpy(boot, host.boot_id, sizeof(boot_id));
	return memcmp(boot, unknown, sizeof(unknown)) != 0;
}

/* Checks that no two logs are copies of the same log: only copies have the same random cookie. */
static int check_cookies(struct reader *const *readers, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (reader_cookie(readers[i]) != reader_cookie(readers[j]))
				continue;
			tell("%s: the same log as %s: name each log once", reader_path(readers[i]),
			     reader_path(readers[j]));
			return -ECANCELED;
		}
	}
	return 0;
}

int logs_fit(struct reader *const *readers, size_t count)
{
	boot_id first, boot;

	for (size_t i = 0; i < count; i++) {
		if (!get_boot(readers[i], i ? boot : first)) {
			tell("%s: unknown boot id, so it cannot be read with other logs",
			     reader_path(readers[i]));
			return -ECANCELED;
		}
		if (i && memcmp(first, boot, sizeof(boot)) != 0) {
			tell("%s: another boot or machine than %s, so times cannot be compared",
			     reader_path(readers[i]), reader_path(readers[0]));
			return -ECANCELED;
		}
	}
	return check_cookies(readers, count);
}
