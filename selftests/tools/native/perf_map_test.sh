#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that "posixtrace dump --symbolize" finds the names of functions in anonymous memory in perf
# maps, which JIT compilers write.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

unset DEBUGINFOD_URLS

# at SECONDS FILE: sets the time of the last change of a file
at()
{
	touch -d "@$1" "$2"
}

# map: writes the perf map of process 100 below root/, from standard input. Its last change is at
# second 1000.
map()
{
	mkdir -p root/tmp
	cat >root/tmp/perf-100.map
	at 1000 root/tmp/perf-100.map
}

# calls ADDRESS...: writes a log of process 100, which was born in second 900, with an event for
# each address
calls()
{
	{
		printf '%s\n' 'name 65 call' 'born 900000000000' 'task 100 100 900000000000 jit' 'since 1000000000000' 'block 0'
		printf 'event 65 1000 pid=100 tid=100 address=%s\n' "$@"
		echo end
	} | write_log log
}

# functions [OPTION]...: prints the function of each event, or "-"
functions()
{
	run 0 posixtrace dump --json --symbolize "$@" log
	jq -r '.function // "-"' out
}

test_functions_have_the_names_of_the_map()
{
	map <<-'END'
		7f0000002000 100 LazyCompile:*run /app/with blank.js:12:3
		7f0000001000 80 Stub:CEntry
		0x00007f0000003000 0x40 Ljava/lang/String;::hashCode
		7F0000004000 20 py::main:/srv/app.py
	END
	calls 0x7f0000001010 0x7f0000002100 0x7f0000003001 0x7f0000004010 0x7f0000001000 0x7f0000002101 0x10
	functions --symfs=root >got
	prints got <<-'END'
		Stub:CEntry
		LazyCompile:*run /app/with blank.js:12:3
		Ljava/lang/String;::hashCode
		py::main:/srv/app.py
		-
		-
		-
	END
	complains
	jq -c 'select(.function == "Stub:CEntry") | [.module, .module_offset, .function_offset]' out >got
	prints got <<<"[\"$PWD/root/tmp/perf-100.map\",null,\"0x10\"]"
	run 0 posixtrace dump --symbolize --symfs=root log
	sed -n 's/.*  at //p' out >got
	prints got <<-'END'
		Stub:CEntry+0x10
		LazyCompile:*run /app/with blank.js:12:3+0x100
		Ljava/lang/String;::hashCode+0x1
		py::main:/srv/app.py+0x10
	END
}

# If an address belongs to a file, the map is not used. Memory with a name is not a file, so the map
# is used.
test_files_come_before_the_map()
{
	map <<<'10000 30000 jit'
	write_log log <<-'END'
		name 65 call
		born 900000000000
		task 100 100 900000000000 jit
		mapping 100 0 0x10000 0x1000 0 - /missing/program
		mapping 100 0 0x20000 0x1000 0 - /memfd:code (deleted)
		mapping 100 0 0x30000 0x1000 0 0101 /memfd:library
		since 1000000000000
		block 0
		event 65 1000 pid=100 tid=100 address=0x10010
		event 65 1000 pid=100 tid=100 address=0x20010
		event 65 1000 pid=100 tid=100 address=0x30010
		event 65 1000 pid=100 tid=100 address=0x38010
		end
	END
	functions --symfs=root >got
	prints got <<-'END'
		-
		jit
		-
		jit
	END
}

# The command searches a few new functions one by one, and sorts many. Both must give the same as a
# plain search.
test_the_newest_of_overlapping_functions_counts()
{
	local count
	for count in 40 3000; do
		awk -v count=$count 'BEGIN {
			srand(count)
			for (i = 0; i < count; i++)
				printf "%x %x f%d\n", 65536 + int(rand() * 20000), 1 + int(rand() * (i % 7 ? 30 : 2000)), i
		}' | map
		awk 'BEGIN { srand(5); for (i = 0; i < 2000; i++) print 65536 - 10 + int(rand() * 22000) }' >addresses
		# shellcheck disable=SC2046 # words
		calls $(cat addresses)
		python3 - >wanted <<-'END'
			names = {}
			for line in open("root/tmp/perf-100.map"):
			    begin, size, name = line.split()
			    for address in range(int(begin, 16), int(begin, 16) + int(size, 16)):
			        names[address] = name
			for line in open("addresses"):
			    print(names.get(int(line) - 1, "-"))
		END
		functions --symfs=root >got
		prints got <wanted
		[ "$(grep -c f <wanted)" -gt 10 ]
		[ "$(grep -c -- - <wanted)" -gt 10 ]
	done
}

