#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the tables of "posixtrace top" with written logs, without a stream or a screen: top_tables
# counts the events in the same way as the command. Percentiles of times below 64 ns are exact.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# log: writes a log from a script that uses threads of process 100
log()
{
	{
		printf '%s\n' 'classes process' 'name 65 request_begin' 'name 66 request_end' \
			'name 67 tick' 'describe 65 { u32 size; }' 'host h' 'task 100 100 1 main' \
			'task 100 101 1 worker' 'thread a 100 100 0x7f00' 'thread b 100 101 0x7f01'
		[ ! -e types ] || cat types
		echo 'block 0'
		cat
	} | write_log log
}

# scope BEGIN END [SIZE [WORD]]: writes a request of thread a
scope()
{
	printf 'event 65 %d @a hex=%02x000000 %s\nevent 66 %d @a\n' "$1" "${3-0}" "${4-}" "$2"
}

# rows NAME: prints the rows with this name, with single blanks
rows()
{
	sed -nE "s/ +/ /g; s/^ //; /^$1 /p" out
}

ten_requests()
{
	local i
	for i in {1..10}; do
		scope $((i * 10000)) $((i * 10000 + i * 5))
	done
	echo 'event 67 200000 @a'
}

test_counts_rates_and_percentiles_are_exact()
{
	ten_requests | log
	run 0 top_tables log 1000000000
	# From 10 to 200 us, there are 10 scopes of 5, 10 ... 50 ns.
	prints <(rows request) <<-'END'
		request 10 52.6 k/s 27 ns 25 ns 50 ns 50 ns 10 52.6 k/s 27 ns 25 ns 50 ns 50 ns 0 0
	END
	prints <(rows tick) <<-'END'
		tick 1 5263 /s 1 5263 /s
	END
	rows events | grep -q '^events 110.5 k/s total 21 lost 0 (kernel)$'
}

test_interval_is_apart_from_the_total()
{
	{
		scope 1000 1010
		scope 2000 2030
		# This scope is in the second interval.
		scope 1002000 1002062
	} | log
	run 0 top_tables log 1000000
	prints <(rows request) <<-'END'
		request 2 2000 /s 20 ns 10 ns 30 ns 30 ns 2 2000 /s 20 ns 10 ns 30 ns 30 ns 0 0
		request 1 941.6 k/s 62 ns 62 ns 62 ns 62 ns 3 2997 /s 34 ns 30 ns 62 ns 62 ns 0 0
	END
}

test_interval_without_scopes_keeps_the_total()
{
	{
		scope 1000 1100
		echo 'event 67 1500000 @a'
	} | log
	run 0 top_tables log 1000000
	rows request | tail -n 1 | grep -q '^request 0 0.00 /s - - - - 1 667 /s 100 ns 100 ns 100 ns 100 ns 0 0$'
}

test_scopes_that_are_open_or_unmatched_have_no_duration()
{
	{
		echo 'event 66 1000 @a'
		echo 'event 65 2000 @a hex=00000000'
		echo 'event 65 2100 @b hex=00000000'
		echo 'event 66 2600 @b'
	} | log
	run 0 top_tables log 1000000
	rows request | grep -q '^request 1 .* 500 ns 500 ns 500 ns 1 1$'
}

test_losses_make_a_scope_unmatched()
{
	{
		echo 'event 65 2000 @a hex=00000000'
		echo 'lost 5 2100'
		echo 'block 0'
		echo 'event 66 3000 @a'
		scope 4000 4100
	} | log
	run 0 top_tables log 1000000
	rows request | grep -q '^request 1 .* 100 ns 0 2$'
}

test_a_scope_that_is_open_during_a_loss_is_not_open()
{
	{
		echo 'event 65 2000 @a hex=00000000'
		echo 'event 65 2100 @b hex=00000000'
		echo 'lost 5 2200'
		echo 'block 0'
		scope 4000 4100
		echo 'event 65 5000 @b hex=00000000'
	} | log
	run 0 top_tables log 1000000
	rows request | grep -q '^request 1 .* 100 ns 1 2$'
}

# Events are read in relaxed order: an end that follows the exec still has its duration.
test_a_scope_of_a_thread_that_has_ended_is_not_open()
{
	local event
	for event in exit exec; do
		{
			echo 'event 65 2000 @a hex=00000000'
			echo 'event 65 2100 @b hex=00000000'
			echo 'event 65 2200 @b hex=00000000'
			echo "kernel sched_process_$event 3000 @b"
		} >lines
		log <lines
		run 0 top_tables log 1000000
		rows request_begin | grep -q '^request_begin 3 '
		{ cat lines; echo 'event 66 4000 @a'; } | log
		run 0 top_tables log 1000000
		rows request | grep -q '^request 1 .* 2.00 us 0 2$'
	done
	{ cat lines; echo 'event 66 4000 @b'; echo 'event 66 4000 @b'; } | log
	run 0 top_tables log 1000000
	rows request | grep -q '^request 2 .* 1.90 us 1 0$'
}

