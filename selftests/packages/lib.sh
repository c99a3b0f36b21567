# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0
# Shared by the tests of the packages: runs commands as tests, and scripts in a guest with the
# packages. The caller has set top, build, work and version.

passed=0 failed=1 skipped=0

# check NAME COMMAND...: runs a command as a test; shows its output if it fails
check()
{
	local name=$1
	shift
	if "$@" >"$work/out" 2>&1; then
		passed=$((passed + 1))
		echo "ok $name"
	else
		failed=$((failed + 1))
		tail -n 60 "$work/out"
		echo "not ok $name"
	fi
}

# run_target SCRIPT KERNEL [OPTION...]: runs a script in a guest, in the root directory that is at
# $work/tree/target, and adds its counts
run_target()
{
	local script=$1 kernel=$2 status=0 ok bad skip planned
	shift 2
	"$top/selftests/vm/run" --kernel "$kernel" --no-insmod --tree "$work/tree" "$@" \
		--log "$build/vm/$(basename "$work").log" -- sh -c "
		for folder in proc sys dev; do
			mount --bind /\$folder /target/\$folder || exit 125
		done
		exec chroot /target /bin/sh /$script $version" |
		awk -v name="packages/${script%.sh}" -v verbose=1 -v kernel="$kernel" \
			-v counts="$work/counts" -f "$top/selftests/vm/tap.awk" || status=$?
	read -r ok bad skip planned <"$work/counts"
	if [ -z "$planned" ] || [ $((ok + bad + skip)) -ne "$planned" ] ||
		{ [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
		echo "not ok guest: exit status $status, ${planned:-no} cases announced"
		bad=$((bad + 1))
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
}
