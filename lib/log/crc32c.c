// SPDX-License-Identifier: MIT
/*
 * CRC32C: uses the SSE 4.2 instruction if the CPU supports it, or else eight tables, for
 * eight bytes at a time.
 */
#include <endian.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "log/crc32c.h"

#define POLYNOMIAL	0x82f63b78U	/* reflected */
#define CPUID_SSE4_2	(1U << 20)	/* ecx of leaf 1 */

/* Written once, under @once. */
static uint32_t table[8][256];
static bool have_instruction;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Use assembly, because the compiler may not be allowed to use the instruction. */
#ifdef __x86_64__
static bool cpu_has_instruction(void)
{
	uint32_t eax = 1, ebx, ecx, edx;

	__asm__("cpuid" : "+a" (eax), "=b" (ebx), "=c" (ecx), "=d" (edx));
	return ecx & CPUID_SSE4_2;
}
#else
#define cpu_has_instruction() false
#endif

static void prepare(void)
{
	unsigned int i, k;
	uint32_t crc;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][i] = crc;
	}
	for (k = 1; k < 8; k++)
		for (i = 0; i < 256; i++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
	have_instruction = cpu_has_instruction();
}

static uint32_t by_bytes(uint32_t crc, const unsigned char *data, size_t len)
{
	while (len--)
		crc = crc >> 8 ^ table[0][(crc ^ *data++) & 0xff];
	return crc;
}

static uint32_t by_table(uint32_t crc, const unsigned char *data, size_t len)
{
	uint64_t word;

	for (; len >= 8; data += 8, len -= 8) {
		memcpy(&word, data, 8);
		word = le64toh(word) ^ crc;
		crc = table[7][word & 0xff] ^ table[6][word >> 8 & 0xff] ^
		      table[5][word >> 16 & 0xff] ^ table[4][word >> 24 & 0xff] ^
		      table[3][word >> 32 & 0xff] ^ table[2][word >> 40 & 0xff] ^
		      table[1][word >> 48 & 0xff] ^ table[0][word >> 56];
	}
	return by_bytes(crc, data, len);
}

#ifdef __x86_64__
static uint32_t by_instruction(uint32_t crc, const unsigned char *data, size_t len)
{
	uint64_t word, wide = crc;

	for (; len >= 8; data += 8, len -= 8) {
		memcpy(&word, data, 8);
		__asm__("crc32q %1, %0" : "+r" (wide) : "rm" (word));
	}
	return by_bytes((uint32_t)wide, data, len);
}
#else
#define by_instruction by_table
#endif

uint32_t pxtu_crc32c(uint32_t crc, const void *data, size_t len)
{
	pthread_once(&once, prepare);
	return ~(have_instruction ? by_instruction(~crc, data, len) : by_table(~crc, data, len));
}

uint32_t pxtu_crc32c_table(uint32_t crc, const void *data, size_t len)
{
	pthread_once(&once, prepare);
	return ~by_table(~crc, data, len);
}
