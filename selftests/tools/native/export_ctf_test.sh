#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace export --format=ctf" with babeltrace2. Prints TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

# babeltrace DIRECTORY: prints the events in the form of script_events(); fails after any warning
babeltrace()
{
	babeltrace2 --clock-seconds "$1" >text 2>warnings
	cat warnings
	[ ! -s warnings ] || return 1
	awk '
	function field(text, name,  at) {
		at = index(text, name " = ")
		if (!at)
			return "-"
		text = substr(text, at + length(name) + 3)
		sub(/[ ,].*/, "", text)
		return tolower(text)
	}
	{
		time = substr($1, 2, length($1) - 2)
		sub(/\./, "", time)
		sub(/^0+/, "", time)
		rest = substr($0, index($0, ") ") + 2)
		name = substr(rest, 1, index(rest, ": {") - 1)
		rest = substr(rest, length(name) + 1)
		data = substr(rest, index(rest, "data = ["))
		n = split(data, item, / = 0x/)
		bytes = ""
		for (i = 2; i <= n; i++) {
			sub(/[ ,].*/, "", item[i])
			bytes = bytes (length(item[i]) < 2 ? "0" : "") tolower(item[i])
		}
		print (time == "" ? 0 : time), name, field(rest, "cpu_id"), field(rest, "pid"),
			field(rest, "thread"), field(rest, "address"), field(rest, "truncated"),
			bytes
	}' text | sed 's/ $//' | sort
}

# fields_of DIRECTORY: prints names and fields of the events; fails after any warning
fields_of()
{
	babeltrace2 "$1" >text 2>warnings
	cat warnings >&2
	[ ! -s warnings ] || return 1
	sed -E 's/^\[[^]]*\] \([^)]*\) (.*): \{ cpu_id = .*truncated = [01] \}, \{ */\1: /; s/ *\}$//; s/ $//' text
}

# same_as_script SCRIPT DIRECTORY: compares the exported events with the script
same_as_script()
{
	script_events <"$1" >wanted
	babeltrace "$2" >got
	[ -s wanted ]
	diff wanted got
}

test_names_of_the_log_are_used()
{
	whole_log log <<-'END'
		host of-a-test
		name 65 tick
		task 7 9 1700000000000000000 before
		task 7 9 1700000000000000002 after
		task 7 11 1700000000000000000 bad\x1b[2J
		block 0
		event 65 1700000000000000001 pid=7 tid=9 thread=0x1
		event 65 1700000000000000002 pid=7 tid=9 thread=0x1
		event 65 1700000000000000003 pid=7 tid=10 thread=0x2
		event 65 1700000000000000004 pid=7 tid=11 thread=0x3
	END
	export_log ctf out log
	babeltrace2 out >text
	sed -nE 's/.*(tid = [0-9]+, comm = "[^"]*").*/\1/p' text >got
	diff - got <<-'END'
		tid = 9, comm = "before"
		tid = 9, comm = "after"
		tid = 10, comm = ""
		tid = 11, comm = "bad\\x1b[2J"
	END
}

test_every_event_is_exported_unchanged()
{
	many_events 20000 1 >script
	whole_log log <script
	export_log ctf out log
	[ "$(wc -l <script)" -gt 20000 ]
	same_as_script script out
	[ "$(echo out/*)" = 'out/cpu0 out/cpu1 out/cpu2 out/cpu3 out/metadata out/system' ]
}

test_events_are_the_same_as_those_of_dump()
{
	many_events 5000 10 | whole_log log
	export_log ctf out log
	posixtrace dump --json log | jq -r '[(.time | sub("[.]"; "")), .event, .cpu // "-", .pid,
		.thread, .address, if .truncated then 1 else 0 end, .data] | join(" ")' |
		sed 's/ $//' | sort >wanted
	[ "$(wc -l <wanted)" -ge 5000 ]
	babeltrace out >got
	diff wanted got
}

test_long_silence_between_events()
{
	cat >script <<-'END'
		name 65 tick
		block 0
		event 65 1700000000000000000 zeros=1
		event 65 1700000004294967295 zeros=2
		event 65 1700000008589934590 zeros=3
		event 65 1700000012884901886 zeros=4
		event 65 1700000100000000000 zeros=5
		event 65 1800000000000000000 zeros=6
		block 1
		event 65 1700000050000000000 zeros=7
	END
	whole_log log <script
	export_log ctf out log
	same_as_script script out
}

test_data_of_any_size()
{
	{
		echo 'name 65 tick'
		for size in 0 1 255 256 4095 4096 65487 65488; do
			for cpu in 0 3; do
				echo "block $cpu"
				echo "event 65 $((1700000000000000000 + size * 10 + cpu)) zeros=$size"
			done
		done
	} >script
	whole_log log <script
	export_log ctf out log
	same_as_script script out
}

test_attributes_of_an_event()
{
	cat >script <<-'END'
		name 65 tick
		block 2
		event 65 1700000000000000001 pid=1 thread=0xfedcba9876543210 address=0xffffffffffffffff
		event 65 1700000000000000002 pid=4194304 thread=0x1 address=0x1 cut hex=00ff
		block 4
		event 3 1700000000000000003 pid=0 hex=01000000
	END
	whole_log log <script
	export_log ctf out log
	same_as_script script out
}

# CTF reports lost events between two packets of the CPU that noticed the loss.
test_lost_events_are_reported()
{
	whole_log log <<-'END'
		name 65 tick
		block 0
		event 65 1700000000000000001
		event 65 1700000000000000002
		lost 7 1700000000000000003
		block 0
		event 65 1700000000000000010
		event 65 1700000000000000011
		lost 5 1700000000000000012
		block 0
		event 65 1700000000000000020
	END
	export_log ctf out log
	babeltrace2 out >text 2>warnings
	cat text warnings
	[ "$(grep -c tick text)" -eq 5 ]
	[ "$(grep -cE 'Tracer discarded [0-9]+ events' warnings)" -eq 2 ]
	grep -q 'discarded 7 events' warnings
	grep -q 'discarded 5 events' warnings
}

