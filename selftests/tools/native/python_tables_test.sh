#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the Python module for tables with written logs.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

export PYTHONPATH=$native/../../../lib/python PYTHONDONTWRITEBYTECODE=1

# Batches have the rows of jsonl in their order; each integer is a number, and fields are texts.
test_rows_are_those_of_jsonl()
{
	described_log described
	counter_log counters
	kernel_log kernel
	scope_log scopes
	for log in described counters kernel scopes; do
		posixtrace export -O jsonl -o $log.jsonl $log 2>err
	done
	python3 -W ignore - >got <<-'END'
		import glob, json, os
		import posixtrace_tables
		total = 0
		for path in glob.glob("*.jsonl/*.jsonl"):
		    log, name = path[:-6].split(".jsonl/")
		    with open(path, encoding="utf-8") as file:
		        wanted = [json.loads(line) for line in file]
		    read = list(posixtrace_tables.batches(name, log, rows=3))
		    sizes = [{len(values) for values in batch.values()} for batch in read]
		    assert sizes == [{3}] * (len(wanted) // 3) + [{len(wanted) % 3}] * (len(wanted) % 3 > 0)
		    rows = [dict(zip(batch, row)) for batch in read for row in zip(*batch.values())]
		    assert len(rows) == len(wanted)
		    for row, other in zip(rows, wanted):
		        assert list(row) == list(other)
		        for column, value in row.items():
		            if isinstance(other[column], dict):
		                assert json.loads(value) == other[column], (path, row)
		            else:
		                assert value == other[column] or value == int(other[column]), (path, row)
		    whole = posixtrace_tables.columns(name, log)
		    assert whole == {column: [row[column] for row in rows] for column in whole}
		    assert bool(whole) == bool(rows)
		    total += len(rows)
		print(total > 60)
	END
	prints got <<<True
}

test_pandas_takes_the_columns()
{
	xz -dc "$native/logs/gitgc.log.xz" >log
	/usr/bin/python3 - >got <<-'END'
		import pandas
		import posixtrace_tables
		waits = pandas.DataFrame(posixtrace_tables.columns("waits", "log"))
		parts = [pandas.DataFrame(batch) for batch in posixtrace_tables.batches("waits", "log", rows=20)]
		assert len(parts) == 3 and pandas.concat(parts, ignore_index=True).equals(waits)
		assert str(waits.begin_ns.dtype) == "int64"
		for call, ns in sorted(waits.groupby("call").duration_ns.sum().items()):
		    print(call, ns)
	END
	posixtrace export -O csv --table=waits log | tr -d '\r' | awk -F , '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["call"] != "" { sum[$at["call"]] += $at["duration_ns"] }
		END { for (call in sum) printf "%s %d\n", call, sum[call] }' | LC_ALL=C sort >wanted
	diff wanted got
	[ -s got ]
}

# The module has to know which strings are integers.
test_wide_columns_are_those_of_the_schemas()
{
	python3 - "$native"/../../../tools/schemas/table-*.json <<-'END'
		import json, sys
		import posixtrace_tables
		wide, others = set(), set()
		for path in sys.argv[1:]:
		    with open(path, encoding="utf-8") as file:
		        for name, column in json.load(file)["properties"].items():
		            (wide if "int64" in json.dumps(column) else others).add(name)
		assert wide == posixtrace_tables._WIDE, wide ^ posixtrace_tables._WIDE
		assert not wide & others, wide & others
	END
}

test_errors_follow_the_rows()
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
	python3 -W error - >got <<-'END'
		import posixtrace_tables
		def read(*arguments, **options):
		    try:
		        for batch in posixtrace_tables.batches(*arguments, **options):
		            print(batch["name"])
		    except (posixtrace_tables.TableError, ValueError) as error:
		        print(str(error).split(";")[0])
		read("events", "log")
		read("events", "no log")
		read("events", "-x")
		read("nonsense", "log")
		read("events", "log", rows=0)
	END
	prints got <<-'END'
		['tick', 'posix_trace_error']
		posixtrace: log: the log is damaged in 1 place: events may be missing there
		posixtrace: no log: No such file or directory
		posixtrace: -x: No such file or directory
		posixtrace: --table: must be events, scopes, states, waits, syscalls, counters, processes, threads, hosts or losses (got "nonsense")
		rows: must be at least 1
	END
}

test_losses_are_warnings()
{
	scope_log log
	python3 - >got <<-'END'
		import warnings
		import posixtrace_tables
		with warnings.catch_warnings(record=True) as said:
		    warnings.simplefilter("always")
		    print(len(posixtrace_tables.columns("scopes", "log", options=["--filter=outer*"])["name"]))
		    print([str(warning.message) for warning in said])
	END
	prints got <<-'END'
		3
		['posixtrace: log: 3 events were lost: use a larger stream']
	END
}

test_a_reader_that_stops_early_ends_the_command()
{
	make_log log 400000 4 >/dev/null
	python3 -W error - >got <<-'END'
		import os
		import posixtrace_tables
		table = posixtrace_tables.batches("events", "log", rows=10)
		print(len(next(table)["name"]))
		table.close()
		try:
		    os.waitpid(-1, 0)
		except ChildProcessError:
		    print("no child")
	END
	prints got <<-'END'
		10
		no child
	END
}

run_cases