test_lines_of_another_form_are_skipped()
{
	{
		printf '%s\n' '1000 10 good' '2000 10' '3000 10 ' '4000 0 empty' '5000 x10 digits' ' 6000 10 blank' \
			'ffffffffffffff00 200 beyond' '10000000000009000 10 long' '8000 10x form' '' '-9000 10 minus'
		printf 'a000 10 null\0byte\n'
		printf 'b000 10 %05000d\n' 1
		printf 'c000 10 last\nd000 10 cut'
	} | map
	calls 0x1001 0x2001 0x3001 0x4001 0x5001 0x6001 0xffffffffffffff01 0x9001 0x8001 0xa001 0xb001 0xc001 0xd001
	functions --symfs=root >got
	prints got <<<$'good\n-\n-\n-\n-\n-\n-\n-\n-\n-\n-\nlast\n-'
	complains
}

test_names_are_escaped()
{
	printf '1000 10 f\033[2J"\\\377\tg\n' | map
	calls 0x1001
	run 0 posixtrace dump --symbolize --symfs=root log
	grep -qF '  at f\x1b[2J"\\\xff\tg+0x1' out
	lacks $'[\x01-\x09\x0b-\x1f\x7f]' out
	functions --symfs=root >got
	lacks $'[\x01-\x09\x0b-\x1f\x7f]' out
	[ "$(wc -l <got)" -eq 1 ]
}

test_what_is_no_perf_map_is_not_read()
{
	local kind path=root/tmp/perf-100.map
	calls 0x1001 0x1002
	for kind in fifo link directory device large; do
		rm -rf root
		echo '1000 10 wrong' | map
		mv $path other
		case $kind in
		fifo) mkfifo $path ;;
		link) cp other root/tmp/other && ln -s other $path ;;
		directory) mkdir $path ;;
		device) ln -s /dev/zero $path ;;
		large) cp other $path && truncate -s 300M $path && at 1000 $path ;;
		esac
		run 0 timeout 20 posixtrace dump --symbolize --symfs=root log
		lacks wrong out
		[ $kind != large ] || kind='too large'
		complains "posixtrace: $PWD/$path: $([ "$kind" = 'too large' ] && echo "$kind" || echo 'not a regular file'); its functions are not shown"
	done
}

# Links in the directory of --symfs must not lead out of it.
test_a_link_does_not_leave_the_directory()
{
	echo '1000 10 outside' | map
	mkdir inside
	ln -s ../root/tmp inside/tmp
	calls 0x1001
	functions --symfs=inside >got
	prints got <<<-
	complains
}

test_a_map_of_another_user_is_not_used()
{
	echo '1000 10 wrong' | map
	calls 0x1001
	# Only root can change the owner of a file. In guests, the test runs as root.
	if [ "$(id -u)" -ne 0 ]; then
		run 0 true
		return
	fi
	chown 12345 root/tmp/perf-100.map
	functions --symfs=root >got
	prints got <<<-
	complains "posixtrace: $PWD/root/tmp/perf-100.map: belongs to another user; its functions are not shown"
	# The owner of the directory has copied the map.
	chown 12345 root
	functions --symfs=root >got
	prints got <<<wrong
}

