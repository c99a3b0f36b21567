/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hash function for tables. Keys may come from a forged log, so the hash depends on a random secret
 * of the process. Otherwise the author of the log could choose keys that collide.
 */
#ifndef POSIXTRACE_HASH_H
#define POSIXTRACE_HASH_H

#include <stddef.h>
#include <stdint.h>

/**
 * hash_pair() - hash a pair of numbers
 * @first: first number
 * @second: second number
 *
 * Return: the hash. Use its lower bits as the table index.
 */
uint64_t hash_pair(uint64_t first, uint64_t second);

/* hash_bytes() - hash @len bytes; @hash is the hash of the bytes before them */
uint64_t hash_bytes(uint64_t hash, const void *data, size_t len);

#endif /* POSIXTRACE_HASH_H */
