#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace stat" with written logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

test_small_log()
{
	write_log log <<-'END'
		cpus 2
		name 65 job_begin
		name 66 job_end
		name 67 tick
		block 2
		event 2 1700000000000000000 pid=99
		block 0
		event 65 1700000000000001000 pid=100 thread=0x7f00
		event 65 1700000000000003000 pid=100 thread=0x7f00
		event 66 1700000000000004000 pid=100 thread=0x7f00
		event 66 1700000000000011000 pid=100 thread=0x7f00 cut
		block 1
		event 67 1700000000000002000 pid=100 thread=0x7f01
		event 67 1700000000000012000 pid=100 thread=0x7f01
		event 67 1700000000000032000 pid=100 thread=0x7f01
		epoch
		lost 7 1700000000000040000
		block 1
		event 67 1700000000000050000 pid=100 thread=0x7f01
		block 2
		event 3 1700000000100000000 pid=99
		end
	END
	run 0 posixtrace stat log
	prints out <<-'END'
		stream    of a test
		created   2023-11-14T22:13:20Z
		lost      7 in 1 gap
		events    8 user, 4 system; 1 with truncated data
		time      100 ms
		rate      80.00 /s

		EVENT                             COUNT        RATE  INTERVAL: p50       p90       p99       max
		tick                                  4    40.00 /s        10.1 us   20.0 us   20.0 us   20.0 us
		job_begin                             2    20.00 /s        2.00 us   2.00 us   2.00 us   2.00 us
		job_end                               2    20.00 /s        7.00 us   7.00 us   7.00 us   7.00 us
		posix_trace_overflow                  1    10.00 /s              -         -         -         -
		posix_trace_resume                    1    10.00 /s              -         -         -         -
		posix_trace_start                     1    10.00 /s              -         -         -         -
		posix_trace_stop                      1    10.00 /s              -         -         -         -

		   PROCESS            THREAD      COUNT        RATE     FIRST      LAST
		       100            0x7f00          4    40.00 /s   1.00 us   11.0 us
		       100            0x7f01          4    40.00 /s   2.00 us   50.0 us

		FROM BEGIN TO END                 COUNT     TOTAL       p50       p90       p99       max  UNMATCHED
		job                                   2   11.0 us   1.00 us   10.0 us   10.0 us   10.0 us          0

		job
		  [   512 ns,   1.02 us)          1 |########################################|
		  [  1.02 us,   2.05 us)          0 |                                        |
		  [  2.05 us,   4.10 us)          0 |                                        |
		  [  4.10 us,   8.19 us)          0 |                                        |
		  [  8.19 us,   16.4 us)          1 |########################################|
	END
	complains 'posixtrace: log: 7 events were lost: use a larger stream'
}

# A double cannot represent these integers. Values with both infinities have no mean.
test_integers_are_exact()
{
	write_log log <<-'END'
		name 65 n
		describe 65 { u64 id; i64 when; }
		name 66 f
		describe 66 { f64 x; }
		block 0
		event 65 1000 hex=15cd853dfe9c9717feffffffffffffff
		event 65 2000 hex=16cd853dfe9c9717351cdcdf02000000
		event 66 3000 hex=000000000000f07f
		event 66 4000 hex=000000000000f0ff
		event 66 5000 hex=000000000000f8ff
		end
	END
	run 0 posixtrace stat log
	grep -E '^(n|f): ' out | sed 's/  */ /g; s/ $//' >got
	prints got <<-'END'
		f: x 2 -inf - inf
		n: id 2 1700000000123456789 1.7e+18 1700000000123456790
		n: when 2 -2 6.1728394e+09 12345678901
	END
}