# Two processes had the id 100: one from second 900 to 1100, the other one from 1200 on. The second
# one executed another program in second 1300.
test_a_map_of_another_process_with_the_id_is_not_used()
{
	local second options
	write_log log <<-'END'
		name 65 call
		classes process
		born 900000000000
		task 100 100 900000000000 first
		born 1200000000000
		task 100 100 1200000000000 second
		block 0
		event 65 1000000000000 pid=100 tid=100 address=0x1001 text=first
		kernel sched_process_exit 1100000000000 pid=100 tid=100 group_dead=1
		event 65 1250000000000 pid=100 tid=100 address=0x1001 text=second
		kernel sched_process_exec 1300000000000 pid=100 tid=100
		event 65 1350000000000 pid=100 tid=100 address=0x1001 text=third
		end
	END
	echo '1000 10 f' | map
	for options in '' --follow --from=@1200 '--follow --from=@1200'; do
		for second in 800 1000 1150 1250 1340 9000; do
			at $second root/tmp/perf-100.map
			# shellcheck disable=SC2086 # words
			run 0 posixtrace dump --json --symbolize --symfs=root $options log
			echo "$second: $(jq -r 'select(.function).text' out | tr '\n' ' ')"
		done >got
		prints got <<-END
			800: 
			1000: $([[ $options = *from* ]] || echo 'first ')
			1150: 
			1250: second 
			1340: third 
			9000: third 
		END
	done
	at 800 root/tmp/perf-100.map
	run 0 posixtrace dump --symbolize --symfs=root log
	complains "posixtrace: $PWD/root/tmp/perf-100.map: last changed before the process ran its program, as far as the log shows; its functions are not shown" \
		"posixtrace: $PWD/root/tmp/perf-100.map: last changed before the process ran its program, as far as the log shows; its functions are not shown"
}

# with_tmp COMMAND...: runs the command with root/tmp as /tmp
with_tmp()
{
	# shellcheck disable=SC2016 # for the shell in there
	unshare -rm sh -c 'mount --bind root/tmp /tmp && exec "$@"' sh "$@"
}

# Without --symfs, the map must be from a time at which the process is known to have run.
test_the_map_of_a_process_that_has_ended_is_in_tmp()
{
	echo '1000 10 f' | map
	calls 0x1001
	at 1000.0000005 root/tmp/perf-100.map
	run 0 with_tmp posixtrace dump --json --symbolize log
	[ "$(jq -r .function out)" = f ]
	[ "$(jq -r .module out)" = /tmp/perf-100.map ]
	complains
	at 1000.000002 root/tmp/perf-100.map
	run 0 with_tmp posixtrace dump --json --symbolize log
	[ "$(jq -r '.function' out)" = null ]
	complains 'posixtrace: /tmp/perf-100.map: last changed after the last event of the process (--symfs=/ uses it); its functions are not shown'
	run 0 with_tmp posixtrace dump --json --symbolize --symfs=/ log
	[ "$(jq -r '.function' out)" = f ]
	complains
}

# log_of PID [OLD NEW]: writes the log of a process that runs, with its files; one event in memory
# without a file. With $exec_after, the process executes a program so many ns after its birth, before
# the event. Replaces OLD by NEW in it.
log_of()
{
	born=$(($(cut -d ' ' -f 22 "/proc/$1/stat") * (1000000000 / $(getconf CLK_TCK))))
	{
		[ -z "${exec_after-}" ] || echo 'classes process'
		printf '%s\n' 'name 65 call' "boot $(tr -d - </proc/sys/kernel/random/boot_id)" 'host machine'
		printf '%s\n' "born $born" "task $1 $1 $born jit" "program $1 $born jit"
		sed -nE "s,^([0-9a-f]+)-[0-9a-f]+ ..xp ([0-9a-f]+) [^ ]+ [^ ]+ +(/.*),mapping $1 $born 0x\1 0x1000 0x\2 - \3,p" "/proc/$1/maps"
		echo 'block 0'
		[ -z "${exec_after-}" ] || echo "kernel sched_process_exec $((born + exec_after)) pid=$1 tid=$1"
		printf '%s\n' "event 65 $((born + ${exec_after-0} + 1000)) pid=$1 tid=$1 address=0x1001" end
	} | sed "s,${2-none},${3-none}," | write_log log
}

test_a_process_that_runs_writes_its_map_later()
{
	sleep 1000 &
	# shellcheck disable=SC2064 # expand $! now
	trap "kill $!; rm -f /tmp/perf-$!.map" EXIT
	until [ "$(cat "/proc/$!/comm")" = sleep ]; do :; done
	echo '1000 10 f' >"/tmp/perf-$!.map"
	log_of $!
	functions >got
	prints got <<<f
	complains
	functions --follow >got
	prints got <<<f
	# The process runs a different program than in the log, or was born at a different time.
	log_of $! 'mapping \(.*\)/[a-z]*sleep$' 'mapping \1/another'
	functions >got
	prints got <<<-
	log_of $! '^born .*' 'born 1000000000'
	functions >got
	prints got <<<-
	grep -q 'last changed after the last event of the process' err
	# If the log is from another boot, its process has ended.
	log_of $! '^boot ....' 'boot 0123'
	functions >got
	prints got <<<-
}

