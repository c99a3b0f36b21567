#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests that the program of the README prints what the README shows. Prints TAP.

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

echo "TAP version 13"
if [ ! -e /dev/posixtrace ]; then
	echo "1..0 # SKIP no /dev/posixtrace: load the module, or use \"make check\""
	exit 4
fi
echo "1..1"

cat >"$tmp/expected" <<'END'
posix_trace_start
hello:greeting "hello"
hello:greeting "world"
posix_trace_stop
END

# Compares the output without its times, which must be in order.
if ./hello_helper >"$tmp/out" && sort -n -c "$tmp/out" &&
	sed -E 's/^[0-9]+\.[0-9]{9}  //' "$tmp/out" | cmp - "$tmp/expected"; then
	echo "ok 1 hello_records_and_reads_its_events"
else
	sed 's/^/# /' "$tmp/out"
	echo "not ok 1 hello_records_and_reads_its_events"
	exit 1
fi
