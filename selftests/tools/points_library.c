// SPDX-License-Identifier: GPL-2.0
/* A shared library with trace points, which "posixtrace list" finds without running it. */
#include <posixtrace/points.h>

POSIXTRACE_POINT(cache_get, (u32, id), (text, key));
POSIXTRACE_POINT(never_used, (u32, id));

/* If a function inlines this one, the point belongs to that function. */
static inline __attribute__((__always_inline__))
void reach(uint32_t id, const char *key, size_t len)
{
	posixtrace_point_cache_get(id, key, len);
}

int lookup(uint32_t id, const char *key, size_t len)
{
	POSIXTRACE_SCOPE("lookup", (u32, id));
	reach(id, key, len);
	reach(id + 1, key, len);
	return (int)len;
}

void insert(const char *key, size_t len, int depth)
{
	reach(0, key, len);
	POSIXTRACE_COUNTER("depth", depth);
	POSIXTRACE_MARK("tab\there \"quoted\" \\");
	POSIXTRACE_MARK("depth");
}
