#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace stat --states" with written logs. All times are below 1000 ns, so that they are
# printed exactly.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# Writes a log from a script that uses the processes 100 and 200. Each thread has its own processor.
log()
{
	{
		printf '%s\n' "${1:-classes all}" 'thread a 100 100 0x7f00' \
			'thread b 100 101 0x7f01' 'thread c 200 200 0x7f00' 'block 0'
		sed '/ cpu=/!{ s/ @a\>/ cpu=0&/; s/ @b\>/ cpu=1&/; s/ @c\>/ cpu=2&/; }'
	} | write_log log
}

# threads [OPTION]...: writes the table of threads to the file threads: the thread; the times
# running + runnable + blocked + unknown; the times in I/O and interrupts; the counts. Checks that
# the times of the states add up.
threads()
{
	run 0 posixtrace stat --states "$@" log
	awk '/^ +PROCESS  THREAD  .* RUNNING/ { on = 1; next } !NF { on = 0 } on && /^ +[0-9]/ {
		gsub(" ns", "")
		for (i = 4; i <= NF; i++)
			if ($i == "-")
				$i = 0
		if ($3 != $4 + $5 + $6 + $7 || $8 + 0 > $6 || $9 + 0 > $4)
			print "wrong sum"
		print $2, $3 ": " $4, $5, $6, $7 " (" $8, $9 ")", $10, $11, $12, $13, $14 }' out |
		sort >threads
}

# The following functions write the other two tables to files, with single blanks.
places()
{
	awk '/BLOCKED IN.*COUNT/ { on = 1; next } !NF { on = 0 } on { $1 = ""; gsub(" ns", ""); print }' out |
		sed 's/^ *//; s/  */ /g' >places
}

waits()
{
	awk '/^ LONGEST WAITS/ { on = 1; next } !NF { on = 0 } on { gsub(" ns", ""); $1 = $1; print }' out >waits
}

test_states_and_waits()
{
	write_log log <<-'END'
		cpus 2
		classes all
		host of-a-test
		name 65 work
		task 100 100 1700000000000000000 main
		task 100 101 1700000000000000000 worker
		thread main 100 100 0x7f00
		thread worker 100 101 0x7f01
		since 1700000000000000000
		block 0
		event 65 0 @main
		kernel syscall_entry 100 @main nr=0 name=read
		kernel sched_switch_out 120 @main state=S reason=blocked next_tid=@worker
		kernel sched_switch_in 130 @worker runnable=600 prev_tid=@main
		kernel page_fault 140 @worker address=0x7f1234
		kernel sched_switch_out 150 @worker state=D reason=io
		kernel sched_wakeup 200 cpu=1 @worker by=interrupt
		kernel sched_switch_in 210 @worker runnable=10
		kernel irq 300 @worker number=24 duration=30 name=virtio0
		kernel sched_wakeup 400 @main by=thread waker_pid=@worker waker_tid=@worker
		kernel sched_switch_in 415 cpu=0 @main runnable=15
		kernel syscall_exit 420 @main nr=0
		kernel signal_deliver 425 @main sig=SIGUSR1
		kernel sched_switch_out 430 @main state=R reason=preempted
		kernel sched_switch_in 440 @main runnable=10
		event 65 500 @main
		end
	END
	run 0 posixtrace stat --states log
	prints out <<-'END'
		stream    of a test
		created   2023-11-14T22:13:20Z
		lost      0
		time      500 ns

		   PROCESS  THREAD                 TIME   RUNNING  RUNNABLE   BLOCKED   UNKNOWN       I/O       IRQ VOLUNTARY PREEMPTED    FAULTS  SYSCALLS   SIGNALS
		       100  worker-101           370 ns    310 ns     10 ns     50 ns      0 ns     50 ns     30 ns         1         0         1         0         0
		       100  main-100             500 ns    195 ns     25 ns    280 ns      0 ns      0 ns      0 ns         1         1         0         1         1

		   PROCESS  THREAD             BLOCKED IN                       COUNT      TIME   LONGEST
		       100  main-100           read                                 1    280 ns    280 ns
		       100  worker-101         page fault (I/O)                     1     50 ns     50 ns

		 LONGEST WAITS      TIME    PROCESS  THREAD             BLOCKED IN                    WOKEN BY
		         0.120    280 ns        100  main-100           read                          worker-101 of process 100
		         0.150     50 ns        100  worker-101         page fault (I/O)              an interrupt
	END
	complains
}

