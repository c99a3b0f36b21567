#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the Python module with written logs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

export PYTHONPATH=$native/../../../lib/python PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8

# python: runs the program on standard input with the library that was just built
python()
{
	LD_LIBRARY_PATH=$native/../../../build/stage/usr/lib python3 -W error -
}

described_log()
{
	write_log "$1" <<-'END'
		cpus 2
		name 65 cache:get
		describe 65 { u32 id; enum: u8 { get = 0, set } op; text key; }
		name 66 no:fields
		name 67 wrong
		describe 67 { u33 x; }
		block 2
		event 2 1700000000000000000 pid=99
		block 0
		event 65 1700000000000001000 pid=100 thread=0x7f00 address=0x1234 hex=0700000001 cut
		event 65 1700000000000002000 pid=100 thread=0x7f00 hex=0800000000c3a4ff
		event 65 1700000000000003000 pid=100 thread=0x7f00 hex=08
		event 66 1700000000000004000 pid=100 text=hello
		event 67 1700000000000005000 pid=100 text=abcd
		end
	END
}

test_events_of_a_log()
{
	described_log log
	python >out <<-'END'
		import posixtrace
		with posixtrace.Log("log") as log:
		    for event in log:
		        print(event.name, event.user, event.time, event.pid, hex(event.thread),
		              hex(event.address), event.cpu, event.truncated, event.fields)
		    print(log.info["ended"], log.info["damaged"], log.info["lost"])
		    log.rewind()
		    print(len(list(log)), log.fields(65).names, log.fields(66), log.fields(67))
		    log.seek(1700000000000004000)
		    print([event.name for event in log if event.time >= 1700000000000004000])
		    try:
		        log.seek(-1)
		    except OSError as error:
		        print(error.strerror)
	END
	prints out <<-'END'
		posix_trace_start False 1700000000000000000 99 0x0 0x0 None False None
		cache:get True 1700000000000001000 100 0x7f00 0x1234 0 True {'id': 7, 'op': 'set', 'key': ''}
		cache:get True 1700000000000002000 100 0x7f00 0x0 0 False {'id': 8, 'op': 'get', 'key': 'ä\udcff'}
		cache:get True 1700000000000003000 100 0x7f00 0x0 0 False None
		no:fields True 1700000000000004000 100 0x0 0x0 0 False None
		wrong True 1700000000000005000 100 0x0 0x0 0 False None
		True False 0
		6 ['id', 'op', 'key'] None None
		['no:fields', 'wrong']
		Invalid argument
	END
}

# The last thread waits for a futex. Nothing is known about the thread before it.
test_states_and_files_of_a_log()
{
	write_log log <<-'END'
		classes all,strings
		host h
		born 1699999999000000000
		thread main 7 7 0x7f00
		thread worker 7 8 0x7f01
		thread moving 7 9 0x7f02
		thread locked 7 10 0x7f03
		since 1700000000000000000
		block 4
		event 2 1000
		state main 1500 500 1 24 2 0 3 0 0 0 read
		state worker 1600 1500 0 3 1 0 0 0 0 0 -
		state moving 1600 0 4294967295 0 0 0 0 0 0 0 -
		state locked 1700 900 2 220 3 202 0x1000 1 10 2 futex
		file main 1800 -1 0 4 0
		file main 1800 0 1 1 5 /etc/passwd
		file main 1800 1 3 10 77
		file main 1800 3 2 3 78 tcp:127.0.0.1:80,listening
		file main 1800 -1 5 0 9
		end
	END
	python >out <<-'END'
		import posixtrace
		with posixtrace.Log("log") as log:
		    states = log.states()
		    for state in states:
		        print(*state)
		    print(states[0].call_name, states[0].args[0], states[0] == log.states()[0])
		    for file in log.files():
		        print(*file)
	END
	prints out <<-'END'
		1700000000000001500 1700000000000000500 False 1699999999000000000 7 7 None main S False False 2 0 read False (3, 0, 0, 0, 0, 0) 0 None False
		1700000000000001600 1700000000000001500 True 1699999999000000000 7 8 None worker R True False 1 None None False None None None False
		1700000000000001600 None False 1699999999000000000 7 9 None moving None False False 0 None None False None None None False
		1700000000000001700 1700000000000000900 False 1699999999000000000 7 10 None locked D False True 3 202 futex False (4096, 0, 0, 0, 0, 0) 0 (1, 0, 10, 0, 2) True
		read 3 True
		1700000000000001800 7 -1 table  0 False False False True
		1700000000000001800 7 0 path /etc/passwd 5 True False False False
		1700000000000001800 7 1 pipe  77 False True True False
		1700000000000001800 7 3 socket tcp:127.0.0.1:80,listening 78 True True False False
		1700000000000001800 7 -1 more  9 False False False False
	END
	# Write more rows than the library returns in one call.
	{
		printf '%s\n' 'classes all,strings' 'host h' 'thread main 7 7 0x7f00' 'block 4' 'event 2 1000'
		seq -f 'file main 1800 %g 1 1 5 /etc/passwd' 0 999
		echo end
	} | write_log many
	python >out <<-'END'
		import posixtrace
		files = posixtrace.Log("many").files()
		print([file.fd for file in files] == list(range(1000)), {file.text for file in files})
	END
	prints out <<<"True {'/etc/passwd'}"
	write_log plain <<<$'block 0\nend'
	python >out <<-'END'
		import posixtrace
		with posixtrace.Log("plain") as log:
		    print(log.states(), log.files())
		try:
		    log.files()
		except OSError as error:
		    print(error)
	END
	prints out <<-'END'
		[] []
		posixtrace_get_files: Invalid argument
	END
}

