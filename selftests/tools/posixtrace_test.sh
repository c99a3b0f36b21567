#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The posixtrace command from its command line. Speaks TAP.

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
number=0 failures=0

# result NAME STATUS: STATUS 0 is a pass
result()
{
	number=$((number + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $number $1"
	else
		failures=$((failures + 1))
		sed 's/^/# /' "$tmp/out" "$tmp/err"
		echo "not ok $number $1"
	fi
}

# run STATUS ARGUMENT...: runs posixtrace; fails when its status is another
run()
{
	wanted=$1
	shift
	posixtrace "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" -eq "$wanted" ] || { echo "# status $status"; return 1; }
}

says()
{
	grep -qE -- "$1" "$tmp/out"
}

complains()
{
	grep -qE -- "$1" "$tmp/err"
}

# The columns of watch: time, process, thread, type, data.
event()
{
	grep -qE "^ *[0-9]+\.[0-9]{3} +[0-9]+ +(0x)?[0-9a-f]+ +$1" "$tmp/out"
}

echo "TAP version 13"
if [ ! -e /dev/posixtrace ]; then
	echo "1..0 # SKIP no /dev/posixtrace: insert posixtrace.ko, or use \"make check\""
	exit 4
fi
echo "1..13"

run 0 info && says '^abi version +1$' && says '^features .*event' && says '^streams +256 on'
result info_tells_version_features_and_limits $?

run 0 --help && says 'Usage: posixtrace' && says '^  watch '
result help_lists_the_commands $?

run 0 --version && says '^posixtrace [0-9]+\.[0-9]+, libposixtrace [0-9]'
result version_is_told $?

run 2 && complains Usage && run 2 nonsense && complains 'no command "nonsense"'
result unknown_command_is_a_wrong_call $?

run 2 info surplus && run 2 info --nonsense && run 2 watch && run 2 watch --pid=x &&
	run 2 watch --pid=1 -- true
result wrong_arguments_are_a_wrong_call $?

run 0 watch -- ./ticks_helper 3 0 && event posix_trace_start && event 'tick +"number 0"$' &&
	event 'tick +"number 2"$' && tail -n 1 "$tmp/out" | grep -q posix_trace_stop
result watch_prints_the_events_of_a_program_until_its_end $?

[ "$(grep -c ' tick ' "$tmp/out")" -eq 3 ] && complains '^posixtrace: 4 events$'
result watch_counts_the_events $?

event 'raw +dead01$'
result watch_prints_bytes_that_are_no_text_in_hexadecimal $?

run 7 watch -- ./ticks_helper 1 7
result watch_passes_the_exit_status_on $?

run 127 watch -- ./no_such_program && complains 'no_such_program: No such file'
result watch_of_a_missing_program_fails $?

run 1 watch --pid=4194303 && complains 'process to watch'
result watch_of_a_missing_process_fails $?

# One that is running already: it waits until the stream has been started. What was
# said before must be gone by then: the background empties the file when it gets to it.
: >"$tmp/out"
mkfifo "$tmp/go"
(read -r _ <"$tmp/go"; exec ./ticks_helper 2 0) &
child=$!
posixtrace watch --pid=$child >"$tmp/out" 2>"$tmp/err" &
watcher=$!
while ! grep -q posix_trace_start "$tmp/out"; do
	kill -0 "$watcher" || break
done
echo go >"$tmp/go"
wait "$watcher" && event 'tick +"number 1"$' && tail -n 1 "$tmp/out" | grep -q posix_trace_stop
result watch_of_a_running_process $?

sleep 1000 &
child=$!
: >"$tmp/out"
posixtrace watch --pid=$child >"$tmp/out" 2>"$tmp/err" &
watcher=$!
while ! grep -q posix_trace_start "$tmp/out"; do
	kill -0 "$watcher" || break
done
kill -TERM "$watcher"
wait "$watcher" && tail -n 1 "$tmp/out" | grep -q posix_trace_stop
result signal_ends_the_watch_in_good_order $?
kill "$child"

[ "$failures" -eq 0 ]