# If a wake-up event names a thread, the thread is shown, whatever the kind of waker.
test_wakers_and_their_contexts()
{
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_switch_out 200 @a state=S reason=blocked
		kernel sched_wakeup 210 @a by=softirq waker_pid=200 waker_tid=200
		kernel sched_switch_in 211 @a
		kernel sched_switch_out 300 @a state=S reason=blocked
		kernel sched_wakeup 320 @a by=timer waker_pid=200 waker_tid=200
		kernel sched_switch_in 321 @a
		kernel sched_switch_out 400 @a state=S reason=blocked
		kernel sched_wakeup 430 @a by=child waker_pid=300 waker_tid=300
		kernel sched_switch_in 431 @a
		kernel sched_switch_out 500 @a state=S reason=blocked
		kernel sched_wakeup 540 @a by=signal waker_pid=200 waker_tid=201
		kernel sched_switch_in 541 @a
		kernel sched_switch_out 600 @a state=S reason=blocked
		kernel sched_wakeup 650 @a by=signal
		kernel sched_switch_in 651 @a
		kernel sched_switch_out 700 @a state=S reason=blocked
		kernel sched_wakeup 760 @a by=kernel
		kernel sched_switch_in 761 @a
		kernel sched_switch_out 800 @a state=S reason=blocked
		kernel sched_wakeup 870 @a by=child
		kernel sched_switch_in 871 @a
		kernel sched_switch_out 900 @a state=S reason=blocked
		kernel sched_wakeup 980 @a by=another
		kernel sched_switch_in 981 @a
		end
	END
	run 0 posixtrace stat --states log
	waits
	cut -d ' ' -f 6- waits | sort >wakers
	prints wakers <<-'END'
		200 of process 200 in a softirq
		201 of process 200 by a signal
		300 of process 300 by its end
		a signal
		a thread of the kernel
		a timer
		another thread
		the end of a child
	END
}

test_threads_count_from_their_first_event()
{
	log <<-'END'
		kernel sched_migrate_task 50 @c dest_cpu=1
		kernel sched_switch_out 100 @a state=S reason=blocked
		kernel sched_wakeup 150 @b by=another
		kernel sched_switch_in 170 @b runnable=20
		event 64 250 @c
		kernel sched_switch_in 300 @a runnable=50
		kernel sched_switch_out 400 @c reason=preempted
		end
	END
	# the wake-up of a is missing, but the event has the time for which it was runnable
	threads
	prints threads <<-'END'
		100 300: 100 50 150 0 (0 0) 1 0 0 0 0
		101 250: 230 20 0 0 (0 0) 0 0 0 0 0
		200 150: 150 0 0 0 (0 0) 0 1 0 0 0
	END
}

test_preempted_threads_are_not_woken()
{
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_switch_out 200 @a state=R reason=preempted
		kernel sched_wakeup 250 @a by=interrupt
		kernel sched_switch_in 300 @a runnable=60
		kernel sched_switch_out 400 @a state=R reason=preempted
		end
	END
	threads
	prints threads <<-'END'
		100 300: 200 100 0 0 (0 0) 0 2 0 0 0
	END
	lacks BLOCKED.IN out
}

test_threads_may_be_woken_while_they_run()
{
	# a is woken before it leaves the processor; the second time, only its next switch-in shows
	# that
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_wakeup 150 @a by=thread waker_pid=@c waker_tid=@c
		kernel sched_switch_out 200 @a state=S reason=blocked
		kernel sched_switch_in 300 @a
		kernel sched_wakeup 350 @a by=thread waker_pid=@c waker_tid=@c
		kernel sched_switch_out 400 @a state=S reason=blocked
		kernel sched_switch_in 500 @a runnable=150
		kernel sched_switch_out 550 @a reason=preempted
		kernel sched_switch_in 560 @a runnable=10
		kernel sched_switch_out 600 @a state=S reason=blocked
		kernel sched_switch_in 700 @a
		end
	END
	threads
	prints threads <<-'END'
		100 600: 290 210 100 0 (0 0) 3 1 0 0 0
	END
	waits
	prints waits <<-'END'
		0.500 100 100 100 unknown unknown
	END
	# there was a wake-up, but it does not belong to this wait
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_wakeup 150 @a by=thread waker_pid=@c waker_tid=@c
		kernel sched_switch_out 200 @a state=S reason=blocked
		kernel sched_wakeup 260 @a by=another
		kernel sched_switch_in 300 @a
		end
	END
	threads
	prints threads <<-'END'
		100 200: 100 40 60 0 (0 0) 1 0 0 0 0
	END
	waits
	prints waits <<-'END'
		0.100 60 100 100 unknown another thread
	END
}

