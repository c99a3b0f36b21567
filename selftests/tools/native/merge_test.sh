#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that commands read several logs, or a directory of logs, as one log.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

boot=0123456789abcdef0123456789abcdef

# head_of COOKIE: prints the first lines of a script for write_log
head_of()
{
	printf '%s\n' "cookie $1" 'cpus 4' 'classes sched,syscall,process' "boot $boot" 'host machine x86_64'
}

# plain COOKIE: like head_of, for a log with user events only
plain()
{
	printf '%s\n' "cookie $1" "boot $boot" 'host machine' 'name 65 tick'
}

# many EVENTS: prints events of the processes 100 and 200, each with two threads. Each thread runs
# on its own processor, is blocked in a system call, and is woken by some thread of either process.
many()
{
	awk -v events="$1" 'BEGIN {
		srand(7)
		for (t = 0; t < 4; t++) {
			pid[t] = 100 + 100 * (t % 2)
			tid[t] = pid[t] + int(t / 2)
			print "task", pid[t], tid[t], 0, "worker-" t
		}
		print "name 65 step:begin"; print "name 66 step:end"; print "name 67 set"
		print "describe 67 { u32 size; }"
		print "since 1700000000000000000"
		for (i = 0; i < events; i++) {
			t = int(rand() * 4)
			time += 1 + int(rand() * 5000)
			who = " cpu=" t " pid=" pid[t] " tid=" tid[t]
			if (blocked[t]) {
				w = int(rand() * 4)
				print "kernel sched_wakeup", time, who, "target_cpu=" t, "by=thread", \
					"waker_pid=" pid[w], "waker_tid=" tid[w]
				print "kernel sched_switch_in", time + 1, who
				print "kernel syscall_exit", time + 2, who, "nr=0 name=read result=1"
				blocked[t] = 0
			} else if (rand() < 0.3) {
				print "kernel syscall_entry", time, who, "nr=0 name=read args=3,0,64"
				print "kernel sched_switch_out", time + 1, who, "state=1 reason=blocked"
				blocked[t] = 1
			} else if (rand() < 0.5) {
				printf "event 67 %d%s hex=%02x000000\n", time, who, i % 256
			} else {
				print "event", 65 + open[t], time, who
				open[t] = !open[t]
			}
			time += 2
		}
	}'
}

# whole_and_parts EVENTS: writes all events to whole.log, and those of each process to 100.log and
# 200.log
whole_and_parts()
{
	local pid
	many "$1" >events
	{ head_of 1; cat events; echo end; } | write_log whole.log
	for pid in 100 200; do
		{ head_of $pid; sed "/ pid=/{/ pid=$pid /!d}; /^task/{/^task $pid /!d}" events; echo end; } |
			write_log $pid.log
	done
}

# after_heads FILE: removes the lines of "stat" about each log
after_heads()
{
	sed -i '1,/^logs /d; /^stream /d; /^created /d' "$1"
}

test_the_merge_of_the_parts_is_the_whole()
{
	local format
	whole_and_parts 2000
	for options in 'dump' 'dump --json' 'dump --pid=200' 'dump --from=1ms --to=2ms' \
		"dump --filter=step.duration>10us" 'stat --json' 'why --scope=step --worst=3' 'why --tid=201'; do
		# shellcheck disable=SC2086 # words
		run 0 posixtrace $options whole.log
		mv out wanted
		sed 's/: whole.log/: the set of 2 logs/' err >said
		[ "$(wc -l <wanted)" -gt 3 ]
		# shellcheck disable=SC2086 # words
		run 0 posixtrace $options 100.log 200.log
		sed -i -E 's/,"log":"[12]00\.log",/,/' out
		prints out <wanted
		prints err <said
	done
	for options in stat 'stat --states --all' 'stat --by=size' 'stat --by=thread'; do
		# shellcheck disable=SC2086 # words
		run 0 posixtrace $options whole.log
		sed '/^stream /d; /^created /d' out >wanted
		# shellcheck disable=SC2086 # words
		run 0 posixtrace $options 100.log 200.log
		after_heads out
		prints out <wanted
	done
	for format in chrome html perfetto; do
		run 0 posixtrace export --format=$format -o wanted.$format whole.log
		run 0 posixtrace export --format=$format -o got.$format 100.log 200.log
		cmp wanted.$format got.$format
	done
}

