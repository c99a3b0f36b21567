#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace query", and the queries in tools/queries. Prints TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

queries=$native/../../../tools/queries
readers=$("$native/../../programs/table_readers")
POSIXTRACE_DUCKDB=$readers/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
export POSIXTRACE_DUCKDB

boot=0123456789abcdef0123456789abcdef

# answers NAME [ARGUMENT]...: checks that the answer of a query is standard input, except for blanks
answers()
{
	local name=$1
	shift
	posixtrace query --name="$name" "$@" 2>err | tr -s ' ' | sed 's/^ //' >got
	[ "${PIPESTATUS[0]}" -eq 0 ]
	tr -s ' ' | diff - got
}

# run_log FILE HOST FACTOR: writes a log with ten requests of FACTOR, 2 * FACTOR ... us, and one
# more scope. The first five are of version 1. The operation is 0 and 1 in turn.
run_log()
{
	{
		printf '%s\n' "cookie $3$(printf '%d' "'$2")" "boot $boot" "host $2" \
			'name 65 request_begin' 'name 66 request_end' \
			"name 67 only-${2}_begin" "name 68 only-${2}_end" \
			'describe 65 { u8 version; u8 op; }' 'thread main 7 7 0x1000' \
			'task 7 7 0 main' 'block 0'
		for ((i = 1; i <= 10; i++)); do
			printf 'event 65 %d @main hex=0%d0%d\n' $((i * 1000000)) $((1 + i / 6)) $((i % 2))
			printf 'event 66 %d @main\n' $((i * 1000000 + i * $3 * 1000))
		done
		printf '%s\n' 'event 67 20000000 @main' 'event 68 20000500 @main'
	} | whole_log "$1"
}

# locks_log FILE: writes a log with one request, in which main waits for a lock while worker holds
# it and reads a file, and in which main is preempted.
locks_log()
{
	sed 's/^\(kernel [a-z_]*\|event 6[56]\) \([0-9]*\)/\1 \2000/' <<-'END' | whole_log "$1"
		classes sched,syscall,strings,process
		host of-a-test
		name 65 request_begin
		name 66 request_end
		task 7 7 0 main
		task 7 8 0 worker
		program 7 0 /bin/shop
		thread main 7 7 0x1000
		thread worker 7 8 0x2000
		block 0
		kernel sched_switch_in 1000 cpu=0 @main
		event 65 1000 @main
		kernel syscall_entry 2000 @main nr=202 name=futex args=0x5000,0,2,0,0,0
		kernel sched_switch_out 3000 @main state=S reason=blocked
		kernel sched_switch_in 1500 cpu=1 @worker
		kernel syscall_entry 2500 @worker nr=257 name=openat args=0xffffff9c,0x7f00,0,0
		kernel syscall_text 2510 @worker nr=257 address=0x7f00 arg=1 value=/etc/data
		kernel syscall_exit 2600 @worker nr=257 name=openat result=3
		kernel syscall_entry 3500 @worker nr=0 name=read args=3,0x7f10,100
		kernel sched_switch_out 4000 @worker state=D reason=io
		kernel sched_wakeup 9000 @worker by=interrupt
		kernel sched_switch_in 9500 @worker runnable=500000
		kernel syscall_exit 9800 @worker nr=0 name=read result=100
		kernel syscall_entry 10000 @worker nr=1 name=write args=3,0x7f10,40
		kernel syscall_exit 10400 @worker nr=1 name=write result=40
		kernel syscall_entry 11000 @worker nr=257 name=openat args=0xffffff9c,0x7f00,0,0
		kernel syscall_text 11010 @worker nr=257 address=0x7f00 arg=1 value=/no/such
		kernel syscall_exit 11100 @worker nr=257 name=openat result=-2
		kernel sched_wakeup 12000 @main by=thread waker_pid=@worker waker_tid=@worker
		kernel sched_switch_in 13000 cpu=0 @main runnable=1000000
		kernel syscall_exit 13100 @main nr=202 name=futex
		kernel sched_switch_out 15000 @main state=R reason=preempted
		kernel sched_switch_in 17000 @main runnable=2000000
		event 66 20000 @main
		kernel sched_switch_out 21000 @main state=S reason=blocked
		kernel sched_switch_out 21000 cpu=1 @worker state=S reason=blocked
	END
}

