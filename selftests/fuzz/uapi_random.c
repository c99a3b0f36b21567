// SPDX-License-Identifier: GPL-2.0
/* Random numbers by splitmix64. */
#include "uapi_fuzz.h"

uint64_t mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
	return value ^ (value >> 31);
}

uint64_t next_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return mix(*state);
}

uint64_t rnd(struct actor *a)
{
	return next_random(&a->call_random);
}

uint64_t below(struct actor *a, uint64_t bound)
{
	return rnd(a) % bound;
}

bool one_in(struct actor *a, unsigned int n)
{
	return below(a, n) == 0;
}
