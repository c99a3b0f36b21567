#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compressed logs: the command must read the same from them as from uncompressed logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# recordings: unpacks the logs of real programs, and prints their names
recordings()
{
	local log
	for log in "$native"/logs/*.log.xz; do
		xz -dc "$log" >"$(basename "$log" .xz)"
		basename "$log" .xz
	done
}

# reads_the_same LOG: dump, stat and export must print the same as for the uncompressed log
reads_the_same()
{
	local args
	for args in "dump --json" "stat" "stat -S" "export --format=chrome -o -"; do
		# shellcheck disable=SC2086	# words
		posixtrace $args "$1" >want
		# shellcheck disable=SC2086
		posixtrace $args packed >got
		cmp want got
	done
}

test_recordings_of_real_programs()
{
	local log
	for log in $(recordings); do
		pack_log "$log" packed
		[ "$(stat -c %s packed)" -lt $(($(stat -c %s "$log") * 2 / 3)) ]
		reads_the_same "$log"
	done
}

# Tests pieces of any size. A piece of one word is larger than its contents.
test_pieces_of_any_size()
{
	local piece
	xz -dc "$native/logs/tar.log.xz" >tar.log
	for piece in 8 64 1000 4096 65536; do
		pack_log tar.log packed "$piece"
		reads_the_same tar.log
	done
}

# A log that is cut at any byte must open, with the events up to its last complete block.
test_cut_logs()
{
	local size cut before=0 now
	xz -dc "$native/logs/tar.log.xz" >tar.log
	pack_log tar.log packed
	size=$(stat -c %s packed)
	for ((cut = 512; cut < size; cut += 1237)); do
		head -c "$cut" packed >short
		posixtrace dump --json short >out 2>err
		now=$(wc -l <out)
		[ "$now" -ge "$before" ]
		before=$now
	done
	[ "$before" -gt 500 ]
}

# A damaged block must be reported as one error, and all other events must be read.
test_damaged_blocks()
{
	local at
	xz -dc "$native/logs/tar.log.xz" >tar.log
	pack_log tar.log packed
	posixtrace dump --json packed >whole
	# a byte in the middle of the compressed records
	at=$(($(stat -c %s packed) / 2))
	printf '\377\377' | dd of=packed bs=1 seek="$at" conv=notrunc status=none
	posixtrace dump --json packed >out 2>err || :
	[ "$(grep -c '"posix_trace_error"' out)" -eq 1 ]
	[ "$(wc -l <out)" -lt "$(wc -l <whole)" ]
	[ "$(wc -l <out)" -gt 100 ]
}

run_cases
