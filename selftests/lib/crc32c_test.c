// SPDX-License-Identifier: GPL-2.0
/*
 * The checksum of logs: a known value, and both implementations compared with a bitwise one. Needs
 * no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include "pxt_test.h"
#include "log_writer.h"

#include "../../lib/log/crc32c.c"

#define BYTES	1100

static unsigned char bytes[BYTES];

static void fill(void)
{
	unsigned int random = 1;

	for (int i = 0; i < BYTES; i++) {
		random = random * 1103515245 + 12345;
		bytes[i] = random >> 16;
	}
}

TEST(known_value)
{
	EXPECT_EQ(0xe3069283, pxtu_crc32c(0, "123456789", 9));
	EXPECT_EQ(0xe3069283, pxtu_crc32c_table(0, "123456789", 9));
	EXPECT_EQ(0xe3069283, log_crc("123456789", 9));
	EXPECT_EQ(0, pxtu_crc32c(0, NULL, 0));
}

TEST(any_length_and_alignment)
{
	fill();
	for (int start = 0; start < 9; start++) {
		for (int len = 0; len < BYTES - start; len += len < 40 ? 1 : 31) {
			__u32 crc = log_crc(bytes + start, len);

			ASSERT_EQ(crc, pxtu_crc32c(0, bytes + start, len));
			ASSERT_EQ(crc, pxtu_crc32c_table(0, bytes + start, len));
		}
	}
}

TEST(in_pieces)
{
	fill();
	for (int i = 0; i <= 64; i++) {
		__u32 crc = pxtu_crc32c(0, bytes, i);

		EXPECT_EQ(log_crc(bytes, 64), pxtu_crc32c(crc, bytes + i, 64 - i));
		crc = pxtu_crc32c_table(0, bytes, i);
		EXPECT_EQ(log_crc(bytes, 64), pxtu_crc32c_table(crc, bytes + i, 64 - i));
	}
}

TEST_HARNESS_MAIN