# pair NAME: prints count, total, p50 and unmatched events of a pair
pair()
{
	# not -v, which interprets backslashes
	NAME=$1 awk '/^FROM BEGIN TO END/ { on = 1; next }
		!NF { on = 0 }
		on && $1 == ENVIRON["NAME"] {
			sub(/^[^ ]+ +/, "")
			lines[++n] = sprintf("%s %s %s %s ", $1, $2 $3, $4 $5, $12)
			at = NR
		}
		on && $1 == "unmatched:" && NR == at + 1 {
			for (i = 2; i <= NF; i++)
				lines[n] = lines[n] $i
		}
		END { for (i = 1; i <= n; i++) print lines[i] }' out
}

test_threads_have_names()
{
	write_log log <<-'END'
		host of-a-test
		name 65 tick
		task 100 101 1700000000000000000 worker
		block 0
		event 65 1700000000000001000 pid=100 tid=101 thread=0x7f00
		event 65 1700000000000002000 pid=100 tid=101 thread=0x7f00
		event 65 1700000000000003000 pid=100 tid=102 thread=0x7f01
		end
	END
	run 0 posixtrace stat log
	grep -E '^ +100 ' out | sed -E 's/^ +//; s/ +/ /g' | cut -d' ' -f1-3 >threads
	prints threads <<-'END'
		100 worker-101 2
		100 0x7f01 1
	END
}

test_nested_pairs_are_matched_per_thread()
{
	write_log log <<-'END'
		cpus 1
		name 65 a_begin
		name 66 a_end
		name 67 b:begin
		name 68 b:end
		name 69 a:begin
		name 70 a:end
		block 0
		event 65 1000000 thread=1
		event 67 1000100 thread=1
		event 65 1000200 thread=1
		event 65 1000300 thread=2
		event 66 1000500 thread=1
		event 68 1000600 thread=1
		event 69 1000650 thread=1
		event 66 1000700 thread=1
		event 70 1000750 thread=1
		event 66 1001300 thread=2
		end
	END
	run 0 posixtrace stat log
	# thread 1 has durations of 300 and 700, thread 2 one of 1000
	[ "$(pair a | head -n 1)" = '3 2.00us 695ns 0 ' ]
	[ "$(pair b)" = '1 500ns 500ns 0 ' ]
	# a_begin and a:begin belong to different pairs
	[ "$(pair a | tail -n 1)" = '1 100ns 100ns 0 ' ]
	[ "$(grep -c '^a  ' out)" -eq 2 ]
}

test_pairs_that_overlap()
{
	write_log log <<-'END'
		cpus 1
		name 65 a_begin
		name 66 a_end
		name 67 b_begin
		name 68 b_end
		block 0
		event 65 1000
		event 67 2000
		event 66 4000
		event 68 7000
		end
	END
	run 0 posixtrace stat log
	[ "$(pair a)" = '1 3.00us 3.00us 0 ' ]
	[ "$(pair b)" = '1 5.00us 5.00us 0 ' ]
}

test_unmatched_begins_and_ends_are_counted()
{
	write_log log <<-'END'
		cpus 2
		name 65 a_begin
		name 66 a_end
		name 67 month_end
		block 0
		event 66 1000 thread=1
		event 65 2000 thread=1
		event 65 2500 thread=1
		event 66 3000 thread=1
		event 65 3500 thread=2
		event 66 3600 thread=3
		event 67 4000 thread=1
		epoch
		lost 1 5000
		block 0
		event 66 6000 thread=1
		event 65 7000 thread=1
		block 2
		event 3 8000
		event 2 9000
		epoch
		block 0
		event 66 10000 thread=1
		end
	END
	run 0 posixtrace stat log
	# a begin before the stop and an end after it do not match, because events may be missing
	# between them
	[ "$(pair a)" = '1 500ns 500ns 7 2withoutend,3withoutbegin,1acrossagap' ]
	# a type with the name of an end is not a pair if there is no begin type
	[ "$(pair month)" = '' ]
}

test_intervals_end_at_gaps()
{
	write_log log <<-'END'
		cpus 2
		name 65 tick
		block 0
		event 65 1000
		event 65 2000
		epoch
		lost 1 3000
		block 0
		event 65 100000
		event 65 101000
		block 2
		event 3 102000
		event 2 202000
		epoch
		block 0
		event 65 203000
		event 65 204000
		end
	END
	run 0 posixtrace stat log
	grep -qE '^tick +6 .* 1\.00 us +1\.00 us +1\.00 us +1\.00 us$' out
}

