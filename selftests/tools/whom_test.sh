#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests tracing several processes into one stream, selected by id, name, user or control group, and
# with their children. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 15
log=$tmp/log
mkfifo "$tmp/a" "$tmp/b" "$tmp/ready"
# Copy a program under a name that no other program has.
printf '#!/bin/sh\nwhile read -r line; do :; done\n' >"$tmp/posixcat"
chmod 755 "$tmp" "$tmp/posixcat"

# start_readers: starts the processes $a and $b, which read FIFOs until feed_readers is called
start_readers()
{
	"$tmp/posixcat" <"$tmp/a" &
	a=$!
	"$tmp/posixcat" <"$tmp/b" &
	b=$!
	exec 3>"$tmp/a" 4>"$tmp/b"
	until is_reader "$a" && is_reader "$b"; do :; done
}

# is_reader PID: the process has executed the program
is_reader()
{
	[ "$(cat "/proc/$1/comm")" = posixcat ]
}

# feed_readers: lets each reader read a line and end
feed_readers()
{
	echo line >&3
	echo line >&4
	exec 3>&- 4>&-
	wait "$a" "$b"
}

is_running()
{
	posixtrace list | grep -q ' running .* posixtrace record '
}

# recording ARGUMENT...: starts to record. The command must not keep the FIFOs open.
recording()
{
	start record --force --kernel=sched,process -o "$log" "$@" 3>&- 4>&-
	until_true is_running
}

# has_end PID...: checks that the log is complete, and has the end of each of these processes
has_end()
{
	run 0 dump "$log" && posixtrace list "$log" | grep -q '^status  *complete$' || return
	for process in "$@"; do
		says " $process .* sched_process_exit" || return
	done
}

start_readers
recording -p "$a" --pid="$b"
result two_processes_are_traced $?
feed_readers
ended 0 && complains ' from 2 processes' && has_end "$a" "$b"
result recording_ends_with_the_last_of_them $?

start_readers
recording -p "$a,$b" && feed_readers && ended 0 && has_end "$a" "$b"
result ids_may_be_listed_with_commas $?

start_readers
recording --pid=posixcat && feed_readers && ended 0 && has_end "$a" "$b"
result name_selects_all_processes_with_the_program $?

# The shell waits for its two children.
sh -c "'$tmp/posixcat' <'$tmp/a' & echo \$!; '$tmp/posixcat' <'$tmp/b' & echo \$!; wait" >"$tmp/children" &
shell=$!
exec 3>"$tmp/a" 4>"$tmp/b"
a='' b=''
while [ -z "$b" ]; do
	{ read -r a && read -r b; } <"$tmp/children"
done
until is_reader "$a" && is_reader "$b"; do :; done
recording --children --pid=$shell && echo line >&3 && echo line >&4
exec 3>&- 4>&-
wait $shell
ended 0 && complains ' from 3 processes' && has_end "$a" "$b" $shell
result existing_children_are_traced $?

# Ordinary users may trace their own processes, and root all of them.
su -s /bin/sh nobody -c "exec '$tmp/posixcat'" <"$tmp/a" &
a=$!
exec 3>"$tmp/a"
until is_reader "$a"; do :; done
recording --user=nobody && exec 3>&- && wait "$a" && ended 0 && has_end "$a"
result processes_of_a_user_are_traced $?

mkdir "$tmp/groups" && mount -t cgroup2 none "$tmp/groups" && mkdir -p "$tmp/groups/traced/below"
start_readers
echo "$a" >"$tmp/groups/traced/cgroup.procs" && echo "$b" >"$tmp/groups/traced/below/cgroup.procs"
recording --cgroup=/traced && feed_readers && ended 0 && has_end "$a" "$b"
result processes_of_a_control_group_and_below_are_traced $?

start_readers
echo "$a" >"$tmp/groups/traced/cgroup.procs" && echo "$b" >"$tmp/groups/traced/below/cgroup.procs"
recording --cgroup="$b" && feed_readers && ended 0 && has_end "$b" && ! says " $a .* sched_process_exit"
result control_group_of_a_process_is_traced $?
run 1 record -o "$tmp/none" --cgroup=/traced && complains '^posixtrace: no process in the control group "/traced": /proc/PID/cgroup names the group of a process$' &&
	[ ! -e "$tmp/none" ]
result empty_control_group_is_named $?
rmdir "$tmp/groups/traced/below" "$tmp/groups/traced" && umount "$tmp/groups"

run 1 record -o "$tmp/none" -p nosuchprogram &&
	complains '^posixtrace: no process with the name "nosuchprogram": --wait=NAME waits until one starts$' && [ ! -e "$tmp/none" ]
result name_without_process_is_named $?

run 1 record -o "$tmp/none" --user=4000000 &&
	complains '^posixtrace: no process of the user "4000000": start one first, or .*--inherit$' && [ ! -e "$tmp/none" ]
result user_without_process_is_named $?

# Process 2 is the kernel thread kthreadd. An id that was given ends the recording, also as the second.
sleep 1000 &
a=$!
run 1 record -o "$tmp/none" -p "$a,2" &&
	complains '^posixtrace: process 2: a kernel thread, which cannot be traced: use the id of a program$' &&
	run 1 record -o "$tmp/none" -p "$a,4194303" &&
	complains '^posixtrace: process 4194303: no such process: see --pid and --wait in posixtrace-record\(1\)$' &&
	[ ! -e "$tmp/none" ]
result second_process_that_cannot_be_traced_is_told $?
kill "$a"
wait "$a" 2>/dev/null

# Keep the FIFO open: if a read opened it while its last writer still had it open, the read could
# end before the next writer opens it.
exec 5<>"$tmp/ready"

# Two programs with trace points, each with its own event types.
./steady_helper "$tmp/ready" &
a=$!
read -r ready <&5
./steady_helper "$tmp/ready" &
b=$!
read -r ready <&5
run 1 record --force -o "$log" -p "$a" -p "$b" && complains \
	"^posixtrace: process $b: has its own trace points or credentials: record it separately\$" &&
	[ "$ready" = ready ]
result second_program_with_trace_points_is_refused_by_id $?
recording --pid=steady_helper
kill -INT "$a" "$b"
wait "$a" "$b"
ended 0 && complains '^posixtrace: not traced: 1 process with its own trace points or credentials$'
result second_program_with_trace_points_is_counted_by_name $?

# A program with trace points and one without.
./steady_helper "$tmp/ready" &
b=$!
read -r ready <&5
"$tmp/posixcat" <"$tmp/a" &
a=$!
exec 3>"$tmp/a"
until is_reader "$a"; do :; done
recording -p "$a" -p "$b"
exec 3>&-
kill -INT "$b"
wait "$a" "$b"
ended 0 && has_end "$a" "$b" && says " $b .* steady .*signal 2"
result program_with_trace_points_comes_first $?

finish
