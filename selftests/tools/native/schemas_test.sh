#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that the JSON of each command matches its schema in tools/schemas, and that the schemas
# reject anything else. Each member of a schema must occur. Prints TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

# as installed
schemas=$native/../../../build/stage/usr/share/posixtrace/schemas
tables='counters events hosts losses processes scopes states syscalls threads waits'
boot=0123456789abcdef0123456789abcdef

# matches [OPTION]... NAME FILE...: checks files against a schema: see check_schema
matches()
{
	local options=()
	while [[ $1 == --* ]]; do
		options+=("$1")
		shift
	done
	"$native/check_schema" "${options[@]}" "$schemas/$1.json" "${@:2}"
}

# real_logs: writes the logs gitgc and tar, which were recorded
real_logs()
{
	for name in gitgc tar; do
		xz -dc "$native/logs/$name.log.xz" >$name
	done
}

# waker_log FILE: writes a log with a request that waits for all that a thread can wait for
waker_log()
{
	whole_log "$1" <<-'END'
		classes all
		host h
		name 65 request_begin
		name 66 request_end
		task 100 100 1 main
		task 100 101 1 worker
		task 200 200 1 server
		thread a 100 100 0x7f00
		thread b 100 101 0x7f01
		thread c 200 200 0x7f02
		block 0
		kernel sched_switch_in 1 cpu=1 @b
		kernel syscall_entry 2 cpu=2 @c nr=0 name=read args=3
		event 65 5 cpu=0 @a
		kernel syscall_entry 10 cpu=0 @a nr=202 name=futex args=0x1000
		kernel futex_wait 11 cpu=0 @a address=0x1000 operation=lock_pi known=true same_ids=true lock=0x80000065 ip=0x500000
		kernel sched_switch_out 12 cpu=0 @a state=S reason=blocked
		kernel sched_wakeup 100 cpu=1 @a by=thread waker_pid=@b waker_tid=@b
		kernel sched_switch_in 110 cpu=0 @a runnable=10
		kernel irq 150 cpu=0 @a duration=30 number=24 name=disk
		kernel syscall_exit 160 cpu=0 @a nr=202
		kernel syscall_entry 170 cpu=0 @a nr=61 name=wait4 args=101
		kernel sched_switch_out 180 cpu=0 @a state=S reason=blocked
		kernel sched_wakeup 190 cpu=2 @a by=another
		kernel sched_switch_in 200 cpu=0 @a runnable=10
		kernel syscall_exit 210 cpu=0 @a nr=61
		kernel page_fault 220 cpu=0 @a address=0x7f00
		kernel sched_switch_out 230 cpu=0 @a state=D reason=io
		kernel sched_wakeup 240 cpu=0 @a by=interrupt
		kernel sched_switch_in 250 cpu=0 @a
		kernel syscall_entry 260 cpu=0 @a nr=0 name=read args=3
		kernel page_fault 270 cpu=0 @a address=0x7f00
		kernel sched_switch_out 280 cpu=0 @a state=S reason=blocked
		kernel sched_wakeup 300 cpu=0 @a by=another
		kernel sched_switch_in 300 cpu=0 @a
		kernel syscall_exit 310 cpu=0 @a nr=0
		kernel sched_switch_out 320 cpu=0 @a reason=preempted state=R
		kernel sched_switch_in 320 cpu=0 @b
		kernel sched_switch_out 340 cpu=0 @b state=S reason=blocked
		kernel sched_switch_in 345 cpu=0 @a runnable=25
		event 66 400 cpu=0 @a
	END
}

# unborn_log FILE: writes a log with a request that waits for a thread that is created meanwhile
unborn_log()
{
	whole_log "$1" <<-'END'
		classes all
		name 65 request_begin
		name 66 request_end
		task 100 100 1 main
		task 100 101 1 worker
		thread a 100 100 0x7f00
		thread b 100 101 0x7f01
		thread c 100 102 0x7f02
		block 0
		kernel sched_switch_in 1 cpu=1 @b
		event 65 5 cpu=0 @a
		kernel sched_switch_out 100 cpu=0 @a state=S reason=blocked
		kernel sched_process_fork 300 cpu=1 @b child_pid=100 child_tid=102
		kernel sched_wakeup 310 cpu=1 @c new=true by=thread waker_pid=@b waker_tid=@b
		kernel sched_switch_in 320 cpu=2 @c
		kernel sched_wakeup 400 cpu=2 @a by=thread waker_pid=@c waker_tid=@c
		kernel sched_switch_in 410 cpu=0 @a
		event 66 500 cpu=0 @a
	END
}