test_files_that_are_no_logs()
{
	echo "no log" >file
	python >out <<-'END'
		import errno, posixtrace
		for name in "file", "missing":
		    try:
		        posixtrace.Log(name)
		    except OSError as error:
		        print(type(error).__name__, errno.errorcode[error.errno], error)
	END
	prints out <<-'END'
		Error EINVAL posix_trace_open: Invalid argument
		FileNotFoundError ENOENT [Errno 2] No such file or directory: 'missing'
	END
}

# Decodes the data of each type, and encodes the values again.
test_values_become_data_and_values_again()
{
	python >out <<-'END'
		from posixtrace import Fields
		def again(description, **values):
		    fields = Fields(description)
		    data = fields.encode(values)
		    assert fields.decode(data) == values, (data, fields.decode(data))
		    assert fields.decode(data + b"z") != values
		    print(data.hex(), fields.decode(data[:-1], truncated=True))
		again("{ u8 a; i16 b; x32 c; u64 d; }", a=255, b=-2, c=0xdeadbeef, d=2**64 - 1)
		again("{ f32 a; f64 b; bool c; }", a=1.5, b=-0.125, c=True)
		again("{ enum { no = -1, yes = 1 } a; enum: u64 { x } b; }", a="no", b=5)
		again("struct { u8 a; u32 b; char c[3]; }", a=1, b=2, c="xy")
		again("{ u8 n; u16 a[n]; char s[n]; string t[2]; }", n=2, a=[3, 4], s="ab", t=["", "ä"])
		again("{ { u8 x; { u8 y; } in; } a[2]; }", a=[{"x": 1, "in": {"y": 2}}, {"x": 3, "in": {"y": 4}}])
	END
	prints out <<-'END'
		fffeffefbeaddeffffffffffffffff {'a': 255, 'b': -2, 'c': 3735928559}
		0000c03f000000000000c0bf01 {'a': 1.5, 'b': -0.125}
		ffffffff0500000000000000 {'a': 'no'}
		010000000200000078790000 {'a': 1, 'b': 2, 'c': 'xy'}
		0203000400616200c3a400 {'n': 2, 'a': [3, 4], 's': 'ab', 't': ['']}
		01020304 {'a': [{'x': 1, 'in': {'y': 2}}, {'x': 3, 'in': {}}]}
	END
}

# The names are the same as in the JSON of "posixtrace dump".
test_units_of_all_fields()
{
	python >out <<-'END'
		from posixtrace import Fields
		print(Fields('{ u8 a "B"; u16 b; u8 c[2] "ns"; { { u8 x "m"; } in[2]; } at; }').units)
	END
	prints out <<<"{'a': 'B', 'c': 'ns', 'at.in.x': 'm'}"
}

