#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the paths of descriptors in the output of "posixtrace dump", with written logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# steps_log FILE: writes a log of what standard input says, a microsecond apart:
#
#	THREAD NAME ARGS [PATH]		a call, with the text of its argument PATH_ARG (1)
#	THREAD NAME = RESULT		its end
#	THREAD open FD PATH		a whole openat()
#	- LINE				a line of write_log
#
# The threads are a and b of process 7, c of process 9, d of process 10.
steps_log()
{
	{
		cat <<-'END'
			classes syscall,strings,process
			thread a 7 7 0x7f01
			thread b 7 8 0x7f02
			thread c 9 9 0x7f03
			thread d 10 10 0x7f04
			block 0
		END
		awk '
		function now() { return ++time * 1000 }
		function text(thread, nr, path)
		{
			print "kernel syscall_text", now(), "@" thread, "nr=" nr, "address=0x7f00 arg=1 value=" path
		}
		$1 == "-" { sub(/^- /, ""); sub(/TIME/, now()); print; next }
		$2 == "open" {
			print "kernel syscall_entry", now(), "@" $1, "nr=257 name=openat args=0xffffff9c,0x7f00,0,0"
			text($1, 257, $4)
			print "kernel syscall_exit", now(), "@" $1, "nr=257 name=openat result=" $3
			next
		}
		$3 == "=" { print "kernel syscall_exit", now(), "@" $1, "nr=" number[$2] + 0, "name=" $2, "result=" $4; next }
		{
			if (!($2 in number))
				number[$2] = $2 == "openat" ? 257 : ++count + 300
			print "kernel syscall_entry", now(), "@" $1, "nr=" number[$2], "name=" $2, "args=" $3
			if ($4)
				text($1, number[$2], $4)
		}'
		echo end
	} | write_log "$1"
}

# Prints the read() calls, with the path of the descriptor at that time.
reads()
{
	posixtrace dump "$1" | sed -nE 's/.* syscall_entry *read\((.*), 0x7f10, 1\)$/\1/p'
}

# The kernel writes the descriptors of both ends to memory, so no event has their numbers. 3 and 4
# were closed before, so they may be the ends, or files opened later may get the numbers of other
# ends.
test_ends_of_new_pipes_are_unknown()
{
	local call
	for call in pipe pipe2 socketpair; do
		steps_log log <<-END
			a open 3 /etc/passwd
			a open 4 /etc/group
			a close 3
			a close = 0
			a close 4
			a close = 0
			a $call $([ $call = socketpair ] && echo 1,1,0,0x7f00 || echo 0x7f00,0)
			a $call = 0
			a read 3,0x7f10,1
			a read 4,0x7f10,1
			a dup2 3,0
			a dup2 = 0
			a read 0,0x7f10,1
			a open 5 /etc/hosts
			a read 5,0x7f10,1
			a close 3
			a close = 0
			a open 3 /etc/fstab
			a read 3,0x7f10,1
		END
		reads log >out
		prints out <<-'END'
			3
			4
			0
			5</etc/hosts>
			3</etc/fstab>
		END
	done
}

# The addresses passed to connect() and bind() are in memory, so only the protocol remains known.
test_socket_that_gets_an_address_has_its_protocol()
{
	steps_log log <<-'END'
		a socket 2,1,0
		a socket = 3
		a connect 3,0x7f00,16
		a connect = 0
		a read 3,0x7f10,1
		a socket 10,2,0
		a socket = 4
		a bind 4,0x7f00,28
		a bind = 0
		a read 4,0x7f10,1
	END
	reads log >out
	prints out <<-'END'
		3<tcp>
		4<udp>
	END
}

