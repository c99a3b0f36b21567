/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Removing and inserting the module, for tests that may: in a guest, where the file is.
 */
#ifndef _SELFTESTS_MODULE_H
#define _SELFTESTS_MODULE_H

#define MODULE_FILE	"/run/vm/posixtrace.ko"

int module_refcount(void);

/* Never waits. Returns 0 or negative errno. */
int module_unload(void);

int module_load(void);

#endif /* _SELFTESTS_MODULE_H */
