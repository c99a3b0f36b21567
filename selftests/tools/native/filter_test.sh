#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests --filter of the commands that read logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# cache_log: writes the file log. The address of each event is its number.
cache_log()
{
	write_log log <<-'END'
		name 65 cache_op
		name 66 cache_miss
		name 67 idle
		name 68 with blank
		name 69 plain
		describe 65 { enum { get, set, put = 1, "two words" } op; u32 len; struct { i64 x; struct { u8 z; } y; } at; string key; }
		describe 66 { u64 big; f64 ratio; bool hit; x8 flags; u8 n; { u8 id; char name[4]; } list[n]; }
		block 0
		event 65 1 address=1 hex=000000000010000000000000000000000500000000000000616200
		event 65 2 address=2 hex=0100000001100000ffffffffffffffff00000000000000006b65793100
		event 65 3 address=3 hex=02000000000000000000000000000080070000000000000000
		event 66 4 address=4 hex=ffffffffffffffff000000000000e03f0110020161620000026b657900
		event 66 5 address=5 hex=0000000000000000000000000000f87f000000
		event 67 6 address=6
		event 68 7 address=7
		event 69 8 address=8 hex=01
		event 65 9 address=9 hex=0100000001100000 cut
		event 65 10 address=10 hex=01
		end
	END
}

# selects FILTER NUMBER...: checks which events the filter selects; if there are none, dump must
# fail
selects()
{
	local filter=$1 status=0
	shift
	[ -n "$*" ] || status=1
	run "$status" posixtrace dump --json --filter="$filter" log
	jq -r .address out | while read -r address; do echo $((address)); done | paste -sd' ' >got
	[ "$(cat got)" = "$*" ] || {
		echo "$filter: selects $(cat got), not $*"
		return 1
	}
}

test_names()
{
	cache_log
	selects 'cache_*' 1 2 3 4 5 9 10
	selects 'cache_op,idle' 1 2 3 6 9 10
	selects ' idle , plain ' 6 8
	selects '!cache_*' 6 7 8
	selects '! ! idle' 6
	selects '"with blank"' 7
	selects "'with*'" 7
	selects 'with?blank || idle' 6 7
	selects '[!cw]*' 6 8
	selects '*' 1 2 3 4 5 6 7 8 9 10
	selects 'nothing' ''
}

test_operators()
{
	cache_log
	selects 'cache_* && *_miss || idle' 4 5 6
	selects 'idle || cache_* && *_miss' 4 5 6
	selects '(idle || cache_*) && *_miss' 4 5
	selects 'cache_*,idle && !*_op' 4 5 6
	selects '!(cache_*||idle)&&!plain' 7
	selects 'idle && plain' ''
}

test_numbers()
{
	cache_log
	selects 'len > 4096' 2 9
	selects 'len >= 4096' 1 2 9
	selects 'len < 4096' 3
	selects 'len <= 0x1000' 1 3
	selects 'len != 4097' 1 3
	selects 'at.x == -1' 2
	selects 'at.x < 0' 2 3
	selects 'at.x <= -9223372036854775808' 3
	selects 'at.x > -0x1' 1
	selects 'at.x == -0' 1
	selects 'big == 18446744073709551615' 4
	selects 'big > 18446744073709551614' 4
	selects 'big > 1e3' 4
	selects 'big > 1e30' ''
	selects 'len == 010' ''
	selects 'flags == 0x10' 4
	selects 'at.x < 0.5 && len > 4096.5' 2
	selects 'hit == 1' 4
}

test_floats()
{
	cache_log
	selects 'ratio == 0.5' 4
	selects 'ratio < 1' 4
	selects 'ratio > -.5e1' 4
	# NaN
	selects 'ratio != 0.5' 5
	selects 'ratio > 1 || ratio <= 1' 4
}

