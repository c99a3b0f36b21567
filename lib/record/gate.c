// SPDX-License-Identifier: MIT
/*
 * The place of the gate. The gate has the address of a variable, so that the inline in
 * <trace.h> finds it with one load; the module's pages are mapped over the variable.
 *
 * A program that is not position-independent may have this variable in its own data
 * instead of ours; it occupies whole pages there, too.
 */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "record/gate.h"

#define GATE_SIZE	sizeof(struct posixtrace_gate)
#define GATE_WORDS	(GATE_SIZE / sizeof(unsigned int))
#define PAGE_BYTES	4096

_Static_assert(GATE_SIZE % PAGE_BYTES == 0, "whole pages");
_Static_assert(offsetof(struct posixtrace_gate, enable) == 1024 * sizeof(unsigned int),
	       "as the inline in trace.h has it");
_Static_assert(GATE_WORDS == 1024 + 4096 + 1024, "as the inline in trace.h has it");

/*
 * Open, so that the first event attaches, even before our constructors run. Not const: the
 * link-time optimizer would take it for constant.
 */
PXTU_API unsigned int __posix_trace_gate[GATE_WORDS]
	__attribute__((__aligned__(PAGE_BYTES))) = { [0 ... GATE_WORDS - 1] = ~0U };

/*
 * Restores the gate as it was before the process attached: the next event tries again. The old
 * mapping is gone, so other threads see the gate shut until all of it is written.
 */
static void reopen(void)
{
	void *gate = mmap(__posix_trace_gate, GATE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (gate == __posix_trace_gate)
		memset(gate, 0xff, GATE_SIZE);
}

int pxtu_gate_map(int fd, const struct posixtrace_map *map)
{
	void *place = __posix_trace_gate;
	void *gate;
	int err;

	if (map->size != GATE_SIZE)
		return -EPROTO;
	/* Map it elsewhere first, so that a failure leaves no hole where threads read. */
	err = pxtu_map(fd, 0, map, POSIXTRACE_MAPPING_POPULATE, &gate);
	if (err)
		return err;
	if (mremap(gate, GATE_SIZE, GATE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place)
		return 0;
	munmap(gate, GATE_SIZE);
	reopen();
	return -ENOMEM;
}

void pxtu_gate_shut(void)
{
	mmap(__posix_trace_gate, GATE_SIZE, PROT_READ,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
