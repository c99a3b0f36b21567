/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places in hash tables. A forged log may have any numbers: with a secret that is another one in
 * each process, its writer cannot choose those that all get the same place.
 */
#ifndef POSIXTRACE_HASH_H
#define POSIXTRACE_HASH_H

#include <stdint.h>

/**
 * hash_pair() - hash two numbers
 * @first: a number
 * @second: another one
 *
 * Return: a number whose lower bits are the place.
 */
uint64_t hash_pair(uint64_t first, uint64_t second);

#endif /* POSIXTRACE_HASH_H */
