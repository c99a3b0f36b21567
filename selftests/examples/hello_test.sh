#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests that the program of the README prints what the README shows. Prints TAP.

# shellcheck source=selftests/tap.sh
. ./tap.sh

begin 1

cat >"$tmp/expected" <<'END'
posix_trace_start
hello:greeting "hello"
hello:greeting "world"
posix_trace_stop
END

# Compares the output without the times. The times must be in order.
./hello_helper >"$tmp/out" && sort -n -c "$tmp/out" &&
	sed -E 's/^[0-9]+\.[0-9]{9}  //' "$tmp/out" | cmp - "$tmp/expected"
result hello_records_and_reads_its_events $?
finish
