#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace export --format=parquet": DuckDB writes the tables, and reads them back.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

readers=$("$native/../../programs/table_readers")
POSIXTRACE_DUCKDB=$readers/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
export POSIXTRACE_DUCKDB
tables='events scopes states waits syscalls counters processes threads hosts losses'

# sql QUERY: prints the result of DuckDB
sql()
{
	node "$native/tables.mjs" "$readers" sql "$1"
}

test_rows_are_those_of_csv_and_jsonl()
{
	described_log described
	counter_log counters
	kernel_log kernel
	scope_log scopes
	xz -dc "$native/logs/gitgc.log.xz" >gitgc
	# more rows than a group has, which is 122880
	many_events 140000 7 | whole_log many
	for log in described counters kernel scopes gitgc many; do
		for format in csv jsonl parquet; do
			posixtrace export -O $format -o "$log.$format" "$log" 2>err.$format
		done
		diff err.csv err.parquet
		[ "$(find $log.parquet -type f | wc -l)" -eq 10 ]
		rm -f ./*.read
		node "$native/tables.mjs" "$readers" parquet "$log.parquet"/*
		for name in $tables; do
			"$native/check_tables" "$name" "$log.csv/$name.csv" "$log.jsonl/$name.jsonl" "$name.read"
		done
	done
	[ "$(sql "SELECT max(row_group_id) > 0 FROM parquet_metadata('many.parquet/events.parquet')")" = true ]
}

test_types_and_metadata_are_those_of_arrow()
{
	kernel_log kernel
	for format in arrow parquet; do
		posixtrace export -O $format -o $format kernel 2>err
	done
	node "$native/tables.mjs" "$readers" arrow arrow/*
	for name in $tables; do
		sed -n 1p "$name.read" >"$name.wanted"
		rm "$name.read"
	done
	node "$native/tables.mjs" "$readers" parquet parquet/*
	for name in $tables; do
		sed -n 1p "$name.read" | cmp "$name.wanted" -
	done
}

test_a_table_is_a_private_file_or_standard_output()
{
	kernel_log log
	mkdir tmp
	export TMPDIR="$PWD/tmp's"
	mv tmp "$TMPDIR"
	run 0 posixtrace export -O parquet --table=waits -o waits.parquet log
	[ "$(stat -c %a waits.parquet)" = 600 ]
	posixtrace export -O parquet --table=waits log 2>err | cat >piped
	cmp waits.parquet piped
	posixtrace export -O parquet --table=waits - <log 2>err >piped
	cmp waits.parquet piped
	run 1 posixtrace export -O parquet --table=waits -o waits.parquet log
	complains 'posixtrace: --output: waits.parquet: File exists; remove it, or choose another name'
	run 2 posixtrace export -O parquet log
	grep -q '^posixtrace: --output: required for several tables' err
	run 1 sh -c 'posixtrace export -O parquet --table=events log >/dev/full'
	grep -q 'No space left' err
	[ -z "$(ls "$TMPDIR")" ]
}

test_without_duckdb()
{
	kernel_log log
	export TMPDIR=$PWD
	for output in '--output=tables' '--table=waits --output=tables' '--table=waits'; do
		# shellcheck disable=SC2086 # several options
		POSIXTRACE_DUCKDB=/no/such.so run 1 posixtrace export -O parquet $output log
		grep -q '^posixtrace: POSIXTRACE_DUCKDB: /no/such.so: ' err
		[ ! -s out ]
		[ ! -e tables ]
	done
	if ! ldconfig -p | grep -q libduckdb; then
		unset POSIXTRACE_DUCKDB
		run 1 posixtrace export -O parquet -o tables log
		complains "posixtrace: export: needs libduckdb.so: install DuckDB's C library, or set POSIXTRACE_DUCKDB"
		[ ! -e tables ]
	fi
	[ -z "$(find . -name 'posixtrace-export-*')" ]
}

test_errors_and_signals_leave_nothing()
{
	make_log log 400000 4 >/dev/null
	mkdir tmp
	export TMPDIR=$PWD/tmp
	for signal in INT TERM HUP QUIT; do
		# a background job ignores SIGINT
		env --default-signal=INT,QUIT posixtrace export -O parquet -o tables log 2>err &
		export=$!
		# once there is a row, the signal is caught
		until [ -e tables/losses.parquet ]; do
			kill -0 "$export"
		done
		kill -s "$signal" "$export"
		status=0
		wait "$export" || status=$?
		[ "$status" -eq $((128 + $(kill -l "$signal"))) ]
		[ ! -e tables ]
		[ -z "$(ls tmp)" ]
	done
	# the file system of the temporary directory is full
	run 1 sh -c 'ulimit -f 1; trap "" XFSZ; exec posixtrace export -O parquet -o tables log'
	cat err
	[ ! -e tables ]
	[ -z "$(ls tmp)" ]
}

# peak FILE COMMAND...: runs a command; writes the largest memory of a process of it, in KiB
peak()
{
	python3 - "$@" <<-'END'
		import resource, subprocess, sys
		subprocess.run(sys.argv[2:], check=True)
		with open(sys.argv[1], "w") as file:
		    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=file)
	END
}

# DuckDB keeps at most 256 MiB of the 4 million rows in memory; its library takes 100 MB.
test_memory_is_bounded()
{
	export TMPDIR=$PWD
	make_log log 4000000 4 >/dev/null
	peak memory posixtrace export -O parquet --table=events -o events.parquet log
	cat memory
	[ "$(cat memory)" -lt 450000 ]
	sql "SELECT count(*), count(DISTINCT cpu) FROM 'events.parquet'" >got
	prints got <<<'4000000|4'
}

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
	run 1 posixtrace export -O parquet -o tables log
	grep -q '^posixtrace: log: the log is damaged' err
	[ "$(sql "SELECT kind FROM 'tables/losses.parquet'")" = damaged ]
}

run_cases
