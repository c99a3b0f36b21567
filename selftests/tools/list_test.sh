#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace list". Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 21

run 2 list 1 2 && run 2 list 0 &&
	complains '^posixtrace: PID: must be a number from 1 to 4194304 \(got "0"\)$' &&
	run 2 list 4194305 && run 0 list && says '^streams: none$'
result wrong_arguments_are_a_usage_error $?

mkfifo "$tmp/ready"
./steady_helper "$tmp/ready" &
steady=$!
read -r _ <"$tmp/ready"
run 0 list && says '^programs with trace points:$' && says "^  +$steady +- +0 +steady_helper$"
result program_with_trace_points_is_listed $?

sleep 1000 &
sleeper=$!
run 0 list && ! says "^ +$sleeper "
result program_without_trace_points_is_not_listed $?

run 0 list "$steady" && says "^process $steady \(steady_helper\)$" && says '^  +65  steady$' &&
	! says posix_trace && says '^streams: none$'
result event_types_of_a_process_are_listed $?

mkfifo "$tmp/fifo"
./fields_helper "$tmp/fifo" &
fields=$!
read -r _ <"$tmp/fifo"
run 0 list "$fields" && says '^  +6[56]  cache  struct\{enum\{get,set\}op;u32 len"B";\}$' &&
	says '^  +6[56]  idle$'
result descriptions_are_listed $?
echo go >"$tmp/fifo"
wait "$fields"

run 0 list --all "$steady" && says '^  +65  steady$' && says '^  +2  posix_trace_start$' &&
	says '^  +64  posix_trace_unnamed_userevent$'
result all_also_lists_system_event_types $?

run 0 list "$sleeper" && says '^  none$'
result process_without_event_types_has_none $?

is_running()
{
	posixtrace list | grep -q ' running '
}

start live "$steady"
until_true is_running
run 0 list && says "^  +[0-9]+  running +no +$started +posixtrace live +$steady$" &&
	says "^  +$steady +- +1 +steady_helper$" && ! says "^  +$started +- "
result stream_is_listed_with_its_controller_and_processes $?

run 0 list "$steady" && says " $started +posixtrace live " &&
	run 0 list "$sleeper" && says '^streams: none$'
result streams_of_a_process_are_listed $?
kill "$started"
wait "$started"

# The user nobody may not inspect or trace processes of other users.
chmod 755 "$tmp"
run_as_nobody 0 list && ! says steady_helper && complains 'processes of other users are not shown; run as root to list them' &&
	run_as_nobody 1 list "$steady" && complains "process $steady: no permission to trace it"
result users_see_only_their_own_processes $?
kill "$steady" "$sleeper"
wait

run 1 list 4194303 && complains '^posixtrace: process 4194303: no such process: see --pid and --wait in posixtrace-record\(1\)$'
result missing_process_fails $?

run 0 record -o "$tmp/log" -i --data-size=99 --log-policy=until-full --log-size=1M -- ./ticks_helper 1 0 &&
	run 0 list "$tmp/log" && says '^status +complete$' && says '^name +posixtrace record$' &&
	says '^created +20[0-9]{2}-[0-9]{2}-' && says '^stream +flush, ' &&
	says "^host +[^ ]+, Linux $(uname -r | sed 's/[.+]/\\&/g'), $(uname -m)\$" &&
	says "^boot +$(cat /proc/sys/kernel/random/boot_id)\$" &&
	says '^log +until-full, [0-9]+ bytes$' && says '^data +99 bytes' && says '^children +traced$' &&
	says '^  +65  tick$' && says '^  +66  raw$' && ! says posix_trace
result attributes_and_event_types_of_a_log_are_listed $?

head -c 600 "$tmp/log" >"$tmp/cut"
run 0 list "$tmp/cut" && says '^status +not complete'
result cut_log_is_not_complete $?

echo text >"$tmp/text"
run 1 list "$tmp/none" && complains 'none: No such file' && run 1 list "$tmp/text" &&
	complains 'text: not a trace log'
result file_that_is_not_a_log_fails $?

# point NAME: prints the line after a trace point, which has its place and its functions
point()
{
	grep -FxA1 -- "  $1" "$tmp/out" | sed -n 's/^      //p'
}

run 0 list ./points_library.so && says '^trace points:$' &&
	[ "$(sed '/^one name/,$d' "$tmp/out" | grep -c '^  [^ ]')" -eq 6 ] &&
	says '^  lookup:begin [{]u32 id;[}]$' && says '^  lookup:end$' &&
	says '^  depth [{]i64 counter;[}]$' && ! says never_used
result points_of_a_shared_library_are_listed $?

# A point without fields counts as a point with different fields.
[ "$(sed -n '/^one name, different fields/,$p' "$tmp/out" | tail -n +2)" = '  depth  2' ]
result points_of_one_name_with_other_fields_are_named $?

place=$(point 'cache_get {u32 id;text key;}')
[ "${place#*points_library.c:}" = "5  insert, lookup" ]
result functions_with_the_point_are_listed_once $?

# shellcheck disable=SC1003	# a backslash at the end
place=$(point 'tab\there "quoted" \\')
[ "${place##*  }" = insert ]
result names_of_points_are_escaped $?

# Exported functions keep their names.
run 0 list ./points_stripped.so && place=$(point 'cache_get {u32 id;text key;}') &&
	[ "${place#*points_library.c:}" = "5  insert, lookup" ]
result stripped_library_keeps_its_points $?

run 0 list ./ticks_helper && [ "$(cat "$tmp/out")" = "trace points: none" ]
result program_without_such_points_has_none $?

head -c 8000 points_library.so >"$tmp/cut"
run 1 list "$tmp/cut" && complains 'cut: the ELF file is damaged$'
result damaged_program_fails $?

finish
