# SPDX-License-Identifier: GPL-2.0
# How the test programs, and their library selftests/support, are compiled.

CFLAGS += -O2 -g -std=gnu11 -Wall -Wextra -Werror -pthread -I. -I$(TOP)/selftests/include \
	-I$(TOP)/uapi -I$(TOP)/lib/include
