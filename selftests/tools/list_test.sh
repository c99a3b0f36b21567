#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# "posixtrace list" from its command line. Speaks TAP.

# shellcheck source=selftests/tools/tap.sh
. ./tap.sh
begin 13

run 2 list 1 2 && run 2 list 0 && run 2 list 4194305 && run 0 list && says '^streams: none$'
result wrong_arguments_are_a_wrong_call $?

mkfifo "$tmp/ready"
./steady_helper "$tmp/ready" &
steady=$!
read -r _ <"$tmp/ready"
run 0 list && says '^programs with trace points:$' && says "^  +$steady +1 +0 +steady_helper$"
result program_with_trace_points_is_listed $?

sleep 1000 &
sleeper=$!
run 0 list && ! says "^ +$sleeper "
result program_without_trace_points_is_not $?

run 0 list "$steady" && says "^process $steady \(steady_helper\)$" && says '^  +65  steady$' &&
	! says posix_trace && says '^streams: none$'
result event_types_of_a_process_are_listed $?

run 0 list --all "$steady" && says '^  +65  steady$' && says '^  +2  posix_trace_start$' &&
	says '^  +64  posix_trace_unnamed_userevent$'
result all_are_all $?

run 0 list "$sleeper" && says '^  none$'
result process_without_event_types_has_none $?

is_running()
{
	posixtrace list | grep -q ' running '
}

start live "$steady"
until_true is_running
run 0 list && says "^  +[0-9]+  running +no +$started +posixtrace live +$steady$" &&
	says "^  +$steady +1 +1 +steady_helper$"
result stream_is_listed_with_its_controller_and_processes $?

run 0 list "$steady" && says " $started +posixtrace live " &&
	run 0 list "$sleeper" && says '^streams: none$'
result streams_of_a_process_are_listed $?
kill "$started"
wait "$started"

# Nobody may look into processes of others, or trace them.
chmod 755 "$tmp"
run_as_nobody()
{
	wanted=$1
	shift
	su -s /bin/sh nobody -c "exec posixtrace $*" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq "$wanted" ]
}
run_as_nobody 0 list && ! says steady_helper && complains 'processes of others were left out' &&
	run_as_nobody 1 list "$steady" && complains "process $steady: you may not trace it"
result others_see_only_what_is_theirs $?
kill "$steady" "$sleeper"
wait

run 1 list 4194303 && complains 'process 4194303: there is none'
result missing_process_fails $?

run 0 record -o "$tmp/log" -i --data-size=99 --log-policy=until-full --log-size=1M -- ./ticks_helper 1 0 &&
	run 0 list "$tmp/log" && says '^status +complete$' && says '^name +posixtrace record$' &&
	says '^created +20[0-9]{2}-[0-9]{2}-' && says '^stream +flush, ' &&
	says '^log +until-full, [0-9]+ bytes$' && says '^data +99 bytes' && says '^children +traced$' &&
	says '^  +65  tick$' && says '^  +66  raw$' && ! says posix_trace
result log_tells_of_itself $?

head -c 600 "$tmp/log" >"$tmp/cut"
run 0 list "$tmp/cut" && says '^status +not complete'
result log_that_was_cut_is_not_complete $?

run 1 list "$tmp/none" && complains 'none: No such file' && run 1 list ./ticks_helper &&
	complains 'ticks_helper: no trace log'
result file_that_is_no_log_fails $?

finish
