/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Users, capabilities and user namespaces, for tests of permissions. The test itself runs as root.
 * Its children become any user in any namespace.
 */
#ifndef _SELFTESTS_CREDENTIALS_H
#define _SELFTESTS_CREDENTIALS_H

#include <linux/capability.h>

#include "process.h"

#define CAP_MASK(cap)	(1ULL << (cap))

/* Ids in the initial namespace. All user namespaces in these tests map each id to itself. */
struct ids {
	uid_t ruid;
	uid_t euid;
	uid_t suid;
};

/* Sets exactly these capabilities; the process must have them. */
int set_capabilities(unsigned long long mask);

/*
 * Changes from root to another user with exactly these capabilities, in the user namespace of a
 * descriptor; -1: the current one.
 */
int become(const struct ids *ids, unsigned long long capabilities, int ns);

/* Becomes an ordinary user who may inspect its own programs. */
int become_user(uid_t uid);

/* ------------------------------------------------------------------ */
/* User namespaces							*/

/*
 * Creates a user namespace in @parent (-1: the current one). Returns a descriptor of it, or
 * negative errno.
 */
int user_ns_new(int parent, uid_t owner);

#endif /* _SELFTESTS_CREDENTIALS_H */
