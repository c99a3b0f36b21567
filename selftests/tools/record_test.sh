#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace record". Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 71
here=$PWD
log=$tmp/log

# recorded: writes the user events of the log to the file events
recorded()
{
	"$here/events_helper" "$log" >"$tmp/events"
}

# is_complete: checks that the status of the log is complete
is_complete()
{
	posixtrace list "$log" | grep -q '^status  *complete$'
}

# is_ended: checks that the log has an end, but that events were lost before it
is_ended()
{
	posixtrace list "$log" | grep -q '^status  *complete;'
}

# is_running: checks that a stream of "record" is running
is_running()
{
	posixtrace list | grep -q ' running .* posixtrace record '
}

ticks()
{
	printf 'tick number 0\ntick number 1\ntick number 2\n'
}

# with_log STATUS ARGUMENT...: records into a new log
with_log()
{
	rm -f "$log"
	wanted=$1
	shift
	run "$wanted" record --output="$log" "$@"
}

start_with_log()
{
	rm -f "$log"
	start record -o "$log" "$@"
}

# start_steady: starts a process $steady that records. The FIFO remains open. If it was opened again
# before the previous writer has closed it, the reader could see the end of file of the previous
# writer.
mkfifo "$tmp/ready"
exec 8<>"$tmp/ready"
start_steady()
{
	./steady_helper "$tmp/ready" &
	steady=$!
	read -r _ <&8
}

run 2 record && run 2 record --policy=append -- true &&
	complains '^posixtrace: --policy: must be flush, loop or until-full \(got "append"\)$' &&
	run 2 record --log-policy=flush -- true &&
	complains '^posixtrace: --log-policy: must be append, loop or until-full \(got "flush"\)$' &&
	run 2 record --compress=zstd -- true &&
	complains '^posixtrace: --compress: must be lz4 or none \(got "zstd"\)$' &&
	run 2 record --order=exact -- true &&
	complains '^posixtrace: --order: must be causal or relaxed \(got "exact"\)$' &&
	run 2 record --policy=x -- true && run 2 record --log-size=1M -- true &&
	complains '^posixtrace: --log-size: needs --log-policy=loop' && run 2 record --pid=1 -- true &&
	run 2 record --log-policy=loop --log-size=x -- true &&
	complains '^posixtrace: --log-size: must be at most .* \(got "x"\)$' && [ ! -e posixtrace.log ] &&
	run 1 record --log-policy=loop --log-size=400 -- true &&
	complains 'log-size: must be at least two sub-buffers' && [ ! -e posixtrace.log ]
result wrong_arguments_are_a_usage_error $?

run 2 record --kernel=disk -- true &&
	complains '^posixtrace: --kernel: must be all, none, .* or strings \(got "disk"\)$' &&
	run 2 record --kernel= -- true && run 2 record --kernel=sched,disk -- true &&
	{ [ "$(uname -m)" = x86_64 ] || { run 1 record --kernel=fault -- true &&
	complains '^posixtrace: --kernel: the module cannot record fault on this kernel$'; }; } &&
	with_log 0 --kernel=all -- ./ticks_helper 3 0 && recorded &&
	! complains '^posixtrace: [0-4] events in ' &&
	grep '^tick' "$tmp/events" >"$tmp/ticks" && ticks | cmp - "$tmp/ticks" &&
	posixtrace dump "$log" >"$tmp/dump" &&
	grep -q 'sched_process_exec  *tid=[0-9]* filename=".*ticks_helper"' "$tmp/dump" &&
	posixtrace dump --json "$log" | grep -q '"event":"sched_process_exit".*"user":false' &&
	with_log 0 --kernel=all -- sleep 0.1 && posixtrace dump "$log" >"$tmp/dump" &&
	grep -q 'sched_switch_out  *tid=[0-9]* .* reason=' "$tmp/dump"
result kernel_adds_events_of_the_kernel $?

