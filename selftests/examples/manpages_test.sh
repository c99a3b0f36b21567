#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests that the programs of the man pages and the larger examples print the expected lines.
# Prints TAP.

# shellcheck source=selftests/tap.sh
. ./tap.sh

# Each program with its arguments, and a shell pattern for each line that it prints. The programs
# run in this order: analyzer reads the log of flight_recorder.
cat >"$tmp/table" <<'END'
attr_init
	stream "first"
	stream "second"
	the object was destroyed
attr_name
	name example
	version posixtrace [0-9]*.[0-9]*
	resolution 0.[0-9]* s
	created [1-9]*.[0-9]*
attr_policy
	posix_trace_start by the parent
	policy:work by the child
	policy:work by the parent
	posix_trace_stop by the parent
attr_size
	enough granted
	1000 events, none lost
clear
	clear:work
	posix_trace_stop
clocks
	UTC within 1.* ms
create_withlog
	"one"
	"two"
	the log is complete
describe
	another description: File exists
	struct{u32 number;enum:u32{idle=0,busy=1}state;}
event
	event:round 0
	event:round 1
	event:signal SIGUSR1
	event:round 2
eventid
	equal
	not equal
	eventid:step
	posix_trace_start
	posix_trace_unnamed_userevent
eventset
	START is in
	STOP is out
	UNNAMED is in
	START is out
eventtypelist
	posix_trace_error
	posix_trace_start
	posix_trace_stop
	posix_trace_overflow
	posix_trace_resume
	posix_trace_flush_start
	posix_trace_flush_stop
	posix_trace_filter
	posix_trace_unnamed_userevent
	list:one
	list:two
	11 types
	list:three
	1 more
fields
	id 7
	op set
	[[]0] 64
	[[]1] 4096
	key "some key"
get_status
	created: suspended, not full, no overrun
	started: running, not full, no overrun
	filled: suspended, full, overrun
	asked again: suspended, full, no overrun
getnext
	posix_trace_start by the parent
	getnext:step by the child "first"
	getnext:step by the child "second"
	getnext:done by the child ""
	nothing more within a second
names
	recorded on [a-z0-9_]*
	thread producer of names_helper
	thread consumer of names_helper
kernel
	its name is sleeper
	it exits with 7
	it has waited three times
open_log
	3 events
	0 events behind the last one
	3 events again
points
	ready, 0 bytes
	get:begin {u32 id;}, 4 bytes
	cache_get {u32 id;bool hit;text key;}, 8 bytes
	get:end, 0 bytes
	get:begin {u32 id;}, 4 bytes
	cache_get {u32 id;bool hit;text key;}, 8 bytes
	misses {i64 counter;}, 8 bytes
	get:end, 0 bytes
poll
	version [0-9]*.[0-9]*, names of 63 characters
	3 events
	"one"
	"two"
	recorded 2, read 2, dropped 0
set_filter
	posix_trace_start
	filter:work
	posix_trace_filter
	filter:noise
	posix_trace_stop
	noise is recorded
start
	start
	event 0
	stop
	start
	event 2
	stop
flight_recorder "$tmp/flight.log"
	killed by signal 11
	the last steps in the log
	step 49997
	step 49998
	step 49999
	crash: signal 11 at (nil)
snapshot
	recording
	request 2 was slow: see */[0-9]*[0-9].log
analyzer "$tmp/flight.log"
	type  *events  *bytes *
	posix_trace_stop  *1 *
	posix_trace_overflow  *1 *
	posix_trace_resume  *1 *
	recorder:step  *[1-9]* *
	recorder:crash  *1  *16
	events were lost
controller sh -c "./event_helper >/dev/null"
	posix_trace_start "*"
	event:round "?x00*"
	event:round "?x01*"
	event:signal "*"
	event:round "?x02*"
	4 events recorded, 4 read
epoll
	process 1: 100 events
	process 2: 200 events
	process 3: 300 events
raii
	caught: no more
	posix_trace_start
	raii:work:begin length=7 key="user:42"
	raii:halfway
	raii:work:end
	posix_trace_stop
END

grep -v '^	' "$tmp/table" >"$tmp/programs"
# An additional case checks that the table lists every program.
begin $(($(wc -l <"$tmp/programs") + 1))

# prints_expected NAME: checks that each line of the program matches its pattern in the table
prints_expected()
{
	awk -v name="$1" '!/^\t/ { on = $1 == name; next } on { print substr($0, 2) }' \
		"$tmp/table" >"$tmp/expected"
	[ "$(wc -l <"$tmp/expected")" -eq "$(wc -l <"$tmp/out")" ] || return 1
	while IFS= read -r pattern <&3 && IFS= read -r line <&4; do
		# shellcheck disable=SC2254	# it is a pattern
		case $line in
		$pattern) ;;
		*) return 1 ;;
		esac
	done 3<"$tmp/expected" 4<"$tmp/out"
}

while read -r name arguments; do
	eval "set -- $arguments"
	record=''
	[ "$name" != snapshot ] || record=$tmp/%p.log
	POSIXTRACE_RECORD=$record "./${name}_helper" "$@" >"$tmp/out" 2>&1 </dev/null && prints_expected "$name"
	result "${name}_prints_the_expected_lines" $?
done <"$tmp/programs"

lacking=0
for program in ./*_helper; do
	name=$(basename "$program" _helper)
	# hello_test.sh tests hello
	if [ "$name" != hello ] && ! grep -qE "^$name( |\$)" "$tmp/programs"; then
		echo "# $name: not in the table"
		lacking=1
	fi
done
result each_program_is_in_the_table $lacking
finish
