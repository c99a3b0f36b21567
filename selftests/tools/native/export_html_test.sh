#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace export --format=html" with a headless Chromium. Prints TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/browse.sh
. "$(dirname "$0")/browse.sh"

# spans PAGE: prints the states, system calls and interrupts of a page by thread and time: the
# thread, state or name, begin, end, and all further details except the processor
spans()
{
	page_data "$1" | jq -r '
		["unknown", "running", "runnable", "sleep", "disk", "stopped"] as $states |
		.threads as $threads | [.events[] | select(.[0] >= 5)] |
		sort_by(.[1], (.[0] == 6 | not), .[3]) | .[] |
		[$threads[.[1]][2], (if .[0] == 6 then $states[.[2]] else .[2] end), .[3],
		 .[3] + .[4], (.[5] | del(.cpu) | tojson)] | join(" ")'
}

nested_log()
{
	whole_log "$1" <<-'END'
		name 65 outer_begin
		name 66 outer_end
		name 67 inner:begin
		name 68 inner:end
		name 69 tick
		block 0
		event 65 1700000000000000000 pid=7 thread=0x1000 text=hello
		event 67 1700000000000100000 pid=7 thread=0x1000
		event 68 1700000000000200000 pid=7 thread=0x1000
		event 69 1700000000000300000 pid=7 thread=0x2000
		event 66 1700000000000400000 pid=7 thread=0x1000
		lost 7 1700000000000450000
		block 0
		event 69 1700000000001000000 pid=7 thread=0x2000 text=bye
	END
}

test_page_draws_all_threads()
{
	nested_log log
	export_log html page log
	browse page '
		report("items", state.items);
		report("rows", state.rows);
		report("lost", state.lost);
		report("title", document.title);
		report("summary", document.getElementById("summary").textContent);
		const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width,
			canvas.height).data;
		const seen = new Map();
		for (let i = 0; i < pixels.length; i += 4) {
			const colour = pixels.slice(i, i + 3).join(",");
			seen.set(colour, (seen.get(colour) || 0) + 1);
		}
		report("colours", [...seen].filter(([, n]) => n > 40).length);
	'
	# The log has no START. The library adds OVERFLOW and RESUME.
	[ "$(fact items)" -eq 7 ]
	[ "$(fact rows)" -eq 4 ]
	[ "$(fact lost)" -eq 1 ]
	[ "$(fact title)" = 'of a test' ]
	[ "$(fact summary)" = '8 events of 3 threads, 1 ms from 2023-11-14T22:13:20.000000000Z' ]
	[ "$(fact colours)" -ge 6 ]
}

test_wheel_drag_and_keys_zoom_and_move()
{
	nested_log log
	export_log html page log
	browse page '
		const room = () => state.to - state.from;
		const all = room();
		const wheel = (options) => canvas.dispatchEvent(new WheelEvent("wheel",
			{ cancelable: true, bubbles: true, clientX: 600, clientY: 200, ...options }));
		wheel({ deltaY: -200 });
		await frameDone();
		report("wheel_in", room() < all * 0.7);
		wheel({ deltaY: 200 });
		await frameDone();
		report("wheel_out", Math.abs(room() / all - 1) < 0.01);
		key("+"); key("+");
		await frameDone();
		report("key_in", Math.abs(room() / all - 0.49) < 0.01);
		let before = Number(state.from);
		key("ArrowRight");
		await frameDone();
		report("key_right", state.from > before);
		before = Number(state.from);
		pointer("pointerdown", 500, 130); pointer("pointermove", 600, 130);
		pointer("pointerup", 600, 130);
		await frameDone();
		report("drag", state.from < before);
		report("drag_keeps_zoom", Math.abs(room() / all - 0.49) < 0.01);
		key("0");
		await frameDone();
		report("key_all", room() === all);
		for (let i = 0; i < 100; i++)
			key("+");
		await frameDone();
		report("smallest", room());
	'
	for name in wheel_in wheel_out key_in key_right drag drag_keeps_zoom key_all; do
		[ "$(fact "$name")" = true ] || { echo "$name"; return 1; }
	done
	[ "$(fact smallest)" = 1 ]
}

test_search_goes_from_match_to_match()
{
	nested_log log
	export_log html page log
	browse page '
		const search = document.getElementById("search");
		search.value = "TICK";
		search.dispatchEvent(new Event("input"));
		report("matches", state.matches);
		key("Enter", search);
		await frameDone();
		report("first", state.match + " " + document.getElementById("matches").textContent);
		key("n");
		await frameDone();
		report("second", state.match);
		report("visible", state.from <= 1000000 && state.to >= 1000000);
		search.value = "no such name";
		search.dispatchEvent(new Event("input"));
		report("none", document.getElementById("matches").textContent);
		key("n");
	'
	[ "$(fact matches)" -eq 2 ]
	[ "$(fact first)" = '0 1 of 2' ]
	[ "$(fact second)" -eq 1 ]
	[ "$(fact visible)" = true ]
	[ "$(fact none)" = '0 matches' ]
}

# find_tips PAGE: writes to the file tips the tooltips of all items on the page
find_tips()
{
	browse "$1" '
		const box = canvas.getBoundingClientRect(), tip = document.getElementById("tip");
		const seen = new Set();
		for (let y = 0; y < box.height; y += 6) {
			for (let x = 170; x < box.width; x += 6) {
				canvas.dispatchEvent(new PointerEvent("pointermove", { bubbles: true,
					clientX: box.left + x, clientY: box.top + y }));
				if (!tip.hidden)
					seen.add(tip.textContent.replaceAll("\n", "; "));
			}
		}
		[...seen].sort().forEach((text, i) => report("tip" + i, text));
	'
	sed -n 's/^tip[0-9]*=//p' facts >tips
}

test_pointer_shows_details_of_an_item()
{
	nested_log log
	export_log html page log
	find_tips page
	grep -q '^outertook 400 µs; at 0 ns, 2023-11-14T22:13:20.000000000Z; process 7, thread 0x1000; begin:;   text: hello;   cpu: 0; end:;   cpu: 0$' tips
	grep -q '^innertook 100 µs; at 100 µs, ' tips
	grep -q '^tickat 1 ms, 2023-11-14T22:13:20.001000000Z; process 7, thread 0x2000; text: bye; cpu: 0$' tips
	grep -q '^7 events lostat ' tips
}

test_names_of_the_log_are_used()
{
	whole_log log <<-'END'
		host of-a-test
		name 65 tick
		task 7 9 1700000000000000000 <b>worker
		block 0
		event 65 1700000000000000001 pid=7 tid=9 thread=0x7f0000000001
	END
	export_log html page log
	find_tips page
	grep -q '; process 7, &lt;b&gt;worker-9; cpu: 0$' tips
}

