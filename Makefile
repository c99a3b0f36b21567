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
# part of the tests to run: busy, waiting, quiet, leaks or module, see selftests/vm/check; empty: all
PART ?=
# directories of tests that do not run: EXCEPT=conformance,tools
EXCEPT ?=
# tests that try many faults or damages one by one try only every Nth, and tests of races run only
# an Nth of the rounds
STRIDE ?=
# N: style, check and check-export leave out what .ci/run tests only in each Nth commit; empty: nothing
TURNS ?=
# check-export: 1 or 2, to run only every second test
HALF ?=
# check-debug: all, to search for leaks after all tests
LEAKS ?=
# covers: the file of the module to look at
FILE ?=
# how long to fuzz; fuzz-uapi: or how many calls, from which seed
FUZZ_SECONDS ?= 60
FUZZ_CALLS ?=
SEED ?=
# processors of the guest: 4, and 2 for fuzz-uapi
SMP ?=
# where the bench also writes its tables
RST ?=

kernel = $(KERNEL)$(if $(filter arm64,$(ARCH)),-arm64)
smp = $(if $(SMP),--smp $(SMP)) $(if $(PART),--part $(PART)) $(if $(EXCEPT),--except $(EXCEPT)) \
	$(if $(STRIDE),--stride $(STRIDE)) $(if $(TURNS),--turns $(TURNS))
SUBDIRS := $(patsubst %/Makefile,%,$(wildcard lib/Makefile tools/Makefile))
install_dirs = DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) INCLUDEDIR=$(INCLUDEDIR)
# The Makefiles of other directories get DESTDIR as well, unquoted.
$(if $(filter-out /%,$(DESTDIR)),$(error DESTDIR must begin with / and have no blanks: $(DESTDIR)))

all: module $(SUBDIRS)

help:
	@echo 'Build:'
	@echo '  all             module, library and tools (the default)'
	@echo '  module          posixtrace.ko, under build/module/'
	@echo '  lib             libposixtrace.so and libposixtrace.a'
	@echo '  tools           the posixtrace command'
	@echo '  doc             man pages and HTML, under build/doc/; needs Sphinx'
	@echo '  compile_commands.json   for clangd: module, library, tools and selftests'
	@echo '  clean           removes what was built, not the kernels in the cache'
	@echo '  deps            as root, installs the Debian packages that these need'
	@echo
	@echo 'Install:'
	@echo '  install         under $$(DESTDIR)$$(PREFIX); the module under'
	@echo '                  $$(DESTDIR)/lib/modules/VERSION/updates; man pages if they are built'
	@echo '  uninstall       removes what install put there'
	@echo '  deb             Debian packages, under build/deb/; ARCH=arm64: under build/deb-arm64/'
	@echo
	@echo 'Try it, in a virtual machine:'
	@echo '  demo            traces a parallel file compressor at work'
	@echo '  selftests/vm/run -- PROGRAM    any program in such a machine (--help)'
	@echo
	@echo 'Test, each day; as root, these install what they need:'
	@echo '  check-quick     about two minutes: a few tests of each kind in a guest'
	@echo '  check           all tests in a guest: KERNEL=$(KERNEL), ARCH=arm64, TEST=stream,'
	@echo '                  TEST=stream:CASE, V=1'
	@echo '  check-command   those where it matters, with the module recording instead of the library'
	@echo '  check-debug     all on a debug kernel (KASAN, lockdep, kmemleak, UBSAN): LEAKS=all looks'
	@echo '                  for leaks after each program; KERNEL=debug-newest'
	@echo '  check-native    the tests that need no module, on this machine: TEST=log_open, V=1'
	@echo '  check-export    what the command makes of logs, on this machine: TEST=dump_test, V=1'
	@echo '  style           all checkers: coding style, static analysis, documents, spelling'
	@echo
	@echo 'Test, before a release:'
	@echo '  check-release   all of the following and more, for hours'
	@echo '  check-matrix    all tests on all kernels: KERNELS="6.12 6.12-rt"'
	@echo '  check-asan      the tests with AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo '  check-tsan      those of library and command with ThreadSanitizer'
	@echo '  check-valgrind  those of reading streams and logs, under valgrind'
	@echo '  check-linking   some with other C libraries (musl, i386), compilers and linkers: TEST=musl'
	@echo '  check-programs  traces of servers, and of memcached and SQLite with points: TEST=sqlite3'
	@echo '  check-deb       installs, upgrades and removes the packages, as root; ARCH=arm64'
	@echo '  check-litmus    barriers by the memory models of Linux and arm64: TEST=07-take'
	@echo
	@echo 'Fuzz, for FUZZ_SECONDS=$(FUZZ_SECONDS):'
	@echo '  fuzz-log        broken logs'
	@echo '  fuzz-fields     descriptions of events'
	@echo '  fuzz-filter     filters of the command'
	@echo '  fuzz-uapi       random calls of the device, on the debug kernel: FUZZ_CALLS=10000000, SEED=42'
	@echo
	@echo 'Measure:'
	@echo '  bench           costs, as tables and as lines "bench: METRIC VALUE UNIT";'
	@echo '                  RST=Documentation/performance-tables.rst writes the tables there'
	@echo '  latency         how long a real-time thread waits beside the module: KERNEL=6.1-rt'
	@echo '  coverage        lines of the module that the tests run, on the debug kernel'
	@echo '  covers          tests that run the lines of one file: FILE=kmod/main.c, TEST=kmod'
	@echo
	@echo 'Variables: KERNEL (6.1 6.1-oldest 6.1-rt 6.12 6.12-rt trixie newest kcsan debug debug-newest),'
	@echo 'KDIR (kernel headers), PREFIX, LIBDIR, INCLUDEDIR, MANDIR, DESTDIR, SMP (processors of a guest,'
	@echo 'at least 2), POSIXTRACE_CACHE (where kernels are kept: ~/.cache/posixtrace)'

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
		uapi/linux/posixtrace_log.h uapi/linux/posixtrace_memory.h \
		uapi/linux/posixtrace_states.h
	@scripts/doc install '$(DESTDIR)$(MANDIR)'

