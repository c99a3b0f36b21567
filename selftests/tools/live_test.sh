#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace live". Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 41

# event REGEX: checks for an event. The columns are time, processor, process, thread, type, data.
event()
{
	grep -qE "^ *[0-9]+\.[0-9]{3} +([0-9]+|-) +[0-9]+ +[^ ]+ +$1" "$tmp/out"
}

stops_at_the_end()
{
	tail -n 1 "$tmp/out" | grep -q posix_trace_stop
}

began()
{
	grep -q posix_trace_start "$tmp/out"
}

run 2 live && run 2 live --pid=0 &&
	complains '^posixtrace: --pid: must be a number from 1 to 4194304 \(got "0"\)$' &&
	run 2 live --pid=1 -- true && run 2 live --pid=1 1 && run 2 live 0 && run 2 live --size=1T -- true &&
	complains '^posixtrace: --size: must be at most 1073741824 bytes, .* \(got "1T"\)$' &&
	run 2 live --filter= -- true && complains '^posixtrace: --filter: column 1: expected a name' &&
	run 2 live --exclude= -- true && complains '^posixtrace: --exclude: must have at least one name' &&
	run 2 live --data-size=65489 -- true && complains '^posixtrace: --data-size: must be at most 65488 bytes' &&
	run 2 live --size=-1 -- true
result wrong_arguments_are_a_usage_error $?

run 0 live -- ./ticks_helper 3 0 && event posix_trace_start && event 'tick +"number 0"$' &&
	event 'tick +"number 2"$' && stops_at_the_end
result prints_the_events_of_a_program_until_its_end $?

[ "$(grep -c ' tick ' "$tmp/out")" -eq 3 ] && complains '^posixtrace: 4 events$'
result counts_the_events $?

event 'raw +dead01$'
result prints_data_that_are_not_text_in_hexadecimal $?

run 0 live ./ticks_helper 1 0 && event 'tick +"number 0"$'
result needs_no_dashes_before_a_program $?

run 7 live -- ./ticks_helper 1 7
result passes_the_exit_status_on $?

run 137 live -- sh -c 'kill -9 $$'
result exit_status_shows_the_signal_that_ended_the_program $?

run 127 live -- ./no_such_program && complains 'no_such_program: No such file'
result missing_program_fails $?

cp ticks_helper "$tmp/plain" && chmod a-x "$tmp/plain"
run 126 live -- "$tmp/plain" && complains 'plain: Permission denied'
result file_that_is_not_executable_fails $?

run 1 live --pid=4194303 && complains '^posixtrace: process 4194303: no such process: see --pid and --wait in posixtrace-record\(1\)$'
result missing_process_fails $?

# The process is already running. It waits until the stream has started.
mkfifo "$tmp/go"
(read -r _ <"$tmp/go"; exec ./ticks_helper 2 0) &
child=$!
start live --pid=$child
until_true began
echo go >"$tmp/go"
ended 0 && event 'tick +"number 1"$' && stops_at_the_end
result running_process_is_traced $?

sleep 1000 &
child=$!
start live "$child"
until_true began
kill -TERM "$started"
ended 0 && stops_at_the_end && kill -0 "$child"
result signal_stops_the_stream_and_not_the_process $?
kill "$child"

# The first signal goes to the program.
start live -- ./steady_helper
until_true event 'steady +"begin"$'
kill -TERM "$started"
ended 5 && event 'steady +"signal 15"$' && stops_at_the_end
result first_signal_goes_to_the_program_and_tracing_continues $?

start live -- ./steady_helper stubborn
until_true event 'steady +"begin"$'
kill -INT "$started"
until_true event 'steady +"signal 2"$'
kill -INT "$started"
ended 130 && stops_at_the_end && complains 'steady_helper \(process [0-9]+\) is still running$'
result second_signal_ends_the_command_and_not_the_program $?
pid=$(sed -n 's/.*(process \([0-9]*\)) is still running/\1/p' "$tmp/err")
kill -9 "$pid"

# has_steady NUMBER: checks that so many events of steady_helper were printed
has_steady()
{
	[ "$(grep -c ' steady ' "$tmp/out")" -eq "$1" ]
}

# A name is not shown if it may be newer than the event.
mkfifo "$tmp/renamed"
exec 9<>"$tmp/renamed"
./steady_helper renamed "$tmp/renamed" &
child=$!
read -r _ <&9
start live "$child"
until_true began
for number in 1 2 3 4; do
	case $number in
	2) kill -TERM "$child" ;;
	*) kill -INT "$child" ;;
	esac
	until_true has_steady "$number"
