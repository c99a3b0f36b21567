// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace load" and "unload": insert and remove the module with libkmod. They do what modprobe
 * does for a module without dependencies, but start no program.
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

static void print_load_help(FILE *to)
{
	fprintf(to,
		"Usage: posixtrace load [OPTION]...\n"
		"Insert the module posixtrace into the kernel, with its options from\n"
		"/etc/modprobe.d.\n\n"
		"      --device-mode=MODE     mode of /dev/posixtrace, octal (0666)\n"
		"  -f, --file=FILE            insert this file, not the installed module\n"
		"  -h, --help                 print this help\n"
		"      --kernel-classes=LIST  who may record events of the kernel, such as\n"
		"                             irq:user,sched:perfmon\n"
		"      --log-timeout=SECONDS  give up a log without progress after its controller\n"
		"                             has ended (10)\n"
		"      --trace-scope=SCOPE    0: trace processes of the same user; 1: descendants;\n"
		"                             2: only with CAP_SYS_PTRACE; 3: only itself\n"
		"      --user-streams=MAX     streams of a user without CAP_SYS_RESOURCE (64)\n\n"
		"Unless set here or there, the scope is that of kernel.yama.ptrace_scope, and\n"
		"kernel.perf_event_paranoid=-1 allows all classes to all users.\n\n"
		"Exit status: 0, also if the module is already loaded; 1 after a failure; 2 after\n"
		"a usage error.\n");
}

static void print_unload_help(FILE *to)
{
	fprintf(to,
		"Usage: posixtrace unload\n"
		"Remove the module posixtrace from the kernel, unless it is in use.\n\n"
		"  -h, --help  print this help\n\n"
		"Exit status: 0, also if the module is not loaded; 1 after a failure; 2 after a\n"
		"usage error.\n");
}

/* ------------------------------------------------------------------ */
/* Error messages							*/

static const char *kernel_release(void)
{
	static struct utsname name;

	return uname(&name) ? "" : name.release;
}

/* Searches a file of one line, such as a sysctl or lockdown ("[none] integrity"). */
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

/* CAP_SYS_MODULE is bit 16. */
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

/* Adds a parameter. Blanks would begin another parameter, so the value must have none. */
static bool add_parameter(struct load *arg, const char *option, const char *name,
			  const char *value)
{
	char *longer;

	if (!*value || strpbrk(value, " \t\n\"'")) {
		tell("%s: must be a value without blanks and quotes (got \"%s\")", option, value);
		return false;
	}
	if (asprintf(&longer, "%s%s%s=%s", arg->parameters ?: "", arg->parameters ? " " : "",
		     name, value) < 0) {
		complain("load", ENOMEM);
		exit(1);
	}
	free(arg->parameters);
	arg->parameters = longer;
	return true;
}

/* Do the options have a value for the parameter? */
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

/* Adds a parameter that neither the command line nor a file in modprobe.d has. */
static void add_derived(struct load *arg, struct kmod_module *module, const char *name,
			const char *value)
{
	if (value && !has_parameter(arg->parameters, name) &&
	    !has_parameter(kmod_module_get_options(module), name))
		add_parameter(arg, name, name, value);
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
	add_derived(arg, module, "trace_scope", policy_trace_scope());
	add_derived(arg, module, "kernel_classes", policy_kernel_classes());
	/* Ignore commands in modprobe.d, but apply its options for the module. */
	err = kmod_module_probe_insert_module(module, KMOD_PROBE_IGNORE_COMMAND, arg->parameters,
					      NULL, NULL, NULL);
	/* Another process inserted the module meanwhile. */
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
	/* Do not wait for users of the module. */
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
		tell("unload: the module is in use, %d times", users);
		tell("\"posixtrace list\" shows streams, and programs linked with the library");
		break;
	default:
		complain("unload", -err);
	}
	return 1;
}

/* ------------------------------------------------------------------ */
/* Options								*/

enum {
	OPT_DEVICE_MODE = 256, OPT_KERNEL_CLASSES, OPT_LOG_TIMEOUT, OPT_TRACE_SCOPE,
	OPT_USER_STREAMS,
};

static bool parse_load_option(struct load *arg, int opt, const char *value)
{
	switch (opt) {
	case 'f':
		arg->file = value;
		return true;
	case OPT_DEVICE_MODE:
		return add_parameter(arg, "--device-mode", "device_mode", value);
	case OPT_KERNEL_CLASSES:
		return add_parameter(arg, "--kernel-classes", "kernel_classes", value);
	case OPT_LOG_TIMEOUT:
		return add_parameter(arg, "--log-timeout", "log_timeout", value);
	case OPT_TRACE_SCOPE:
		return add_parameter(arg, "--trace-scope", "trace_scope", value);
	case OPT_USER_STREAMS:
		return add_parameter(arg, "--user-streams", "user_streams", value);
	default:
		return false;
	}
}

int cmd_load(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device-mode", required_argument, NULL, OPT_DEVICE_MODE },
		{ "file", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "kernel-classes", required_argument, NULL, OPT_KERNEL_CLASSES },
		{ "log-timeout", required_argument, NULL, OPT_LOG_TIMEOUT },
		{ "trace-scope", required_argument, NULL, OPT_TRACE_SCOPE },
		{ "user-streams", required_argument, NULL, OPT_USER_STREAMS },
		{ }
	};
	struct load arg = { };
	struct kmod_ctx *ctx;
	int opt, status = 1;

	while ((opt = getopt_long(argc, argv, "f:h", options, NULL)) != -1) {
		if (opt == 'h') {
			print_load_help(stdout);
			return 0;
		}
		if (!parse_load_option(&arg, opt, optarg)) {
			print_load_help(stderr);
			return 2;
		}
	}
	if (optind < argc)
		return usage_error("load", "load: takes no argument (got \"%s\"); use --file",
				   argv[optind]);
	ctx = module_context();
	if (ctx) {
		status = load_module(ctx, &arg);
		kmod_unref(ctx);
	}
	free(arg.parameters);
	return status;
}

int cmd_unload(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct kmod_ctx *ctx;
	int opt, status = 1;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		print_unload_help(opt == 'h' ? stdout : stderr);
		return opt == 'h' ? 0 : 2;
	}
	if (optind < argc)
		return usage_error("unload", "unload: takes no argument (got \"%s\")",
				   argv[optind]);
	ctx = module_context();
	if (ctx) {
		status = unload_module(ctx);
		kmod_unref(ctx);
	}
	return status;
}
