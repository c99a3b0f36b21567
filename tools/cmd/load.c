// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace load" and "unload": insert and remove the module with libkmod. This does what
 * modprobe does for a module without dependencies, but runs no other programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libkmod.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "session/module.h"
#include "session/policy.h"
#include "util/message.h"

struct load {
	const char *file;
	char *parameters;
};

/* ------------------------------------------------------------------ */
/* Error messages							*/

static const char *kernel_release(void)
{
	static struct utsname name;

	return uname(&name) ? "" : name.release;
}

/* Searches a one-line file, such as a sysctl or lockdown ("[none] integrity"). */
static bool file_has(const char *path, const char *what)
{
	FILE *file = fopen(path, "re");
	char line[128] = "";
	bool has;

	if (!file)
		return false;
	has = fgets(line, sizeof(line), file) && strstr(line, what);
	fclose(file);
	return has;
}

static bool locked_down(void)
{
	const char *path = "/sys/kernel/security/lockdown";

	return file_has(path, "[integrity]") || file_has(path, "[confidentiality]");
}

static bool no_more_modules(void)
{
	return file_has("/proc/sys/kernel/modules_disabled", "1");
}

/* Checks for CAP_SYS_MODULE, which is bit 16. */
static bool may_load(void)
{
	unsigned long long capabilities = 0;
	FILE *file = fopen("/proc/self/status", "re");
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "CapEff: %llx", &capabilities) == 1)
			break;
	}
	if (file)
		fclose(file);
	return capabilities & (1 << 16);
}

static void complain_of_permission(const char *what)
{
	if (!may_load())
		tell("%s: permission denied; run it as root (CAP_SYS_MODULE)", what);
	else if (no_more_modules())
		tell("%s: sysctl kernel.modules_disabled is set; reboot to clear it", what);
	else if (locked_down())
		tell("%s: the kernel is locked down (Secure Boot); sign the module", what);
	else
		complain(what, EPERM);
}

static void complain_of_missing(void)
{
	tell("load: no module for this kernel, %s, in /lib/modules", kernel_release());
	tell("run \"make install\" in the sources, or install the DKMS package");
}

/* Explains why the kernel refused the module. */
static void complain_of_insert(const char *path, int err)
{
	switch (err) {
	case EPERM:
		complain_of_permission("load");
		break;
	case EKEYREJECTED:
	case ENOKEY:
	case EBADMSG:
		tell("load: %s: the kernel does not trust the signature", path);
		tell("with Secure Boot, sign it with a key that the kernel knows (see mokutil(1))");
		break;
	case ENOEXEC:
		tell("load: %s: not a module for this kernel, %s; see dmesg", path,
		     kernel_release());
		break;
	case ENOENT:
		tell("load: %s: needs symbols that this kernel, %s, lacks; see dmesg", path,
		     kernel_release());
		break;
	case EINVAL:
		tell("load: %s: the kernel refused the module or a parameter; see dmesg", path);
		break;
	default:
		complain("load", err);
	}
}

/* ------------------------------------------------------------------ */
/* Loading								*/

static struct kmod_module *find_module(struct kmod_ctx *ctx, const char *file)
{
	struct kmod_module *module;
	int err;

	if (!file) {
		module = module_installed(ctx);
		if (!module)
			complain_of_missing();
		return module;
	}
	if (access(file, R_OK)) {
		complain(file, errno);
		return NULL;
	}
	err = kmod_module_new_from_path(ctx, file, &module);
	if (err < 0) {
		complain(file, -err);
		return NULL;
	}
	if (strcmp(kmod_module_get_name(module), MODULE_NAME)) {
		tell("load: %s: the file must be called %s.ko", file, MODULE_NAME);
		kmod_module_unref(module);
		return NULL;
	}
	return module;
}

static int add_parameter(struct load *arg, const char *name, const char *value)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s=%s", arg->parameters ?: "", arg->parameters ? " " : "",
		     name, value) < 0)
		return -ENOMEM;
	free(arg->parameters);
	arg->parameters = longer;
	return 0;
}

/* Checks if the options set the parameter. */
static bool has_parameter(const char *options, const char *name)
{
	const char *at = options;
	size_t len = strlen(name);

	while (at && (at = strstr(at, name))) {
		if ((at == options || at[-1] == ' ') && at[len] == '=')
			return true;
		at += len;
	}
	return false;
}

/* Adds a parameter, unless the command line or a file in modprobe.d already sets it. */
static int add_derived(struct load *arg, struct kmod_module *module, const char *name,
		       const char *value)
{
	if (!value || has_parameter(arg->parameters, name) ||
	    has_parameter(kmod_module_get_options(module), name))
		return 0;
	return add_parameter(arg, name, value);
}

static int load_module(struct kmod_ctx *ctx, struct load *arg)
{
	struct kmod_module *module;
	int err;

	if (module_present(ctx)) {
		if (arg->parameters) {
			tell("load: the module is already loaded, and keeps its parameters");
			tell("run \"posixtrace unload\" first to change them");
			return 1;
		}
		return 0;
	}
	module = find_module(ctx, arg->file);
	if (!module)
		return 1;
	err = add_derived(arg, module, "trace_scope", policy_trace_scope());
	if (!err)
		err = add_derived(arg, module, "kernel_classes", policy_kernel_classes());
	if (err) {
		complain("load", -err);
		kmod_module_unref(module);
		return 1;
	}
	/* Ignore commands in modprobe.d, but apply the options of the module. */
	err = kmod_module_probe_insert_module(module, KMOD_PROBE_IGNORE_COMMAND, arg->parameters,
					      NULL, NULL, NULL);
	/* Another process has inserted the module at the same time. */
	if (err == -EEXIST)
		err = 0;
	if (err)
		complain_of_insert(kmod_module_get_path(module), err < 0 ? -err : EINVAL);
	kmod_module_unref(module);
	return err ? 1 : 0;
}