done
kill -KILL "$child"
ended 0 && grep ' steady ' "$tmp/out" >"$tmp/named" &&
	sed -n 1p "$tmp/named" | grep -q "  name 2-$child  *steady  *\"signal 2\"" &&
	sed -n 4p "$tmp/named" | grep -q "  name 2-$child  *steady  *\"signal 2\"" &&
	sed -n 2p "$tmp/named" | grep -q 'steady  *"signal 15"' &&
	! sed -n 2,3p "$tmp/named" | grep -q "name 2-$child .*\"signal 15\"\|name 15-$child .*\"signal 2\""
result thread_that_renames_itself_never_gets_another_name $?
exec 9<&-

# Run in a new pid namespace, but with the /proc of the old one, where these ids are different
# processes.
unshare -p -f posixtrace live -- ./ticks_helper 3 0 >"$tmp/out" 2>"$tmp/err" &&
	event 'tick +"number 2"$' && says '  2  *0x[0-9a-f]+  *tick ' && ! says '[a-z]-[0-9]+ +tick'
result proc_of_another_namespace_gives_no_names $?

unshare -p -f -m --mount-proc posixtrace live -- ./ticks_helper 3 0 >"$tmp/out" 2>"$tmp/err" &&
	event 'tick +"number 2"$' && says '  2  *ticks_helper-2  *tick '
result command_in_a_namespace_has_names_by_its_proc $?

run 0 live --filter=raw -- ./ticks_helper 3 0 && event 'raw +dead01$' && ! says ' tick ' &&
	complains '^posixtrace: 1 events'
result filter_records_only_its_types $?

run 0 live --filter=raw,other -f tick -- ./ticks_helper 3 0 && complains '^posixtrace: 4 events'
result filters_add_up $?

run 0 live --exclude=raw -- ./ticks_helper 3 0 && says ' tick ' && ! says ' raw '
result exclude_does_not_record_its_types $?

run 0 live --filter=tick --exclude=tick -- ./ticks_helper 3 0 && complains '^posixtrace: 0 events'
result exclude_wins_over_filter $?

run 0 live --filter='r?w' -- ./ticks_helper 3 0 && event 'raw +dead01$' && ! says ' tick ' &&
	event posix_trace_start && complains '^posixtrace: 1 events' &&
	run 0 live --filter='*' --exclude='t*' -- ./ticks_helper 3 0 && event 'raw +dead01$' &&
	! says ' tick ' && run 0 live --filter='!raw' -- ./ticks_helper 3 0 && says ' tick ' && ! says ' raw '
result filter_has_wildcards $?

run 0 live -- ./fields_helper && event 'cache +op=get len=10 B$' && event 'cache +op=set len=5000 B$' &&
	event 'idle +01$' && run 0 live --json -- ./fields_helper &&
	says '"fields":{"op":"set","len":5000},"units":{"len":"B"}'
result fields_have_names $?

run 0 live --filter='op == set && len > 4096' -- ./fields_helper && event 'cache +op=set len=5000 B$' &&
	! says ' idle ' && ! says 'op=get' && complains '^posixtrace: 1 events'
result filter_has_conditions_on_fields $?

printf 'cache { x32 a; u32 b; }\nidle { bool a; }\ntick { u8 n; }\n' >"$tmp/formats"
run 0 live --format-file="$tmp/formats" -- ./fields_helper && event 'cache +a=0x1 b=5000$' &&
	event 'idle +a=true$' && complains "formats:3: tick: the process has no such user event type$" &&
	echo 'tick' >"$tmp/formats" && run 1 live --format-file="$tmp/formats" -- ./fields_helper &&
	complains 'formats:2: expected "\{" \(got "end of file"\)$'
result format_file_describes_events $?

run 2 live --exclude=posix_trace_start -- ./ticks_helper 1 0 &&
	complains '^posixtrace: posix_trace_start: system events of the standard are always recorded' &&
	run 1 live --filter=posix_trace_start -- ./ticks_helper 1 0 &&
	complains '^posixtrace: posix_trace_start: system events of the standard are always recorded' &&
	run 0 live --exclude='*' -- ./ticks_helper 1 0 && event posix_trace_start && ! says ' tick '
result system_event_types_cannot_be_filtered $?

run 0 live -- ./family_helper && event 'family +"parent"$' && ! says '"child"'
result children_are_not_traced $?

# The child outlives its parent, which does not wait for it.
run 0 live --inherit -- ./family_helper && event 'family +"parent"$' && event 'family +"child"$' &&
	[ "$(awk '/family/ { print $3 }' "$tmp/out" | sort -u | wc -l)" -eq 2 ]
result inherit_traces_children_until_all_have_ended $?

run 0 live -- ./ticks_helper 1 0 "$(printf 'bad\033[2J\nname')" && says 'bad\\x1b\[2J\\nname' &&
	! grep -q "$(printf '\033')" "$tmp/out"