# lives_log FILE: two processes, one after the other, with the same ids and names: a thread waits for a
# lock that the main thread holds, and opens a file that does not exist
lives_log()
{
	local life
	{
		printf '%s\n' 'classes sched,syscall,strings,process' 'host of-a-test' 'thread main 7 7 0x1000' \
			'thread worker 7 8 0x2000'
		for life in 1 2; do
			printf '%s\n' "born ${life}000000" "task 7 7 ${life}000000 main" "task 7 8 ${life}000000 worker" \
				"program 7 ${life}000000 /bin/shop"
		done
		echo 'block 0'
		for life in 1 2; do
			sed "s/^\(kernel [a-z_]*\) \([0-9]*\)/\1 ${life}\2000/" <<-'END'
				kernel sched_switch_in 010 cpu=0 @main
				kernel sched_switch_in 010 cpu=1 @worker
				kernel syscall_entry 020 @worker nr=202 name=futex args=0x5000,0,2,0,0,0
				kernel sched_switch_out 030 @worker state=S reason=blocked
				kernel sched_wakeup 100 cpu=0 @worker by=thread waker_pid=@main waker_tid=@main
				kernel sched_switch_in 110 cpu=1 @worker runnable=10000
				kernel syscall_exit 120 @worker nr=202 name=futex
				kernel syscall_entry 130 @worker nr=257 name=openat args=0xffffff9c,0x7f00,0,0
				kernel syscall_exit 140 @worker nr=257 name=openat result=-2
				kernel sched_process_exit 150 @worker
				kernel sched_switch_out 160 @worker state=X reason=blocked
				kernel sched_process_exit 200 cpu=0 @main group_dead=1
				kernel sched_switch_out 210 @main state=X reason=blocked
			END
		done
	} | whole_log "$1"
}

# Processes and threads with the same ids and names have separate rows.
test_ids_that_are_used_again_are_apart()
{
	local name
	lives_log log
	for name in blocked-by-call failed-calls lock-holders run-queue; do
		run 0 posixtrace query --json --name="$name" log
		echo "$name"
		cat out
	done >got
	prints got <<-'END'
		blocked-by-call
		{"log":1,"pid":7,"process":"shop","call":"futex","file":null,"count":1,"blocked_ns":70000,"max_ns":70000,"incomplete":0}
		{"log":1,"pid":7,"process":"shop","call":"futex","file":null,"count":1,"blocked_ns":70000,"max_ns":70000,"incomplete":0}
		failed-calls
		{"log":1,"pid":7,"process":"shop","call":"openat","error":"ENOENT","file":null,"count":1,"duration_ns":10000}
		{"log":1,"pid":7,"process":"shop","call":"openat","error":"ENOENT","file":null,"count":1,"duration_ns":10000}
		lock-holders
		{"log":1,"pid":7,"lock":"0x5000","holder_pid":7,"holder_tid":7,"holder":"main","waits":1,"blocked_ns":70000,"max_ns":70000,"waiters":1}
		{"log":1,"pid":7,"lock":"0x5000","holder_pid":7,"holder_tid":7,"holder":"main","waits":1,"blocked_ns":70000,"max_ns":70000,"waiters":1}
		run-queue
		{"log":1,"pid":7,"tid":8,"thread":"worker","woken":1,"preempted":0,"runnable_ns":10000,"p99_ns":10000,"max_ns":10000,"running_ns":70000}
		{"log":1,"pid":7,"tid":8,"thread":"worker","woken":1,"preempted":0,"runnable_ns":10000,"p99_ns":10000,"max_ns":10000,"running_ns":70000}
	END
}

