#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace why" with written logs. Times are below 1000 ns, so that they are printed
# exactly. check_why compares random schedules with the expected answers.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# Writes a log from a script that uses the processes 100 and 200. Each thread has its own processor.
log()
{
	{
		printf '%s\n' "${1:-classes all}" 'name 65 request_begin' 'name 66 request_end' \
			'host h' 'task 100 100 1 main' 'task 100 101 1 worker' 'task 200 200 1 server' \
			'thread a 100 100 0x7f00' 'thread b 100 101 0x7f01' 'thread c 200 200 0x7f02' \
			'block 0'
		sed '/ cpu=/!{ s/ @a\>/ cpu=0&/; s/ @b\>/ cpu=1&/; s/ @c\>/ cpu=2&/; }'
	} | write_log log
}

# why [OPTION]...: writes the parts to the file parts: time, and text with indentation
why()
{
	run 0 posixtrace why "$@" log
	awk '/ WHAT$/ { at = index($0, "WHAT"); next }
		/ns of / { at = 0 }
		at && NF { print $1 ":", substr($0, at) }' out >parts
}

test_waits_are_divided_into_what_their_wakers_did()
{
	log <<-'END'
		event 65 1 @a
		kernel syscall_entry 10 @c nr=0 name=read args=3
		kernel syscall_entry 20 @b nr=1 name=write args=5
		kernel syscall_entry 100 @a nr=202 name=futex args=0x1000
		kernel sched_switch_out 110 @a state=S reason=blocked
		kernel sched_switch_out 200 @b state=D reason=io
		kernel sched_wakeup 400 cpu=2 @b by=thread waker_pid=@c waker_tid=@c target_cpu=1
		kernel sched_switch_in 450 @b runnable=50
		kernel sched_wakeup 700 cpu=1 @a by=thread waker_pid=@b waker_tid=@b
		kernel sched_switch_in 710 @a runnable=10
		kernel irq 800 @a duration=30 number=24 name=disk
		kernel syscall_exit 810 @a nr=202
		kernel page_fault 850 @a address=0x7f00
		event 66 901 @a
		end
	END
	run 0 posixtrace why --scope=request log
	prints out <<-'END'
		request 1 of 1: 900 ns of main-100, process 100, from 0.000 to 0.900
		running 270 ns (30.0 %), runnable 10 ns (1.1 %), interrupts 30 ns (3.3 %), blocked 590 ns (65.6 %)
		most: 37.8 % (340 ns) worker-101: running in write, fd 5

		     TIME      %  COUNT   LONGEST  WHAT
		   590 ns   65.6      1    590 ns  blocked in futex, address 0x1000, woken by worker-101
		   340 ns   37.8                     worker-101: running in write, fd 5
		   200 ns   22.2      1    200 ns    worker-101: blocked in write, fd 5 (I/O), woken by server-200 of process 200
		   200 ns   22.2                       server-200: running in read, fd 3
		    50 ns    5.6      1     50 ns    worker-101: runnable, woken, no thread of the log ran there
		   190 ns   21.1                   running in the program, 1 page fault
		    80 ns    8.9                   running in futex, address 0x1000
		    30 ns    3.3      1     30 ns  interrupt: irq disk
		    10 ns    1.1      1     10 ns  runnable, woken, no thread of the log ran there
	END
	complains
}

test_the_json_has_the_path_in_order_of_time()
{
	log <<-'END'
		event 65 1 @a
		event 65 2 @b
		kernel sched_switch_out 100 @a state=S reason=blocked
		kernel sched_wakeup 300 cpu=1 @a by=thread waker_pid=@b waker_tid=@b
		kernel sched_switch_in 320 @a runnable=20
		event 66 401 @a
		end
	END
	run 0 posixtrace why --json --scope=request --worst=1 log
	python3 - <<-'END' >got
		import json
		whole = json.loads(open("out").read())
		print(whole["scope"], whole["number"], whole["of"], whole["begin_ns"], whole["ns"])
		names = {}
		def collect(part):
		    names[part["id"]] = part["what"] + " " + part["thread"]["name"]
		    for child in part.get("parts", []):
		        collect(child)
		for child in whole["parts"]:
		    collect(child)
		for step in whole["path"]:
		    print(step["at_ns"], step["ns"], names[step["part"]])
		print(whole["path_complete"])
	END
	prints got <<-'END'
		request 1 1 1 400
		0 99 running main-100
		99 200 running worker-101
		299 20 ran_other main-100
		319 81 running main-100
		True
	END
}

