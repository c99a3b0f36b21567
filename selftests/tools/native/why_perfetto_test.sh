#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compares the path of "posixtrace why" with the critical path that Perfetto's trace processor finds
# in the export of the same log, and with the paths in the export itself.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

trace_processor=$("$native/../../programs/trace_processor")
export trace_processor

real_logs()
{
	local log
	for log in "$native"/logs/*.log.xz; do
		xz -dc "$log" >"$(basename "$log" .xz)"
	done
}

test_real_logs_have_the_path_of_perfetto()
{
	real_logs
	# More than half of the path of redis is before another wait, where Perfetto's path differs.
	rm redis.log
	"$native/check_why" perfetto ./*.log
}

test_exported_paths_of_real_logs_are_those_of_why()
{
	real_logs
	"$native/check_why" slices ./*.log
}

# A request waits for a thread that it has created, and that thread waits for a thread of another
# process.
test_exported_path_has_waits_in_waits()
{
	write_log written.log <<-'END'
		classes all
		name 65 request_begin
		name 66 request_end
		host h
		task 100 100 1 <main>\x5c"
		task 100 101 1 worker
		task 200 200 1 server
		thread a 100 100 0x7f00
		thread b 100 101 0x7f01
		thread c 200 200 0x7f02
		since 1700000000000000000
		block 0
		event 65 1 @a
		kernel syscall_entry 10 cpu=2 @c nr=0 name=read args=3
		kernel sched_process_fork 50 cpu=0 @a child_pid=100 child_tid=101
		kernel syscall_entry 100 @a nr=202 name=futex args=0x1000
		kernel sched_switch_out 110 @a state=S reason=blocked
		kernel sched_wakeup 60 cpu=1 @b new=true by=thread waker_pid=@a waker_tid=@a
		kernel sched_switch_in 70 @b
		kernel sched_switch_out 200 @b state=D reason=io
		kernel sched_wakeup 400 cpu=2 @b by=thread waker_pid=@c waker_tid=@c target_cpu=1
		kernel sched_switch_in 450 cpu=1 @b runnable=50
		kernel sched_wakeup 700 @a by=thread waker_pid=@b waker_tid=@b
		kernel sched_switch_in 710 cpu=0 @a runnable=10
		kernel syscall_exit 810 @a nr=202
		event 66 901 @a
		end
	END
	"$native/check_why" slices written.log
}

run_cases
