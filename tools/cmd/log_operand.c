// SPDX-License-Identifier: GPL-2.0
/*
 * The operand LOG: see log_operand.h.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "cmd/log_operand.h"
#include "event/source.h"
#include "util/message.h"
#include "util/options.h"

int log_operand(const char *command, int argc, char **argv, const char **path)
{
	const int operands = argc - optind;

	if (operands > 1)
		return usage_error(command, "%s: takes one LOG, not %d", command, operands);
	*path = operands ? source_path(argv[optind]) : LOG_DEFAULT;
	if (operands || !access(LOG_DEFAULT, F_OK) || errno != ENOENT)
		return OPTIONS_OK;
	tell("%s: no %s in this directory: record one, or name a LOG", command, LOG_DEFAULT);
	return 1;
}
