#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests commands on programs that hang: such programs record no events, but their threads have
# states. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 12
mkfifo "$tmp/in" "$tmp/ready"

# hang WAY: starts the program, as process $hanging, and waits until its threads are blocked
hang()
{
	./hang_helper "$1" <"$tmp/in" >"$tmp/ready" &
	hanging=$!
	exec 3>"$tmp/in"
	read -r ready <"$tmp/ready" && [ "$ready" = hangs ]
}

# end_hang: ends the program
end_hang()
{
	exec 3>&-
	kill "$hanging"
	wait "$hanging"
}

# record_hanging: records the program until the log has its states
record_hanging()
{
	start record --quiet --force --kernel=sched,process -o "$tmp/log" --pid="$hanging"
	until_true grep -qs left "$tmp/log" && kill "$started" && ended 0
}

# If the kernel has CONFIG_SCHED_INFO, it knows since when a thread is blocked.
time='<? +[0-9.]+ [mun]?s'
[ -e /proc/self/schedstat ] || time='-'

# row THREAD REST: the table of blocked threads has such a row
row()
{
	says "^ +$hanging  $1-[0-9]+ +$time  +$2"
}

# attach: measures the states of the program
attach()
{
	run 0 stat --states --seconds=1 --all "$hanging"
}

for way in normal recursive errorcheck adaptive; do
	hang $way && attach && says 'STILL BLOCKED +TIME +HELD BY +IN$' &&
		row left 'right-[0-9]+ +futex\(0x[0-9a-f]+, FUTEX_[A-Z_|]+, .*\)$' &&
		row right 'left-[0-9]+ +futex\(0x[0-9a-f]+, FUTEX_[A-Z_|]+, .*\)$' &&
		row hang_helper 'read\(0, 0x[0-9a-f]+, [0-9]+\)$'
	result "deadlock_of_${way}_mutexes_names_both_owners" $?
	end_hang
done

hang inherit && attach && row left 'hang_helper-[0-9]+ +futex\(0x[0-9a-f]+, FUTEX_[A-Z_|]+, .*\)$' &&
	row right 'hang_helper-[0-9]+ +futex\(0x[0-9a-f]+, FUTEX_[A-Z_|]+, .*\)$'
result owner_of_a_mutex_with_priority_inheritance_is_named $?
end_hang

for way in rwlock condition semaphore; do
	hang $way && attach && row left 'unknown +futex\(0x[0-9a-f]+, FUTEX_[A-Z_|]+, .*\)$' &&
		row right 'unknown +futex\(0x[0-9a-f]+, FUTEX_[A-Z_|]+, .*\)$'
	result "${way}_has_no_owner" $?
	end_hang
done

hang normal && attach &&
	says "^ +$hanging  left-[0-9]+ +1\.[0-9]+ s +0 ns +0 ns +1\.[0-9]+ s +[0-9.]+ [mun]?s " &&
	says "^ +$hanging  left-[0-9]+ +futex +1 +1\.[0-9]+ s +1\.[0-9]+ s$" &&
	says "^ +$hanging  hang_helper-[0-9]+ +read +1 +1\.[0-9]+ s +1\.[0-9]+ s$"
result threads_without_events_are_blocked_all_the_time $?

# The same from a log: its states are those of the start.
record_hanging
run 0 stat --states --all "$tmp/log" && row left '[a-z][^ ]* +futex\(0x[0-9a-f]+, FUTEX_[A-Z_|]+, .*\)$' &&
	row right '[a-z][^ ]* +futex\(0x[0-9a-f]+, FUTEX_[A-Z_|]+, .*\)$' && row hang_helper 'read\(0, 0x[0-9a-f]+, [0-9]+\)$'
result log_has_the_calls_in_which_threads_are_blocked $?
end_hang

# A running thread is not blocked, so it is not in the table.
sh -c 'while :; do :; done' &
spinning=$!
run 0 stat --states --seconds=1 $spinning && ! says 'STILL BLOCKED' &&
	says "^ +$spinning  [a-z]+-$spinning +1\.[0-9]+ s +[0-9.]+ m?s "
result program_that_runs_is_not_blocked $?
kill $spinning
# Wait for it now: its end would interrupt the next open() of the pipe.
wait $spinning

hang normal
run_as_nobody 1 stat --states --seconds=1 "$hanging"
complains 'no permission to trace it'
result other_users_learn_nothing $?
end_hang

finish
