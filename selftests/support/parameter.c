// SPDX-License-Identifier: GPL-2.0
/* Parameters of the loaded module. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parameter.h"
#include "textfile.h"

#define DIRECTORY	"/sys/module/posixtrace/parameters"

int parameter_set(const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), DIRECTORY "/%s", name);
	return write_text(path, value);
}

int parameter_get(const char *name, char *value, size_t size)
{
	char path[128];
	FILE *file;
	int err;

	snprintf(path, sizeof(path), DIRECTORY "/%s", name);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	err = fgets(value, size, file) ? 0 : -EIO;
	fclose(file);
	if (!err)
		value[strcspn(value, "\n")] = '\0';
	return err;
}
