# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The tests of the posixtrace command source this file.

# shellcheck source=selftests/tap.sh
. ./tap.sh

status=0

# run STATUS ARGUMENT...: runs posixtrace; fails if its exit status is not STATUS
run()
{
	wanted=$1
	shift
	posixtrace "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" -eq "$wanted" ] || { echo "# status $status"; return 1; }
}

# run_as_nobody STATUS ARGUMENT...: as run, but without privileges
run_as_nobody()
{
	wanted=$1
	shift
	su -s /bin/sh nobody -c "exec posixtrace $*" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq "$wanted" ]
}

# start ARGUMENT...: runs posixtrace in the background, as process $started. Empties the output
# files first: the background process may empty them only after a test has read them.
start()
{
	: >"$tmp/out"
	: >"$tmp/err"
	posixtrace "$@" >"$tmp/out" 2>"$tmp/err" &
	started=$!
}

# ended STATUS: waits for the process of start() to exit; fails if its exit status is not STATUS
ended()
{
	wait "$started"
	status=$?
	[ "$status" -eq "$1" ] || { echo "# status $status"; return 1; }
}

# until_true COMMAND...: repeats the command until it succeeds; fails if the process of start()
# exits first
until_true()
{
	until "$@"; do
		# It may have become true at the end.
		kill -0 "$started" 2>/dev/null || { "$@"; return; }
	done
}

# Checks that the process of start() has blocked SIGINT and SIGTERM, to read them from a descriptor.
blocks_signals()
{
	grep -q '^SigBlk:.*4[02]0[23]$' "/proc/$started/status" 2>/dev/null
}

says()
{
	grep -qE -- "$1" "$tmp/out"
}

complains()
{
	grep -qE -- "$1" "$tmp/err"
}
