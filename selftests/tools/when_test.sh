#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests recordings that write a log when a condition is met. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 18
log=$tmp/some.log
mkfifo "$tmp/in"

clean()
{
	rm -f "$tmp"/some*
}

is_complete()
{
	posixtrace list "$1" 2>/dev/null | grep -q '^status  *complete$'
}

# has_only LOG...: are these the logs that exist?
has_only()
{
	echo "$@" >"$tmp/wanted"
	echo "$tmp"/some* | cmp -s - "$tmp/wanted" || { echo "# $(echo "$tmp"/some*)"; return 1; }
}

# has_ticks COUNT LOG: does the log have so many ticks?
has_ticks()
{
	[ "$(posixtrace dump "$2" | grep -c ' tick ')" -eq "$1" ]
}

# start_reading ARGUMENT...: records a program that reads lines: it is blocked until there is one
start_reading()
{
	clean
	exec 3<>"$tmp/in"
	posixtrace record -o "$log" "$@" -- \
		sh -c ": >$tmp/ready; while read -r line; do eval \"\$line\"; done" \
		<"$tmp/in" >"$tmp/out" 2>"$tmp/err" 3>&- &
	started=$!
	until_true test -e "$tmp/ready"
	rm -f "$tmp/ready"
}

# send LINE: sends a line when the program has been blocked for a tenth of a second
send()
{
	sleep 0.1
	echo "$1" >&3
}

# stop: ends the program
stop()
{
	exec 3>&-
	ended 0
}

clean
run 0 record --when 'blocked > 200ms' -o "$log" -- sleep 0.5 && has_only "$log" && is_complete "$log" &&
	complains "^posixtrace: $log: thread [0-9]+( \(sleep\))? of process [0-9]+ was blocked for [0-9.]+ m?s" &&
	complains '^posixtrace: 1 log$' && posixtrace dump "$log" >"$tmp/out" && says ' sched_wakeup '
result thread_that_was_blocked_for_longer_gives_a_log $?

clean
run 0 record --when 'blocked > 1h' --when 'runnable>1h' -o "$log" -- sleep 0.1 && complains '^posixtrace: 0 logs$' &&
	[ ! -e "$log" ]
result without_a_condition_there_is_no_log $?

clean
run 0 record --when 'runnable > 1ns' --most=1 -o "$log" -- sleep 0.1 && has_only "$log" && is_complete "$log" &&
	complains "^posixtrace: $log: thread [0-9]+.* of process [0-9]+ was runnable for "
result thread_that_was_runnable_for_longer_gives_a_log $?

clean
run 3 record -w 'exit status != 0' -o "$log" -- ./ticks_helper 5 3 && has_only "$log" && has_ticks 5 "$log" &&
	complains "^posixtrace: $log: the program ended with exit status 3$" && complains '^posixtrace: 1 log$' &&
	clean && run 0 record -w 'exit  status!=0' -o "$log" -- ./ticks_helper 5 0 && [ ! -e "$log" ] &&
	complains '^posixtrace: 0 logs$'
result program_that_fails_gives_a_log $?

start_reading --when 'blocked > 50ms'
send : && until_true is_complete "$log" && until_true complains "^posixtrace: $log: thread .* \(sh\) .* was blocked" &&
	send : && until_true is_complete "$tmp/some.1.log" &&
	until_true complains "^posixtrace: $tmp/some\.1\.log: thread .* was blocked"
logged=$?
stop && [ $logged -eq 0 ] && complains '^posixtrace: [23] logs$'
result each_condition_gives_a_log_within_moments $?

start_reading --when 'blocked > 50ms' --most=1
send : && until_true is_complete "$log" && send : && send : && stop && has_only "$log" &&
	complains '^posixtrace: [0-9]+ conditions have no log: at most 1 a minute, see --most$' &&
	complains '^posixtrace: 1 log$'
result logs_are_limited_and_the_rest_is_counted $?

start_reading --when SIGUSR1
kill -USR1 $started && until_true is_complete "$log" && complains "^posixtrace: $log: SIGUSR1$" && stop && has_only "$log"
result signal_gives_a_log $?

# The first log has what the program does after the condition.
start_reading --inherit --when 'blocked > 50ms' --after=3s
send './ticks_helper 5 0' && until_true is_complete "$log" && has_ticks 5 "$log"
logged=$?
stop && [ $logged -eq 0 ]
result log_waits_for_what_happens_after_it $?

# The condition is met when the recording ends before the log is due.
clean
run 0 record --when 'blocked > 200ms' --after=1h -o "$log" -- sleep 0.5 && has_only "$log" && complains 'was blocked'
result last_condition_has_a_log $?

clean
run 1 record -w 'exit status != 0' --keep-time=1h --size=1 -o "$log" -- ./ticks_helper 20000 1 &&
	complains "^posixtrace: $log: begins [0-9.]+ [mu]?s before the condition, not 3600 s: use a larger --size$" &&
	clean && run 1 record -w 'exit status != 0' --keep-time=1h --size=4M -o "$log" -- ./ticks_helper 200 1 &&
	! complains begins && has_ticks 200 "$log"
result log_that_is_too_short_is_reported $?

