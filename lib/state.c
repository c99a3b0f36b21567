// SPDX-License-Identifier: MIT
/*
 * The page with the state of this process. What is in it belongs to attach.c and
 * trid.c.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "state.h"

struct pxtu_state *pxtu_state_page;

struct pxtu_state *pxtu_state_make(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct pxtu_state *mine, *found = NULL;
	int saved_errno = errno;

	mine = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mine == MAP_FAILED)
		goto out;
	/*
	 * Without it a child would take its parent's descriptors for its own:
	 * then rather no tracing. Linux has had it since 4.14.
	 */
	if (madvise(mine, size, MADV_WIPEONFORK))
		goto unmap;
	/* Pairs with the load in pxtu_state(). */
	if (__atomic_compare_exchange_n(&pxtu_state_page, &found, mine, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		found = mine;
		goto out;
	}
unmap:
	munmap(mine, size);
out:
	errno = saved_errno;
	return found;
}

/*
 * Before main() and before other constructors, so that the first event finds
 * it. Earlier ones, as in an IFUNC resolver, make it themselves. Opens nothing:
 * most programs that are linked with the library are not traced today.
 */
__attribute__((__constructor__(101)))
static void state_constructor(void)
{
	pxtu_state();
}