test_counters_have_lanes()
{
	counter_log log
	export_log html page log
	find_tips page
	grep -q '^queueat 100 µs, .*; process 7, queue; counter: 20 B; ' tips
	grep -q '^queueat 150 µs, .*; process 8, queue; counter: 18446744073709551615 B; ' tips
	grep -q '^loadat 200 µs, .*; process 7, load; counter: -1.5 1/s; ' tips
	[ "$(grep -c '^queue' tips)" -eq 4 ]
}

test_fields_have_names_and_units()
{
	whole_log log <<-'END'
		name 65 cache
		name 66 work_begin
		name 67 work_end
		describe 65 { enum { get, set } op; u32 took "ns"; u8 sizes[2] "B"; { i8 x "m"; string s; } at[1]; text units; }
		describe 67 { bool ok; }
		block 0
		event 65 1700000000000000000 hex=01000000e80300000506ff3c623e006b
		event 66 1700000000000100000
		event 67 1700000000000200000 hex=01
		event 65 1700000000000300000 hex=01
	END
	export_log html page log
	find_tips page
	grep -qF '; op: set; took: 1000 ns; sizes: [5, 6] B; at:;   0:;     x: -1 m;     s: &lt;b&gt;; units: k; cpu: 0' tips
	grep -q '; end:;   ok: true;   cpu: 0$' tips
	grep -q '; bytes: 01; cpu: 0$' tips
}

test_states_and_calls_are_exact()
{
	kernel_log log
	export_log html page log
	spans page >got
	diff -u - got <<-'END'
		main-7 running 0 3000 {}
		main-7 sleep 3000 8000 {"letter":"S","call":"read","by":"thread","waker":[7,8]}
		main-7 runnable 8000 9000 {"by":"thread","waker":[7,8]}
		main-7 running 9000 10500 {}
		main-7 runnable 10500 12000 {"preempted":true}
		main-7 running 12000 14000 {}
		main-7 unknown 14000 19900 {}
		main-7 runnable 19900 20000 {}
		main-7 running 20000 21000 {}
		main-7 read 2000 9500 {"args":["0x3","0x7f00","0x64","0x0","0x0","0x0"],"nr":0,"result":100}
		main-7 ata 9600 9900 {"kind":"irq","number":4,"nested":false}
		main-7 exit_group 20500 21000 {"args":["0x0","0x0","0x0","0x0","0x0","0x0"],"nr":231,"unfinished":true}
		born-9 runnable 2600 2700 {"by":"thread","waker":[7,7]}
		born-9 running 2700 4000 {}
		born-9 stopped 4000 6000 {"letter":"T"}
		born-9 runnable 6000 6500 {}
		born-9 running 6500 14000 {}
		born-9 unknown 14000 21000 {}
		worker-8 runnable 4500 5000 {}
		worker-8 running 5000 12000 {}
		worker-8 disk 12000 14000 {"letter":"D","io":true,"call":"fsync"}
		worker-8 unknown 14000 21000 {}
		worker-8 fsync 11000 11000 {"args":["0x5","0x0","0x0","0x0","0x0","0x0"],"nr":74,"unfinished":true,"lost":7}
	END
	# The other events are shown as marks, such as the wake-up of a running thread.
	page_data page | jq -r '.names as $names | .events[] | select(.[0] == 2) | $names[.[2]]' |
		grep -v ^posix_trace >got
	diff - got <<-'END'
		sched_process_exec
		sched_process_fork
		sched_wakeup
		page_fault
		sched_process_exit
	END
}

# Between two events that contradict each other, the state is unknown.
test_unknown_states()
{
	whole_log log <<-'END'
		cpus 8
		classes all
		name 65 tick
		thread a 7 7 0x1000
		thread b 7 8 0x2000
		thread c 7 9 0
		thread d 7 10 0x4000
		thread e 7 11 0x5000
		thread f 7 12 0x6000
		thread g 9 9 0x7000
		since 1700000000000000000
		block 0
		event 65 0 cpu=5 pid=1 tid=1 thread=1
		kernel sched_switch_in 1000 cpu=0 @a runnable=5000
		kernel sched_switch_in 2000 @a runnable=200
		kernel sched_switch_out 3000 @a state=S reason=blocked
		kernel sched_switch_out 4000 @a state=Z reason=ended
		kernel sched_wakeup 1000 cpu=1 @b by=timer
		kernel sched_switch_in 1500 @b
		kernel sched_switch_out 2500 @b state=X reason=blocked
		event 65 3000 @b
		kernel sched_switch_out 3500 @b state=S reason=blocked
		event 65 3600 @b
		kernel sched_wakeup 3700 @b by=another
		kernel sched_switch_out 1200 cpu=2 @c state=S reason=blocked
		kernel sched_switch_in 1300 @c runnable=1000
		kernel sched_switch_in 100 cpu=3 @d
		kernel sched_switch_out 200 @d state=R reason=preempted
		kernel sched_switch_out 300 @d state=R reason=preempted
		kernel sched_switch_in 3000 @g
		kernel sched_process_exit 4000 @g group_dead=true
		event 3 4100 cpu=8 pid=0 tid=0
		kernel sched_wakeup 4200 cpu=3 @d by=interrupt
		kernel sched_wakeup 4300 @d by=another
		kernel sched_switch_in 4400 @d
		kernel page_fault 4500 cpu=6 @e
		kernel sched_wakeup 4600 @e
		kernel sched_switch_in 4700 @e
		kernel sched_switch_in 4300 cpu=1 @f
		kernel sched_wakeup 4350 @f by=interrupt
		kernel sched_switch_out 4400 @f state=S reason=blocked
		kernel sched_switch_in 4450 @f runnable=20
		kernel sched_wakeup 4460 @f by=softirq waker_pid=3 waker_tid=4
		kernel sched_switch_out 4470 @f state=S reason=blocked
		kernel sched_switch_in 4480 @f
		kernel sched_switch_out 4490 @f state=S reason=blocked
		kernel sched_switch_in 4500 @f
		kernel sched_wakeup 4510 @f by=interrupt
		kernel sched_switch_in 4600 @f
		event 65 4800 cpu=5 pid=1 tid=1 thread=1
	END
	export_log html page log
	spans page >got
	# the state of d is unknown again after the stream has stopped
	diff -u - got <<-'END'
		thread 0x1 running 0 4100 {}
		thread 0x1 unknown 4100 4800 {}
		thread 0x4000 running 100 200 {}
		thread 0x4000 unknown 200 300 {}
		thread 0x4000 runnable 300 4100 {"preempted":true}
		thread 0x4000 unknown 4100 4200 {}
		thread 0x4000 runnable 4200 4400 {"by":"interrupt"}
		thread 0x4000 running 4400 4800 {"open":true}
		thread 0x1000 runnable 0 1000 {}
		thread 0x1000 unknown 1000 1800 {}
		thread 0x1000 runnable 1800 2000 {}
		thread 0x1000 running 2000 3000 {}
		thread 0x1000 unknown 3000 4000 {}
		thread 0x2000 runnable 1000 1500 {"by":"timer"}
		thread 0x2000 running 1500 2500 {}
		thread 0x2000 unknown 2500 3000 {}
		thread 0x2000 running 3000 3500 {}
		thread 0x2000 sleep 3500 3700 {"letter":"S","by":"another"}
		thread 0x2000 runnable 3700 4100 {"by":"another"}
		thread 0x2000 unknown 4100 4800 {"open":true}
		thread 9 runnable 1200 1300 {}
		thread 9 running 1300 4100 {}
		thread 9 unknown 4100 4800 {"open":true}
		thread 0x7000 running 3000 4000 {}
		thread 0x6000 running 4300 4400 {}
		thread 0x6000 sleep 4400 4430 {"letter":"S","by":"interrupt"}
		thread 0x6000 runnable 4430 4450 {"by":"interrupt"}
		thread 0x6000 running 4450 4470 {}
		thread 0x6000 runnable 4470 4480 {"by":"softirq","waker":[3,4]}
		thread 0x6000 running 4480 4490 {}
		thread 0x6000 sleep 4490 4500 {"letter":"S"}
		thread 0x6000 unknown 4500 4600 {}
		thread 0x6000 running 4600 4800 {"open":true}
		thread 0x5000 unknown 4500 4700 {}
		thread 0x5000 running 4700 4800 {"open":true}
	END
}

