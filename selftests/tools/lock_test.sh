#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests who holds the lock at each wait, with programs that report it themselves. For every mutex,
# the holder must be known. For other futexes, no holder may be shown. Prints TAP.

# shellcheck source=selftests/tools/command.sh
. ./command.sh
begin 3
log=$tmp/log

# record_locks ARGUMENT...: records a program without its system calls; the output of the program
# goes to the file truth
record_locks()
{
	posixtrace record --quiet --force --kernel=sched,process --size=16M -o "$log" -- \
		./lock_helper "$@" >"$tmp/truth" 2>"$tmp/err"
	status=$?
	sed 's/^/# /' "$tmp/err"
	[ "$status" -eq 0 ] && run 0 stat --states --all "$log" &&
		says '^lost +0$' &&
		awk '/HELD BY +WAITS FOR/ { on = 1; next } !NF { on = 0 }
			on { print $4, $2, $5 }' "$tmp/out" >"$tmp/locks"
}

# The addresses can be compared as text: the two in the file truth have the same number of digits,
# and so do all addresses between them.
count_others()
{
	awk 'NR == FNR { begin = $1; end = $2; next }
		length($1) == length(begin) && $1 "" >= begin && $1 "" < end {
			waits += $3
			if ($2 != "unknown") {
				named += $3
				print "# " $0
			}
		}
		END { print "# waits: " waits + 0 ", named: " named + 0
			exit named || waits < 50000 }' "$tmp/truth" "$tmp/locks"
}

# Every sixth mutex is robust. glibc marks robust mutexes like those shared between processes, so
# their holder may be unknown.
record_locks mutexes 1000 &&
	awk 'NR == FNR { truth[$1] = $2; robust += NR % 6 == 0; count++; next }
		$1 in truth && $2 == truth[$1] { right[$1]; next }
		$1 in truth && $2 != "unknown" { wrong++; print "# wrong: " $0 ", not " truth[$1] }
		END { for (address in right) named++
			print "# right: " named + 0 " of " count ", wrong: " wrong + 0
			exit count != 1000 || wrong || named * 100 < (count - robust) * 99 }' \
		"$tmp/truth" "$tmp/locks"
result holders_of_a_thousand_mutexes_are_named $?

run 0 why --tid="$(awk '/ waiter0-/ { sub(/.*-/, "", $2); print $2; exit }' "$tmp/out")" --all "$log" &&
	says ' blocked in futex, address 0x[0-9a-f]+, held by holder[0-3]-[0-9]+, woken by holder'
result why_tells_the_holder $?

record_locks others 11000 && count_others
result waits_for_anything_else_have_no_holder $?

finish
