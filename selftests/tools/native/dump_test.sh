#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace dump" with written logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# small_log FILE: writes a log with two CPUs, a gap and all kinds of data
small_log()
{
	write_log "$1" <<-'END'
		cpus 2
		name 65 tick
		name 66 tock
		block 2
		event 2 1700000000000000000 pid=100 thread=0x7f00
		block 0
		event 65 1700000000000001000 pid=100 thread=0x7f00 address=0x401000 text=hello\x00
		event 66 1700000000000002500 pid=100 thread=0x7f01 hex=dead01beef
		block 1
		event 65 1700000000000003000 pid=101 thread=0x7f02 cut text=a"b
		event 66 1700000000000004000 pid=101 thread=0x7f02 zeros=100
		epoch
		lost 7 1700000000000005000
		block 0
		event 64 1700000000000010000 pid=100 thread=0x7f00
		block 2
		event 3 1700000001000010000 pid=99 hex=01000000
		end
	END
}

# columns FILE: writes FILE.columns with single spaces between the columns
columns()
{
	sed -E 's/^ +//; s/ +/ /g' "$1" >"$1.columns"
}

test_events_are_printed_one_per_line()
{
	small_log log
	run 0 posixtrace dump log
	prints out <<-'END'
		         0.000     -      100          0x7f00  posix_trace_start
		         1.000     0      100          0x7f00  tick                     "hello"
		         2.500     0      100          0x7f01  tock                     dead01be ef
		         3.000     1      101          0x7f02  tick                     "a\"b" (truncated)
		         4.000     1      101          0x7f02  tock                     00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000... (100 bytes)
		         5.000     -        0               0  posix_trace_overflow
		        10.000     -        0               0  posix_trace_resume       (7 events lost)
		        10.000     0      100          0x7f00  posix_trace_unnamed_userevent
		   1000010.000     -       99               0  posix_trace_stop         (automatic: full)
	END
	complains 'posixtrace: log: 7 events were lost: use a larger stream'
}