# A thread without a switch also has a state. After an exec, the process has no other thread.
test_states_without_switches()
{
	whole_log log <<-'END'
		classes sched,process
		name 65 tick
		thread a 7 7 0x1000
		thread b 7 8 0x2000
		thread c 7 9 0x3000
		thread d 6 6 0x4000
		since 1700000000000000000
		block 0
		event 65 100 cpu=0 @d
		kernel sched_switch_in 200 cpu=1 @a
		kernel sched_switch_in 300 cpu=2 @b
		kernel sched_switch_out 400 cpu=2 @b state=S reason=blocked
		kernel sched_switch_in 500 cpu=3 @c
		kernel sched_process_exec 600 cpu=3 @a filename=/bin/true
		kernel sched_process_exit 700 cpu=0 @d group_dead=true
		kernel sched_process_exit 800 cpu=3 @a group_dead=true
	END
	export_log html page log
	spans page >got
	diff -u - got <<-'END'
		thread 0x4000 running 0 600 {}
		thread 0x1000 running 100 700 {}
		thread 0x2000 running 200 300 {}
		thread 0x2000 sleep 300 500 {"letter":"S"}
		thread 0x3000 running 400 500 {}
	END
}

# A stop, a loss or the end of the log ends the state of the thread before the begin of the thread's
# scope is drawn.
test_thread_that_only_begins_has_a_track()
{
	local stop='event 3 2000 cpu=4 pid=0 tid=0'
	local loss=$'lost 7 1700000000000002000\nkernel sched_switch_in 3000 cpu=1 @b'
	local last
	for last in "$stop" "$loss" ''; do
		whole_log log <<-END
			classes sched
			name 65 work_begin
			thread a 7 7 0x1000
			thread b 8 8 0x2000
			since 1700000000000000000
			block 0
			event 65 1000 @a
			kernel sched_switch_in 1500 cpu=1 @b
			$last
		END
		rm -f page
		export_log html page log
		spans page | sed -n '/ 0x1000 /p' >>got
		page_data page |
			jq -e '(.threads | length) as $count | all(.events[]; .[1] < $count)'
		browse page 'report("states", state.states);'
		[ "$(fact states)" -ge 1 ]
	done
	diff -u - got <<-'END'
		thread 0x1000 running 0 1000 {}
		thread 0x1000 running 0 1000 {}
		thread 0x1000 unknown 1000 2000 {"open":true}
		thread 0x1000 running 0 500 {"open":true}
	END
}

test_calls()
{
	whole_log log <<-'END'
		classes syscall
		thread a 7 7 0x1000
		thread b 7 8 0x2000
		since 1700000000000000000
		block 0
		kernel syscall_exit 0 @a nr=56
		kernel syscall_entry 100 @a nr=1 name=write args=1,2,3
		kernel syscall_exit 150 @a nr=2
		kernel syscall_entry 200 @a nr=15 name=rt_sigreturn
		kernel syscall_exit 250 @a nr=-1 result=-4
		kernel syscall_entry 300 @a nr=9 name=mmap compat=true
		kernel syscall_entry 400 @a nr=59 name=execve
		kernel syscall_exit 500 @a thread=0 nr=59 result=0x7fffffffffffffff
		kernel syscall_entry 600 @a nr=-7
		kernel syscall_entry 50 cpu=1 @b nr=0 name=read
		kernel syscall_exit 700 @b nr=0
	END
	export_log html page log
	spans page | sed 's/"args":[^]]*],//' >got
	diff -u - got <<-'END'
		thread 0x1000 write 100 100 {"nr":1,"unfinished":true}
		thread 0x1000 rt_sigreturn 200 250 {"nr":15,"result":-4}
		thread 0x1000 mmap 300 300 {"nr":9,"unfinished":true,"compat":true}
		thread 0x1000 execve 400 500 {"nr":59,"result":"9223372036854775807"}
		thread 0x1000 system call -7 600 700 {"nr":-7,"unfinished":true}
		thread 0x2000 read 50 700 {"nr":0,"result":0}
	END
	[ "$(page_data page | jq '[.events[] | select(.[0] == 2)] | length')" -eq 2 ]
}