# series_of PARTS: writes the stream in the file events to whole.log, and as a series to 1.log,
# 2.log ... Each processor continues in the next log at a different time, because each hands out its
# own sub-buffers. At the beginning of each log, as after the start, there are the states of the
# threads.
series_of()
{
	local part
	{ head_of 99; cat events; echo end; } | write_log whole.log
	awk -v parts="$1" '
		function time_of(line, words) { split(line, words); return words[3] }
		function state(t, time, words) {
			return "state worker-" t " " time " " (blocked[t] ? since[t] : 0) " " \
				(blocked[t] ? "1 24 " t " 0 3 0 0 0 read" : "0 " (runs[t] ? 1 : 2) " " t " 0 0 0 0 0 -")
		}
		!begun {
			prologue = prologue $0 "\n"
			if ($1 == "task")
				prologue = prologue "thread " $5 " " $2 " " $3 " " $3 "\n"
			begun = $1 == "since"
			next
		}
		{ lines[++count] = $0 }
		END {
			for (i = 1; i <= count; i++) {
				match(lines[i], /cpu=[0-9]+/)
				cpu = substr(lines[i], RSTART + 4, RLENGTH - 4)
				time = time_of(lines[i])
				if (!(cpu in part))
					part[cpu] = 1
				while (part[cpu] < parts) {
					seam = int(time_of(lines[count]) * part[cpu] / parts) + cpu * 20000
					if (time < seam)
						break
					part[cpu]++
					if (cpu < 4)
						states[part[cpu]] = states[part[cpu]] state(cpu, seam) "\n"
				}
				text[part[cpu]] = text[part[cpu]] lines[i] "\n"
				if (lines[i] ~ /sched_switch_out/) {
					blocked[cpu] = 1
					since[cpu] = time
				} else if (lines[i] ~ /sched_wakeup/) {
					blocked[cpu] = runs[cpu] = 0
				} else {
					blocked[cpu] = 0
					runs[cpu] = 1
				}
			}
			for (i = 1; i <= parts; i++)
				printf "%s%s%s%s%s%s\n", (i > 1 ? "series 1 " i " " i - 1 "\n" : ""), prologue, \
					states[i], text[i], "end", (i < parts ? " continued" : "") > ("part." i)
		}' events
	for ((part = 1; part <= $1; part++)); do
		{ head_of "$part"; cat "part.$part"; } | write_log "$part.log"
	done
}

# stream EVENTS: writes the file events: a stream from its start to its stop
stream()
{
	many "$1" >all
	{
		sed '/^since/q' all
		echo 'event 2 0 cpu=4 pid=9'
		sed '1,/^since/d' all
		echo "event 3 $(($(tail -n 1 all | awk '{ print $3 }') + 1)) cpu=4 pid=9 hex=00000000"
	} >events
}

# as_of_one_log LOG...: checks that all commands print the same for these logs as for whole.log
as_of_one_log()
{
	local options format table
	for options in 'stat --json' 'stat --states' 'stat --by=thread' 'stat --states --all' 'why --scope=step --worst=9' \
		'why --json --tid=201' 'dump --filter=step.duration>10us' 'dump --full'; do
		# shellcheck disable=SC2086 # words
		run 0 posixtrace $options whole.log
		[[ $options != stat* || $options == *json* ]] || sed -i '/^stream /d; /^created /d' out
		mv out wanted
		sed 's/: whole.log:/:/' err >said
		[ "$(wc -c <wanted)" -gt 300 ]
		# shellcheck disable=SC2086 # words
		run 0 posixtrace $options "$@"
		sed 's/: the set of [0-9] logs:/:/' err >got
		prints got <said
		[[ $options != stat* || $options == *json* ]] || after_heads out
		prints out <wanted
	done
	for format in chrome html perfetto; do
		run 0 posixtrace export --format=$format -o wanted.$format whole.log
		run 0 posixtrace export --format=$format -o got.$format "$@"
		cmp wanted.$format got.$format
		rm wanted.$format got.$format
	done
	for table in scopes states waits syscalls threads; do
		run 0 posixtrace export --format=csv --table=$table -o - whole.log
		mv out wanted
		run 0 posixtrace export --format=csv --table=$table -o - "$@"
		prints out <wanted
	done
}