# named_log FILE: writes a log with names of threads; one name changes
named_log()
{
	write_log "$1" <<-'END'
		host of-a-test
		name 65 tick
		task 100 101 1700000000000000000 first
		task 100 101 1700000000000002000 second
		task 100 102 1700000000000000000 bad\x1b[2J"
		program 100 1700000000000000000 /usr/bin/prog\x00--option
		block 0
		event 65 1700000000000001000 pid=100 tid=101 thread=0x7f00
		event 65 1700000000000002000 pid=100 tid=101 thread=0x7f00
		event 65 1700000000000003000 pid=100 tid=102 thread=0x7f01
		event 65 1700000000000004000 pid=100 tid=103 thread=0x7f02
		end
	END
}

test_threads_have_the_names_of_the_time()
{
	named_log log
	run 0 posixtrace dump log
	columns out
	prints out.columns <<-'END'
		0.000 0 100 first-101 tick
		1.000 0 100 second-101 tick
		2.000 0 100 bad\x1b[2J"-102 tick
		3.000 0 100 0x7f02 tick
	END
	run 0 posixtrace dump --json log
	jq -r '[.pid, .tid, .comm, .thread] | map(. // "-" | tostring) | join(" ")' out >names
	prints names <<-'END'
		100 101 first 0x7f00
		100 101 second 0x7f00
		100 102 bad\x1b[2J" 0x7f01
		100 - - 0x7f02
	END
	run 0 posixtrace dump --tid=101,0x7f02 log
	[ "$(wc -l <out)" -eq 3 ]
}

# A thread with the same id may now be in a different process.
test_a_thread_of_another_process_has_its_process()
{
	write_log log <<-'END'
		host machine
		task 100 101 0 same
		task 200 101 0 same
		name 65 tick
		block 0
		event 65 1000 pid=100 tid=101
		event 65 2000 pid=200 tid=101
		event 65 3000 pid=100 tid=101
		end
	END
	run 0 posixtrace dump log
	columns out
	prints out.columns <<-'END'
		0.000 0 100 same-101 tick
		1.000 0 200 same-101 tick
		2.000 0 100 same-101 tick
	END
}

test_policy_loop_gets_no_advice()
{
	{ echo 'policy loop'; echo 'name 65 tick'; echo 'lost 7 1700000000000000000'; echo 'block 0'
		echo 'event 65 1700000000000001000'; echo end; } | write_log log
	for command in 'dump' 'stat' 'export -O chrome'; do
		# shellcheck disable=SC2086 # words
		run 0 posixtrace $command log
		complains "posixtrace: log: 7 events are not in the log: the stream's policy is loop"
	done
}

# 2^53 ns are 104 days. Readers of JSON would round larger numbers.
test_json_has_no_number_that_readers_round()
{
	write_log log <<-'END'
		name 65 tick
		block 0
		event 65 1
		event 65 9007199254740992
		event 65 9007199254740993
		lost 9007199254740993 9007199254740994
		epoch
		block 0
		event 65 9007199254740995
		end
	END
	run 0 posixtrace dump --json -f tick log
	jq -c '[.ns, .lost]' out >got
	prints got <<-'END'
		[0,0]
		[9007199254740991,0]
		["9007199254740992",0]
		["9007199254740994","9007199254740993"]
	END
}

test_full_prints_all_bytes_of_the_data()
{
	small_log log
	run 0 posixtrace dump --full --from=4 --to=4 log
	[ "$(grep -o '00000000' out | wc -l)" -eq 25 ]
	grep -q ' 00000000$' out
}

test_clocks()
{
	small_log log
	run 0 posixtrace dump --clock=seconds --filter=tick log
	columns out
	prints out.columns <<-'END'
		1700000000.000001000 0 100 0x7f00 tick "hello"
		1700000000.000003000 1 101 0x7f02 tick "a\"b" (truncated)
	END
	run 0 posixtrace dump -c utc -f tick log
	columns out
	prints out.columns <<-'END'
		2023-11-14T22:13:20.000001000Z 0 100 0x7f00 tick "hello"
		2023-11-14T22:13:20.000003000Z 1 101 0x7f02 tick "a\"b" (truncated)
	END
	# time since the previous event that was printed
	run 0 posixtrace dump -c delta -f tick log
	columns out
	prints out.columns <<-'END'
		1.000 0 100 0x7f00 tick "hello"
		2.000 1 101 0x7f02 tick "a\"b" (truncated)
	END
	run 0 posixtrace dump -c relative -f tick log
	grep -q '^         3.000 ' out
}

# shown OPTION...: prints the type numbers of the events shown
shown()
{
	run 0 posixtrace dump --json "$@" log
	jq -r .type out | paste -sd' '
}

test_filters()
{
	small_log log
	[ "$(shown)" = '2 65 66 65 66 4 5 64 3' ]
	[ "$(shown -f tick)" = '65 65' ]
	[ "$(shown -f 't?ck')" = '65 66 65 66' ]
	[ "$(shown -f tick,tock)" = '65 66 65 66' ]
	[ "$(shown --filter=tick --filter=tock)" = '65 66 65 66' ]
	run 1 posixtrace dump -f nothing log
	[ ! -s out ]
	[ "$(shown -C 0)" = '65 66 64' ]
	[ "$(shown --cpu=1-8192)" = '65 66' ]
	[ "$(shown -x 'posix_*')" = '65 66 65 66' ]
	[ "$(shown -f 't*' -x tock)" = '65 65' ]
	[ "$(shown --exclude=tick,tock)" = '2 4 5 64 3' ]
	[ "$(shown -p 100)" = '2 65 66 64' ]
	[ "$(shown --pid=101,99)" = '65 66 3' ]
	[ "$(shown -t 0x7f02)" = '65 66' ]
	[ "$(shown --tid=32513,0x7f02)" = '66 65 66' ]
	[ "$(shown -p 100 -f tick)" = '65' ]
}

test_times()
{
	small_log log
	# the limits themselves are included, in each format
	[ "$(shown --from=2.5 --to=4)" = '66 65 66' ]
	[ "$(shown --from=2.501 --to=3.999)" = '65' ]
	[ "$(shown --from=2500ns --to=4us)" = '66 65 66' ]
	[ "$(shown --from=0.0025ms --to=0.000004s)" = '66 65 66' ]
	[ "$(shown --from=1s)" = '3' ]
	[ "$(shown --to=0)" = '2' ]
	[ "$(shown --from=@1700000000.0000025 --to=@1700000000.000004)" = '66 65 66' ]
	[ "$(shown --from=2023-11-14T22:13:20.0000025Z --to=2023-11-14T22:13:20.000004Z)" = '66 65 66' ]
	[ "$(shown --from=2023-11-14T22:13:21)" = '3' ]
	# times are relative to the first event even if that event is not shown
	[ "$(shown --from=1 --to=1)" = '65' ]
}

test_json()
{
	small_log log
	run 0 posixtrace dump --json log
	jq -c . out >checked
	[ "$(wc -l <checked)" -eq 9 ]
	sed -n 2p out | prints /dev/fd/3 3<<-'END'
		{"time":"1700000000.000001000","ns":1000,"event":"tick","type":65,"user":true,"pid":100,"thread":"0x7f00","address":"0x401000","cpu":0,"lost":0,"truncated":false,"data":"68656c6c6f00","text":"hello"}
	END
	[ "$(jq -c '[.cpu, .lost, .user, .truncated]' out | paste -sd' ')" = \
		'[null,0,false,false] [0,0,true,false] [0,0,true,false] [1,0,true,true] [1,0,true,false] [null,0,false,false] [null,7,false,false] [0,7,true,false] [null,7,false,false]' ]
	[ "$(jq -r 'select(.type == 66) | .data | length' out | paste -sd' ')" = '10 200' ]
}

# Names and data with bytes that would harm a terminal or a reader of JSON.
test_hostile_names_and_data()
{
	local i byte
	{
		echo 'cpus 1'
		printf 'name 65 \\x1b]0;owned\\x07\\x1b[31m\n'
		printf 'name 66 "},{"\\x5c\n'
		printf 'name 67 \\xff\\xfe\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\n'
		printf 'name 68 gr\\xc3\\xb6\\xc3\\x9fe \\xe2\\x80\\xae\\xc2\\x9b \n'
		printf 'name 69 two\\x0alines\\x0d\n'
		echo 'block 0'
		for i in 65 66 67 68 69; do
			for byte in 00 07 0a 0d 1b 22 5c 7f 80 9b c2 e2 ff; do
				echo "event $i 1700000000000000000 hex=41${byte}42"
				echo "event $i 1700000000000000000 text=x\\x$byte"
			done
			printf 'event %d 1700000000000000000 text=\\xc2\\x9b31m\n' "$i"
		done
		echo end
	} | write_log log
	run 0 posixtrace dump log
	[ "$(wc -l <out)" -eq 135 ]
	# no invalid characters, no control characters, no changes of text direction
	lacks $'[\x01-\x09\x0b-\x1f\x7f]' out
	iconv -f UTF-8 -t UTF-8 out >/dev/null
	lacks $'\xc2[\x80-\x9f]\|\xe2\x80[\xa8-\xae]' out
	grep -qF '\x1b]0;owned\x07\x1b[31m' out
	grep -qF '"},{"\\ ' out
	grep -qF '\xff\xfe\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80' out
	grep -qF 'größe \xe2\x80\xae\xc2\x9b' out
	grep -qF 'two\nlines\x0d' out

	run 0 posixtrace dump --json log
	[ "$(jq -c . out | wc -l)" -eq 135 ]
	iconv -f UTF-8 -t UTF-8 out >/dev/null
	lacks $'[\x01-\x09\x0b-\x1f\x7f]' out
	[ "$(jq -r 'select(.type == 66) | .event' out | head -n 1)" = "\"},{\"\\\\" ]
	[ "$(jq -r 'select(.type == 65) | .data' out | head -n 1)" = 410042 ]
}

# Times at the limits of 64 bits.
test_hostile_times()
{
	write_log log <<-'END'
		cpus 2
		block 0
		event 64 18446744073709551615 pid=-5 thread=0xffffffffffffffff
		block 1
		event 64 1 pid=2147483647
		end
	END
	run 0 posixtrace dump log
	columns out
	prints out.columns <<-'END'
		0.000 1 2147483647 0 posix_trace_unnamed_userevent
		18446744073709551.614 0 -5 0xffffffffffffffff posix_trace_unnamed_userevent
	END
	run 0 posixtrace dump --clock=utc log
	grep -q '^2554-07-21T23:34:33.709551615Z ' out
	run 0 posixtrace dump --json log
	[ "$(jq -r .time out | tail -n 1)" = 18446744073.709551615 ]
	[ "$(jq -r .pid out | tail -n 1)" = -5 ]
}

test_event_older_than_the_first()
{
	# the events of a forged log may be in the wrong order; they must be printed
	write_log log <<-'END'
		cpus 1
		block 0
		event 64 1700000000000005000
		epoch
		block 0
		event 64 1700000000000003500
		end
	END
	run 0 posixtrace dump log
	columns out
	prints out.columns <<-'END'
		0.000 0 4711 0 posix_trace_unnamed_userevent
		-1.500 0 4711 0 posix_trace_unnamed_userevent
	END
	run 0 posixtrace dump --from=0 log
	[ "$(wc -l <out)" -eq 1 ]
	run 0 posixtrace dump --to=0 log
	[ "$(wc -l <out)" -eq 2 ]
	run 0 posixtrace dump --json log
	[ "$(jq -r .ns out | paste -sd' ')" = '0 -1500' ]
}

test_colours_follow_option_terminal_and_environment()
{
	small_log log
	run 0 env TERM=xterm posixtrace dump log
	lacks $'\e' out
	run 0 env TERM=xterm posixtrace dump --color=always log
	[ "$(grep -c $'\e\\[36mtick ' out)" -eq 2 ]
	[ "$(grep -c $'\e\\[31mposix_trace_' out)" -eq 2 ]
	run 0 posixtrace dump --color=never log
	lacks $'\e' out
	run 2 posixtrace dump --color=pink log
	complains 'posixtrace: --color: must be auto, always or never (got "pink")'
	# a terminal
	export PAGER=cat
	TERM=xterm NO_COLOR='' script -qec 'posixtrace dump log' /dev/null >out </dev/null
	grep -q $'\e\\[36mtick ' out
	TERM=xterm NO_COLOR=1 script -qec 'posixtrace dump log' /dev/null >out </dev/null
	lacks $'\e' out
	TERM=dumb script -qec 'posixtrace dump log' /dev/null >out </dev/null
	lacks $'\e' out
}

test_damaged_log_shows_undamaged_events()
{
	make_log log 2000 2 >/dev/null
	run 0 posixtrace dump log
	mv out whole
	printf 'XXXX' | dd of=log bs=1 seek=20000 conv=notrunc status=none
	run 1 posixtrace dump log
	complains 'posixtrace: log: the log is damaged in 1 place: events may be missing there'
	[ "$(grep -c 'posix_trace_error *(the log is damaged here)$' out)" -eq 1 ]
	# all printed events must be from the undamaged log, and most of its events must be printed
	grep -v posix_trace_error out >left
	[ "$(wc -l <left)" -lt 2000 ]
	[ "$(wc -l <left)" -gt 1500 ]
	[ "$(diff whole left | grep -c '^>')" -eq 0 ]
}

test_cut_log_shows_undamaged_events()
{
	make_log log 3000 2 >/dev/null
	run 0 posixtrace dump log
	mv out whole
	truncate -s 50000 log
	run 0 posixtrace dump log
	complains 'posixtrace: log: the log has no end: it is still being written, or was cut short'
	[ -s out ]
	[ "$(diff whole out | grep -c '^>')" -eq 0 ]
}

test_files_that_are_not_logs_are_refused()
{
	small_log log
	run 1 posixtrace dump no_such_file
	complains 'posixtrace: no_such_file: No such file or directory'
	mkdir directory
	run 1 posixtrace dump directory
	complains 'posixtrace: directory: no logs in this directory'
	: >empty
	run 1 posixtrace dump empty
	complains 'posixtrace: empty: not a trace log, or its first 512 bytes are missing or damaged'
	head -c 511 log >short
	run 1 posixtrace dump short
	complains 'posixtrace: short: not a trace log, or its first 512 bytes are missing or damaged'
	# The version is the 32-bit number at byte 12.
	cp log old
	printf '\001\0\0\0' | dd of=old bs=1 seek=12 conv=notrunc 2>/dev/null
	run 1 posixtrace dump old
	complains 'posixtrace: old: a log of version 1; this command reads version 6'
	# A block of a type from a later version: its flags tell if it may be skipped.
	printf 'name 65 one\nunknown 1\nblock 0\nevent 65 1700000000000001000\nend\n' | write_log later
	run 0 posixtrace dump later
	[ "$(wc -l <out)" -eq 1 ]
	printf 'name 65 one\nunknown 0\nblock 0\nevent 65 1700000000000001000\nend\n' | write_log later
	run 1 posixtrace dump later
	complains 'posixtrace: later: has parts that only a later version of posixtrace can read'
	run 1 timeout 20 posixtrace dump /dev/zero
	complains 'posixtrace: /dev/zero: not a file or pipe'
	[ ! -s out ]
}

# described_log FILE: writes a log with descriptions of its event types
described_log()
{
	write_log "$1" <<-'END'
		name 65 all
		name 66 nested
		name 67 other
		name 68 wrong
		describe 65 { enum { get, "set it", neg = -5 } op; u64 time "ns"; u16 n; x32 sizes[n]; bool ok; f32 f; f64 d; char c; string s; text key; }
		describe 66 struct { u8 n; struct { i16 x "m"; i8 y; } at[2]; u8 m[2][3]; { u8 l; char name[l]; } names[n]; }
		describe 67 { u32 a; u64 big; }
		describe 68 { u33 a; }
		block 0
		event 65 1700000000000000001 hex=01000000102700000000000002000100000002000000010000c03f9a9999999999b93f61612200ff6c6c6f00
		event 65 1700000000000000002 hex=fbffffff00000000000000000000000000c07f00000000000000000000
		event 66 1700000000000000004 hex=02aa010002bb030004bb05060708090a026161016b
		event 67 1700000000000000005 hex=0102030405 cut
		event 67 1700000000000000006 hex=010203
		event 67 1700000000000000007 hex=01000000ffffffffffffffff
		event 68 1700000000000000008 hex=01
		end
	END
}

test_fields()
{
	described_log log
	run 0 posixtrace dump log
	cut -c 48- out >fields
	prints fields <<-'END'
		all                      op="set it" time=10000 ns n=2 sizes=[0x1,0x2] ok=true f=1.5 d=0.1 c="a" s="a\"" key="\xffllo"
		all                      op=neg time=0 ns n=0 sizes=[] ok=false f=nan d=0 c="" s="" key=""
		nested                   n=2 at=[{x=1 m y=2},{x=3 m y=4}] m=[[5,6,7],[8,9,10]] names=[{l=2 name="aa"},{l=1 name="k"}]
		other                    a=67305985 (truncated)
		other                    010203
		other                    a=1 big=18446744073709551615
		wrong                    01
	END
	run 0 posixtrace dump --json log
	jq -c '[.fields, .units]' out >fields
	prints fields <<-'END'
		[{"op":"set it","time":10000,"n":2,"sizes":["0x1","0x2"],"ok":true,"f":1.5,"d":0.1,"c":"a","s":"a\"","key":"\\xffllo"},{"time":"ns"}]
		[{"op":"neg","time":0,"n":0,"sizes":[],"ok":false,"f":"nan","d":0,"c":"","s":"","key":""},{"time":"ns"}]
		[{"n":2,"at":[{"x":1,"y":2},{"x":3,"y":4}],"m":[[5,6,7],[8,9,10]],"names":[{"l":2,"name":"aa"},{"l":1,"name":"k"}]},{"at.x":"m"}]
		[{"a":67305985},null]
		[null,null]
		[{"a":1,"big":"18446744073709551615"},null]
		[null,null]
	END
}

# Labels must be found in an enumeration of any size, even if they are not sorted.
test_labels()
{
	awk 'BEGIN {
		print "name 65 tick"
		printf "describe 65 { enum : i16 { last = 300, same = 7, least = -2, seven = 7"
		for (i = 10; i < 200; i++)
			printf ", is%d = %d", i, i
		print " } a; }"
		print "block 0"
		count = split("feff ffff 0700 0800 0a00 6300 c700 c800 2c01 2d01", values)
		for (i = 1; i <= count; i++)
			print "event 65", i * 1000, "hex=" values[i]
		print "end" }' | write_log log
	run 0 posixtrace dump log
	awk '{ print $NF }' out >labels
	prints labels <<-'END'
		a=least
		a=-1
		a=same
		a=8
		a=is10
		a=is99
		a=is199
		a=200
		a=last
		a=301
	END
}

# An invalid description must be parsed only once, not for each event: 60000 times would take
# minutes.
test_wrong_description_takes_no_time()
{
	awk 'BEGIN {
		letters = "abcdefghijklmnopqrstuvwxyz"
		for (i = 0; i < 1350; i++)
			labels = labels (i ? "," : "") substr(letters, int(i / 52) % 26 + 1, 1) \
				substr(letters toupper(letters), i % 52 + 1, 1)
		print "name 65 tick"
		print "describe 65 { enum { " labels " } a; "
		print "block 0"
		for (i = 0; i < 60000; i++)
			printf "event 65 17%08d000000000 hex=01\n", i
		print "end" }' | write_log log
	(ulimit -t 20 && run 0 posixtrace dump log && mv out lines)
	[ "$(wc -l <lines)" -eq 60000 ]
	[ "$(grep -c ' tick  *01$' lines)" -eq 60000 ]
}

# The list has the valid descriptions, in their shortest form.
test_list()
{
	described_log log
	write_log small <<-'END'
		name 65 first
		name 66 second
		describe 65 struct { u8 a "m\x5c\x22"; enum { "\x5cx09\xff" } n; }
		describe 66 { u8 a; enum { "\x5cx09" } n; # without an end
		end
	END
	run 0 posixtrace list log
	sed -n '/^event types:$/,$p' out >types
	prints types <<-'END'
		event types:
		    65  all  {enum{get,"set it",neg=-5}op;u64 time"ns";u16 n;x32 sizes[n];bool ok;f32 f;f64 d;char c;string s;text key;}
		    66  nested  struct{u8 n;struct{i16 x"m";i8 y;}at[2];u8 m[2][3];{u8 l;char name[l];}names[n];}
		    67  other  {u32 a;u64 big;}
		    68  wrong
	END
	run 0 posixtrace list small
	tail -n 2 out >types
	prints types <<-'END'
		    65  first  struct{u8 a"m\"";enum{"\x09\xff"}n;}
		    66  second
	END
}

# Without --full, long texts and many fields are cut.
test_long_fields()
{
	write_log log <<-END
		name 65 long
		describe 65 { string s; u8 n[200]; bool last; }
		block 0
		event 65 1 hex=$(printf '61%.0s' {1..60})00$(printf '02%.0s' {1..201})
		end
	END
	run 0 posixtrace dump log
	grep -q " s=\"$(printf 'a%.0s' {1..48})\"... n=\[2,2,.*2,2\.\.\. (262 bytes)\$" out
	[ "$(wc -c <out)" -lt 360 ]
	run 0 posixtrace dump --full log
	grep -q " s=\"$(printf 'a%.0s' {1..60})\" n=\[$(printf '2,%.0s' {1..199})2\] last=true\$" out
}

test_format_file()
{
	described_log log
	cat >formats <<-'END'
		# the format file overrides the description
		other { u64 a; u32 b; }
		wrong struct { i8 a; }
		nested { u8 n; }
		nothing { u8 n; }
	END
	run 0 posixtrace dump --format-file=formats log
	cut -c 48- out | tail -n 5 >fields
	prints fields <<-'END'
		nested                   02aa0100 02bb0300 04bb0506 0708090a 02616101 6b
		other                    01020304 05 (truncated)
		other                    010203
		other                    a=18446744069414584321 b=4294967295
		wrong                    a=1
	END
	complains \
		'posixtrace: formats:2: other: the fields have 12 bytes, an event has 3: shown as bytes' \
		'posixtrace: formats:4: nested: the fields have 1 bytes, an event has 21: shown as bytes' \
		'posixtrace: formats:5: nothing: the log has no such user event type'
	echo 'other { u64 a; u33 b; }' >formats
	run 1 posixtrace dump --format-file=formats log
	complains 'posixtrace: formats:1: unknown type "u33"'
	[ ! -s out ]
}

test_wrong_calls()
{
	small_log log
	run 2 posixtrace dump --nonsense log
	run 2 posixtrace dump --clock=sun log
	complains 'posixtrace: --clock: must be relative, delta, seconds or utc (got "sun")'
	run 2 posixtrace dump --filter= log
	complains 'posixtrace: --filter: column 1: expected a name or a condition, but the filter ends'
	run 2 posixtrace dump --filter=a,,b log
	complains 'posixtrace: --filter: column 3: expected a name after the comma (got ",")'
	run 2 posixtrace dump --exclude=a,,b log
	complains 'posixtrace: --exclude: must be names separated by single commas (got "a,,b")'
	run 2 posixtrace dump --pid=x log
	complains 'posixtrace: --pid: must be numbers up to 2147483647, separated by commas (got "x")'
	run 2 posixtrace dump --pid=-1 log
	run 2 posixtrace dump --pid=1, log
	run 2 posixtrace dump --pid=2147483648 log
	run 2 posixtrace dump --cpu=3-1 log
	complains 'posixtrace: --cpu: must be numbers or ranges up to 8192, separated by commas (got "3-1")'
	run 2 posixtrace dump --cpu=8193 log
	run 2 posixtrace dump --pid=1-2 log
	run 2 posixtrace dump --tid=0x log
	complains 'posixtrace: --tid: must be numbers up to 64 bits, separated by commas (got "0x")'
	local date
	for date in 2023-02-30 2023-02-29 2023-04-31 2023-01-00 2023-13-01; do
		run 2 posixtrace dump --from="${date}T00:00:00Z" log
		run 2 posixtrace dump --to="${date}T00:00:00.5" log
	done
	run 2 posixtrace dump --from=2023-02-28T24:00:00Z log
	run 0 posixtrace dump --to=2024-02-29T23:59:59Z log
	run 2 posixtrace dump --from=5q log
	complains 'posixtrace: --from: must be a time such as 1234.5 (us), 2.5s, @SECONDS or 2026-01-31T12:00:00Z (got "5q")'
	run 2 posixtrace dump --from=-1 log
	run 2 posixtrace dump --from=@ log
	run 2 posixtrace dump --from=18446744073709551616ns log
	run 2 posixtrace dump --to=2023-11-14T22:13:20.5x log
	run 2 posixtrace dump --to= log
	complains 'posixtrace: --to: must be a time such as 1234.5 (us), 2.5s, @SECONDS or 2026-01-31T12:00:00Z (got "")'
	[ ! -s out ]
	run 0 posixtrace dump --help
	grep -q '^Usage: posixtrace dump ' out
}

test_full_standard_output_is_a_failure()
{
	make_log log 20000 >/dev/null
	run 1 sh -c 'posixtrace dump log >/dev/full'
	complains 'posixtrace: standard output: No space left on device'
}

# The log grows until its end is written.
test_follow_until_the_end()
{
	local reader
	make_log whole 4000 2 >/dev/null
	run 0 posixtrace dump whole
	mv out wanted
	head -c 60000 whole >log
	posixtrace dump --follow log >out 2>err &
	reader=$!
	# dump has read all events so far, and waits
	until grep -q ' event-' out; do
		kill -0 $reader
	done
	head -c 110000 whole | tail -c +60001 >>log
	tail -c +110001 whole >>log
	wait $reader || { cat err; return 1; }
	complains
	# events that were flushed late may be printed late, but all events must be printed
	diff <(sort wanted) <(sort out)
}

test_follow_until_a_signal()
{
	local reader
	make_log whole 4000 2 >/dev/null
	head -c 60000 whole >log
	posixtrace dump --follow log >out 2>err &
	reader=$!
	until grep -q ' event-' out; do
		kill -0 $reader
	done
	kill -TERM $reader
	wait $reader || { cat err; return 1; }
	complains 'posixtrace: log: the log has no end: it is still being written, or was cut short'
}

# started_log FILE [LINE]: writes a log of two events, without an end; LINE is put first
started_log()
{
	printf '%s\n' "${2-cpus 2}" 'cookie 1' 'name 65 tick' 'name 66 tock' 'block 0' \
		'event 65 1700000000000001000' 'event 66 1700000000000002000' | write_log "$1"
}

# next_log FILE [LINE]: writes a complete log of 300 events; the ids of the types are swapped
next_log()
{
	local i
	{
		printf '%s\n' "${2-cpus 2}" 'cookie 2' 'name 65 tock' 'name 66 tick' 'block 0'
		for i in {1..150}; do
			printf 'event 65 %d\nevent 66 %d\n' $((1700000001000000000 + 2 * i)) \
				$((1700000001000000001 + 2 * i))
		done
		echo end
	} | write_log "$1"
}

# follow LINES [OPTION]...: starts dump --follow of the file log as process $reader, and waits until
# it has printed LINES lines
follow()
{
	local lines=$1
	shift
	: >out
	posixtrace dump --follow "$@" log >out 2>err &
	reader=$!
	has_lines "$lines" out
}

# has_lines NUMBER FILE: waits until the reader has written NUMBER lines to FILE; kills the reader
# after a timeout
has_lines()
{
	local limit=$((SECONDS + 20))
	until [ "$(wc -l <"$2")" -ge "$1" ]; do
		kill -0 "$reader"
		[ "$SECONDS" -lt "$limit" ] || { kill "$reader"; wait "$reader" || :; cat err; return 1; }
		sleep 0.01
	done
}

cleared='posixtrace: log: the log was cleared; the events of the new log follow'

# follows_new [OPTION]...: the reader must exit, and must have printed the file old and the events
# of the file new
follows_new()
{
	timeout 20 tail --pid="$reader" -f /dev/null || { kill "$reader"; wait "$reader" || :; cat err; return 1; }
	wait "$reader" || { cat err; return 1; }
	complains "$cleared"
	mv out followed
	run 0 posixtrace dump "$@" new
	cat old out | prints followed
}

# posix_trace_clear() truncates the file, and restarts it with another cookie.
test_follow_a_log_that_is_cleared()
{
	local reader
	started_log log
	next_log new
	follow 2
	cp out old
	cat new >log
	follows_new
	# The new log has different event types and a different first event.
	started_log log
	follow 1 --filter=tick --exclude=tock --to=0.1
	cp out old
	cat new >log
	follows_new --filter=tick --exclude=tock --to=0.1
	[ "$(wc -l <out)" -eq 50 ]
}

# The new log ends at the offset where the old log ended.
test_follow_a_log_that_is_cleared_and_not_larger()
{
	local reader
	started_log log
	{ printf '%s\n' 'cpus 2' 'cookie 2' 'name 65 tick' 'block 0' 'event 65 1700000000000003000'
		echo end; } | write_log new
	follow 2
	cp out old
	cat new >log
	follows_new
}

test_follow_waits_for_the_whole_header_of_a_cleared_log()
{
	local reader
	started_log log
	next_log new
	follow 2
	cp out old
	: >log
	head -c 500 new >>log
	has_lines 1 err
	tail -c +501 new >>log
	follows_new
	# The signal arrives before the header of the new log is complete.
	started_log log
	follow 2
	head -c 500 new >log
	has_lines 1 err
	kill -TERM "$reader"
	wait "$reader" || { cat err; return 1; }
	complains "$cleared"
}

# loop_log FILE COOKIE TIME STATUS: writes a LOOP log with one event, and "flushed" or "end"
loop_log()
{
	printf '%s\n' 'ring 65536' "cookie $2" 'name 65 tick' 'block 0' "event 65 $3" "$4" |
		write_log "$1"
}

# The header is written first, so for a moment the file has the new header and the status of the old
# log.
test_follow_a_log_with_policy_loop_that_is_cleared()
{
	local reader
	loop_log log 1 1700000000000001000 flushed
	loop_log new 2 1700000000000003000 end
	follow 1
	cp out old
	dd if=new of=log bs=512 count=1 conv=notrunc status=none
	has_lines 1 err
	sleep 0.1
	# names are written before events; the final status comes last, into the 576 bytes before
	# the names
	dd if=new of=log bs=64 skip=9 seek=9 conv=notrunc status=none
	dd if=new of=log bs=64 count=9 conv=notrunc status=none
	follows_new
}

# The reader must continue with the file that it has opened.
test_follow_a_log_whose_name_another_file_gets()
{
	local reader
	make_log whole 4000 2 >/dev/null
	run 0 posixtrace dump whole
	mv out wanted
	head -c 60000 whole >log
	next_log new
	exec 3>>log
	follow 100
	mv new log
	tail -c +60001 whole >&3
	wait "$reader" || { cat err; return 1; }
	complains
	diff <(sort wanted) <(sort out)
}

# dump must print more than a million events with a few megabytes of memory.
test_large_log_in_little_memory()
{
	make_log log 1900000 4 >/dev/null
	[ "$(stat -c %s log)" -gt 30000000 ]
	(ulimit -v 24000 && posixtrace dump log) | wc -l >lines
	[ "$(cat lines)" -eq 1900000 ]
	(ulimit -v 24000 && posixtrace dump --json log) | tail -n 1 | jq -e '.ns > 0'
}

test_events_of_the_kernel()
{
	write_log log <<-'END'
		cpus 2
		classes all
		host of-a-test
		name 65 work
		task 100 100 1700000000000000000 main
		task 100 101 1700000000000000000 worker
		thread main 100 100 0x7f00
		thread worker 100 101 0x7f01
		since 1700000000000000000
		block 0
		event 65 0 @main
		kernel syscall_entry 1000 @main nr=0 args=3,0x1000,64 name=read
		kernel sched_switch_out 2000 @main prio=120 state=S reason=blocked next_tid=@worker next_prio=120
		kernel sched_switch_in 3000 @worker prio=120 runnable=600 prev_tid=@main prev_prio=120
		kernel page_fault 4000 @worker user=true write=1 address=0x7f1234 ip=0x401000
		kernel irq 5000 @worker number=24 duration=70 name=virtio0
		kernel irq 6000 @worker number=1 duration=20 kind=softirq nested=true name=timer
		kernel sched_wakeup 7000 cpu=1 @main target_cpu=1 by=thread waker_pid=@worker waker_tid=@worker
		kernel sched_migrate_task 8000 cpu=0 @main dest_cpu=1
		kernel sched_switch_in 9000 cpu=1 @main
		event 65 9500 @main
		kernel syscall_exit 10000 @main result=-4 name=read
		kernel signal_generate 11000 cpu=0 @main sig=SIGUSR1 code=-6 by=thread group=true result=ignored sender_pid=@worker sender_tid=@worker
		kernel signal_deliver 12000 cpu=1 @main sig=SIGSYS action=handler flags=0x14000000
		kernel sched_process_fork 13000 @main child_pid=200 child_tid=201
		kernel sched_process_exec 14000 @main filename=/bin/a\x20b
		kernel task_rename 15000 @main oldcomm=main newcomm=other
		kernel sched_process_exit 16000 @main exit_code=256 group_dead=true
		kernel sched_switch_out 17000 @main state=X reason=ended
		end
	END
	run 0 posixtrace dump log
	prints out <<-'END'
		         0.000     0      100  main-100            work
		         1.000     0      100  main-100            syscall_entry            read(3, 0x1000, 64)
		         2.000     0      100  main-100            sched_switch_out         tid=100 prio=120 state=S reason=blocked next_tid=101 next_prio=120
		         3.000     0      100  worker-101          sched_switch_in          tid=101 prio=120 runnable=600 ns prev_tid=100 prev_prio=120
		         4.000     0      100  worker-101          page_fault               tid=101 user=true write=true exec=false protection=false address=0x7f1234 ip=0x401000
		         5.000     0      100  worker-101          irq                      tid=101 number=24 duration=70 ns kind=irq nested=false name="virtio0"
		         6.000     0      100  worker-101          irq                      tid=101 number=1 duration=20 ns kind=softirq nested=true name="timer"
		         7.000     1      100  main-100            sched_wakeup             tid=100 prio=0 target_cpu=1 by=thread new=false waker_pid=100 waker_tid=101
		         8.000     0      100  main-100            sched_migrate_task       tid=100 prio=0 orig_cpu=0 dest_cpu=1
		         9.000     1      100  main-100            sched_switch_in          tid=100 prio=0 runnable=0 ns prev_tid=0 prev_prio=0
		         9.500     1      100  main-100            work
		        10.000     1      100  main-100            syscall_exit             read = -4 EINTR
		        11.000     0      100  main-100            signal_generate          tid=100 sig=SIGUSR1 code=-6 by=thread group=true result=ignored sender_pid=100 sender_tid=101
		        12.000     1      100  main-100            signal_deliver           tid=100 sig=SIGSYS code=0 action=handler flags=0x14000000
		        13.000     1      100  main-100            sched_process_fork       tid=100 child_pid=200 child_tid=201
		        14.000     1      100  main-100            sched_process_exec       tid=100 filename="/bin/a b"
		        15.000     1      100  main-100            task_rename              tid=100 oldcomm="main" newcomm="other"
		        16.000     1      100  other-100           sched_process_exit       tid=100 exit_code=256 group_dead=true
		        17.000     1      100  other-100           sched_switch_out         tid=100 prio=0 state=X reason=ended next_tid=0 next_prio=0
	END
	complains
	posixtrace dump --json log | grep -c '"user":false.*"fields":{"tid":10[01]' >count
	[ "$(cat count)" -eq 17 ]
	# a filter on the fields
	run 0 posixtrace dump --filter='sched_* && reason == blocked || irq && nested == true' log
	[ "$(wc -l <out)" -eq 2 ]
	# only one class, and no descriptions
	write_log log <<-'END'
		classes irq bare
		block 0
		kernel irq 1000 duration=70
		kernel page_fault 2000
		end
	END
	run 0 posixtrace dump log
	prints out <<-'END'
		         0.000     0     4711               0  irq                      67120000 00000000 46000000 00000000 0000
		         1.000     0     4711               0  (type 26)                67120000 00000000 00000000 00000000 00000000 00000000
	END
}

# The advice must fit the loss: a larger stream would not help if the disk is full.
test_advice_for_losses()
{
	local end advice
	while IFS='|' read -r end advice; do
		printf '%s\n' 'name 65 tick' 'block 0' 'event 65 1700000000000000000' epoch \
			'lost 7 1700000000000005000' 'block 0' 'event 65 1700000000000010000' "$end" |
			write_log log
		run 0 posixtrace dump log
		head -n 1 err >first
		prints first <<<"posixtrace: log: 7 events were lost: $advice"
	done <<-'END'
		end lost=7|use a larger stream
		end error=28 lost=7|the log could not be written
		|the stream is too small, or the disk was full
	END
}

run_cases
