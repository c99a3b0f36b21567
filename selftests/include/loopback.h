/* SPDX-License-Identifier: GPL-2.0 */
/* The loopback network device of the guest. */
#ifndef _SELFTESTS_LOOPBACK_H
#define _SELFTESTS_LOOPBACK_H

/* Switches the device on, so that sockets can use it. Returns 0 or negative errno. */
int loopback_up(void);

/* Connects two TCP sockets; @ends[1] is for the writer of a log. Returns 0 or negative errno. */
int loopback_pair(int ends[2]);

#endif /* _SELFTESTS_LOOPBACK_H */
