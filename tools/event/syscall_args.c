// SPDX-License-Identifier: GPL-2.0
/*
 * The arguments of system calls: see syscall_args.h. The kernel headers do not have the names of
 * all arguments. scripts/syscall-args therefore generates the list from events/syscalls in the
 * tracefs of several kernels.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "event/syscall_args.h"

/* The known system calls, sorted by name. */
static const struct syscall_args known[] = {
#include "event/syscall_args.inc"
};

struct key {
	const char *name;
	size_t len;
};

static int compare(const void *a, const void *b)
{
	const struct syscall_args *call = b;
	const struct key *key = a;
	int ret = strncmp(key->name, call->name, key->len);

	return ret || !call->name[key->len] ? ret : -1;
}

#define CALLS	64

/*
 * Finds a system call. Programs make few different calls, so the last results are cached. Two calls
 * may share a place in the cache.
 */
const struct syscall_args *syscall_args_find(const char *name, size_t len)
{
	static _Thread_local const struct syscall_args *cache[CALLS];
	const struct syscall_args **found;
	const struct key key = { name, len };
	size_t hash;

	if (!len)
		return NULL;
	hash = (unsigned char)name[0] + (unsigned char)name[len - 1] * 3U + len * 7;
	found = &cache[hash % CALLS];
	if (!*found || compare(&key, *found))
		*found = bsearch(&key, known, sizeof(known) / sizeof(known[0]), sizeof(known[0]),
				 compare);
	return *found;
}

bool syscall_args_next(const char **at, struct syscall_arg *arg)
{
	const char *text = *at;

	if (!*text)
		return false;
	arg->type = (unsigned char)text[0];
	arg->name = text + 2;
	arg->name_len = (int)strcspn(arg->name, " ");
	*at = arg->name + arg->name_len;
	*at += **at == ' ';
	return true;
}
