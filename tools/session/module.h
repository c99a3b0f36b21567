/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Access to the module through libkmod.
 */
#ifndef POSIXTRACE_MODULE_H
#define POSIXTRACE_MODULE_H

#include <stdbool.h>

struct kmod_ctx;
struct kmod_module;

#define MODULE_NAME	"posixtrace"

/* module_context() - create a context without libkmod's messages; NULL after printing an error */
struct kmod_ctx *module_context(void);

/* module_installed() - get a reference to the module installed for this kernel, or NULL */
struct kmod_module *module_installed(struct kmod_ctx *ctx);

/* module_present() - check if the module is in the kernel */
bool module_present(struct kmod_ctx *ctx);

#endif /* POSIXTRACE_MODULE_H */
