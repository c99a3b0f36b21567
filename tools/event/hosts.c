// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the hosts of several logs: see hosts.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/hosts.h"
#include "util/message.h"

#define NAME_SIZE	96	/* the name of a node, and a number if two hosts have the same */

struct host {
	unsigned char boot_id[16];
	char name[NAME_SIZE];
};

/**
 * struct hosts - the hosts of several logs
 * @hosts: the hosts
 * @count: number of hosts
 * @of: index: number of a log; index of its host in @hosts
 */
struct hosts {
	struct host *hosts;
	unsigned int count;
	unsigned int *of;
};

static bool get_host(const struct reader *reader, struct posixtrace_host_info *info)
{
	static const unsigned char unknown[sizeof(info->boot_id)];

	return !posixtrace_get_host(reader_trid(reader), info) &&
	       memcmp(info->boot_id, unknown, sizeof(unknown)) != 0;
}

/*
 * Two hosts may have the same name, for example two boots of a machine. The third host may be
 * "name#3".
 */
static void set_name(struct hosts *hosts, struct host *host, const char *node)
{
	unsigned int number = hosts->count;
	bool taken;

	snprintf(host->name, sizeof(host->name), "%s", node);
	do {
		taken = false;
		for (unsigned int i = 0; i < hosts->count && !taken; i++)
			taken = !strcmp(hosts->hosts[i].name, host->name);
		if (taken)
			snprintf(host->name, sizeof(host->name), "%s#%u", node, ++number);
	} while (taken);
}

/* Finds or adds the host of a log. */
static int find(struct hosts *hosts, const struct reader *reader, unsigned int *number)
{
	struct posixtrace_host_info info;
	struct host *host;

	if (!get_host(reader, &info)) {
		tell("%s: unknown boot id, so it cannot be read with other logs",
		     reader_path(reader));
		return -ECANCELED;
	}
	for (unsigned int i = 0; i < hosts->count; i++) {
		if (memcmp(hosts->hosts[i].boot_id, info.boot_id, sizeof(info.boot_id)) != 0)
			continue;
		*number = i;
		return 0;
	}
	if (hosts->count == HOSTS_MAX) {
		tell("%s: too many hosts: at most %u can be read together", reader_path(reader),
		     HOSTS_MAX);
		return -ECANCELED;
	}
	host = &hosts->hosts[hosts->count];
	memcpy(host->boot_id, info.boot_id, sizeof(info.boot_id));
	set_name(hosts, host, info.node[0] ? info.node : "unknown");
	*number = hosts->count++;
	return 0;
}

int hosts_new(struct reader *const *readers, size_t count, struct hosts **hosts)
{
	struct hosts *new = calloc(1, sizeof(*new));
	int err = 0;

	if (!new)
		return -ENOMEM;
	new->of = calloc(count, sizeof(*new->of));
	new->hosts = calloc(count < HOSTS_MAX ? count : HOSTS_MAX, sizeof(*new->hosts));
	if (!new->of || !new->hosts)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < count; i++)
		err = find(new, readers[i], &new->of[i]);
	if (err)
		hosts_free(new);
	else
		*hosts = new;
	return err;
}

unsigned int hosts_count(const struct hosts *hosts)
{
	return hosts ? hosts->count : 1;
}

unsigned int hosts_of(const struct hosts *hosts, size_t log)
{
	return hosts && hosts->count > 1 ? hosts->of[log] + 1 : 0;
}

const char *hosts_name(const struct hosts *hosts, unsigned int host)
{
	return hosts && host && host <= hosts->count ? hosts->hosts[host - 1].name : "";
}

void hosts_free(struct hosts *hosts)
{
	if (!hosts)
		return;
	free(hosts->hosts);
	free(hosts->of);
	free(hosts);
}
