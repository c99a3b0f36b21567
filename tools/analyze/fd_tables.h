/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The descriptors of processes that have a known path. The memory use is bounded.
 */
#ifndef POSIXTRACE_FD_TABLES_H
#define POSIXTRACE_FD_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FD_TABLES_BUCKETS	16384U	/* a power of two */

/**
 * struct fd - a descriptor with a known path
 * @next: next descriptor in the bucket
 * @after: next descriptor of the same process
 * @link: the pointer to this descriptor in the list of the process
 * @process: key of the process
 * @number: the descriptor
 * @socket: @path is the name of a socket
 * @keeps: the descriptor is known to stay open when the process executes a program
 * @path: the path
 */
struct fd {
	struct fd *next;
	struct fd *after;
	struct fd **link;
	uint64_t process;
	int64_t number;
	bool socket;
	bool keeps;
	char *path;
};

/**
 * struct fd_table - the descriptors of a process
 * @process: key of the process
 * @sets: number of paths set so far
 * @count: number of @fds
 * @fds: list of the descriptors
 */
struct fd_table {
	uint64_t process;
	uint64_t sets;
	size_t count;
	struct fd *fds;
};

/**
 * struct fd_tables - the descriptors of all processes
 * @fds: hash table, by process and number
 * @count: number of descriptors
 */
struct fd_tables {
	struct fd *fds[FD_TABLES_BUCKETS];
	size_t count;
};

/* fd_tables_find() - find a descriptor; NULL if its path is not known */
struct fd *fd_tables_find(const struct fd_tables *tables, const struct fd_table *table,
			  int64_t number);

/* fd_tables_close() - forget a descriptor */
void fd_tables_close(struct fd_tables *tables, struct fd_table *table, int64_t number);

/* fd_tables_drop() - forget all descriptors of a process */
void fd_tables_drop(struct fd_tables *tables, struct fd_table *table);

/**
 * fd_tables_set() - set the path of a descriptor
 * @tables: the tables
 * @table: table of the process
 * @number: the descriptor
 * @path: its path; copied
 * @socket: the path is the name of a socket
 *
 * Return: the descriptor. NULL if there are too many descriptors or if out of memory; the path is
 * then unknown.
 */
struct fd *fd_tables_set(struct fd_tables *tables, struct fd_table *table, int64_t number,
			 const char *path, bool socket);

/**
 * fd_tables_strip_socket() - keep only the protocol of a socket, because its address changes
 * @tables: the tables
 * @table: table of the process
 * @number: the descriptor
 *
 * Also changes all other descriptors with the same name, because they may refer to the same socket.
 */
void fd_tables_strip_socket(struct fd_tables *tables, const struct fd_table *table,
			    int64_t number);

#endif /* POSIXTRACE_FD_TABLES_H */
