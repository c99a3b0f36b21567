#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests recordings in numbered logs. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 14
log=$tmp/some.log
mkfifo "$tmp/in"

# numbers LOG...: prints the numbers that the program recorded; the logs are read as one
numbers()
{
	posixtrace dump "$@" | sed -n 's/.* tick  *"number \([0-9]*\)"$/\1/p'
}

# logs: prints the logs that exist, from the first to the last
logs()
{
	[ ! -e "$log" ] || echo "$log"
	n=1
	while [ "$n" -lt 400 ]; do
		[ ! -e "$tmp/some.$n.log" ] || echo "$tmp/some.$n.log"
		n=$((n + 1))
	done
}

clean()
{
	rm -f "$tmp"/some*
}

is_complete()
{
	posixtrace list "$1" 2>/dev/null | grep -q '^status  *complete$'
}

# start_waiting ARGUMENT...: records a program that records five events, and that ends when its
# input is closed
start_waiting()
{
	clean
	exec 3<>"$tmp/in"
	posixtrace record -o "$log" "$@" -- \
		sh -c "./ticks_helper 5 0; : >$tmp/some.first; read -r line; ./ticks_helper 7 0; read -r line; exit 7" <"$tmp/in" >"$tmp/out" 2>"$tmp/err" 3>&- &
	started=$!
}

# has_count COUNT LOG...: do the logs have so many numbers?
has_count()
{
	wanted=$1
	shift
	[ "$(numbers "$@" | wc -l)" -eq "$wanted" ]
}

# The program records for much longer than the time between two checks of the size.
run 0 record --rotate=64K --size=4M --compress=none -o "$log" -- ./ticks_helper 150000 0
recorded=$?
seq 0 149999 >"$tmp/wanted"
# shellcheck disable=SC2046 # the paths have no blanks
numbers $(logs) >"$tmp/numbers"
[ "$recorded" -eq 0 ] && [ "$(logs | wc -l)" -gt 2 ] && cmp "$tmp/wanted" "$tmp/numbers" &&
	! complains lost && complains "; $(logs | wc -l) logs, the last is $tmp/some\.[0-9]+\.log"
result size_begins_new_logs_that_have_all_events $?

all=0
part=0
series=$(posixtrace list "$log" | sed -n 's/^series  *\([0-9a-f]*\), part 1; continues in the next part$/\1/p')
[ -n "$series" ] || all=1
for one in $(logs); do
	part=$((part + 1))
	posixtrace list "$one" >"$tmp/listed"
	is_complete "$one" && grep -q "^series  *$series, part $part" "$tmp/listed" && posixtrace dump "$one" >"$tmp/dumped" && ! grep -q unknown "$tmp/dumped" || all=1
done
result each_log_is_complete_by_itself $all

# On a fast machine, the program may end before the second rotation: then it records more.
count=75000
until [ ! -e "$log" ] || [ "$count" -gt 1000000 ]; do
	clean
	count=$((2 * count))
	run 0 record --rotate=64K --keep=2 --size=16M --compress=none -o "$log" -- ./ticks_helper "$count" 0
	recorded=$?
done
# shellcheck disable=SC2046 # the paths have no blanks
numbers $(logs) >"$tmp/numbers"
[ "$recorded" -eq 0 ] && [ "$(logs | wc -l)" -eq 2 ] && [ ! -e "$log" ] &&
	[ "$(tail -n 1 "$tmp/numbers")" -eq $((count - 1)) ]
result only_the_last_logs_are_kept $?

# Wait for the first events: after that, the command handles signals.
start_waiting --inherit
until_true has_count 5 "$log" && kill -USR1 $started && until_true is_complete "$log" && echo line >&3 &&
	until_true has_count 7 "$tmp/some.1.log" && echo line >&3 && exec 3>&- && ended 7 &&
	is_complete "$tmp/some.1.log" && has_count 5 "$log" && has_count 7 "$tmp/some.1.log"
result signal_begins_a_new_log $?

start_waiting --inherit --policy=loop
until_true test -e "$tmp/some.first" && kill -USR1 $started && until_true is_complete "$log" &&
	has_count 5 "$log" && echo line >&3 && echo line >&3 && exec 3>&- && ended 7 && has_count 7 "$tmp/some.1.log"