test_json_tells_the_log_of_an_event()
{
	mkdir logs
	{ plain 1; printf '%s\n' 'block 0' 'event 65 1000 pid=1' end; } | write_log logs/a
	{ plain 2; printf '%s\n' 'block 0' 'event 65 1000 pid=2' end; } | write_log 'logs/"b'
	run 0 posixtrace dump --json logs/a
	[ "$(jq 'has("log")' out)" = false ]
	printf '%s\n' '1 logs/a' '2 logs/"b' >wanted
	run 0 posixtrace dump --json logs
	jq -r '"\(.pid) \(.log)"' out | sort >got
	prints got <wanted
	run 0 posixtrace dump --json logs/a 'logs/"b'
	jq -r '"\(.pid) \(.log)"' out | sort >got
	prints got <wanted
	run 0 posixtrace dump logs
	lacks logs out
}

test_a_thread_of_a_series_is_one_thread()
{
	stream 2000
	series_of 3
	as_of_one_log 1.log 2.log 3.log
	mkdir logs
	mv [1-3].log logs
	as_of_one_log logs
}

# states_in LOG...: prints the states in an export: thread, state, begin and duration
states_in()
{
	run 0 posixtrace export --format=csv --table=states -o - "$@"
	sed -n '1!p' out
}

# Thread 1 is blocked from one log to the next. Its stream stops, while that of thread 2 continues.
test_the_stop_of_a_series_ends_the_states_from_all_its_logs()
{
	{ head_of 1; printf '%s\n' 'task 1 1 0 one' 'block 4' 'event 2 1000 pid=9' 'block 0' \
		'kernel sched_switch_in 2000 pid=1 tid=1' \
		'kernel sched_switch_out 3000 pid=1 tid=1 state=1 reason=blocked'; } >first
	printf '%s\n' 'block 4' 'event 3 6000 pid=9 hex=00000000' end >last
	cat first last | write_log whole.log
	{ cat first; echo 'end continued'; } | write_log 1.log
	{ head_of 3; printf '%s\n' 'series 1 2 1' 'task 1 1 0 one'; cat last; } | write_log 2.log
	{ head_of 2; printf '%s\n' 'task 2 2 0 two' 'block 4' 'event 2 1000 pid=9' 'block 1' \
		'kernel sched_switch_in 1500 pid=2 tid=2' 'kernel sched_switch_out 9000 pid=2 tid=2 state=1 reason=blocked' end; } |
		write_log other.log
	states_in whole.log other.log >wanted
	cat wanted
	grep -q 6000 wanted
	states_in 1.log 2.log other.log >got
	prints got <wanted
}

# A start or stop of another stream between two logs of a series must not make states unknown.
test_the_stop_of_another_stream_at_a_seam_ends_no_states()
{
	{ head_of 1; printf '%s\n' 'task 1 1 0 one' 'block 4' 'event 2 1000 pid=9' 'block 0' \
		'kernel sched_switch_in 2000 pid=1 tid=1' \
		'kernel sched_switch_out 3000 pid=1 tid=1 state=1 reason=blocked' 'end continued'; } | write_log 1.log
	{ head_of 3; printf '%s\n' 'series 1 2 1' 'task 1 1 0 one' 'block 0' \
		'kernel sched_wakeup 8000 pid=1 tid=1 by=timer' 'kernel sched_switch_in 9000 pid=1 tid=1' end; } | write_log 2.log
	{ head_of 2; printf '%s\n' 'task 2 2 0 two' 'block 4' 'event 2 4000 pid=9' 'block 1' \
		'kernel sched_switch_in 4500 pid=2 tid=2' 'block 4' 'event 3 5000 pid=9 hex=00000000' end; } |
		write_log other.log
	states_in 1.log 2.log other.log >got
	cat got
	grep -q '^3000,8000,5000,true,.*,sleep,' got
	[ "$(grep -c unknown got)" -eq 1 ]
}

