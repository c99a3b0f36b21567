#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace export" with the formats csv, jsonl and arrow. Prints TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

readers=$("$native/../../programs/table_readers")

# table NAME LOG [OPTION]...: prints a table as CSV, without CR, and without warnings of losses
table()
{
	local name=$1 log=$2
	shift 2
	posixtrace export --format=csv --table="$name" "$@" "$log" 2>said | tr -d '\r'
	cat said >&2
}

# sql QUERY: prints DuckDB's result
sql()
{
	node "$native/tables.mjs" "$readers" sql "$1"
}

# pick COLUMN,...: prints columns of a CSV file on standard input; "-" is a null
pick()
{
	python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(" ".join(row[name] or "-" for name in sys.argv[1].split(",")))' "$1"
}

# agree LOG DIRECTORY: checks that csv, jsonl and arrow have the same tables, and that the values
# have the types of the schema
agree()
{
	local format name
	for format in csv jsonl arrow; do
		posixtrace export -O "$format" -o "$2.$format" "$1"
	done
	rm -f ./*.read
	node "$native/tables.mjs" "$readers" arrow "$2.arrow"/*
	for name in events scopes states waits syscalls counters processes threads hosts losses; do
		"$native/check_tables" "$name" "$2.csv/$name.csv" "$2.jsonl/$name.jsonl" \
			"$name.read"
	done
	[ "$(find "$2.csv" "$2.jsonl" "$2.arrow" -type f | wc -l)" -eq 30 ]
}

test_formats_agree()
{
	described_log described
	counter_log counters
	kernel_log kernel
	scope_log scopes
	xz -dc "$native/logs/gitgc.log.xz" >git
	# more rows than a batch of Arrow has
	many_events 70000 7 | whole_log many
	for log in described counters kernel scopes git many; do
		agree "$log" "of-$log"
	done
	[ "$(grep -c '^{"rows"' events.read)" -eq 2 ]
}

test_events_equal_dump()
{
	described_log described
	kernel_log kernel
	counter_log counters
	xz -dc "$native/logs/gitgc.log.xz" >git
	for log in described kernel counters git; do
		posixtrace dump --json "$log" | jq -c '{
			time_ns: (.time | sub("\\."; "")), name: .event, type, user,
			pid: (if .pid == 0 then null else .pid end),
			comm, cpu, lost, truncated, fields,
			data: (if .data == "" or (.fields and (.truncated | not)) then null
				else .data end)
		}' >wanted
		posixtrace export -O jsonl --table=events "$log" | jq -c '{
			time_ns: (.time_ns | tostring), name, type, user, pid, comm, cpu, lost,
			truncated, fields, data
		}' >got
		# dump writes seconds with nine digits
		sed -i -E 's/"time_ns":"0*([0-9])/"time_ns":"\1/' wanted
		diff wanted got
		[ "$(wc -l <got)" -gt 5 ]
	done
}

test_scopes()
{
	scope_log log
	table scopes log >got 2>err
	prints got <<-'END'
		begin_ns,end_ns,duration_ns,complete,utid,upid,pid,tid,name,depth,self_ns,lost,fields,end_fields
		1100,1300,200,true,1,1,7,7,inner,1,200,0,,
		1400,1450,50,true,1,1,7,7,inner,1,50,0,,
		1000,2000,1000,true,1,1,7,7,outer,0,750,0,"{""id"":5}","{""bytes"":""18446744073709551615""}"
		3000,3200,200,true,1,1,7,7,outer,0,,0,"{""id"":6}","{""bytes"":1}"
		3100,3300,200,true,1,1,7,7,inner,1,200,0,,
		,3400,,false,1,1,7,7,inner,,,,,
		4000,5000,,false,1,1,7,7,outer,0,,3,"{""id"":7}","{""bytes"":2}"
		6000,,,false,1,1,7,7,inner,0,,,,
	END
}

# A pair has no self time if a pair inside it crosses another one, because time would be counted
# twice.
test_self_time_needs_nesting()
{
	whole_log log <<-'END'
		name 65 a_begin
		name 66 a_end
		name 67 b_begin
		name 68 b_end
		name 69 c_begin
		name 70 c_end
		block 0
		event 65 1000 thread=1
		event 67 1100 thread=1
		event 69 1200 thread=1
		event 68 1300 thread=1
		event 70 1400 thread=1
		event 66 1500 thread=1
	END
	table scopes log | pick name,duration_ns,depth,self_ns >got
	prints got <<-'END'
		b 200 1 -
		c 200 2 200
		a 500 0 -
	END
}

test_states_and_waits()
{
	kernel_log log
	table states log | pick tid,begin_ns,end_ns,state,complete,cpu,letter,io,call,woken_by |
		sed 's/17000000000000//g' >got
	prints got <<-'END'
		9 02600 02700 runnable true - - - - thread
		7 00000 03000 running false 0 - - - -
		9 02700 04000 running true 2 - - - -
		9 04000 06000 stopped true - T false - -
		9 06000 06500 runnable true - - - - -
		7 03000 08000 sleep true - S false read thread
		8 04500 05000 runnable true - - - - -
		7 08000 09000 runnable true - - - - thread
		7 09000 10500 running true 0 - - - -
		7 10500 12000 runnable true - - - - -
		8 05000 12000 running true 1 - - - -
		8 12000 14000 disk false - D true fsync -
		7 12000 14000 running false 0 - - - -
		9 06500 14000 running false 2 - - - -
		7 14000 19900 unknown false - - - - -
		7 19900 20000 runnable true - - - - -
		8 14000 21000 unknown false - - - - -
		9 14000 21000 unknown false - - - - -
		7 20000 21000 running true 0 - - - -
	END
	# there is no event of the waker before its wake-up
	columns=tid,state,duration_ns,complete,call,woken_by,waker_pid,waker_tid,waker_utid
	table waits log | pick $columns >got
	prints got <<-'END'
		9 stopped 2000 true - - - - -
		7 sleep 5000 true read thread 7 8 -
		8 disk 2000 false fsync - - - -
	END
}

# For each thread, the sums of states and waits must be those of stat.
test_sums_are_those_of_stat()
{
	for name in gitgc tar; do
		xz -dc "$native/logs/$name.log.xz" >log
		posixtrace stat --states log >stat.txt
		table states log >states.csv
		table waits log >waits.csv
		table syscalls log >syscalls.csv
		"$native/check_tables" sums stat.txt states.csv waits.csv syscalls.csv
	done
}

test_system_calls()
{
	whole_log log <<-'END'
		classes syscall
		thread one 7 7 0x7f01
		block 0
		kernel syscall_exit 500 @one nr=59
		kernel syscall_entry 1000 @one nr=0 args=3,0xffffffffffffffff,64,0,0,0 name=read
		kernel syscall_exit 2000 @one nr=0 result=-11
		kernel syscall_entry 3000 @one nr=1 name=write
		kernel syscall_exit 4000 @one nr=2 result=5
		kernel syscall_entry 5000 @one nr=1 name=write
		lost 2 5500
		block 0
		kernel syscall_exit 6000 @one nr=1 result=8
		kernel syscall_entry 7000 @one nr=3 name=close
	END
	columns=begin_ns,end_ns,duration_ns,complete,name,result,lost,arg0,arg1
	table syscalls log 2>err | pick $columns >got
	prints got <<-'END'
		1000 2000 1000 true read -11 0 3 18446744073709551615
		3000 - - false write - 0 0 0
		5000 6000 - false write - 2 0 0
		7000 - - false close - 0 0 0
	END
}

# A file is known after it was opened, also for the wait in a call. A call that fails has no file.
test_files_of_calls()
{
	script='
		classes sched,syscall,strings,process
		thread one 7 7 0x7f01
		block 0
		kernel syscall_entry 1000 @one nr=257 name=openat args=0xffffff9c,0x7f00,0,0
		kernel syscall_text 1100 @one nr=257 address=0x7f00 arg=1 value=/etc/a\x1b
		kernel syscall_exit 1200 @one nr=257 name=openat result=3
		kernel syscall_entry 2000 @one nr=0 name=read args=3,0x7f10,1
		kernel sched_switch_out 2100 @one state=S reason=blocked
		kernel sched_wakeup 2500 @one by=interrupt
		kernel sched_switch_in 2600 @one
		kernel syscall_exit 3000 @one nr=0 name=read result=1
		kernel syscall_entry 4000 @one nr=35 name=nanosleep args=3,0
		kernel sched_switch_out 4100 @one state=S reason=blocked
		kernel sched_wakeup 4500 @one by=timer
		kernel sched_switch_in 4600 @one
		kernel syscall_exit 5000 @one nr=35 name=nanosleep
		kernel syscall_entry 6000 @one nr=3 name=close args=3
		kernel syscall_exit 6100 @one nr=3 name=close
		kernel syscall_entry 7000 @one nr=0 name=read args=3,0x7f10,1
		kernel syscall_exit 7100 @one nr=0 name=read result=-9'
	whole_log log <<<"${script//$'\t'/}"
	table syscalls log | pick begin_ns,name,file >got
	prints got <<-'END'
		1000 openat /etc/a\x1b
		2000 read /etc/a\x1b
		4000 nanosleep -
		6000 close /etc/a\x1b
		7000 read -
	END
	table waits log | pick begin_ns,call,file >got
	prints got <<-'END'
		2100 read /etc/a\x1b
		4100 nanosleep -
	END
	# files are unknown if options leave out events, or if the log lacks the class
	table syscalls log --exclude=sched | pick file | sort -u >got
	prints got <<<'-'
	script=${script//$'\t'/}
	whole_log log <<<"${script//,strings/}"
	table waits log | pick call,file >got
	prints got <<-'END'
		read -
		nanosleep -
	END
}

# If options leave out events of a thread, it is unknown whether a period is complete.
test_complete_is_unknown_for_a_selection()
{
	kernel_log log
	for options in --filter='sched_*' --exclude=irq --cpu=0-3 --tid=7,8,9 --pid=7; do
		table states log "$options" 2>err >got
		pick complete <got | sort | uniq -c | awk '{ print $2 }' >kinds
		prints kinds <<-'END'
			-
			false
		END
	done
	table states log --to=@1700000000.000010 >got
	pick complete <got | grep -c true | grep -qx 7
}

test_losses()
{
	scope_log log
	table losses log 2>err >got
	prints got <<-'END'
		from_ns,to_ns,kind,count
		4500,5000,lost,3
	END
	{ printf '%s\n' 'name 65 tick' 'block 0' 'event 65 1000' 'end lost=9'; } | write_log log
	table losses log 2>err >got
	prints got <<-'END'
		from_ns,to_ns,kind,count
		1000,,lost,9
	END
	table hosts log 2>err | pick events,lost,damaged,ended >got
	prints got <<<'1 9 0 true'
}

# A period that spans a damaged place is not complete, although no event is known to be lost.
test_damage()
{
	whole_log good <<-'END'
		classes sched,syscall
		name 65 work_begin
		name 66 work_end
		name 67 tick
		thread one 7 7 0x7f01
		since 1700000000000000000
		block 0
		event 65 1000 @one
		kernel sched_switch_out 2000 @one state=S reason=blocked
		epoch
		block 1
		event 67 3000 thread=2 text=damaged-here
		epoch
		block 0
		kernel sched_wakeup 4000 @one by=timer
		kernel sched_switch_in 5000 @one runnable=1000
		event 66 6000 @one
	END
	table scopes good | pick name,end_ns,duration_ns,complete >got
	prints got <<<'work 1700000000000006000 5000 true'
	table waits good | pick duration_ns,complete,woken_by >got
	prints got <<<'2000 true timer'
	cp good log
	at=$(LC_ALL=C grep -abo damaged-here log | cut -d : -f 1)
	printf 'X' | dd of=log bs=1 seek="$at" conv=notrunc status=none
	fails 1 'log: the log is damaged' posixtrace export -O csv -o out log
	tr -d '\r' <out/losses.csv | pick from_ns,to_ns,kind,count >got
	prints got <<<'1700000000000002000 1700000000000004000 damaged -'
	tr -d '\r' <out/scopes.csv | pick name,end_ns,duration_ns,complete >got
	prints got <<<'work 1700000000000006000 - false'
	tr -d '\r' <out/waits.csv >got
	[ "$(wc -l <got)" -eq 1 ]
	tr -d '\r' <out/hosts.csv | pick events,damaged >got
	prints got <<<'6 1'
}

test_counters()
{
	counter_log log
	table counters log >got
	prints got <<-'END'
		time_ns,name,utid,upid,pid,tid,value,integer,unit
		1700000000000000000,queue,1,1,7,,10,10,B
		1700000000000100000,queue,1,1,7,,20,20,B
		1700000000000150000,queue,2,2,8,,1.8446744073709552e+19,,B
		1700000000000200000,load,1,1,7,,-1.5,,1/s
	END
}

test_threads_processes_and_hosts()
{
	whole_log log <<-'END'
		host of-a-test
		name 65 tick
		task 7 7 0 main
		task 7 8 0 a-b
		program 7 0 /bin/prog\x00-x
		block 0
		event 65 1000 pid=7 tid=7 thread=0x10
		event 65 2000 pid=7 tid=8 thread=0x20
		event 65 3000 pid=7 tid=7 thread=0x10
		event 65 4000 pid=9 thread=0x30
	END
	table threads log >got
	prints got <<-'END'
		utid,upid,pid,tid,pthread,name,first_ns,last_ns,events,host
		1,1,7,7,16,main,1000,3000,2,
		2,1,7,8,32,a-b,2000,2000,1,
		3,2,9,,48,,4000,4000,1,
	END
	table processes log >got
	prints got <<-'END'
		upid,pid,name,command,first_ns,last_ns,events,host
		1,7,prog,/bin/prog -x,1000,3000,3,
		2,9,,,4000,4000,1,
	END
	table hosts log | pick node,machine,first_ns,last_ns,events,lost,ended >got
	prints got <<<'of-a-test - 1000 4000 4 0 true'
}

# Names may be any bytes. Each format must have the same printable text for them.
test_names_of_any_bytes()
{
	whole_log log <<-'END'
		name 65 a,"b"\x0a\xff\x5c\x1b[31m
		name 66 ,
		block 0
		event 65 1000 thread=1 hex=00ff
		event 66 2000 thread=1
	END
	lacks "$(printf '\033')" <(table events log)
	table events log >got
	grep -qF ',"a,""b""\n\xff\\\x1b[31m",' got
	agree log of
	sql "select name from read_csv('of.csv/events.csv')" >got
	prints got <<-'END'
		a,"b"\n\xff\\\x1b[31m
		,
	END
}

test_duckdb_reads_csv_and_jsonl()
{
	xz -dc "$native/logs/gitgc.log.xz" >log
	posixtrace export -O csv -o out log
	posixtrace export -O jsonl -o json log
	sql "select count(*), min(time_ns), max(time_ns) from read_csv('out/events.csv')" >got
	posixtrace dump --json log | jq -r .time | sort >times.txt
	sed -i 's/\.//' times.txt
	prints got <<<"$(wc -l <times.txt)|$(head -n 1 times.txt)|$(tail -n 1 times.txt)"
	sql "select name, count(*) n, quantile_disc(duration_ns, 0.99)
		from read_csv('out/syscalls.csv') where complete group by name
		order by n desc, name limit 5" >got
	cat got
	sql "select name, count(*) n, quantile_disc(duration_ns::bigint, 0.99)
		from read_json('json/syscalls.jsonl') where complete group by name
		order by n desc, name limit 5" >again
	diff got again
	[ "$(wc -l <got)" -eq 5 ]
	# threads that have woken other threads
	sql "select t.name, sum(w.duration_ns) from read_csv('out/waits.csv') w
		join read_csv('out/threads.csv') t on t.utid = w.waker_utid
		group by 1 order by 2 desc limit 1" >got
	grep -qE '^git' got
}

test_options()
{
	whole_log log <<<'name 65 tick'
	fails 2 'posixtrace: --table: needs --format=csv, jsonl, arrow or parquet' \
		posixtrace export -O chrome --table=events log
	fails 2 'posixtrace: --output: required for several tables' posixtrace export -O csv log
	fails 2 'posixtrace: --output: required for several tables' \
		posixtrace export -O csv -o - --table=events,waits log
	fails 2 'posixtrace: --table: must be events, scopes, ' \
		posixtrace export -O csv --table=event log
	fails 2 '(got "events,")' posixtrace export -O csv --table=events, log
	fails 2 'posixtrace: --compress: needs --format=perfetto or chrome' \
		posixtrace export -O arrow --compress -o out log
	posixtrace export -O csv --table=losses,hosts -o out log
	[ "$(cd out && echo ./*)" = './hosts.csv ./losses.csv' ]
	[ "$(stat -c %a out out/hosts.csv | paste -sd' ')" = '700 600' ]
	posixtrace export -O jsonl --table=hosts -o one log
	jq -e '.events == 0' one
	posixtrace export -O jsonl --table=hosts -o - log | cmp - one
	fails 1 'posixtrace: --output: out: already exists; remove it, or choose another name' \
		posixtrace export -O csv -o out log
	[ -e out/hosts.csv ]
}

# An interrupted or failed export must leave no file and no directory.
test_interrupted_export()
{
	many_events 400000 5 | whole_log log
	for format in csv jsonl arrow; do
		for tables in '' --table=events; do
			for signal in INT TERM; do
				# a background job ignores SIGINT
				env --default-signal=INT posixtrace export -O "$format" -o out \
					${tables:+"$tables"} log &
				until [ -e out ]; do
					kill -0 $!
				done
				kill -s "$signal" $!
				status=0
				wait $! || status=$?
				[ "$status" -eq $((128 + $(kill -l "$signal"))) ]
				[ ! -e out ]
			done
			fails 1 'File too large' sh -c \
				"ulimit -f 100; posixtrace export -O $format -o out $tables log"
			[ ! -e out ]
		done
		fails 1 'No space left' sh -c \
			"posixtrace export -O $format --table=events log >/dev/full"
	done
}

test_memory_is_bounded()
{
	many_events 400000 4 | whole_log log
	for format in csv jsonl; do
		(ulimit -v 49152 && posixtrace export -O "$format" -o "of-$format" log)
	done
	# the memory must be enough for a batch of each table's columns
	(ulimit -v 131072 && posixtrace export -O arrow -o of-arrow log)
	[ "$(wc -l <of-jsonl/events.jsonl)" -gt 400000 ]
	[ "$(du -sk of-arrow | cut -f 1)" -gt 30000 ]
}

run_cases
