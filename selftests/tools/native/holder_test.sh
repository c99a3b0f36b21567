#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests who holds the lock that a thread waits for, in "posixtrace stat --states" and "posixtrace
# why", with written logs. Times are below 1000 ns, so that they are printed exactly.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

id=00112233445566778899aabbccddeeff00112233

# Builds a library. None of its code is executed: only the names and places of the functions matter.
library()
{
	cat >libc.s <<-'END'
		.macro function name, binding
		\binding \name
		.type \name, @function
		\name: .skip 64, 0x90
		.size \name, 64
		.endm
		.text
		function __lll_lock_wait_private, .globl
		function __lll_lock_wait, .local
		function __lll_lock_wake_private, .globl
		function another, .globl
		.section .note.GNU-stack, "", @progbits
	END
	gcc -shared -nostdlib -Wl,--build-id=0x$id -o libc.so libc.s
	base=$(nm libc.so | sed -n 's/^0*\([0-9a-f]*\) T __lll_lock_wait_private$/\1/p')
	place=$((0x$base))
	plain=$((0x100000 + place + 64 + 10))
	elsewhere=$((0x100000 + place + 3 * 64 + 10))
}

# log: writes a log from a script that uses threads of the processes 100 and 200
log()
{
	{
		printf '%s\n' "classes ${classes-sched,process}" 'name 65 request_begin' \
			'name 66 request_end' 'host h' 'task 100 100 1 main' \
			'task 100 101 1 worker' 'task 100 102 1 gone' 'task 200 200 1 server' \
			"mapping 100 1 0x100000 0x10000 0 ${mapped-$id} $PWD/libc.so" \
			'thread a 100 100 0x7f00' 'thread b 100 101 0x7f01' \
			'thread c 200 200 0x7f02' 'thread d 100 102 0x7f03' 'block 0'
		sed '/ cpu=/!{ s/ @a\>/ cpu=0&/; s/ @b\>/ cpu=1&/; s/ @c\>/ cpu=2&/; s/ @d\>/ cpu=3&/; }'
	} | write_log log
}

# The threads b and c are alive, and d has ended.
begin_log()
{
	echo 'kernel sched_switch_in 1 @b'
	echo 'kernel sched_switch_in 1 @c'
	echo 'kernel sched_switch_in 1 @d'
	echo 'kernel sched_process_exit 2 @d'
	echo 'kernel sched_switch_out 3 @d state=X reason=ended'
	echo 'event 65 5 @a'
}

# wait_for ADDRESS TIME WORD...: writes the events of a thread that waits for a futex for 6 ns
wait_for()
{
	local address=$1 time=$2
	shift 2
	echo "kernel futex_wait $time @a address=$address $*"
	echo "kernel sched_switch_out $time @a state=S reason=blocked"
	echo "kernel sched_wakeup $((time + 6)) cpu=1 @a by=thread waker_pid=100 waker_tid=101"
	echo "kernel sched_switch_in $((time + 7)) @a runnable=1"
}

# locks: prints the table of futexes: address, holder, waits, time
locks()
{
	run 0 posixtrace stat --states --all log
	awk '/HELD BY +WAITS FOR/ { on = 1; next } !NF { on = 0 } on { print $4, $2, $5, $6, $7 }' out |
		sort >locks
}

sure='operation=wait known=true same_ids=true'

test_owners_of_mutexes_are_named()
{
	library
	{
		begin_log
		wait_for 0x1000 10 "$sure" ip=$plain lock=2 owner=101
		wait_for 0x1000 20 "$sure" ip=$plain lock=2 owner=101
		wait_for 0x2000 30 "$sure" ip=$plain lock=2 owner=101 kind=1
		wait_for 0x3000 40 "$sure" ip=$plain lock=2 owner=101 kind=0x202
		wait_for 0x5000 60 "$sure" operation=lock_pi ip=$elsewhere lock=0x80000065
		wait_for 0x6000 70 "$sure" operation=wait_bitset ip=$plain lock=2 owner=101 kind=3
		echo 'end'
	} | log
	locks
	prints locks <<-'END'
		0x1000 worker-101 2 12 ns
		0x2000 worker-101 1 6 ns
		0x3000 worker-101 1 6 ns
		0x5000 worker-101 1 6 ns
		0x6000 worker-101 1 6 ns
	END
	# the same without the symbols that are not exported
	strip libc.so
	run 0 posixtrace stat --states --all log
	cp out wanted
	locks
	[ "$(grep -c worker-101 locks)" -eq 5 ]
}

