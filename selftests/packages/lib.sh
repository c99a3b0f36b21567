# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0
# Shared by the tests of the packages. Runs scripts in a guest in which the packages are installed.
# The caller has set top, build, work and version.

# shellcheck source=selftests/native/run_tap.sh
. "$top/selftests/native/run_tap.sh"

# run_target SCRIPT KERNEL [OPTION...]: runs a script in a guest, in the root directory that is at
# $work/tree/target, and adds its counts
run_target()
{
	local script=$1 kernel=$2 V=1
	shift 2
	run_tap "packages/${script%.sh}" "$top/selftests/vm/run" --kernel "$kernel" --no-insmod \
		--tree "$work/tree" "$@" --log "$build/vm/$(basename "$work").log" -- sh -c "
		for folder in proc sys dev; do
			mount --bind /\$folder /target/\$folder || exit 125
		done
		exec chroot /target /bin/sh /$script $version"
}
