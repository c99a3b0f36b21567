#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Waits for programs that start later (--wait), and traces them. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 14
log=$tmp/log
mkfifo "$tmp/in" "$tmp/other" "$tmp/ready"
# Keep the FIFO open: if a read opened it while its last writer still had it open, the read could
# end before the next writer opens it.
exec 5<>"$tmp/ready"
# Each line of its input makes it fork a process that does not execute another program.
cat >"$tmp/posixwait" <<'END'
#!/bin/sh
while read -r line; do
	(: forked)
	echo done
done
END
chmod 755 "$tmp" "$tmp/posixwait"
# The name of a process has 15 bytes.
cp steady_helper "$tmp/posixwait-has-a-long-name"

# waiting COMMAND ARGUMENT...: starts the command with --wait, in the background, until it waits
waiting()
{
	# Not before the command has emptied the file.
	start "$@" 3>&- 4>&-
	until_true complains '^posixtrace: waiting for a program with the name "'
}

is_recording()
{
	posixtrace list | grep -q ' running .* posixtrace record '
}

# start_program: starts the program as process $program, which reads lines from descriptor 3
start_program()
{
	"$tmp/posixwait" <"$tmp/in" >"$tmp/answers" 3>&- 4>&- &
	program=$!
	exec 3>"$tmp/in"
}

# end_program: ends the input of the program, and waits for it
end_program()
{
	exec 3>&-
	wait "$program"
}

# has_end PID: the log is complete, and has the end of the process
has_end()
{
	run 0 dump "$log" && posixtrace list "$log" | grep -q '^status  *complete$' &&
		says " $1 .* sched_process_exit"
}

waiting record --force --kernel=process -o "$log" --wait=posixwait
start_program
until_true is_recording && end_program && ended 0 && complains '^posixtrace: [0-9]+ events in ' && has_end $program
result program_that_starts_later_is_recorded $?

waiting record --force -o "$log" --wait=posixwait-has-a-long-name
"$tmp/posixwait-has-a-long-name" &
program=$!
until_true is_recording && kill -INT $program
wait $program
ended 0 && run 0 dump "$log" && says " $program .* steady .*signal 2"
result name_of_the_file_counts $?

# First, a process that already has the name forks. Then another process starts the program.
"$tmp/posixwait" <"$tmp/other" >"$tmp/answer" &
old=$!
exec 4>"$tmp/other"
echo first >&4
until [ -s "$tmp/answer" ]; do :; done
waiting record --force --kernel=process -o "$log" --wait=posixwait
echo second >&4
until [ "$(wc -l <"$tmp/answer")" -eq 2 ]; do :; done
start_program
until_true is_recording && echo line >&3 && end_program && ended 0 && has_end $program && ! says " $old "
result running_program_and_its_copies_are_not_taken $?
exec 4>&-
wait $old

./steady_helper renamed "$tmp/ready" &
program=$!
read -r ready <&5
waiting record --force -o "$log" --wait='name 2'
kill -INT $program
read -r ready <&5
until_true is_recording && kill -TERM $program && read -r ready <&5 && kill -KILL $program
wait $program
ended 0 && run 0 dump "$log" && says " $program .* steady .*signal 15" && [ "$ready" = ready ]
result process_that_gives_itself_the_name_is_taken $?

waiting record -o "$tmp/none" --wait=posixwait
kill -INT "$started"
ended 1 && complains '^posixtrace: no program with the name "posixwait" was traced$' && [ ! -e "$tmp/none" ]
result signal_ends_the_wait_without_a_log $?

# The log goes to a pipe: signals then end the command in the usual way while the log begins.
mkfifo "$tmp/pipe"
cat "$tmp/pipe" >"$tmp/piped" &
reader=$!
waiting record -o "$tmp/pipe" --wait=posixwait
kill -TERM "$started"
ended 1 && complains '^posixtrace: no program with the name "posixwait" was traced$'
result signal_ends_the_wait_for_a_log_in_a_pipe $?
wait $reader

waiting record --force --kernel=process -o "$log" --wait=posixwait
kill -USR1 "$started"
start_program
until_true is_recording && end_program && ended 0 && has_end $program && [ ! -e "$log.1" ] && ! complains continues
result signal_for_a_new_log_has_no_effect_while_waiting $?

# The initial namespaces get announcements if the kernel has them. A look at all processes every
# 10 ms would wake it up 30 times.
wakeups()
{
	sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$started/status"
}
waiting record -o "$tmp/none" --wait=posixwait
before=$(wakeups)
sleep 0.3
after=$(wakeups)
if grep -q '^cn_proc ' /proc/net/connector; then
	! complains looking && [ $((after - before)) -lt 15 ]
else
	complains 'looking every 10 ms$'
fi
result waiting_process_sleeps $?
kill -INT "$started"
ended 1

# There are no announcements in another network namespace.
: >"$tmp/err"
unshare -n posixtrace record --force --kernel=process -o "$log" --wait=posixwait >"$tmp/out" 2>"$tmp/err" &
started=$!
until_true complains '^posixtrace: the kernel does not announce programs here: looking every 10 ms$'
start_program
until_true is_recording && end_program && ended 0 && has_end $program
result program_is_found_without_announcements $?

# Another user must not end the wait.
: >"$tmp/err"
mkdir "$tmp/nobody" && chown nobody "$tmp/nobody"
su -s /bin/sh nobody -c "exec posixtrace record --kernel=process -o '$tmp/nobody/log' --wait=posixwait" >"$tmp/out" 2>"$tmp/err" &
started=$!
refused=1
until_true complains '^posixtrace: waiting for a program ' && start_program &&
	until_true complains '^posixtrace: still waiting for a program with the name "posixwait"$' && end_program &&
	complains "^posixtrace: process $program: no permission to trace it\$" && refused=0
su -s /bin/sh nobody -c "exec '$tmp/posixwait'" <"$tmp/in" >"$tmp/answers" &
exec 3>"$tmp/in"
[ $refused -eq 0 ] && until_true is_recording && exec 3>&- && ended 0 && complains '^posixtrace: [0-9]+ events in '
result program_that_may_not_be_traced_is_passed_over $?
exec 3>&-

run_as_nobody 1 record --kernel=syscall -o "$tmp/nobody/none" --wait=posixwait &&
	complains 'kernel_classes=.*CAP_PERFMON' && ! complains waiting
result options_that_cannot_work_fail_before_the_wait $?

waiting live --wait=posixwait-has-a-long-name
"$tmp/posixwait-has-a-long-name" &
program=$!
until_true says posix_trace_start && kill -INT $program
wait $program
ended 0 && says ' steady +"signal 2"$'
result live_waits $?

is_top()
{
	posixtrace list | grep -q ' running .* posixtrace top '
}
waiting top --batch --wait=posixwait-has-a-long-name
"$tmp/posixwait-has-a-long-name" &
program=$!
until_true is_top && kill -INT $program
wait $program
ended 0 && says steady
result top_waits $?

waiting record --force --kernel=process --events=1 -o "$log" --wait=posixwait
start_program
until_true is_recording && echo line >&3 && ended 0
ended_well=$?
end_program && [ $ended_well -eq 0 ]
result events_end_the_recording_of_an_awaited_program $?

finish
