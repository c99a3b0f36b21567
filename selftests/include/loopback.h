/* SPDX-License-Identifier: GPL-2.0 */
/* The network device of the guest itself. */
#ifndef _SELFTESTS_LOOPBACK_H
#define _SELFTESTS_LOOPBACK_H

/* Sockets find one another by the loopback device. Returns 0 or negative errno. */
int loopback_up(void);

/*
 * Two connected TCP sockets; @ends[1] stands for the one that writes a log. Returns 0 or negative
 * errno.
 */
int loopback_pair(int ends[2]);

#endif /* _SELFTESTS_LOOPBACK_H */
