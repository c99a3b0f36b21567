#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests recordings that end after some seconds or events. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 9
log=$tmp/log
mkfifo "$tmp/ready" "$tmp/in"

# seconds: prints the seconds since the last call of begin_time
begin_time()
{
	began=$(cut -d. -f1 /proc/uptime)
}

seconds()
{
	echo $(($(cut -d. -f1 /proc/uptime) - began))
}

# start_reader: starts the process $reader, which sleeps until its input is closed
start_reader()
{
	cat <"$tmp/in" >"$tmp/copy" &
	reader=$!
	exec 3>"$tmp/in"
}

end_reader()
{
	exec 3>&-
	wait $reader
}

# start_with_input ARGUMENT...: as start, for a new log; it reads the FIFO until descriptor 3 is closed
start_with_input()
{
	rm -f "$log"
	: >"$tmp/out"
	posixtrace "$@" <"$tmp/in" >"$tmp/out" 2>"$tmp/err" 3>&- &
	started=$!
}

is_complete()
{
	posixtrace list "$log" | grep -q '^status  *complete$'
}

start_reader
begin_time
run 0 record --force --seconds=2 --kernel=sched -o "$log" --pid=$reader && is_complete && [ "$(seconds)" -ge 1 ] &&
	kill -0 $reader
result record_ends_after_some_seconds $?

begin_time
run 0 live --seconds=2 --kernel=sched --pid=$reader && [ "$(seconds)" -ge 1 ] && kill -0 $reader
result live_ends_after_some_seconds $?
end_reader

# When its input is closed, the program ends by itself with a certain status.
exec 3<>"$tmp/in"
start_with_input record --force --seconds=1 --kernel=sched -o "$log" -- sh -c 'cat; exit 7'
until_true is_complete
echo line >&3
exec 3>&-
ended 7 && says line && run 0 dump "$log" && ! says sched_process_exit
result command_waits_for_the_program_after_the_seconds $?

begin_time
run 7 record --force --seconds=3600 --kernel=sched -o "$log" -- sh -c 'exit 7' && [ "$(seconds)" -lt 60 ] && is_complete
result recording_ends_with_the_program_before_the_seconds $?

# Each round takes several context switches.
exec 3<>"$tmp/in"
start_with_input record --force --events=10 --kernel=sched -o "$log" -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8; do cat /proc/uptime; done; read -r line; exit 7'
until_true is_complete && posixtrace dump "$log" >"$tmp/dumped" &&
	[ "$(grep -c sched_ "$tmp/dumped")" -ge 10 ]
events=$?
exec 3>&-
ended 7 && [ "$events" -eq 0 ]
result record_ends_after_some_events $?

run 0 live --events=3 -- ./ticks_helper 5 0 && [ "$(grep -c tick "$tmp/out")" -eq 3 ] && complains '^posixtrace: 3 events'
result live_prints_as_many_events $?

run 0 live --events=1 -- ./ticks_helper 5 0 && says 'tick +"number 0"$' && ! says 'number 1' && ! says posix_trace_stop
result live_prints_one_event $?

# The program records without end.
./storm_helper &
storm=$!
run 0 record --force --size-limit=300K --compress=none -o "$log" --pid=$storm &&
	posixtrace list "$log" | grep -q "^status  *complete" &&
	[ "$(wc -c <"$log")" -ge 307200 ] && kill $storm
result record_ends_when_the_log_has_a_size $?

run 2 record --seconds=0 -- true && complains '^posixtrace: --seconds: must be a number from 1 to 31536000 \(got "0"\)$' &&
	run 2 live --events=0 -- true && complains '^posixtrace: --events: must be at least 1 \(got "0"\)$'
result wrong_limits_are_usage_errors $?

finish