with_log 0 -- sleep 0.1 && complains '^posixtrace: sleep has no trace points: .* of sched and process$' &&
	complains '^posixtrace: 1 thread: running .*, waiting for a processor .*, blocked 1[0-9][0-9] ms' &&
	complains "^posixtrace: posixtrace stat --states $log shows more\$" &&
	posixtrace dump "$log" | grep -q 'sched_switch_out ' &&
	with_log 0 --quiet -- sleep 0 && [ ! -s "$tmp/err" ] &&
	posixtrace dump "$log" | grep -q 'sched_process_exit ' &&
	with_log 0 --kernel=none -- sleep 0 && complains '^posixtrace: no events: ' &&
	! complains 'has no trace points: rec' && ! complains ' running ' &&
	with_log 0 -- ./ticks_helper 3 0 && ! complains 'has no trace points' && recorded &&
	grep '^tick' "$tmp/events" >"$tmp/ticks" && ticks | cmp - "$tmp/ticks" &&
	run 2 record --kernel=sched,none -- true &&
	complains '^posixtrace: --kernel: none excludes all other classes \(got "sched,none"\)$'
result program_without_trace_points_is_recorded_by_the_kernel $?

with_log 0 --kernel=sched,syscall -- sleep 0.1 && ! complains 'has no trace points' &&
	complains '^posixtrace: 1 thread: running .*, blocked .*, 1[0-9][0-9] ms of it in .*nanosleep'
result record_says_where_the_time_went $?

# The class strings is not part of "all".
with_log 0 --kernel=syscall,strings -- cat /proc/self/comm && posixtrace dump "$log" >"$tmp/dump" &&
	address=$(sed -n 's,.* syscall_text  *\(0x[0-9a-f]*\) = "/proc/self/comm"$,\1,p' "$tmp/dump") &&
	grep -qE " syscall_entry  *open(at\(AT_FDCWD, |\()$address, O_RDONLY" "$tmp/dump" &&
	grep -qE ' syscall_exit  *open(at)? = [0-9]+' "$tmp/dump" &&
	with_log 0 --kernel=all -- cat /proc/self/comm && posixtrace dump "$log" >"$tmp/dump" &&
	grep -q ' syscall_entry ' "$tmp/dump" && ! grep -q ' syscall_text ' "$tmp/dump"
result kernel_strings_has_the_texts_of_system_calls $?

with_log 0 --kernel=syscall,strings,process -- cat /proc/self/comm &&
	posixtrace dump "$log" >"$tmp/dump" &&
	grep -qE ' syscall_exit  *open(at)? = 3</proc/self/comm>$' "$tmp/dump" &&
	grep -q ' syscall_entry  *close(3</proc/self/comm>)$' "$tmp/dump"
result descriptors_have_paths $?

mkdir -m 1777 "$tmp/users" && chmod 755 "$tmp" &&
	run_as_nobody 1 record -o "$tmp/users/log" --kernel=syscall -- ./ticks_helper 3 0 &&
	complains '^posixtrace: --kernel: module parameter kernel_classes=syscall:perfmon requires' &&
	run_as_nobody 0 record --force -o "$tmp/users/log" --kernel=all -- ./ticks_helper 3 0 &&
	complains '^posixtrace: --kernel=all: without syscall, which needs CAP_PERFMON: see posixtrace' &&
	complains '^posixtrace: --kernel=all: without irq, ' && ! complains 'without [^si]' &&
	posixtrace dump "$tmp/users/log" >"$tmp/dump" && grep -q 'sched_process_exit' "$tmp/dump" &&
	! grep -q 'syscall_entry' "$tmp/dump" && ! grep -q ' irq ' "$tmp/dump"
result kernel_all_is_what_the_user_may_have $?

# Process 2 is the kernel thread kthreadd.
sleep 1000 &
sleeper=$!
# The child ends when its parent has become a program that does not wait for children. A shell might
# have waited for it.
cat >"$tmp/child" <<-'END'
	until grep -qx sleep "/proc/$PPID/comm"; do
		:
	done
END
sh -c 'sh "$0" & echo $!; exec sleep 1000' "$tmp/child" >"$tmp/zombie" &
parent=$!
until grep -q '^State:.Z' "/proc/$(cat "$tmp/zombie")/status" 2>/dev/null; do
	kill -0 "$parent" || break
