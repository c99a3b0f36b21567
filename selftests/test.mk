# SPDX-License-Identifier: GPL-2.0
# Included by the Makefile of each test directory. Tests print TAP: each *_test.c is compiled, and
# each *_test.sh sources tap.sh. Each *_helper.c becomes a program that tests start. Uses
# kselftest's lib.mk, which needs its variables set before it is included.

TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/..)
BUILD ?= $(TOP)/build
OUTPUT ?= $(BUILD)/selftests/$(notdir $(CURDIR))
KSELFTEST ?= $(shell $(TOP)/selftests/vm/source tools)/tools/testing/selftests
STAGE := $(BUILD)/stage
SUPPORT := $(BUILD)/selftests/support/libsupport.a

all:

TEST_GEN_PROGS := $(patsubst %.c,%,$(wildcard *_test.c))
TEST_GEN_FILES += $(patsubst %.c,%,$(wildcard *_helper.c))
TEST_PROGS := $(wildcard *_test.sh)
# Files that the tests source. In the guest, all files of a test directory are in the same place.
TEST_FILES += $(if $(TEST_PROGS),$(TOP)/selftests/tap.sh) $(wildcard command.sh)

include $(TOP)/selftests/flags.mk
CFLAGS += -isystem $(KSELFTEST)
# Link with the shared library, so that a symbol that is missing in its map is noticed. A program
# that does not use the library must not load it, because the library attaches each process.
# Sanitizers switch off the linker's --as-needed.
LDLIBS += $(SUPPORT) -L$(STAGE)/usr/lib -Wl,--as-needed -lposixtrace -Wl,-rpath,$(STAGE)/usr/lib

PROGRAMS := $(patsubst %.c,$(OUTPUT)/%,$(wildcard *_test.c *_helper.c))
EXTRA_CLEAN := $(PROGRAMS:=.o) $(PROGRAMS:=.d)

# Do not use lib.mk's rules: they compile and link in one step, so a change in the library would
# recompile all programs.
OVERRIDE_TARGETS := 1
$(shell mkdir -p $(OUTPUT))
include $(KSELFTEST)/lib.mk

$(PROGRAMS): %: %.o $(SUPPORT)
	$(LINK.c) $@.o $(LDLIBS) -o $@

# -MT, as in support and fuzz: otherwise ccache writes a relative path of the object, which does not
# match the target of this rule.
$(PROGRAMS:=.o): $(OUTPUT)/%.o: %.c $(KSELFTEST)/kselftest_harness.h $(KSELFTEST)/kselftest.h
	$(COMPILE.c) -MMD -MP -MT $@ -o $@ $<

# The Makefile of support decides if the library is out of date.
$(SUPPORT): FORCE
	@$(MAKE) --no-print-directory -s -C $(TOP)/selftests/support BUILD=$(BUILD) OUTPUT=$(@D)

-include $(PROGRAMS:=.d)

list:
	@$(foreach test,$(TEST_GEN_PROGS) $(abspath $(TEST_PROGS)),echo test $(test);)
	@$(foreach file,$(TEST_GEN_FILES) $(abspath $(TEST_FILES)),echo file $(file);)

.PHONY: list FORCE
