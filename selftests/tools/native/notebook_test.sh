#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that the notebook in Documentation/examples works, and that its plot shows the log.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

export MPLCONFIGDIR=$tmp/matplotlib

# The sums of the bars are those of the tables, of the threads that ran longest.
test_the_plot_shows_the_log()
{
	for name in gitgc tar; do
		xz -dc "$native/logs/$name.log.xz" >posixtrace.log
		/usr/bin/python3 -W error "$native/run_notebook" \
			"$native/../../../Documentation/examples/waits.ipynb" plot.png >printed
		cat printed
		[ "$(head -c 4 plot.png | tail -c 3)" = PNG ]
		grep -E '^[0-9]+ of [0-9]+ states of [0-9]+ threads are complete$' printed
		for table in states waits; do
			posixtrace export --format=csv --table=$table posixtrace.log | tr -d '\r' >$table.csv
		done
		/usr/bin/python3 - >wanted <<-'END'
			import collections, csv
			states = list(csv.DictReader(open("states.csv")))
			ran = collections.Counter()
			for row in states:
			    ran[row["utid"]] += int(row["duration_ns"]) * (row["state"] == "running")
			longest = {utid for utid, ns in ran.most_common(8)}
			counts, sums, calls = collections.Counter(), collections.Counter(), collections.Counter()
			for row in states:
			    if row["utid"] in longest:
			        counts[row["state"]] += 1
			        sums[row["state"]] += int(row["duration_ns"])
			for row in csv.DictReader(open("waits.csv")):
			    if row["utid"] in longest:
			        calls[row["call"].replace(" ", "_") or "no_system_call"] += int(row["duration_ns"])
			for state, count in counts.items():
			    print(state, count, round(sums[state] / 1000))
			for call, ns in calls.most_common(8):
			    print(call, 1, round(ns / 1000))
		END
		grep -E '^[a-z_0-9]+ [0-9]+ [0-9]+$' printed | sort >got
		sort wanted | prints got
		[ "$(wc -l <got)" -ge 6 ]
	done
}

run_cases