test_enumerations_and_bools()
{
	cache_log
	selects 'op == get' 1
	selects 'op == set' 2 9
	selects 'op == put' 2 9
	selects 'op != set' 1 3
	selects 'op == "two words"' 3
	selects 'op >= set' 2 3 9
	selects 'op == 2' 3
	selects 'op ~ "*t"' 1 2 9
	selects 'op == nonsense || op != nonsense' ''
	selects 'hit == true' 4
	selects 'hit != true' 5
	selects 'hit == yes' ''
}

test_texts()
{
	cache_log
	selects 'key == "ab"' 1
	selects "key != 'ab'" 2 3
	selects 'key == ab' 1
	selects 'key == ""' 3
	selects 'key ~ "key?"' 2
	selects 'key ~ k*' 2
	selects 'key == "\x61b"' 1
	selects 'key == 5' ''
	selects 'len == "4096"' ''
}

# A condition on an array is true if one of its elements meets the condition.
test_members_and_arrays()
{
	cache_log
	selects 'at.y.z == 5' 1
	selects 'at.y == 5' ''
	selects 'list.id == 2' 4
	selects 'list.id == 3' ''
	selects 'list.name == "key"' 4
	selects 'list.name != "key"' 4
	selects 'z == 5' ''
}

# A condition on a field is false if the event lacks the field.
test_missing_fields()
{
	cache_log
	selects 'nothing != 1' ''
	selects '!(len > 4096)' 1 3 4 5 6 7 8 10
	selects 'cache_op && !(len > 4096)' 1 3 10
	selects 'plain && n == 1' ''
	# The data of event 4 are truncated, so the key is missing.
	selects 'key == "" || key != ""' 1 2 3
}

test_option_can_be_repeated()
{
	cache_log
	run 0 posixtrace dump --json --filter=idle --filter='len > 4096' log
	[ "$(jq -r .address out | paste -sd' ')" = '0x2 0x6 0x9' ]
	run 0 posixtrace dump --json --filter='cache_*' --exclude='*_op' log
	[ "$(jq -r .address out | paste -sd' ')" = '0x4 0x5' ]
}

test_format_file()
{
	cache_log
	echo 'plain { u8 n; }' >formats
	run 0 posixtrace dump --json --format-file=formats --filter='n == 1' log
	[ "$(jq -r .address out)" = 0x8 ]
}

test_stat()
{
	cache_log
	run 0 posixtrace stat --filter='cache_op && op == set' log
	grep -q "^events    2 user, 0 system;" out
}

test_export()
{
	cache_log
	for format in chrome perfetto html ctf; do
		run 0 posixtrace export --format=$format --filter='op == get || idle' --output=$format log
	done
	[ "$(jq -r '.traceEvents[] | select(.ph == "i") | .name' chrome | paste -sd' ')" = \
		'cache_op idle' ]
	[ "$(jq -r .otherData.events chrome)" -eq 2 ]
	[ "$(babeltrace2 ctf | wc -l)" -eq 2 ]
}

