# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the project's bash scripts: where things are, how to speak, locks.

# shellcheck disable=SC2034 # used by those who source this
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cache=${POSIXTRACE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/posixtrace}
build=$top/build
# The variables of our make (V=1, TEST=...) are not meant for the kernel's or the tests'.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

note()
{
	echo "posixtrace: $*" >&2
}

die()
{
	note "$*"
	exit 1
}

# locked NAME COMMAND ...: runs the command while holding a lock under the cache
# directory, so that two runs never prepare the same thing at once.
locked()
{
	local what_for=$1
	shift
	mkdir -p "$cache/lock"
	(
		flock -n 9 || { note "waiting for another run to prepare $what_for"; flock 9; }
		"$@"
	) 9>"$cache/lock/$what_for"
}