# Events of part 2 were lost before its first event, or part 2 is missing.
test_what_is_lost_at_a_seam_is_not_known()
{
	{ head_of 1; printf '%s\n' 'name 65 step:begin' 'name 66 step:end' 'task 1 1 0 one' 'block 4' 'event 2 1000 pid=9' \
		'block 0' 'kernel sched_switch_in 2000 pid=1 tid=1' 'event 65 2500 pid=1 tid=1' \
		'kernel sched_switch_out 3000 pid=1 tid=1 state=1 reason=blocked' 'end continued'; } | write_log 1.log
	{ head_of 2; printf '%s\n' 'series 1 2 1' 'task 1 1 0 one' 'lost 5 4000' 'block 0' \
		'kernel sched_switch_out 5000 pid=1 tid=1 state=1 reason=blocked' 'end continued'; } | write_log 2.log
	{ head_of 3; printf '%s\n' 'series 1 3 2' 'name 65 step:begin' 'name 66 step:end' 'task 1 1 0 one' \
		'block 0' 'kernel sched_switch_in 8000 pid=1 tid=1 ' 'event 66 8500 pid=1 tid=1' end; } | write_log 3.log
	states_in 1.log 2.log 3.log | cut -d , -f 1-4,9 >got
	grep -qx '2000,3000,1000,true,running' got
	prints got <<-'END'
		2000,3000,1000,true,running
		3000,4000,1000,false,sleep
		4000,5000,1000,false,unknown
		5000,8000,3000,false,sleep
		8000,8500,500,false,running
	END
	run 0 posixtrace stat 1.log 2.log 3.log
	grep -q '^lost *5 in 1 gap' out
	grep -q '^step  *0 ' out
	states_in 1.log 3.log | cut -d , -f 1-4,9 >got
	complains 'posixtrace: 1.log: part 1 of a series, but part 2 is missing: its events are unknown'
	prints got <<-'END'
		2000,3000,1000,true,running
		3000,8000,5000,false,unknown
		8000,8500,500,false,running
	END
	run 0 posixtrace stat 1.log 3.log
	grep -qx 'lost  *1' out
	grep -q '^step  *0 ' out
	# What another log lost after its last event counts as well.
	{ head_of 5; printf '%s\n' 'task 3 3 0 three' 'block 2' 'kernel sched_switch_in 8200 pid=3 tid=3' \
		'end lost=4'; } | write_log three.log
	run 0 posixtrace stat 1.log 3.log three.log
	grep -qx 'lost  *1, 4 after the last' out
	run 0 posixtrace export -O csv -o tables 1.log 3.log three.log
	tr -d '\r' <tables/losses.csv | cut -d , -f 3,4 >got
	prints got <<-'END'
		kind,count
		lost,1
		lost,4
	END
	cut -d , -f 13 tables/hosts.csv | tail -n 1 >got
	prints got <<<5
	# What one log says of its end counts if the next one is not read, but another stream goes on.
	{ head_of 4; printf '%s\n' 'task 2 2 0 two' 'block 1' 'kernel sched_switch_in 1500 pid=2 tid=2' \
		'kernel sched_switch_out 9000 pid=2 tid=2 state=1 reason=blocked' end; } | write_log other.log
	states_in 1.log other.log | cut -d , -f 1-4,8,9 | grep ',1,[a-z]*$' >got
	prints got <<-'END'
		2000,3000,1000,true,1,running
		3000,9000,6000,false,1,unknown
	END
}