test_hostile_names_and_data()
{
	cat >script <<-'END'
		name 65 a"b\x5cc
		name 66 \x1b[31mred\x07
		name 67 \xff\xfe\x80
		name 68 größe
		name 69 \xe2\x80\xaeevil
		name 70 x"; }; /*
		name 71 same
		name 72 same
		block 0
		event 65 1700000000000000001 text=a
		event 66 1700000000000000002 hex=1b5b33316d
		event 67 1700000000000000003
		event 68 1700000000000000004
		event 69 1700000000000000005
		event 70 1700000000000000006
		event 71 1700000000000000007
		event 72 1700000000000000008
	END
	whole_log log <script
	export_log ctf out log
	babeltrace out >got
	cut -d' ' -f2- got | sed 's/ 0 4711 .*//' >names
	cat -v names
	diff names - <<-'END'
		a"b\\c
		\x1b[31mred\x07
		\xff\xfe\x80
		größe
		\xe2\x80\xaeevil
		x"; }; /*
		same
		same (type 72)
	END
}

# CTF cannot store times after 2262 or times that go backwards.
test_hostile_times()
{
	whole_log log <<-'END'
		name 65 tick
		block 0
		event 65 1
		event 65 9223372036000000000
		event 65 9223372036000000001
		event 65 18446744073709551615
	END
	posixtrace export -O ctf -o out log >said 2>&1
	cat said
	babeltrace out >got
	cat got
	[ "$(cut -d' ' -f1 got | tr '\n' ' ')" = "1 $(printf '9223372036000000000 %.0s' 1 2 3)" ]
	grep -q 'CTF cannot store the times of 2 events: used the nearest$' said
}

# An event that was written two flushes late is also read late.
test_times_that_go_back()
{
	cat >script <<-'END'
		name 65 tick
		block 0
		event 65 1700000000000005000
		event 65 1700000000000006000
		epoch
		epoch
		block 0
		event 65 1700000000000001000 zeros=1
		event 65 1700000000000007000 zeros=2
		block 1
		event 65 1700000000000001500 zeros=3
	END
	whole_log log <script
	posixtrace export -O ctf -o out log >said 2>&1
	grep 'CTF cannot store the time of 1 event: used the nearest$' said
	sed 's/1700000000000001000/1700000000000006000/' script >changed
	same_as_script changed out
}

test_many_cpus()
{
	{
		echo 'cpus 3000'
		echo 'name 65 tick'
		for ((cpu = 0; cpu < 3000; cpu++)); do
			echo "block $cpu"
			echo "event 65 $((1700000000000000000 + cpu)) zeros=100"
			echo "event 65 $((1700000001000000000 + cpu)) zeros=100"
		done
	} >script
	whole_log log <script
	export_log ctf out log
	[ "$(find out -type f | wc -l)" -eq 3001 ]
	[ "$(cat out/cpu* | wc -c)" -gt 600000 ]
}

test_layout_of_data()
{
	cat >formats <<-'END'
		# the fields of some events
		packed { u8 a; i16 b; x32 c; u64 d; }
		struct aligned { u8 a; u16 b; u8 c; f64 d; char text[3]; }
		texts { char name[6]; string path; string event; }
		floats { f32 x; f64 y; pad[2]; i8 z; }
		"with blank" { u32 n; }
		nothing { }
	END
	whole_log log <<-'END'
		name 65 packed
		name 66 aligned
		name 67 texts
		name 68 floats
		name 69 with blank
		name 70 nothing
		block 0
		event 65 1700000000000000001 hex=fffeff78563412ffffffffffffffff
		event 66 1700000000000000002 hex=01aa020003000000000000000000f83f6162630000000000
		event 66 1700000000000000003 hex=01aa02000300bbbb000000000000f83f616200cccccccccc
		event 67 1700000000000000004 hex=6162006364652f746d7000c3a400
		event 68 1700000000000000005 hex=0000c03f00000000000004c0eeeeff
		event 69 1700000000000000006 hex=2a000000
		event 70 1700000000000000007
		event 69 1700000000000000008 hex=2a
	END
	export_log ctf out log --format-file=formats
	fields_of out >got
	diff got - <<-'END'
		packed: a = 255, b = -2, c = 0x12345678, d = 18446744073709551615
		aligned: a = 1, b = 2, c = 3, d = 1.5, text = "abc"
		aligned: a = 1, b = 2, c = 3, d = 1.5, text = "ab"
		texts: name = "ab", path = "/tmp", event = "ä"
		floats: x = 1.5, y = -2.5, z = -1
		with blank: n = 42
		nothing:
		with blank (bytes): len = 1, data = [ [0] = 0x2A ]
	END
}

# If data is too short, too long, unterminated or truncated, it is exported as bytes.
test_data_that_do_not_match_are_bytes()
{
	cat >formats <<-'END'
		number { u32 n; }
		text { string s; }
		array { char s[4]; }
	END
	cat >script <<-'END'
		name 65 number
		name 66 text
		name 67 array
		block 0
		event 65 1700000000000000001 hex=010203
		event 65 1700000000000000002 hex=0102030405
		event 65 1700000000000000003
		event 65 1700000000000000004 hex=01020304 cut
		event 66 1700000000000000005 hex=6162
		event 66 1700000000000000006 hex=610062
		event 66 1700000000000000007
		event 67 1700000000000000008 hex=616207
	END
	whole_log log <script
	export_log ctf out log --format-file=formats
	same_as_script script out
}

test_unprintable_texts_are_escaped()
{
	cat >formats <<-'END'
		text { string s; }
		array { char s[4]; }
	END
	whole_log log <<-'END'
		name 66 text
		name 67 array
		block 0
		event 66 1700000000000000001 hex=1b5b6d00
		event 66 1700000000000000002 hex=ff5c0a00
		event 67 1700000000000000003 hex=61620700
	END
	export_log ctf out log --format-file=formats
	fields_of out >got
	diff got - <<-'END'
		text: s = "\\x1b[m"
		text: s = "\\xff\\\\\\n"
		array: s = "ab\\x07"
	END
}

# Comments and white space must not count towards the size limit of a description.
test_long_format_file()
{
	{
		printf 'tick {\n'
		for ((i = 0; i < 200; i++)); do
			printf '\tu8 field%03d;%60s# "{ }" %050d\n' "$i" ' ' "$i"
		done
		printf '}\n'
	} >formats
	whole_log log <<-'END'
		name 65 tick
		block 0
		event 65 1700000000000000001 zeros=200
	END
	export_log ctf out log --format-file=formats
	[ ! -s said ]
	fields_of out >got
	grep -q '^tick: field000 = 0, field001 = 0.*, field199 = 0$' got
}

test_descriptions_in_the_log()
{
	described_log log
	export_log ctf out log
	fields_of out >got
	diff got - <<-'END'
		all: op = ( "set it" : container = 1 ), n = 2, sizes = [ [0] = 0x1, [1] = 0x2 ], ok = ( "true" : container = 1 ), f = 1.5, d = -2.5, c = "a", s = "ab", key = "hello"
		all: op = ( "neg" : container = -5 ), n = 0, sizes = [ ], ok = ( "false" : container = 0 ), f = 0, d = 0, c = "", s = "", key = "\\x00\\x00"
		all: op = ( <unknown> : container = 7 ), n = 0, sizes = [ ], ok = ( "false" : container = 0 ), f = 0, d = 0, c = "", s = "", key = "\\xff\\n"
		nested: n = 2, at = [ [0] = { x = 1, y = 2 }, [1] = { x = 3, y = 4 } ], m = [ [0] = [ [0] = 5, [1] = 6, [2] = 7 ], [1] = [ [0] = 8, [1] = 9, [2] = 10 ] ], names = [ [0] = { l = 2, name = "aa" }, [1] = { l = 1, name = "k" } ]
		other (bytes): len = 4, data = [ [0] = 0x1, [1] = 0x2, [2] = 0x3, [3] = 0x4 ]
		other (bytes): len = 3, data = [ [0] = 0x1, [1] = 0x2, [2] = 0x3 ]
		other: a = 1
	END
}

# In TSDL, the length of "v" would be the member of the inner struct, not the outer one.
test_fields_that_tsdl_cannot_describe_are_bytes()
{
	whole_log log <<-'END'
		name 65 shadow
		name 66 empty
		describe 65 { u8 n; { u8 v[n]; u8 n; } s; }
		describe 66 { { pad[2]; } v[2]; u8 a; }
		block 0
		event 65 1700000000000000001 hex=01aa02
		event 66 1700000000000000002 hex=0000000007
	END
	export_log ctf out log
	fields_of out >got
	diff got - <<-'END'
		shadow: len = 3, data = [ [0] = 0x1, [1] = 0xAA, [2] = 0x2 ]
		empty: len = 5, data = [ [0] = 0x0, [1] = 0x0, [2] = 0x0, [3] = 0x0, [4] = 0x7 ]
	END
}

# Trace Compass cannot read values outside the signed 64-bit range, so these have no label.
test_extreme_labels()
{
	whole_log log <<-'END'
		name 65 op
		describe 65 { enum : i64 { min = -0x8000000000000000, max = 0x7fffffffffffffff } a; enum : u64 { big = 0xffffffffffffffff, one = 1, alias = 1, "x\x5c\x22y\x5c\x5c" = 2 } b; }
		block 0
		event 65 1700000000000000001 hex=0000000000000080ffffffffffffffff
		event 65 1700000000000000002 hex=ffffffffffffff7f0200000000000000
		event 65 1700000000000000003 hex=00000000000000000100000000000000
	END
	export_log ctf out log
	fields_of out >got
	diff got - <<-'END'
		op: a = ( <unknown> : container = -9223372036854775808 ), b = ( <unknown> : container = 18446744073709551615 )
		op: a = ( "max" : container = 9223372036854775807 ), b = ( "x\"y\\\\" : container = 2 )
		op: a = ( <unknown> : container = 0 ), b = ( "one" : container = 1 )
	END
	not grep -E '9223372036854775808|18446744073709551615' out/metadata
	whole_log only <<-'END'
		name 65 op
		describe 65 { enum : i64 { min = -0x8000000000000000 } a; enum : u64 { big = 0x8000000000000000 } b; }
		block 0
		event 65 1700000000000000001 hex=00000000000000800000000000000080
	END
	export_log ctf only.ctf only
	fields_of only.ctf >got
	diff - got <<<'op: a = -9223372036854775808, b = 9223372036854775808'
}

# Analyses use only the period that all files of all traces cover, so all files must begin and end
# at the same time.
test_files_end_with_the_stream()
{
	whole_log log <<-'END'
		classes sched
		name 65 tick
		thread one 7 7 1
		thread two 8 8 1
		block 0
		event 2 1000000000 cpu=4 pid=1
		kernel sched_switch_in 1000000100 cpu=0 @one
		event 65 1000000200 @one
		kernel sched_switch_out 1000000300 @one state=S reason=blocked
		kernel sched_switch_in 1000000400 cpu=1 @two
		event 3 1001000000 cpu=4 pid=1
	END
	export_log ctf out log
	for file in out/kernel/cpu? out/user/cpu? out/user/system; do
		# magic, uuid, stream_id, stream_instance_id, timestamp_begin, timestamp_end: one packet each
		od -A n -t u8 -j 32 -N 16 "$file" | sed 's/  */ /g'
	done >got
	[ "$(wc -l <got)" -eq 4 ]
	sort -u got | diff - <(echo ' 1000000000 1001000000')
	babeltrace2 --stream-intersection out | wc -l | diff - <(babeltrace2 out | wc -l)
}

# counts_of DIRECTORY [OPTION]: counts the events of each type
counts_of()
{
	babeltrace2 ${2+"$2"} "$1" 2>warnings | sed -E 's/^\[[^]]*\] \([^)]*\) ([^ ]*): \{.*/\1/' | sort | uniq -c
	[ ! -s warnings ] || { cat warnings; return 1; }
}

# Processors of a recorded log begin and end at different times.
test_the_intersection_of_a_recorded_log_has_all_events()
{
	local name
	for name in gitgc tar; do
		xz -dc "$native/logs/$name.log.xz" >log
		posixtrace export --format=ctf -o "$name" log
		[ "$(find "$name" -name 'cpu*' | wc -l)" -gt 1 ]
		counts_of "$name" >all
		[ "$(awk '{ sum += $1 } END { print sum }' all)" -gt 900 ]
		counts_of "$name" --stream-intersection >common
		diff all common
	done
}

test_wrong_format_files()
{
	whole_log log <<<'name 65 tick'
	while IFS='|' read -r line text message; do
		printf '%b' "$text" >formats
		fails 1 "formats:$line: $message" \
			posixtrace export -O ctf --format-file=formats -o out log
		[ ! -e out ]
	done <<-'END'
		1|tick|expected "{" (got "end of file")
		1|tick u32|expected "{" (got "u32")
		1|tick {|expected a type or "}", but the text ends
		2|# a\ntick { u32 n; u33 m; }|unknown type "u33"
		3|tick {\n\tu32 n;\n\tu32 n;\n}|duplicate field "n"
		5|tick # {\n\n{\n# "\nu32 "}"; }|expected the name of the field (got text in quotes)
		1|tick { u32 }|expected the name of the field (got "}")
		1|tick { u32 2n; }|"2n" is not a number
		1|tick { u32 n }|expected ";" (got "}")
		1|tick { u32 n, m; }|expected ";" (got ",")
		1|tick { char s[]; }|expected a number or the name of a field (got "]")
		1|tick { char s[0]; }|a size must be from 1 to 65536 (got 0)
		1|tick { char s[65537]; }|a size must be from 1 to 65536 (got 65537)
		1|tick { u8 a[m]; }|a length must be an earlier field, which "m" is not
		2|tick { }\ntick { }|duplicate event type
		1|{ u32 n; }|expected the name of an event type (got "{")
		1|"tick|closing quote is missing
		1|"ti\\qck" { }|unknown escape in quotes: use \\, \", \n, \t or \xNN
		1|tick { "u32" n; }|expected a type or "}" (got text in quotes)
		1|\033 { }|byte 0x1b in a name: put the name in quotes
	END
	printf 'x%065d { }' 0 >formats
	fails 1 'posixtrace: formats:1: a name has at most 63 bytes' \
		posixtrace export -O ctf --format-file=formats -o out log
	{ printf 'tick { '; printf 'u8 a%d; ' {0..256}; printf '}'; } >formats
	fails 1 'posixtrace: formats:1: more than 256 members, padding included' \
		posixtrace export -O ctf --format-file=formats -o out log
	head -c 1100000 /dev/zero | tr '\0' '#' >formats
	fails 1 'posixtrace: --format-file: formats: must have at most 1048576 bytes' \
		posixtrace export -O ctf --format-file=formats -o out log
	fails 1 'nowhere: No such file' posixtrace export -O ctf --format-file=nowhere -o out log
}

test_directory_is_not_a_format_file()
{
	whole_log log <<<'name 65 tick'
	fails 1 'posixtrace: --format-file: .: Is a directory' \
		posixtrace export -O chrome --format-file=. -o out log
	[ ! -e out ]
}

# Only the first block is damaged.
test_damaged_log()
{
	whole_log log <<-'END'
		name 65 damaged
		name 66 whole
		block 0
		event 65 1700000000000000001 text=find-me
		block 1
		event 66 1700000000000000002 text=good
	END
	at=$(grep -abo find-me log | cut -d: -f1)
	printf X | dd of=log bs=1 seek="$at" conv=notrunc status=none
	fails 1 'posixtrace: log: the log is damaged in 1 place:' posixtrace export -O ctf -o out log
	babeltrace out >got
	cat got
	grep -q ' whole 1 ' got
	grep -q ' posix_trace_error ' got
}

test_wrong_calls()
{
	whole_log log <<<'name 65 tick'
	fails 2 '--format: required: ctf, chrome, perfetto, html, csv, jsonl, arrow or parquet' posixtrace export
	fails 2 '--format: required: ctf, chrome, perfetto, html, csv, jsonl, arrow or parquet' posixtrace export log
	fails 1 'export: no posixtrace.log in this directory' posixtrace export -O ctf -o out
	fails 1 'cannot be read with other logs' posixtrace export -O ctf -o out log log
	fails 2 'posixtrace: --format: must be ctf, chrome, perfetto, html, csv, jsonl, arrow or parquet (got "nonsense")' \
		posixtrace export -O nonsense -o out log
	fails 2 'posixtrace: --output: required with --format=ctf, which writes a directory' \
		posixtrace export -O ctf log
	fails 0 Usage posixtrace export --help
	fails 1 'true: not a trace log' posixtrace export -O ctf -o out /bin/true
	fails 1 'No such file' posixtrace export -O ctf -o out nowhere
	[ ! -e out ]
	mkdir there
	fails 1 'posixtrace: --output: there: already exists; remove it, or choose another name' \
		posixtrace export -O ctf -o there log
	rmdir there
}

# kernel_trace DIRECTORY: prints the kernel events, one per line: TIME CPU NAME CONTEXT FIELDS;
# fails after any warning
kernel_trace()
{
	babeltrace2 --clock-seconds "$1" >text 2>warnings
	cat warnings >&2
	[ ! -s warnings ] || return 1
	sed -E 's/^\[([0-9]*)\.0*([0-9]+)\] \([^)]*\) (.*): \{ cpu_id = ([0-9]+) \}, \{ pid = (-?[0-9]+), tid = (-?[0-9]+), procname = "([^"]*)" \}, \{ (.*) \}$/\2 \4 \3 \5 \6 \7 | \8/' text
}

test_kernel_events_have_the_names_of_lttng()
{
	whole_log log <<-'END'
		classes all
		host of-a-test
		task 7 7 1 one
		task 7 8 1 two
		thread one 7 7 0x7f01
		thread two 7 8 0x7f02
		name 65 tick
		since 1700000000000000000
		event 65 500 cpu=0 @one
		kernel sched_process_fork 700 cpu=0 @one child_pid=7 child_tid=8
		kernel syscall_entry 800 cpu=0 @one nr=0 args=3,0x1000,64 name=read
		kernel sched_switch_out 1000 cpu=0 @one prio=120 state=S reason=blocked next_tid=@two next_prio=100
		kernel sched_switch_in 1001 cpu=0 @two prio=100 prev_tid=@one prev_prio=120
		kernel sched_wakeup 1100 cpu=0 @one prio=120 target_cpu=1 by=thread waker_pid=@two waker_tid=@two
		kernel sched_migrate_task 1200 cpu=0 @one prio=120 orig_cpu=0 dest_cpu=1
		kernel sched_switch_in 1300 cpu=1 @one prio=120
		kernel syscall_exit 1350 cpu=1 @one nr=0 result=-11
		kernel sched_switch_out 1400 cpu=0 @two prio=100 state=R reason=preempted
		kernel page_fault 1500 cpu=1 @one user=true write=true address=0x7f1234 ip=0x401000
		kernel page_fault 1501 cpu=1 @one exec=true protection=true address=0x7f1234 ip=0x401000
		kernel signal_generate 1600 cpu=1 @one sig=SIGUSR1 code=-6 by=thread group=true result=ignored sender_pid=7 sender_tid=8
		kernel signal_deliver 1700 cpu=1 @one sig=SIGUSR1 code=-6 action=handler flags=0x14000000
		kernel syscall_entry 1710 cpu=1 @one nr=0 name=restart_syscall compat=true
		kernel syscall_exit 1720 cpu=1 @one nr=0 compat=true
		kernel syscall_exit 1730 cpu=1 @one nr=5 result=6
		kernel syscall_exit 1735 cpu=1 @one nr=3 result=-9 name=close
		kernel irq 1800 cpu=1 @one number=24 duration=50 name=virtio0
		kernel irq 1810 cpu=1 @one kind=softirq number=3 duration=1 name=NET_RX
		kernel irq 1820 cpu=1 @one kind=vector number=236 duration=2 name=local_timer
		kernel sched_process_exec 1900 cpu=1 @one filename=/bin/true
		kernel sched_wakeup 2000 cpu=1 @two prio=120 target_cpu=0 new=true by=another
		kernel sched_switch_in 2010 cpu=0 @two prio=100
		kernel sched_process_exit 2100 cpu=0 @two exit_code=0
		kernel sched_switch_out 2200 cpu=0 @two prio=100 state=X reason=ended
		kernel task_rename 2300 cpu=1 @one oldcomm=one newcomm=uno
		kernel sched_process_exit 2400 cpu=1 @one exit_code=256 group_dead=true
	END
	export_log ctf out log
	[ "$(echo out/* out/*/*)" = 'out/kernel out/user out/kernel/cpu0 out/kernel/cpu1 out/kernel/metadata out/user/cpu0 out/user/metadata' ]
	kernel_trace out/kernel >got
	diff got - <<-'END'
		500 0 sched_switch 0 0 swapper/0 | prev_comm = "swapper/0", prev_tid = 0, prev_prio = 20, prev_state = 0, next_comm = "one", next_tid = 7, next_prio = 20
		700 0 sched_process_fork 7 7 one | parent_comm = "one", parent_tid = 7, parent_pid = 7, child_comm = "one", child_tid = 8, child_pid = 7
		800 0 syscall_entry_read 7 7 one | fd = 3, buf = 0x1000, count = 64
		1000 0 sched_switch 7 7 one | prev_comm = "one", prev_tid = 7, prev_prio = 20, prev_state = 1, next_comm = "two", next_tid = 8, next_prio = 0
		1100 0 sched_waking 7 8  | comm = "one", tid = 7, prio = 20, target_cpu = 1, waker_tid = 8
		1100 0 sched_wakeup 7 8  | comm = "one", tid = 7, prio = 20, target_cpu = 1, waker_tid = 8
		1200 0 sched_migrate_task 0 0  | comm = "one", tid = 7, prio = 20, orig_cpu = 0, dest_cpu = 1
		1300 1 sched_switch 0 0 swapper/1 | prev_comm = "swapper/1", prev_tid = 0, prev_prio = 20, prev_state = 0, next_comm = "one", next_tid = 7, next_prio = 20
		1350 1 syscall_exit_read 7 7 one | ret = -11, error = "EAGAIN"
		1400 0 sched_switch 7 8 two | prev_comm = "two", prev_tid = 8, prev_prio = 0, prev_state = 256, next_comm = "swapper/0", next_tid = 0, next_prio = 20
		1500 1 x86_exceptions_page_fault_user 7 7 one | address = 0x7F1234, ip = 0x401000, error_code = 0x6
		1501 1 x86_exceptions_page_fault_kernel 7 7 one | address = 0x7F1234, ip = 0x401000, error_code = 0x11
		1600 1 signal_generate 7 8  | sig = 10, errno = 0, code = -6, comm = "one", pid = 7, group = 1, result = 1
		1700 1 signal_deliver 7 7 one | sig = 10, errno = 0, code = -6, sa_handler = 2, sa_flags = 335544320
		1710 1 compat_syscall_entry_restart_syscall 7 7 one | args = [ [0] = 0x0, [1] = 0x0, [2] = 0x0, [3] = 0x0, [4] = 0x0, [5] = 0x0 ]
		1720 1 compat_syscall_exit_restart_syscall 7 7 one | ret = 0, error = "none"
		1730 1 syscall_exit_unknown 7 7 one | id = 5, ret = 6, error = "none"
		1735 1 syscall_exit_close 7 7 one | ret = -9, error = "EBADF"
		1750 1 irq_handler_entry 7 7 one | irq = 24, name = "virtio0"
		1800 1 irq_handler_exit 7 7 one | irq = 24, ret = 1
		1809 1 irq_softirq_entry 7 7 one | vec = 3, name = "NET_RX"
		1810 1 irq_softirq_exit 7 7 one | vec = 3, name = "NET_RX"
		1818 1 x86_irq_vectors_local_timer_entry 7 7 one | vector = 236
		1820 1 x86_irq_vectors_local_timer_exit 7 7 one | vector = 236
		1900 1 sched_process_exec 7 7 one | filename = "/bin/true", tid = 7, old_tid = 7
		2000 1 sched_wakeup_new 0 0  | comm = "two", tid = 8, prio = 20, target_cpu = 0, waker_tid = 0
		2010 0 sched_switch 0 0 swapper/0 | prev_comm = "swapper/0", prev_tid = 0, prev_prio = 20, prev_state = 0, next_comm = "two", next_tid = 8, next_prio = 0
		2100 0 sched_process_exit 7 8 two | comm = "two", tid = 8, prio = 20, exit_code = 0
		2200 0 sched_switch 7 8 two | prev_comm = "two", prev_tid = 8, prev_prio = 0, prev_state = 16, next_comm = "swapper/0", next_tid = 0, next_prio = 20
		2200 0 sched_process_free 7 8 two | comm = "two", tid = 8, prio = 0
		2300 1 task_rename 7 7 one | tid = 7, oldcomm = "one", newcomm = "uno"
		2400 1 sched_process_exit 7 7 uno | comm = "uno", tid = 7, prio = 20, exit_code = 256
		2400 1 sched_switch 7 7 uno | prev_comm = "uno", prev_tid = 7, prev_prio = 20, prev_state = 16, next_comm = "swapper/1", next_tid = 0, next_prio = 20
		2400 1 sched_process_free 7 7 uno | comm = "uno", tid = 7, prio = 20
	END
	# By these lines, Trace Compass recognizes a trace of LTTng.
	grep -q 'domain = "kernel";' out/kernel/metadata
	grep -q 'tracer_name = "lttng-modules";' out/kernel/metadata
	grep -q 'tracer_name = "posixtrace";' out/user/metadata
	[ "$(babeltrace2 out | grep -c ' tick: ')" -eq 1 ]
	[ "$(babeltrace2 out | wc -l)" -eq 35 ]
}

# An interrupt is recorded at its end, so it begins before events that were recorded before it.
test_interrupts_are_in_the_order_of_time()
{
	{
		cat <<-'END'
			classes irq,fault
			thread one 7 7 0x7f01
			block 0
			kernel page_fault 1000 @one
			kernel page_fault 2000 @one
			kernel irq 2500 @one number=2 kind=softirq duration=200 nested=true
			kernel irq 3000 @one number=1 duration=1500
		END
		for ((i = 0; i < 2000; i++)); do
			echo "kernel page_fault $((4000 + i)) @one"
		done
		echo 'kernel irq 7000 @one number=3 duration=6000'
	} >script
	whole_log log <script
	posixtrace export -O ctf -o out log >said 2>&1
	cat said
	kernel_trace out/kernel | cut -d' ' -f 1,3 >got
	head -n 6 got | diff - <(cat <<-'END'
		1000 x86_exceptions_page_fault_kernel
		1500 irq_handler_entry
		2000 x86_exceptions_page_fault_kernel
		2300 irq_softirq_entry
		2500 irq_softirq_exit
		3000 irq_handler_exit
	END
	)
	[ "$(wc -l <got)" -eq 2008 ]
	# The last interrupt began before more events than can be held.
	grep -q 'CTF cannot store the time of 1 event: used the nearest$' said
	[ "$(grep -c irq_handler_entry got)" -eq 2 ]
	sort -s -n -c -k 1,1 got
}

# Each loss must be reported once, in the trace of the event that follows it.
test_losses_in_two_traces()
{
	whole_log log <<-'END'
		classes fault
		name 65 tick
		thread one 7 7 0x7f01
		block 0
		event 65 1000 @one
		kernel page_fault 1100 @one
		lost 7 1200
		kernel page_fault 2000 @one
		lost 5 2100
		event 65 3000 @one
	END
	export_log ctf out log
	[ "$(babeltrace2 out 2>&1 | grep -cE 'discarded (7|5) events')" -eq 2 ]
	# Leave out the system event that reports the loss:
	export_log ctf some log --filter=page_fault --filter=tick
	babeltrace2 some/kernel 2>&1 | grep 'discarded 7 events'
	babeltrace2 some/user 2>&1 | grep 'discarded 5 events'
	[ "$(babeltrace2 some 2>&1 | grep -c 'discarded')" -eq 2 ]
}

test_stream_without_events_of_the_kernel()
{
	whole_log log <<-'END'
		classes sched
		name 65 tick
		block 0
		event 65 1700000000000000001
	END
	export_log ctf out log
	[ "$(echo out/* out/*/*)" = 'out/user out/user/cpu0 out/user/metadata' ]
	[ "$(babeltrace2 out | wc -l)" -eq 1 ]
}

test_arguments_of_system_calls_have_the_names_of_the_kernel()
{
	whole_log log <<-'END'
		classes syscall
		thread one 7 7 0x7f01
		block 0
		kernel syscall_entry 1000 @one nr=257 args=0xffffff9c,0x7f00,0x80000,0x1b6 name=openat
		kernel syscall_entry 1001 @one nr=17 args=3,0x1000,64,-1 name=pread64
		kernel syscall_entry 1002 @one nr=5 args=3,0x1000 name=fstat
		kernel syscall_entry 1003 @one nr=5 args=4,0x1000 name=fstat
		kernel syscall_entry 1004 @one nr=39 args=1,2,3,4,5,6 name=getpid
		kernel syscall_entry 1005 @one nr=202 args=0x7f10,0x80,2,0,0,0xffffffffffffffff name=futex
		kernel syscall_entry 1006 @one nr=3 args=3 name=of_tomorrow
		kernel syscall_entry 1007 @one nr=4 args=3 name=newfstat
		kernel syscall_entry 1008 @one nr=0 args=3,0x1000,64 name=read compat=true
	END
	export_log ctf out log
	kernel_trace out/kernel | cut -d ' ' -f '1 3 7-' >got
	sed -i 's/ $//' got
	cat >wanted <<-'END'
		1000 syscall_entry_openat | dfd = -100, filename = "0x7f00", flags = 0x80000, mode = 438
		1001 syscall_entry_pread64 | fd = 3, buf = 0x1000, count = 64, pos = -1
		1002 syscall_entry_newfstat | fd = 3, statbuf = 0x1000
		1003 syscall_entry_newfstat | fd = 4, statbuf = 0x1000
		1005 syscall_entry_futex | uaddr = 0x7F10, op = 128, val = 2, utime = 0x0, uaddr2 = 0x0, val3 = 4294967295
		1006 syscall_entry_of_tomorrow | args = [ [0] = 0x3, [1] = 0x0, [2] = 0x0, [3] = 0x0, [4] = 0x0, [5] = 0x0 ]
		1007 syscall_entry_unknown | id = 4, args = [ [0] = 0x3, [1] = 0x0, [2] = 0x0, [3] = 0x0, [4] = 0x0, [5] = 0x0 ]
		1008 compat_syscall_entry_read | args = [ [0] = 0x3, [1] = 0x1000, [2] = 0x40, [3] = 0x0, [4] = 0x0, [5] = 0x0 ]
	END
	grep -v getpid got | diff - wanted
	[ "$(grep -c getpid got)" -eq 1 ]
}

# lttng ANALYSIS: runs one of LTTng's analyses on the exported trace
lttng()
{
	"lttng-$1" --no-progress out "${@:2}" 2>&1 | tee -a analyses
}

test_lttng_analyses_understand_it()
{
	whole_log log <<-'END'
		classes all
		host of-a-test
		task 7 7 1 one
		task 7 8 1 two
		thread one 7 7 0x7f01
		thread two 7 8 0x7f02
		since 1700000000000000000
		kernel sched_switch_in 1000000 cpu=0 @one prio=120
		kernel syscall_entry 2000000 cpu=0 @one nr=257 args=-100,0x7f00,0x80000 name=openat
		kernel syscall_exit 2100000 cpu=0 @one nr=257 result=5
		kernel syscall_entry 3000000 cpu=0 @one nr=0 args=5,0x1000,4096 name=read
		kernel syscall_exit 3200000 cpu=0 @one nr=0 result=1000
		kernel syscall_entry 4000000 cpu=0 @one nr=3 args=5 name=close
		kernel syscall_exit 4300000 cpu=0 @one nr=3 result=-9
		kernel irq 4500000 cpu=0 @one number=24 duration=7000 name=virtio0
		kernel sched_switch_out 5000000 cpu=0 @one prio=120 state=S reason=blocked next_tid=@two next_prio=110
		kernel sched_switch_in 5000000 cpu=0 @two prio=110 prev_tid=@one prev_prio=120
		kernel sched_wakeup 6000000 cpu=0 @one prio=120 target_cpu=0 by=thread waker_pid=@two waker_tid=@two
		kernel sched_switch_out 9000000 cpu=0 @two prio=110 state=R reason=preempted next_tid=@one next_prio=120
		kernel sched_switch_in 9000000 cpu=0 @one prio=120 prev_tid=@two prev_prio=110
		kernel sched_switch_out 11000000 cpu=0 @one prio=120 state=S reason=blocked
	END
	export_log ctf out log
	lttng cputop | grep -E '60.00 % +one \(7\) '
	lttng cputop | grep -E '40.00 % +two \(8\) '
	lttng syscallstats >stats
	grep -E "^ - openat +1 +100.0 .*'success'" stats
	grep -E "^ - read +1 +200.0 .*'success'" stats
	grep -E "^ - close +1 +300.0 .*'EBADF'" stats
	lttng iolog >io
	grep -E 'openat +100.000 .* one +7 +0x7f00 \(fd=5\)' io
	grep -E 'read +200.000 +1000   B +one +7 +0x7f00 \(fd=5\)' io
	lttng irqstats | grep -E '^24: <virtio0> +1 +7.000 '
	lttng schedlog | grep -E ' 3000.000 +20 +0 +one \(7\)'
	! grep -i 'error\|traceback' analyses
}

test_hostile_events_of_the_kernel()
{
	whole_log log <<-'END'
		classes all
		describe 22 struct { i32 tid; }
		thread one 7 7 0x7f01
		block 0
		kernel sched_switch_out 1000 @one state=99 prio=-2147483648 next_tid=-5
		kernel sched_switch_out 1001 @one state=99 reason=77 prio=-2147483648
		kernel sched_process_exit 1002 @one hex=07000000
		kernel irq 1003 @one duration=18446744073709551615 kind=255 number=4294967295 name=\xff
		kernel syscall_entry 1004 @one nr=3 name=a";\x20}
		kernel syscall_entry 1005 @one nr=4 name=same
		kernel syscall_entry 1006 @one nr=5 name=same
		kernel syscall_entry 1007 @one nr=4 name=other
		kernel syscall_entry 1008 @one nr=6 name=unknown
		kernel syscall_entry 1009 @one nr=1024 name=high
		kernel syscall_exit 1010 @one nr=-1 result=-9223372036854775808
		kernel sched_process_exec 1011 @one filename=\xff"\x00x
		kernel task_rename 1012 pid=-1 tid=7
	END
	export_log ctf out log
	kernel_trace out/kernel | cut -d' ' -f 3 >got
	diff got - <<-'END'
		irq_vector_entry
		sched_switch
		sched_switch
		irq_vector_exit
		syscall_entry_unknown
		syscall_entry_same
		syscall_entry_unknown
		syscall_entry_same
		syscall_entry_unknown
		syscall_entry_unknown
		syscall_exit_unknown
		sched_process_exec
	END
	grep -qF 'filename = "\\xff\"",' text
	babeltrace2 out/user >text
	grep -oE 'sched_switch_out|sched_process_exit|task_rename' text >got
	diff got - <<-'END'
		sched_switch_out
		sched_process_exit
		task_rename
	END
}

test_memory_is_bounded_for_held_events()
{
	awk 'BEGIN {
		print "cpus 1000"
		print "classes fault"
		print "thread one 7 7 0x7f01"
		for (cpu = 0; cpu < 1000; cpu++)
			for (i = 0; i < 300; i++)
				printf "kernel page_fault %d cpu=%d @one\n", 1000 + i * 1000 + cpu, cpu
	}' | whole_log log
	(ulimit -v 65536 && export_log ctf out log)
	[ "$(cat out/kernel/cpu* | wc -c)" -gt 9000000 ]
}

# The number and size of held events must be bounded. A file name takes a kilobyte.
test_memory_is_bounded_for_large_held_events()
{
	awk 'BEGIN {
		print "cpus 64"
		print "classes process"
		print "thread one 7 7 0x7f01"
		for (i = 0; i < 255; i++)
			name = name "\\x01"
		for (cpu = 0; cpu < 64; cpu++)
			for (i = 0; i < 1000; i++)
				printf "kernel sched_process_exec %d cpu=%d @one filename=%s\n", 1000 + i * 64 + cpu, cpu, name
	}' | whole_log log
	(ulimit -v 65536 && export_log ctf out log)
	[ "$(cat out/kernel/cpu* | wc -c)" -gt 64000000 ]
	# the events of each processor must be in order of time
	babeltrace2 out/kernel | grep -c sched_process_exec >got
	[ "$(cat got)" -eq 64000 ]
}

# Ten times as many events must need no more memory.
test_memory_is_bounded()
{
	many_events 300000 2 | whole_log log
	[ "$(stat -c %s log)" -gt 8000000 ]
	(ulimit -v 24576 && export_log ctf out log)
	[ "$(cat out/cpu* | wc -c)" -gt 8000000 ]
}

# The memory for all CPUs together must be bounded.
test_memory_is_bounded_for_all_cpus()
{
	awk 'BEGIN {
		print "cpus 4000"
		print "name 65 tick"
		for (cpu = 0; cpu < 4000; cpu++) {
			print "block", cpu
			for (i = 0; i < 16; i++)
				printf "event 65 17000000000%04d%04d zeros=1000\n", i, cpu
		}
	}' | whole_log log
	(ulimit -v 102400 && export_log ctf out log)
	[ "$(find out -type f -size +16000c | wc -l)" -ge 4000 ]
}