test_events_that_contradict_make_the_time_unknown()
{
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel irq 130 @a duration=20
		kernel sched_switch_in 150 @a
		kernel irq 180 @a duration=10
		kernel sched_switch_out 200 @a state=S reason=blocked
		kernel sched_switch_out 300 @a reason=preempted
		kernel sched_switch_out 350 @a reason=preempted
		kernel sched_switch_in 450 @a
		kernel sched_switch_out 500 @a reason=7
		kernel sched_switch_in 560 @a
		end
	END
	threads
	prints threads <<-'END'
		100 460: 100 100 0 260 (0 10) 1 2 0 0 0
	END
}

test_interrupts_that_are_not_nested()
{
	log <<-'END'
		kernel irq 50 @b duration=1000000
		kernel sched_switch_in 100 @a
		kernel irq 120 @a duration=5 kind=softirq nested=true
		kernel irq 130 @a duration=20 kind=irq
		kernel irq 170 @a duration=15 kind=softirq
		kernel irq 180 @a duration=50
		kernel sched_switch_out 200 @a state=S reason=blocked
		kernel irq 250 @a duration=50
		kernel sched_wakeup 280 @a by=interrupt
		kernel sched_switch_in 300 @a
		kernel irq 310 @a duration=0xffffffffffffffff
		end
	END
	threads
	# 20 + 15 + 10 of the 50 (in the rest, another interrupt ran) + 10 since it came back
	prints threads <<-'END'
		100 210: 110 20 80 0 (0 55) 1 0 0 0 0
		101 260: 260 0 0 0 (0 0) 0 0 0 0 0
	END
}

test_gaps_are_unknown()
{
	write_log log <<-'END'
		classes all
		thread a 100 100 0x7f00
		thread b 100 101 0x7f01
		thread c 200 200 0x7f00
		block 0
		kernel syscall_entry 100 cpu=0 @a nr=1 name=write
		kernel sched_switch_out 150 cpu=0 @a state=S reason=blocked
		kernel sched_switch_in 160 cpu=1 @b
		kernel syscall_entry 170 cpu=2 @c nr=2 name=poll
		kernel sched_switch_out 180 cpu=2 @c reason=preempted
		epoch
		lost 7 200
		kernel sched_switch_out 300 cpu=1 @b state=S reason=blocked
		kernel sched_wakeup 310 cpu=1 @b by=interrupt
		kernel sched_switch_in 320 cpu=1 @b runnable=10
		kernel sched_switch_in 350 cpu=0 @a runnable=500
		kernel sched_switch_out 360 cpu=0 @a state=S reason=blocked
		kernel sched_switch_in 400 cpu=2 @c runnable=40
		end
	END
	threads
	# a was runnable during the whole gap, according to its next switch-in
	prints threads <<-'END'
		100 300: 60 150 90 0 (0 0) 2 0 0 1 0
		101 240: 120 10 10 100 (0 0) 1 0 0 0 0
		200 230: 10 60 0 160 (0 0) 0 1 0 1 0
	END
	waits
	prints waits <<-'END'
		0.050 50 100 100 write unknown
		0.260 40 100 100 unknown not woken
		0.200 10 100 101 unknown an interrupt
	END
	# there are two gaps, and a thread has no event between them
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_switch_in 100 @b
		epoch
		lost 1 200
		event 64 300 @b
		epoch
		lost 1 400
		event 64 500 @b
		event 64 600 @a
		event 64 700 @b
		end
	END
	threads
	prints threads <<-'END'
		100 600: 200 0 0 400 (0 0) 0 0 0 0 0
		101 600: 400 0 0 200 (0 0) 0 0 0 0 0
	END
}

test_nothing_is_known_while_the_stream_is_stopped()
{
	write_log log <<-'END'
		cpus 1
		classes all
		thread a 100 100 0x7f00
		thread b 100 101 0x7f01
		block 1
		event 2 100
		event 3 300
		event 2 500
		event 3 800
		block 0
		kernel sched_switch_in 150 @a
		kernel sched_switch_out 200 @b state=S reason=blocked
		event 64 600 @a
		kernel sched_switch_out 700 @a state=S reason=blocked
		end
	END
	threads
	prints threads <<-'END'
		100 650: 250 0 100 300 (0 0) 1 0 0 0 0
		101 600: 0 0 100 500 (0 0) 1 0 0 0 0
	END
	waits
	prints waits <<-'END'
		0.100 100 100 101 unknown not woken
		0.600 100 100 100 no system call not woken
	END
	# the event of the stop is missing
	write_log log <<-'END'
		cpus 1
		classes all
		thread a 100 100 0x7f00
		block 1
		event 2 100
		event 2 500
		block 0
		kernel sched_switch_in 150 @a
		event 64 300 @a
		event 64 600 @a
		event 64 650 @a
		end
	END
	threads
	prints threads <<-'END'
		100 500: 200 0 0 300 (0 0) 0 0 0 0 0
	END
}