# columns: removes leading and repeated spaces from the file out
columns()
{
	sed -E 's/^ +//; s/ +/ /g' out
}

test_events_with_the_same_time_are_in_the_order_of_the_operands()
{
	local name
	for name in a b; do
		{ plain "$((16#$name))"; printf '%s\n' 'block 0' "event 65 1000 pid=1 text=${name}1" \
			"event 65 1000 pid=1 text=${name}2" "event 65 2000 pid=1 text=${name}3" end; } |
			write_log $name.log
	done
	run 0 posixtrace dump a.log b.log
	columns | cut -d ' ' -f 1,6 >got
	prints got <<-'END'
		0.000 "a1"
		0.000 "a2"
		0.000 "b1"
		0.000 "b2"
		1.000 "a3"
		1.000 "b3"
	END
	run 0 posixtrace dump --json b.log a.log
	jq -r '.data' out | xxd -r -p >got
	[ "$(cat got)" = b1b2a1a2b3a3 ]
}

# A directory may have one log for each process of a large service.
test_hundred_logs_are_in_order()
{
	local i
	mkdir logs
	for ((i = 0; i < 100; i++)); do
		{ plain $((i + 1)); echo 'block 0'
			awk -v i=$i 'BEGIN { for (n = 0; n < 50; n++) print "event 65", 1000000 + n * 100 + (i * 37 + n * 11) % 100, "pid=" i + 1 }'
			echo end; } | write_log logs/$i.log
	done
	run 0 posixtrace dump --json logs
	[ "$(wc -l <out)" -eq 5000 ]
	jq .ns out >got
	sort -n got | cmp - got
	[ "$(jq .pid out | sort -nu | wc -l)" -eq 100 ]
}

test_types_with_one_name_and_other_descriptions_stay_apart()
{
	{ plain 1; printf '%s\n' 'name 66 set' 'describe 66 { u32 size; }' 'name 67 only_a' 'block 0' \
		'event 66 1000 pid=1 hex=05000000' 'event 67 3000 pid=1' 'event 65 5000 pid=1' end; } |
		write_log a.log
	# In the second log, id 66 is a different type, and "tick" has a different id.
	{ sed /^name/d < <(plain 2); printf '%s\n' 'name 65 only_b' 'name 66 tick' 'name 67 set' \
		'describe 67 { u8 color; }' 'name 68 set_too' 'describe 68 { u32 size; }' 'block 0' \
		'event 67 2000 pid=2 hex=07' 'event 65 4000 pid=2' 'event 66 6000 pid=2' \
		'event 68 7000 pid=2 hex=09000000' end; } | write_log b.log
	run 0 posixtrace dump a.log b.log
	columns | cut -d ' ' -f 1,5- >got
	prints got <<-'END'
		0.000 set size=5
		1.000 set color=7
		2.000 only_a
		3.000 only_b
		4.000 tick
		5.000 tick
		6.000 set_too size=9
	END
	run 0 posixtrace stat a.log b.log
	[ "$(grep -c '^set .* 1 ' out)" -eq 2 ]
	[ "$(grep -c '^tick .* 2 ' out)" -eq 1 ]
	run 0 posixtrace dump --filter='size == 5 || color == 7' a.log b.log
	[ "$(wc -l <out)" -eq 2 ]
	run 0 posixtrace export -O chrome -o exported a.log b.log
	jq -c '[.traceEvents[] | select(.name == "set") | .args.fields | .size // .color]' exported >got
	prints got <<<'[5,7]'
	run 0 posixtrace export -O ctf -o ctf a.log b.log
}