test_wrong_values_are_refused()
{
	python >out <<-'END'
		from posixtrace import Fields
		def wrong(description, **values):
		    try:
		        Fields(description).encode(values)
		    except (TypeError, ValueError, KeyError) as error:
		        print(type(error).__name__, error)
		wrong("{ u8 a; }", a=256)
		wrong("{ u8 a; }", a="x")
		wrong("{ u8 a; }")
		wrong("{ u8 a; }", a=1, b=2)
		wrong("{ u8 a[2]; }", a=[1])
		wrong("{ char a[2]; }", a="abc")
		wrong("{ string a; }", a="a\0b")
		wrong("{ enum { x } a; }", a="y")
		wrong("{ u8 a;\n  u33 b; }")
	END
	prints out <<-'END'
		ValueError a: ubyte format requires 0 <= number <= 255
		ValueError a: required argument is not an integer
		TypeError missing field 'a'
		TypeError unknown field 'b'
		ValueError a: 1 elements instead of 2
		ValueError a: 3 bytes instead of 2
		ValueError a: a string has no null byte
		KeyError 'y'
		DescriptionError line 2, column 3: unknown type "u33"
	END
}

# A forged number of elements must not take much time.
test_forged_number_of_elements()
{
	python <<-'END'
		from posixtrace import Fields
		assert Fields("{ u64 n; u8 a[n]; }").decode(b"\xff" * 16) is None
		assert Fields("{ u64 n; char s[n]; }").decode(b"\xff" * 16) is None
		# Arrays of elements without bytes, and arrays without elements.
		data = b"\xff\xff\0" + b"\xff" * 20000
		assert Fields("{ u16 n; u8 z; { char c[z]; } a[n]; text t; }").decode(data)["t"]
		assert Fields("{ u16 n; u8 z; { { char d[z]; } b[n]; } a[n]; text t; }").decode(data) is None
	END
}

# The command must show random data in the same way as the module.
test_random_fields_are_those_of_the_command()
{
	local seed
	for seed in {1..20}; do
		python3 "$native/random_fields.py" write "$seed" | write_log log
		posixtrace dump --json log >json
		LD_LIBRARY_PATH=$native/../../../build/stage/usr/lib \
			python3 -W error "$native/random_fields.py" compare log json
	done
}

test_events_of_the_kernel_have_fields()
{
	write_log log <<-'END'
		classes sched,process,syscall
		host h
		thread A 10 11 0xa
		since 1700000000000000000
		block 0
		kernel sched_switch_in 1000 cpu=0 @A runnable=7
		kernel syscall_entry 2000 cpu=0 @A args=1,2,3
		kernel sched_switch_out 3000 cpu=0 @A state=83 reason=blocked
		end
	END
	posixtrace dump --json log >json
	python >out <<-'END'
		import json, posixtrace
		with posixtrace.Log("log") as log, open("json") as lines:
		    for event, line in zip(log, lines, strict=True):
		        assert list(event.fields) == list(json.loads(line)["fields"])
		        print(event.name, event.user, event.tid, event.fields["tid"])
		    print(event.fields["reason"], log.fields(event.type).names == list(event.fields))
	END
	prints out <<-'END'
		sched_switch_in False 11 11
		syscall_entry False 11 11
		sched_switch_out False 11 11
		blocked True
	END
}

test_types_without_a_name()
{
	printf '%s\n' 'block 0' 'event 70 1700000000000001000 text=a' 'event 70 1700000000000002000' end |
		write_log log
	posixtrace dump --json log | jq -r .event >names
	python >out <<-'END'
		import posixtrace
		with posixtrace.Log("log") as log:
		    for event in log:
		        print(event.name, event.fields)
		try:
		    log.name(71)
		except posixtrace.Error as error:
		    print(error)
	END
	prints names <<<$'(type 70)\n(type 70)'
	prints out <<-'END'
		(type 70) None
		(type 70) None
		posix_trace_eventid_get_name: Invalid argument
	END
}

test_names_of_thread_and_process()
{
	write_log log <<-'END'
		host h
		name 65 tick
		task 10 11 1700000000000000001 worker\xff
		program 10 1700000000000000001 /usr/bin/server\x00-x
		since 1700000000000000000
		block 0
		event 65 1000 pid=10 tid=11 thread=0xa
		event 65 2000 pid=12 tid=4711 thread=0xa
		end
	END
	python >out <<-'END'
		import posixtrace
		with posixtrace.Log("log") as log:
		    for event in log:
		        print(event.tid, ascii(event.thread_name), event.process_name, event.program)
		print(event.tid, event.thread_name, event.program)
	END
	prints out <<-'END'
		11 'worker\udcff' server ['/usr/bin/server', '-x']
		4711 None None None
		4711 None None
	END
}