# An error is reported with its position, before the log is read.
test_errors()
{
	while IFS='|' read -r filter column message; do
		filter=${filter//%/|} message=${message//%/|}
		run 2 posixtrace dump --filter="$filter" nowhere
		complains "posixtrace: --filter: column $column: $message"
		run 2 posixtrace stat --filter="$filter" nowhere
		complains "posixtrace: --filter: column $column: $message"
		run 2 posixtrace export -O chrome --filter="$filter" nowhere
		complains "posixtrace: --filter: column $column: $message"
	done <<-'END'
		|1|expected a name or a condition, but the filter ends
		  |3|expected a name or a condition, but the filter ends
		a &&|5|expected a name or a condition, but the filter ends
		a & b|3|"&" is not an operator: write "&&"
		a %b|3|"%" is not an operator: write "%%"
		a b|3|expected "&&" or "%%" (got "b")
		a)|2|expected "&&" or "%%" (got ")")
		(a|3|expected "&&", "%%" or ")", but the filter ends
		()|2|expected a name or a condition (got ")")
		!|2|expected a name or a condition, but the filter ends
		a,|3|expected a name after the comma, but the filter ends
		a,(b)|3|expected a name after the comma (got "(")
		,a|1|expected a name or a condition (got ",")
		n = 5|3|"=" is not an operator: write "=="
		n ==|5|expected a number, a label or text in quotes, but the filter ends
		n == )|6|expected a number, a label or text in quotes (got ")")
		n == 12x|6|"12x" is neither a number nor a label: put text in quotes, and use ~ for patterns
		n == a*|6|"a*" is neither a number nor a label: put text in quotes, and use ~ for patterns
		n < "a"|5|text has no order: compare it with ==, != or ~
		"n" == 5|1|the name of a field needs no quotes
		a.b*.c == 5|3|"b*" cannot be the name of a field
		a..b == 5|3|"" cannot be the name of a field
		a.b.c.d.e.f.g.h.i == 1|1|more than 8 names with dots between them
		a == 5 < 6|8|expected "&&" or "%%" (got "<")
		a == "b|6|the closing quote is missing
		a > 5ms|1|a time with a unit needs NAME.duration of a scope (got "a")
		.duration > 5ms|1|a time with a unit needs NAME.duration of a scope (got ".duration")
		x && a.duration ~ 5ms|19|a duration is not text: compare it with <, > or ==
		a.duration > 5days|14|"5days" is neither a number nor a label: put text in quotes, and use ~ for patterns
		a.duration > -5ms|14|"-5ms" is neither a number nor a label: put text in quotes, and use ~ for patterns
		"a.duration" > 5|1|the name of a field needs no quotes
		a == "b\q"|8|unknown escape in quotes: use \\, \", \', \n, \t or \xNN
	END
}

test_limits()
{
	cache_log
	local deep many
	deep=$(printf '(%.0s' {1..64})idle$(printf ')%.0s' {1..64})
	selects "$deep" 6
	run 2 posixtrace dump --filter="($deep)" log
	complains 'posixtrace: --filter: column 65: more than 64 levels of "(" and "!"'
	run 2 posixtrace dump --filter="$(printf '!%.0s' {1..100000})" log
	many=$(printf 'x,%.0s' {1..511})idle
	selects "$many" 6
	run 2 posixtrace dump --filter="x,$many" log
	grep -q ': more than 1024 names, conditions and operators$' err
}

# scopes_log: writes the file log. The address of each event is its number. Thread 1 has scope a
# from 2 to 6, in it b:x from 3 to 5, and scope a from 7 without an end. Thread 2 has scope a from 4
# to 8.
scopes_log()
{
	write_log log <<-'END'
		cpus 1
		name 65 a_begin
		name 66 a_end
		name 67 b:x:begin
		name 68 b:x:end
		name 69 tick
		describe 65 { u8 op; }
		describe 66 { u8 status; }
		describe 69 { struct { u32 duration; } a; }
		block 0
		event 69 10000 address=1 thread=1 hex=05000000
		event 65 20000 address=2 thread=1 hex=01
		event 67 30000 address=3 thread=1
		event 65 40000 address=4 thread=2 hex=02
		event 68 50000 address=5 thread=1
		event 66 60000 address=6 thread=1 hex=07
		event 65 70000 address=7 thread=1 hex=01
		event 66 81000 address=8 thread=2 hex=08
		event 69 90000 address=9 thread=1 hex=06000000
		end
	END
}