test_slowest_scopes()
{
	run_log log a 5
	answers slowest-scopes --set rows=2 log <<-'END'
		log name duration_ns self_ns begin_ns pid tid thread fields
		1 request 50000 50000 10000000 7 7 main {"version":2,"op":0}
		1 request 45000 45000 9000000 7 7 main {"version":2,"op":1}
	END
	answers slowest-scopes --set scope=only-a log <<-'END'
		log name duration_ns self_ns begin_ns pid tid thread fields
		1 only-a 500 500 20000000 7 7 main -
	END
}

test_scope_percentiles()
{
	run_log log a 1
	answers scope-percentiles log <<-'END'
		log name field version count p50_ns p90_ns p99_ns p999_ns max_ns
		1 only-a - - 1 500 500 500 500 500
		1 request - - 10 5000 9000 10000 10000 10000
	END
	answers scope-percentiles --set scope=request --set field=op --set version=version log <<-'END'
		log name field version count p50_ns p90_ns p99_ns p999_ns max_ns
		1 request 0 1 2 2000 4000 4000 4000 4000
		1 request 0 2 3 8000 10000 10000 10000 10000
		1 request 1 1 3 3000 5000 5000 5000 5000
		1 request 1 2 2 7000 9000 9000 9000 9000
	END
}

# An answer must be null if missing data could change it.
test_checked_percentiles()
{
	local events='
		name 65 a_begin
		name 66 a_end
		name 67 b_begin
		thread main 7 7 0x1000
		block 0
		event 65 1000 @main
		event 66 1500 @main'
	whole_log log <<<"${events//$'\t'/}"
	answers checked-percentiles log <<-'END'
		log name complete incomplete p50_ns p99_ns verdict
		1 a 1 0 500 500 complete
	END
	whole_log log <<<"${events//$'\t'/}"$'\n''event 67 2000 @main'
	answers checked-percentiles log <<-'END'
		log name complete incomplete p50_ns p99_ns verdict
		1 a 1 0 500 500 complete
		1 b 0 1 - - incomplete: begin or end of 1 missing
	END
	whole_log log <<<"${events//$'\t'/}"$'\nlost 3 1800\nblock 0\nevent 65 2000 @main\nevent 66 2100 @main'
	answers checked-percentiles log <<-'END'
		log name complete incomplete p50_ns p99_ns verdict
		1 a 2 0 - - incomplete: 3 events missing at 1 place
	END
	answers checked-percentiles --filter='a*' log <<-'END'
		log name complete incomplete p50_ns p99_ns verdict
		1 a 0 0 - - unknown: options left out events
	END
}

test_scope_processor_time()
{
	locks_log log
	answers scope-processor-time log <<-'END'
		log name count duration_ns running_ns percent max_running_ns
		1 request 1 19000000 7000000 36.8 7000000
	END
}

test_scope_states()
{
	locks_log log
	answers scope-states log <<-'END'
		log name begin_ns pid tid duration_ns running_ns runnable_ns sleep_ns disk_ns stopped_ns call file blocked_ns
		1 request 1000000 7 7 19000000 7000000 3000000 9000000 - - futex - 9000000
	END
}

test_blocked_by_call()
{
	locks_log log
	answers blocked-by-call --set rows=2 log <<-'END'
		log pid process call file count blocked_ns max_ns incomplete
		1 7 shop futex - 1 9000000 9000000 0
		1 7 shop read /etc/data 1 5000000 5000000 0
	END
}

test_lock_holders()
{
	locks_log log
	answers lock-holders log <<-'END'
		log pid lock holder_pid holder_tid holder waits blocked_ns max_ns waiters
		1 7 0x5000 7 8 worker 1 9000000 9000000 1
	END
}

test_wake_chains()
{
	locks_log log
	answers wake-chains log <<-'END'
		log count blocked_ns max_ns chain
		1 1 9000000 9000000 main in futex <- worker in read <- interrupt
		1 1 5000000 5000000 worker in read <- interrupt
	END
	answers wake-chains --set waits=1 --set depth=0 log <<-'END'
		log count blocked_ns max_ns chain
		1 1 9000000 9000000 main in futex
	END
}

test_run_queue()
{
	locks_log log
	answers run-queue log <<-'END'
		log pid tid thread woken preempted runnable_ns p99_ns max_ns running_ns
		1 7 7 main 1 1 3000000 2000000 2000000 8000000
		1 7 8 worker 1 0 500000 500000 500000 14000000
	END
}