test_strips_are_described()
{
	kernel_log log
	export_log html page log
	find_tips page
	sed -i 's/, 2023-[^;]*;/;/' tips
	cat >wanted <<-'END'
		runningfor 1.5 µs; since 9 µs; process 7 (main), main-7; on cpu 0
		blocked (sleep)for 5 µs; since 3 µs; process 7 (main), main-7; in system call read; state S; woken by worker-8 of process 7
		runnablefor 1 µs; since 8 µs; process 7 (main), main-7; woken by worker-8 of process 7
		runnablefor 1.5 µs; since 10.5 µs; process 7 (main), main-7; preempted
		unknownfor 5.9 µs; since 14 µs; process 7 (main), main-7
		blocked (I/O)for 2 µs; since 12 µs; process 7 (main), worker-8; in system call fsync; state D
		unknownfor 7 µs; since 14 µs; process 7 (main), worker-8
		stoppedfor 2 µs; since 4 µs; process 7 (main), born-9; state T
		readtook 7.5 µs; at 2 µs; process 7 (main), main-7; arguments: fd 3, buf 0x7f00, count 100; result: 100; nr: 0; cpu: 0
		exit_grouptook 500 ns; at 20.5 µs; process 7 (main), main-7; arguments: error_code 0; no exit in the log; nr: 231; cpu: 0
		irq atatook 300 ns; at 9.6 µs; process 7 (main), main-7; kind: irq; number: 4; nested: false; cpu: 0
	END
	cat tips
	while read -r line; do
		grep -qxF "$line" tips || { echo "no tip: $line"; return 1; }
	done <wanted
	browse page '
		const legend = document.getElementById("legend");
		report("legend", !legend.hidden && legend.textContent);
		report("states", state.states);
		report("rows", state.rows);
		report("items", state.items);
	'
	fact legend | grep -qx 'runningrunnableblocked (sleep)blocked (I/O)stoppedunknowninterrupt→ wake-up'
	[ "$(fact states)" -eq 19 ]
	# rows: three processors; main: marks, work, calls, states; worker: calls, states; born:
	# states; marks of the stream
	[ "$(fact rows)" -eq 11 ]
	nested_log log
	export_log html other log
	browse other 'report("legend", document.getElementById("legend").hidden);
		report("states", state.states);'
	[ "$(fact legend)" = true ]
	[ "$(fact states)" -eq 0 ]
}

# strip_script Y: writes a script that reports how many pixels of each colour a strip has
strip_script()
{
	cat <<-END
		const css = getComputedStyle(document.documentElement);
		const wanted = {};
		for (const name of ["running", "runnable", "sleep", "disk", "unknown", "irq"]) {
			const swatch = document.createElement("i");
			swatch.style.color = css.getPropertyValue("--" + name);
			document.body.append(swatch);
			wanted[getComputedStyle(swatch).color.match(/\\d+/g).join(",")] = name;
			swatch.remove();
		}
		const row = canvas.getContext("2d").getImageData(170, $1, canvas.width - 170, 1).data;
		const counts = {};
		for (let i = 0; i < row.length; i += 4) {
			const name = wanted[row.slice(i, i + 3).join(",")];
			if (name)
				counts[name] = (counts[name] || 0) + 1;
		}
		for (const [name, count] of Object.entries(counts))
			report(name, count);
	END
}