# If two threads could read, each would get only a part of the events.
test_two_threads_are_refused()
{
	{ echo 'name 65 tick'; echo 'block 0'; seq -f 'event 65 17000000000000%05.0f' 1000; echo end; } | write_log log
	python >out <<-'END'
		import posixtrace, threading
		log = posixtrace.Log("log")
		def use():
		    try:
		        print(len(list(log)))
		    except RuntimeError as error:
		        print(error)
		def in_thread():
		    thread = threading.Thread(target=use)
		    thread.start()
		    thread.join()
		events = iter(log)
		next(events)
		in_thread()
		print(1 + len(list(events)))
		log.rewind()
		in_thread()
		# Call this while another thread is in the library.
		log.rewind()
		log._lock.acquire()
		in_thread()
	END
	prints out <<-'END'
		two threads read the same stream or log: open the log once for each
		1000
		1000
		two threads read the same stream or log: open the log once for each
	END
}

test_fields_may_have_any_name()
{
	python >out <<-'END'
		import posixtrace
		posixtrace._library.posix_trace_event = lambda number, data, size: print(number, data, size)
		def point(fields):
		    made = posixtrace.EventType.__new__(posixtrace.EventType)
		    made.id, made.name, made.fields = 65, "p", fields
		    return made
		point(posixtrace.Fields("{ u8 data; u8 self; }")).record(data=5, self=6)
		plain = point(None)
		plain.record(b"ab")
		plain.record(bytearray(b"c"))
		plain.record()
		for arguments, values in ((5,), {}), (("text",), {}), ((b"a",), {"data": 5}), ((), {"data": 5}):
		    try:
		        plain.record(*arguments, **values)
		    except TypeError as error:
		        print(error)
	END
	prints out <<-'END'
		65 b'\x05\x06' 2
		65 b'ab' 2
		65 b'c' 1
		65 b'' 0
		data must be bytes, not int
		data must be bytes, not str
		either bytes or fields
		p: has no description, so no field 'data'
	END
}

test_logs_are_for_the_user_only()
{
	[ ! -e /dev/posixtrace ] || return 0
	umask 0
	python <<-'END'
		import os, posixtrace
		try:
		    posixtrace.Stream(log="new")
		except posixtrace.Error:
		    assert os.stat("new").st_mode & 0o7777 == 0o600
	END
	[ -e new ]
}

# The structures must have the same layout as in the headers.
test_structures()
{
	local name
	{
		echo '#include <posixtrace.h>'
		echo '#include <posixtrace/fields.h>'
		echo '#include <stdio.h>'
		echo 'int main(void) {'
		for name in 'trace_attr_t' 'struct posix_trace_event_info' 'struct posixtrace_batch_event' \
			'struct posixtrace_log_info' 'struct posixtrace_stats_info' 'struct posixtrace_label' \
			'struct posixtrace_field' 'struct posixtrace_fields_error' 'struct posixtrace_value' \
			'struct posixtrace_walk' 'struct posixtrace_clock_pair' \
			'struct posixtrace_clock_time'; do
			printf '%s\n' "printf(\"%zu\\n\", sizeof($name));"
		done
		for name in length labels size count type is_signed; do
			printf '%s\n' "printf(\"%zu\\n\", offsetof(struct posixtrace_field, $name));"
		done
		for name in text_len number real label what; do
			printf '%s\n' "printf(\"%zu\\n\", offsetof(struct posixtrace_value, $name));"
		done
		printf '%s\n' 'printf("%zu\n", offsetof(struct posixtrace_batch_event, tid));'
		echo '}'
	} >sizes.c
	cc -o sizes -I"$native/../../../lib/include" -include stddef.h sizes.c
	python >out <<-'END'
		import ctypes, posixtrace as p
		for kind in (p._Attr, p._Info, p._BatchEvent, p._LogInfo, p._Stats, p._Label, p._CField,
		             p._FieldsError, p._Value, p._Walk, p._ClockPair, p._ClockTime):
		    print(ctypes.sizeof(kind))
		for name in "length", "labels", "size", "count", "type", "is_signed":
		    print(getattr(p._CField, name).offset)
		for name in "text_len", "number", "real", "label", "what":
		    print(getattr(p._Value, name).offset)
		print(p._BatchEvent.tid.offset)
	END
	./sizes | prints out
}

test_without_the_module()
{
	[ ! -e /dev/posixtrace ] || return 0
	python >out <<-'END'
		import posixtrace
		for call in lambda: posixtrace.EventType("x"), lambda: posixtrace.Stream():
		    try:
		        call()
		    except posixtrace.Error as error:
		        print(error)
	END
	prints out <<-'END'
		posix_trace_eventid_open: No such device
		posix_trace_create: No such device
	END
}

run_cases