# From 1 ms on, main runs for 2, 2 and 4 ms. worker runs from 1.5 to 4 ms and from 9.5 to 21 ms.
test_processor_over_time()
{
	locks_log log
	answers processor-over-time --set step_ms=10 log <<-'END'
		log from_ms pid process running_ns processors
		1 0 7 shop 6000000 0.6
		1 10 7 shop 16000000 1.6
	END
}

test_failed_calls()
{
	locks_log log
	answers failed-calls log <<-'END'
		log pid process call error file count duration_ns
		1 7 shop openat ENOENT - 1 100000
	END
}

test_file_io()
{
	locks_log log
	answers file-io log <<-'END'
		log pid process file reads bytes_read read_ns writes bytes_written write_ns
		1 7 shop /etc/data 1 100 6300000 1 40 400000
	END
}

test_losses()
{
	whole_log log <<-'END'
		host a
		name 65 tick
		block 0
		event 65 1000
		lost 3 1500
		block 0
		event 65 2000
		lost 4 2500
		block 0
		event 65 5000
	END
	run_log whole b 1
	answers losses --each log whole <<-'END'
		log node kind places events missing_ns percent
		1 a lost 2 7 3000 75
		2 b none 0 0 0 0
	END
	grep -qx 'posixtrace: log: 7 events were lost: use a larger stream' err
}

test_compare_runs()
{
	run_log old a 1
	run_log new b 3
	answers compare-runs old new <<-'END'
		name count_1 count_2 p50_ns_1 p50_ns_2 growth p99_ns_1 p99_ns_2 more_ns
		request 10 10 5000 15000 3 10000 30000 110000
		only-b - 1 - 500 - - 500 500
		only-a 1 - 500 - - 500 - -500
	END
}

test_slow_hosts()
{
	run_log 1 a 2
	run_log 2 b 2
	run_log 3 c 5
	answers slow-hosts --set scope=request 1 2 3 <<-'END'
		host name count p50_ns p99_ns p99_ns_of_hosts times
		c request 10 25000 50000 20000 2.5
		a request 10 10000 20000 20000 1
		b request 10 10000 20000 20000 1
	END
}

