# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Runs tests on this machine, and adds up their counts. However the run ends, its last line is the
# sum. Sourced by scripts after scripts/common.sh. A script must set failed=0 when everything is
# built.

: "${top:?source scripts/common.sh first}" "${build:?}"
passed=0 failed=1 skipped=0
# the list of cases that may be skipped: see selftests/vm/skips-allowed
allowed=/dev/null
# where the tests run: "host", or the kernel of the guest
kernel=host
counts=$(mktemp)
finish()
{
	rm -f "$counts" "$counts.out"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] || exit 1
}
trap finish EXIT

# run_tap NAME COMMAND...: runs a command that prints TAP; V=1 in the environment shows all of it
run_tap()
{
	local name=$1 status=0 ok bad skip planned start=$SECONDS
	shift
	echo "# $name"
	"$@" 2>&1 </dev/null |
		awk -v name="$name" -v verbose="${V:-0}" -v kernel="$kernel" -v counts="$counts" \
			-v allowed="$allowed" -f "$top/selftests/vm/tap.awk" || status=$?
	read -r ok bad skip planned <"$counts"
	if [ -z "$planned" ] || [ $((ok + bad + skip)) -ne "$planned" ] ||
		{ [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
		echo "not ok $name: exit status $status, ${planned:-no} cases announced"
		bad=$((bad + 1))
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	echo "$name: $ok passed, $bad failed, $skip skipped ($((SECONDS - start)) s)"
}

# check NAME COMMAND...: runs a command as a test; shows the end of its output if it fails
check()
{
	local name=$1
	shift
	if "$@" >"$counts.out" 2>&1; then
		passed=$((passed + 1))
		echo "ok $name"
	else
		failed=$((failed + 1))
		tail -n 60 "$counts.out"
		echo "not ok $name"
	fi
}