test_durations_select_both_ends_in_order()
{
	scopes_log
	selects 'a.duration > 40us' 4 8
	selects 'a.duration >= 40us' 2 4 6 8
	selects 'a.duration == 41000ns' 4 8
	selects 'a.duration != 0.041ms' 2 6
	selects 'a.duration < 0.0000405s' 2 6
	selects 'a.duration <= 1us' ''
	selects 'b:x.duration <= 20us' 3 5
	selects '*.duration > 0ns' 2 3 4 5 6 8
	selects '"[!b]*.duration" > 0ns' 2 4 6 8
	selects 'a.duration > 40us || tick' 1 4 8 9
	# this also selects scopes that have not ended, and other events
	selects '!(a.duration > 40us)' 1 2 3 5 6 7 9
	selects '!(a.duration > 40us) && !(a.duration <= 40us)' 1 3 5 7 9
	# a number without a unit: then it is a condition on a field
	selects 'a.duration > 5' 9
}

# A condition on a field is true for a scope if either end has the field, but only if the filter
# also has a condition on a duration.
test_durations_with_other_conditions()
{
	scopes_log
	selects 'a.duration > 1us && op == 1' 2 6
	selects 'a.duration > 1us && op == 1 && status == 7' 2 6
	selects 'a.duration > 1us && op == 1 && status == 8' ''
	selects 'a.duration > 1us && !(status == 8)' 2 6
	selects 'a.duration > 1us && a_begin' 2 4
	selects 'status == 8' 8
}

test_durations_with_other_options()
{
	scopes_log
	selects_with()
	{
		local wanted=$1
		shift
		run 0 posixtrace dump --json --filter='*.duration > 1us' "$@" log
		[ "$(jq -r .address out | while read -r a; do echo $((a)); done | paste -sd' ')" = "$wanted" ]
	}
	selects_with '2 3 5 6' --tid=1
	selects_with '3 5' --tid=1 --exclude='a_*'
	# the scope is measured as a whole
	selects_with '4 5 6 8' --from=30us
	selects_with '2 3' --to=20us
	selects_with '1 2 3 4 5 6 8 9' --filter=tick
}

# The first event must wait for its end, but times are still relative to the first event.
test_durations_and_a_first_event_that_begins()
{
	write_log log <<-'END'
		name 65 a_begin
		name 66 a_end
		block 0
		event 65 1000000 address=1
		event 65 2000000 address=2
		event 66 3000000 address=3
		event 66 4000000 address=4
		end
	END
	run 0 posixtrace dump --json --filter='a.duration > 1ns' --to=1ms log
	[ "$(jq -r .address out | paste -s)" = $'0x1\t0x2' ]
}

# Scopes of unknown length: without a begin, across a loss, and across a stop.
test_durations_that_are_unknown()
{
	write_log log <<-'END'
		cpus 1
		name 65 a_begin
		name 66 a_end
		block 0
		event 66 1000 address=1 thread=1
		event 65 2000 address=2 thread=1
		epoch
		lost 1 2500
		block 0
		event 66 3000 address=3 thread=1
		event 65 4000 address=4 thread=1
		block 1
		event 3 5000
		event 2 6000
		epoch
		block 0
		event 66 7000 address=7 thread=1
		event 65 8000 address=8 thread=1
		event 66 9000 address=9 thread=1
		end
	END
	selects 'a.duration >= 0ns' 8 9
	selects 'a_* && !(a.duration >= 0ns)' 1 2 3 4 7
	run 0 posixtrace stat --filter='a.duration >= 0ns' log
	grep -qx 'lost      1 in 1 gap' out
	complains 'posixtrace: log: 1 event was lost: use a larger stream'
}

