# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the project's bash scripts: directories, messages, locks.

# shellcheck disable=SC2034 # used by those who source this
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cache=${POSIXTRACE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/posixtrace}
build=$top/build${POSIXTRACE_ARCH:+/$POSIXTRACE_ARCH}
# Our make's variables (V=1, TEST=...) must not reach the Makefiles of the kernel and the tests.
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

# locked NAME COMMAND ...: runs the command while it holds a lock under the cache directory. So two
# runs never prepare the same thing at the same time.
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

# begin_ccache: from here on, compiler calls can use ccache, because most files are the same in all
# clones of the project. Debug information may therefore name another clone. The build of a module
# names the clone in each call, so modules are only shared by clones at the same path.
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