test_names_that_are_only_half_a_scope_are_event_types()
{
	echo 'event 65 1000 @a hex=00000000' | log
	run 0 top_tables log 1000000
	[ -z "$(rows request)" ]
	rows request_begin | grep -q '^request_begin 1 '
}

# As in "posixtrace dump", a scope passes if one of its ends passes.
test_filter_selects_scopes_by_name_field_and_duration()
{
	{
		scope 1000 1100 1
		scope 2000 2400 2
		echo 'event 67 3000 @a'
	} | log
	run 0 top_tables log 1000000 rate tick
	rows tick | grep -q '^tick 1 '
	rows request | grep -q '^request 0 '
	run 0 top_tables log 1000000 rate 'size == 2'
	rows request | grep -q '^request 1 [^-]* 400 ns 400 ns 400 ns 400 ns '
	run 0 top_tables log 1000000 rate 'request.duration > 200ns'
	rows request | grep -q '^request 1 [^-]* 400 ns 400 ns 400 ns 400 ns '
	lacks '^tick' out
}

test_rows_are_sorted_by_the_column()
{
	printf '%s\n' 'name 70 short_begin' 'name 71 short_end' >types
	{
		scope 1000 1900
		scope 2000 2001
		for i in 1 2 3; do
			printf 'event 70 %d @a\nevent 71 %d @a\n' $((i * 3000)) $((i * 3000 + 100))
		done
	} | log
	order()
	{
		run 0 top_tables log 1000000 "$1"
		sed -nE 's/^(request|short) .*/\1/p' out | tr '\n' ' '
	}
	[ "$(order rate)" = 'short request ' ]
	[ "$(order total)" = 'short request ' ]
	[ "$(order mean)" = 'request short ' ]
	[ "$(order max)" = 'request short ' ]
	[ "$(order p50)" = 'short request ' ]
	[ "$(order name)" = 'request short ' ]
	[ "$(order -name)" = 'short request ' ]
}

test_names_cannot_reach_the_terminal()
{
	printf '%s\n' 'name 70 evil\x1b[2J' >types
	{
		echo 'event 70 1000 @a'
		echo 'state a 500 400 1 8 0 0 0 0 0 0 read'
	} | log
	run 0 top_tables log 1000000
	grep -qF 'evil\x1b[2J ' out
	lacks $'\e' out
}

test_thread_shows_its_events_state_and_call()
{
	{
		# flags USER and CALL; the second line also has SINCE
		echo 'state a 1500 1000 1 24 0 0 7 0 0 0 read'
		echo 'state b 1500 1300 0 11 3 0 0 0 0 0 none'
		echo 'event 67 2000 @a'
		echo 'event 67 2001 @a'
		echo 'event 67 2002 @b'
	} | log
	run 0 top_tables log 1000000
	sed -nE 's/ +/ /g; s/^ //; s/ [0-9.]+ [kM]?\/s//; /^100 /p' out >threads
	prints threads <<-'END'
		100 a-100 < 500 ns blocked (sleep) read(7, 0, 0)
		100 b-101 200 ns running on 3
	END
	# There are two events in 2 ns, and one more.
	grep -q ' a-100  *1000.00 M/s ' out
	grep -q ' b-101  *500.00 M/s ' out
}

test_threads_are_sorted_by_events()
{
	{
		echo 'state a 1500 1000 1 24 0 0 7 0 0 0 read'
		echo 'state b 1500 1300 1 24 0 0 7 0 0 0 read'
		echo 'event 67 2000 @a'
		echo 'event 67 2001 @b'
		echo 'event 67 2002 @b'
	} | log
	threads()
	{
		run 0 top_tables log 1000000 "$1"
		sed -nE 's/^ +100  ([ab])-.*/\1/p' out | tr '\n' ' '
	}
	[ "$(threads rate)" = 'b a ' ]
	[ "$(threads -rate)" = 'a b ' ]
}

# The command forgets threads if there are many: not in the middle of an interval.
test_many_threads_are_counted()
{
	{
		echo 'state a 1500 1000 1 24 0 0 7 0 0 0 read'
		awk 'BEGIN { for (i = 1; i <= 16384; i++) print "event 67", 2000 + i, "pid=100 tid=" 1000 + i }'
		awk 'BEGIN { for (i = 1; i <= 1000; i++) print "event 67", 30000 + i, "@a" }'
		echo 'event 67 1002500 @a'
		echo 'event 67 1003000 @a'
	} | log
	run 0 top_tables log 1000000
	grep ' a-100 ' out | sed -E 's/ +/ /g' >got
	cat got
	[ "$(wc -l <got)" -eq 2 ]
	lacks ' 0.00 /s ' got
}

run_cases
