#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace stat --diff" and "--json".
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# scopes LOG SEED [NAME COUNT DURATION]...: writes a log with COUNT scopes of each NAME. DURATION is
# an awk expression in ns, which may use the number i of the scope and rand().
scopes()
{
	local log=$1 seed=$2 type=65 names='' program='' begin end
	shift 2
	while [ $# -gt 0 ]; do
		begin=$type end=$((type + 1)) type=$((type + 2))
		names+="name $begin $1_begin"$'\n'"name $end $1_end"$'\n'
		program+="for (i = 0; i < $2; i++) {
			print \"event $begin\", t; t += int($3); print \"event $end\", t; t += 10 }
		"
		shift 3
	done
	{ printf 'cpus 1\n%sblock 0\n' "$names"
		awk -v seed="$seed" "BEGIN { srand(seed); OFMT = \"%d\"; t = 1000; $program }"
		echo end; } | write_log "$log"
}

# results TABLE: prints names and results of --diff for the logs a and b, in the order of the table
results()
{
	run 0 posixtrace stat --diff --json a b
	jq -r --arg table "$1" 'select(.table == $table) | "\(.name) \(.result)"' out
}

test_what_became_slower_comes_first()
{
	scopes a 1 same 500 'i * 100' slow 500 '50000 + i * 100' quick 500 '400000 + i' few 19 5 gone 30 7
	scopes b 2 same 500 '(499 - i) * 100' slow 600 '100000 + i * 200' quick 400 '200000 + i' few 100 9 new 30 7
	results scope >got
	prints got <<-'END'
		slow longer
		quick shorter
		same unclear
		few few
		gone only a
		new only b
	END
	run 0 posixtrace stat --diff a b
	complains
	sed -n '/^FROM/,/^$/p' out | sed -E 's/ +/ /g; s/ $//' >got
	prints got <<-'END'
		FROM BEGIN TO END COUNT TOTAL MEAN p50 p99 max B / A 99 % INTERVAL RESULT
		slow A 500 37.5 ms 75.0 us 74.8 us 99.3 us 99.9 us
		 B 600 95.9 ms 160 us 162 us 219 us 220 us 2.13 2.06 to 2.21 slower, > 99.99 %
		quick A 500 200 ms 400 us 400 us 400 us 400 us
		 B 400 80.1 ms 200 us 200 us 200 us 200 us 0.50 0.50 to 0.50 faster, > 99.99 %
		same A 500 12.5 ms 24.9 us 24.8 us 49.7 us 49.9 us
		 B 500 12.5 ms 24.9 us 24.8 us 49.7 us 49.9 us 1.00 0.91 to 1.10 not certain
		few A 19 95 ns 5 ns 5 ns 5 ns 5 ns
		 B 100 900 ns 9 ns 9 ns 9 ns 9 ns - - too few
		gone A 30 210 ns 7 ns 7 ns 7 ns 7 ns
		 B 0 - - - - - - - only in A
		new A 0 - - - - -
		 B 30 210 ns 7 ns 7 ns 7 ns 7 ns - - only in B
	END
	grep -qE '^A  a: 3098 user, 0 system events, 0 lost, [0-9.]+ ms$' out
}

# The durations have the same skewed distribution in both logs. Without a correction, 200 tests at 1
# % would find two differences.
test_chance_is_no_difference()
{
	local names=()
	for i in {1..200}; do
		names+=("s$i" 60 'exp(10 * rand())')
	done
	scopes a 11 "${names[@]}"
	scopes b 12 "${names[@]}"
	results scope | grep -c ' unclear$' >got
	prints got <<<200
}

# A single very long duration changes the mean, but proves nothing.
test_one_outlier_proves_nothing()
{
	scopes a 3 s 100 '1000 + 100 * rand()'
	scopes b 4 s 100 'i ? 1000 + 100 * rand() : 1000000000'
	results scope >got
	prints got <<<'s unclear'
	jq -e 'select(.table == "scope") | .b.mean_ns > 1000 * .a.mean_ns' out
}

# Computes the expected results from all pairs of durations.
test_probability_and_ratio_by_counting_pairs()
{
	scopes a 5 s 300 'exp(8 + 3 * rand())'
	scopes b 6 s 250 '1.25 * exp(8 + 3 * rand())'
	for log in a b; do
		posixtrace dump --json $log | jq -r '"\(.event) \(.ns)"' |
			awk '$1 == "s_begin" { begin = $2 } $1 == "s_end" { print $2 - begin }' >$log.ns
	done
	results scope
	jq -c 'select(.table == "scope")' out >row
	python3 - <<-'END'
		import json, math, statistics
		row = json.load(open("row"))
		a, b = ([int(line) for line in open(name)] for name in ("a.ns", "b.ns"))
		pairs = len(a) * len(b)
		longer = sum((y > x) + (y == x) / 2 for x in a for y in b)
		sigma = math.sqrt(pairs * (len(a) + len(b) + 1) / 12)
		p = math.erfc((abs(longer - pairs / 2) - 0.5) / sigma / math.sqrt(2))
		ratios = sorted(y / x for x in a for y in b)
		reach = 2.5758 * sigma
		wanted = {
		    "ratio": statistics.median(ratios),
		    "ratio_low": ratios[int(pairs / 2 - reach)],
		    "ratio_high": ratios[int(pairs / 2 + reach)],
		}
		print(row, p, wanted)
		assert abs(math.log10(row["p"]) - math.log10(p)) < 0.05 * abs(math.log10(p))
		for name, value in wanted.items():
		    assert abs(row[name] / value - 1) < 0.02, name
	END
}

test_system_calls_states_and_intervals_are_compared()
{
	local log
	for log in a b; do
		awk -v factor="$([ $log = a ] && echo 1 || echo 3)" 'BEGIN {
			print "classes syscall,sched\nhost h\nthread A 10 10 0xa\nsince 1000000"
			t = 1000
			for (i = 0; i < 30; i++) {
				print "kernel syscall_entry", t, "cpu=0 @A nr=0 name=read"
				print "kernel sched_switch_out", t + 10, "cpu=0 @A state=S reason=blocked"
				t += 100 * factor + i
				print "kernel sched_wakeup", t, "cpu=0 @A"
				print "kernel sched_switch_in", t + 5, "cpu=0 @A"
				print "kernel syscall_exit", t + 10, "cpu=0 @A nr=0 result=1"
				t += 1000
			}
			print "end" }' | write_log $log
	done
	results call >got
	prints got <<<'read longer'
	results state | LC_ALL=C sort >got
	prints got <<-'END'
		blocked in read longer
		runnable unclear
		running unclear
	END
	results event | grep sched_switch_in >got
	prints got <<<'sched_switch_in longer'
	run 0 posixtrace stat --diff a b
	grep -qE '^read +A +30 ' out
	grep -qE '^blocked in read +A +30 ' out
	grep -qE '^ +B +30 .* longer, > 99.99 %$' out
}

