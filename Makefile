# SPDX-License-Identifier: GPL-2.0
# The targets for people. Kbuild builds the module, selftests/vm boots guests, and
# scripts/deps installs what these need.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DESTDIR ?=
# kernel headers to build for; empty: the running kernel's, else the newest installed
KDIR ?=
# kernel to test on: 6.1 6.1-oldest 6.1-rt 6.12 6.12-rt trixie newest debug debug-newest kcsan
KERNEL ?= 6.1
# architecture to test on: arm64; empty: this machine's
ARCH ?=
# kernels of check-matrix; empty: all
KERNELS ?=
# tests to run; empty: all. V=1 shows every line that they print
TEST ?=
V ?= 0
# part of the tests to run: busy, waiting, quiet or leaks, see selftests/vm/check; empty: all
PART ?=
# directories of tests that do not run: EXCEPT=conformance,tools
EXCEPT ?=
# check-debug: all, to look for leaks behind all tests
LEAKS ?=
# covers: the file of the module to look at
FILE ?=
# how long to fuzz; fuzz-uapi: or how many calls, from which seed
FUZZ_SECONDS ?= 60
FUZZ_CALLS ?=
SEED ?=
# processors of the guest: 4, and 2 for fuzz-uapi
SMP ?=
# where the tables of the bench go, too
RST ?=

kernel = $(KERNEL)$(if $(filter arm64,$(ARCH)),-arm64)
smp = $(if $(SMP),--smp $(SMP)) $(if $(PART),--part $(PART)) $(if $(EXCEPT),--except $(EXCEPT))
SUBDIRS := $(patsubst %/Makefile,%,$(wildcard lib/Makefile tools/Makefile))
install_dirs = DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) INCLUDEDIR=$(INCLUDEDIR)
# The Makefiles of other folders also get it.
$(if $(filter-out /%,$(DESTDIR)),$(error DESTDIR must begin with / and have no blanks: $(DESTDIR)))

all: module $(SUBDIRS)

