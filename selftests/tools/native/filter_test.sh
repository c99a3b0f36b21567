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

# selects FILTER NUMBER...: checks which events the filter selects
selects()
{
	local filter=$1
	shift
	run 0 posixtrace dump --json --filter="$filter" log
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

# A condition on an array is true if one element meets it.
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

# A condition on a field that the event lacks is false.
test_missing_fields()
{
	cache_log
	selects 'nothing != 1' ''
	selects '!(len > 4096)' 1 3 4 5 6 7 8 10
	selects 'cache_op && !(len > 4096)' 1 3 10
	selects 'plain && n == 1' ''
	# These data are cut: the key is missing.
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

run_cases