# measured_log FILE FACTOR: writes a log with 5000 values of a field in events, scopes and system
# calls, more than are told apart, and with states
measured_log()
{
	awk -v factor="$2" 'BEGIN {
		print "classes sched,syscall\nhost h\nname 65 request_begin\nname 66 request_end\nname 67 tick"
		print "describe 65 { u16 id \"B\"; }\ndescribe 67 { u16 id \"B\"; }"
		print "task 7 7 0 main\nthread main 7 7 0x1000\nsince 1700000000000000000\nblock 0"
		for (i = 0; i < 5000; i++) {
			bytes = sprintf("hex=%02x%02x", i % 256, i / 256)
			if (i == 4)
				bytes = "hex=00"
			printf "event 65 %d @main %s\n", time += 10, bytes
			printf "event 67 %d @main %s\n", time += 10, bytes
			printf "kernel syscall_entry %d @main nr=0 name=read args=%d\n", time += 10, i
			printf "kernel sched_switch_out %d @main state=S reason=blocked\n", time += 10
			printf "kernel sched_wakeup %d @main by=timer\n", time += 10 * factor + i % 7
			printf "kernel sched_switch_in %d @main\n", time += 10
			printf "kernel syscall_exit %d @main nr=0 name=read result=%d\n", time += 10, i % 2 ? -5 : i
			printf "event 66 %d @main\n", time += 10
		}
	}' | whole_log "$1"
}

# some: prints the first rows of each table, and those of other values, of the output of stat
some()
{
	awk '/"others"/ || n[substr($0, 1, 16)]++ < 20'
}

# Each command with the option --json, and each format that is JSON, has a schema.
test_every_output_has_a_schema()
{
	for command in $(posixtrace --list-options | awk -F '\t' '$1 == "command" { print $2 }'); do
		posixtrace "$command" --list-options >options
		grep -q '^option	j	json	' options && echo "$command" || ! grep -q 'json' options ||
			echo "$command (another option)"
	done >got
	prints got <<-'END'
		dump
		export (another option)
		live
		query
		stat
		why
	END
	posixtrace export --list-options | grep -oE '\b[a-z]*json[a-z]*\b' | sort -u >got
	prints got <<<jsonl
	find "$schemas" -type f -printf '%f\n' | sort >got
	{
		printf '%s.json\n' chrome event query stat stat-diff why
		# shellcheck disable=SC2086 # the tables are words
		printf 'table-%s.json\n' $tables
	} | sort | prints got
	for schema in "$schemas"/*; do
		cmp "$schema" "$native/../../../tools/schemas/${schema##*/}"
	done
}

# host_log NODE NUMBER: prints a log of a host, of which only the second one has pairs of clocks
host_log()
{
	printf '%s\n' "cookie $2" "boot 0$2" "host $1"
	[ "$2" -lt 2 ] || printf '%s\n' 'clock 0 0 0 0' 'clock 1024 0 0 5'
	printf '%s\n' 'name 65 tick' 'block 0' 'event 65 3000 pid=7'
}

