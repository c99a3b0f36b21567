// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace status": prints the state, parameters, limits and features of the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libkmod.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/posixtrace.h>
#include <posixtrace.h>

#include "cmd/commands.h"
#include "session/module.h"
#include "session/policy.h"
#include "util/message.h"

#define DEVICE		"/dev/posixtrace"
#define SYSFS		"/sys/module/" MODULE_NAME

static const struct {
	__u64 bit;
	const char *name;
} features[] = {
	{ POSIXTRACE_FEATURE_EVENT, "event" },
	{ POSIXTRACE_FEATURE_LZ4, "lz4" },
};

static const char *const parameters[] = {
	"device_mode", "kernel_classes", "log_timeout", "trace_scope", "user_streams",
};

static void print_features(__u64 bits)
{
	printf("features               ");
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (bits & features[i].bit)
			printf(" %s", features[i].name);
		bits &= ~features[i].bit;
	}
	/* A newer module may have features that this command does not know. */
	if (bits)
		printf(" %#llx", bits);
	putchar('\n');
}

static void print_limits(const struct posixtrace_info *limits)
{
	printf("abi version             %u\n", limits->abi_version);
	print_features(limits->features);
	printf("streams                 %u on the system, %u on one process\n",
	       limits->streams_max, limits->slots_max);
	printf("event types             ids below %u in one process\n", limits->ids_max);
	printf("clock resolution        %u ns\n", limits->clock_resolution);
	printf("page size               %u bytes\n", limits->page_size);
}

/* Prints the file and version of the module that "load" would insert. */
static void print_installed(struct kmod_ctx *ctx)
{
	struct kmod_module *module = module_installed(ctx);
	struct kmod_list *entry, *list = NULL;
	const char *version = "-";

	if (!module) {
		printf("installed               no module for this kernel\n");
		return;
	}
	if (kmod_module_get_info(module, &list) >= 0) {
		kmod_list_foreach(entry, list) {
			if (!strcmp(kmod_module_info_get_key(entry), "version"))
				version = kmod_module_info_get_value(entry);
		}
	}
	printf("installed               %s, version %s\n", kmod_module_get_path(module), version);
	kmod_module_info_free_list(list);
	kmod_module_unref(module);
}

static void print_loaded(void)
{
	char line[256];

	printf("version                 %s\n",
	       policy_read_line(SYSFS "/version", line, sizeof(line)));
	printf("used                    %s times\n",
	       policy_read_line(SYSFS "/refcnt", line, sizeof(line)));
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		printf("%-23s %s\n", parameters[i],
		       policy_parameter(parameters[i], line, sizeof(line)));
}

static int print_status(struct kmod_ctx *ctx)
{
	struct posixtrace_info limits;
	bool present = module_present(ctx);
	int fd, err = 0;

	printf("command                 version %d.%d, library %s\n", POSIXTRACE_VERSION_MAJOR,
	       POSIXTRACE_VERSION_MINOR, posixtrace_version());
	printf("module                  %s\n", present ? "loaded" : "not loaded");
	if (!present) {
		print_installed(ctx);
		tell("status: the module is not loaded; run \"posixtrace load\" as root");
		return 1;
	}
	print_loaded();
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, POSIXTRACE_IOC_INFO, &limits))
		err = errno;
	else
		print_limits(&limits);
	if (fd >= 0)
		close(fd);
	if (!err && limits.abi_version != POSIXTRACE_ABI_VERSION) {
		tell("status: the module has ABI version %u, but command and library need %d",
		     limits.abi_version, POSIXTRACE_ABI_VERSION);
		tell("status: install the same version of module and library");
		tell("then run \"posixtrace unload\" and \"posixtrace load\" as root");
		return 1;
	}
	if (err == EACCES)
		tell("status: no permission to open " DEVICE ": see device_mode in posixtrace(4)");
	else if (err)
		complain(DEVICE, err);
	return err ? 1 : 0;
}

static int cmd_status(int argc, char **argv)
{
	int status = options_parse(&command_status, argc, argv, NULL);
	struct kmod_ctx *ctx;

	if (status != OPTIONS_OK)
		return status;
	if (optind < argc)
		return usage_error("status", "status: takes no argument (got \"%s\")",
				   argv[optind]);
	ctx = module_context();
	if (!ctx)
		return 1;
	status = print_status(ctx);
	kmod_unref(ctx);
	return status;
}

static const char *const status_usage[] = { "", NULL };

const struct command command_status = {
	.name = "status",
	.summary = "print state, limits and features of the module",
	.usage = status_usage,
	.about = "Print the state, version, parameters, limits and features of the module.",
	.notes = "Exit status: 0 if programs can be traced; 1 if not; 2 after a usage error.",
	.operands = 0,
	.options = NULL,
	.run = cmd_status,
};