help:
	@echo 'Build:'
	@echo '  all            module, library and tools (the default)'
	@echo '  module         posixtrace.ko, under build/module/'
	@echo '  lib            libposixtrace.so and libposixtrace.a'
	@echo '  tools          the posixtrace command'
	@echo '  doc            man pages and HTML, under build/doc/; needs Sphinx'
	@echo '  install        all of it, under $$(DESTDIR)$$(PREFIX); the module under'
	@echo '                 $$(DESTDIR)/lib/modules/VERSION/updates; man pages if they are built'
	@echo '  uninstall      what install put there'
	@echo '  deb            Debian packages, under build/deb/: posixtrace-dkms, libposixtrace1,'
	@echo '                 libposixtrace-dev and posixtrace-tools; ARCH=arm64: for arm64, under'
	@echo '                 build/deb-arm64/'
	@echo '  clean          removes what was built, not the kernels in the cache'
	@echo '  deps           as root, installs the Debian packages that these need. The others say'
	@echo '                 what is missing and install nothing; deb installs what it needs'
	@echo
	@echo 'Try and test, in a virtual machine; as root they say what is missing and install it:'
	@echo '  demo           traces a parallel file compressor at work'
	@echo '  check          runs the tests: KERNEL=$(KERNEL), ARCH=arm64, TEST=stream, TEST=stream:CASE, V=1'
	@echo '  check-command  those where it matters without restartable sequences: what is'
	@echo '                 recorded, the module writes'
	@echo '  check-debug    all on a debug kernel (KASAN, lockdep, kmemleak, UBSAN);'
	@echo '                 the first run builds it, which takes some minutes; LEAKS=all looks'
	@echo '                 for leaks behind each program, not only where all allocations are;'
	@echo '                 KERNEL=debug-newest: the same on the kernel of sid'
	@echo '  check-matrix   all on all kernels, which takes hours: KERNELS="6.12 6.12-rt"'
	@echo '  coverage       which lines of the module the tests run, on the debug kernel'
	@echo '  covers         which tests run the lines of one file of it: FILE=kmod/main.c, TEST=kmod'
	@echo '  check-release  what is worth a run before a release, for hours: all kernels,'
	@echo '                 sanitizers, valgrind, ten million random calls'
	@echo '  check-linking  some tests with other C libraries (musl, i386), compilers and linkers: TEST=musl'
	@echo '  check-deb      installs, upgrades and removes the packages in a small Debian system,'
	@echo '                 as root only; ARCH=arm64: in an emulated machine'
	@echo '  check-valgrind the tests of reading streams and logs, under valgrind'
	@echo '  check-asan     the tests with AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo '  check-tsan     those of library and command with ThreadSanitizer'
	@echo '  check-native   the tests that need no module, on this machine: TEST=log_open, V=1'
	@echo '  check-litmus   pairs of barriers by the memory models of Linux and arm64: TEST=07-take'
	@echo '  check-export   what the command makes of logs: no virtual machine, TEST=dump_test, V=1'
	@echo '  check-programs traces of servers, and of memcached and SQLite with points: TEST=sqlite3, V=1'
	@echo '  fuzz-log       feeds broken logs to the library, for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo '  fuzz-fields    feeds descriptions of events to the library, for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo '  fuzz-filter    feeds filters of the command to their reader, for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo '  fuzz-uapi      calls the device at random, on the debug kernel: FUZZ_SECONDS or'
	@echo '                 FUZZ_CALLS=10000000, SEED=42'
	@echo '  bench          what things cost: tables, and lines "bench: METRIC VALUE UNIT";'
	@echo '                 RST=Documentation/performance-tables.rst writes the tables there'
	@echo '  latency        how long a real-time thread waits beside the module: KERNEL=6.1-rt'
	@echo '  style          checkpatch, sparse, Coccinelle, analyzers, kernel-doc, shellcheck, layers,'
	@echo '                 spelling, what documents and man pages name, litmus tests'
	@echo '  selftests/vm/run -- PROGRAM    any program in such a machine (--help)'
	@echo
	@echo 'Variables: KDIR (kernel headers), PREFIX, LIBDIR, INCLUDEDIR, MANDIR, DESTDIR;'
	@echo 'SMP, processors of a guest, at least 2; and POSIXTRACE_CACHE, where kernels are kept'
	@echo '(~/.cache/posixtrace).'

deps:
	@scripts/deps build doc
	@$(if $(KDIR),,scripts/headers --install >/dev/null)

module:
	@scripts/deps --check compiler
	@scripts/host-module build $(KDIR)

$(SUBDIRS):
	@scripts/deps --check $(if $(filter tools,$@),build,compiler)
	@$(MAKE) --no-print-directory -C $@

tools: $(filter lib,$(SUBDIRS))

install: all
	@scripts/host-module install '$(DESTDIR)' $(KDIR)
	@for dir in $(SUBDIRS); do $(MAKE) --no-print-directory -C $$dir install $(install_dirs) || exit; done
	install -D -m 644 -t $(DESTDIR)$(INCLUDEDIR)/linux uapi/linux/posixtrace.h \
		uapi/linux/posixtrace_log.h uapi/linux/posixtrace_memory.h
	@scripts/doc install '$(DESTDIR)$(MANDIR)'

# Each Makefile knows what it installed: install once more, elsewhere, and look.
uninstall: all
	@scripts/uninstall '$(DESTDIR)' '$(PREFIX)' '$(LIBDIR)' '$(INCLUDEDIR)' '$(MANDIR)'

deb:
	@scripts/deb $(if $(filter arm64,$(ARCH)),--arch arm64 build/deb-arm64)

.PHONY: doc
doc:
	@scripts/doc build

demo:
	@scripts/demo $(kernel)