result control_characters_in_names_are_escaped $?

run 0 live --json -- ./ticks_helper 1 0 && says '^[{]"time":"[0-9]+\.[0-9]{9}".*"event":"tick".*"number 0"[}]$'
result json_is_an_object_for_each_event $?

run 0 live --clock=utc --color=always -- ./ticks_helper 1 0 &&
	says '20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{9}Z' && says "$(printf '\033')" &&
	run 2 live --clock=sundial -- true &&
	complains '^posixtrace: --clock: must be relative, delta, seconds or utc \(got "sundial"\)$' &&
	run 2 live --color=red -- true &&
	complains '^posixtrace: --color: must be auto, always or never \(got "red"\)$'
result clock_and_color_work_as_in_dump $?

run 0 live --data-size=3 -- ./ticks_helper 1 0 && event 'tick +"num" \(truncated\)$'
result data_size_truncates_the_data $?

# texts: prints the data of the two events, in the order of the output
texts()
{
	sed -nE 's/.*"(old|young)"( \(late\))?$/\1\2/p' "$tmp/out" | paste -sd' '
}

run 0 live --window=0 -- ./late_helper 0 wait && [ "$(texts)" = 'young old (late)' ]
result late_event_is_marked $?

run 0 live --window=0 --json -- ./late_helper 0 wait && says '"text":"old","late":true[}]$' &&
	says '"text":"young"[}]$'
result late_event_is_marked_in_json $?

# The end of the program also ends the window, so the events come in their order of time.
run 0 live --window=10000 -- ./late_helper 0 && [ "$(texts)" = 'old young' ]
result window_puts_events_in_the_order_of_time $?

run 0 live -- ./late_helper 10 wait && run 0 live --window=50 -- ./late_helper 50 wait &&
	run 2 live --window=10001 -- true &&
	complains '^posixtrace: --window: must be a number from 0 to 10000 \(got "10001"\)$' &&
	run 2 live --window=x -- true
result window_is_ten_milliseconds_by_default $?

# Nothing reads the output before the program has ended.
mkfifo "$tmp/pipe"
rm -f "$tmp/go"
mkfifo "$tmp/go"
posixtrace live --inherit --kernel=syscall --size=64K -- sh -c \
	"dd if=/dev/zero of=/dev/null bs=1 count=5000; echo >$tmp/go" >"$tmp/pipe" 2>"$tmp/err" &
started=$!
{
	read -r _ <"$tmp/go"
	cat >"$tmp/out"
} <"$tmp/pipe"
ended 0 && grep -q 'events lost' "$tmp/out" &&
	complains '^posixtrace: [0-9]+ events, [1-9][0-9]* lost: use a larger --size$'
result lost_events_of_the_kernel_are_told $?

long=$(printf %0100d 0)
run 2 live --filter="tick,$long" -- ./ticks_helper 1 0 &&
	complains "^posixtrace: --filter: the name of an event type has at most 63 bytes .*100: \"$long\"" &&
	run 2 record --exclude="$(printf %064d 0)" -- ./ticks_helper 1 0 && complains '--exclude: .* 63 ' &&
	run 0 live --filter="$(printf %063d 0)" -- ./ticks_helper 1 0
result names_that_are_too_long_are_refused $?

# The program may write to the same terminal at any time, so each message must be one write.
./writes_helper posixtrace live --size=8K -- ./ticks_helper 5000 0 >"$tmp/out" 2>"$tmp/err" &&
	complains '^\[posixtrace: [0-9]+ events(, [0-9]+ lost: use a larger --size)?$' &&
	[ "$(tail -n +2 "$tmp/err")" = ']' ]
result summary_is_one_write $?

./writes_helper posixtrace live --pid=4194303 2>"$tmp/err"
[ $? -eq 1 ] && complains '^\[posixtrace: process 4194303: no such process: see --pid and --wait in posixtrace-record\(1\)$' &&
	[ "$(tail -n +2 "$tmp/err")" = ']' ]
result complaint_is_one_write $?

# live cannot write: the pipe is full, and is not read.
exec 9<>"$tmp/pipe"
dd if=/dev/zero bs=4096 count=16 >&9 2>/dev/null
sleep 1000 9<&- &
child=$!
posixtrace live "$child" >"$tmp/pipe" 2>"$tmp/err" 9<&- &
started=$!
until_true blocks_signals && kill -TERM "$started"
ended 1 && kill -0 "$child" &&
	complains '^posixtrace: standard output: interrupted while waiting for the reader$'
result signal_ends_it_though_the_reader_takes_nothing $?
kill "$child"
exec 9<&-

finish
