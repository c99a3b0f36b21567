#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests how all readers identify threads and processes although the kernel reuses ids and names
# change. Uses written logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# export_all: writes the log in all formats
export_all()
{
	local format
	for format in chrome perfetto html ctf; do
		posixtrace export -O "$format" -o "$format" log
	done
}

page_data()
{
	sed -n '/^<script type="application\/json"/,/^<\/script>/p' html | sed '1d; $d'
}

# threads_of FORMAT: prints the labels of the threads
threads_of()
{
	case $1 in
	chrome)
		jq -r '.traceEvents[] | select(.name == "thread_name") | .args.name' chrome
		;;
	html)
		page_data | jq -r '.threads[][2]'
		;;
	stat)
		posixtrace stat --no-histogram log | awk '/^ +PROCESS/ { on = 1; next } !NF { on = 0 } on { print $2 }'
		;;
	esac | sort
}

# Two threads use the same stack, one after the other.
test_pthread_self_is_no_thread()
{
	write_log log <<-'END'
		host h
		name 65 req_begin
		name 66 req_end
		task 10 11 0 first
		task 10 12 0 second
		block 0
		event 65 1000 pid=10 tid=11 thread=0x7f00
		event 66 9000 pid=10 tid=12 thread=0x7f00
		event 65 10000 pid=10 tid=12 thread=0x7f00
		event 66 11000 pid=10 tid=12 thread=0x7f00
		end
	END
	export_all
	for reader in chrome html stat; do
		printf '%s\n' first-11 second-12 >wanted
		threads_of "$reader" | prints wanted
	done
	jq -r '.traceEvents[] | select(.ph == "X") | "\(.name) \(.ts) \(.dur)"' chrome >got
	prints got <<<'req 9 1'
	page_data | jq -c '.events[] | select(.[0] <= 1) | .[3:5]' >got
	prints got <<<'[9000,1000]'
	posixtrace stat --no-histogram log | grep -A1 '^req ' >got
	grep -q ' 1 *1.00 us .* 2$' got
	grep -q '^  unmatched: 1 without end, 1 without begin, 0 across a gap$' got
}

# The log reports the birth of another thread.
test_thread_id_is_used_again()
{
	write_log log <<-'END'
		host h
		name 65 req_begin
		name 66 req_end
		task 10 10 0 main
		task 10 11 0 first
		born 5000
		task 10 11 5000 second
		block 0
		event 65 1000 pid=10 tid=11 thread=0x7f00
		event 66 9000 pid=10 tid=11 thread=0x7f00
		end
	END
	export_all
	for reader in chrome html stat; do
		printf '%s\n' first-11 second-11 >wanted
		threads_of "$reader" | prints wanted
	done
	jq '[.traceEvents[] | select(.ph == "X")] | length' chrome >got
	prints got <<<0
	posixtrace dump -j log | jq -r .comm >got
	printf '%s\n' first second | prints got
}

test_process_id_is_used_again()
{
	write_log log <<-'END'
		host h
		name 65 size
		describe 65 { u64 counter; }
		task 10 10 0 old
		program 10 0 /bin/old
		born 5000
		task 10 10 5000 new
		program 10 5000 /bin/new
		block 0
		event 65 1000 pid=10 tid=10 thread=0x7f00 hex=0100000000000000
		event 65 9000 pid=10 tid=10 thread=0x7f00 hex=0200000000000000
		end
	END
	export_all
	for reader in chrome html stat; do
		printf '%s\n' new-10 old-10 >wanted
		threads_of "$reader" | prints wanted
	done
	jq -r '.traceEvents[] | select(.name == "process_name") | "\(.pid) \(.args.name)"' chrome >got
	printf '%s\n' '10 old' '10000010 new' | prints got
	jq -r '.traceEvents[] | select(.ph == "C") | "\(.pid) \(.args.counter)"' chrome >got
	printf '%s\n' '10 1' '10000010 2' | prints got
	page_data | jq -c '.threads[] | [.[0], .[4], .[5]]' >got
	printf '%s\n' '[10,0,"old"]' '[10,1,"new"]' | prints got
}

# A begin without an end must be drawn, even if a new process gets the id or if the thread has later
# events.
test_process_of_an_open_begin()
{
	write_log log <<-'END'
		host h
		name 65 req_begin
		name 66 tick
		task 10 10 0 old
		born 5000
		task 10 10 5000 new
		block 0
		event 65 1000 pid=10 tid=11 thread=0x7f00
		event 66 2000 pid=10 tid=11 thread=0x7f02
		event 66 9000 pid=10 tid=10 thread=0x7f01
		end
	END
	export_all
	page_data | jq -c '.threads[] | [.[1], .[3], .[4], .[5]]' | sort >got
	printf '%s\n' '["0x7f00",11,0,"old"]' '["0x7f01",10,1,"new"]' | prints got
	jq -r '.traceEvents[] | select(.name == "process_name") | "\(.pid) \(.args.name)"' chrome >got
	printf '%s\n' '10 old' '10000010 new' | prints got
}

