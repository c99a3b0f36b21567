/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module as libkmod knows it.
 */
#ifndef POSIXTRACE_MODULE_H
#define POSIXTRACE_MODULE_H

#include <stdbool.h>

struct kmod_ctx;
struct kmod_module;

#define MODULE_NAME	"posixtrace"

/* module_context() - a context that says nothing by itself; NULL after a complaint */
struct kmod_ctx *module_context(void);

/* module_installed() - the module for this kernel: a reference, or NULL */
struct kmod_module *module_installed(struct kmod_ctx *ctx);

/* module_present() - is it in the kernel? */
bool module_present(struct kmod_ctx *ctx);

#endif /* POSIXTRACE_MODULE_H */