result signal_writes_the_window_in_memory $?

is_waiting_for_a_reader()
{
	grep -q '^Name:.posixtrace$' "/proc/$started/status" && grep -q '^State:.S' "/proc/$started/status"
}
mkfifo "$tmp/pipe"
start record -o "$tmp/pipe" -- true
until_true is_waiting_for_a_reader && kill -USR1 "$started"
cat "$tmp/pipe" >"$tmp/piped" &
ended 0 && wait && [ -s "$tmp/piped" ]
result signal_before_the_log_is_open_has_no_effect $?

start_waiting --inherit --rotate=1s
until_true is_complete "$log" && until_true is_complete "$tmp/some.1.log" && echo line >&3 && echo line >&3 &&
	exec 3>&- && ended 7
ended_well=$?
# shellcheck disable=SC2046 # the paths have no blanks
[ "$ended_well" -eq 0 ] && has_count 12 $(logs)
result time_begins_new_logs $?

clean
: >"$tmp/some.1.log"
run 1 record --rotate=64K -o "$log" -- true && complains "some\.1\.log: the file exists; use --force" &&
	[ ! -e "$log" ] && [ ! -s "$tmp/some.1.log" ] && run 0 record --rotate=64K --force -o "$log" -- true
result numbered_log_that_exists_is_an_error_at_the_start $?

# The next log cannot be created, so all events go to the first one.
clean
start_waiting --inherit
until_true has_count 5 "$log" && mkdir "$tmp/some.1.log" && kill -USR1 $started &&
	until_true complains "recording continues in $log" && echo line >&3 && echo line >&3 && exec 3>&- && ended 7 &&
	has_count 12 "$log"
result recording_continues_if_a_log_cannot_be_begun $?
rmdir "$tmp/some.1.log"

# Opening the device or the FIFO could have effects, or wait.
plant_fifo()
{
	mkfifo "$1"
}
plant_device()
{
	ln -s /dev/null "$1"
}
for kind in fifo device; do
	start_waiting --inherit
	until_true has_count 5 "$log" && plant_$kind "$tmp/some.1.log" && kill -USR1 $started &&
		until_true complains "recording continues in $log" && complains 'some\.1\.log: not a regular file' &&
		echo line >&3 && echo line >&3 && exec 3>&- && ended 7 && has_count 12 "$log"
	result next_log_is_no_$kind $?
done
clean

# A file system with room for two files, one of which is not a log.
mkdir "$tmp/small"
mount -t tmpfs -o nr_inodes=3 tmpfs "$tmp/small"
log=$tmp/small/log
: >"$tmp/small/other"
start_waiting --inherit --rotate=1s
until_true has_count 5 "$log" && until_true complains 'log\.1: No space left on device$' &&
	complains "recording continues in $log" && rm "$tmp/small/other" && until_true test -e "$log.1" &&
	echo line >&3 && until_true has_count 7 "$log.1" && echo line >&3 && exec 3>&- && ended 7 &&
	has_count 12 "$log" "$log.1"
result failure_is_tried_again_when_it_is_time_again $?

# Three logs would be kept.
rm -f "$tmp/small/"*
run 0 record --rotate=64K --keep=3 --size=4M --compress=none -o "$log" -- ./ticks_helper 150000 0
recorded=$?
[ "$recorded" -eq 0 ] && complains "$log: removing the oldest log to make room" && [ ! -e "$log" ] &&
	complains '; 2 logs, the last is ' && numbers "$tmp/small"/log* | tail -n 1 | grep -qx 149999
result oldest_log_makes_room $?
umount "$tmp/small"
log=$tmp/some.log

run 2 record --rotate=1K -- true && complains '^posixtrace: --rotate: must be at least 65536' &&
	run 2 record --rotate=64M,1ms -- true && complains '^posixtrace: --rotate: must be a size such as 64M' &&
	run 2 record --rotate=1h --log-policy=until-full -- true && complains 'until-full ends when it is full' &&
	run 1 record --rotate=1h -o /dev/null -- true && complains '^posixtrace: --rotate: needs a log that is a regular file$'
result wrong_rotations_are_errors $?

finish