test_events()
{
	described_log described
	counter_log counters
	kernel_log kernel
	real_logs
	for cookie in 1 2; do
		printf '%s\n' "cookie $cookie" "boot $boot" 'host machine' 'name 65 tick' 'block 0' \
			"event 65 ${cookie}000" | whole_log "part-$cookie"
	done
	host_log other 3 | whole_log part-3
	for log in described counters kernel tar 'part-1 part-2' 'part-1 part-3'; do
		# shellcheck disable=SC2086 # perhaps several logs
		posixtrace dump --json $log >"${log// /-}.json" 2>err
	done
	posixtrace dump --json --filter='nest*' --from=2ns described >selected.json
	mkdir src
	cp "$native"/callers.[ch] src/
	gcc -g -O0 -fPIC -shared -DLIBRARY -o libcallers.so src/callers.c
	gcc -g -O0 -fPIE -rdynamic -o callers src/callers.c ./libcallers.so
	./callers | write_log places
	posixtrace dump --json --symbolize places >places.json 2>err
	# only live shows late events: selftests/tools/live_test.sh
	cat {described,counters,kernel,part-1-part-2,places}.json >changed
	matches --absent=late --changed=changed \
		--optional=text,fields,units,counter,call,log,module_offset event ./*.json
}

test_stat()
{
	described_log described
	real_logs
	measured_log measured 1
	for log in described gitgc tar measured; do
		posixtrace stat --json $log >$log.json
		posixtrace stat --json --by=process $log >$log-process.json
		posixtrace stat --json --by=thread $log >$log-thread.json
		posixtrace stat --json --by=file $log >$log-file.json
	done
	for field in op n ok f d string; do
		posixtrace stat --json --by=$field described >field-$field.json
	done
	posixtrace stat --json --by=id measured | some >field-id.json
	posixtrace stat --json --by='args[0]' measured | some >field-args.json
	# no field of a system call has a unit
	{ cat tar.json; head -n 20 field-id.json; tail -n 3 field-args.json; } >changed
	matches --absent=call.unit --changed=changed --optional=name,value,unit,others stat ./*.json
}

test_stat_diff()
{
	measured_log a 1
	measured_log b 2
	whole_log few <<-'END'
		classes sched,syscall
		host h
		name 65 request_begin
		name 66 request_end
		name 68 only
		thread main 7 7 0x1000
		since 1700000000000000000
		block 0
		event 65 10 @main
		event 68 11 @main
		kernel syscall_entry 12 @main nr=0 name=read args=1
		event 66 20 @main
	END
	real_logs
	posixtrace stat --json --diff a b >ab.json
	posixtrace stat --json --diff --by=id a b | some >id.json
	posixtrace stat --json --diff --by='args[0]' a b | some >args.json
	posixtrace stat --json --diff --by=thread a b >thread.json
	posixtrace stat --json --diff a few >few.json 2>err
	posixtrace stat --json --diff few a >few-a.json 2>err
	posixtrace stat --json --diff tar gitgc >real.json
	# states have no fields
	matches --absent=call.unit,state.unit,state.others --changed=ab.json \
		--optional=name,a,b,ratio,ratio_low,ratio_high stat-diff ./*.json
}

test_why()
{
	real_logs
	waker_log waker
	unborn_log unborn
	for log in gitgc tar; do
		posixtrace why --json $log >$log.json
		posixtrace why --json --scope=read $log >$log-read.json
	done
	posixtrace why --json --scope=request waker >waker.json
	posixtrace why --json --scope=request unborn >unborn.json
	cat waker.json unborn.json >changed
	matches --changed=changed why ./*.json \
		--optional=scope,call,fd,address,pid,state,after_fault,waker,holder,creator,parts
}

# all_logs: writes logs so that no column of a table is always null
all_logs()
{
	described_log described
	counter_log counters
	kernel_log kernel
	real_logs
	whole_log scopes <<-'END'
		name 65 outer_begin
		name 66 outer_end
		name 67 inner_begin
		name 68 inner_end
		name 69 queue
		describe 65 { u32 id; }
		describe 66 { u64 bytes; }
		describe 69 { u32 counter; }
		boot 0123456789abcdef0123456789abcdef
		host machine x86_64
		task 7 7 0 main
		program 7 0 /bin/prog\x00-x
		thread one 7 7 0x7f01
		block 0
		event 65 1000 @one hex=05000000
		event 67 1100 @one
		event 66 1200 @one hex=ffffffffffffffff
		event 68 1300 @one
		event 65 1400 @one hex=0500
		event 67 1400 @one text=data
		event 68 1500 @one
		event 66 1600 @one cut
		event 69 1650 @one hex=05000000
		lost 3 1700
		block 0
		event 67 1800 @one
	END
	whole_log files <<-'END'
		classes sched,syscall,strings,process
		thread one 7 7 0x7f01
		block 0
		kernel syscall_entry 1000 @one nr=257 name=openat args=0xffffff9c,0x7f00,0,0
		kernel syscall_text 1100 @one nr=257 address=0x7f00 arg=1 value=/etc/passwd
		kernel syscall_exit 1200 @one nr=257 name=openat result=3
		kernel syscall_entry 2000 @one nr=0 name=read args=3,0x7f10,1
		kernel sched_switch_out 2100 @one state=S reason=blocked
		kernel sched_wakeup 2500 @one by=interrupt
		kernel sched_switch_in 2600 @one
		kernel syscall_exit 3000 @one nr=0 name=read result=1
	END
}

test_tables()
{
	all_logs
	for log in described counters kernel tar scopes files; do
		posixtrace export --format=jsonl --output="$log.out" "$log" 2>err
		posixtrace export --format=csv --output="$log.csv" "$log" 2>err
	done
	host_log alpha 1 | whole_log alpha
	host_log beta 2 | whole_log beta
	posixtrace export --format=jsonl --output=hosts.out alpha beta
	for name in $tables; do
		cat ./{described,counters,kernel,scopes,files,hosts}.out/"$name.jsonl" >changed
		matches --changed=changed "table-$name" ./*.out/"$name.jsonl"
		# the columns are in the same order, which a validator does not look at
		head -n 1 "scopes.csv/$name.csv" | tr -d '\r' >columns
		jq -r '.properties | keys_unsorted | join(",")' "$schemas/table-$name.json" | diff - columns
	done
}

test_query()
{
	all_logs
	readers=$("$native/../../programs/table_readers")
	POSIXTRACE_DUCKDB=$readers/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
	export POSIXTRACE_DUCKDB
	posixtrace query --json tar 'SELECT * FROM syscalls; SELECT * FROM events LIMIT 100; SELECT * FROM hosts' >tar.json
	posixtrace query --json scopes "SELECT [1, NULL] AS a, {'x': 1.5, 'y': 'z'} AS b, true AS c, NULL AS d, * FROM scopes" >scopes.json
	for name in slowest-scopes scope-percentiles losses run-queue; do
		posixtrace query --json --name=$name kernel >"$name.json" 2>err
	done
	matches query ./*.json
	# any member is allowed, but not any document
	for document in 1 '[]' '{}' '"a"'; do
		echo "$document" >document
		not matches query document
	done
}

test_chrome()
{
	all_logs
	waker_log waker
	whole_log crossing <<-'END'
		classes syscall
		name 65 a_begin
		name 66 a_end
		name 67 b_begin
		name 68 b_end
		name 69 bytes
		name 70 not-a-number
		describe 70 { f64 counter; }
		thread one 7 7 0x7f01
		since 1700000000000000000
		block 0
		event 65 1000 @one address=0x1234
		event 67 2000 @one
		event 66 3000 @one hex=00ff cut
		event 68 4000 @one
		event 65 5000 @one
		event 67 6000 @one
		event 70 6500 @one hex=000000000000f87f
		event 69 6600 @one hex=00ff
		kernel syscall_entry 7000 @one nr=0 name=read compat=true
		event 66 8000 @one
		kernel syscall_exit 9000 @one nr=0 name=read compat=true result=1
		event 65 9500 @one zeros=300
		event 69 9550 @one zeros=5000
		event 66 9600 @one
		event 65 9700 @one
		kernel syscall_entry 9800 @one nr=1 name=write
		event 67 9900 @one
		lost 3 10000
		block 0
		event 66 20000 @one
		event 68 21000 @one
		kernel syscall_exit 22000 @one nr=1 name=write result=1
		kernel syscall_entry 23000 @one nr=1 name=write
	END
	for log in described counters kernel tar scopes waker crossing; do
		posixtrace export --format=chrome --output="$log.json" "$log" 2>err
	done
	for log in described counters kernel scopes crossing; do
		# one event each, so that a change costs little
		jq -c '.traceEvents[] as $event | .traceEvents = [$event]' $log.json
	done >changed
	data=fields,units,counter,text,bytes,data_len,truncated,address,cpu
	state=letter,io,preempted,call,by,waker,open
	matches --whole --changed=changed --optional=$data,$state,compat,lost chrome ./*.json
}

run_cases