test_each_query_has_a_test()
{
	posixtrace query --list >list
	[ "$(grep -c '^[a-z]' list)" -ge 15 ]
	for file in "$queries"/*.sql; do
		name=$(basename "$file" .sql)
		grep -q "^$name .*?$" list
		grep -qx "test_${name//-/_}()" "$native/query_test.sh"
		grep -q "^\`\`$name\`\` " "$native/../../../Documentation/tables.rst"
	done
	# the files are installed with the command
	diff -r "$queries" "$(dirname "$(command -v posixtrace)")/../share/posixtrace/queries"
}

# The answers for recorded logs must be the same as those of plain DuckDB on exported tables, with
# the same SQL files.
test_queries_agree_with_exported_tables()
{
	local name
	xz -dc "$native/logs/gitgc.log.xz" >./1
	xz -dc "$native/logs/tar.log.xz" >./2
	for name in 1 2; do
		posixtrace export -O csv -o "of-$name" "$name"
		mkdir -p tables
		mv "of-$name" "tables/$name"
	done
	tables="'events','scopes','states','waits','syscalls','counters','processes','threads','hosts','losses'"
	columns="SELECT table_name, column_name, data_type FROM duckdb_columns()
		WHERE table_name IN ($tables) ORDER BY table_name, column_index"
	sqls=("SET VARIABLE tables = 'tables/*';" "$(cat "$queries/setup/duckdb.sql"); SELECT 1 WHERE false"
		"$columns")
	posixtrace query --json 1 "$columns" >answers
	[ "$(wc -l <answers)" -gt 100 ]
	for file in "$queries"/*.sql; do
		name=$(basename "$file" .sql)
		sqls+=("SELECT '== $name'" "$(cat "$file")")
		echo "[\"== $name\"]" >>answers
		posixtrace query --each --json --name="$name" 1 2 >answer
		cat answer >>answers
		# a query of scopes has no answer, because the recorded programs have no scopes
		[ -s answer ] || grep -q 'FROM scopes' "$file"
	done
	node "$native/tables.mjs" "$readers" sql "${sqls[@]}" >wanted
	jq -r '[.[] | if . == null then "-" else tostring end] | join("|")' answers >got
	diff wanted got
}

test_sql_and_its_answers()
{
	run_log log a 1
	run 0 posixtrace query log "SELECT name, count(*) AS n FROM scopes GROUP BY name ORDER BY n; SELECT 1 AS x WHERE false"
	prints out <<-'END'
		name      n
		only-a    1
		request  10

		x
	END
	complains
	# values of each type, null, and text that needs escaping
	run 0 posixtrace query --json log "SELECT 1::TINYINT a, -2::SMALLINT b, 3::UINTEGER c,
		9007199254740993 d, -18446744073709551616::HUGEINT e, 18446744073709551615::UBIGINT f,
		0.25::FLOAT g, 'nan'::DOUBLE h, 1.50 i, 12345678901234567.5 j, NULL k, true l,
		DATE '2026-12-02' m, TIMESTAMP '2026-12-02 01:02:03.5' n, INTERVAL 3 DAY o,
		[1, NULL, 3] p, {'x': 1, 'y': ['a\"']} q, chr(27) || '\\n\"' r, 'b'::ENUM('a', 'b') s,
		TIME '01:02:03' t, fields u FROM scopes WHERE name = 'request' ORDER BY begin_ns LIMIT 1"
	prints out <<-'END'
		{"a":1,"b":-2,"c":3,"d":"9007199254740993","e":"-18446744073709551616","f":"18446744073709551615","g":0.25,"h":"nan","i":1.50,"j":"12345678901234567.5","k":null,"l":true,"m":"2026-12-02","n":"2026-12-02 01:02:03.5","o":"3 days","p":[1,null,3],"q":{"x":1,"y":["a\""]},"r":"\u001b\\n\"","s":"b","t":"01:02:03","u":"{\"version\":1,\"op\":1}"}
	END
	jq -e . out
	run 0 posixtrace query log "SELECT chr(27) || '[31m' AS text, -5 AS n, 170141183460469231731687303715884105727 AS huge"
	prints out <<-'END'
		text       n                                     huge
		\x1b[31m  -5  170141183460469231731687303715884105727
	END
	run 1 posixtrace query log "SELECT 'x'::BLOB AS b"
	complains 'posixtrace: query: the type of column b cannot be printed: cast it to VARCHAR'
	# more rows than are kept to determine the widths, and many chunks
	run 0 posixtrace query log 'SELECT range AS n FROM range(30000)'
	[ "$(wc -l <out)" -eq 30001 ]
	[ "$(tail -n 1 out)" = 29999 ]
	run 0 posixtrace query log "COPY (SELECT name FROM scopes LIMIT 1) TO 'copy.csv'"
	prints copy.csv <<-'END'
		name
		request
	END
	[ ! -s out ]
}

# Names and texts in a log are values: they cannot become SQL.
test_names_cannot_become_sql()
{
	whole_log log <<-'END'
		host ');DROP/**/TABLE/**/events;--
		name 65 '); DROP TABLE events; --
		name 66 a\xff\x1b"$$
		block 0
		event 65 1000 thread=1 text='||(SELECT/**/1)||'
		event 66 2000 thread=1
	END
	cp log "'); DROP TABLE events; --"
	run 0 posixtrace query --each log "'); DROP TABLE events; --" \
		'SELECT log, e.name, l.path, h.node FROM events e JOIN logs l USING (log) JOIN hosts h USING (log) ORDER BY log, time_ns'
	tr -s ' ' <out >got
	prints got <<-'END'
		log name path node
		 1 '); DROP TABLE events; -- log ');DROP/**/TABLE/**/events;--
		 1 a\xff\x1b"$$ log ');DROP/**/TABLE/**/events;--
		 2 '); DROP TABLE events; -- '); DROP TABLE events; -- ');DROP/**/TABLE/**/events;--
		 2 a\xff\x1b"$$ '); DROP TABLE events; -- ');DROP/**/TABLE/**/events;--
	END
	# the value of a parameter cannot become SQL either
	run 0 posixtrace query --set "x='); DROP TABLE events; --" log \
		"SELECT getvariable('x') AS x, count(*) AS n FROM events"
	prints out <<-'END'
		x                          n
		'); DROP TABLE events; --  2
	END
}

