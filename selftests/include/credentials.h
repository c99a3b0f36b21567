/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Users, capabilities and user namespaces, for tests of permissions. The test itself is
 * root; its children become any user in any namespace.
 */
#ifndef _SELFTESTS_CREDENTIALS_H
#define _SELFTESTS_CREDENTIALS_H

#include <linux/capability.h>

#include "process.h"

#define CAP_MASK(cap)	(1ULL << (cap))

/* Ids of the initial namespace: all namespaces here map each id to itself. */
struct ids {
	uid_t ruid;
	uid_t euid;
	uid_t suid;
};

/* From now on the process has exactly these capabilities; it must have them. */
int set_capabilities(unsigned long long mask);

/*
 * Root becomes another user with exactly these capabilities, in the user namespace of a
 * descriptor; -1 for its own.
 */
int become(const struct ids *ids, unsigned long long capabilities, int ns);

/* An ordinary user, who may inspect its own programs. */
int become_user(uid_t uid);

/* ------------------------------------------------------------------ */
/* User namespaces							*/

/* Returns a descriptor of a new user namespace in @parent (-1: this one), or negative errno. */
int user_ns_new(int parent, uid_t owner);

#endif /* _SELFTESTS_CREDENTIALS_H */