test_runnable_time_names_what_ran_instead()
{
	log <<-'END'
		event 65 1 @a
		kernel sched_switch_out 100 @a reason=preempted state=R
		kernel sched_switch_in 100 cpu=0 @b
		kernel sched_switch_out 300 cpu=0 @b state=S reason=blocked
		kernel sched_migrate_task 350 cpu=0 @a dest_cpu=2 orig_cpu=0
		kernel syscall_exit 360 @c nr=0
		kernel sched_switch_out 400 @c state=S reason=blocked
		kernel sched_switch_in 405 cpu=2 @a runnable=305
		event 66 501 cpu=2 @a
		end
	END
	why --scope=request
	# until 350, a waits for processor 0; then it waits for 2, about which nothing is known
	# before 360
	prints parts <<-'END'
		305: runnable, preempted
		200:   worker-101 ran there
		65:   no thread of the log ran there
		40:   server-200 of process 200 ran there
		195: running in the program
	END
}

test_a_wait_in_a_page_fault_is_a_fault()
{
	log <<-'END'
		event 65 1 @a
		kernel page_fault 100 @a address=0x7f00
		kernel sched_switch_out 110 @a state=D reason=io
		kernel sched_wakeup 200 @a by=interrupt
		kernel sched_switch_in 200 @a
		kernel syscall_entry 210 @a nr=0 name=read args=3
		kernel page_fault 220 @a address=0x7f00
		kernel sched_switch_out 230 @a state=S reason=blocked
		kernel sched_wakeup 300 @a by=another
		kernel sched_switch_in 300 @a
		event 66 301 @a
		end
	END
	why --scope=request
	# the thread is in a system call, so the wait may also be in the call
	prints parts <<-'END'
		119: running in the program, 1 page fault
		90: blocked in a page fault (I/O), woken by an interrupt
		70: blocked in read, fd 3 after a page fault, woken by another thread
		21: running in read, fd 3, 1 page fault
	END
	run 0 posixtrace why --scope=request log
	grep -q '^running 140 ns (46.7 %), faults 90 ns (30.0 %), blocked 70 ns (23.3 %)$' out
}

test_before_a_waker_exists_its_creator_is_followed()
{
	log <<-'END'
		event 65 1 @a
		event 65 2 @b
		kernel sched_switch_out 100 @a state=S reason=blocked
		kernel sched_process_fork 300 @b child_pid=200 child_tid=200
		kernel syscall_exit 500 @c nr=57
		kernel sched_wakeup 700 cpu=2 @a by=thread waker_pid=@c waker_tid=@c
		kernel sched_switch_in 701 @a runnable=1
		event 66 801 @a
		end
	END
	why --scope=request
	# the first events of a child are not recorded
	prints parts <<-'END'
		600: blocked outside of system calls, woken by server-200 of process 200
		200:   server-200: before its creation by worker-101 of process 100
		200:     worker-101: running in the program
		200:   server-200: unknown
		200:   server-200: running in the program
		199: running in the program
		1: runnable, woken, no thread of the log ran there
	END
}

test_threads_that_wait_for_one_another_are_unknown()
{
	log <<-'END'
		event 65 1 @a
		event 65 2 @b
		kernel sched_switch_out 100 @a state=S reason=blocked
		kernel sched_switch_out 200 @b state=S reason=blocked
		kernel sched_wakeup 500 cpu=0 @b by=thread waker_pid=@a waker_tid=@a target_cpu=1
		kernel sched_switch_in 550 @b runnable=50
		kernel sched_wakeup 700 cpu=1 @a by=thread waker_pid=@b waker_tid=@b
		kernel sched_switch_in 701 @a runnable=1
		event 66 801 @a
		end
	END
	why --scope=request
	prints parts <<-'END'
		600: blocked outside of system calls, woken by worker-101
		300:   worker-101: blocked outside of system calls, woken by main-100
		300:     main-100: unknown
		250:   worker-101: running in the program
		50:   worker-101: runnable, woken, no thread of the log ran there
		199: running in the program
		1: runnable, woken, no thread of the log ran there
	END
}