/* ------------------------------------------------------------------ */
/* Unloading								*/

static int unload_module(struct kmod_ctx *ctx)
{
	struct kmod_module *module;
	int users, err = kmod_module_new_from_name(ctx, MODULE_NAME, &module);

	if (err < 0) {
		complain("unload", -err);
		return 1;
	}
	/* Fail if the module is in use, instead of waiting. */
	err = kmod_module_remove_module(module, O_NONBLOCK);
	users = kmod_module_get_refcnt(module);
	kmod_module_unref(module);
	switch (-err) {
	case 0:
	case ENOENT:
		return 0;
	case EPERM:
		complain_of_permission("unload");
		break;
	case EAGAIN:
		tell("unload: the module is in use (%d reference%s)", users, users == 1 ? "" : "s");
		tell("\"posixtrace list\" shows streams, and programs linked with the library");
		break;
	default:
		complain("unload", -err);
	}
	return 1;
}

/* ------------------------------------------------------------------ */
/* Options								*/

/*
 * Sets the module parameter with the same name as the option, with "_" for "-". Rejects a value
 * with a space, which would begin another parameter.
 */
static int call_parameter(void *target, const struct command_option *option, const char *value)
{
	char name[32];
	size_t len = strlen(option->name);

	if (!*value || strpbrk(value, " \t\n\"'")) {
		tell("--%s: must be a value without blanks and quotes (got \"%s\")", option->name,
		     value);
		return -EINVAL;
	}
	for (size_t i = 0; i <= len; i++)
		name[i] = option->name[i] == '-' ? '_' : option->name[i];
	return add_parameter(target, name, value);
}

/* Used for completion only: the module itself checks the value. */
static const struct option_choice scopes[] = {
	{ "0", 0 },
	{ "1", 1 },
	{ "2", 2 },
	{ "3", 3 },
	{ }
};

static const struct command_option load_options[] = {
	{ OPTION_CALL, 0, "device-mode", "MODE", "mode of /dev/posixtrace, octal (0666)",
	  .call = call_parameter },
	{ OPTION_TEXT, 0, "file", "FILE", "insert this file, not the installed module",
	  OPTION_TEXT_AT(struct load, file), .value = OPTION_FILE },
	{ OPTION_CALL, 0, "kernel-classes", "LIST",
	  "who may record kernel events, such as irq:user,sched:perfmon",
	  .call = call_parameter },
	{ OPTION_CALL, 0, "log-timeout", "SECONDS",
	  "end a log that makes no progress after its controller has ended (10)",
	  .call = call_parameter },
	{ OPTION_CALL, 0, "trace-scope", "SCOPE",
	  "0: trace processes of the same user; 1: descendants; 2: needs CAP_SYS_PTRACE; 3: itself",
	  .choices = scopes, .call = call_parameter },
	{ OPTION_CALL, 0, "user-streams", "MAX",
	  "streams that a user without CAP_SYS_RESOURCE may have (64)", .call = call_parameter },
	{ }
};

static int cmd_load(int argc, char **argv)
{
	struct load arg = { };
	struct kmod_ctx *ctx = NULL;
	int status = options_parse(&command_load, argc, argv, &arg);

	if (status == OPTIONS_OK && optind < argc)
		status = usage_error("load", "load: takes no argument (got \"%s\"); use --file",
				     argv[optind]);
	if (status == OPTIONS_OK) {
		ctx = module_context();
		status = ctx ? load_module(ctx, &arg) : 1;
	}
	if (ctx)
		kmod_unref(ctx);
	free(arg.parameters);
	return status;
}

static int cmd_unload(int argc, char **argv)
{
	int status = options_parse(&command_unload, argc, argv, NULL);
	struct kmod_ctx *ctx;

	if (status != OPTIONS_OK)
		return status;
	if (optind < argc)
		return usage_error("unload", "unload: takes no argument (got \"%s\")",
				   argv[optind]);
	ctx = module_context();
	if (!ctx)
		return 1;
	status = unload_module(ctx);
	kmod_unref(ctx);
	return status;
}

static const char *const load_usage[] = { "[OPTION]...", NULL };

const struct command command_load = {
	.name = "load",
	.summary = "insert the module into the kernel",
	.usage = load_usage,
	.about = "Insert the module posixtrace into the kernel, with its options from\n"
		 "/etc/modprobe.d.",
	.notes = "Unless an option or /etc/modprobe.d sets them, the trace scope is the value of\n"
		 "kernel.yama.ptrace_scope, and all users may record all classes if\n"
		 "kernel.perf_event_paranoid is -1.\n\n"
		 "Exit status: 0, also if the module is already loaded; 1 after a failure; 2 after\n"
		 "a usage error.",
	.operands = 0,
	.options = load_options,
	.run = cmd_load,
};

static const char *const unload_usage[] = { "", NULL };

const struct command command_unload = {
	.name = "unload",
	.summary = "remove the module from the kernel",
	.usage = unload_usage,
	.about = "Remove the module posixtrace from the kernel, unless it is in use.",
	.notes = "Exit status: 0, also if the module is not loaded; 1 after a failure; 2 after a\n"
		 "usage error.",
	.operands = 0,
	.options = NULL,
	.run = cmd_unload,
};