test_threads_end()
{
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_switch_in 100 @b
		kernel sched_switch_in 100 @c
		kernel sched_process_exit 200 @a
		kernel sched_switch_out 250 @a state=X reason=ended
		kernel sched_process_exit 300 @b
		kernel sched_process_exit 400 @c group_dead=true
		event 64 900 pid=300 tid=300
		end
	END
	threads
	# the last switch of b is missing
	prints threads <<-'END'
		100 150: 150 0 0 0 (0 0) 0 0 0 0 0
		101 200: 200 0 0 0 (0 0) 0 0 0 0 0
		200 300: 300 0 0 0 (0 0) 0 0 0 0 0
		300 0: 0 0 0 0 (0 0) 0 0 0 0 0
	END
	# the id is reused, so there are two threads
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_switch_out 250 @a state=X reason=ended
		kernel sched_wakeup 500 @a new=true by=thread
		kernel sched_switch_in 520 @a
		kernel sched_switch_out 600 @a reason=preempted
		end
	END
	threads
	prints threads <<-'END'
		100 100: 80 20 0 0 (0 0) 0 1 0 0 0
		100 150: 150 0 0 0 (0 0) 0 0 0 0 0
	END
}

# STATE is S (1) or 0 for running (flag 1) and runnable. Flags: 8 ip, 16 call, 64 futex, 128 ids.
test_states_at_the_start_are_used_until_the_first_event()
{
	log 'classes sched,process' <<-'END'
		block 4
		event 2 100
		state a 150 50 1 24 0 0 3 0 0 0 read
		state b 160 150 0 3 1 0 0 0 0 0 -
		state c 170 90 0 2 2 0 0 0 0 0 -
		kernel sched_wakeup 400 @a by=timer target_cpu=0
		kernel sched_switch_in 450 @a runnable=50
		kernel sched_switch_out 500 @b reason=blocked state=S
		kernel sched_switch_in 600 @c runnable=510
		end
	END
	threads
	prints threads <<-'END'
		a-100 500: 150 50 300 0 (0 0) 0 0 0 0 0
		b-101 500: 400 0 100 0 (0 0) 1 0 0 0 0
		c-200 500: 0 500 0 0 (0 0) 0 0 0 0 0
	END
	places
	prints places <<-'END'
		a-100 read 1 300 300
		b-101 unknown 1 100 100
	END
}

test_state_after_an_event_of_the_thread_is_not_used()
{
	log 'classes sched,process' <<-'END'
		block 4
		event 2 100
		kernel sched_switch_in 140 @a
		state a 150 50 1 24 0 0 3 0 0 0 read
		kernel sched_switch_out 200 @a reason=preempted
		end
	END
	threads
	prints threads <<-'END'
		100 60: 60 0 0 0 (0 0) 0 1 0 0 0
	END
}

test_state_at_the_start_ends_with_a_loss()
{
	log 'classes sched,process' <<-'END'
		block 4
		event 2 100
		state a 150 50 1 24 0 0 3 0 0 0 read
		lost 5 300
		kernel sched_wakeup 400 @a by=timer target_cpu=0
		kernel sched_switch_in 450 @a runnable=50
		kernel sched_switch_out 500 @a reason=blocked state=S
		end
	END
	threads
	prints threads <<-'END'
		a-100 400: 50 50 200 100 (0 0) 1 0 0 0 0
	END
	places
	prints places <<-'END'
		a-100 read 1 200 200
	END
}

# A filter may leave out events that changed the state.
test_state_is_not_used_with_a_filter()
{
	log 'classes sched,process' <<-'END'
		block 4
		event 2 100
		state a 150 50 1 24 0 0 3 0 0 0 read
		kernel sched_switch_in 300 @b
		kernel sched_switch_out 400 @b reason=preempted
		kernel sched_switch_in 500 @b
		end
	END
	run 0 posixtrace stat --states log
	grep -q ' read ' out
	run 0 posixtrace stat --states --filter=sched_switch_out log
	lacks ' read ' out
}