test_paths_follow_open_and_close()
{
	steps_log log <<-'END'
		a read 3,0x7f10,1
		a open 3 /etc/passwd
		a open 4 rel\x20>arget
		a read 3,0x7f10,1
		a read 4,0x7f10,1
		b read 3,0x7f10,1
		c read 3,0x7f10,1
		a dup2 3,1
		a dup2 = 1
		a fcntl 4,1030,10
		a fcntl = 10
		a close 3
		a close = 0
		a read 1,0x7f10,1
		a read 3,0x7f10,1
		a read 10,0x7f10,1
		a dup2 4,1
		a dup2 = -9
		a read 1,0x7f10,1
		a close_range 4,4,0
		a close_range = 0
		a read 4,0x7f10,1
		a open 3 /a
		a open -2 /b
		a read 3,0x7f10,1
		a execve 0x7f00,0,0
		a read 3,0x7f10,1
	END
	reads log >out
	prints out <<-'END'
		3
		3</etc/passwd>
		4<rel >arget>
		3</etc/passwd>
		3
		1</etc/passwd>
		3
		10<rel >arget>
		1
		4
		3</a>
		3
	END
	posixtrace dump log >out
	grep -q ' syscall_entry  *openat(AT_FDCWD, 0x7f00, O_RDONLY)$' out
	grep -q ' syscall_exit  *openat = 3</etc/passwd>$' out
	grep -q ' syscall_entry  *dup2(3</etc/passwd>, 1)$' out
	grep -q ' syscall_exit  *dup2 = 1</etc/passwd>$' out
	grep -q ' syscall_entry  *close(3</etc/passwd>)$' out
	# The text in the JSON output has only numbers.
	posixtrace dump --json log >out
	grep -q '"call":"close(3)"}$' out
}

# Another thread may have closed the descriptor before the call returned.
test_races_make_paths_unknown()
{
	steps_log log <<-'END'
		a openat 0xffffff9c,0x7f00,0,0 /a
		b close 5
		b close = 0
		a openat = 5
		a read 5,0x7f10,1
		a open 6 /b
		b openat 0xffffff9c,0x7f00,0,0
		b openat = 6
		a read 6,0x7f10,1
		a open 7 /c
		b socket 2,1,0
		b socket = 7
		a read 7,0x7f10,1
	END
	reads log >out
	prints out <<-'END'
		5
		6
		7<tcp>
	END
}

test_children_have_copies()
{
	steps_log log <<-'END'
		a open 3 /a
		a clone 17,0,0,0,0
		- kernel sched_process_fork TIME @a child_pid=@c child_tid=@c
		a clone = 9
		c read 3,0x7f10,1
		c close 3
		c close = 0
		c read 3,0x7f10,1
		a read 3,0x7f10,1
		a vfork 0
		b open 4 /b
		- kernel sched_process_fork TIME @a child_pid=@d child_tid=@d
		d read 3,0x7f10,1
		a read 4,0x7f10,1
	END
	reads log >out
	prints out <<-'END'
		3</a>
		3
		3</a>
		3
		4</b>
	END
}

test_shared_tables_are_unknown()
{
	local call
	# the flag CLONE_FILES; then flags that are in memory; then no fork event that shows what
	# the new task is
	while IFS='|' read -r call child; do
		steps_log log <<-END
			a open 3 /a
			a $call
			$child
			a ${call%% *} = 9
			a open 4 /b
			a read 3,0x7f10,1
			a read 4,0x7f10,1
			c open 5 /c
			c read 5,0x7f10,1
		END
		reads log >out
		[ "$(xargs <out)" = '3 4 5' ]
	done <<-'END'
		clone 0x411,0,0,0,0|- kernel sched_process_fork TIME @a child_pid=@c child_tid=@c
		clone3 0x7f20,88|- kernel sched_process_fork TIME @a child_pid=@c child_tid=@c
		clone3 0x7f20,88|- name 65 x
	END
	# A thread shares the table of its process.
	steps_log log <<-'END'
		a open 3 /a
		a clone3 0x7f20,88
		- kernel sched_process_fork TIME @a child_pid=@b child_tid=@b
		a clone3 = 8
		b read 3,0x7f10,1
	END
	reads log >out
	prints out <<<'3</a>'
	# The child executes a program, so it now has its own table.
	steps_log log <<-'END'
		a open 3 /a
		a clone3 0x7f20,88
		- kernel sched_process_fork TIME @a child_pid=@c child_tid=@c
		a clone3 = 9
		- kernel sched_process_exec TIME @c filename=/bin/true
		a read 3,0x7f10,1
		a open 4 /b
		a read 4,0x7f10,1
		c open 4 /c
		c read 4,0x7f10,1
	END
	reads log >out
	prints out <<-'END'
		3
		4</b>
		4</c>
	END
	for call in 'unshare 0x400' 'io_uring_setup 1,0x7f00'; do
		steps_log log <<-END
			a open 3 /a
			a $call
			a ${call%% *} = 0
			a open 4 /b
			a read 4,0x7f10,1
		END
		reads log >out
		prints out <<<4
	done
}