done
run 1 record -o "$log.none" 2 &&
	complains '^posixtrace: process 2: a kernel thread, which cannot be traced: use the id of a program$' &&
	run 1 record -o "$log.none" "$(cat "$tmp/zombie")" &&
	complains "^posixtrace: process $(cat "$tmp/zombie"): has already ended: see --wait in posixtrace-record\\(1\\)\$" &&
	run 1 live 4194303 && complains '^posixtrace: process 4194303: no such process: see --pid and --wait in posixtrace-record\(1\)$' &&
	run 1 list 2 && complains 'process 2: a kernel thread' && [ ! -e "$log.none" ]
result process_that_cannot_be_traced_is_told $?
kill "$parent" "$sleeper"
wait

with_log 0 --kernel=none -- true &&
	complains '^posixtrace: no events: .* --inherit also .*--kernel=all records' &&
	with_log 0 --inherit --kernel=process -- true && ! complains 'no events' &&
	with_log 0 --inherit -f 'tock' -- ./ticks_helper 3 0 &&
	complains '^posixtrace: no events: .* one that the filter lets pass\. --kernel=all records' &&
	with_log 0 -q -- true && ! complains . && with_log 0 -- ./ticks_helper 3 0 &&
	! complains 'no events' && run 0 live -- true && complains '^posixtrace: no events: '
result no_events_are_explained $?

# In most containers, /dev does not have the device.
unshare -m sh -c 'mount -t tmpfs none /dev && echo $$ && exec sleep 1000' >"$tmp/contained" &
until [ -s "$tmp/contained" ]; do
	:
done
contained=$(cat "$tmp/contained")
start_with_log "$contained"
until_true is_running
kill "$contained"
ended 0 && complains "^posixtrace: no events: process $contained has no /dev/posixtrace; add it to its"
result process_without_the_device_is_told $?
wait