test_threads_that_are_still_blocked_are_listed()
{
	log 'classes sched,process' <<-'END'
		block 4
		event 2 100
		state a 150 50 1 216 0 202 0x1000 2 101 0 futex
		state b 160 60 1 216 1 202 0x2000 2147483749 0 0 futex
		state c 170 70 1 24 2 0 7 0 0 0 read
		event 3 900 zeros=8
		end
	END
	run 0 posixtrace stat --states log
	sed -n '/STILL BLOCKED/,$p' out | sed 's/  */ /g; s/ $//' >blocked
	prints blocked <<-'END'
		 PROCESS STILL BLOCKED TIME HELD BY IN
		 100 a-100 < 850 ns unknown futex(0x1000, FUTEX_WAIT, 0, 0, 0, 0)
		 100 b-101 < 840 ns unknown futex(0x2000, FUTEX_WAIT, 0, 0, 0, 0)
		 200 c-200 < 830 ns read(7, 0, 0)
	END
}

# A descriptor is named if it was read after the state, and if no other thread could have changed it
# during the call: process 200 has only one thread. The arguments of a 32-bit program are in other
# registers, so only the object of its calls is known.
test_calls_of_blocked_threads_have_their_arguments()
{
	log 'classes sched,process,strings' <<-'END'
		task 300 300 1 peer
		thread d 100 103 0x7f03
		thread e 100 104 0x7f04
		thread f 100 105 0x7f05
		thread peer 300 300 0x7f00
		block 4
		event 2 100
		state a 150 50 1 24 0 0 3 0 0 0 read
		state b 160 60 1 24 1 0 4 0 0 0 read
		state c 170 70 1 24 2 0 7 0 0 0 read
		state d 180 80 1 56 0 3 9 0 0 0 read
		state e 190 90 1 24 0 999 9 0 0 0 made_up
		state f 195 95 1 24 0 7 5 0 0 0 fsync
		file a 140 3 1 1 1 /old
		file a 200 3 1 1 1 /etc/a\b
		file a 210 4 3 1 77
		file a 220 5 1 5 2 /shared
		file peer 230 1 3 2 77
		file c 240 7 2 3 78 tcp:127.0.0.1:80,listening
		event 3 900 zeros=8
		end
	END
	run 0 posixtrace stat --states log
	sed -n '/STILL BLOCKED/,$p' out | sed '1d; s/  */ /g; s/ $//; s/.* ns //' >blocked
	prints blocked <<-'END'
		read(3, 0, 0)
		read(4, 0, 0)
		read(7<tcp:127.0.0.1:80,listening>, 0, 0)
		read fd 9
		made_up
		fsync(5)
	END
}

# The kernel defines the word of a mutex with priority inheritance (operation 6), so its owner is
# certain. The owner must be a thread of the process.
test_forged_states_are_harmless()
{
	log 'classes sched,process' <<-'END'
		block 4
		event 2 100
		state a 150 18446744073709551615 1 255 4294967295 4294967295 -1 4294967295 4294967295 4294967295 \xff
		state b 0 1 99 255 0 0 0 0 0 0 x
		state c 18446744073709551615 1 1 255 0 0 0 0 0 0 x
		kernel sched_switch_in 400 @a runnable=9
		kernel sched_switch_out 500 @a reason=blocked state=S
		end
	END
	threads
	lacks wrong threads
}

test_new_threads()
{
	# process 300 is not traced
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_process_fork 200 @a child_pid=@b child_tid=@b
		kernel sched_wakeup 210 @b new=true by=thread waker_pid=@a waker_tid=@a
		kernel sched_process_fork 300 @a child_pid=300 child_tid=300
		kernel sched_process_fork 400 @a child_pid=@c child_tid=@c
		kernel sched_switch_in 450 @b
		event 64 500 @c
		kernel sched_switch_out 600 @c state=S reason=blocked
		kernel sched_process_fork 700 @a child_pid=@c child_tid=@c
		kernel sched_process_fork 750 @a child_pid=-1 child_tid=-1
		event 64 800 @c
		end
	END
	threads
	prints threads <<-'END'
		100 700: 700 0 0 0 (0 0) 0 0 0 0 0
		101 600: 350 240 0 10 (0 0) 0 0 0 0 0
		200 100: 0 0 0 100 (0 0) 0 0 0 0 0
		200 200: 100 0 0 100 (0 0) 1 0 0 0 0
	END
}

test_exec_ends_the_other_threads()
{
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_switch_in 100 @b
		kernel sched_switch_in 100 @c
		kernel sched_process_exit 200 @a
		kernel sched_switch_out 220 @a reason=ended
		kernel sched_process_exec 300 @a filename=/bin/true
		kernel sched_switch_out 400 @a state=S reason=blocked
		end
	END
	threads
	prints threads <<-'END'
		100 100: 100 0 0 0 (0 0) 1 0 0 0 0
		100 120: 120 0 0 0 (0 0) 0 0 0 0 0
		101 200: 200 0 0 0 (0 0) 0 0 0 0 0
		200 300: 300 0 0 0 (0 0) 0 0 0 0 0
	END
}

