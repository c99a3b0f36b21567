// SPDX-License-Identifier: GPL-2.0
/*
 * The descriptors of processes that have a known path: see fd_tables.h.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/fd_tables.h"
#include "util/hash.h"

#define PROCESS_FDS	16384U
#define ALL_FDS		65536U

static struct fd **find_slot(const struct fd_tables *tables, uint64_t process, int64_t number)
{
	struct fd **slot;

	slot = (struct fd **)&tables->fds[hash_pair(process, (uint64_t)number) % FD_TABLES_BUCKETS];
	while (*slot && ((*slot)->process != process || (*slot)->number != number))
		slot = &(*slot)->next;
	return slot;
}

struct fd *fd_tables_find(const struct fd_tables *tables, const struct fd_table *table,
			  int64_t number)
{
	return *find_slot(tables, table->process, number);
}

void fd_tables_close(struct fd_tables *tables, struct fd_table *table, int64_t number)
{
	struct fd **slot = find_slot(tables, table->process, number), *fd = *slot;

	if (!fd)
		return;
	*slot = fd->next;
	*fd->link = fd->after;
	if (fd->after)
		fd->after->link = fd->link;
	free(fd->path);
	free(fd);
	table->count--;
	tables->count--;
}

void fd_tables_drop(struct fd_tables *tables, struct fd_table *table)
{
	while (table->fds)
		fd_tables_close(tables, table, table->fds->number);
}

struct fd *fd_tables_set(struct fd_tables *tables, struct fd_table *table, int64_t number,
			 const char *path, bool socket)
{
	struct fd **slot, *fd;

	fd_tables_close(tables, table, number);
	if (table->count == PROCESS_FDS || tables->count == ALL_FDS)
		return NULL;
	fd = calloc(1, sizeof(*fd));
	if (fd)
		fd->path = strdup(path);
	if (!fd || !fd->path) {
		free(fd);
		return NULL;
	}
	fd->process = table->process;
	fd->number = number;
	fd->socket = socket;
	slot = find_slot(tables, table->process, number);
	fd->next = *slot;
	*slot = fd;
	fd->after = table->fds;
	if (fd->after)
		fd->after->link = &fd->after;
	fd->link = &table->fds;
	table->fds = fd;
	table->count++;
	table->sets++;
	tables->count++;
	return fd;
}

void fd_tables_strip_socket(struct fd_tables *tables, const struct fd_table *table,
			    int64_t number)
{
	const struct fd *found = fd_tables_find(tables, table, number);
	char *path;

	if (!found || !found->socket || !found->path[strcspn(found->path, ":-,")])
		return;
	/*
	 * Copy the path, because the loop also changes @found. If there is no memory for the copy,
	 * forget the addresses of all sockets.
	 */
	path = strdup(found->path);
	for (size_t i = 0; i < FD_TABLES_BUCKETS; i++) {
		for (struct fd *fd = tables->fds[i]; fd; fd = fd->next) {
			if (fd->socket && (!path || !strcmp(fd->path, path)))
				fd->path[strcspn(fd->path, ":-,")] = '\0';
		}
	}
	free(path);
}
