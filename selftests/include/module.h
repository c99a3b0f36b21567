/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Removes and inserts the module, for tests that may do so: in a guest, which has the file.
 */
#ifndef _SELFTESTS_MODULE_H
#define _SELFTESTS_MODULE_H

#define MODULE_FILE	"/run/vm/posixtrace.ko"

int module_refcount(void);

/* Removes the module; fails if it is in use. Returns 0 or negative errno. */
int module_unload(void);

int module_load(void);

#endif /* _SELFTESTS_MODULE_H */