test_places_of_waits()
{
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_switch_out 110 @a state=S reason=blocked
		kernel sched_switch_in 120 @a
		event 64 125 @a
		kernel sched_switch_out 130 @a state=S reason=blocked
		kernel sched_switch_in 150 @a
		kernel syscall_entry 160 @a nr=0 name=read
		kernel sched_switch_out 170 @a reason=io
		kernel sched_switch_in 200 @a
		kernel sched_switch_out 210 @a state=S reason=blocked
		kernel sched_switch_in 250 @a
		kernel page_fault 255 @a
		kernel irq 258 @a duration=1
		kernel sched_switch_out 260 @a reason=io
		kernel sched_switch_in 310 @a
		kernel sched_switch_out 311 @a reason=io
		kernel sched_switch_in 312 @a
		kernel page_fault 320 @a
		kernel syscall_exit 330 @a
		kernel sched_switch_out 340 @a state=S reason=blocked
		kernel sched_switch_in 400 @a
		kernel syscall_entry 410 @a nr=0 name=read
		event 64 415 @a
		kernel sched_switch_out 420 @a reason=io
		kernel sched_switch_in 490 @a
		kernel syscall_exit 500 @a
		kernel syscall_entry 500 @a nr=0 compat=true name=restart
		kernel sched_switch_out 500 @a state=S reason=blocked
		kernel sched_switch_in 590 @a
		kernel syscall_exit 600 @a
		kernel syscall_entry 600 @a nr=-7
		kernel sched_switch_out 600 @a state=S reason=blocked
		kernel sched_switch_in 601 @a
		end
	END
	threads
	prints threads <<-'END'
		100 501: 129 0 372 0 (151 1) 10 0 2 4 0
	END
	places
	prints places <<-'END'
		100 read (I/O) 3 101 70
		100 restart 1 90 90
		100 no system call 2 80 60
		100 page fault (I/O) 1 50 50
		100 read 1 40 40
		100 unknown 1 10 10
		100 system call -7 1 1 1
	END
	# without the class syscall, the thread of a user event may still be in a system call
	log 'classes sched,fault' <<-'END'
		event 64 100 @a
		kernel sched_switch_out 110 @a state=S reason=blocked
		kernel sched_switch_in 120 @a
		kernel page_fault 125 @a
		kernel sched_switch_out 130 @a state=S reason=blocked
		kernel sched_switch_in 138 @a
		end
	END
	threads
	grep -q ' - *2 *0 *1 *- *-$' out
	places
	prints places <<-'END'
		100 unknown 1 10 10
		100 page fault 1 8 8
	END
}

# The id is reused after a life that has no event with its state.
test_id_is_used_again_after_an_unknown_state()
{
	log <<-'END'
		kernel sched_switch_in 100 @b
		kernel sched_switch_out 150 @b
		kernel sched_switch_in 160 @b
		epoch
		lost 1 200
		kernel sched_process_exec 300 @a filename=/bin/true
		kernel sched_wakeup 400 @b by=interrupt
		kernel sched_process_fork 500 @a child_pid=100 child_tid=101
		kernel sched_switch_in 600 @b
		event 64 700 @b
		end
	END
	threads
	# two threads: one from 100 to 300, by when it must have ended, and one from 500 to 700
	prints threads <<-'END'
		100 400: 400 0 0 0 (0 0) 0 0 0 0 0
		101 200: 100 0 0 100 (0 0) 0 0 0 0 0
		101 200: 90 10 0 100 (0 0) 0 1 0 0 0
	END
}

# random_events SEED: prints events of three threads, some of which contradict each other
random_events()
{
	awk -v seed="$1" 'BEGIN {
		srand(seed)
		split("a b c", thread)
		split("state=R,reason=preempted state=S,reason=blocked state=D,reason=io", out)
		for (time = 100; time < 900; time += 1 + int(rand() * 30)) {
			i = 1 + int(rand() * 3)
			end = time " cpu=" i - 1 " @" thread[i]
			what = int(rand() * 6)
			words = out[1 + int(rand() * 3)]
			sub(",", " ", words)
			if (what < 2)
				print "kernel sched_switch_out", end, words
			else if (what < 4)
				print "kernel sched_switch_in", end, "runnable=" int(rand() * 2) * 9
			else if (what < 5)
				print "kernel sched_wakeup", end, "by=interrupt"
			else
				print "event 64", end
		}
		print "end"
	}'
}

