# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Shell tests that run in a guest source this file, which is copied beside them. Prints TAP.

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
number=0 failures=0

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
