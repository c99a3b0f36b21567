#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests the options --from and --to: skipping the earlier part of a log must not change the output
# for the rest.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# recordings: unpacks the logs of real programs, also makes compressed and indexed copies; prints
# the names
recordings()
{
	local log name
	for log in "$native"/logs/*.log.xz; do
		name=$(basename "$log" .xz)
		xz -dc "$log" >"$name"
		pack_log "$name" "packed.$name"
		index_log "$name" "indexed.$name"
		index_log "packed.$name" "both.$name"
		echo "$name"
	done
}

# times LOG: prints some times of events in the log, and some times between events, in ns
times()
{
	posixtrace dump --json "$1" | jq -r .ns | awk -v seed=7 '
		{ ns[NR] = $1 }
		END {
			srand(seed)
			for (i = 0; i < 12; i++)
				print ns[int(rand() * NR) + 1] + int(rand() * 3) - 1
			print 0 "\n" ns[NR]
		}' | awk '$1 >= 0'
}

test_dump_prints_what_the_whole_dump_has()
{
	local name kind from to
	for name in $(recordings); do
		posixtrace dump --json "$name" >whole
		for from in $(times "$name"); do
			to=$((from + 2000000))
			jq -c --argjson from "$from" --argjson to "$to" \
				'select(.ns >= $from and .ns <= $to)' whole >want
			for kind in '' packed. indexed. both.; do
				posixtrace dump --json --from="${from}ns" --to="${to}ns" \
					"$kind$name" >out || [ ! -s want ]
				jq -c . out | cmp want -
			done
		done
	done
}

# This includes names of threads and programs that were recorded before the time but are still
# valid.
test_text_is_the_same()
{
	local name from
	for name in $(recordings); do
		posixtrace dump "$name" | tr -s ' ' >whole
		for from in $(times "$name"); do
			# columns may have a different width, because the names in the skipped part
			# do not widen them
			posixtrace dump --from="${from}ns" "both.$name" | tr -s ' ' >out
			tail -n "$(wc -l <out)" whole | cmp - out
		done
	done
}

test_stat_and_export_are_the_same_with_an_index()
{
	local name from args
	for name in $(recordings); do
		for from in $(times "$name" | head -n 4); do
			for args in "stat -a" "stat -S" "stat --json" "export -O chrome -o -"; do
				# shellcheck disable=SC2086	# words
				posixtrace $args --from="${from}ns" "$name" >want
				# shellcheck disable=SC2086
				posixtrace $args --from="${from}ns" "both.$name" >out
				cmp want out
			done
		done
	done
}

# Times are relative to the first event, even if it is not exported.
test_export_selects_times()
{
	write_log log <<-'END'
		cpus 1
		name 65 early
		name 66 late
		block 0
		event 65 1000
		event 66 3000
		event 65 9000
		end
	END
	run 0 posixtrace export -O chrome -o - --from=2 --to=2us log
	[ "$(jq -r '.traceEvents[] | select(.ph == "i").name' out)" = late ]
	run 0 posixtrace export -O chrome -o - --to=0 log
	[ "$(jq -r '.traceEvents[] | select(.ph == "i").name' out)" = early ]
}

test_times_without_events()
{
	write_log log <<-'END'
		cpus 1
		block 0
		event 64 1000
		event 64 3000
		event 64 1000003000
		end
	END
	local args
	for args in dump stat "export -O chrome -o -"; do
		# shellcheck disable=SC2086	# words
		run 1 posixtrace $args --from=5s log
		grep -qx 'posixtrace: --from: log has no events at that time: its last one is at 1.000002000s' err
		# shellcheck disable=SC2086
		run 1 posixtrace $args --from=3 --to=500ms log
		grep -qx 'posixtrace: --from: log has no events at that time' err
		# --to is earlier than --from
		# shellcheck disable=SC2086
		run 1 posixtrace $args --from=2 --to=1 log
		complains 'posixtrace: --to: must not be before --from'
		# shellcheck disable=SC2086	# known after the first event only
		run 1 posixtrace $args --from=2 --to=@0.000002 log
		grep -qx 'posixtrace: --to: must not be before --from' err
		# shellcheck disable=SC2086
		run 1 posixtrace $args --to=@0.0000005 log
		grep -qx 'posixtrace: --to: log has no events at that time' err
	done
	printf 'cpus 1\nend\n' | write_log log
	run 1 posixtrace dump --from=0 log
	grep -qx 'posixtrace: --from: log has no events' err
}

# A damaged block in the skipped part must not matter.
test_damage_in_a_skipped_part()
{
	local name=gitgc.log last
	xz -dc "$native/logs/$name.xz" >"$name"
	index_log "$name" log
	last=$(posixtrace dump --json log | tail -n 1 | jq -r .ns)
	printf '\377\377' | dd of=log bs=1 seek=$(($(stat -c %s log) / 4)) conv=notrunc status=none
	run 1 posixtrace dump log
	run 0 posixtrace dump --from="${last}ns" log
	run 1 posixtrace dump --from=0 log
}

run_cases
