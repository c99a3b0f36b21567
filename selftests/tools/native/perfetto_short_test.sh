#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests what "posixtrace export --format=perfetto" does to write few bytes: how many there are, and that
# Perfetto's trace processor reads the same tables from the same packets without short forms.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

trace_processor=$("$native/../../programs/trace_processor")

# real_log NAME: unpacks a log of a real program
real_log()
{
	xz -dc "$native/logs/$1.log.xz" >"$1.log"
}

# tables TRACE: prints the tables of the trace processor
tables()
{
	node "$native/../../programs/query.mjs" "$trace_processor" "$1" <<-'END'
		SELECT 'slice', id, ts, dur, category, name, depth, parent_id, track_id FROM slice;
		SELECT 'arg', slice.id, key, flat_key, value_type, int_value, string_value, real_value
			FROM slice JOIN args USING (arg_set_id) ORDER BY slice.id, key;
		SELECT 'track', id, name, type, parent_id FROM track;
		SELECT 'thread track', id, utid FROM thread_track;
		SELECT 'counter track', id, name, unit, upid FROM process_counter_track;
		SELECT 'thread', utid, tid, name, start_ts, end_ts, upid, is_main_thread FROM thread;
		SELECT 'process', upid, pid, name, start_ts, end_ts, parent_upid FROM process;
		SELECT 'state', utid, ts, dur, state, cpu, io_wait, blocked_function, waker_utid, irq_context
			FROM thread_state ORDER BY utid, ts;
		SELECT 'sched', ts, dur, cpu, utid, end_state, priority FROM sched ORDER BY cpu, ts;
		SELECT 'counter', ts, track_id, value FROM counter;
		SELECT 'flow', slice_out, slice_in FROM flow;
		SELECT 'stat', name, idx, value FROM stats WHERE severity != 'info' AND value > 0
	END
}

# same_tables [OPTION]... LOG: exports the log, writes its packets in full, and compares the tables
same_tables()
{
	posixtrace export --format=perfetto --output=short "$@"
	protoc --decode=posixtrace.test.Trace -I "$native" perfetto.proto <short |
		"$native/expand_perfetto" --plain |
		protoc --encode=posixtrace.test.Trace -I "$native" perfetto.proto >full
	[ "$(stat -c %s full)" -gt "$(stat -c %s short)" ]
	tables short >tables_short
	tables full >tables_full
	diff tables_full tables_short | head -n 20
	cut -f 1 tables_short | sort | uniq -c
	rm short full
}

# of_table NAME: prints the number of rows of the last table
of_table()
{
	grep -c "^$1"$'\t' tables_short
}

test_tables_of_real_programs()
{
	real_log gitgc
	real_log tar
	same_tables tar.log
	[ "$(of_table slice)" -gt 500 ]
	same_tables gitgc.log
	[ "$(of_table slice)" -gt 10000 ]
	[ "$(of_table arg)" -gt 10000 ]
	[ "$(of_table sched)" -gt 100 ]
	[ "$(of_table state)" -gt 100 ]
}

test_tables_of_critical_paths()
{
	kernel_log log
	same_tables --scope=work log
	[ "$(of_table flow)" -eq 1 ]
}

test_tables_of_random_logs()
{
	local seed
	for seed in 1 2 5; do
		python3 "$native/readers/random_log.py" "$seed" | write_log log
		same_tables log
	done
	[ "$(of_table counter)" -gt 0 ]
}

# busy_log FILE: more threads than there are sequences for tracks have many events, in turn. Scopes nest,
# begin together with the one around them, and overlap.
busy_log()
{
	awk 'BEGIN {
		split("outer_begin inner_begin inner_end outer_end tick depth a_begin b_begin a_end b_end", names)
		for (i = 1; i <= 10; i++)
			print "name", 64 + i, names[i]
		print "describe 69 { u32 number; string text; }"
		print "describe 70 { u32 counter; }"
		print "block 0"
		for (i = 0; i < 60; i++) {
			for (thread = 0; thread < 80; thread++) {
				if (thread % 2 && i % (thread % 10 == 9 ? 8 : 2))
					continue
				who = sprintf("pid=%d tid=%d thread=%d", 10 + thread % 8, 100 + thread, thread + 1)
				for (j = 1; j <= 10; j++) {
					data = j == 5 ? sprintf("hex=%02x00000061%02x00", i, 97 + i % 7) : \
						j == 6 ? sprintf("hex=%02x000000", j + i) : ""
					time = i * 1000000 + thread * 10000 + (j == 2 && thread % 3 == 0 ? 1 : j) * 100
					printf "event %d 1700000000%09d %s %s\n", 64 + j, time, who, data
				}
			}
		}
	}' | whole_log "$1"
}

test_tables_of_many_busy_tracks()
{
	busy_log log
	same_tables log
	[ "$(of_table slice)" -gt 10000 ]
	[ "$(of_table counter)" -gt 2000 ]
	# there are sequences for 16 tracks at a time, and busy tracks take those of idle ones
	posixtrace export --format=perfetto --output=out log
	protoc --decode=posixtrace.test.Trace -I "$native" perfetto.proto <out >decoded
	[ "$(grep -c '^  first_packet_on_sequence' decoded)" -eq 18 ]
	[ "$(grep -c '^    track_event_defaults' decoded)" -gt 30 ]
}

# most RATIO LOG: checks the size of a trace, as a multiple of that of the log without compression
most()
{
	"$native/../../bench/log_bytes" "$2" | tee bytes
	awk -v most="$1" '/Perfetto/ { found = 1; if ($(NF - 3) > most) exit 1 } END { exit !found }' bytes
}

# performance.rst has the sizes for other programs, and what the target would take for them.
test_sizes_of_real_programs()
{
	real_log gitgc
	real_log tar
	most 1.3 tar.log
	most 1.3 gitgc.log
}

run_cases
