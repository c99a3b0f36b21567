#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the tables of "posixtrace stat --by", which are divided by a field, a process or a thread,
# and the table of system calls.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# rows HEADER: prints the rows of the table in the file out with this header, with single spaces
rows()
{
	HEADER=$1 awk '
		!NF { on = 0 }
		on { gsub(/ +/, " "); sub(/ $/, ""); print }
		index($0, ENVIRON["HEADER"]) == 1 { on = 1 }' out
}

# server_log: writes the file log. The operation is a field of the begin event, the status a field
# of the end event.
server_log()
{
	write_log log <<-'END'
		cpus 1
		name 65 request_begin
		name 66 request_end
		name 67 cache
		name 68 idle
		describe 65 { enum { get, set } op; string key; }
		describe 66 { u16 status; }
		describe 67 { enum { get, set } op; { i32 x "ms"; } at; x16 flags; u8 n; u8 list[n]; f64 load; bool hit; }
		block 0
		event 65 1000 thread=1 hex=000000006100
		event 65 1500 thread=2 hex=01000000612200
		event 67 1600 thread=1 hex=00000000fbffffff1000020102000000000000f83f01
		event 66 2000 thread=1 hex=c800
		event 67 2600 thread=1 hex=00000000fbffffff1000000000000000000c4000
		event 66 4500 thread=2 hex=f401
		event 65 5000 thread=1 hex=000000006100
		event 66 8000 thread=1 hex=c800
		event 65 9000 thread=1 hex=01
		event 66 9100 thread=1 hex=c800
		event 68 9200 thread=1
		event 65 9300 thread=1 hex=01000000612200
		end
	END
}

test_a_field_of_the_begin_or_the_end_divides_a_scope()
{
	server_log
	run 0 posixtrace stat --by op log
	complains
	rows 'FROM BEGIN' >got
	prints got <<-'END'
		request get 2 4.00 us 2.00 us 1.00 us 2.98 us 3.00 us 0
		request set 1 3.00 us 3.00 us 3.00 us 3.00 us 3.00 us 1
		request (none) 1 100 ns 100 ns 100 ns 100 ns 100 ns 0
	END
	run 0 posixtrace stat --by=status log
	rows 'FROM BEGIN' >got
	prints got <<-'END'
		request 200 3 4.10 us 1.37 us 999 ns 2.98 us 3.00 us 0
		request 500 1 3.00 us 3.00 us 3.00 us 3.00 us 3.00 us 0
		request (none) 0 - - - - - 1
	END
}

# The begins and ends are in the table of scopes.
test_a_field_divides_events()
{
	server_log
	run 0 posixtrace stat -b op log
	rows EVENT >got
	prints got <<<'cache get 2 241.0 k/s 1.00 us 1.00 us 1.00 us'
	grep -qx '5 events of 2 types without the field' out
	grep -qx 'events    12 user, 0 system' out
}

# by FIELD: prints the values of the table of events
by()
{
	run 0 posixtrace stat --by="$1" log
	rows EVENT | cut -d ' ' -f 2-3 | sort
}

test_values_are_printed_like_in_a_dump()
{
	server_log
	[ "$(by at.x)" = '-5 ms' ]
	[ "$(by flags | cut -d ' ' -f 1)" = 0x10 ]
	[ "$(by load | paste -s)" = $'1.5 1\t3.5 1' ]
	[ "$(by hit | paste -s)" = $'false 1\ttrue 1' ]
	[ "$(by list | paste -s)" = $'(none) 1\t1,2 1' ]
	[ "$(by 'list[1]' | paste -s)" = $'(none) 1\t2 1' ]
	run 0 posixtrace stat --by=key log
	rows 'FROM BEGIN' | cut -d ' ' -f 2-3 >got
	prints got <<-'END'
		"a" 2
		"a\"" 1
		(none) 1
	END
}

test_processes_and_threads_divide()
{
	write_log log <<-'END'
		cpus 1
		host h
		name 65 a_begin
		name 66 a_end
		name 67 thread
		describe 67 { u8 thread; }
		task 10 10 1 one
		task 10 11 1 two
		program 20 1 /bin/other\x00-v
		block 0
		event 65 1000 pid=10 tid=10 thread=1
		event 65 1100 pid=10 tid=11 thread=2
		event 65 1200 pid=20 tid=20 thread=1
		event 66 2000 pid=10 tid=10 thread=1
		event 66 3100 pid=10 tid=11 thread=2
		event 66 8200 pid=20 tid=20 thread=1
		event 67 9000 pid=20 tid=20 thread=1 hex=07
		block 1
		event 2 1 pid=99
		end
	END
	run 0 posixtrace stat --by=thread log
	rows 'FROM BEGIN' | cut -d ' ' -f 1-4 >got
	prints got <<-'END'
		a 20 1 7.00
		a two-11 1 2.00
		a one-10 1 1.00
	END
	# system events belong to no thread
	rows EVENT | cut -d ' ' -f 1-3 >got
	prints got <<<'thread 20 1'
	run 0 posixtrace stat --by=process log
	rows 'FROM BEGIN' | cut -d ' ' -f 1-4 >got
	prints got <<-'END'
		a other-20 1 7.00
		a one-10 2 3.00
	END
	# ".thread" means a field with the name "thread"
	run 0 posixtrace stat --by=.thread log
	rows EVENT | cut -d ' ' -f 1-3 >got
	prints got <<<'thread 7 1'
}