test_threads_that_wake_one_another_at_once_are_unknown()
{
	log <<-'END'
		event 65 1 @a
		event 65 2 @b
		kernel sched_switch_out 100 @a state=S reason=blocked
		kernel sched_switch_out 200 @b state=S reason=blocked
		kernel sched_wakeup 700 cpu=2 @a by=thread waker_pid=@b waker_tid=@b
		kernel sched_wakeup 700 cpu=2 @b by=thread waker_pid=@a waker_tid=@a
		kernel sched_switch_in 701 @a runnable=1
		event 66 801 @a
		end
	END
	why --scope=request
	prints parts <<-'END'
		600: blocked outside of system calls, woken by worker-101
		500:   worker-101: blocked outside of system calls, woken by main-100
		500:     main-100: unknown
		100:   worker-101: running in the program
		199: running in the program
		1: runnable, woken, no thread of the log ran there
	END
}

test_a_waker_that_waits_longer_is_unknown()
{
	log <<-'END'
		event 65 1 @a
		event 65 2 @b
		kernel sched_switch_out 100 @a state=S reason=blocked
		kernel sched_switch_out 200 @b state=S reason=blocked
		kernel sched_wakeup 700 cpu=1 @a by=thread waker_pid=@b waker_tid=@b
		kernel sched_switch_in 701 @a runnable=1
		event 66 801 @a
		kernel sched_wakeup 900 @b by=interrupt
		kernel sched_switch_in 900 @b
		end
	END
	why --scope=request
	prints parts <<-'END'
		600: blocked outside of system calls, woken by worker-101
		500:   worker-101: unknown
		100:   worker-101: running in the program
		199: running in the program
		1: runnable, woken, no thread of the log ran there
	END
	# at the end of the requested period, both threads may still wait
	why --tid=100 --from=0 --to=600ns
	prints parts <<-'END'
		501: blocked outside of system calls, woken by worker-101
		401:   worker-101: blocked outside of system calls, woken by an interrupt
		100:   worker-101: running in the program
		99: running in the program
	END
}

test_wakers_are_told_as_the_kernel_told_them()
{
	log <<-'END'
		event 65 1 @a
		kernel syscall_entry 5 @b nr=1 name=write args=5
		kernel sched_switch_out 11 @a state=S reason=blocked
		kernel sched_wakeup 41 cpu=1 @a by=softirq waker_pid=@b waker_tid=@b
		kernel sched_switch_in 42 @a runnable=1
		kernel syscall_exit 45 @b nr=1
		kernel sched_switch_out 50 @a state=S reason=blocked
		kernel sched_wakeup 90 cpu=1 @a by=softirq waker_pid=@b waker_tid=@b
		kernel sched_switch_in 91 @a runnable=1
		kernel sched_switch_out 100 @a state=S reason=blocked
		kernel sched_wakeup 150 cpu=2 @a by=child waker_pid=@c waker_tid=@c
		kernel sched_switch_in 151 @a runnable=1
		kernel sched_switch_out 160 @a state=S reason=blocked
		kernel sched_wakeup 220 cpu=1 @a by=signal waker_pid=@b waker_tid=@b
		kernel sched_switch_in 221 @a runnable=1
		kernel sched_switch_out 230 @a state=S reason=blocked
		kernel sched_wakeup 300 cpu=1 @a by=signal
		kernel sched_switch_in 301 @a runnable=1
		kernel sched_switch_out 310 @a state=S reason=blocked
		kernel sched_wakeup 390 cpu=1 @a by=timer
		kernel sched_switch_in 391 @a runnable=1
		kernel sched_switch_out 400 @a state=S reason=blocked
		kernel sched_wakeup 490 cpu=1 @a by=kernel
		kernel sched_switch_in 491 @a runnable=1
		kernel sched_switch_out 500 @a state=S reason=blocked
		kernel sched_wakeup 600 cpu=1 @a by=softirq
		kernel sched_switch_in 601 @a runnable=1
		event 66 602 @a
		end
	END
	why --scope=request --all
	grep blocked parts | sort >got
	prints got <<-'END'
		100: blocked outside of system calls, woken by a softirq
		30: blocked outside of system calls, woken by worker-101 through a softirq
		40: blocked outside of system calls, woken by a softirq during worker-101
		50: blocked outside of system calls, woken by the end of server-200 of process 200
		60: blocked outside of system calls, woken by a signal of worker-101
		70: blocked outside of system calls, woken by a signal
		80: blocked outside of system calls, woken by a timer
		90: blocked outside of system calls, woken by a thread of the kernel
	END
	run 0 posixtrace why --scope=request --json log
	jq -r '.. | objects | .by? // empty' out | sort -u | paste -sd ' ' >got
	prints got <<<'child kernel signal softirq timer'
}

