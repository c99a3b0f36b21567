# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For tests of the command with logs written by programs, which need no module. A test script
# sources this file, defines functions test_NAME, and calls run_cases, which runs each function as a
# case. A case runs in its own directory, and fails at the first command that fails. "run" puts the
# command and the programs that write logs into PATH.

# shellcheck disable=SC2034 # used by the test scripts
native=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=selftests/tap.sh
. "$native/../../tap.sh"

run_cases()
{
	local case status cases
	mapfile -t cases < <(declare -F | sed -n 's/^declare -f test_//p')
	plan ${#cases[@]}
	for case in "${cases[@]}"; do
		mkdir "$tmp/$case"
		echo "#  RUN           $case ..."
		# do not use this as a condition, because "set -e" would have no effect in it
		(
			set -euo pipefail
			cd "$tmp/$case"
			"test_$case"
		) >"$tmp/out" 2>&1 &
		status=0
		wait $! || status=$?
		result "$case" "$status"
		rm -rf "${tmp:?}/$case"
	done
	finish
}

# run STATUS COMMAND...: writes the output to the files out and err; checks the exit status
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

# prints FILE: compares FILE with standard input
prints()
{
	diff -u - "$1"
}

# lacks PATTERN FILE: checks that no line matches, byte by byte
lacks()
{
	local line
	if line=$(LC_ALL=C grep -m 1 -- "$1" "$2"); then
		echo "$2 has the line $line"
		return 1
	fi
}

# complains [LINE]...: checks that the file err has exactly these lines
complains()
{
	[ $# -eq 0 ] || printf '%s\n' "$@" >wanted_err
	[ $# -gt 0 ] || : >wanted_err
	diff -u wanted_err err
}