# The Chrome format must have the same running and blocked times. The table leaves out the time
# before the first event of a thread, so runnable times may differ.
test_other_readers_find_the_same_states()
{
	for ((seed = 1; seed <= 20; seed++)); do
		random_events "$seed" | log
		rm -f trace
		posixtrace export -O chrome -o trace log
		jq -r 'def sum(name): map(select(.name | startswith(name)).dur) | add // 0 | . * 1000 | round;
			[.traceEvents[] | select(.cat == "state")] | group_by([.pid, .tid])[] |
			"\(sum("running")) \(sum("blocked"))"' trace | sort >sums
		threads
		[ "$(wc -l <threads)" -eq 3 ]
		awk '{ print $3, $5 }' threads | sort | prints sums
	done
}

test_ten_longest_waits()
{
	for ((i = 1; i <= 25; i++)); do
		# waits of 1, 3, ... 25, 24, ... 2, each followed by one of 5
		echo "kernel sched_switch_out $((i * 60)) @a state=S reason=blocked"
		echo "kernel sched_switch_in $((i * 60 + (i < 13 ? 2 * i - 1 : 52 - 2 * i))) @a"
		echo "kernel sched_switch_out $((i * 60 + 30)) @b state=S reason=blocked"
		echo "kernel sched_switch_in $((i * 60 + 35)) @b"
	done | log
	run 0 posixtrace stat --states log
	waits
	cut -d ' ' -f 1,2,4 waits >first
	prints first <<-'END'
		0.720 26 100
		0.780 24 100
		0.660 23 100
		0.840 22 100
		0.600 21 100
		0.900 20 100
		0.540 19 100
		0.960 18 100
		0.480 17 100
		1.020 16 100
	END
	# among waits of equal length, the first ones are shown
	for ((i = 1; i < 13; i++)); do
		echo "kernel sched_switch_out $((i * 20)) @a state=S reason=blocked"
		echo "kernel sched_switch_in $((i * 20 + 10)) @a"
	done | log
	run 0 posixtrace stat --states log
	waits
	[ "$(cut -d ' ' -f 1 waits | tr '\n' ' ')" = \
		'0.000 0.020 0.040 0.060 0.080 0.100 0.120 0.140 0.160 0.180 ' ]
}

test_some_classes_are_missing()
{
	log 'classes process' <<-'END'
		event 64 100 @a
		kernel sched_process_fork 200 @a child_pid=@b child_tid=@b
		event 64 300 @b
		kernel sched_process_exit 400 @b
		event 64 500 @a
		end
	END
	threads
	prints threads <<-'END'
		100 400: 0 0 0 400 (0 0) 0 0 0 0 0
		101 200: 0 0 0 200 (0 0) 0 0 0 0 0
	END
	complains 'posixtrace: log: states are unknown without kernel events: record --kernel=sched'
	# without descriptions, events have no fields
	log 'classes all bare' <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_switch_out 200 @a state=S reason=blocked
		kernel sched_wakeup 300 @a by=interrupt
		kernel syscall_entry 350 @a nr=1 name=write
		event 64 360 @a
		event 64 400 @a
		end
	END
	threads
	prints threads <<-'END'
		100 40: 40 0 0 0 (0 0) 0 0 0 0 0
	END
	# a log without events of threads
	log </dev/null
	run 0 posixtrace stat --states log
	grep -q '^time      0 ns$' out
}

test_selected_threads_and_times()
{
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_switch_in 200 @b
		kernel sched_switch_out 300 @a state=S reason=blocked
		kernel sched_switch_in 500 @a
		event 64 600 @c
		end
	END
	threads --tid=100
	prints threads <<-'END'
		100 400: 200 0 200 0 (0 0) 1 0 0 0 0
	END
	threads --to=400ns
	prints threads <<-'END'
		100 400: 200 0 200 0 (0 0) 1 0 0 0 0
		101 300: 300 0 0 0 (0 0) 0 0 0 0 0
	END
	waits
	prints waits <<-'END'
		0.200 200 100 100 unknown unknown
	END
	threads --from=200ns --pid=100
	prints threads <<-'END'
		100 200: 0 0 200 0 (0 0) 1 0 0 0 0
	END
}

