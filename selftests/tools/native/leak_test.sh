#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Searches for leaks in programs that use the library, with LeakSanitizer.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

top=$native/../../..
export LD_LIBRARY_PATH=$top/build/stage/usr/lib

# build_with_leaks PROGRAM [FLAG...]
build_with_leaks()
{
	local program=$1
	shift
	cc -O1 -g -std=gnu11 -Wall -Wextra -Werror -fsanitize=leak -I"$top/lib/include" -o "$program" "$@" \
		-L"$LD_LIBRARY_PATH" -lposixtrace
}

some_log()
{
	write_log "$1" <<-'END'
		cpus 1
		name 65 request
		describe 65 { u32 id; }
		block 0
		event 65 1700000000000001000 pid=100 thread=0x7f00 hex=07000000
		end
	END
}

# Check that a leak is found: otherwise, the other cases could not fail.
test_sanitizer_finds_a_leak()
{
	printf '%s\n' '#include <stdlib.h>' 'char *volatile p;' \
		'int main(void) { p = malloc(7); p = NULL; return 0; }' >lost.c
	build_with_leaks lost lost.c
	run 23 ./lost
}

test_closed_log_leaves_nothing()
{
	some_log log
	build_with_leaks opens_log "$native/opens_log.c"
	run 0 ./opens_log log close
	[ ! -s err ]
}

test_open_log_is_found_by_the_sanitizer()
{
	some_log log
	build_with_leaks opens_log "$native/opens_log.c"
	run 0 ./opens_log log open
	[ ! -s err ]
}

run_cases