test_incomplete_texts_and_losses_are_unknown()
{
	write_log log <<-'END'
		classes syscall,strings,process
		thread a 7 7 0x7f01
		block 0
		kernel syscall_entry 1000 @a nr=257 name=openat args=0xffffff9c,0x7f00,0,0
		kernel syscall_text 2000 @a nr=257 address=0x7f00 arg=1 state=cut value=/a
		kernel syscall_exit 3000 @a nr=257 name=openat result=3
		kernel syscall_entry 4000 @a nr=257 name=openat args=0xffffff9c,0x7f00,0,0
		kernel syscall_text 5000 @a nr=257 address=0x7f00 arg=1 value=/b
		kernel syscall_exit 6000 @a nr=257 name=openat result=4
		kernel syscall_entry 7000 @a name=read args=3,0x7f10,1
		kernel syscall_entry 8000 @a name=read args=4,0x7f10,1
		epoch
		lost 1 9000
		block 0
		kernel syscall_entry 10000 @a name=read args=4,0x7f10,1
		end lost=1
	END
	reads log >out
	prints out <<-'END'
		3
		4</b>
		4
	END
}

# files_log FILE: writes a log that starts at 100. FILE.in has lines of write_log: first those for
# the files that were open, then "-", then those for events.
files_log()
{
	{
		cat <<-'END'
			host h
			classes syscall,strings,process
			thread a 7 7 0x7f01
			thread b 7 8 0x7f02
			thread c 9 9 0x7f03
			task 7 7 1 seven
			task 9 9 1 nine
		END
		sed '/^-$/,$d' "$1.in"
		cat <<-'END'
			block 4
			event 2 100
			block 0
		END
		sed '1,/^-$/d' "$1.in"
		echo end
	} | write_log "$1"
}

# What was open at the start is known until an event changes it.
test_descriptors_of_the_start_are_known()
{
	cat >log.in <<-'END'
		file a 200 -1 0 0 0
		file a 200 3 1 3 0 /etc/passwd
		file a 201 4 2 3 0 tcp:0.0.0.0:80,listening
		file a 201 5 4 3 0 anon_inode:[eventfd]
		file a 202 6 1 3 0
		file a 203 1 3 2 77
		file c 203 0 3 1 77
		file c 203 1 3 2 78
		file a 300 8 1 3 0 /late
		file c 203 -1 5 0 1000
		-
		kernel syscall_entry 150 @a name=read args=3
		kernel syscall_entry 1000 @a name=read args=3
		kernel syscall_entry 1010 @a name=read args=4
		kernel syscall_entry 1020 @a name=read args=5
		kernel syscall_entry 1030 @a name=read args=6
		kernel syscall_entry 1040 @a name=read args=1
		kernel syscall_entry 1050 @c name=read args=0
		kernel syscall_entry 1060 @c name=read args=1
		kernel syscall_entry 1070 @a name=read args=8
		kernel syscall_entry 1080 @a nr=43 name=accept args=4
		kernel syscall_exit 1090 @a nr=43 name=accept result=9
		kernel syscall_entry 1100 @a name=read args=9
		kernel syscall_entry 1110 @a nr=3 name=close args=3
		kernel syscall_exit 1120 @a nr=3 name=close
		kernel syscall_entry 1130 @a name=read args=3
		kernel syscall_entry 1140 @a nr=42 name=connect args=4
		kernel syscall_exit 1150 @a nr=42 name=connect
		kernel syscall_entry 1160 @a name=read args=4
		kernel syscall_entry 1170 @a nr=41 name=socket args=2,1,0
		kernel syscall_exit 1180 @a nr=41 name=socket result=3
		kernel syscall_entry 1190 @a name=read args=3
		kernel syscall_entry 1200 @a nr=32 name=dup args=5
		kernel syscall_exit 1210 @a nr=32 name=dup result=10
		kernel syscall_entry 1220 @a name=read args=10
	END
	files_log log
	posixtrace dump log | sed -nE 's/.* syscall_entry *read\((.*), 0, 0\)$/\1/p' >out
	prints out <<-'END'
		3
		3</etc/passwd>
		4<tcp:0.0.0.0:80,listening>
		5<eventfd>
		6
		1<pipe to 9/nine>
		0<pipe from 7/seven>
		1<pipe:[78]>
		8</late>
		9<tcp:0.0.0.0:80,accepted>
		3
		4<tcp>
		3<tcp>
		10<eventfd>
	END
	posixtrace stat --by=file --json log >out
	jq -r 'select(.table == "call") | "\(.name) \(.value) \(.times)"' out >got
	grep -qx 'close /etc/passwd 1' got
	grep -qx 'dup eventfd 1' got
	grep -qx 'socket tcp 1' got
}

