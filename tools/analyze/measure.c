// SPDX-License-Identifier: GPL-2.0
/*
 * The table of measures: see measure.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/measure.h"
#include "util/hash.h"

#define BUCKETS	4096U	/* a power of two */

struct measure_table {
	struct measure *buckets[BUCKETS];
	size_t names;
	size_t values[MEASURE_KINDS];
	size_t bytes[MEASURE_KINDS];	/* total size of the keys of the @values */
};

int measure_table_new(struct measure_table **table)
{
	*table = calloc(1, sizeof(**table));
	return *table ? 0 : -ENOMEM;
}

static void free_measure(struct measure *measure)
{
	histogram_free(&measure->times);
	free(measure->name);
	free(measure->key);
	free(measure->value);
	free(measure);
}

void measure_table_free(struct measure_table *table)
{
	struct measure *measure, *next;

	if (!table)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (measure = table->buckets[i]; measure; measure = next) {
			next = measure->next;
			free_measure(measure);
		}
	}
	free(table);
}

/* ------------------------------------------------------------------ */
/* Finding								*/

static bool same_name(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static struct measure *find(const struct measure_table *table, const struct measure *like)
{
	struct measure *measure = table->buckets[like->hash & (BUCKETS - 1)];

	for (; measure; measure = measure->next) {
		if (measure->hash == like->hash && measure->kind == like->kind &&
		    measure->part == like->part && measure->key_len == like->key_len &&
		    same_name(measure->name, like->name) &&
		    (!like->key_len || !memcmp(measure->key, like->key, like->key_len)))
			return measure;
	}
	return NULL;
}

static void set_hash(struct measure *like)
{
	uint64_t hash = hash_pair(like->kind, like->part);

	if (like->name)
		hash = hash_bytes(hash, like->name, strlen(like->name));
	like->hash = hash_bytes(hash, like->key, like->key_len);
}

/* Adds a copy of @like with the given name and key. */
static struct measure *add(struct measure_table *table, const struct measure *like)
{
	struct measure *measure = calloc(1, sizeof(*measure));
	struct measure **bucket = &table->buckets[like->hash & (BUCKETS - 1)];

	if (!measure)
		return NULL;
	*measure = *like;
	measure->name = like->name ? strdup(like->name) : NULL;
	measure->key = malloc(like->key_len + 1);
	if (!measure->key || (like->name && !measure->name)) {
		free_measure(measure);
		return NULL;
	}
	if (like->key_len)
		memcpy(measure->key, like->key, like->key_len);
	measure->next = *bucket;
	*bucket = measure;
	return measure;
}

struct measure *measure_whole(struct measure_table *table, enum measure_kind kind,
			      const char *name)
{
	struct measure like = { .kind = kind, .part = MEASURE_WHOLE, .name = (char *)name };
	struct measure *found;

	set_hash(&like);
	found = find(table, &like);
	if (found)
		return found;
	if (name && table->names >= MEASURE_NAMES)
		return measure_whole(table, kind, NULL);
	table->names++;
	return add(table, &like);
}

struct measure *measure_part(struct measure_table *table, const struct measure *whole,
			     enum measure_part part, const void *key, size_t key_len)
{
	struct measure like = {
		.kind = whole->kind, .part = part, .name = whole->name,
		.key = (void *)key, .key_len = key_len,
	};
	struct measure *found;

	set_hash(&like);
	found = find(table, &like);
	if (found)
		return found;
	if (part == MEASURE_VALUE) {
		if (table->values[like.kind] >= MEASURE_VALUES ||
		    table->bytes[like.kind] + key_len > MEASURE_BYTES)
			return measure_part(table, whole, MEASURE_OTHERS, NULL, 0);
		table->values[like.kind]++;
		table->bytes[like.kind] += key_len;
	}
	return add(table, &like);
}

int measure_set_value(struct measure *measure, enum field_kind kind, const void *value,
		      size_t len, const char *unit)
{
	measure->value = malloc(len + 1);
	if (!measure->value)
		return -ENOMEM;
	if (len)
		memcpy(measure->value, value, len);
	measure->value[len] = '\0';
	measure->value_len = len;
	measure->value_kind = kind;
	measure->unit = unit;
	return 0;
}

const struct measure *measure_find(const struct measure_table *table,
				   const struct measure *measure)
{
	struct measure like = *measure;

	set_hash(&like);
	return find(table, &like);
}

/* ------------------------------------------------------------------ */
/* Lists								*/

uint64_t measure_total(const struct measure *measure)
{
	return measure->kind == MEASURE_EVENT ? measure->count : measure->times.sum;
}

static int compare_values(const struct measure *a, const struct measure *b)
{
	size_t len = a->value_len < b->value_len ? a->value_len : b->value_len;
	int order = len ? memcmp(a->value, b->value, len) : 0;

	if (order)
		return order;
	return a->value_len < b->value_len ? -1 : a->value_len > b->value_len;
}

static int compare(const void *a, const void *b)
{
	const struct measure *x = *(struct measure *const *)a, *y = *(struct measure *const *)b;
	uint64_t left = measure_total(x), right = measure_total(y);
	int order;

	order = (x->part == MEASURE_OTHERS) - (y->part == MEASURE_OTHERS);
	if (order)
		return order;
	if (left != right)
		return left < right ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	order = strcmp(x->name ? x->name : "", y->name ? y->name : "");
	if (order)
		return order;
	return x->part != y->part ? (int)x->part - (int)y->part : compare_values(x, y);
}

const struct measure **measure_list(const struct measure_table *table, enum measure_kind kind,
				    bool divided, size_t *count)
{
	/*
	 * Each name has up to two undivided parts, MEASURE_NONE and MEASURE_OTHERS, besides its
	 * values.
	 */
	const struct measure **list = calloc(3 * table->names + table->values[kind] + 1,
					     sizeof(*list));
	const struct measure *measure;

	*count = 0;
	for (size_t i = 0; list && i < BUCKETS; i++) {
		for (measure = table->buckets[i]; measure; measure = measure->next) {
			bool part = measure->part != MEASURE_WHOLE;

			if (measure->kind == kind && part == divided)
				list[(*count)++] = measure;
		}
	}
	if (list)
		qsort(list, *count, sizeof(*list), compare);
	return list;
}

