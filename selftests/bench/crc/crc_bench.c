// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the module's function that copies and computes a checksum with memcpy() and the kernel's
 * CRC32C, on the largest sub-buffer. Prints "bench: METRIC VALUE UNIT" to the kernel log. insmod
 * fails on purpose, so that this module does not remain loaded.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "log/crc32c.c"

#define SIZE	(512U << 10)
#define ROUNDS_OF_EACH	11

static u32 own(void *to, const void *from)
{
	return pxt_crc32c_copy(to, from, SIZE);
}

/*
 * The kernel's function must compute the checksum of the copy: writers may still change the
 * original.
 */
static u32 kernels(void *to, const void *from)
{
	memcpy(to, from, SIZE);
	return ~pxt_crc32c(~0U, to, SIZE);
}

static u64 best_of(u32 (*copy)(void *to, const void *from), void *to, const void *from, u32 *crc)
{
	u64 best = U64_MAX, begin;
	int i;

	for (i = 0; i < ROUNDS_OF_EACH; i++) {
		preempt_disable();
		begin = ktime_get_ns();
		*crc = copy(to, from);
		best = min(best, ktime_get_ns() - begin);
		preempt_enable();
		cond_resched();
	}
	return best;
}

static int __init crc_bench_init(void)
{
	u32 crc_own, crc_kernel;
	u64 ns_own, ns_kernel;
	u8 *from, *to;
	u32 i;

	from = vmalloc(2 * SIZE);
	if (!from)
		return -ENOMEM;
	to = from + SIZE;
	for (i = 0; i < SIZE; i++)
		from[i] = i * 251 + (i >> 8);
	pxt_crc32c_init();
	ns_own = best_of(own, to, from, &crc_own);
	ns_kernel = best_of(kernels, to, from, &crc_kernel);
	vfree(from);
	if (crc_own != crc_kernel) {
		pr_err("crc_bench: checksums differ: %08x and %08x\n", crc_own, crc_kernel);
		return -EIO;
	}
	pr_info("bench: crc_own %llu ns/KiB\n", ns_own / (SIZE >> 10));
	pr_info("bench: crc_kernel %llu ns/KiB\n", ns_kernel / (SIZE >> 10));
	return -EAGAIN;
}
module_init(crc_bench_init);

MODULE_DESCRIPTION("posixtrace: benchmark of checksums");
MODULE_LICENSE("GPL");
