// SPDX-License-Identifier: GPL-2.0
/*
 * What the module says of itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/posixtrace.h>

#include "commands.h"

static const struct {
	__u64 bit;
	const char *name;
} features[] = {
	{ POSIXTRACE_FEATURE_EVENT, "event" },
};

static void print_help(FILE *to)
{
	fprintf(to,
		"Usage: posixtrace info\n"
		"Print version, limits and features of the module. Exit status 1 without it.\n");
}

static void print_features(__u64 bits)
{
	printf("features               ");
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (bits & features[i].bit)
			printf(" %s", features[i].name);
		bits &= ~features[i].bit;
	}
	/* Of a module that is newer than this program. */
	if (bits)
		printf(" %#llx", bits);
	putchar('\n');
}

static int print_info(void)
{
	struct posixtrace_info limits;
	int fd = open("/dev/posixtrace", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		complain("info", errno == ENOENT || errno == ENXIO ? ENODEV : errno);
		return 1;
	}
	if (ioctl(fd, POSIXTRACE_IOC_INFO, &limits)) {
		complain("info", errno);
		close(fd);
		return 1;
	}
	close(fd);

	printf("abi version             %u\n", limits.abi_version);
	print_features(limits.features);
	printf("streams                 %u on the system, %u on one process\n",
	       limits.streams_max, limits.slots_max);
	printf("event types             ids below %u in one process\n", limits.ids_max);
	printf("clock resolution        %u ns\n", limits.clock_resolution);
	printf("page size               %u bytes\n", limits.page_size);
	return 0;
}

int posixtrace_info(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		print_help(opt == 'h' ? stdout : stderr);
		return opt == 'h' ? 0 : 2;
	}
	if (optind < argc) {
		print_help(stderr);
		return 2;
	}
	return print_info();
}