test_time_with_lost_events_is_unknown()
{
	log <<-'END'
		event 65 1 @a
		kernel syscall_entry 50 @a nr=0 name=read args=3
		kernel sched_switch_out 100 @a state=S reason=blocked
		epoch
		lost 4 200
		block 0
		kernel sched_switch_in 500 @a
		event 66 601 @a
		event 65 701 @a
		event 66 801 @a
		end
	END
	why --tid=100
	# the system call after that is also unknown, until the program records an event
	prints parts <<-'END'
		300: unknown
		249: running in the program
		101: running
		100: blocked in read, fd 3, waker unknown
		50: running in read, fd 3
	END
	# the begin and the end may belong to two requests
	why --scope=request
	prints parts <<<'100: running in the program'
	complains 'posixtrace: log: 1 of request left out: events were lost between begin and end' \
		'posixtrace: log: 4 events were lost: use a larger stream'
}

test_the_begin_of_the_log_is_unknown()
{
	log <<-'END'
		event 65 1 @b
		kernel sched_switch_in 300 @a
		event 66 501 @b
		kernel sched_switch_out 600 @a state=S reason=blocked
		end
	END
	why --tid=100 --from=0
	prints parts <<-'END'
		300: running
		299: unknown
	END
}

test_the_slowest_instances_come_first()
{
	{
		for i in 1 2 3 4 5 6 7; do
			echo "event 65 $((i * 100)) @a"
			echo "event 66 $((i * 100 + i * 37 % 50)) @a"
		done
		echo 'kernel sched_switch_out 900 @a state=S reason=blocked'
		echo end
	} | log
	run 0 posixtrace why --scope=request log
	grep ' of 5:' out >got
	prints got <<-'END'
		request 1 of 5: 48 ns of main-100, process 100, from 0.300 to 0.348
		request 2 of 5: 37 ns of main-100, process 100, from 0.000 to 0.037
		request 3 of 5: 35 ns of main-100, process 100, from 0.400 to 0.435
		request 4 of 5: 24 ns of main-100, process 100, from 0.100 to 0.124
		request 5 of 5: 22 ns of main-100, process 100, from 0.500 to 0.522
	END
	run 0 posixtrace why --scope=request --worst=2 --from=0.1 --to=350ns log
	grep '^request' out >got
	prints got <<-'END'
		request 1 of 2: 48 ns of main-100, process 100, from 0.300 to 0.348
		request 2 of 2: 24 ns of main-100, process 100, from 0.100 to 0.124
	END
}

test_periods_may_be_dates_and_must_be_in_the_log()
{
	local first
	log <<-'END'
		event 65 1 @a
		event 66 101 @a
		event 65 201 @a
		event 66 401 @a
		end
	END
	first=$(posixtrace dump --json log | head -n 1 | jq -r .time)
	run 0 posixtrace why --scope=request --to="@${first%???}101" log
	grep '^request' out >got
	prints got <<<'request 1 of 1: 100 ns of main-100, process 100, from 0.000 to 0.100'
	run 0 posixtrace why --scope=request --from=1970-01-01T00:00:00Z log
	grep -q '^request 1 of 2: 200 ns' out
	run 1 posixtrace why --scope=request --from=@1 log
	complains 'posixtrace: log: no complete request in this period: posixtrace stat lists the scopes'
	run 1 posixtrace why --from=401ns log
	grep -qx 'posixtrace: log: no thread has such events in this period' err
	run 0 posixtrace why --from=400ns log
}

