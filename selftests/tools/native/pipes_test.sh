#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests reading logs through pipes and from compressed files.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# as_from_file COMMAND...: compares the output of COMMAND with the file wanted, which has the output
# of dump for the file
as_from_file()
{
	run 0 "$@"
	diff wanted out
	complains
}

test_a_pipe_is_like_a_file()
{
	make_log log 20000 2 >/dev/null
	posixtrace dump log >wanted
	[ "$(wc -l <wanted)" -eq 20000 ]
	as_from_file posixtrace dump - < <(cat log)
	as_from_file posixtrace dump - <log
	as_from_file posixtrace dump <(cat log)
	mkfifo fifo
	cat log >fifo &
	as_from_file posixtrace dump fifo
	wait $!
	# commands that read the log twice, or seek
	posixtrace dump --from=1ms --filter='*.duration > 1ns' log >wanted
	as_from_file posixtrace dump --from=1ms --filter='*.duration > 1ns' - < <(cat log)
	posixtrace stat log >wanted
	as_from_file posixtrace stat - < <(cat log)
	posixtrace export -O chrome log >wanted
	as_from_file posixtrace export -O chrome - < <(cat log)
	posixtrace list log >wanted
	as_from_file posixtrace list - < <(cat log)
	posixtrace stat --diff log log >wanted
	run 0 posixtrace stat --diff log - < <(cat log)
	sed 's/standard input/log/' out | diff wanted -
}

test_compressed_files_are_unpacked()
{
	local program
	make_log log 20000 2 >/dev/null
	posixtrace dump log >wanted
	for program in gzip xz zstd; do
		"$program" -qc log >packed
		as_from_file posixtrace dump packed
		as_from_file posixtrace dump - < <(cat packed)
		as_from_file posixtrace dump -F packed
		# the part that could be decompressed must be shown
		head -c $(($(stat -c %s packed) * 3 / 4)) packed >part
		run 0 posixtrace dump part
		[ "$(wc -l <out)" -gt 5000 ]
		[ "$(wc -l <out)" -lt "$(wc -l <wanted)" ]
		grep -qx "posixtrace: part: $program cannot unpack all of it: the rest is missing" err
		head -c 20 packed >part
		run 1 posixtrace dump part
		# the program that decompresses is missing
		mkdir -p "bin-$program"
		ln -sf "$(command -v posixtrace)" "bin-$program"
		run 1 env PATH="bin-$program" posixtrace dump packed
		complains "posixtrace: packed: compressed: needs the program $program"
	done
	echo text | gzip >packed
	run 1 posixtrace dump packed
	complains 'posixtrace: packed: not a trace log, or its first 512 bytes are missing or damaged'
}

test_what_is_not_a_log_is_refused()
{
	run 1 posixtrace dump - </dev/null
	complains 'posixtrace: standard input: not a file or pipe'
	run 1 posixtrace dump - < <(:)
	complains 'posixtrace: standard input: not a trace log, or its first 512 bytes are missing or damaged'
	run 1 posixtrace dump - < <(head -c 100000 /dev/urandom)
	complains 'posixtrace: standard input: not a trace log, or its first 512 bytes are missing or damaged'
	make_log log 2000 2 >/dev/null
	run 1 env TMPDIR=/missing posixtrace dump - < <(cat log)
	complains 'posixtrace: standard input: no temporary file in /missing: No such file or directory; set TMPDIR to another directory'
}

# No copy may remain in the directory, and a full directory must be reported.
test_the_copy_is_bounded()
{
	mkdir room
	[ "$(id -u)" = 0 ] || return 0
	unshare -m true 2>/dev/null || return 0
	make_log log 200000 2 >/dev/null
	# shellcheck disable=SC2016	# expanded there
	run 1 unshare -m sh -c 'mount -t tmpfs -o size=2M none room &&
		cat log | TMPDIR=$PWD/room posixtrace dump -'
	grep -qE '^posixtrace: standard input: no room for the log in .*/room \([0-9]+ MB\): No space left on device; set TMPDIR elsewhere$' err
	[ ! -s out ]
	head -c 3000000 log >part
	run 0 env TMPDIR="$PWD/room" posixtrace dump - < <(cat part)
	[ -z "$(ls -A room)" ]
}

test_a_pipe_is_not_followed()
{
	make_log log 2000 2 >/dev/null
	run 2 posixtrace dump -F - <log
	complains 'posixtrace: --follow: cannot follow standard input: it is read to its end' \
		'posixtrace: see "posixtrace dump --help"'
	# A copy of a log without an end does not grow, so dump does not wait.
	head -c $(($(stat -c %s log) / 2)) log | gzip >packed
	run 0 timeout 60 posixtrace dump -F packed
	[ -s out ]
	complains 'posixtrace: packed: the log has no end: it is still being written, or was cut short'
}

# In "record -o - | dump -", Ctrl-C interrupts both, but the recorder still writes.
test_the_first_interrupt_waits_for_the_writer()
{
	local reader
	make_log log 20000 2 >/dev/null
	posixtrace dump log >wanted
	mkfifo fifo
	# Background processes of a shell ignore SIGINT.
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' posixtrace dump fifo >out 2>err &
	reader=$!
	exec 5>fifo
	head -c 30000 log >&5
	# Wait until the command catches the signal.
	timeout 60 sh -c 'until grep -q "^SigCgt:.*[2367abef]$" /proc/'"$reader"'/status; do sleep 0.05; done'
	kill -INT "$reader"
	timeout 60 sh -c 'while grep -q "^SigCgt:.*[2367abef]$" /proc/'"$reader"'/status; do sleep 0.05; done'
	tail -c +30001 log >&5
	exec 5>&-
	wait "$reader"
	diff wanted out
}

run_cases