clean
run 0 record --when raw -o "$log" -- ./ticks_helper 5 0 && has_only "$log" && is_complete "$log" &&
	complains "^posixtrace: $log: thread [0-9]+.* of process [0-9]+ recorded raw" && clean &&
	run 0 record --inherit --when raw -o "$log" -- sh -c './ticks_helper 5 0; true' && has_only "$log" &&
	complains 'recorded raw' && clean &&
	run 0 record --when other -o "$log" -- ./ticks_helper 5 0 && [ ! -e "$log" ] && complains '^posixtrace: 0 logs$'
result event_gives_a_log $?

clean
run 0 record --when 'work > 20ms' -o "$log" -- ./scope_helper 50 && has_only "$log" &&
	complains "^posixtrace: $log: work took [0-9.]+ ms in thread [0-9]+.* of process [0-9]+$" && clean &&
	run 0 record --when 'work > 1h' -o "$log" -- ./scope_helper 50 && [ ! -e "$log" ] && complains '^posixtrace: 0 logs$'
result scope_that_takes_longer_gives_a_log $?

# A log that exists is not touched if there is no condition.
clean
echo mine >"$log"
run 1 record -w SIGUSR1 -o "$log" -- true && [ "$(cat "$log")" = mine ] &&
	run 0 record -w SIGUSR1 --force --quiet -o "$log" -- true && [ ! -e "$log" ] && [ ! -s "$tmp/err" ] &&
	run 1 record -w SIGUSR1 -o /dev/null -- true && complains '^posixtrace: --when: needs a log that is a regular file$'
result existing_files_are_respected $?

# The logs that have a condition count, not the one that waits for the next condition.
start_reading --when SIGUSR1 --keep=1
kill -USR1 $started && until_true is_complete "$log" && until_true test -e "$tmp/some.1.log" && kill -USR1 $started &&
	until_true is_complete "$tmp/some.1.log" && stop && has_only "$tmp/some.1.log"
result keep_counts_the_logs_with_a_condition $?

# While the program runs on, another recording takes the name.
clean
start_reading --when SIGUSR1 --seconds=1
until_true complains ' events in ' && run 0 record --force -o "$log" -- ./ticks_helper 5 0 && stop && has_ticks 5 "$log"
result log_of_another_recording_is_not_removed $?

# has_taken_sigterm: has the command read the last SIGTERM from its descriptor?
has_taken_sigterm()
{
	! grep -q '^ShdPnd:.*[4-7c-f][0-9a-f][0-9a-f][0-9a-f]$' "/proc/$started/status"
}

# The second signal ends the command, not the program. A third one would kill the command.
start_reading -w 'exit status != 0'
send "trap '' TERM; : >$tmp/ready" && until_true test -e "$tmp/ready" &&
	kill -TERM "$started" && until_true has_taken_sigterm &&
	kill -TERM "$started" && until_true complains 'is still running' && ended 143 &&
	complains '^posixtrace: 0 logs$' && [ ! -e "$log" ]
result program_that_still_runs_has_no_exit_status $?
exec 3>&-
rm -f "$tmp/ready"

# Numbers that are left from an earlier recording are skipped.
start_reading --when SIGUSR1
echo mine >"$tmp/some.1.log"
kill -USR1 $started && until_true is_complete "$log" && stop && [ "$(cat "$tmp/some.1.log")" = mine ] &&
	complains '^posixtrace: 1 log$' && ! complains 'no log'
result existing_numbers_are_skipped $?

run 2 record --when 'blocked > 20' -- true && complains 'blocked: must be a time with a unit, such as 20ms' &&
	run 2 record --when 'blocked < 20ms' -- true && complains 'blocked: compare with >' &&
	run 2 record --when 'runnable > 0ms' -- true && complains 'runnable: must be a time' &&
	run 2 record --when 'blocked>1s' --when 'blocked>2s' -- true && complains 'blocked: given twice' &&
	run 2 record --when 'tick < 5ms' -- true && complains 'unknown condition "tick < 5ms"' &&
	run 2 record --when 'exit status = 0' -- true && complains 'unknown condition' &&
	run 2 record --when '' -- true && complains 'needs the name of an event' &&
	run 2 record --when '> 5ms' -- true && complains 'needs the name of an event, or of a scope' &&
	run 2 record --when 'request > 5' -- true && complains 'request: must be a time with a unit' &&
	run 2 record --when sched_wakeup -- true && complains 'sched_wakeup: is not recorded by the program' &&
	run 2 record --when posix_trace_start -- true && complains 'is not recorded by the program' &&
	run 2 record --when "$(printf %064d 1)" -- true && complains 'has at most 63 bytes' &&
	run 2 record --when "$(printf %058d 1) > 1ms" -- true && complains 'has at most 57 bytes' &&
	run 2 record --when 'exit status != 0' 1 && complains 'needs a PROGRAM' &&
	run 2 record --when 'blocked>1s' --kernel=process -- true && complains 'add it to --kernel' &&
	run 2 record --when SIGUSR1 --policy=flush -- true && complains 'needs --policy=loop' &&
	run 2 record --when SIGUSR1 --log-policy=loop -- true && complains 'needs --log-policy=append' &&
	run 2 record --when SIGUSR1 --rotate=1M -- true && complains 'not --rotate' &&
	run 2 record --when SIGUSR1 -o - -- true && complains 'needs a log with a name' &&
	run 2 record --after=1s -- true && complains '^posixtrace: --after: needs a condition: --when$' &&
	run 2 record --when SIGUSR1 --after=1 -- true && complains '^posixtrace: --after: must be a time'
result wrong_conditions_are_errors $?

finish