test_scopes_are_those_of_one_thread()
{
	log <<-'END'
		event 65 1 @a
		event 66 101 @b
		event 65 201 @b
		event 66 211 @b
		kernel sched_switch_out 300 @a state=S reason=blocked
		end
	END
	run 0 posixtrace why --scope=request log
	grep '^request' out >got
	prints got <<<'request 1 of 1: 10 ns of worker-101, process 100, from 0.200 to 0.210'
	complains 'posixtrace: log: 2 of request left out: begin or end is missing in their thread'
	run 1 posixtrace why --scope=request --tid=100 log
	complains 'posixtrace: log: 1 of request left out: begin or end is missing in their thread' \
		'posixtrace: log: no complete request in this period: posixtrace stat lists the scopes'
}

# A scope is selected if one of its ends is, and a thread if its first event is.
test_options_select_scopes_and_threads()
{
	log <<-'END'
		cpus 4
		event 65 1 @a cpu=0 text=one
		event 65 51 @b cpu=1
		event 66 101 @a cpu=2
		event 66 251 @b cpu=1
		end
	END
	local a='request 1 of 1: 100 ns of main-100, process 100, from 0.000 to 0.100'
	local b='request 1 of 1: 200 ns of worker-101, process 100, from 0.050 to 0.250'
	only()
	{
		local wanted=$1
		shift
		run 0 posixtrace why "$@" log
		grep '^request' out >got
		prints got <<<"$wanted"
	}
	only "$a" --scope=request --tid=100
	only "$b" --scope=request -t 101,5 --pid=100
	only "$a" --scope=request --cpu=2
	only "$a" --scope=request -C 0
	only "$b" --scope=request -C 1,3
	only "$b" --scope=request --filter='request.duration > 100ns'
	only "$a" --scope=request --filter='request.duration <= 100ns'
	run 1 posixtrace why --scope=request --pid=7 log
	run 1 posixtrace why --scope=request --exclude='request*' log
	run 0 posixtrace why --cpu=1 log
	grep -q '^thread worker-101' out || grep -q 'worker-101' out
	run 1 posixtrace why --cpu=3 log
	complains 'posixtrace: --cpu: log has no such events: posixtrace dump shows the processors'
}

test_a_system_call_is_a_scope()
{
	log <<-'END'
		kernel syscall_entry 50 @a nr=0 name=read args=3
		kernel syscall_entry 60 @b nr=1 name=write args=3
		kernel syscall_exit 70 @a nr=0
		kernel syscall_exit 270 @b nr=1
		end
	END
	why --scope=read
	prints parts <<<'20: running in read, fd 3'
}

test_small_parts_are_one_line()
{
	log <<-'END'
		event 65 1 @a
		kernel syscall_entry 900 @a nr=1 name=write args=4
		kernel syscall_exit 903 @a nr=1
		kernel syscall_entry 910 @a nr=3 name=close args=3
		kernel syscall_exit 912 @a nr=3
		event 66 1001 @a
		end
	END
	why --scope=request
	prints parts <<-'END'
		995: running in the program
		5: 2 smaller parts
	END
	why --scope=request --all
	prints parts <<-'END'
		995: running in the program
		3: running in write, fd 4
		2: running in close, fd 3
	END
}

test_chains_of_wakers_end()
{
	local i
	{
		printf '%s\n' 'classes all' 'name 65 request_begin' 'name 66 request_end' 'block 0'
		for i in {1..100}; do
			echo "event 65 $i cpu=0 pid=$i tid=$i thread=$i"
		done
		for i in {1..99}; do
			echo "kernel sched_switch_out $((100 + i)) cpu=0 pid=$i tid=$i state=S reason=blocked"
		done
		for i in {99..1}; do
			echo "kernel sched_wakeup $((500 - 2 * i)) cpu=0 pid=$i tid=$i by=thread waker_pid=$((i + 1)) waker_tid=$((i + 1))"
			echo "kernel sched_switch_in $((501 - 2 * i)) cpu=0 pid=$i tid=$i"
		done
		echo 'event 66 501 cpu=0 pid=1 tid=1 thread=1'
		echo end
	} | write_log log
	run 0 posixtrace why --all --scope=request log
	[ "$(grep -c '^ .* blocked .* woken by' out)" -eq 65 ]
}