# If two logs describe a kernel event differently, one of them would be misread.
test_other_descriptions_of_kernel_events_are_refused()
{
	{ head_of 1; printf '%s\n' 'block 0' 'kernel sched_wakeup 1000 pid=1 tid=1' end; } | write_log a.log
	{ printf '%s\n' 'cookie 2' 'classes sched bare' "boot $boot" 'host machine' \
		'describe 18 { u32 other; }' end; } | write_log b.log
	run 1 posixtrace dump a.log b.log
	complains 'posixtrace: b.log: another version of the module described sched_wakeup than in a.log'
}

test_too_many_types_are_refused()
{
	local name
	for name in a b; do
		{ printf '%s\n' "cookie $((16#$name))" "boot $boot" 'host machine'
			awk -v name=$name 'BEGIN { for (i = 65; i < 3000; i++) print "name", i, name "-" i }'
			printf '%s\n' 'block 0' 'event 65 1000' end; } | write_log $name.log
	done
	run 1 posixtrace dump a.log b.log
	complains 'posixtrace: b.log: has too many event types: several logs have at most 4031 together'
	run 0 posixtrace dump b.log
}

test_logs_of_unknown_boots_are_refused()
{
	local command
	{ plain 1; echo end; } | write_log a.log
	printf '%s\n' 'cookie 3' end | write_log unknown.log
	printf '%s\n' 'cookie 4' 'host machine' end | write_log zero.log
	for command in unknown zero; do
		run 1 posixtrace dump a.log $command.log
		complains "posixtrace: $command.log: unknown boot id, so it cannot be read with other logs"
	done
}

test_a_log_is_named_once()
{
	{ plain 1; echo end; } | write_log a.log
	cp a.log copy.log
	gzip -k a.log
	for other in a.log ./a.log copy.log a.log.gz; do
		run 1 posixtrace dump a.log $other
		complains "posixtrace: $other: the same log as a.log: name each log once"
	done
}

test_limits_are_told()
{
	local i
	for ((i = 1; i <= 20; i++)); do
		{ plain $i; echo end; } | write_log $i.log
	done
	run 1 bash -c 'ulimit -n 16; exec posixtrace dump .'
	grep -Eqx 'posixtrace: \./[0-9]+\.log: too many logs: [0-9]+ fit in the limit of 16 descriptors \(ulimit -n\)' err
	[ "$(wc -l <err)" -eq 1 ]
	run 0 bash -c 'ulimit -n 40; exec posixtrace dump .'
	mapfile -t names < <(yes 1.log | head -n 1025)
	run 1 posixtrace dump "${names[@]}"
	complains 'posixtrace: 1025 logs are too many: at most 1024 can be read together'
}

test_a_damaged_log_is_named()
{
	local command at
	whole_and_parts 300
	cp 200.log intact
	run 0 posixtrace dump --json --pid=100 whole.log
	jq -c '[.ns, .event]' out >wanted
	at=$(($(stat -c %s 200.log) / 2))
	printf '\377\377\377\377' | dd of=200.log bs=1 seek=$at conv=notrunc status=none
	for command in dump stat 'stat --states' 'export -O chrome' 'export -O html' 'why --tid=100'; do
		# shellcheck disable=SC2086 # words
		run 1 posixtrace $command 100.log 200.log
		grep -q '^posixtrace: 200.log: the log is damaged' err
		lacks '100.log: the log is damaged' err
	done
	run 1 posixtrace dump --json --pid=100 100.log 200.log
	jq -c '[.ns, .event]' out >got
	prints got <wanted
	head -c 100 intact >200.log
	run 1 posixtrace dump 100.log 200.log
	complains 'posixtrace: 200.log: not a trace log, or its first 512 bytes are missing or damaged'
	run 1 posixtrace dump .
	complains 'posixtrace: ./200.log: not a trace log, or its first 512 bytes are missing or damaged'
}