# A large event must end its packet. Otherwise the last packets of all CPUs would stay in memory.
test_memory_is_bounded_for_large_events()
{
	awk 'BEGIN {
		print "cpus 1000"
		print "name 65 tick"
		for (cpu = 0; cpu < 1000; cpu++)
			printf "event 65 17000000000000%05d cpu=%d zeros=65488\n", cpu, cpu
	}' | whole_log log
	(ulimit -v 65536 && export_log ctf out log)
	[ "$(find out -name 'cpu*' -size +65488c | wc -l)" -eq 1000 ]
}

# Packets of CPUs that have no further events also count, so with more CPUs, each has less memory.
test_memory_is_bounded_for_idle_cpus()
{
	awk 'BEGIN {
		print "cpus 8191"
		print "name 65 tick"
		for (cpu = 0; cpu < 8191; cpu++) {
			size = cpu < 511 ? 65000 : cpu < 1023 ? 32000 : cpu < 2047 ? 16000 : \
				cpu < 4095 ? 7500 : 3500
			printf "event 65 17000000000000%05d cpu=%d zeros=%d\n", cpu, cpu, size
		}
	}' | whole_log log
	(ulimit -v 81920 && export_log ctf out log)
	[ "$(find out -name 'cpu*' -size +3500c | wc -l)" -eq 8191 ]
}

# When the loss is noticed, the packet with the large event has already ended, so the next packet
# must report it.
test_loss_after_a_large_event()
{
	{
		echo 'cpus 2'
		echo 'name 65 tick'
		echo 'block 0'
		echo 'event 65 1700000000000000001 zeros=65488'
		echo 'event 65 1700000000000000002 zeros=65488'
		echo 'lost 7 1700000000000000003'
		echo 'block 0'
		echo 'event 65 1700000000000000013 zeros=1'
		echo 'event 65 1700000000000000014 zeros=65488'
		echo 'event 65 1700000000000000015 zeros=2'
	} | whole_log log
	# if the system event of the loss is left out, the next event must report the loss
	export_log ctf out log --filter=tick
	babeltrace2 out 2>&1 >events | grep -oE 'discarded.* events|stream ".*/cpu0"' | sed 's,".*/,,' >got
	diff - got <<-'END'
		discarded 7 events
		stream cpu0"
	END
	[ "$(grep -c ' tick: ' events)" -eq 5 ]
}

run_cases