# Percentiles are accurate to 1/64. The intervals are 1 to 1000 us, in mixed order.
test_percentiles()
{
	awk 'BEGIN { print "cpus 1\nname 65 tick\nblock 0"; time = 1000000
		printf "event 65 %d\n", time
		for (i = 0; i < 1000; i++) { time += (i * 7 % 1000 + 1) * 1000; printf "event 65 %d\n", time }
		print "end" }' | write_log log
	run 0 posixtrace stat log
	read -r p50 p90 p99 max < <(awk '$1 == "tick" { print $5, $7, $9, $11 }' out)
	near() { awk -v is="$1" -v wanted="$2" 'BEGIN { exit !(is >= wanted * 63 / 64 && is <= wanted * 65 / 64) }'; }
	grep -qE '^tick +1001 .* us .* us .* us +1\.00 ms$' out
	near "$p50" 500
	near "$p90" 900
	near "$p99" 990
	[ "$max" = 1.00 ]
}

# Numbers have a range, and labels are counted. Data that do not match the description do not count.
test_fields()
{
	write_log log <<-'END'
		name 65 cache
		name 66 plain
		name 67 texts
		describe 65 { enum { get, set, alias = 1 } op; i16 delta "ms"; bool hit; f32 x; u8 n; { u8 y; } at[n]; string s; }
		describe 67 { text t; }
		block 0
		event 65 1 hex=00000000fbff01000000000000
		event 65 2 hex=010000000a00000000c03f02010700
		event 65 3 hex=010000000400010000c07f00626200
		event 65 4 hex=090000000000010000000000626200
		event 65 5 hex=09
		event 66 6 hex=01
		event 67 7 text=a
		end
	END
	run 0 posixtrace stat log
	sed -n '/^FIELD/,/^$/p' out | sed -E 's/ +/ /g' >fields
	prints fields <<-'END'
		FIELD COUNT MIN MEAN MAX UNIT
		cache: op = get 1
		cache: op = set 2
		cache: op = (other) 1
		cache: delta 4 -5 2.25 10 ms
		cache: hit = false 1
		cache: hit = true 3
		cache: x 3 0 0.5 1.5
		cache: n 4 0 0.5 2
		cache: at.y 2 1 4 7

	END
	run 0 posixtrace stat --filter='plain || texts' log
	lacks '^FIELD' out
}

test_filters()
{
	make_log log 10000 4 >counts
	run 0 posixtrace stat --filter='event-*' --exclude=event-3 log
	lacks '^work_\|^event-3 ' out
	grep -q "^event-1  *$(awk '$2 == "event-1" { print $1 }' counts) " out
	run 0 posixtrace stat -t 0x7f0001 log
	[ "$(grep -c ' 0x7f000. ' out)" -eq 1 ]
	run 1 posixtrace stat --from=1s log
	grep -q '^events    0 user, 0 system$' out
}

test_counts_of_a_large_log_in_little_memory()
{
	make_log log 1000000 4 20 >counts
	(ulimit -v 24000 && posixtrace stat log) >out
	awk '/^(work|event-)/ && $2 ~ /^[0-9]+$/ && !done[$1]++ && $1 != "work" { print $2, $1 }' out |
		sort >counted
	sort counts | diff - counted
	grep -q '^events    1000000 user, 0 system$' out
	[ "$(pair work | cut -d' ' -f1)" = "$(awk '$2 == "work_end" { print $1 }' counts)" ]
}