# A container has its own process ids and its own /tmp. There need not be any map in ours.
test_the_map_of_a_container_has_the_id_in_it()
{
	local pid
	mkfifo ready
	# shellcheck disable=SC2016 # for the shell in there
	unshare -rmpf --mount-proc sh -c 'mount -t tmpfs tmpfs /tmp && echo "1000 10 inside" >/tmp/perf-1.map && exec sleep 1000' &
	# shellcheck disable=SC2064 # expand $! now
	trap "pkill -P $!" EXIT
	until pid=$(pgrep -P $! sleep); do :; done
	log_of "$pid"
	functions >got
	prints got <<<inside
	[ "$(jq -r .module out)" = "/proc/$pid/root/tmp/perf-1.map" ]
	complains
	# The program before an exec has written it.
	exec_after=3000000000
	log_of "$pid"
	at "$((born / 1000000000 + 2))" "/proc/$pid/root/tmp/perf-1.map"
	functions >got
	prints got <<<$'-\n-'
	complains "posixtrace: /proc/$pid/root/tmp/perf-1.map: last changed before the process ran its program, as far as the log shows; its functions are not shown"
	at "$((born / 1000000000 + 4))" "/proc/$pid/root/tmp/perf-1.map"
	functions >got
	prints got <<<$'-\ninside'
}

# follow_whole: follows the file log, which gets the first half of the file whole, and the events up to
# the first one with a function; then runs the command "change", and adds the rest of the file whole
follow_whole()
{
	local dump size part=50
	size=$(stat -c %s whole)
	: >out
	head -c $((size / 2)) whole >log
	posixtrace dump --json --follow --symbolize --symfs=root log >out 2>err &
	dump=$!
	# The command may need more of the log to print the first event.
	until grep -q . out; do
		kill -0 $dump
		[ $part -eq 90 ] || part=$((part + 1))
		dd if=whole of=log bs=1 count=$((size * part / 100)) conv=notrunc status=none
	done
	change
	dd if=whole of=log conv=notrunc status=none
	wait $dump
	jq -r '.function // "-"' out >got
}

# The second half of the log comes after the map has a new function, at the address of an old one.
test_a_map_that_grows_is_followed()
{
	{
		printf '%s\n' 'name 65 call' 'born 900000000000' 'task 100 100 900000000000 jit' 'since 1000000000000' \
			'block 0' 'event 65 1000 pid=100 tid=100 address=0x1001' 'block 0'
		printf 'event 65 2000 pid=100 tid=100 address=%s\n' 0x1001 0x2001 0x3001
		echo end
	} | write_log whole
	printf '1000 10 old\n2000 10 cut' | map
	change()
	{
		echo ' name'
		for ((i = 0; i < 300; i++)); do echo "3000 10 f$i"; done
		echo '1000 10 new'
	} >>root/tmp/perf-100.map
	follow_whole
	prints got <<-'END'
		old
		new
		cut name
		f299
	END
}

# The second half of the log has an exec. A map that changes later is of the program after it.
test_a_map_from_before_an_exec_is_not_used_when_a_log_is_followed()
{
	local second
	write_log whole <<-'END'
		classes process
		name 65 call
		born 900000000000
		task 100 100 900000000000 jit
		block 0
		event 65 1001000000000 pid=100 tid=100 address=0x1001
		block 0
		kernel sched_process_exec 1002000000000 pid=100 tid=100
		event 65 1005000000000 pid=100 tid=100 address=0x1001
		end
	END
	for second in 1000 1004; do
		echo '1000 10 f' | map
		change()
		{
			at $second root/tmp/perf-100.map
		}
		follow_whole
		prints got <<-END
			f
			-
			$([ $second = 1000 ] && echo - || echo f)
		END
	done
}

run_cases