test_losses_are_counted_for_each_log()
{
	{ plain 1; printf '%s\n' 'block 0' 'event 65 1000 pid=1' epoch 'lost 7 2000' 'block 0' \
		'event 65 9000 pid=1' end; } | write_log a.log
	{ plain 2; printf '%s\n' 'block 0' 'event 65 3000 pid=2' epoch 'lost 4 4000' 'block 0' \
		'event 65 8000 pid=2' 'end lost=5'; } | write_log b.log
	{ plain 3; printf '%s\n' 'block 0' 'event 65 3000 pid=3'; } | write_log c.log
	for command in dump stat 'export -O chrome'; do
		# shellcheck disable=SC2086 # words
		run 0 posixtrace $command a.log b.log c.log
		complains 'posixtrace: a.log: 7 events were lost: use a larger stream' \
			'posixtrace: b.log: 5 events were lost: use a larger stream' \
			'posixtrace: c.log: the log has no end: it is still being written, or was cut short'
	done
	run 0 posixtrace stat a.log b.log c.log
	grep -E '^(log|lost|logs) ' out | sed -E 's/ +/ /g' >got
	prints got <<-'END'
		log a.log
		lost 7
		log b.log
		lost 5
		log c.log
		lost 0
		logs 3
		lost 11 in 2 gaps, 1 after the last
	END
	run 0 posixtrace dump --json a.log b.log c.log
	jq -c '[.ns, .lost]' out | tail -n 1 >got
	prints got <<<'[8000,11]'
}

# The numbers in names are sorted as numbers, because rotation makes log.2 and log.10.
test_a_directory_is_its_logs()
{
	local i
	mkdir logs logs/below empty
	for i in 1 2 10; do
		{ plain $i; printf '%s\n' 'block 0' "event 65 1000 pid=$i" end; } | write_log logs/log.$i
	done
	{ plain 20; printf '%s\n' 'block 0' 'event 65 1000 pid=20' end; } | write_log logs/log.3
	gzip logs/log.3
	cp logs/log.1 logs/.hidden
	cp logs/log.1 logs/below/log.4
	echo 'not a log' >logs/README
	run 0 posixtrace dump logs
	columns | cut -d ' ' -f 3 >got
	prints got <<<$'1\n2\n20\n10'
	run 0 posixtrace stat logs
	grep -qx 'logs      4' out
	run 1 posixtrace dump empty
	complains 'posixtrace: empty: no logs in this directory'
	run 1 posixtrace stat logs/log.1 empty
	complains 'posixtrace: empty: no logs in this directory'
	# A directory with a single log is the same as that log.
	run 0 posixtrace dump --follow logs/below
	[ "$(wc -l <out)" -eq 1 ]
	run 0 posixtrace dump logs/log.1 logs/log.2
	[ "$(wc -l <out)" -eq 2 ]
	run 1 posixtrace dump logs logs/log.1
	complains 'posixtrace: logs/log.1: the same log as logs/log.1: name each log once'
}

# The waker is a thread of another log, which has its name. Descriptors and mappings come from the
# log of the process.
test_names_come_from_the_log_that_has_them()
{
	{ head_of 1; printf '%s\n' 'task 1 1 0 sleeper' 'block 0' 'kernel sched_switch_out 1000 pid=1 tid=1 state=1 reason=blocked' \
		'kernel sched_wakeup 5000 pid=1 tid=1 by=thread waker_pid=2 waker_tid=2' \
		'kernel sched_switch_in 6000 pid=1 tid=1' 'kernel sched_switch_out 8000 pid=1 tid=1 state=1 reason=blocked' end; } |
		write_log a.log
	{ head_of 2; printf '%s\n' 'task 2 2 0 waker' 'block 1' 'kernel sched_switch_in 2000 pid=2 tid=2' \
		'kernel sched_switch_out 7000 pid=2 tid=2 state=1 reason=blocked' end; } | write_log b.log
	run 0 posixtrace stat --states a.log
	lacks waker-2 out
	run 0 posixtrace stat --states a.log b.log
	grep -q 'sleeper-1.*waker-2' out
	run 0 posixtrace dump b.log a.log
	columns | cut -d ' ' -f 4 | sort -u >got
	prints got <<<$'sleeper-1\nwaker-2'
}

