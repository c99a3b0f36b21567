// SPDX-License-Identifier: GPL-2.0
/*
 * A table of functions: see symtab.h. Files may be forged, so all costs are bounded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/symtab.h"

/* Ignore longer names: in a forged file, many symbols could share one long name. */
#define NAME_MAX_BYTES	4096

/*
 * The function that contains an address is searched among this many functions that begin before the
 * address. The nearest ones may be nested in it and may end before the address.
 */
#define NESTED_MAX	64

struct symtab_entry {
	uint64_t begin;
	uint64_t end;		/* equal to @begin if the size is unknown */
	unsigned char binding;
	const char *name;
};

int symtab_add(struct symtab *table, const GElf_Sym *symbol, uint64_t begin, const char *name)
{
	struct symtab_entry *grown = table->entries;

	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF || !name ||
	    strnlen(name, NAME_MAX_BYTES) == NAME_MAX_BYTES)
		return 0;
	/* Double the table when the number is a power of two. */
	if (!(table->count & (table->count - 1)))
		grown = reallocarray(grown, table->count ? 2 * table->count : 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	table->entries = grown;
	grown[table->count++] = (struct symtab_entry){
		.begin = begin,
		.end = begin + symbol->st_size,
		.binding = GELF_ST_BIND(symbol->st_info),
		.name = name,
	};
	return 0;
}

/* Returns the priority of a name among several names of the same address; larger is better. */
static int rank(unsigned char binding)
{
	return binding == STB_GLOBAL ? 2 : binding == STB_WEAK;
}

static int compare_entries(const void *a, const void *b)
{
	const struct symtab_entry *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (rank(x->binding) != rank(y->binding))
		return rank(x->binding) - rank(y->binding);
	return strcmp(x->name, y->name);
}

void symtab_sort(struct symtab *table)
{
	if (table->count)
		qsort(table->entries, table->count, sizeof(*table->entries), compare_entries);
}

const char *symtab_find(const struct symtab *table, uint64_t address, uint64_t *begin)
{
	const struct symtab_entry *found = NULL;
	size_t low = 0, high = table->count;

	/* Find the last function that begins at or before the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->entries[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Functions that begin and end inside the wanted one are nearer, so check several. */
	for (size_t i = 0; !found && i < low && i < NESTED_MAX; i++) {
		const struct symtab_entry *entry = &table->entries[low - 1 - i];

		if (address < entry->end)
			found = entry;
	}
	/* Assembly functions may have no size: then use the nearest function before the address. */
	if (!found && low && table->entries[low - 1].begin == table->entries[low - 1].end)
		found = &table->entries[low - 1];
	if (!found)
		return NULL;
	if (begin)
		*begin = found->begin;
	return found->name;
}

void symtab_free(struct symtab *table)
{
	free(table->entries);
	*table = (struct symtab){ };
}