# Ids differ from run to run, so processes are compared by the names of their programs.
test_divided_logs_are_compared()
{
	local log pid
	for log in a b; do
		pid=$([ $log = a ] && echo 10 || echo 20)
		awk -v pid="$pid" 'BEGIN {
			print "cpus 1\nhost h\nname 65 a_begin\nname 66 a_end\ndescribe 65 { enum { get, set } op; }"
			print "program", pid, 1, "/bin/server\ntask", pid, pid, 1, "worker\nblock 0"
			for (i = 0; i < 60; i++) {
				print "event 65", 10000 * (i + 1), "pid=" pid " tid=" pid " hex=0" i % 2 "000000"
				print "event 66", 10000 * (i + 1) + 100 + i + (i % 2 ? 50 * pid : 0), "pid=" pid " tid=" pid
			}
			print "end" }' | write_log $log
	done
	by()
	{
		run 0 posixtrace stat --diff --json --by="$1" a b
		jq -r 'select(.table == "scope") | "\(.value) \(.a.times) \(.b.times) \(.result)"' out
	}
	by op >got
	prints got <<-'END'
		set 30 30 longer
		get 30 30 unclear
	END
	[ "$(by process)" = 'server 60 60 unclear' ]
	[ "$(by thread)" = 'worker 60 60 unclear' ]
	run 0 posixtrace stat --diff --by op a b
	grep -qE '^a +set +A +30 ' out
}

