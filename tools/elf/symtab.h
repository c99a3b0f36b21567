/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of a program or library, sorted by address.
 */
#ifndef POSIXTRACE_SYMTAB_H
#define POSIXTRACE_SYMTAB_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

struct symtab_entry;

/* A table of functions; initially all zero. The names belong to the file and are not copied. */
struct symtab {
	struct symtab_entry *entries;
	size_t count;
};

/**
 * symtab_add() - add a symbol
 * @table: the table
 * @symbol: the symbol; ignored unless it is a function with an address
 * @begin: address of the symbol
 * @name: name of the symbol, or NULL if the name cannot be read
 *
 * Return: 0 or -ENOMEM.
 */
int symtab_add(struct symtab *table, const GElf_Sym *symbol, uint64_t begin, const char *name);

/* Prepare the table for symtab_find(), after the last symtab_add(). */
void symtab_sort(struct symtab *table);

/**
 * symtab_find() - find the function that contains an address
 * @table: the table
 * @address: the address
 * @begin: where to store the start of the function, or NULL
 *
 * Return: the name, or NULL.
 */
const char *symtab_find(const struct symtab *table, uint64_t address, uint64_t *begin);

void symtab_free(struct symtab *table);

#endif /* POSIXTRACE_SYMTAB_H */
