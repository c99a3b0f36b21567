# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts that run in a guest with the packages: prints TAP.

# shellcheck disable=SC2034	# failed is for scripts that source this file
number=0 failed=0

# check NAME COMMAND...: passes if the command succeeds
check()
{
	name=$1
	shift
	number=$((number + 1))
	if "$@" >/tmp/out 2>&1; then
		echo "ok $number $name"
	else
		sed 's/^/# /' /tmp/out
		echo "not ok $number $name"
		failed=1
	fi
}
