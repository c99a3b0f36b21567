// SPDX-License-Identifier: GPL-2.0
/*
 * Checks if several logs can be read as one: see logs_fit.h.
 */
#include <errno.h>

#include "event/logs_fit.h"
#include "util/message.h"

/* Only copies of a log have the same random cookie. */
int logs_fit(struct reader *const *readers, size_t count)
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
