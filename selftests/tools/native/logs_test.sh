#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks invariants of thread states with check_states, in logs of real programs in logs/ and in
# random logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# random_log SEED: writes a log of threads that are born, run, wait and end on three processors. The
# ids of processes and threads are reused. Some events are missing, and a gap reports them.
random_log()
{
	awk -v seed="$1" '
	function event(type, rest) {
		if (rand() < missing) {
			print "epoch\nlost 1 " time "\nblock 0"
			return
		}
		print "kernel", type, time, "cpu=" cpu, who, rest
	}
	BEGIN {
		srand(seed)
		missing = seed % 4 * 0.02
		split("state=R,reason=preempted state=S,reason=blocked state=D,reason=io", out)
		print "cpus 4\nclasses all\nhost h\nblock 0"
		for (time = 100; time < 60000; time += int(rand() * 20)) {
			cpu = int(rand() * 3)
			if (!(cpu in running)) {
				pid = 10 + int(rand() * 4)
				tid = rand() < 0.5 ? pid : pid * 10 + int(rand() * 3)
				# an id is free after its thread has ended, or for a main thread,
				# after its process has ended
				if (tid in busy || tid in zombie)
					continue
				if (!(tid in alive))
					threads[pid]++
				alive[tid] = 1
				who = "pid=" pid " tid=" tid
				busy[tid] = 1
				running[cpu] = who
				id[cpu] = tid
				process[cpu] = pid
				event("sched_switch_in", "runnable=" int(rand() * 2) * 9)
				continue
			}
			who = running[cpu]
			what = rand()
			words = out[1 + int(rand() * 3)]
			sub(",", " ", words)
			if (what < 0.2) {
				event("irq", "duration=" int(rand() * 5) " number=1 kind=irq")
			} else if (what < 0.3) {
				event("page_fault", "")
			} else if (what < 0.4) {
				event("syscall_entry", "nr=1 name=write")
			} else if (what < 0.45) {
				tid = process[cpu] * 10 + int(rand() * 3)
				if (!(tid in alive)) {
					event("sched_process_fork", "child_pid=" process[cpu] " child_tid=" tid)
					alive[tid] = 1
					threads[process[cpu]]++
				}
			} else if (what < 0.9) {
				event("sched_switch_out", words)
				delete running[cpu]
				delete busy[id[cpu]]
			} else {
				pid = process[cpu]
				if (!--threads[pid]) {
					event("sched_process_exit", "group_dead=true")
					event("irq", "number=2 kind=irq")
					delete zombie[pid]
				} else {
					event("sched_process_exit", "")
					event("sched_switch_out", "state=X reason=ended")
					if (id[cpu] == pid)
						zombie[pid] = 1
				}
				delete alive[id[cpu]]
				delete running[cpu]
				delete busy[id[cpu]]
			}
		}
		print "end"
	}' | write_log log
}

test_real_programs()
{
	local log
	for log in "$native"/logs/*.log.xz; do
		xz -dc "$log" >"$(basename "$log" .xz)"
	done
	"$native/check_states" ./*.log
}

# finds CHANGE PATTERN: check_states must find the mistake, and nothing else
finds()
{
	run 1 "$native/check_states" --change "$1" nginx.log
	grep -v ' states of [0-9]* threads$' out >found
	grep -q -- "$2" found || { cat out; return 1; }
	lacks "$3" found
}

test_each_check_can_fail()
{
	xz -dc "$native/logs/nginx.log.xz" >nginx.log
	finds late-end ': a state until .* but it ended at' ' overlap$'
	finds overlap ': (.*) and (.*) overlap$' ' but it ended at '
	finds hole ': no state from [0-9]* to [0-9]*$' ' overlap$'
	finds processor '^nginx.log: cpu 0: .* overlap$' ' but it ended at '
	finds sum ': running for .* ns in stat, .* ns in the page$' ' overlap$'
}

# Thread 284 executed a program and ended. An interrupt was recorded after that.
test_the_thread_of_gitgc_that_ended()
{
	xz -dc "$native/logs/gitgc.log.xz" >log
	run 0 posixtrace stat -S log
	awk '/ git-284 / { print $3, $4, $5, $6; exit }' out >got
	prints got <<<'309 ms 272 ms'
}

test_random_events()
{
	local seed
	for ((seed = 1; seed <= 40; seed++)); do
		random_log "$seed"
		"$native/check_states" log
	done
}

run_cases