check:
	@selftests/vm/check --kernel $(kernel) $(smp) $(if $(filter-out 0,$(V)),--verbose) $(TEST)

# The tests that record, with the module recording. All other tests try both ways themselves.
check-command:
	@selftests/vm/check --kernel $(kernel) $(smp) --no-sequences $(if $(filter-out 0,$(V)),--verbose) \
		$(or $(TEST),conformance event_test threads_test signal_test inherit_test \
			inherit_race_test policy_loop_test policy_until_full_test stats_test \
			lifecycle_test hotplug_test log_flush_test log_mappings_test wake_test \
			clock_test clock_drift_test points_test)

check-debug: debug_kernel = $(if $(filter command line environment,$(origin KERNEL)),$(KERNEL),debug)
check-debug:
	$(if $(filter-out all,$(LEAKS)),$(error LEAKS=$(LEAKS): all, or nothing))
	$(if $(filter-out debug debug-newest,$(debug_kernel)),$(error KERNEL=$(KERNEL): debug or debug-newest))
	@selftests/vm/check --kernel $(debug_kernel) $(smp) $(if $(LEAKS),--all-leaks) \
		$(if $(filter-out 0,$(V)),--verbose) $(TEST)

fuzz-log:
	@selftests/fuzz/run $(FUZZ_SECONDS) log

fuzz-fields:
	@selftests/fuzz/run $(FUZZ_SECONDS) fields

fuzz-filter:
	@selftests/fuzz/run $(FUZZ_SECONDS) filter

# On the debug kernel, unless another one is asked for.
fuzz-uapi:
	@selftests/fuzz/uapi --kernel $(if $(filter command line environment,$(origin KERNEL)),$(KERNEL),debug) \
		--seconds $(FUZZ_SECONDS) --smp $(or $(SMP),2) $(if $(FUZZ_CALLS),--calls $(FUZZ_CALLS)) \
		$(if $(SEED),--seed $(SEED))

check-matrix:
	@selftests/vm/matrix $(KERNELS)

latency:
	@selftests/bench/latency $(if $(filter command line environment,$(origin KERNEL)),$(KERNEL))

coverage:
	@selftests/coverage/run $(TEST)

covers:
	$(if $(FILE),,$(error FILE=kmod/main.c: the file of the module to look at))
	@selftests/coverage/covers $(FILE) $(TEST)

check-valgrind:
	@selftests/valgrind/run $(TEST)

# ThreadSanitizer runs fewer programs: those with threads.
check-asan:
	@selftests/sanitizers/run address $(TEST)

check-tsan:
	@selftests/sanitizers/run thread $(or $(TEST),conformance lib tools examples)

check-export:
	@V=$(V) selftests/tools/native/run $(TEST)

check-programs:
	@V=$(V) selftests/programs/run $(TEST)

check-release:
	@scripts/check-release

check-native:
	@V=$(V) selftests/native/run $(TEST)

check-litmus:
	@selftests/litmus/run $(TEST)

check-linking:
	@V=$(V) selftests/linking/run $(TEST)

check-deb:
	@selftests/packages/$(if $(filter arm64,$(ARCH)),arm64,run)

bench:
	@$(if $(filter arm64,$(ARCH)),selftests/bench/arm64 $(KERNEL),selftests/bench/run $(if $(RST),--rst $(RST)) $(KERNEL))

style:
	@scripts/style

clean:
	@for dir in $(SUBDIRS) $(wildcard selftests/demo selftests/bench); do \
		$(MAKE) --no-print-directory -C $$dir clean || exit; done
	rm -rf build

.PHONY: all help deps module install uninstall deb demo check check-command check-debug \
	check-export check-linking check-litmus check-native check-deb check-matrix check-programs check-release \
	check-asan check-tsan coverage covers check-valgrind fuzz-fields fuzz-filter fuzz-log fuzz-uapi bench latency \
	style clean $(SUBDIRS)