# A process in a pid namespace inside another one. It is traced from the outside, and from the
# namespace in between.
unshare -p -f unshare -p -f ./steady_helper stubborn "$tmp/ready" &
read -r _ <&8
nested=$(grep -lx steady_helper /proc/[0-9]*/comm)
nested=${nested#/proc/} nested=${nested%/comm}
start_with_log "$nested"
until_true is_running
kill -INT "$nested"
read -r _ <&8
kill -INT "$started"
ended 0 && complains '^posixtrace: 1 events in ' && recorded &&
	posixtrace dump "$log" | grep -q "  $nested  *steady_helper-$nested  *steady  *\"signal 2\""
result process_in_another_pid_namespace_is_recorded $?

between=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$nested/status")
nsenter -t "$between" -p posixtrace record -o "$tmp/between" 2 2>"$tmp/err" &
started=$!
until_true is_running
kill -INT "$nested"
read -r _ <&8
command=$(grep -lx posixtrace /proc/[0-9]*/comm)
command=${command#/proc/}
kill -INT "${command%/comm}"
ended 0 && complains '^posixtrace: 1 events in ' &&
	posixtrace dump "$tmp/between" | grep -q '  2  *steady_helper-2  *steady  *"signal 2"'
result process_is_recorded_from_a_namespace_in_between $?
kill -KILL "$nested"
wait

# The page must show the real duration of sleep(1), and that a timer wakes it. sleep sets the timer
# slightly before it waits.
about='(19|[2-9].)[0-9]{7}'
with_log 0 --kernel=sched,process -- sleep 0.2 &&
	posixtrace export --format=html "$log" >"$tmp/page" &&
	grep -qE '^\[6,[0-9]+,3,[0-9]+,'"$about"',\{"letter":"S","by":"timer"' "$tmp/page" &&
	grep -qE '^\[6,[0-9]+,1,[0-9]+,[0-9]+,\{"cpu":' "$tmp/page"
result page_has_states_of_threads $?

with_log 0 --kernel=process -x sched_process_exit -- ./ticks_helper 3 0 &&
	posixtrace dump "$log" >"$tmp/dump" && grep -q sched_process_exec "$tmp/dump" &&
	! grep -q sched_process_exit "$tmp/dump"
result events_of_the_kernel_can_be_excluded $?

with_log 0 -- ./ticks_helper 3 0 && recorded && grep '^tick' "$tmp/events" >"$tmp/ticks" &&
	ticks | cmp - "$tmp/ticks"
result writes_the_events_of_a_program_into_a_log $?

is_complete
result log_is_complete_at_the_end $?

complains '^posixtrace: 4 events in [0-9.]+ s; .*/log: [0-9.]+ kB$'
result prints_a_summary_at_the_end $?

[ "$(wc -l <"$tmp/err")" -eq 1 ] && ! grep -q "$(printf '\r')" "$tmp/err" && [ ! -s "$tmp/out" ]
result prints_no_progress_without_a_terminal $?

with_log 0 --quiet -- ./ticks_helper 3 0 && [ ! -s "$tmp/err" ] && recorded
result quiet_prints_nothing $?

with_log 7 -- ./ticks_helper 1 7 && is_complete
result passes_the_exit_status_on $?

with_log 127 -- ./no_such_program && complains 'no_such_program: No such file' && [ ! -e "$log" ] &&
	[ "$(wc -l <"$tmp/err")" -eq 1 ] && with_log 0 -- ./ticks_helper 1 0
result missing_program_leaves_no_log $?

cp ticks_helper "$tmp/plain" && chmod a-x "$tmp/plain"
with_log 126 -- "$tmp/plain" && complains 'plain: Permission denied' && [ ! -e "$log" ]
result file_that_is_not_executable_leaves_no_log $?

with_log 127 -- ./ticks_helper 3 127 && recorded && is_complete
result program_with_exit_status_127_is_not_a_missing_program $?

(cd "$tmp" && posixtrace record -- "$here/ticks_helper" 3 0) 2>"$tmp/err" &&
	posixtrace list "$tmp/posixtrace.log" | grep -q '  complete$'
result default_log_is_posixtrace_log $?

echo precious >"$log"
run 1 record -o "$log" -- ./ticks_helper 1 0 &&
	complains '^posixtrace: .*/log: the file exists; use --force to replace it, or another --output$' &&
	[ "$(cat "$log")" = precious ]
result existing_file_is_refused $?

run 1 record --force -o "$log" --pid=4194303 && complains '^posixtrace: process 4194303: no such process: see --pid and --wait in posixtrace-record\(1\)$' &&
	[ "$(cat "$log")" = precious ] && [ "$(echo "$log".*)" = "$log.*" ]
result existing_file_stays_without_a_process $?

run 127 record --force -o "$log" -- ./no_such_program && [ "$(cat "$log")" = precious ] &&
	[ "$(echo "$log".*)" = "$log.*" ]
result existing_file_stays_without_a_program $?

# In a sticky directory, a user cannot replace the file of another user.
mkdir -m 1777 "$tmp/sticky" && chmod 755 "$tmp" && echo precious >"$tmp/sticky/log"
run_as_nobody 1 record --force -o "$tmp/sticky/log" -- ./ticks_helper 3 0 &&
	[ "$(cat "$tmp/sticky/log")" = precious ] &&
	complains '^posixtrace: .*/sticky/log: cannot replace the file: Operation not permitted$' &&
	complains '^posixtrace: the log is in .*/sticky/log\.[A-Za-z0-9]{6}$' &&
	complains '^posixtrace: 4 events ' && cp "$tmp/sticky/log".* "$log" && recorded && is_complete
result log_is_kept_beside_a_file_that_cannot_be_replaced $?
echo precious >"$log"

run 0 record --force -o "$log" -- ./ticks_helper 3 0 && is_complete &&
	[ "$(stat -c %a "$log")" = 600 ] && [ "$(echo "$log".*)" = "$log.*" ]
result force_replaces_an_existing_file $?

with_log 1 --pid=4194303 && [ ! -e "$log" ]
result missing_process_leaves_no_log $?

with_log 1 -f posix_trace_stop -- ./ticks_helper 1 0 && [ ! -e "$log" ] &&
	run 1 record -o "$tmp/nowhere/log" -- true && complains 'nowhere/log: No such file'
result errors_are_reported_before_the_program_runs $?

posixtrace record -o - -- sh -c 'echo noise; exec ./ticks_helper 3 0' 2>"$tmp/err" | cat >"$log"
grep -q '^noise$' "$tmp/err" && recorded && is_complete && complains 'standard output$'
result standard_output_gets_only_the_log $?

# the number of the system call ioctl()
case $(uname -m) in
aarch64) ioctl=29 ;;
*) ioctl=16 ;;
esac