# start_is_unknown FD: writes the log in log.in and checks that no read of FD has a name
start_is_unknown()
{
	files_log log
	posixtrace dump log | sed -nE 's/.* syscall_entry *read\((.*), 0, 0\)$/\1/p' >out
	grep -qx "$1" out
	lacks '<' out
}

test_descriptors_of_the_start_that_may_have_changed_are_unknown()
{
	local event
	# a call that closes the descriptor is in progress since before the trace; events from the
	# time before are missing; other processes share the table
	while IFS= read -r event; do
		cat >log.in <<-END
			file a 200 3 1 3 0 /etc/passwd
			-
			$event
			kernel syscall_entry 1000 @b name=read args=3
		END
		start_is_unknown 3
	done <<-'END'
		kernel syscall_entry 150 @a nr=3 name=close args=3
		kernel syscall_entry 150 @a nr=33 name=dup2 args=5,3
		kernel syscall_entry 150 @a nr=436 name=close_range args=0,9
		kernel syscall_exit 250 @a nr=3 name=close
		kernel syscall_exit 250 @a nr=33 name=dup2 result=3
		kernel syscall_exit 250 @a nr=257 name=openat result=3
		kernel syscall_exit 250 @a nr=436 name=close_range
		kernel syscall_exit 250 @a nr=425 name=io_uring_setup result=9
		kernel syscall_exit 250 @a nr=272 name=unshare
		kernel syscall_exit 250 @a nr=435 name=clone3 result=99
	END
	cat >log.in <<-'END'
		file a 200 -1 0 4 0
		file a 200 3 1 3 0 /etc/passwd
		-
		kernel syscall_entry 1000 @a name=read args=3
	END
	start_is_unknown 3
	cat >log.in <<-'END'
		file a 200 3 1 3 0 /etc/passwd
		file a 200 4 4 3 0 anon_inode:[io_uring]
		-
		kernel syscall_entry 1000 @a name=read args=3
	END
	start_is_unknown 3
	# events before recording started, and after a loss
	cat >log.in <<-'END'
		file a 50 3 1 3 0 /etc/passwd
		-
		kernel syscall_entry 1000 @a name=read args=3
	END
	start_is_unknown 3
	cat >log.in <<-'END'
		file a 200 3 1 3 0 /etc/passwd
		file a 950 3 1 3 0 /etc/passwd
		-
		epoch
		lost 1 900
		block 0
		kernel syscall_entry 1000 @a name=read args=3
	END
	start_is_unknown 3
	# logs without one of the classes
	cat >log.in <<-'END'
		file a 200 3 1 3 0 /etc/passwd
		-
		kernel syscall_entry 1000 @a name=read args=3
	END
	files_log log
	posixtrace dump log | grep -q '3</etc/passwd>'
	{
		printf '%s\n' 'classes syscall,process' 'thread a 7 7 0x7f01'
		sed -n '/^file/p' log.in
		printf '%s\n' 'block 4' 'event 2 100' 'block 0'
		sed -n '/^kernel/p' log.in
		echo end
	} | write_log part
	posixtrace dump part >out
	lacks '<' out
}