calls_log()
{
	write_log log <<-'END'
		classes syscall,process
		host h
		thread A 10 10 0xa
		thread B 11 11 0xb
		since 1000000
		kernel syscall_exit 100 cpu=0 @A nr=0 result=1
		kernel syscall_entry 1000 cpu=0 @A nr=0 name=read args=3,1,2
		kernel syscall_exit 2000 cpu=0 @A nr=0 result=5
		kernel syscall_entry 3000 cpu=0 @A nr=0 name=read args=4
		kernel syscall_exit 6000 cpu=0 @A nr=0 result=-11
		kernel syscall_entry 7000 cpu=0 @B nr=1 name=write args=3
		kernel syscall_entry 7500 cpu=0 @A nr=1 name=write args=3
		kernel syscall_exit 27000 cpu=0 @B nr=1 result=-4095
		kernel syscall_exit 27500 cpu=0 @A nr=1 result=-4096
		kernel syscall_entry 30000 cpu=0 @A nr=231 name=exit_group
		kernel sched_process_exit 31000 cpu=0 @A group_dead=true
		end
	END
}

test_system_calls()
{
	calls_log
	run 0 posixtrace stat log
	rows 'SYSTEM CALL' >got
	prints got <<-'END'
		write 2 1 40.0 us 20.0 us 20.0 us 20.0 us 20.0 us 0
		read 2 1 4.00 us 2.00 us 1.00 us 2.98 us 3.00 us 0
		exit_group 1 0 - - - - - 1
		and 1 return without a call, as of new threads
	END
	run 0 posixtrace stat --by=process log
	rows 'SYSTEM CALL' | cut -d ' ' -f 1-6 >got
	prints got <<-'END'
		write 10 1 0 20.0 us
		write 11 1 1 20.0 us
		read 10 2 1 4.00 us
		exit_group 10 1 0 - -
		and 1 return without a call,
	END
	run 0 posixtrace stat --by='args[0]' log
	rows 'SYSTEM CALL' | cut -d ' ' -f 1-6 >got
	prints got <<-'END'
		write 0x3 2 1 40.0 us
		read 0x4 1 1 3.00 us
		read 0x3 1 0 1.00 us
		exit_group 0x0 1 0 - -
		and 1 return without a call,
	END
	run 0 posixtrace stat --by=result log
	rows 'SYSTEM CALL' | cut -d ' ' -f 1-4 | grep read >got
	prints got <<-'END'
		read -11 1 1
		read 5 1 0
	END
}

# A call that spans a gap or a stop may really be two calls.
test_system_calls_over_a_gap_are_unfinished()
{
	write_log log <<-'END'
		classes syscall
		host h
		thread A 10 10 0xa
		thread B 11 11 0xb
		since 1000000
		kernel syscall_entry 1000 cpu=0 @A nr=0 name=read
		kernel syscall_entry 1100 cpu=0 @B nr=1 name=write
		epoch
		lost 1 1001500
		kernel syscall_exit 2000 cpu=0 @A nr=0
		block 4
		event 3 3000
		event 2 4000
		epoch
		kernel syscall_exit 5000 cpu=0 @B nr=1
		end
	END
	run 0 posixtrace stat log
	rows 'SYSTEM CALL' | cut -d ' ' -f 1-4,9 >got
	prints got <<-'END'
		read 1 0 - 1
		write 1 0 - 1
	END
}

test_real_programs()
{
	local log
	for log in gitgc tar; do
		xz -dc "$native/logs/$log.log.xz" >"$log"
		run 0 posixtrace stat --all "$log"
		rows 'SYSTEM CALL' | grep -v '^and ' >calls
		posixtrace dump --json "$log" | jq -r 'select(.event == "syscall_entry").fields.name' |
			sort | uniq -c | awk '{ print $2, $1 }' | sort >wanted
		cut -d ' ' -f 1-2 calls | sort | diff -u wanted -
		[ -s wanted ]
		# the parts must add up to the whole
		run 0 posixtrace stat --all --by=thread "$log"
		rows 'SYSTEM CALL' | grep -v '^and ' | awk '{ sum[$1] += $3 }
			END { for (name in sum) print name, sum[name] }' | sort | diff -u wanted -
	done
}

