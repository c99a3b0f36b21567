# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of the posixtrace command, which include this file. Speaks TAP.

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
number=0 failures=0
status=0

# begin COUNT: how many results there will be
begin()
{
	echo "TAP version 13"
	if [ ! -e /dev/posixtrace ]; then
		echo "1..0 # SKIP no /dev/posixtrace: insert posixtrace.ko, or use \"make check\""
		exit 4
	fi
	echo "1..$1"
}

# result NAME STATUS: STATUS 0 is a pass
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

# finish: the exit status of the test
finish()
{
	[ "$failures" -eq 0 ]
}

# run STATUS ARGUMENT...: runs posixtrace; fails when its status is another
run()
{
	wanted=$1
	shift
	posixtrace "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" -eq "$wanted" ] || { echo "# status $status"; return 1; }
}

# start ARGUMENT...: runs posixtrace in the background, as process $started. What was
# said before must be gone by then: the background empties the files when it gets to it.
start()
{
	: >"$tmp/out"
	: >"$tmp/err"
	posixtrace "$@" >"$tmp/out" 2>"$tmp/err" &
	started=$!
}

# ended STATUS: waits for what start() has started
ended()
{
	wait "$started"
	status=$?
	[ "$status" -eq "$1" ] || { echo "# status $status"; return 1; }
}

# until COMMAND...: again and again, as long as what start() has started runs
until_true()
{
	until "$@"; do
		kill -0 "$started" 2>/dev/null || return 1
	done
}

says()
{
	grep -qE -- "$1" "$tmp/out"
}

complains()
{
	grep -qE -- "$1" "$tmp/err"
}