test_many_threads()
{
	{
		printf '%s\n' 'classes all' 'block 0'
		for ((i = 1; i <= 65540; i++)); do
			echo "event 64 $i pid=$((i % 999 + 1)) tid=$i"
		done
		echo 'kernel sched_process_fork 65541 pid=5 tid=70000 child_pid=5 child_tid=70001'
		echo 'end'
	} | write_log log
	(ulimit -v 300000 && run 0 posixtrace stat --states log)
	grep -q 'and more threads: use --all$' out
	grep -q 'all others threads are not followed$' out
	run 0 posixtrace stat --states --all log
	[ "$(grep -c '^  *[0-9][0-9]*  [0-9]' out)" -eq 65536 ]
	# more different system calls than are listed by name
	for ((i = 0; i < 1100; i++)); do
		printf '%s\n' "kernel syscall_entry $((3 * i + 1)) @a nr=$i name=call-$i" \
			"kernel sched_switch_out $((3 * i + 1)) @a state=S reason=blocked" \
			"kernel sched_switch_in $((3 * i + 2)) @a"
	done | log
	run 0 posixtrace stat --states log
	places
	[ "$(sed -n 1p places)" = '100 another system call 76 76 1' ]
	grep -q 'and more places: use --all$' out
	run 0 posixtrace stat --states --all log
	places
	[ "$(wc -l <places)" -eq 1025 ]
}

# Only complete events with possible values may change a state.
test_events_that_do_not_fit()
{
	log <<-'END'
		kernel sched_switch_in 100 @a
		kernel sched_switch_out 120 @a cut hex=64000000780000000101
		kernel sched_switch_in 140 @a hex=64
		kernel sched_switch_out 160 @a state=S reason=blocked pid=-1
		kernel sched_switch_out 200 @a state=S reason=blocked
		kernel sched_wakeup 220 @a by=thread waker_pid=100 waker_tid=-101
		kernel sched_wakeup 240 @a by=thread waker_pid=100 waker_tid=101
		kernel sched_switch_in 250 @a
		kernel sched_process_exit 260 @a hex=6400000000000000
		kernel sched_switch_out 300 @a reason=ended
		end
	END
	threads
	prints threads <<-'END'
		100 200: 150 10 40 0 (0 0) 1 0 0 0 0
	END
}

test_wrong_data()
{
	log <<-'END'
		kernel sched_switch_in 100 @a hex=64
		kernel sched_switch_out 200 @a cut hex=640000007800000001
		kernel sched_switch_out 200 @a hex=
		kernel sched_wakeup 300 @a by=200
		kernel syscall_entry 310 @a hex=6400000000000000
		kernel syscall_entry 320 @a nr=3 name=\x00\x1b[31m\xff0123456789012345678901234567890123456789
		kernel sched_switch_out 330 @a state=S reason=blocked
		kernel sched_switch_out 900 @b hex=ffffffffffffffffffffffffffffffffffffffffffffffff
		kernel sched_process_exit 910 @b hex=ff
		end
	END
	run 0 posixtrace stat --states log
	lacks "$(printf '\033')" out
	# descriptions with other fields, types and sizes
	log 'classes all bare' <<-'END'
		describe 16 struct { f64 tid; text reason; }
		describe 17 struct { string s; i32 tid; u64 runnable; }
		describe 18 struct { i8 tid; i16 by; u128 x; }
		describe 27 struct { u16 tid; x8 nr; enum : i8 { a = -1 } name; }
		describe 29 struct { bool tid; i64 duration; bool nested; }
		kernel sched_switch_in 100 @a
		kernel sched_switch_out 200 @a state=S reason=blocked
		kernel sched_wakeup 300 @a by=interrupt
		kernel irq 340 @a duration=60
		kernel syscall_entry 350 @a nr=1 name=write
		end
	END
	run 0 posixtrace stat --states log
	# an exit before any other event, and lives that end immediately
	log <<-'END'
		kernel sched_process_exit 100 @a group_dead=true
		kernel sched_process_exit 100 @a group_dead=true
		kernel sched_process_fork 100 @a child_pid=@a child_tid=@a
		kernel sched_process_fork 200 @a child_pid=@a child_tid=@a
		kernel sched_process_exec 300 @a
		kernel sched_switch_out 300 @a reason=ended
		kernel sched_switch_out 400 @a reason=ended
		end
	END
	threads
	lacks wrong threads
}

test_usage()
{
	log </dev/null
	run 2 posixtrace stat --states --kernel=sched log
	run 2 posixtrace stat --kernel=disk 1
	run 2 posixtrace stat --states --kernel=disk 1
	complains 'posixtrace: --kernel: must be all, none, sched, fault, signal, syscall, irq, process or strings (got "disk")'
	run 1 posixtrace stat --states missing
}

run_cases