# There are more threads than stat counts separately, and each has an open begin.
test_threads_beyond_the_limit_are_counted_together()
{
	awk 'BEGIN { print "cpus 1\nname 65 a_begin\nname 66 a_end\nblock 0"
		for (i = 1; i <= 70000; i++) printf "event 65 %d thread=%d\n", 1000 * i, i
		print "event 66 80000000 thread=70000\nend" }' | write_log log
	(ulimit -v 100000 && posixtrace stat log) >out
	grep -qE '^ +and more threads: use --all$' out
	grep -qE '^ +all others +4465 ' out
	[ "$(grep -c ' 0x[0-9a-f]* ' out)" -eq 20 ]
	[ "$(pair a)" = '1 10.0ms 10.0ms 69999 69999withoutend,0withoutbegin,0acrossagap' ]
	run 0 posixtrace stat --all log
	[ "$(grep -c ' 0x[0-9a-f]* ' out)" -eq 65536 ]
}

test_hostile_names()
{
	write_log log <<-'END'
		cpus 1
		name 65 \x1b[31m\xff_begin
		name 66 \x1b[31m\xff_end
		block 0
		event 65 1000
		event 66 2000
		end
	END
	run 0 posixtrace stat log
	lacks $'[\x01-\x09\x0b-\x1f\x7f-\xff]' out
	[ "$(pair '\x1b[31m\xff')" = '1 1.00us 1.00us 0 ' ]
}

test_hostile_times()
{
	write_log log <<-'END'
		cpus 2
		name 65 a_begin
		name 66 a_end
		block 0
		event 65 1
		event 66 18446744073709551615
		event 65 18446744073709551615
		epoch
		block 0
		event 66 5
		end
	END
	run 0 posixtrace stat log
	grep -q '^time      18446744074 s$' out
	[ "$(pair a)" = '2 18446744074s 0ns 0 ' ]
}

test_log_without_events()
{
	echo end | write_log log
	run 0 posixtrace stat log
	tail -n 1 out | grep -qx 'events    0 user, 0 system'
	[ "$(head -n 1 err)" = \
		'posixtrace: log: no events: the program has no trace points, or did not reach one' ]
}

test_damaged_log()
{
	make_log log 2000 2 >/dev/null
	printf 'XXXX' | dd of=log bs=1 seek=20000 conv=notrunc status=none
	run 1 posixtrace stat log
	grep -qx 'damaged   1 place' out
	grep -qE '^event-1 +[1-9]' out
	complains 'posixtrace: log: the log is damaged in 1 place: events may be missing there'
}

# write_threads FORMAT LOG: one event for each of 40000 threads; FORMAT turns a number into an id
write_threads()
{
	{ echo 'name 65 tick'; echo 'since 1700000000000000000'; echo 'block 0'
		seq 40000 | awk -v format="$1" '
			{ printf "event 65 %d pid=%d tid=%d thread=" format "\n", $1, $1, $1, $1 }'
		echo end; } | write_log "$2"
}

# The writer of a log can choose process and thread ids. No choice may make all threads collide in
# the hash table.
test_no_threads_take_long_to_find()
{
	local TIMEFORMAT=%U took took_forged
	write_threads '0x7f%06x00' usual
	write_threads '0x%x0000000000' forged
	took=$({ time posixtrace stat usual >/dev/null; } 2>&1)
	took_forged=$({ time posixtrace stat forged >/dev/null; } 2>&1)
	run 0 posixtrace stat forged
	grep -qE '^tick +40000 ' out
	awk -v took="$took" -v forged="$took_forged" 'BEGIN { exit forged > 3 * took + 0.2 }'
}

test_wrong_calls()
{
	run 2 posixtrace stat 1 b
	run 2 posixtrace stat --nonsense a
	run 2 posixtrace stat --from=x a
	for seconds in 0 abc 1x -1 1000000; do
		run 2 posixtrace stat --seconds=$seconds 1
		complains "posixtrace: --seconds: must be a number from 1 to 999999 (got \"$seconds\")"
	done
	run 1 posixtrace stat no_such_file
	complains 'posixtrace: no_such_file: No such file or directory'
	run 0 posixtrace stat --help
	grep -q '^Usage: posixtrace stat ' out
}

run_cases