# Kernel events show births and ends. The log has only one name.
test_events_begin_and_end_lives()
{
	write_log log <<-'END'
		classes all
		host h
		name 65 req_begin
		name 66 req_end
		task 10 10 0 main
		thread main 10 10 1
		thread other 10 11 2
		block 0
		kernel sched_process_fork 100 @main child_pid=10 child_tid=11
		event 65 1000 cpu=1 @other
		kernel sched_process_exit 2000 @other
		kernel sched_switch_out 2100 @other reason=ended
		kernel irq 2200 @other number=4 kind=irq
		kernel sched_process_fork 3000 cpu=0 @main child_pid=10 child_tid=11
		event 66 4000 cpu=1 @other
		event 65 4100 @other
		event 66 4300 @other
		end
	END
	posixtrace export -O chrome -o chrome log
	jq -r '.traceEvents[] | select(.ph == "X" and .cat == "user") | "\(.name) \(.ts) \(.dur * 1000 | round)"' \
		chrome >got
	prints got <<<'req 4 200'
	posixtrace stat --no-histogram log >got
	grep -q '^req .* 2$' got
	grep -q '^  unmatched: 1 without end, 1 without begin, 0 across a gap$' got
	[ "$(jq -r '.traceEvents[] | select(.name == "thread_name").args.name' chrome | grep -c '^thread 0x2: states$')" -eq 2 ]
}

# Before the first name of a thread in the log, its name is unknown, unless the thread had that name
# from its birth on.
test_no_later_name_is_shown()
{
	write_log log <<-'END'
		host h
		name 65 tick
		born 100
		task 10 10 100 first
		task 10 10 3000
		task 10 10 5000 last
		born 200
		task 10 11 4000 renamed
		program 10 4000 /bin/later
		block 0
		event 65 50 pid=10 tid=10 thread=1
		event 65 2999 pid=10 tid=10 thread=1
		event 65 3000 pid=10 tid=10 thread=1
		event 65 3999 pid=10 tid=11 thread=2
		event 65 4000 pid=10 tid=11 thread=2
		event 65 5000 pid=10 tid=10 thread=1
		end
	END
	posixtrace dump -j log | jq -r '"\(.ns + 50) \(.comm)"' >got
	printf '%s\n' '50 first' '2999 first' '3000 null' '3999 null' '4000 renamed' '5000 last' | prints got
}

# If a thread is renamed often, the log lacks some of its names, but the task_rename events contain
# them.
test_task_rename_gives_names()
{
	write_log log <<-'END'
		classes all
		host h
		name 65 tick
		born 100
		task 10 10 100 a
		task 10 10 300
		task 10 10 900 d
		thread main 10 10 1
		block 0
		event 65 200 @main
		kernel task_rename 300 @main oldcomm=a newcomm=b
		event 65 400 @main
		kernel task_rename 500 @main oldcomm=b newcomm=c
		event 65 600 @main
		kernel task_rename 900 @main oldcomm=c newcomm=d
		event 65 950 @main
		end
	END
	posixtrace dump -j log | jq -r '"\(.event) \(.comm)"' >got
	prints got <<-'END'
		tick a
		task_rename a
		tick b
		task_rename b
		tick c
		task_rename c
		tick d
	END
	# after a loss, the thread may have been renamed
	sed 's/^ *event 65 600/lost 1 550\nepoch\nblock 0\n&/' >script <<-'END'
		classes all
		host h
		name 65 tick
		born 100
		task 10 10 100 a
		task 10 10 300
		thread main 10 10 1
		block 0
		kernel task_rename 300 @main oldcomm=a newcomm=b
		event 65 600 @main
		end
	END
	write_log log <script
	run 0 posixtrace dump -j -f tick log
	[ "$(jq -r .comm out)" = null ]
}

test_no_state_after_the_end()
{
	write_log log <<-'END'
		classes all
		host h
		thread main 10 10 1
		thread late 10 11 2
		thread other 20 20 3
		task 10 10 0 main
		task 10 11 0 late
		task 20 20 0 other
		block 0
		kernel sched_switch_in 100 @main
		kernel sched_switch_in 110 cpu=1 @late
		kernel sched_process_exit 300 @late
		kernel sched_process_exit 400 cpu=0 @main group_dead=true
		kernel irq 450 @main number=4 kind=irq duration=10
		kernel page_fault 460 @main
		kernel irq 480 cpu=1 @late number=4 kind=irq duration=10
		kernel sched_switch_out 500 @late reason=ended
		kernel irq 510 @late number=4 kind=irq duration=10
		kernel sched_switch_in 10000 @other
		kernel sched_switch_out 20000 @other state=S reason=blocked
		end
	END
	run 0 posixtrace stat -S log
	awk '/ (main|late)-/ { print $2, $3, $4, $5, $6 }' out | sort >got
	prints got <<-'END'
		late-11 390 ns 390 ns
		main-10 300 ns 300 ns
	END
	posixtrace export -O html -o html log
	page_data | jq -c '.threads as $t | .events[] | select(.[0] == 6) | [$t[.[1]][2], .[3], .[3] + .[4]]' \
		>got
	grep -Fxq '["main-10",0,300]' got
	grep -Fxq '["late-11",10,400]' got
	[ "$(grep -c 'main-10\|late-11' got)" -eq 2 ]
}

# If a process does not execute a program while it is traced, it has the name of its main thread.
test_process_without_a_program()
{
	write_log log <<-'END'
		host h
		name 65 tick
		task 118 118 0 bash
		block 0
		event 65 1000 pid=118 tid=118 thread=1
		event 65 2000 pid=119 tid=119 thread=1
		end
	END
	export_all
	jq -r '.traceEvents[] | select(.name == "process_name").args.name' chrome >got
	printf '%s\n' bash 'process 119' | prints got
	page_data | jq -r '.threads[][5]' >got
	printf '%s\n' bash 'process 119' | prints got
}

run_cases
