// SPDX-License-Identifier: GPL-2.0
/*
 * Access to the module through libkmod: see module.h.
 */
#include <errno.h>
#include <libkmod.h>
#include <stdarg.h>
#include <stddef.h>

#include "session/module.h"
#include "util/message.h"

static void no_messages(void *data, int priority, const char *file, int line, const char *fn,
			const char *format, va_list args)
{
	(void)data, (void)priority, (void)file, (void)line, (void)fn, (void)format, (void)args;
}

struct kmod_ctx *module_context(void)
{
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);

	/* Silence libkmod, because this command prints its errors itself. */
	if (ctx)
		kmod_set_log_fn(ctx, no_messages, NULL);
	else
		complain("libkmod", ENOMEM);
	return ctx;
}

struct kmod_module *module_installed(struct kmod_ctx *ctx)
{
	struct kmod_module *module;

	if (kmod_module_new_from_name(ctx, MODULE_NAME, &module) < 0)
		return NULL;
	/* libkmod finds the path in depmod's index. Without a path, the module is not installed. */
	if (!kmod_module_get_path(module)) {
		kmod_module_unref(module);
		return NULL;
	}
	return module;
}

bool module_present(struct kmod_ctx *ctx)
{
	struct kmod_module *module;
	int state = -1;

	if (kmod_module_new_from_name(ctx, MODULE_NAME, &module) >= 0) {
		state = kmod_module_get_initstate(module);
		kmod_module_unref(module);
	}
	return state == KMOD_MODULE_LIVE || state == KMOD_MODULE_COMING ||
	       state == KMOD_MODULE_GOING || state == KMOD_MODULE_BUILTIN;
}
