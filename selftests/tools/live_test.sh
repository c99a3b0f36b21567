#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# "posixtrace live" from its command line. Speaks TAP.

# shellcheck source=selftests/tools/tap.sh
. ./tap.sh
begin 28

# The columns: time, processor, process, thread, type, data.
event()
{
	grep -qE "^ *[0-9]+\.[0-9]{3} +([0-9]+|-) +[0-9]+ +(0x)?[0-9a-f]+ +$1" "$tmp/out"
}

stops_at_the_end()
{
	tail -n 1 "$tmp/out" | grep -q posix_trace_stop
}

began()
{
	grep -q posix_trace_start "$tmp/out"
}

run 2 live && run 2 live --pid=x && run 2 live --pid=1 -- true && run 2 live --pid=1 1 &&
	run 2 live 0 && run 2 live --size=1T -- true && run 2 live --filter= -- true &&
	run 2 live --data-size=65537 -- true && run 2 live --filter='t*' -- true && run 2 live --size=-1 -- true
result wrong_arguments_are_a_wrong_call $?

run 0 live -- ./ticks_helper 3 0 && event posix_trace_start && event 'tick +"number 0"$' &&
	event 'tick +"number 2"$' && stops_at_the_end
result prints_the_events_of_a_program_until_its_end $?

[ "$(grep -c ' tick ' "$tmp/out")" -eq 3 ] && complains '^posixtrace: 4 events$'
result counts_the_events $?

event 'raw +dead01$'
result prints_bytes_that_are_no_text_in_hexadecimal $?

run 0 live ./ticks_helper 1 0 && event 'tick +"number 0"$'
result needs_no_dashes_in_front_of_a_program $?

run 7 live -- ./ticks_helper 1 7
result passes_the_exit_status_on $?

run 137 live -- sh -c 'kill -9 $$'
result tells_the_signal_that_ended_the_program $?

run 127 live -- ./no_such_program && complains 'no_such_program: No such file'
result missing_program_fails $?

cp ticks_helper "$tmp/plain" && chmod a-x "$tmp/plain"
run 126 live -- "$tmp/plain" && complains 'plain: Permission denied'
result program_that_is_none_fails $?

run 1 live --pid=4194303 && complains 'process 4194303: there is none'
result missing_process_fails $?

# One that is running already: it waits until the stream has been started.
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
result signal_ends_it_in_good_order_and_leaves_the_process_alone $?
kill "$child"

# The first signal is the program's.
start live -- ./steady_helper
until_true event 'steady +"begin"$'
kill -TERM "$started"
ended 5 && event 'steady +"signal 15"$' && stops_at_the_end
result signal_goes_to_the_program_which_is_traced_on $?

start live -- ./steady_helper stubborn
until_true event 'steady +"begin"$'
kill -INT "$started"
until_true event 'steady +"signal 2"$'
kill -INT "$started"
ended 130 && stops_at_the_end && complains 'steady_helper \(process [0-9]+\) still runs'
result second_signal_ends_it_without_the_program $?
pid=$(sed -n 's/.*(process \([0-9]*\)) still runs/\1/p' "$tmp/err")
kill -9 "$pid"

run 0 live --filter=raw -- ./ticks_helper 3 0 && event 'raw +dead01$' && ! says ' tick ' &&
	complains '^posixtrace: 1 events'
result filter_lets_only_its_types_through $?

run 0 live --filter=raw,other -F tick -- ./ticks_helper 3 0 && complains '^posixtrace: 4 events'
result filters_add_up $?

run 0 live --exclude=raw -- ./ticks_helper 3 0 && says ' tick ' && ! says ' raw '
result exclude_holds_its_types_back $?

run 0 live --filter=tick --exclude=tick -- ./ticks_helper 3 0 && complains '^posixtrace: 0 events'
result exclude_wins_over_filter $?

run 1 live --exclude=posix_trace_start -- ./ticks_helper 1 0 &&
	complains 'posix_trace_start: events of the system are always recorded'
result names_that_can_not_be_filtered_are_refused $?

run 0 live -- ./family_helper && event 'family +"parent"$' && ! says '"child"'
result children_are_not_traced $?

# The child outlives its parent, and the parent is not waited for either.
run 0 live --inherit -- ./family_helper && event 'family +"parent"$' && event 'family +"child"$' &&
	[ "$(awk '/family/ { print $3 }' "$tmp/out" | sort -u | wc -l)" -eq 2 ]
result inherit_traces_children_until_all_have_ended $?

run 0 live -- ./ticks_helper 1 0 "$(printf 'bad\033[2J\nname')" && says 'bad\\x1b\[2J\\nname' &&
	! grep -q "$(printf '\033')" "$tmp/out"
result names_can_not_command_the_terminal $?

run 0 live --json -- ./ticks_helper 1 0 && says '^[{]"time":"[0-9]+\.[0-9]{9}".*"event":"tick".*"number 0"[}]$'
result json_is_an_object_for_each_event $?

run 0 live --clock=utc --color=always -- ./ticks_helper 1 0 &&
	says '20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{9}Z' && says "$(printf '\033')" &&
	run 2 live --clock=sundial -- true && complains 'sundial: relative' && run 2 live --color=red -- true
result clock_and_color_are_those_of_dump $?

run 0 live --data-size=3 -- ./ticks_helper 1 0 && event 'tick +"num" \(truncated\)$'
result data_size_cuts_the_data $?

long=$(printf %0100d 0)
run 2 live --filter="tick,$long" -- ./ticks_helper 1 0 &&
	complains "^posixtrace: --filter: the name of an event type has at most 63 bytes .*100: \"$long\"" &&
	run 2 record --exclude="$(printf %064d 0)" -- ./ticks_helper 1 0 && complains '--exclude: .* 63 ' &&
	run 0 live --filter="$(printf %063d 0)" -- ./ticks_helper 1 0
result filter_says_how_long_a_name_may_be $?

# The program may write to the same terminal at any time.
./writes_helper posixtrace live --size=8K -- ./ticks_helper 5000 0 >"$tmp/out" 2>"$tmp/err" &&
	complains '^\[posixtrace: [0-9]+ events(, [0-9]+ lost: use a larger --size)?$' &&
	[ "$(tail -n +2 "$tmp/err")" = ']' ]
result summary_is_one_write $?

./writes_helper posixtrace live --pid=4194303 2>"$tmp/err"
[ $? -eq 1 ] && complains '^\[posixtrace: process 4194303: there is none with this id$' &&
	[ "$(tail -n +2 "$tmp/err")" = ']' ]
result complaint_is_one_write $?

finish