# The strip of the first thread is below three processors, two headings and three rows. It is 11
# pixels high, with marks of interrupts in its lower part.
test_strip_has_colours()
{
	kernel_log log
	export_log html page log
	browse page "$(strip_script 195)"
	# 21 us are 798 pixels
	for wanted in running=285 runnable=99 sleep=190 unknown=224; do
		name=${wanted%=*}
		distance=$(($(fact "$name") - ${wanted#*=}))
		[ "${distance#-}" -le 8 ] || { echo "$name: not $wanted"; return 1; }
	done
	[ -z "$(fact irq)" ]
	browse page "$(strip_script 200)"
	[ "$(fact irq)" -ge 9 ]
	[ "$(fact irq)" -le 13 ]
}

# Each pixel covers many short states. The state with the most time determines its colour.
test_states_shorter_than_a_pixel()
{
	{
		echo 'classes sched'
		echo 'block 0'
		echo 'since 1700000000000000000'
		awk 'BEGIN {
			for (i = 0; i < 20000; i++) {
				# mostly blocked in the first half, mostly running in the second
				run = i < 10000 ? 300 : 700
				print "kernel sched_switch_in", i * 1000
				print "kernel sched_switch_out", i * 1000 + run, "state=S reason=blocked"
			}
		}'
	} | whole_log log
	export_log html page log
	# 20 ms are 798 pixels, and the middle is at 415.
	browse page "$(strip_script 92)
		let wrong = 0;
		for (let i = 0; i < row.length; i += 4) {
			const name = wanted[row.slice(i, i + 3).join(',')];
			if (name && name !== (i < 415 * 4 ? 'sleep' : 'running'))
				wrong++;
		}
		report('wrong', wrong);"
	[ "$(fact sleep)" -ge 390 ]
	[ "$(fact running)" -ge 390 ]
	[ "$(fact wrong)" -le 4 ]
}

# The filter removes the event that has the time of the loss. The loss then begins after the last
# event before it.
test_losses_without_their_events()
{
	kernel_log log
	export_log html page log --filter='sched_*'
	spans page | grep main >got
	diff -u - got <<-'END'
		main-7 running 0 3000 {}
		main-7 sleep 3000 8000 {"letter":"S","by":"thread","waker":[7,8]}
		main-7 runnable 8000 9000 {"by":"thread","waker":[7,8]}
		main-7 running 9000 10500 {}
		main-7 runnable 10500 12000 {"preempted":true}
		main-7 running 12000 12100 {}
		main-7 unknown 12100 19900 {}
		main-7 runnable 19900 20000 {}
		main-7 running 20000 21000 {}
	END
}

# States must end with the last event in the page.
test_states_end_with_the_events_of_the_page()
{
	kernel_log log
	export_log html page log --max-events=7
	spans page >got
	diff -u - got <<-'END'
		main-7 running 0 3000 {}
		main-7 read 2000 3000 {"args":["0x3","0x7f00","0x64","0x0","0x0","0x0"],"nr":0,"unfinished":true}
		born-9 runnable 2600 2700 {"by":"thread","waker":[7,7]}
		born-9 running 2700 3000 {"open":true}
	END
}

# two_processes_log FILE: like kernel_log, but its process has a command line, and a second process
# has a counter
two_processes_log()
{
	whole_log "$1" <<-'END'
		classes all
		host of-a-test
		name 65 work_begin
		name 66 work_end
		name 67 queue
		describe 67 { i32 counter "B"; }
		task 7 7 0 main
		task 7 8 0 worker
		task 9 9 0 server
		program 7 0 /bin/client\x00--jobs\x002
		program 9 0 /bin/server\x00<b>
		thread main 7 7 0x1000
		thread worker 7 8 0x2000
		thread server 9 9 0x3000
		since 1700000000000000000
		block 0
		event 65 0 @main
		kernel syscall_entry 2000 @main nr=0 args=3,0x7f00,100,0,0,0 name=read
		kernel sched_switch_out 3000 @main state=S reason=blocked
		kernel sched_switch_in 9000 cpu=0 @main runnable=1000
		kernel syscall_exit 9500 @main nr=0 result=100
		event 66 10000 @main
		kernel irq 15000 @main duration=400 number=4 kind=irq name=ata
		kernel sched_switch_out 20000 @main state=S reason=blocked
		kernel sched_switch_in 1000 cpu=1 @worker
		kernel sched_switch_out 500 cpu=2 @server state=S reason=blocked
		kernel sched_wakeup 4000 cpu=1 @server by=thread waker_pid=@worker waker_tid=@worker
		kernel sched_wakeup 8000 cpu=1 @main by=thread waker_pid=@worker waker_tid=@worker
		kernel sched_switch_in 5000 cpu=2 @server runnable=1000
		event 67 6000 @server hex=e8030000
		event 67 9000 @server hex=38ffffff
	END
}

# The heading of a process has its name, id and command line.
test_threads_are_grouped_by_process()
{
	two_processes_log log
	export_log html page log
	find_tips page
	grep -qx 'processors' tips
	grep -qx 'client 7process 7 (client); /bin/client --jobs 2; 2 threads' tips
	grep -qx 'server 9process 9 (server); /bin/server &lt;b&gt;; 1 thread' tips
	# three processors, three threads and a counter
	browse page '
		report("all", state.tracks);
		key("c");
		await frameDone();
		report("closed", state.tracks);
		key("c");
		await frameDone();
		report("open", state.tracks);
		// the head of the processors, without a move
		pointer("pointerdown", 300, 30); pointer("pointerup", 300, 30);
		await frameDone();
		report("clicked", state.tracks);
	'
	[ "$(fact all)" -eq 7 ]
	[ "$(fact closed)" -eq 3 ]
	[ "$(fact open)" -eq 7 ]
	[ "$(fact clicked)" -eq 4 ]
}

# The keys n and p work only after the search field has been left. Escape ends the search.
test_search_finds_threads_and_processes()
{
	two_processes_log log
	export_log html page log
	browse page '
		const search = document.getElementById("search"), text = document.getElementById("matches");
		const type = (text) => {
			search.focus();
			search.value = text;
			search.dispatchEvent(new Event("input"));
		};
		key("c");
		type("WORKER");
		report("thread", text.textContent);
		key("Enter", search);
		await frameDone();
		report("focus", document.activeElement === canvas);
		report("opened", state.tracks);
		type("/bin/");
		key("Enter", search);
		report("first", text.textContent);
		key("n", document.activeElement);
		report("next", text.textContent);
		key("p", document.activeElement);
		report("previous", text.textContent);
		key("Enter");
		report("panel", document.querySelector("#panel h2").textContent);
		key("Escape");
		report("ended", text.textContent + search.value);
		report("still", document.getElementById("panel").hidden);
		key("Escape");
		report("hidden", document.getElementById("panel").hidden);
		type("9");
		report("by_id", text.textContent);
		key("Escape", search);
		report("escaped", search.value + (document.activeElement === canvas));
	'
	[ "$(fact thread)" = '1 match' ]
	[ "$(fact focus)" = true ]
	# of the two processes, the one with the thread is open again
	[ "$(fact opened)" -eq 5 ]
	[ "$(fact first)" = '1 of 2' ]
	[ "$(fact next)" = '2 of 2' ]
	[ "$(fact previous)" = '1 of 2' ]
	[ "$(fact panel)" = 'client 7' ]
	[ "$(fact ended)" = '' ]
	[ "$(fact still)" = false ]
	[ "$(fact hidden)" = true ]
	# the process and its thread match
	[ "$(fact by_id)" = '2 matches' ]
	[ "$(fact escaped)" = true ]
}

test_range_has_a_panel_with_what_is_in_it()
{
	two_processes_log log
	export_log html page log
	# 20 us are 798 of the 830 pixels right of the names.
	browse page '
		const at = (ns) => 170 + (ns - Number(state.from)) / (state.to - state.from) * (1000 - 170);
		const begin = at(3500), end = at(16000);
		pointer("pointerdown", begin, 5); pointer("pointermove", 400, 8);
		pointer("pointermove", end, 8); pointer("pointerup", end, 8);
		await frameDone();'"$(panel_facts)"
	sed -n 's/^panel[0-9]*=//p' facts >got
	prints got <<-'END'
		Range of 12.5 µs
		from 3.5 µs to 16 µs; 3 of 3 threads; 2 wake-ups by threads
		States
		|count|time|share
		running|3|30.5 µs|81.3 %
		blocked (sleep)|2|5 µs|13.3 %
		runnable|2|2 µs|5.3 %
		System calls
		|count|time
		read|1|6 µs
		Scopes
		|count|time
		work|1|6.5 µs
		Interrupts
		|count|time
		irq ata|1|400 ns
		Counters
		|lowest|highest
		queue of process 9 (server)|-200 B|1000 B
		Processors
		|threads|time
		cpu 1|1|12.5 µs
		cpu 2|1|11 µs
		cpu 0|1|7 µs
	END
	# If Shift is held, a range is drawn over the tracks that it covers. The server is the last
	# but one.
	browse page '
		const box = canvas.getBoundingClientRect();
		let y = 0;
		for (; y < box.height; y += 2) {
			pointer("pointermove", 60, y);
			if (document.querySelector("#tip b")?.textContent === "server-9")
				break;
		}
		pointer("pointerdown", 300, y + 4, { shiftKey: true }); pointer("pointermove", 320, y + 5);
		pointer("pointerup", 350, y + 5);
		report("lines", document.querySelector("#panel pre").textContent.replaceAll("\n", "; "));
		key("r");
		report("all", document.querySelector("#panel pre").textContent.replaceAll("\n", "; "));
		report("moved", state.from);
		key("Escape");
		report("hidden", document.getElementById("panel").hidden);'
	fact lines | grep -q '; 1 of 3 threads; '
	[ "$(fact all)" = 'from 0 ns to 20 µs; 3 of 3 threads; 2 wake-ups by threads' ]
	[ "$(fact hidden)" = true ]
}

test_processors_show_their_threads()
{
	two_processes_log log
	export_log html page log
	find_tips page
	sed -i 's/, 2023-[^;]*;/;/' tips
	grep -qx 'main-7for 11 µs; since 9 µs; process 7 (client), main-7; on cpu 0' tips
	grep -qx 'worker-8for 19 µs or more; since 1 µs; process 7 (client), worker-8; on cpu 1' tips
	grep -qx 'server-9for 15 µs or more; since 5 µs; process 9 (server), server-9; on cpu 2' tips
}

# arrow_script: defines longest(NS): the pixels of the longest line in the accent colour at a time
arrow_script()
{
	cat <<-'END'
		const css = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
		const wanted = [1, 3, 5].map((i) => parseInt(css.slice(i, i + 2), 16));
		const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
		const isAccent = (x, y) => wanted.every((value, part) =>
			Math.abs(value - pixels[(y * canvas.width + x) * 4 + part]) < 60);
		const longest = (ns) => {
			const x = Math.round(170 + (ns - state.from) / (state.to - state.from) * (canvas.width - 170));
			let run = 0, best = 0;
			for (let y = 24; y < canvas.height; y++) {
				run = isAccent(x, y) ? run + 1 : 0;
				best = Math.max(best, run);
			}
			return best;
		};
	END
}

# An arrow goes from the waker's states to those of the woken thread, or to the heading of a closed
# process.
test_wake_ups_are_arrows()
{
	two_processes_log log
	export_log html page log
	browse page "$(arrow_script)"'
		report("arrows", state.arrows);
		report("legend", document.getElementById("wakes").textContent);
		report("main", longest(8000) > 15);
		report("server", longest(4000) > 15);
		report("none", longest(12000) > 5);
	'
	[ "$(fact arrows)" -eq 2 ]
	[ "$(fact legend)" = '→ wake-up' ]
	[ "$(fact main)" = true ]
	[ "$(fact server)" = true ]
	[ "$(fact none)" = false ]
	browse page 'key("c"); await frameDone();'"$(arrow_script)"'
		report("closed", longest(4000) > 10); report("same", longest(8000) > 5);'
	[ "$(fact closed)" = true ]
	[ "$(fact same)" = false ]
	# If there are too many arrows, the page says so.
	{
		printf '%s\n' 'classes sched' 'block 0' 'since 1700000000000000000'
		awk 'BEGIN {
			for (i = 0; i < 500; i++) {
				print "kernel sched_wakeup", i * 1000, "pid=7 tid=8 by=thread waker_pid=7 waker_tid=7"
				print "kernel sched_switch_in", i * 1000 + 100, "cpu=1 pid=7 tid=8"
				print "kernel sched_switch_out", i * 1000 + 200, "cpu=1 pid=7 tid=8 state=S reason=blocked"
				print "kernel page_fault", i * 1000 + 300, "cpu=0 pid=7 tid=7"
			}
		}'
	} | whole_log log
	rm page
	export_log html page log
	browse page '
		report("arrows", state.arrows);
		report("legend", document.getElementById("wakes").textContent);
		for (let i = 0; i < 3; i++)
			key("+");
		await frameDone();
		report("after", state.arrows > 100);
		report("legend_after", document.getElementById("wakes").textContent);'
	[ "$(fact arrows)" -eq 0 ]
	[ "$(fact legend)" = '→ 499 wake-ups: zoom in, or point at a thread' ]
	[ "$(fact after)" = true ]
	[ "$(fact legend_after)" = '→ wake-up' ]
}

test_counters_have_a_scale()
{
	two_processes_log log
	export_log html page log
	browse page '
		const seen = new Set(), draw = CanvasRenderingContext2D.prototype.fillText;
		CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
			if (x < 170 && this.textAlign === "right")
				seen.add(text);
			draw.call(this, text, x, y);
		};
		key("+");
		await frameDone();
		report("scale", [...seen].join(" to "));'
	[ "$(fact scale)" = '1000 B to -200 B' ]
}