# The pipe is full: the stream exists, but its log cannot be started.
waits_for_the_log()
{
	grep -q "^$ioctl " "/proc/$started/syscall"
}

# The symbolic link must remain. "-" writes the log into the file to which it points.
ln -s /proc/self/fd/1 "$tmp/stdout"
posixtrace record --force -o "$tmp/stdout" -- ./ticks_helper 3 0 >"$log" 2>"$tmp/err"
[ $? -eq 1 ] && complains '/stdout: is standard output: use -o - to write the log there$' &&
	[ -L "$tmp/stdout" ] && [ ! -s "$log" ] &&
	posixtrace record -o - -- sh -c 'echo noise; exec ./ticks_helper 3 0' >"$log" 2>"$tmp/err" &&
	recorded && is_complete && complains '^noise$'
result names_of_its_descriptors_are_refused $?

mkfifo "$tmp/full"
exec 9<>"$tmp/full"
dd if=/dev/zero bs=4096 count=16 >&9 2>/dev/null
start record -o "$tmp/full" -- ./ticks_helper 3 0
until_true waits_for_the_log
kill -9 "$(sed -n "s/^\([0-9]*\) (.*) S $started .*/\1/p" /proc/[0-9]*/stat 2>/dev/null)"
dd bs=4096 count=16 <&9 >/dev/null 2>&1
ended 137 && complains '^posixtrace: 0 events '
result program_killed_before_it_runs_gives_status_137 $?
exec 9>&-

mkfifo "$tmp/blocked"
exec 9<>"$tmp/blocked"
dd if=/dev/zero bs=4096 count=16 >&9 2>/dev/null
start record -o "$tmp/blocked" -- ./ticks_helper 3 0
until_true waits_for_the_log
kill -TERM "$started"
ended 143
result signal_ends_a_recording_whose_pipe_takes_nothing $?
exec 9>&-

mkfifo "$tmp/fifo"
cat "$tmp/fifo" >"$log" &
run 0 record -o "$tmp/fifo" -- ./ticks_helper 3 0 && wait $! && is_complete
result fifo_gets_a_log $?

posixtrace record -o - --log-policy=loop -- true 2>"$tmp/err" | cat >"$tmp/out"
complains '^posixtrace: standard output: not a regular file: use --log-policy=append$' && [ ! -s "$tmp/out" ]
result pipe_needs_log_policy_append $?

# If the reader stops reading, that must not block the program.
{ posixtrace record -o - -- ./ticks_helper 20000 7 2>"$tmp/err"; echo $? >"$tmp/status"; } |
	head -c 100 >"$tmp/out"
[ "$(cat "$tmp/status")" -eq 1 ] && complains 'standard output: Broken pipe' &&
	complains '^posixtrace: the log is incomplete: some events could not be written$'
result reader_that_closes_the_pipe_is_a_failure $?

# The file system is full for some time. At the end, the log has space again, but events are
# missing. Events that were lost before the first failed write may be lost because the stream is
# small, so more events must follow.
mkdir "$tmp/small"
mount -t tmpfs -o size=1M none "$tmp/small"
dd if=/dev/zero of="$tmp/small/other" bs=4096 count=240 2>/dev/null
mkfifo "$tmp/remove"
start record --inherit --size=64K -o "$tmp/small/log" -- \
	sh -c "./ticks_helper 20000 0; read -r _ <$tmp/remove; ./ticks_helper 20000 0
		rm $tmp/small/other"
until_true complains 'small/log: No space left on device$'
echo now >"$tmp/remove"
ended 1 && complains '^posixtrace: the log is incomplete: some events could not be written$' &&
	complains ' [1-9][0-9]* lost; ' && ! complains 'only the last'
result log_that_could_not_be_written_for_some_time_is_a_failure $?