test_hostile_names_are_escaped()
{
	write_log log <<-'END'
		classes all
		name 65 a\x1b[31m_begin
		name 66 a\x1b[31m_end
		host h
		task 100 100 1 \x1b[31m\x0aevil
		thread a 100 100 0x7f00
		block 0
		event 65 1 @a
		kernel syscall_entry 2 @a nr=0 name=x\x1b\x22y
		kernel syscall_exit 200 @a nr=0
		event 66 301 @a
		end
	END
	run 0 posixtrace why --scope=$'a\e[31m' log
	lacks $'\e' out
	grep -qF 'a\x1b[31m 1 of 1: 300 ns of \x1b[31m\nevil-100' out
	grep -qF 'running in x\x1b"y' out
	run 0 posixtrace why --json --scope=$'a\e[31m' log
	lacks $'\e' out
	python3 -m json.tool <out >/dev/null
}

# The waker has no event before the wait, so only its state at the start shows what it did.
test_state_at_the_start_tells_what_a_waker_did()
{
	log <<-'END'
		block 4
		event 2 1
		state c 5 3 1 24 2 0 3 0 0 0 read
		event 65 10 @a
		kernel syscall_entry 100 @a nr=202 name=futex args=0x1000
		kernel sched_switch_out 110 @a state=S reason=blocked
		kernel sched_wakeup 400 cpu=2 @c by=timer target_cpu=2
		kernel sched_switch_in 410 @c runnable=10
		kernel sched_wakeup 700 cpu=2 @a by=thread waker_pid=@c waker_tid=@c
		kernel sched_switch_in 710 @a runnable=10
		kernel syscall_exit 810 @a nr=202
		event 66 910 @a
		end
	END
	run 0 posixtrace why --scope=request log
	sed 's/^ *//; s/  */ /g' out >parts
	grep -qx '290 ns 32.2 1 290 ns server-200: blocked in read, fd 3, woken by a timer' parts
}

test_the_classes_that_a_log_needs_are_named()
{
	log 'classes process,syscall' <<-'END'
		kernel syscall_entry 50 @a nr=0 name=read args=3
		kernel syscall_exit 70 @a nr=0
		end
	END
	run 1 posixtrace why --scope=read log
	complains 'posixtrace: log: lacks the class sched: record --kernel=sched,process,syscall'
	log 'classes sched' <<-'END'
		event 65 1 @a
		kernel sched_switch_out 10 @a state=S reason=blocked
		kernel sched_wakeup 90 @a by=another
		kernel sched_switch_in 90 @a
		event 66 101 @a
		end
	END
	why --scope=request
	prints parts <<-'END'
		80: blocked, woken by another thread
		20: running
	END
	complains 'posixtrace: log: system calls are unknown: record --kernel=sched,process,syscall'
}

test_wrong_arguments_are_refused()
{
	log <<<end
	run 2 posixtrace why --worst=3 log
	grep -q -- '--worst: needs --scope' err
	run 2 posixtrace why --scope=request --worst=0 log
	grep -q -- '--worst' err
	run 2 posixtrace why --filter='request.duration > 1us' log
	grep -q -- '--filter: a duration needs --scope' err
	run 1 posixtrace why --from=10 --to=9.999 log
	grep -q -- '--to: must not be before --from' err
	run 2 posixtrace why --from=-1 log
	grep -q -- '--from: must be a time' err
	run 2 posixtrace why --to=3d log
	grep -q -- '--to: must be a time' err
	run 1 posixtrace why --tid=7 log
	complains 'posixtrace: log: no events'
	run 1 posixtrace why log
	complains 'posixtrace: log: no thread has such events in this period'
}

test_random_schedules_are_divided_to_the_nanosecond()
{
	local seed
	for seed in {1..10}; do
		"$native/check_why" random "$seed"
	done
}

test_parts_of_real_logs_add_up()
{
	local log
	for log in "$native"/logs/*.log.xz; do
		xz -dc "$log" >"$(basename "$log" .xz)"
	done
	"$native/check_why" log ./*.log
}

run_cases