# A call must have as many arguments as in the kernel, with their names.
test_calls_have_their_arguments()
{
	whole_log log <<-'END'
		classes syscall
		thread a 7 7 0x1000
		since 1700000000000000000
		block 0
		kernel syscall_entry 1000 @a nr=39 name=getpid args=1,2,3,4,5,6
		kernel syscall_exit 2000 @a nr=39
		kernel syscall_entry 3000 @a nr=257 name=openat args=0xffffff9c,0x7f00,0x80000,0x1b6,5,6
		kernel syscall_exit 4000 @a nr=257
		kernel syscall_entry 5000 @a nr=3 name=read compat=true args=1,2,3,4,5,6
		kernel syscall_exit 6000 @a nr=3 compat=true
		kernel syscall_entry 7000 @a nr=9999 name=constructor args=1,2,3,4,5,6
		kernel syscall_exit 8000 @a nr=9999
	END
	export_log html page log
	find_tips page
	grep -q '^getpid.*; no arguments; result: 0; ' tips
	grep -q '^openat.*; arguments: dfd -100, filename 0x7f00, flags 0x80000, mode 438; ' tips
	grep -q '^read.*; argument words: 0x1, 0x2, 0x3, 0x4, 0x5, 0x6; ' tips
	grep -q '^constructor.*; argument words: 0x1, 0x2, 0x3, 0x4, 0x5, 0x6; ' tips
}

# After a click on an item, or Enter on a match, the details must stay visible.
test_clicked_item_stays_in_the_panel()
{
	two_processes_log log
	export_log html page log
	browse page '
		const search = document.getElementById("search");
		search.value = "work";
		search.dispatchEvent(new Event("input"));
		key("Enter", search); key("n"); key("Enter");
		await frameDone();
		report("key", document.getElementById("panel").textContent.replaceAll("\n", "; "));
		key("Escape"); key("Escape");
		await frameDone();
		const tip = document.getElementById("tip");
		for (let y = 0; y < 500; y += 4) {
			pointer("pointermove", 350, y);
			if (!tip.hidden && tip.textContent.startsWith("read")) {
				pointer("pointerdown", 350, y); pointer("pointerup", 350, y);
				break;
			}
		}
		report("click", document.getElementById("panel").textContent.replaceAll("\n", "; "));
		document.querySelector("#panel button").click();
		report("hidden", document.getElementById("panel").hidden);'
	fact key | grep -q '^×worktook 10 µs; at 0 ns, .*; process 7 (client), main-7; '
	fact click | grep -q '^×readtook 7.5 µs; '
	[ "$(fact hidden)" = true ]
}