# Only the Makefiles know what they install, so the script installs again into an empty directory,
# and removes the same files.
uninstall: all
	@scripts/uninstall '$(DESTDIR)' '$(PREFIX)' '$(LIBDIR)' '$(INCLUDEDIR)' '$(MANDIR)'

deb:
	@scripts/deb $(if $(filter arm64,$(ARCH)),--arch arm64 build/deb-arm64)

.PHONY: doc
doc:
	@scripts/doc build

compile_commands.json:
	@scripts/deps --check build
	@scripts/compile-commands $(KDIR)

demo:
	@scripts/demo $(kernel)

check:
	@selftests/vm/check --kernel $(kernel) $(smp) $(if $(filter-out 0,$(V)),--verbose) $(TEST)

# A few programs of each kind: commands, rights, recording, order, losses, logs, forks, the kernel's
# events, the command, an example.
check-quick:
	@selftests/vm/check --kernel $(kernel) --smp $(or $(SMP),2) $(if $(filter-out 0,$(V)),--verbose) \
		kmod/load_test kmod/role_test kmod/stream_test kmod/rights_test kmod/record_test \
		kmod/next_test kmod/policy_test kmod/mmap_test kmod/log_test kmod/wait_test \
		lib/event_test lib/lifecycle_test lib/threads_test lib/inherit_control_test \
		lib/exec_test lib/withlog_test lib/log_flush_test lib/points_test lib/signal_test \
		lib/kernel_events_test tools/posixtrace_test.sh tools/dump_test.sh \
		conformance/posix_trace_create_test conformance/posix_trace_getnext_event_test \
		conformance/xsh_2_11_streams_losses_test examples/hello_test.sh

# Runs the tests that record, but lets the module write their events. Other tests try both ways.
check-command:
	@selftests/vm/check --kernel $(kernel) $(smp) --no-sequences $(if $(filter-out 0,$(V)),--verbose) \
		$(or $(TEST),conformance event_test threads_test signal_test inherit_test \
			inherit_race_test full_policy_test stats_test \
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

# Runs on the debug kernel unless KERNEL is set.
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

# With ThreadSanitizer, only programs with threads run.
check-asan:
	@selftests/sanitizers/run address $(TEST)

check-tsan:
	@selftests/sanitizers/run thread $(or $(TEST),conformance lib tools examples)

check-export:
	@V=$(V) selftests/tools/native/run $(if $(TURNS),--turns $(TURNS)) $(if $(HALF),--half $(HALF)) $(TEST)

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
	@scripts/style $(if $(TURNS),--turns $(TURNS))

clean:
	@for dir in $(SUBDIRS) $(wildcard selftests/demo selftests/bench); do \
		$(MAKE) --no-print-directory -C $$dir clean || exit; done
	rm -rf build

.PHONY: all help compile_commands.json deps module install uninstall deb demo check check-quick check-command check-debug \
	check-export check-linking check-litmus check-native check-deb check-matrix check-programs check-release \
	check-asan check-tsan coverage covers check-valgrind fuzz-fields fuzz-filter fuzz-log fuzz-uapi bench latency \
	style clean $(SUBDIRS)
