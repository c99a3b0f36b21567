// SPDX-License-Identifier: MIT
/*
 * Maps the gate. The gate has the address of a variable, so that the inline in <trace.h> finds it
 * with one load; the module's pages are mapped over the variable.
 *
 * In a program that is not position-independent, the variable may be in the program's data instead
 * of ours. It occupies whole pages there as well.
 */
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "common/sys.h"
#include "record/flight.h"
#include "record/gate.h"

#define GATE_SIZE	sizeof(struct posixtrace_gate)
#define GATE_WORDS	(GATE_SIZE / sizeof(unsigned int))
#define PAGE_BYTES	4096

_Static_assert(GATE_SIZE % PAGE_BYTES == 0, "whole pages");
_Static_assert(offsetof(struct posixtrace_gate, enable) == 1024 * sizeof(unsigned int),
	       "must match the inline in trace.h");
_Static_assert(GATE_WORDS == 1024 + 4096 + 1024 + 1024, "must match the inline in trace.h");

/*
 * The gate is open, so that the first event attaches, even before our constructor runs. It is not
 * const, because the link-time optimizer would then replace loads from it by this value.
 */
PXTU_API unsigned int __posix_trace_gate[GATE_WORDS]
	__attribute__((__aligned__(PAGE_BYTES))) = { [0 ... GATE_WORDS - 1] = ~0U };

/* The gate of the module is mapped. A child inherits the mapping, but sees a separate gate. */
static int mapped;

/* A hint: the module was absent at the last attempt, and the gate is shut. */
static int absent;

bool pxtu_gate_mapped(void)
{
	return pxtu_load(&mapped);
}

bool pxtu_gate_absent(void)
{
	return pxtu_load(&absent);
}

/*
 * Restores the gate to its state before the process attached, so that the next event tries again.
 * The old mapping is gone, so other threads see a shut gate until memset() has opened it.
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
	/* Map it elsewhere first, so that a failure leaves no hole where threads load. */
	err = pxtu_map(fd, 0, map, 0, &gate);
	if (err)
		return err;
	if (mremap(gate, GATE_SIZE, GATE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place) {
		pxtu_store(&mapped, 1);
		pxtu_store(&absent, 0);
		return 0;
	}
	munmap(gate, GATE_SIZE);
	reopen();
	return -ENOMEM;
}

void pxtu_gate_shut(void)
{
	pxtu_store(&absent, 1);
	mmap(__posix_trace_gate, GATE_SIZE, PROT_READ,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/*
 * Attaches before main() and before other constructors: later, a filter may kill the program at the
 * first system call, or the device may be out of reach. Each program that is linked with the
 * library pays for this, so this makes only three system calls, of kinds that the dynamic loader
 * has also made, and keeps no descriptor. If the device is missing, this shuts the gate, so that
 * events do not try again.
 */
#ifdef __LP64__
static void attach(void)
{
	int fd = pxtu_open(PXTU_DEVICE, O_RDWR | O_CLOEXEC);
	int err;

	if (pxtu_device_missing(fd)) {
		pxtu_gate_shut();
		return;
	}
	if (fd < 0)
		return;
	err = pxtu_map_over(__posix_trace_gate, GATE_SIZE, fd,
			    POSIXTRACE_ATTACH_OFFSET(POSIXTRACE_ABI_VERSION));
	if (!err)
		pxtu_store(&mapped, 1);
	else
		reopen();
	pxtu_close(fd);
}
#else
/* The first event attaches. */
static void attach(void)
{
}
#endif

/*
 * The flight recorder starts here, because a program that uses the library statically need not link
 * any other constructor.
 */
__attribute__((__constructor__(101)))
static void start_constructor(void)
{
	attach();
	pxtu_flight_start();
}