test_descriptors_that_stay_open_are_known_to_the_next_program()
{
	cat >log.in <<-'END'
		file a 200 0 1 1 0 /dev/tty
		file a 200 1 1 2 0 /out
		file a 200 2 1 2 0 /log
		file a 200 3 1 11 0 /closed
		-
		kernel syscall_entry 300 @a nr=72 name=fcntl args=2,2,1
		kernel syscall_exit 310 @a nr=72 name=fcntl
		kernel syscall_entry 320 @a nr=33 name=dup2 args=1,5
		kernel syscall_exit 330 @a nr=33 name=dup2 result=5
		kernel syscall_entry 340 @a nr=59 name=execve
		kernel syscall_exit 350 @a nr=59 name=execve result=-2
		kernel syscall_entry 360 @a name=read args=3
		kernel syscall_entry 370 @a nr=59 name=execve
		kernel sched_process_exec 380 @a filename=/bin/true
		kernel syscall_exit 390 @a nr=59 name=execve
		kernel syscall_entry 400 @a name=read args=0
		kernel syscall_entry 410 @a name=read args=1
		kernel syscall_entry 420 @a name=read args=2
		kernel syscall_entry 430 @a name=read args=3
		kernel syscall_entry 440 @a name=read args=5
	END
	files_log log
	posixtrace dump log | sed -nE 's/.* syscall_entry *read\((.*), 0, 0\)$/\1/p' >out
	prints out <<-'END'
		3</closed>
		0</dev/tty>
		1</out>
		2
		3
		5</out>
	END
}

test_threads_do_not_matter_to_the_start()
{
	cat >log.in <<-'END'
		file a 200 3 1 3 0 /etc/passwd
		file a 200 0 1 3 0 /dev/tty
		-
		kernel syscall_entry 300 @a nr=56 name=clone args=0x50f00
		kernel sched_process_fork 310 @a child_pid=@b child_tid=@b
		kernel syscall_exit 320 @a nr=56 name=clone result=8
		kernel syscall_exit 330 @b nr=56 name=clone
		kernel syscall_entry 340 @a nr=72 name=fcntl args=3,3
		kernel syscall_exit 350 @a nr=72 name=fcntl
		kernel syscall_entry 400 @b name=read args=3
		kernel syscall_entry 410 @a name=read args=0
	END
	files_log log
	posixtrace dump log | sed -nE 's/.* syscall_entry *read\((.*), 0, 0\)$/\1/p' >out
	prints out <<-'END'
		3</etc/passwd>
		0</dev/tty>
	END
}

# Closing a different descriptor has no effect.
test_descriptors_of_the_start_are_kept_beside_others()
{
	cat >log.in <<-'END'
		file a 200 3 1 3 0 /etc/passwd
		-
		kernel syscall_entry 150 @a nr=3 name=close args=4
		kernel syscall_entry 1000 @b name=read args=3
	END
	files_log log
	posixtrace dump log | grep -q 'read(3</etc/passwd>, 0, 0)$'
}

# A forged log may have any number of processes, threads and descriptors. The memory must be
# bounded.
test_many_descriptors_take_little_memory()
{
	{
		echo 'classes syscall,strings,process'
		echo 'block 0'
		awk 'BEGIN {
			for (i = 0; i < 100000; i++) {
				who = "pid=" 1 + int(i / 2000) " tid=" 1 + int(i / 2000) " thread=1"
				print "kernel syscall_entry", 4 * i + 5, who, "nr=257 name=openat args=0,0x7f00,0,0"
				print "kernel syscall_text", 4 * i + 6, who, "nr=257 address=0x7f00 arg=1 value=/" i
				print "kernel syscall_exit", 4 * i + 7, who, "nr=257 name=openat result=" i % 2000
			}
			for (i = 0; i < 20000; i++)
				print "kernel syscall_entry", 500000 + i, "pid=" 1000 + i, "tid=" 1000 + i, "nr=257 name=openat"
			print "kernel syscall_entry 600000 pid=1 tid=1 thread=1 name=read args=0,0x7f10,1"
		}'
		echo end
	} | write_log log
	(ulimit -v 200000; posixtrace dump log >out)
	tail -n 1 out | grep -q 'read(0, 0x7f10, 1)$'
}

run_cases