# The logs have different names of types, and the filter is applied to each of them.
test_filters_apply_to_both_logs()
{
	scopes a 1 x 30 5000 y 30 1000
	scopes b 2 y 30 1000 x 30 5000
	run 0 posixtrace stat --diff --json --filter='x.duration > 2us' a b
	jq -r 'select(.table == "scope") | "\(.name) \(.a.times) \(.b.times)"' out >got
	prints got <<<'x 30 30'
	run 0 posixtrace stat --diff --json --filter='y_*' a b
	jq -r 'select(.table == "scope") | "\(.name) \(.a.times) \(.b.times)"' out >got
	prints got <<<'y 30 30'
}

test_rows_that_are_not_shown_are_counted()
{
	local names=()
	for i in {1..25}; do
		names+=("s$i" 30 1000)
	done
	scopes a 1 "${names[@]}"
	run 0 posixtrace stat --diff a a
	[ "$(grep -c '^s[0-9]* ' out)" -eq 20 ]
	grep -qx 'and 5 more rows: use --all' out
	run 0 posixtrace stat --diff --all a a
	[ "$(grep -c '^s[0-9]* ' out)" -eq 25 ]
	lacks '^and ' out
}

test_json_has_the_numbers_of_the_tables()
{
	write_log log <<-'END'
		cpus 1
		name 65 a_begin
		name 66 a_end
		name 67 tick
		describe 65 { u64 id; string s; f64 x; u8 wait "ns"; }
		block 0
		event 65 1000 hex=ffffffffffffffff226100000000000000f83f07
		event 66 3000
		event 67 4000
		event 67 5000
		event 65 6000
		end
	END
	run 0 posixtrace stat --json log
	prints out <<-'END'
		{"table":"trace","user":5,"system":0,"lost":0,"first_ns":1000,"last_ns":6000}
		{"table":"event","name":"tick","count":2,"times":1,"total_ns":1000,"mean_ns":1000,"min_ns":1000,"p50_ns":1000,"p90_ns":1000,"p99_ns":1000,"max_ns":1000}
		{"table":"scope","name":"a","unmatched":1,"times":1,"total_ns":2000,"mean_ns":2000,"min_ns":2000,"p50_ns":2000,"p90_ns":2000,"p99_ns":2000,"max_ns":2000}
	END
	value()
	{
		run 0 posixtrace stat --json --by="$1" log
		jq -c 'select(.table == "scope") | [.value, .unit]' out | head -n 1
	}
	# readers would round the number
	[ "$(value id)" = '["18446744073709551615",null]' ]
	[ "$(value s)" = '["\"a",null]' ]
	[ "$(value x)" = '[1.5,null]' ]
	[ "$(value wait)" = '[7,"ns"]' ]
	jq -e 'select(.unmatched == 1) | .value == null and has("value")' out
}

test_wrong_operands_are_told()
{
	says()
	{
		run 2 posixtrace stat "${@:2}"
		complains "posixtrace: $1" 'posixtrace: see "posixtrace stat --help"'
	}
	says '--diff: needs two LOGs, not 1' --diff a
	says '--diff: needs two LOGs, not 3' --diff a b c
	says '--diff: needs a LOG (got PID "12")' --diff a 12
	says '--states: has no effect on --diff' --diff --states a b
	says '--seconds: needs a PID, not --diff' --diff --seconds=1 a b
	says '--kernel: needs a PID, not --diff' --diff --kernel=sched a b
	says '--json: has no effect on --states' --json --states a
	run 1 posixtrace stat --diff missing missing
	complains 'posixtrace: missing: No such file or directory'
	[ ! -s out ]
}

test_damage_of_one_log_is_told()
{
	make_log a 2000 2 >/dev/null
	cp a b
	printf 'XXXX' | dd of=b bs=1 seek=20000 conv=notrunc status=none
	run 1 posixtrace stat --diff a b
	complains 'posixtrace: b: the log is damaged in 1 place: events may be missing there'
	grep -q '^FROM BEGIN' out
}

run_cases
