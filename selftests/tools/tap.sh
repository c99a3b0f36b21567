# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The tests of the posixtrace command source this file. It prints TAP.

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
number=0 failures=0
status=0

# begin COUNT: announces COUNT results
begin()
{
	echo "TAP version 13"
	if [ ! -e /dev/posixtrace ]; then
		echo "1..0 # SKIP no /dev/posixtrace: load the module, or use \"make check\""
		exit 4
	fi
	echo "1..$1"
}

# result NAME STATUS: prints the result of a test; it passes if STATUS is 0
result()
{
	number=$((number + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $number $1"
	else
		failures=$((failures + 1))
		for output in "$tmp/out" "$tmp/err"; do
			[ ! -f "$output" ] || sed 's/^/# /' "$output"
		done
		echo "not ok $number $1"
	fi
}

# finish: returns the exit status of the test
finish()
{
	[ "$failures" -eq 0 ]
}

# run STATUS ARGUMENT...: runs posixtrace; fails if its exit status is not STATUS
run()
{
	wanted=$1
	shift
	posixtrace "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" -eq "$wanted" ] || { echo "# status $status"; return 1; }
}

# run_as_nobody STATUS ARGUMENT...: runs posixtrace without any rights
run_as_nobody()
{
	wanted=$1
	shift
	su -s /bin/sh nobody -c "exec posixtrace $*" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq "$wanted" ]
}

# start ARGUMENT...: runs posixtrace in the background, as process $started. Empties the output
# files first: the background process empties them later, perhaps after a test has read them.
start()
{
	: >"$tmp/out"
	: >"$tmp/err"
	posixtrace "$@" >"$tmp/out" 2>"$tmp/err" &
	started=$!
}

# ended STATUS: waits for the process of start(); fails if its exit status is not STATUS
ended()
{
	wait "$started"
	status=$?
	[ "$status" -eq "$1" ] || { echo "# status $status"; return 1; }
}

# until_true COMMAND...: repeats the command until it succeeds; fails if the process of start()
# ends before
until_true()
{
	until "$@"; do
		kill -0 "$started" 2>/dev/null || return 1
	done
}

# The process of start() has blocked SIGINT and SIGTERM: a descriptor receives them.
blocks_signals()
{
	grep -q '^SigBlk:.*400[23]$' "/proc/$started/status" 2>/dev/null
}

says()
{
	grep -qE -- "$1" "$tmp/out"
}

complains()
{
	grep -qE -- "$1" "$tmp/err"
}