# Process 2 is traced only from 3000 to 5000. Thread 1 is blocked all the time.
test_the_end_of_a_log_ends_what_is_known_of_its_threads_only()
{
	{ head_of 1; printf '%s\n' 'task 1 1 0 one' 'block 4' 'event 2 1000 pid=9' 'block 0' \
		'kernel sched_switch_in 1000 pid=1 tid=1' \
		'kernel sched_switch_out 2000 pid=1 tid=1 state=1 reason=blocked' \
		'kernel sched_wakeup 1002000 pid=1 tid=1 by=timer' 'kernel sched_switch_in 1002000 pid=1 tid=1' \
		'block 4' 'event 3 2002000 pid=9 hex=00000000' end; } | write_log a.log
	{ head_of 2; printf '%s\n' 'task 2 2 0 two' 'block 4' 'event 2 3000 pid=9' 'block 1' \
		'kernel sched_switch_in 3000 pid=2 tid=2' \
		'kernel sched_switch_out 4000 pid=2 tid=2 state=1 reason=blocked' 'block 4' \
		'event 3 5000 pid=9 hex=00000000' end; } | write_log b.log
	run 0 posixtrace export -O chrome -o exported a.log b.log
	jq -r '.traceEvents[] | select(.cat == "state" or .cat == "sched") | [.tid, .name, .ts, .dur] | map(tostring) | join(" ")' \
		exported | sed 's/^[0-9]*\([0-9]\) /\1 /' | sort >got
	prints got <<-'END'
		2 blocked (sleep) 1 1000
		2 running 0 1
		2 running 1001 1000
		3 blocked (sleep) 3 1
		3 running 2 1
		3 unknown 4 1997
	END
}

# Without scheduler events, no event shows when the threads of that log stop running.
test_threads_of_a_log_without_scheduler_events_have_no_states()
{
	{ head_of 1; printf '%s\n' 'task 1 1 0 one' 'block 0' 'kernel sched_switch_in 1000 pid=1 tid=1' \
		'kernel sched_switch_out 2000 pid=1 tid=1 state=1 reason=blocked' \
		'kernel sched_switch_in 8000 pid=1 tid=1' end; } | write_log a.log
	{ plain 2; printf '%s\n' 'task 2 2 0 two' 'block 1' 'event 65 1500 pid=2 tid=2' \
		'event 65 7000 pid=2 tid=2' end; } | write_log b.log
	run 0 posixtrace stat --states a.log b.log
	grep -q one-1 out
	lacks 'two-2.*running' out
	run 0 posixtrace export -O chrome -o exported a.log b.log
	jq -r '.traceEvents[] | select(.cat == "state" or .cat == "sched") | .name' exported | sort >got
	prints got <<<$'blocked (sleep)\nrunning'
}

test_wrong_calls_are_refused()
{
	local i
	for i in 1 2; do
		{ plain $i; printf '%s\n' 'block 0' 'event 65 1000 pid=1' end; } | write_log $i.log
	done
	run 2 posixtrace dump --follow 1.log 2.log
	grep -qx 'posixtrace: --follow: can follow one LOG, not 2' err
	run 2 posixtrace stat 1.log 1234
	grep -qx 'posixtrace: stat: takes LOGs or one PID (got PID "1234" of 2)' err
	run 2 posixtrace stat --diff 1.log 2.log 1.log
	grep -qx 'posixtrace: --diff: needs two LOGs, not 3' err
	run 1 posixtrace stat --diff 1.log .
	complains 'posixtrace: .: Is a directory'
	run 2 posixtrace list 1.log 2.log
	run 1 posixtrace dump --pid=5 1.log 2.log
	complains 'posixtrace: --pid: the set of 2 logs has no such events: posixtrace stat --by=process lists processes'
	run 1 posixtrace dump --filter=nothing 1.log 2.log
	complains 'posixtrace: --filter: the set of 2 logs has no such events: posixtrace list LOG shows names and fields'
}

run_cases