test_tables_are_made_as_needed()
{
	run_log log a 1
	run 0 posixtrace query --json log 'SELECT count(*) AS n FROM SCOPES; SHOW TABLES'
	prints out <<-'END'
		{"n":11}
		{"name":"logs"}
		{"name":"scopes"}
	END
	run 0 posixtrace query --json log 'SHOW TABLES'
	[ "$(wc -l <out)" -eq 11 ]
	run 1 posixtrace query log 'SELECT * FROM scope'
	grep -q '^posixtrace: query: Catalog Error: Table with name scope does not exist!' err
	run 1 posixtrace query log 'SELECT FROM'
	grep -q '^posixtrace: query: Parser Error' err
	run 1 posixtrace query log ';'
	complains 'posixtrace: query: the SQL has no statement'
}

test_selection_and_several_logs()
{
	run_log 1 a 1
	run_log 2 a 2
	run 0 posixtrace query --json 1 2 'SELECT log, count(*) AS n FROM scopes GROUP BY ALL'
	prints out <<<'{"log":1,"n":22}'
	mkdir both
	cp 1 both/1.log
	cp 2 both/2.log
	run 0 posixtrace query --json both "SELECT count(*) AS n FROM scopes WHERE complete"
	wanted=$(cat out)
	run 0 posixtrace query --json 1 2 "SELECT count(*) AS n FROM scopes WHERE complete"
	[ "$(cat out)" = "$wanted" ]
	run 0 posixtrace query --json --each both 1 'SELECT log, path, count(*) AS n FROM scopes JOIN logs USING (log) GROUP BY ALL ORDER BY 1'
	prints out <<-'END'
		{"log":1,"path":"both","n":22}
		{"log":2,"path":"1","n":11}
	END
	run 0 posixtrace query --json --filter='only*' 1 'SELECT count(*) AS n FROM scopes'
	prints out <<<'{"n":1}'
	run 0 posixtrace query --json - 'SELECT count(*) AS n FROM scopes' < <(cat 1)
	prints out <<<'{"n":11}'
	cp 1 posixtrace.log
	run 0 posixtrace query --json 'SELECT count(*) AS n FROM scopes'
	prints out <<<'{"n":11}'
}

# A damaged log still has an answer, but the exit status is an error.
test_damaged_log()
{
	whole_log log <<-'END'
		name 65 tick
		block 0
		event 65 1000
		epoch
		block 1
		event 65 2000 thread=2 text=damaged-here
	END
	at=$(LC_ALL=C grep -abo damaged-here log | cut -d : -f 1)
	printf 'X' | dd of=log bs=1 seek="$at" conv=notrunc status=none
	run 1 posixtrace query --json log 'SELECT kind FROM losses'
	prints out <<<'{"kind":"damaged"}'
	grep -q '^posixtrace: log: the log is damaged' err
}

test_options()
{
	run_log log a 1
	run 2 posixtrace query
	complains 'posixtrace: needs SQL, or --name' 'posixtrace: see "posixtrace query --help"'
	run 2 posixtrace query log
	grep -qx 'posixtrace: needs SQL after the LOG, or --name (got "log")' err
	run 2 posixtrace query --name=slowest log
	grep -q '^posixtrace: --name: must be blocked-by-call, ' err
	run 2 posixtrace query --name=losses --set rows=3 log
	complains 'posixtrace: --set: losses has no parameter rows: posixtrace query --list names them'
	run 2 posixtrace query --set Rows=3 log 'SELECT 1'
	complains 'posixtrace: --set: must be NAME=VALUE, the name in lower-case letters (got "Rows=3")'
	run 1 posixtrace query --name=slowest-scopes --set rows=many log
	grep -q "^posixtrace: query: Conversion Error: Could not convert string 'many' to INT64" err
	run 1 posixtrace query no-such 'SELECT 1'
	grep -q '^posixtrace: no-such: No such file' err
}