test_durations_of_system_calls_and_interrupts()
{
	write_log log <<-'END'
		classes syscall,irq
		host h
		thread A 10 10 0xa
		thread B 10 11 0xb
		since 1000000
		kernel syscall_entry 1000 cpu=0 @A nr=0 name=read args=3
		kernel syscall_entry 2000 cpu=0 @B nr=0 name=read args=4
		kernel irq 2500 cpu=0 @B duration=400 kind=irq name=disk
		kernel syscall_exit 3000 cpu=0 @A nr=0 result=-11
		kernel syscall_exit 9000 cpu=0 @B nr=0 result=1
		kernel syscall_entry 9500 cpu=0 @A nr=1 name=write
		end
	END
	times()
	{
		run 0 posixtrace dump --filter="$1" log
		awk '{ print $1 }' out | paste -sd' '
	}
	[ "$(times 'read.duration > 2us')" = '1.000 8.000' ]
	[ "$(times 'read.duration > 1us && result < 0')" = '0.000 2.000' ]
	[ "$(times 'read.duration > 1us && args == 4')" = '1.000 8.000' ]
	run 1 posixtrace dump --filter='write.duration > 0ns' log
	[ ! -s out ]
	[ "$(times 'irq.duration == 400ns')" = '1.500' ]
	run 0 posixtrace stat --filter='read.duration > 2us' log
	grep -qE '^read +1 +0 +7\.00 us ' out
}

# System calls of unknown length: across a loss, across a stop, and without an exit.
test_durations_of_system_calls_that_are_unknown()
{
	write_log log <<-'END'
		cpus 1
		classes syscall
		host h
		thread A 10 10 0xa
		thread B 11 11 0xb
		since 1000000
		kernel syscall_entry 1000 cpu=0 @A nr=0 name=read
		epoch
		lost 1 1001500
		kernel syscall_exit 2000 cpu=0 @A nr=0
		kernel syscall_entry 2500 cpu=0 @B nr=0 name=read
		block 1
		event 3 3000
		event 2 4000
		epoch
		kernel syscall_exit 5000 cpu=0 @B nr=0
		kernel syscall_entry 6000 cpu=0 @A nr=0 name=read
		kernel syscall_entry 7000 cpu=0 @A nr=0 name=read
		kernel syscall_exit 8000 cpu=0 @A nr=0
		end
	END
	run 0 posixtrace dump --json --filter='read.duration >= 0ns' log
	[ "$(jq -r .ns out | paste -sd' ')" = '6000 7000' ]
	run 0 posixtrace dump --json --filter='syscall_* && !(read.duration >= 0ns)' log
	[ "$(jq -r .ns out | paste -sd' ')" = '0 1000 1500 4000 5000' ]
}

# Both ends are selected, so exporters show the whole scope.
test_durations_in_exports()
{
	scopes_log
	for format in chrome perfetto html ctf; do
		run 0 posixtrace export --format=$format --filter='a.duration > 40us' --output=$format log
	done
	[ "$(jq -r '.traceEvents[] | select(.ph == "X") | "\(.name) \(.dur)"' chrome)" = 'a 41' ]
	[ "$(babeltrace2 ctf | wc -l)" -eq 2 ]
	run 0 posixtrace stat --filter='a.duration > 40us' log
	grep -qE '^a +1 +41\.0 us ' out
}

test_durations_need_a_log()
{
	scopes_log
	run 2 posixtrace dump --follow --filter='a.duration > 1us' log
	head -n 1 err | grep -qx 'posixtrace: --follow: a duration is known only at the end of its scope'
	run 2 posixtrace stat --filter='a.duration > 1us' 1
	head -n 1 err | grep -qx 'posixtrace: --filter: a duration is known at the end of its scope: record a log'
	for command in live record; do
		run 2 posixtrace $command --filter='a.duration > 1us' -- true
		complains 'posixtrace: --filter: a duration is known at the end of its scope: record a log'
		[ ! -e posixtrace.log ]
	done
}

test_durations_of_a_large_log_in_little_memory()
{
	make_log log 1000000 4 20 >/dev/null
	(ulimit -v 40000 && posixtrace stat --no-histogram --filter='work.duration > 0ns' log) >out
	(ulimit -v 40000 && posixtrace stat --no-histogram --filter='work_*' log) >all
	grep '^work  ' all | sed 's/ [0-9]*$//' >wanted
	grep '^work  ' out | sed 's/ [0-9]*$//' | diff -u wanted -
}

run_cases
