#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace snapshot". Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 9
log=$tmp/some.log
mkfifo "$tmp/ready"
# Keep the FIFO open: if a read opened it while its last writer still had it open, the read could
# end before the next writer opens it.
exec 5<>"$tmp/ready"

is_complete()
{
	posixtrace list "$1" 2>/dev/null | grep -q '^status  *complete$'
}

# recording ARGUMENT...: records a program, which has recorded an event, in the background
recording()
{
	rm -f "$tmp"/some*
	./steady_helper stubborn "$tmp/ready" &
	program=$!
	read -r ready <&5
	posixtrace record -o "$log" "$@" $program >/dev/null 2>"$tmp/messages" &
	started=$!
	until_true is_recording
}

is_recording()
{
	posixtrace list | grep -q " running .* $started  *posixtrace record "
}

# signal: lets the program record another event
signal()
{
	kill -INT $program && read -r ready <&5
}

# end: ends the recording, then the program
end()
{
	kill -INT "$started"
	ended 0
	ended_well=$?
	kill -KILL $program
	wait $program
	return $ended_well
}

# has EVENTS LOG: has the log so many events of the program?
has()
{
	[ "$(posixtrace dump "$2" | grep -c ' steady ')" -eq "$1" ]
}

recording --policy=loop
signal && run 0 snapshot "$started" && [ "$(cat "$tmp/out")" = "$log" ] && ! complains . && is_complete "$log" &&
	has 1 "$log" && signal && signal && run 0 snapshot "$started" && [ "$(cat "$tmp/out")" = "$tmp/some.1.log" ] &&
	has 2 "$tmp/some.1.log" && end && has 0 "$tmp/some.2.log" && [ "$ready" = ready ]
result window_in_memory_is_written $?

recording
signal && run 0 snapshot $program && [ "$(cat "$tmp/out")" = "$log" ] && is_complete "$log" && has 1 "$log" &&
	signal && run 0 snapshot steady_helper && [ "$(cat "$tmp/out")" = "$tmp/some.1.log" ] && has 1 "$tmp/some.1.log"
result traced_process_names_its_recording $?

first=$started
posixtrace record -o "$tmp/some-other.log" $program >/dev/null 2>&1 &
started=$!
until_true is_recording
run 1 snapshot $program && complains "^posixtrace: $program: several recordings: give the id of one, such as [0-9]+ or [0-9]+\$" &&
	run 0 snapshot $started && [ "$(cat "$tmp/out")" = "$tmp/some-other.log" ]
result recordings_of_one_process_are_named $?
kill -INT $started
ended 0
started=$first
end

run 1 snapshot $$ && complains "^posixtrace: $$: no \"posixtrace record\" traces it: see \"posixtrace list\"\$" &&
	run 1 snapshot nosuchprogram
result process_without_recording_is_an_error $?

# A program that names its stream like the recorder does, but would be ended by the signal.
POSIXTRACE_RECORD=$tmp/flight.log ./steady_helper "$tmp/ready" &
program=$!
read -r ready <&5
run 1 snapshot $program && complains "^posixtrace: $program: its streams belong to programs, .* posixtrace_snapshot\\(3\\)\$" &&
	kill -INT $program
wait $program
[ $? -eq 5 ]
result program_gets_no_signal $?

mkfifo "$tmp/pipe"
cat "$tmp/pipe" >"$tmp/piped" &
reader=$!
./steady_helper stubborn "$tmp/ready" &
program=$!
read -r ready <&5
posixtrace record -o "$tmp/pipe" $program >/dev/null 2>&1 &
started=$!
until_true is_recording
run 1 snapshot $program && complains "^posixtrace: process $started: its log is not a regular file, or cannot be read\$" && end
result log_in_a_pipe_is_an_error $?
wait $reader

recording
run_as_nobody 1 snapshot "$started" && complains "no \"posixtrace record\" traces it" &&
	complains '^posixtrace: recordings of other users are not seen; run as root to ask them$' && kill -0 "$started" && end
result recording_of_another_user_is_not_asked $?

recording
rm "$log" && run 1 snapshot "$started" && complains "^posixtrace: process $started: its log was removed, " &&
	end && [ ! -e "$tmp/some.1.log" ]
result recording_whose_log_was_removed_is_not_asked $?

# A recording that ends completes its log as well.
recording --policy=loop
signal && kill -STOP "$started"
posixtrace snapshot "$started" >"$tmp/out" 2>"$tmp/err" &
asking=$!
until grep -q '^ShdPnd:.*[2367abef]..$' "/proc/$started/status"; do kill -0 $asking || break; done
kill -KILL "$started"
wait $asking && [ "$(cat "$tmp/out")" = "$log" ]
result end_of_the_recorder_ends_the_wait $?
kill -KILL $program
wait

finish