test_without_duckdb()
{
	run_log log a 1
	export TMPDIR=$PWD
	unset POSIXTRACE_DUCKDB
	if ! ldconfig -p | grep -q libduckdb; then
		run 1 posixtrace query log 'SELECT 1'
		complains "posixtrace: query: needs libduckdb.so: install DuckDB's C library, or set POSIXTRACE_DUCKDB"
	fi
	POSIXTRACE_DUCKDB=/no/such.so run 1 posixtrace query log 'SELECT 1'
	grep -q '^posixtrace: POSIXTRACE_DUCKDB: /no/such.so: ' err
	# a library that is not DuckDB
	POSIXTRACE_DUCKDB=$(ldconfig -p | sed -n 's/.* => \(.*libz\.so\.1\)$/\1/p' | head -n 1) \
		run 1 posixtrace query log 'SELECT 1'
	complains 'posixtrace: query: libduckdb.so lacks duckdb_create_config: install DuckDB 1.2 or newer'
	[ -z "$(find . -name 'posixtrace-query-*')" ]
}

# Data that do not fit into the memory are in a directory that only the user may enter. It must be
# removed after an answer, an error and a signal.
test_temporary_directory_is_removed()
{
	many_events 2000 3 | whole_log log
	mkdir tmp
	export TMPDIR=$PWD/tmp
	run 0 posixtrace query --json log "SELECT current_setting('temp_directory') AS d"
	grep -q "^{\"d\":\"$PWD/tmp/posixtrace-query-" out
	[ -z "$(ls tmp)" ]
	# 400 MB with a limit of 64 MB
	run 0 posixtrace query --json log "SET memory_limit = '64MB'; SET threads = 1;
		CREATE TABLE t AS SELECT range AS a, hash(range) AS b, hash(range + 1) AS c FROM range(8000000);
		SELECT count(DISTINCT b) AS n FROM t"
	prints out <<<'{"n":8000000}'
	[ -z "$(ls tmp)" ]
	run 1 posixtrace query log "SELECT error('no')"
	[ -z "$(ls tmp)" ]
	for signal in INT TERM HUP QUIT KILL; do
		sql="SELECT count(*) FROM range(100000000000) t WHERE hash(range) = 1"
		# a background job ignores SIGINT
		env --default-signal=INT,QUIT posixtrace query log "$sql" &
		query=$!
		until child=$(pgrep -P "$query"); do
			kill -0 "$query"
		done
		# if the command is killed, its child is killed as well; here, the child itself is
		# killed
		target=$query
		[ "$signal" != KILL ] || target=$child
		[ "$(stat -c %a tmp/posixtrace-query-*)" = 700 ]
		kill -s "$signal" "$target"
		status=0
		wait "$query" 2>err || status=$?
		if [ "$signal" = KILL ]; then
			[ "$status" -eq 1 ]
		else
			[ "$status" -eq $((128 + $(kill -l "$signal"))) ]
		fi
		[ -z "$(ls tmp)" ]
		while kill -0 "$child" 2>/dev/null; do
			:
		done
	done
	TMPDIR=/no/such run 1 posixtrace query log 'SELECT 1'
	complains 'posixtrace: /no/such: No such file or directory'
}

# The query must end when the reader of its output has gone.
test_closed_pipe()
{
	run_log log a 1
	mkdir tmp
	export TMPDIR=$PWD/tmp
	posixtrace query log 'SELECT range FROM range(1000000)' 2>err | head -n 1 >out || true
	[ "$(tr -d ' ' <out)" = range ]
	[ ! -s err ]
	[ -z "$(ls tmp)" ]
	run 1 sh -c "posixtrace query log 'SELECT 1' >/dev/full"
	grep -q 'No space left' err
}

run_cases