# The disk remains full, so a larger stream would not help.
rm "$tmp/small/log"
dd if=/dev/zero of="$tmp/small/other" bs=4096 count=240 2>/dev/null
run 1 record --force --size=64K -o "$tmp/small/log" -- ./ticks_helper 40000 0
complains '^posixtrace: the log is incomplete: some events could not be written$' &&
	complains ' [1-9][0-9]* lost; ' && ! complains 'larger' &&
	run 0 stat "$tmp/small/log" && ! complains 'larger'
result full_disk_needs_no_larger_stream $?
umount "$tmp/small"

./steady_helper stubborn "$tmp/ready" &
steady=$!
read -r _ <&8
# The reader reads only the header.
{ posixtrace record -o - "$steady" 2>"$tmp/err"; echo $? >"$tmp/status.process"; } |
	head -c 512 >"$tmp/out" &
until [ -s "$tmp/status.process" ]; do
	kill -INT "$steady" || break
	read -r _ <&8
done
[ "$(cat "$tmp/status.process")" -eq 1 ] && complains 'standard output: Broken pipe' &&
	kill -0 "$steady"
result recording_of_a_process_ends_when_the_reader_has_ended $?
# Wait for its exit now, so that the next test does not wait for the wrong process.
kill -9 "$steady"
wait "$steady"

start_steady
start_with_log "$steady"
until_true is_running
kill "$started"
ended 0 && is_complete && kill -0 "$steady"
result signal_ends_the_recording_of_a_process $?

start_with_log -p "$steady"
until_true is_running
kill -TERM "$steady"
ended 0 && recorded && grep -q '^steady signal 15$' "$tmp/events" && is_complete
result recording_ends_with_the_process $?
wait "$steady"

start_with_log -- ./steady_helper "$tmp/ready"
read -r _ <&8
kill -TERM "$started"
ended 5 && recorded && [ "$(tail -n 1 "$tmp/events")" = 'steady signal 15' ] && is_complete
result first_signal_goes_to_the_program_and_recording_continues $?

start_with_log -- ./steady_helper stubborn "$tmp/ready"
read -r _ <&8
kill -TERM "$started"
read -r _ <&8
kill -TERM "$started"
ended 143 && complains 'steady_helper \(process [0-9]+\) is still running$' && is_complete
result second_signal_ends_the_command_and_not_the_program $?
kill -9 "$(sed -n 's/.*(process \([0-9]*\)) is still running.*/\1/p' "$tmp/err")"

rm -f "$log"
# Type Ctrl-C after the whole line, because the terminal shows "^C" at the cursor.
./terminal_helper ' 1 events .* kB' posixtrace record -o "$log" -- ./steady_helper \
	>"$tmp/out" 2>"$tmp/err"
[ $? -eq 5 ] && says ' s  1 events  [0-9]+/s  0 lost  log [0-9.]+ kB'
result terminal_shows_the_progress $?

recorded && printf 'steady begin\nsteady signal 2\n' | cmp - "$tmp/events" && is_complete
result ctrl_c_reaches_the_program_once_and_completes_the_log $?

rm -f "$log"
./terminal_helper ' kB' posixtrace record -o - -- true >"$tmp/out"
[ $? -eq 1 ] && says 'posixtrace: --output: standard output is a terminal: use a file or a pipe'
result terminal_is_refused $?

with_log 0 --filter=raw -- ./ticks_helper 3 0 && recorded && [ "$(wc -l <"$tmp/events")" -eq 1 ] &&
	grep -q '^raw ' "$tmp/events"
result filter_records_only_its_types $?

# A pattern filters types that exist before the recording starts immediately, and later ones soon
# after they are opened.
mkfifo "$tmp/fifo"
./fields_helper "$tmp/fifo" &
read -r _ <"$tmp/fifo"
rm -f "$log"
start record --filter='i*' --output="$log" "$!"
until_true is_running
echo go >"$tmp/fifo"
ended 0 && recorded && [ "$(cut -d' ' -f1 "$tmp/events")" = idle ] &&
	with_log 0 --filter='r*' -- ./ticks_helper 3 0 && recorded && grep -q '^raw ' "$tmp/events"