# Acts like a person at the browser. The letters n and p are text while the field has the focus, and
# commands after that.
test_mouse_and_keyboard_of_a_person()
{
	two_processes_log log
	export_log html page log
	drive page >got <<-'END'
		press /
		type pnc
		print document.getElementById("search").value + document.body.dataset.tracks
		press Escape
		press /
		type server
		press Enter
		press n
		print document.getElementById("matches").textContent
		press p
		print document.getElementById("matches").textContent + " " + document.getElementById("search").value
		press Escape
		print document.getElementById("search").value === "" && document.activeElement.tagName
		move 300 80
		down
		move 400 84
		move 900 84
		up
		print document.querySelector("#panel h2").textContent.startsWith("Range of ")
		print document.querySelector("#panel pre").textContent.includes("3 of 3 threads")
		press Escape
		print document.getElementById("panel").hidden
		point 60 worker-8
		move 300
		shift on
		down
		move 400
		move 500
		up
		shift off
		print document.querySelector("#panel pre").textContent.split("\n")[1]
		press Escape
		point 350 read
		click
		print document.querySelector("#panel pre").textContent.split("\n")[3]
		press Escape
		point 100 client 7
		click
		print document.body.dataset.tracks
		move 500 200
		down
		move 400 200
		up
		print document.body.dataset.from > 0
	END
	prints got <<-'END'
		pnc7
		2 of 2
		1 of 2 server
		CANVAS
		true
		true
		true
		1 of 3 threads
		arguments: fd 3, buf 0x7f00, count 100
		5
		true
	END
}

