#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace dump", "stat" and "export" with logs written by the module, and with running
# processes. Prints TAP. native/ has more tests.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 22

# count TYPE: prints the number of events of a type that dump printed
count()
{
	grep -c " $1 *" "$tmp/out"
}

# counted TYPE: prints the number of events of a type according to stat
counted()
{
	awk -v type="$1" '$1 == type { print $2; exit }' "$tmp/out"
}

# begin_helper ARGUMENT...: runs log_helper in the background, as process $helper. Descriptor 4
# sends commands, descriptor 5 receives the answers.
begin_helper()
{
	rm -f "$tmp/commands" "$tmp/answers"
	mkfifo "$tmp/commands" "$tmp/answers"
	./log_helper "$@" <"$tmp/commands" >"$tmp/answers" &
	helper=$!
	exec 4>"$tmp/commands" 5<"$tmp/answers"
}

# tell BYTES: sends commands, and waits until the helper has executed them
tell()
{
	printf %s "$1" >&4
	dd bs=1 count=${#1} <&5 >/dev/null 2>&1
}

end_helper()
{
	exec 4>&-
	wait "$helper"
	exec 5<&-
}

# start_apart ARGUMENT...: as start(), but closes the descriptors of the helper, so that the helper
# sees the end of its input
start_apart()
{
	start "$@" 4>&- 5<&-
}

# start_apart_into_pipe ARGUMENT...: the same, with the output into a pipe without a reader
start_apart_into_pipe()
{
	: >"$tmp/err"
	posixtrace "$@" >"$tmp/pipe" 2>"$tmp/err" 4>&- 5<&- 9<&- &
	started=$!
}

# Checks that the process of start() is blocked in a write to its output.
writes()
{
	grep -qE '^(1|64) ' "/proc/$started/syscall"
}

begin_helper "$tmp/log"
tell eee
end_helper
run 0 dump "$tmp/log" && [ "$(count round)" -eq 30 ] && [ "$(count work_begin)" -eq 30 ] &&
	[ "$(count work_end)" -eq 30 ] && grep -q " $helper .* round *1d000000$" "$tmp/out" &&
	head -n 1 "$tmp/out" | grep -q posix_trace_start &&
	tail -n 1 "$tmp/out" | grep -q posix_trace_stop && [ ! -s "$tmp/err" ]
result dump_of_a_log_that_the_module_wrote $?

# User events have the number of a processor, system events have "-".
! awk '!/ posix_trace_/ && $2 !~ /^[0-9]$/ || / posix_trace_/ && $2 != "-"' "$tmp/out" | grep .
result dump_prints_processors $?

run 0 stat "$tmp/log" && [ "$(counted round)" -eq 30 ] &&
	awk '/^FROM BEGIN TO END/ { on = 1 } on && $1 == "work" && $2 == 30 { found = 1 }
		END { exit !found }' "$tmp/out" && grep -q "^ *$helper .* 90 " "$tmp/out"
result stat_of_a_log_that_the_module_wrote $?

# The contents are checked in native/, because this guest lacks the programs for that.
run 0 export --format=ctf --output="$tmp/ctf" "$tmp/log" && grep -q 'name = "round"' "$tmp/ctf/metadata" &&
	[ -s "$tmp/ctf/system" ] && [ "$(cat "$tmp/ctf"/cpu* | wc -c)" -ge $((90 * 27)) ] &&
	run 0 export --format=chrome --output="$tmp/json" "$tmp/log" &&
	[ "$(grep -c '"ph":"i","cat":"user","name":"round"' "$tmp/json")" -eq 30 ] &&
	[ "$(grep -c '"ph":"X","cat":"user","name":"work"' "$tmp/json")" -eq 30 ] &&
	run 0 export --format=perfetto --output="$tmp/perfetto" "$tmp/log" &&
	[ "$(grep -ac 'round' "$tmp/perfetto")" -ge 1 ] &&
	run 0 export --format=html --output="$tmp/html" "$tmp/log" && grep -q '"round"' "$tmp/html"
result export_of_a_log_that_the_module_wrote $?

# The text of each event is the location that the command must find: "FUNCTION FILE:LINE".
run 0 record --quiet --output="$tmp/symbols" -- ./symbols_helper &&
	run 0 dump --symbolize --filter=place "$tmp/symbols" && [ ! -s "$tmp/err" ] &&
	sed -n 's/.* "\([a-z]*\) \(.*\)"  at \([a-z]*\)+0x[0-9a-f]* (\(.*\))$/\1 \2 \3 \4/p' "$tmp/out" |
	awk '$1 == $3 && "tools/" $2 == $4 { found = found $1 " " }
		END { exit found != "first second " }'
result dump_finds_function_and_line_of_events_that_the_module_recorded $?

begin_helper "$tmp/log"
tell e
start_apart dump --follow "$tmp/log"
tell f
until_true says ' round '
first=$?
tell eef
until_true says ' 1d000000$'
second=$?
tell e
end_helper
wait "$started" && [ $first -eq 0 ] && [ $second -eq 0 ] && [ "$(count round)" -eq 40 ] &&
	tail -n 1 "$tmp/out" | grep -q posix_trace_stop && [ ! -s "$tmp/err" ]
result dump_follows_a_log_to_its_end $?

# When the log is full, the recording ends, but the log is not complete.
begin_helper "$tmp/log" full
for _ in 1 2 3 4 5 6 7 8; do
	tell eeeeeeeeeef
done
start_apart dump --follow "$tmp/log"
end_helper
wait "$started" && grep -q 'log: the log was full: later events are missing$' "$tmp/err" &&
	grep -q 'posix_trace_stop *(automatic: full)$' "$tmp/out"
result dump_follows_a_log_that_is_full_to_its_end $?

begin_helper "$tmp/log" loop
for _ in 1 2 3 4 5 6 7 8; do
	tell eeeeeeeeeef
done
start_apart dump --follow "$tmp/log"
end_helper
wait "$started" && grep -q 'log: [1-9][0-9]* older events were overwritten' "$tmp/err" &&
	! grep -q 'has no end' "$tmp/err" && tail -n 1 "$tmp/out" | grep -q posix_trace_stop
result dump_follows_a_log_that_is_overwritten_to_its_end $?

# follows_cleared [loop]: dump prints the events before and after posix_trace_clear(), and reports
# no damage
follows_cleared()
{
	begin_helper "$tmp/log" "$@"
	tell e
	start_apart dump --follow "$tmp/log"
	tell f
	until_true says ' 09000000$'
	before=$?
	tell cef
	until_true says ' 13000000$'
	after=$?
	tell e
	end_helper
	ended 0 && [ $before -eq 0 ] && [ $after -eq 0 ] && [ "$(count round)" -eq 30 ] &&
		[ "$(count posix_trace_error)" -eq 0 ] && tail -n 1 "$tmp/out" | grep -q posix_trace_stop &&
		complains '/log: the log was cleared; the events of the new log follow$' &&
		[ "$(wc -l <"$tmp/err")" -eq 1 ]
}

follows_cleared
result dump_follows_a_log_that_is_cleared $?

follows_cleared loop
result dump_follows_a_log_with_policy_loop_that_is_cleared $?

# The names of a LOOP log are not events, so no event reports their damage. The byte before a name
# may be printable as well.
at=$(strings -t d "$tmp/log" | awk '/round/ { match($0, /[0-9]+ /)
	print $1 + index($0, "round") - RSTART - RLENGTH; exit }')
printf R | dd of="$tmp/log" bs=1 seek="$at" conv=notrunc 2>/dev/null
what='log: the log is damaged elsewhere: names or the last events may be missing$'
told=0
for command in dump stat 'export --format=chrome'; do
	# shellcheck disable=SC2086 # words
	run 1 $command "$tmp/log" && complains "$what" && told=$((told + 1))
done
[ $told -eq 3 ]
result damaged_name_of_a_log_that_is_overwritten_fails $?

# The reader of the pipe waits for the signal, so dump always has more events to print.
run 0 record --quiet --size=4M --output="$tmp/many" -- ./ticks_helper 40000 0
mkfifo "$tmp/pipe"
posixtrace dump --follow "$tmp/many" >"$tmp/pipe" 2>"$tmp/err" &
started=$!
{
	read -r _
	kill -TERM "$started"
	cat >"$tmp/out"
} <"$tmp/pipe"
ended 0 && [ "$(wc -l <"$tmp/out")" -lt 30000 ]
result dump_ends_at_a_signal_while_there_are_events $?

# dump cannot write: the pipe is full, and is not read.
exec 9<>"$tmp/pipe"
dd if=/dev/zero bs=4096 count=16 >&9 2>/dev/null
posixtrace dump --follow "$tmp/many" >"$tmp/pipe" 2>"$tmp/err" 9<&- &
started=$!
until_true blocks_signals && kill -TERM "$started"
ended 1 && complains '^posixtrace: standard output: interrupted while waiting for the reader$'
result dump_ends_at_a_signal_though_the_reader_takes_nothing $?

begin_helper "$tmp/log"
start_apart_into_pipe stat "$helper"
until_true complains Ctrl-C
tell e
kill -TERM "$started"
until_true writes && kill -TERM "$started"
ended 143
result stat_of_a_process_ends_at_a_second_signal_though_the_reader_takes_nothing $?
end_helper
exec 9<&-

begin_helper
start_apart stat "$helper"
until_true complains Ctrl-C
tell eee
end_helper
wait "$started" && [ "$(counted round)" -eq 30 ] && grep -q "^process *$helper$" "$tmp/out" &&
	grep -q '^lost *0$' "$tmp/out" && grep -q '^events *90 user, 2 system' "$tmp/out"
result stat_of_a_process_until_its_end $?

# Do not send SIGINT, because the shell ignores it in background processes.
begin_helper
start_apart stat "$helper"
until_true complains Ctrl-C
tell ee
kill -TERM "$started"
ended 0 && [ "$(counted round)" -eq 20 ] && tell e
result stat_of_a_process_until_a_signal $?

run 0 stat --seconds=1 "$helper" && [ ! -s "$tmp/err" ] &&
	grep -q '^events *0 user, 2 system' "$tmp/out" && end_helper && run 1 stat 4194303 &&
	grep -q '^posixtrace: process 4194303: no such process: see --pid and --wait in posixtrace-record\(1\)$' "$tmp/err"
result stat_of_a_process_for_some_time $?

# The threads of the storm record faster than the command reads.
./storm_helper &
storm=$!
timeout -s KILL 60 posixtrace stat --seconds=1 "$storm" >"$tmp/out" 2>"$tmp/err" &&
	[ "$(counted storm)" -gt 0 ]
result stat_of_a_busy_process_for_some_time $?

# storm_ticks: the processor time of the storm
storm_ticks()
{
	awk '{ print $14 + $15 }' "/proc/$storm/stat"
}

storm_ran()
{
	[ "$(storm_ticks)" -gt $((before + 1)) ]
}

# On a busy machine, the storm may not have recorded any event yet when the message is printed.
start stat "$storm"
until_true complains Ctrl-C
before=$(storm_ticks)
until_true storm_ran
kill -TERM "$started"
ended 0 && [ "$(counted storm)" -gt 0 ] && kill -0 "$storm"
result stat_of_a_busy_process_until_a_signal $?
kill "$storm"

# in_ms FIELD: the awk expression of a time in milliseconds
in_ms()
{
	echo "(\$($1 + 1) == \"s\" ? 1000 : \$($1 + 1) == \"ms\" ? 1 : \$($1 + 1) == \"us\" ? 0.001 : 0.000001) * \$$1"
}

# The program sleeps once for 300 ms. The times in the sum are rounded.
rm -f "$tmp/log"
run 0 record --kernel=sched,process --output="$tmp/log" -- sleep 0.3 &&
	run 0 stat --states "$tmp/log" && [ ! -s "$tmp/err" ] &&
	awk "/RUNNABLE/ { getline; all = $(in_ms 3); sum = $(in_ms 5) + $(in_ms 7) + $(in_ms 9) + $(in_ms 11)
		if (sum > 0.97 * all && sum < 1.03 * all && all >= 300 && $(in_ms 9) >= 299 && $(in_ms 9) <= all &&
		    $(in_ms 11) < 1 && \$2 ~ /^sleep-/) found = 1 } END { exit !found }" "$tmp/out" &&
	awk "/LONGEST WAITS/ { getline; found = $(in_ms 2) >= 299 && / unknown +a timer\$/ }
		END { exit !found }" "$tmp/out"
result states_of_a_program_that_sleeps $?

begin_helper
start_apart stat --states --kernel=sched "$helper"
until_true complains Ctrl-C
tell eee
# The name of a thread can be read only while the thread exists.
sleep 0.3
end_helper
wait "$started" && grep -q "^process *$helper$" "$tmp/out" &&
	grep -q "^ *$helper  log_helper-$helper .* - *- *-$" "$tmp/out" &&
	grep -q "^ .* log_helper-$helper .* of process $$\$" "$tmp/out"
result states_of_a_process $?

# The helper reads what to do from a pipe.
begin_helper
start_apart stat --by=tid --kernel=syscall "$helper"
until_true complains Ctrl-C
tell eee
end_helper
wait "$started" && grep -q '^SYSTEM CALL  *TID ' "$tmp/out" &&
	grep -qE "^read +$helper +[1-9][0-9]* +0 " "$tmp/out" &&
	grep -qE '^[1-9][0-9]* events? of [1-9] types? without the field$' "$tmp/out"
result system_calls_of_a_process $?

finish
