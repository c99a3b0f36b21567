#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that a log cannot make the posixtrace command take too much time or memory.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# Builds a library that counts calls of fstat(), and writes their number to the file counted.
build_counter()
{
	cc -O2 -Wall -Werror -shared -fPIC -D_GNU_SOURCE -o counter.so -xc - <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/stat.h>
		#include <unistd.h>
		static int count;
		int fstat(int fd, struct stat *to) { count++; return fstatat(fd, "", to, AT_EMPTY_PATH); }
		int fstat64(int fd, struct stat64 *to) { count++; return fstatat64(fd, "", to, AT_EMPTY_PATH); }
		static void __attribute__((destructor)) report(void)
		{
			FILE *file = fopen("counted", "w");

			fprintf(file, "%d\n", count);
			fclose(file);
		}
	END
}

# The log lacks an end and the name of the thread, so the writer might still append both.
test_log_without_end_is_not_looked_at_with_each_event()
{
	local option
	build_counter
	{
		printf '%s\n' 'host h' 'name 65 tick' 'block 0'
		seq -f 'event 65 %.0f' 1700000000000000000 1024 1700000000010240000
	} | write_log log
	for option in --full --json --symbolize; do
		LD_PRELOAD=$PWD/counter.so posixtrace dump $option log >out 2>err
		grep -q 'the log has no end' err
		[ "$(wc -l <out)" -gt 9000 ]
		[ "$(cat counted)" -lt 500 ] || { echo "$(cat counted) calls"; return 1; }
		[ "$(cat counted)" -gt 0 ]
	done
}

# The description repeats names of 63 characters for each byte of the data.
test_event_with_very_long_fields()
{
	local name
	printf -v name '%063d' 0
	name=${name//0/n}
	printf '%s\n' 'name 65 long' "describe 65 { { { { { u8 $name; } ${name}; } ${name}; } ${name}; } ${name}[COUNT]; }" \
		'name 66 short' 'describe 66 { u8 n; }' 'block 0' \
		'event 65 1700000000000000000 zeros=COUNT' 'event 66 1700000000000000001 zeros=1' end >script
	sed 's/COUNT/65000/' script | write_log log
	run 0 posixtrace dump --json log
	[ "$(jq -c .fields out)" = $'null\n{"n":0}' ]
	[ "$(wc -c <out)" -lt 1000000 ]
	run 0 posixtrace dump --full log
	[ "$(wc -c <out)" -lt 17000000 ]
	grep -q '\.\.\. (65000 bytes)$' out
	run 0 posixtrace export -O chrome log
	jq -e . out >/dev/null
	[ "$(wc -c <out)" -lt 100000 ]
	sed 's/COUNT/1000/' script | write_log log
	run 0 posixtrace dump --json log
	[ "$(jq '.fields | tostring | length' out | head -n 1)" -gt 250000 ]
}

# exported FORMAT...: exports the log, with a generous limit of 20 seconds of processor time each
exported()
{
	local format
	for format; do
		rm -rf exported
		(ulimit -t 20 && run 0 posixtrace export -O "$format" -o exported log)
	done
}

# An exec ends the other threads of its process. Here, many threads are already exiting.
test_many_exits_and_execs_of_a_process()
{
	awk 'BEGIN {
		print "classes all\nblock 0"
		for (i = 0; i < 80000; i++) {
			printf "kernel sched_switch_in %d pid=7 tid=%d\n", ++time, 10 + i
			printf "kernel sched_process_exit %d pid=7 tid=%d\n", ++time, 10 + i
		}
		for (i = 0; i < 80000; i++)
			printf "kernel sched_process_exec %d pid=7 tid=7\n", ++time
		print "end"
	}' | write_log log
	exported chrome perfetto html ctf
	(ulimit -t 20 && run 0 posixtrace stat --states log)
}

# Each id is used twice. The second process with an id ends the threads of the first one.
test_many_processes_that_use_ids_again()
{
	awk 'BEGIN {
		print "classes all\nblock 0"
		for (round = 0; round < 2; round++)
			for (i = 0; i < 160000; i++) {
				ids = sprintf("pid=%d tid=%d", 10 + i, 10 + i)
				printf "kernel sched_process_fork %d pid=5 tid=5 child_%s child_%s\n", ++time, \
					"pid=" 10 + i, "tid=" 10 + i
				printf "kernel sched_switch_in %d %s cpu=0\n", ++time, ids
			}
		print "end"
	}' | write_log log
	exported chrome perfetto html ctf
	(ulimit -t 20 && run 0 posixtrace stat --states log)
}

run_cases
