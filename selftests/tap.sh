# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Prints TAP. Shell tests source this file. For a guest, it is copied next to the tests.

tmp=$(mktemp -d "${TMPDIR:-/tmp}/posixtrace-test.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
number=0 failures=0

# plan COUNT: announces COUNT results
plan()
{
	echo "TAP version 13"
	echo "1..$1"
}

# begin COUNT: announces COUNT results of a test that needs the module
begin()
{
	if [ ! -e /dev/posixtrace ]; then
		echo "TAP version 13"
		echo "1..0 # SKIP no /dev/posixtrace: load the module, or use \"make check\""
		exit 4
	fi
	plan "$1"
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
			[ ! -f "$output" ] || cat -v "$output" | sed 's/^\(.\{400\}\).*/\1.../; s/^/# /'
		done
		echo "not ok $number $1"
	fi
}

# check NAME COMMAND...: runs a command as a test
check()
{
	checked=$1
	shift
	if "$@" >"$tmp/out" 2>&1; then
		result "$checked" 0
	else
		result "$checked" 1
	fi
}

# finish: returns the exit status of the test
finish()
{
	[ "$failures" -eq 0 ]
}