result filter_has_wildcards $?

run 2 record --filter='len > 4096' --output="$log" -- ./fields_helper &&
	complains '^posixtrace: --filter: conditions on fields cannot be tested while recording$'
result conditions_on_fields_are_refused $?

with_log 0 --exclude=raw -- ./ticks_helper 3 0 && recorded && ticks | cmp - "$tmp/events"
result exclude_does_not_record_its_types $?

with_log 0 -- ./family_helper && recorded && [ "$(cat "$tmp/events")" = 'family parent' ]
result children_are_not_recorded $?

# If SIGCHLD is ignored, a child leaves no exit status. The traced program must still ignore
# SIGCHLD.
rm -f "$log"
./ignore_helper posixtrace record --output="$log" -- ./ticks_helper 1 3 2>"$tmp/err"
[ $? -eq 3 ] && ./ignore_helper posixtrace record --force --output="$log" -- \
	grep SigIgn /proc/self/status >"$tmp/out" 2>"$tmp/err" && says '^SigIgn:.*1[0-9a-f]{4}$'
result exit_status_is_known_if_children_are_ignored $?

with_log 0 --inherit -- ./family_helper && recorded &&
	printf 'family parent\nfamily child\n' | cmp - "$tmp/events"
result inherit_records_children_until_all_have_ended $?

with_log 0 --policy=loop --size=8K -- ./ticks_helper 5000 0 && recorded &&
	grep -q '^tick number 4999$' "$tmp/events" && ! grep -q '^tick number 0$' "$tmp/events" &&
	complains "; .*/log" && complains ', the log has the last [0-9]+ or fewer' &&
	last=$(sed -n 's/.*, the log has the last \([0-9]*\) .*/\1/p' "$tmp/err") &&
	[ "$last" -ge "$(wc -l <"$tmp/events")" ] && [ "$last" -lt 5001 ] &&
	! complains 'larger' && run 0 dump "$log" && ! complains 'larger' &&
	complains "^posixtrace: .*/log: [0-9]+ events are not in the log: the stream's policy is loop$"
result policy_loop_keeps_the_last_events $?

with_log 0 --policy=until-full --size=8K -- ./ticks_helper 5000 0 && recorded &&
	grep -q '^tick number 0$' "$tmp/events" && ! grep -q '^tick number 4999$' "$tmp/events" &&
	complains 'the stream is full' && complains ", $((5001 - $(wc -l <"$tmp/events"))) lost"
result policy_until_full_keeps_the_first_events $?

with_log 0 --log-policy=until-full --log-size=13K -- ./ticks_helper 5000 0 && recorded &&
	grep -q '^tick number 0$' "$tmp/events" && ! grep -q '^tick number 4999$' "$tmp/events" &&
	complains 'the log is full' && complains 'the log has only the first events' &&
	posixtrace list "$log" | grep -q '^status.*; full'
result log_policy_until_full_keeps_the_first_events $?

# The log has space for two sub-buffers and the names. The stream has space for all events.
with_log 0 --log-policy=loop --log-size=33K --size=4M -- ./ticks_helper 20000 0 && recorded &&
	grep -q '^tick number 19999$' "$tmp/events" && ! grep -q '^tick number 0$' "$tmp/events" &&
	complains ' 20001 events .*the log has only the last events' && ! complains 'full' &&
	[ "$(stat -c %s "$log")" -lt 500000 ] && run 0 dump "$log" && ! complains 'larger' &&
	complains ': [0-9]+ older events were overwritten in the log: its policy is loop$'
result log_policy_loop_keeps_the_last_events $?

run 0 export --format=chrome --output="$tmp/json" "$log" && ! complains 'later events' &&
	complains ': [0-9]+ older events were overwritten in the log: its policy is loop$'
result export_of_a_log_that_was_overwritten_says_so $?

# The program continues. "record" waits for its end, but records no further events.
start_with_log --inherit --policy=until-full --size=8K -- sh -c \
	"./ticks_helper 5000 0; exec ./steady_helper $tmp/ready"
