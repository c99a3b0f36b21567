// SPDX-License-Identifier: GPL-2.0
/*
 * Copy and checksum in one pass. The CRC32C matches the stored copy even if targets modify the
 * source during the copy. The combined pass costs hardly more than the checksum alone. Uses the SSE
 * 4.2 instruction, which needs no FPU state, or tables if these are faster, because some machines
 * emulate the instruction.
 */
#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/preempt.h>

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#endif

#include "log/crc32c.h"

#define POLYNOMIAL	0x82f63b78U	/* reflected */

/* Number of copies, of half a page each, that are timed at module load. */
#define ROUNDS	3

/* Written at module load. */
static u32 table[8][256] __ro_after_init;
static bool use_instruction __ro_after_init;

static u32 copy_by_table(__le64 *to, const __le64 *from, size_t words)
{
	u32 crc = ~0U;
	__le64 raw;
	u64 word;

	while (words--) {
		raw = READ_ONCE(*from++);
		*to++ = raw;
		word = le64_to_cpu(raw) ^ crc;
		crc = table[7][word & 0xff] ^ table[6][word >> 8 & 0xff] ^
		      table[5][word >> 16 & 0xff] ^ table[4][word >> 24 & 0xff] ^
		      table[3][word >> 32 & 0xff] ^ table[2][word >> 40 & 0xff] ^
		      table[1][word >> 48 & 0xff] ^ table[0][word >> 56];
	}
	return ~crc;
}

#ifdef CONFIG_X86_64
static u32 copy_by_instruction(__le64 *to, const __le64 *from, size_t words)
{
	u64 crc = ~0U;
	__le64 raw;

	while (words--) {
		raw = READ_ONCE(*from++);
		*to++ = raw;
		asm("crc32q %1, %0" : "+r" (crc) : "r" (raw));
	}
	return ~(u32)crc;
}

static u64 __init time_of(u32 (*copy)(__le64 *to, const __le64 *from, size_t words), void *page)
{
	size_t words = PAGE_SIZE / 2 / sizeof(u64);
	u64 best = U64_MAX, begin;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		preempt_disable();
		begin = ktime_get_ns();
		copy(page + PAGE_SIZE / 2, page, words);
		best = min(best, ktime_get_ns() - begin);
		preempt_enable();
	}
	return best;
}

/* If there is no memory for the test, assume that the instruction is faster. */
static void __init choose(void)
{
	void *page;

	if (!boot_cpu_has(X86_FEATURE_XMM4_2))
		return;
	use_instruction = true;
	page = (void *)get_zeroed_page(GFP_KERNEL);
	if (!page)
		return;
	use_instruction = time_of(copy_by_instruction, page) <= time_of(copy_by_table, page);
	free_page((unsigned long)page);
}
#else
#define copy_by_instruction copy_by_table

static void __init choose(void)
{
}
#endif

/**
 * pxt_crc32c_init() - choose the faster method at module load
 */
void __init pxt_crc32c_init(void)
{
	u32 i, k, crc;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][i] = crc;
	}
	for (k = 1; k < 8; k++)
		for (i = 0; i < 256; i++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
	choose();
}

/**
 * pxt_crc32c_copy() - copy data and compute the checksum of the copy
 * @to: destination, aligned to 8 bytes
 * @from: source, aligned to 8 bytes; targets may write to it during the copy
 * @len: bytes, a multiple of 8
 *
 * Return: the CRC32C of the copy.
 */
u32 pxt_crc32c_copy(void *to, const void *from, size_t len)
{
	size_t words = len / sizeof(u64);

	return use_instruction ? copy_by_instruction(to, from, words)
			       : copy_by_table(to, from, words);
}
