# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the project's bash scripts: where things are, how to speak, locks.

# shellcheck disable=SC2034 # used by those who source this
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cache=${POSIXTRACE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/posixtrace}
build=$top/build${POSIXTRACE_ARCH:+/$POSIXTRACE_ARCH}
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
# directory, so that two runs never prepare the same thing at the same time.
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

# cross_to ARCHITECTURE: from here on, this script and the scripts that it starts build for arm64, in
# a separate directory, with the headers and libraries of Debian for arm64 (sysroot).
cross_to()
{
	[ "$1" = arm64 ] || die "cannot build for $1"
	"$top/scripts/deps" arm64
	POSIXTRACE_SYSROOT=$("$top/scripts/sysroot" "$1")
	export POSIXTRACE_SYSROOT POSIXTRACE_ARCH=$1 ARCH=$1 CROSS_COMPILE=aarch64-linux-gnu-
	export CC=${CROSS_COMPILE}gcc CXX=${CROSS_COMPILE}g++ AR=${CROSS_COMPILE}ar
	export CFLAGS="-O2 -g --sysroot=$POSIXTRACE_SYSROOT"
	export CXXFLAGS=--sysroot=$POSIXTRACE_SYSROOT LDFLAGS=--sysroot=$POSIXTRACE_SYSROOT
	build=$top/build/$1
}

# begin_ccache: from here on, the compiler remembers what it compiles with ccache: most of that is
# the same in all clones. Debug information may name another one. The build of a kernel names the
# clone in each call, so a module is the same only for clones in the same place.
begin_ccache()
{
	"$top/scripts/deps" tests || return 1
	export CCACHE_DIR=$cache/ccache CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=yes
}

# build_tests: builds the library and the programs of the tests
build_tests()
{
	local kselftest
	begin_ccache || return 1
	kselftest=$("$top/selftests/vm/source" tools)/tools/testing/selftests || return 1
	"$top/scripts/stage" || return 1
	# On the command line: the kernel's lib.mk sets CC.
	flock "$build/.selftests.lock" make -s -C "$top/selftests" -j"$(nproc)" BUILD="$build" KSELFTEST="$kselftest" \
		CC="ccache ${CC:-gcc}"
}