# No name or data may become part of the page's structure or be executed.
test_hostile_names_and_data()
{
	whole_log log <<-'END'
		name 65 </script><script>report("hacked",1)</script>
		name 66 <!--<script>
		name 67 "],x:report("hacked",2),y:["
		name 68 <img src=x onerror=report("hacked",3)>
		name 69 __proto__
		name 70 ${report("hacked",4)}`\x5c
		name 71 \xe2\x80\xa8\xff\x1b[31m\x00
		block 0
		event 65 1700000000000000000 text=</script><script>report("hacked",5)</script>
		event 66 1700000000000000001 text=<!--<script>
		event 67 1700000000000000002 text=\x5c"]}</script>
		event 68 1700000000000000003 text=<img/src=x/onerror=report("hacked",6)>
		event 69 1700000000000000004 hex=ff
		event 70 1700000000000000005 text=\x5cu003c/script>
		event 71 1700000000000000006 pid=-1 thread=0xffffffffffffffff
	END
	export_log html page log
	iconv -f UTF-8 -t UTF-8 page >/dev/null
	not grep -qP '[\x00-\x08\x0b-\x1f\x7f]' page
	[ "$(grep -c '<script' page)" -eq 2 ]
	[ "$(grep -c '</script' page)" -eq 2 ]
	browse page '
		report("scripts", document.querySelectorAll("script").length);
		report("images", document.images.length);
		report("items", state.items);
		const box = canvas.getBoundingClientRect(), tip = document.getElementById("tip");
		const search = document.getElementById("search");
		search.value = "script";
		search.dispatchEvent(new Event("input"));
		for (let i = 0; i < 8; i++)
			key("n");
		key("0");
		await frameDone();
		const seen = new Set();
		for (let y = 0; y < box.height; y += 9) {
			for (let x = 170; x < box.width; x += 4) {
				canvas.dispatchEvent(new PointerEvent("pointermove", { bubbles: true,
					clientX: box.left + x, clientY: box.top + y }));
				seen.add(tip.textContent);
			}
		}
		report("seen", seen.size);
		report("tip_elements", tip.querySelectorAll("*").length);
		report("matches", state.matches);
	'
	not grep hacked facts
	[ "$(fact scripts)" -eq 4 ]
	[ "$(fact images)" -eq 0 ]
	[ "$(fact items)" -eq 7 ]
	[ "$(fact matches)" -eq 2 ]
	[ "$(fact seen)" -ge 7 ]
}

# Descriptions, names and numbers that a kernel would never write.
test_hostile_events_of_the_kernel()
{
	local bad='</script><script>report("hacked",1)</script>'
	{
		cat <<-END
			classes all
			thread a 7 7 0x1000
			thread b -1 -1 0
			thread c 8 8 0x2000
			since 1700000000000000000
			block 0
			kernel syscall_entry 100 @a nr=-1 name=$bad
			kernel sched_switch_out 200 @a state=S reason=blocked
			kernel sched_wakeup 250 @a by=thread waker_pid=8 waker_tid=-2147483648
			kernel sched_wakeup 300 @a by=thread waker_pid=-1 waker_tid=2147483647
			kernel sched_switch_in 400 @a runnable=18446744073709551615
			kernel syscall_exit 500 @a nr=-1 result=-9223372036854775808
			kernel irq 600 @a duration=18446744073709551615 kind=77 number=4294967295 name=$bad
			kernel irq 601 @a duration=5 nested=true name=\xff\x00\x1b
			kernel sched_switch_out 700 @a state=200 reason=io
			kernel sched_switch_in 800 @a hex=00
			kernel sched_switch_in 900 @a
			kernel sched_switch_out 901 @a hex=
			kernel sched_wakeup 902 @a by=200
			kernel syscall_entry 903 @a name=
			kernel syscall_entry 1000 cpu=1 @c name=$(printf 'x%.0s' {1..300})
			kernel sched_switch_in 1100 @c
			kernel syscall_entry 1100 cpu=1 @b name=b
			kernel sched_switch_in 1200 @b
		END
	} | whole_log log
	export_log html page log
	find_tips page
	cat tips
	not grep '^hacked=' facts
	grep -q '^&lt;/script&gt;.*took 400 ns' tips
	grep -q '^&lt;/script&gt;.*took 500 ns; .* kind: ; ' tips
	grep -q '^blocked.* 100 ns; .*; woken by thread 2147483647 of process -1$' tips
	# events that contradict each other are shown as events, and do not change a state
	grep -q '^sched_wakeup.* 150 ns, .*; waker_tid: -2147483648; ' tips
	grep -q '^sched_switch_in.* 700 ns, .*; bytes: 07000000; ' tips
	grep -q '^sched_switch_in.*; tid: -1; ' tips
	grep -q '^syscall_entry.*; tid: -1; .* name: b; ' tips
	[ "$(grep -c '<script' page)" -eq 2 ]
	# times that run backwards
	{
		printf '%s\n' 'classes all' 'thread b 7 7 0' 'since 1700000000000000000' 'block 1' \
			'kernel sched_switch_in 100 @b' 'kernel syscall_entry 101 @b'
		for event in 'sched_switch_out 50 @b state=S reason=blocked' \
				'sched_switch_in 40 @b runnable=10' \
				'syscall_exit 30 @b' 'irq 20 @b duration=1' \
				'syscall_entry 16746744073709551615 @b name=late' \
				'sched_switch_out 16746744073709551615 @b' \
				'sched_switch_in 10 @b runnable=20'; do
			printf '%s\n' epoch epoch 'block 1' "kernel $event"
		done
	} | whole_log log
	rm page
	export_log html page log
	browse page 'report("items", state.items); key("+"); key("-"); await frameDone();'
	[ "$(fact items)" -gt 2 ]
	# Descriptions in which fields have different types or are missing.
	for description in 'struct { f64 state; f64 reason; }' \
			'struct { u8 args[1]; u8 nr; u8 compat; u8 name; }' \
			'struct { u8 state[2]; u8 reason[2]; u8 runnable[2]; u8 n; }' \
			'struct { enum : u8 { "\"<x>" = 0 } state; enum : u8 { io = 0 } reason; u8 more[8]; }'; do
		{
			echo 'classes all bare'
			for id in 16 17 18 27 28 29; do
				echo "describe $id $description"
			done
			echo 'block 0'
			for type in sched_switch_{in,out,in} sched_wakeup syscall_{entry,exit} irq; do
				for len in 4 10 16; do
					printf 'kernel %s 1700000000000000000 hex=%0*d\n' "$type" $((2 * len)) 0
				done
			done
		} | whole_log log
		rm -f page
		export_log html page log
		browse page 'report("items", state.items);'
		[ "$(fact items)" -gt 0 ]
	done
	whole_log log <<-END
		classes all bare
		block 0
		kernel sched_switch_in 1700000000000000000
		kernel sched_switch_out 1700000000000000100
	END
	rm -f page
	export_log html page log
	[ "$(page_data page | jq -c '[.events[][0]]')" = '[2,2]' ]
}

test_hostile_times()
{
	whole_log log <<-'END'
		name 65 a_begin
		name 66 a_end
		block 0
		event 65 1
		event 66 18446744073709551615
		event 65 18446744073709551615
		epoch
		epoch
		block 0
		event 66 2
	END
	export_log html page log
	browse page 'key("+"); key("-"); await frameDone(); key("0"); await frameDone();
		report("items", state.items);
		report("room", Math.round(Math.log10(state.to - state.from)));'
	[ "$(fact items)" -eq 3 ]
	[ "$(fact room)" -eq 19 ]
}

test_page_needs_no_network()
{
	nested_log log
	export_log html page log
	not grep -nE 'https?:|//[a-z]|src=|href=|@import|url\(' page
	grep -q "default-src 'none'" page
}

# The page must say how many events it lacks, or that the log has none.
test_limits_are_shown()
{
	many_events 3000 8 | whole_log log
	export_log html page log --max-events=100
	browse page 'report("notice", document.getElementById("notice").textContent);
		report("items", state.items);'
	fact notice | grep -q '^This page has only the first 100 of [0-9]* events; use .* --max-events=N'
	[ "$(fact items)" -lt 100 ]
	export_log html all log
	browse all 'report("notice", document.getElementById("notice").hidden);'
	[ "$(fact notice)" = true ]
	whole_log empty <<<'name 65 tick'
	posixtrace export --format=html --output=nothing empty 2>said
	grep -q '^posixtrace: empty: no events: ' said
	browse nothing 'report("summary", document.getElementById("summary").textContent);
		key("+"); key("n");'
	[ "$(fact summary)" = '0 events of 0 threads, nothing to show' ]
	for max in 0 -1 x 1x 99999999999999999999; do
		fails 2 "posixtrace: --max-events: must be at least 1 (got \"$max\")" \
			posixtrace export -O html -m "$max" log
	done
}

# A page has at most 256 MiB, and must say what is missing. The last events may be single events, or
# begins, which are written last. Each of their 256 bytes has a label, which takes 317 bytes in the
# page.
test_page_is_not_too_large()
{
	local name
	for name in tick work_begin; do
		{
			echo "name 65 $name"
			printf 'describe 65 { enum : u8 { "'
			printf '\\xff%.0s' {1..63}
			printf '" } a[256]; }\nblock 0\n'
			printf 'event 65 %d zeros=256\n' {1..4000}
		} | whole_log log
		export_log html page log
		[ "$(stat -c %s page)" -le $((256 << 20)) ]
		[ "$(stat -c %s page)" -gt $((240 << 20)) ]
		grep '^"first"' page >rest
		cat rest
		grep -q '"total":4000,.*"notice":"This page has only 3[0-9]* of 4000 events, because' rest
		rm page
	done
}

# The page contains only a part of the log, but its summary must describe the whole log.
test_summary_describes_the_whole_log()
{
	whole_log log <<-'END'
		name 65 tick
		block 0
		event 65 1700000000000000000 pid=7 thread=0x1000
		event 65 1700000000200000000 pid=7 thread=0x1000
		event 65 1700000002000000000 pid=7 thread=0x3000
		event 65 1700000003000000000 pid=7 thread=0x2000
	END
	export_log html page log --max-events=2
	browse page 'report("summary", document.getElementById("summary").textContent);
		report("items", state.items);
		report("rows", state.rows);'
	[ "$(fact summary)" = '4 events of 3 threads, 3 s from 2023-11-14T22:13:20.000000000Z' ]
	[ "$(fact items)" -eq 2 ]
	[ "$(fact rows)" -eq 1 ]
}

# Nearly as many events as a page has by default.
test_many_events()
{
	many_events 190000 9 | whole_log log
	(ulimit -v 32768 && export_log html page log)
	browse page '
		report("items", state.items);
		const begin = performance.now();
		for (let i = 0; i < 10; i++) {
			key(i % 2 ? "-" : "+");
			await frameDone();
		}
		report("rows", state.rows);
	'
	[ "$(fact items)" -gt 100000 ]
}

# As many kernel events as a page has by default, of thousands of threads.
test_many_events_of_the_kernel()
{
	{
		echo 'classes all'
		awk 'BEGIN {
			for (cpu = 0; cpu < 4; cpu++) {
				print "block", cpu
				for (i = 0; i < 8000; i++) {
					who = "pid=7 tid=" 1000 + cpu * 1000 + i % 700
					printf "kernel sched_switch_in 17%017d %s\n", i * 10000 + cpu, who
					printf "kernel syscall_entry 17%017d %s name=read\n", i * 10000 + 100 + cpu, who
					printf "kernel sched_switch_out 17%017d %s state=S reason=blocked\n", i * 10000 + 200 + cpu, who
					printf "kernel sched_wakeup 17%017d %s by=interrupt\n", i * 10000 + 5000 + cpu, who
					printf "kernel sched_switch_in 17%017d %s runnable=1000\n", i * 10000 + 6000 + cpu, who
					printf "kernel syscall_exit 17%017d %s\n", i * 10000 + 7000 + cpu, who
				}
			}
		}'
	} | whole_log log
	(ulimit -v 49152 && export_log html page log)
	browse page '
		report("states", state.states);
		report("items", state.items);
		for (let i = 0; i < 10; i++) {
			key(i % 2 ? "-" : "+");
			await frameDone();
		}
	'
	[ "$(fact states)" -gt 100000 ]
	[ "$(fact items)" -ge 30000 ]
}

run_cases