read -r _ <&8
until_true is_ended
kill -0 "$started"
waits=$?
kill "$started"
ended 5 && complains 'the stream is full' && [ "$waits" -eq 0 ]
result recording_ends_when_the_stream_is_full $?

with_log 0 --data-size=3 -- ./ticks_helper 1 0 && recorded && grep -q '^tick num$' "$tmp/events"
result data_size_truncates_the_data $?

cd "$tmp" || exit 1
ln -s log link
run 0 record --force -o link -- "$here/ticks_helper" 3 0 && posixtrace list link | grep -q '  complete$'
result force_replaces_a_link $?
cd "$here" || exit 1

run 0 record -o /dev/null -- ./ticks_helper 3 0 && complains ' 4 events .*; /dev/null$'
result log_can_be_a_device $?

(ulimit -f 16; posixtrace record --force -o "$log" -- ./ticks_helper 20000 0) >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && complains '^posixtrace: .*/log: File too large' && complains 'the log is incomplete'
result file_that_cannot_grow_is_a_failure $?

# has_mode MODE: checks the permissions of the log
has_mode()
{
	[ "$(stat -c %a "$log")" = "$1" ] || { echo "# mode $(stat -c %a "$log")"; return 1; }
}

(umask 0 && with_log 0 -- ./ticks_helper 1 0) && has_mode 600 &&
	(umask 077 && with_log 0 -- ./ticks_helper 1 0) && has_mode 600
result log_is_for_the_user_only $?

with_log 0 --mode=0644 -- ./ticks_helper 1 0 && has_mode 644 &&
	(umask 077 && with_log 0 --mode=640 -- ./ticks_helper 1 0) && has_mode 640 && is_complete &&
	(umask 077 && run 0 record --force --mode=666 -o "$log" -- ./ticks_helper 1 0) && has_mode 666
result mode_sets_the_permissions_whatever_the_umask_is $?

# log_size ARGUMENT...: prints the size of a log of the numbers 0 to 1999
log_size()
{
	with_log 0 "$@" -- ./ticks_helper 2000 0 && recorded &&
		[ "$(grep -c '^tick number' "$tmp/events")" -eq 2000 ] && stat -c %s "$log"
}

# Without the compressor in the kernel, both logs are plain.
plain=$(log_size --compress=none) && packed=$(log_size) &&
	if posixtrace status | grep -q '^features .* lz4'; then
		[ "$((packed * 10 / 9))" -lt "$plain" ]
	else
		[ "$((packed * 10 / 9))" -ge "$plain" ]
	fi
result log_is_compressed_unless_that_is_refused $?

# The log of the previous test has mode 0666, like a file that another user might have created.
run 0 record --force -o "$log" -- ./ticks_helper 1 0 && has_mode 600
result replaced_log_keeps_no_permissions $?

for mode in '' 0 1000 8 08 rw -1 0x1ff 0644x; do
	run 2 record --mode="$mode" -o "$tmp/mode" -- true &&
		complains '^posixtrace: --mode: must be octal digits, 1 to 0777 \(got ' || break
done && [ "$mode" = 0644x ] && run 2 record --mode=0644 -o - -- true &&
	complains '^posixtrace: --mode: applies to new files, not to standard output$' && [ ! -e "$tmp/mode" ]
result wrong_mode_is_a_usage_error $?

# Another user may have put such files into /tmp. They must neither receive the events nor redirect
# the log.
su -s /bin/sh nobody -c "mkfifo -m 666 $tmp/users/fifo; ln -s nothing $tmp/users/link"
run 1 record -o "$tmp/users/fifo" -- touch "$tmp/ran" &&
	complains '^posixtrace: .*/fifo: the FIFO belongs to another user: use another --output$' &&
	run 1 record -o "$tmp/users/link" -- touch "$tmp/ran" && complains '/users/link: ' &&
	[ ! -e "$tmp/users/nothing" ] && [ ! -e "$tmp/ran" ] &&
	run_as_nobody 1 record -o "$tmp/users/fifo" --pid=4194303 <>"$tmp/users/fifo" &&
	complains 'no such process: see --pid and --wait in posixtrace-record\(1\)$'
result traps_of_other_users_are_refused $?

finish