# There are ten times as many values as are distinguished, each of one scope.
test_values_beyond_the_limit_are_counted_together()
{
	awk 'BEGIN { print "cpus 1\nname 65 a_begin\nname 66 a_end\ndescribe 65 { u32 id; }\nblock 0"
		for (i = 0; i < 40960; i++) {
			printf "event 65 %d hex=%02x%02x0000\n", 1000 * i + 1, i % 256, i / 256
			printf "event 66 %d\n", 1000 * i + 501
		}
		print "end" }' | write_log log
	(ulimit -v 60000 && posixtrace stat --by=id log) >out
	[ "$(rows 'FROM BEGIN' | wc -l)" -eq 22 ]
	rows 'FROM BEGIN' | tail -n 2 | cut -d ' ' -f 1-7 >got
	prints got <<-'END'
		and 4076 more rows: use --all
		a (other values) 36864 18.4 ms 500
	END
	run 0 posixtrace stat --all --by=id log
	[ "$(rows 'FROM BEGIN' | wc -l)" -eq 4097 ]
	[ "$(rows 'FROM BEGIN' | grep -c ' 1 500 ns ')" -eq 4096 ]
}

test_names_beyond_the_limit_are_counted_together()
{
	awk 'BEGIN { print "cpus 1\nclasses syscall\nhost h\nthread A 10 10 0xa"
		for (i = 1; i <= 5000; i++) {
			print "kernel syscall_entry", 1000 * i, "cpu=0 @A nr=" i " name=call" i
			print "kernel syscall_exit", 1000 * i + 500, "cpu=0 @A nr=" i
		}
		print "end" }' | write_log log
	run 0 posixtrace stat --all log
	[ "$(rows 'SYSTEM CALL' | wc -l)" -eq 4097 ]
	[ "$(rows 'SYSTEM CALL' | awk '{ sum += $2 } END { print sum }')" -eq 5000 ]
	rows 'SYSTEM CALL' | sed -n 1p | cut -d ' ' -f 1-4 >got
	prints got <<<'(others) 904 0 452'
}

test_hostile_values()
{
	write_log log <<-'END'
		name 65 a
		describe 65 { text t; }
		block 0
		event 65 1000 text=\x1b[31m\xff
		event 65 2000 text=\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4x\xc3\xa4\xc3\xa4
		event 65 3000
		end
	END
	run 0 posixtrace stat --by=t log
	lacks $'[\x01-\x09\x0b-\x1f\x7f]' out
	rows EVENT | cut -d ' ' -f 2-3 | sort >got
	LC_ALL=C sort >wanted <<-'END'
		"" 1
		"\x1b[31m\xff" 1
		"äääääääääääääääääääääääx"... 1
	END
	LC_ALL=C sort got | diff -u wanted -
}

test_wrong_fields_are_told()
{
	server_log
	run 0 posixtrace stat --by=opp log
	complains 'posixtrace: --by: opp: no event has this field'
	for by in '' a..b 'a[' 'a[x]' 'a[1]b' 1 a-b 'a b'; do
		run 2 posixtrace stat --by="$by" log
		complains "posixtrace: --by: must be process, thread, file or a field, as at.x (got \"$by\")"
	done
}

test_system_calls_of_each_file()
{
	write_log log <<-'END'
		classes syscall,strings,process
		thread A 7 7 0x7f01
		block 0
		kernel syscall_entry 1000 @A nr=257 name=openat args=0xffffff9c,0x7f00
		kernel syscall_text 2000 @A nr=257 address=0x7f00 arg=1 value=/a
		kernel syscall_exit 3000 @A nr=257 name=openat result=3
		kernel syscall_entry 4000 @A name=read args=3
		kernel syscall_exit 14000 @A name=read result=1
		kernel syscall_entry 20000 @A name=read args=3
		kernel syscall_exit 50000 @A name=read result=-11
		kernel syscall_entry 60000 @A name=read args=0
		kernel syscall_exit 61000 @A name=read
		kernel syscall_entry 70000 @A nr=3 name=close args=3
		kernel syscall_exit 71000 @A nr=3 name=close
		kernel syscall_entry 80000 @A name=read args=3
		kernel syscall_exit 82000 @A name=read result=-9
		kernel syscall_entry 90000 @A nr=39 name=getpid
		kernel syscall_exit 91000 @A nr=39 name=getpid result=7
		end
	END
	posixtrace stat --by=file --json log >out
	jq -r 'select(.table == "call") | "\(.name) \(.value) \(.times) \(.errors)"' out | LC_ALL=C sort >got
	diff got - <<-'END'
		close /a 1 0
		openat /a 1 0
		read /a 2 1
		read null 2 1
	END
	# calls without a descriptor and events are not in the table
	[ "$(wc -l <out)" -eq 5 ]
	# the filter selects one kind of call, but the other calls are still needed to follow the
	# descriptors
	posixtrace stat --by=file --filter='syscall_* && nr == 0' log >out
	grep -qE '^read  */a  *2 ' out
	server_log
	run 0 posixtrace stat --by=file log
	complains 'posixtrace: --by: file: needs a log of record --kernel=syscall,strings,process'
}

run_cases
