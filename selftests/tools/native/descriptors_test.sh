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

# Prints the reads: they have what is known at that time.
reads()
{
	posixtrace dump "$1" | sed -nE 's/.* syscall_entry *read\((.*), 0x7f10, 1\)$/\1/p'
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
	# The text in JSON has numbers only.
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
		7
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
	# CLONE_FILES; flags in memory; no fork event says what the new task is
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
	# The program of the child has a table of its own.
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

# A forged log may have any number of processes, threads and descriptors.
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