test_what_is_not_certain_is_unknown()
{
	library
	{
		begin_log
		# a different function, a different word, a different kind of mutex
		wait_for 0x1000 10 "$sure" ip=$elsewhere lock=2 owner=101
		wait_for 0x1020 30 "$sure" ip=$plain lock=1 owner=101
		wait_for 0x1030 40 "$sure" ip=$plain lock=2 owner=101 kind=0x20
		wait_for 0x1040 50 "$sure" ip=$plain lock=2 owner=101 kind=0x80
		wait_for 0x1050 60 "$sure" ip=$plain lock=0x80000065 owner=101 kind=0x10
		wait_for 0x1060 70 "$sure" ip=$plain lock=2 owner=101 kind=0x90
		wait_for 0x1070 80 "$sure" ip=$plain lock=2 owner=101 kind=0x10000
		# an owner that is not a thread, is in a different process, has ended, or is the
		# waiting thread
		wait_for 0x1080 90 "$sure" ip=$plain lock=2
		wait_for 0x1090 100 "$sure" ip=$plain lock=2 owner=103
		wait_for 0x10a0 110 "$sure" ip=$plain lock=2 owner=200
		wait_for 0x10b0 120 "$sure" ip=$plain lock=2 owner=102
		wait_for 0x10c0 130 "$sure" ip=$plain lock=2 owner=100
		wait_for 0x10d0 140 "$sure" ip=$plain lock=2 owner=-101
		# memory that was not read, ids of a different namespace, a different operation
		wait_for 0x10e0 150 operation=wait known=false same_ids=true ip=$plain lock=2 owner=101
		wait_for 0x10f0 160 operation=wait known=true same_ids=false ip=$plain lock=2 owner=101
		wait_for 0x1100 170 "$sure" operation=wait_requeue_pi ip=$plain lock=2 owner=101
		wait_for 0x1110 180 "$sure" ip=0 lock=2 owner=101
		echo 'end'
	} | log
	locks
	[ "$(wc -l <locks)" -eq 17 ]
	lacks ' [^u][^ ]* 1 6 ns$' locks
	run 0 posixtrace why log
	lacks 'held by' out
}

test_another_file_at_the_place_of_the_library_has_no_owners()
{
	library
	mapped=ff112233445566778899aabbccddeeff00112233
	{
		begin_log
		wait_for 0x1000 10 "$sure" ip=$plain lock=2 owner=101
		echo 'end'
	} | log
	locks
	echo '0x1000 unknown 1 6 ns' | prints locks
	# the holder is also unknown if the file is gone
	rm libc.so
	locks
	echo '0x1000 unknown 1 6 ns' | prints locks
}

test_why_tells_the_holder_and_the_call()
{
	library
	{
		begin_log
		wait_for 0x1000 100 "$sure" ip=$plain lock=2 owner=101
		# the event before the switch tells what a thread waits for
		echo 'kernel sched_switch_out 200 @a state=S reason=blocked'
		echo 'kernel sched_wakeup 229 cpu=1 @a by=timer'
		echo 'kernel sched_switch_in 230 @a'
		echo 'event 66 305 @a'
		echo 'end'
	} | log
	run 0 posixtrace why --scope=request log
	cat out
	grep -q ' blocked in futex, address 0x1000, held by worker-101, woken by worker-101$' out
	grep -q ' 29 ns .* blocked, woken by a timer$' out
	run 0 posixtrace why --json --scope=request log
	jq -e '[.. | objects | select(.what == "blocked" and .thread.tid == 100)] |
		map([.ns, .call, .address, .holder.tid, .holder.name]) |
		sort == [[6, "futex", 4096, 101, "worker-101"], [29, null, null, null, null]]' out
}

test_thread_that_is_still_blocked_has_its_holder()
{
	library
	{
		begin_log
		echo "kernel futex_wait 100 @a address=0x1000 $sure ip=$plain lock=2 owner=101"
		echo 'kernel sched_switch_out 100 @a state=S reason=blocked'
		echo 'event 65 300 @b'
		echo 'end'
	} | log
	run 0 posixtrace stat --states log
	awk '/STILL BLOCKED/ { on = 1; next } on { $1 = $1; print }' out >blocked
	echo '100 main-100 200 ns worker-101 futex 0x1000' | prints blocked
}

test_dump_has_the_fields()
{
	{
		echo 'kernel futex_wait 5 @a operation=lock_pi known=true same_ids=true address=0x1000 ip=0x400 lock=0x80000065 owner=7 kind=0x20'
		echo 'end'
	} | mapped=- log
	run 0 posixtrace dump log
	grep -q 'futex_wait  *tid=100 address=0x1000 ip=0x400 lock=0x80000065 owner=7 kind=0x20 operation=lock_pi known=true same_ids=true$' out
}

run_cases
