# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the tests of what the command makes of logs, which need no module. A test script
# sources this, defines functions test_NAME, and calls tap_main: each is a case. It runs in
# a folder of its own, and fails where the first of its commands does. "run" has put the
# command, and the programs that write logs, into the path.

# shellcheck disable=SC2034 # used by those who source this
native=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

tap_main()
{
	local work case number=0 failures=0 cases
	work=$(mktemp -d "${TMPDIR:-/tmp}/posixtrace-native.XXXXXX")
	# shellcheck disable=SC2064 # now
	trap "rm -rf '$work'" EXIT
	mapfile -t cases < <(declare -F | sed -n 's/^declare -f test_//p')
	echo "TAP version 13"
	echo "1..${#cases[@]}"
	for case in "${cases[@]}"; do
		number=$((number + 1))
		mkdir "$work/$case"
		echo "#  RUN           $case ..."
		# not as a condition, in which "set -e" has no effect
		(
			set -euo pipefail
			cd "$work/$case"
			"test_$case"
		) >"$work/said" 2>&1 &
		if wait $!; then
			echo "ok $number $case"
		else
			sed 's/^/# /' "$work/said"
			echo "not ok $number $case"
			failures=$((failures + 1))
		fi
		rm -rf "${work:?}/$case"
	done
	[ "$failures" -eq 0 ]
}

# run STATUS COMMAND...: what it says goes to the files out and err; its status has to be that
run()
{
	local wanted=$1 status=0
	shift
	"$@" >out 2>err || status=$?
	[ "$status" -eq "$wanted" ] || {
		echo "$*: exit status $status, not $wanted"
		cat err
		return 1
	}
}

# prints FILE: what is in FILE is what comes from the standard input
prints()
{
	diff -u - "$1"
}

# lacks PATTERN FILE: no line is like that, byte by byte
lacks()
{
	local line
	if line=$(LC_ALL=C grep -m 1 -- "$1" "$2"); then
		echo "$2 has the line $line"
		return 1
	fi
}

# complains [LINE]...: the file err has these lines, and no others
complains()
{
	[ $# -eq 0 ] || printf '%s\n' "$@" >wanted_err
	[ $# -gt 0 ] || : >wanted_err
	diff -u wanted_err err
}
