#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that each command reports damage anywhere in a LOOP log, and fails. The damage may be in
# events, names, metadata or the status.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# Two blocks in the ring, followed by two metadata blocks.
good_log()
{
	printf '%s\n' 'ring 65536' 'name 65 tick' 'name 66 tock' 'describe 65 { u32 a; }' \
		'task 10 11 0 thread' 'block 0' 'event 65 1700000000000000000 pid=10 tid=11 hex=01000000' \
		epoch 'block 1' 'event 66 1700000000000002000 pid=10 tid=11' end | write_log good
	status=512 names=576 name=72
	ring=$(places "$names" | head -n 1)
	metadata=$(places $((ring + 65536)) | head -n 1)
}

# places FROM: prints the offsets of the blocks in the file good, from FROM on
places()
{
	LC_ALL=C grep -abo PXTB good | cut -d : -f 1 | awk -v from="$1" '$1 >= from'
}

# flip AT: writes the file log, with one bit flipped at AT
flip()
{
	local byte
	cp good log
	byte=$(od -An -tu1 -j "$1" -N 1 good)
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\x$(printf %02x $((byte ^ 16)))" | dd of=log bs=1 seek="$1" conv=notrunc status=none
}

# zeros AT LENGTH: writes the file log, with LENGTH zeros at AT
zeros()
{
	cp good log
	head -c "$2" /dev/zero | dd of=log bs=1 seek="$1" conv=notrunc status=none
}

# commands STATUS: runs all commands that read a log
commands()
{
	local format
	run "$1" posixtrace dump log
	[ "$1" -eq 0 ] || grep -q 'log: the log is damaged' err
	run "$1" posixtrace stat log
	[ "$1" -eq 0 ] || grep -q 'log: the log is damaged' err
	for format in chrome perfetto html ctf; do
		rm -rf exported
		run "$1" posixtrace export -O "$format" -o exported log
		[ "$1" -eq 0 ] || grep -q 'log: the log is damaged' err
	done
}

test_whole_log()
{
	good_log
	cp good log
	commands 0
}

test_names()
{
	local at
	good_log
	for at in $((names + 1)) $((names + 10)) $((names + name + 12)); do
		flip "$at"
		commands 1
	done
	for at in $names $((names + name)); do
		zeros "$at" "$name"
		commands 1
	done
	zeros "$names" $((2 * name))
	commands 1
}

# Names after an entry of zeros must be found.
test_name_behind_zeros()
{
	good_log
	zeros "$names" "$name"
	run 1 posixtrace dump log
	grep -q tock out
	lacks tick out
}

test_status()
{
	local at
	good_log
	for at in $((status + 1)) $((status + 9)) $((status + 20)) $((status + 48)); do
		flip "$at"
		commands 1
	done
}

# Damages the header and the payload of each block, up to the last one.
test_events_and_metadata()
{
	local at
	good_log
	[ "$(places 0 | wc -l)" -eq 4 ]
	for at in $(places 0); do
		flip $((at + 20))
		commands 1
		flip $((at + 128 + 9))
		commands 1
	done
}

test_cut_log()
{
	local at
	good_log
	for at in $(places "$metadata"); do
		head -c $((at + 50)) good >log
		commands 1
	done
}

run_cases
