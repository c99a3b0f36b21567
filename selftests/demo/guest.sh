#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: traces the compressor while it compresses files.
# usage: guest.sh [FILE...]   (default: programs and libraries of the guest)
set -eu

here=$(dirname "$0")
tmp=${TMPDIR:-/tmp}
output=$tmp/demo.gz

if [ $# -eq 0 ]; then
	for file in /bin/busybox /lib/*/libc.so.6 "$here"/compressor "$here"/controller; do
		[ -f "$file" ] && set -- "$@" "$file"
	done
fi

# The controller gets the same files, to check the result.
inputs=
for file in "$@"; do
	inputs="$inputs --input=$file"
done

mkdir -p "$tmp"
echo "Tracing: compressor --jobs=3 --output=$output $*"
# shellcheck disable=SC2086	# $inputs is a list
exec "$here"/controller $inputs --output="$output" -- \
	"$here"/compressor --jobs=3 --output="$output" "$@"
