/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks that all functions reject a trace id.
 */
#ifndef _SELFTESTS_BADTRID_H
#define _SELFTESTS_BADTRID_H

#include "trace_test.h"

/*
 * Calls each function with @trid, shutdown last. Returns the name of the first one that
 * does not fail with EINVAL, or "".
 */
const char *accepts(trace_id_t trid);

#endif /* _SELFTESTS_BADTRID_H */
