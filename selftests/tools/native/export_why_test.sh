#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that exports explain scopes as "posixtrace why" does. Prints TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/browse.sh
. "$(dirname "$0")/browse.sh"

# request_log FILE: writes a log in which a request of main-7 waits for worker-8 of the same
# process, which waits for a disk
request_log()
{
	whole_log "$1" <<-'END'
		classes all
		host h
		name 65 request_begin
		name 66 request_end
		task 7 7 0 main
		task 7 8 0 worker
		thread main 7 7 0x1000
		thread worker 7 8 0x2000
		since 1700000000000000000
		block 0
		event 65 0 @main
		event 65 1000 @main
		kernel syscall_entry 2000 @main nr=202 args=0x1000 name=futex
		kernel sched_switch_out 3000 @main state=S reason=blocked
		kernel sched_switch_in 9000 @main runnable=1000
		kernel syscall_exit 9500 @main nr=202
		event 66 10000 @main
		event 66 10500 @main
		event 65 11000 @main
		event 66 12000 @main
		kernel syscall_entry 500 cpu=1 @worker nr=0 args=3 name=read
		kernel sched_switch_out 4000 @worker state=D reason=io
		kernel sched_wakeup 6000 @worker by=interrupt
		kernel sched_switch_in 6000 @worker
		kernel sched_wakeup 8000 @main by=thread waker_pid=@worker waker_tid=@worker
		kernel page_fault 13000 @worker address=0x1000
	END
}

# same_as_why PAGE LOG [OPTION]...: compares all instances in the page with "why --json", and prints
# their number
same_as_why()
{
	local page=$1 log=$2
	shift 2
	page_data "$page" >data.json
	python3 - "$log" "$@" <<-'END'
		import json, re, subprocess, sys
		log, *options = sys.argv[1:]
		data = json.load(open("data.json"))
		worst = data["why"]["worst"]
		def without_text(part):
		    return {name: [without_text(child) for child in value] if name == "parts" else value
		            for name, value in part.items() if name != "text"}
		def raw(name):
		    return re.sub(rb"\\(x..|.)", lambda part: bytes.fromhex(part[1][1:].decode())
		                  if len(part[1]) > 1 else part[1], name.encode())
		found = {}
		for track, at, length, whole in data["why"]["instances"]:
		    assert int(data["first"]) + at == int(whole["begin_ns"]) and length == whole["ns"]
		    assert data["threads"][track][3] == whole["thread"]["tid"]
		    found.setdefault(whole["scope"], []).append(without_text(whole))
		for scope, wholes in found.items():
		    lines = subprocess.run(["posixtrace", "why", "--json", b"--scope=" + raw(scope),
		                            f"--worst={worst}", *options, log],
		                           check=True, stdout=subprocess.PIPE).stdout.splitlines()
		    wanted = [json.loads(line) for line in lines]
		    wholes.sort(key=lambda whole: whole["number"])
		    assert wholes == wanted, f"{scope}: {wholes} instead of {wanted}"
		# each scope and call in the page must be explained
		names = {data["names"][item[2]] if item[0] < 2 else item[2] for item in data["events"]
		         if item[0] in (0, 1) or item[0] == 5 and "unfinished" not in item[5]}
		assert names == set(found), names ^ set(found)
		print(sum(map(len, found.values())))
	END
}

test_page_has_the_answers_of_why()
{
	local packed count
	for packed in "$native"/logs/*.log.xz; do
		xz -dc "$packed" >log
		export_log html page log
		count=$(same_as_why page log)
		[ "$count" -gt 90 ]
		browse page 'report("explained", state.explained);'
		[ "$(fact explained)" -eq "$count" ]
		rm page
		export_log html page log --from=10ms --to=0.04s --worst=2
		[ "$(same_as_why page log --from=10ms --to=0.04s)" -ge 15 ]
		rm page
	done
}

# Logs in which threads end, ids are reused, and events are lost.
test_page_has_the_answers_of_random_logs()
{
	local seed
	for seed in 1 3 4 7; do
		python3 "$native/readers/random_log.py" "$seed" | write_log log
		posixtrace export -O html -o page --worst=20 log
		[ "$(same_as_why page log)" -gt 90 ]
		rm page log
	done
}

# What the waker did is known only from its state at the start.
test_answers_use_the_states_at_the_start()
{
	write_log log <<-'END'
		classes all
		name 65 request_begin
		name 66 request_end
		host h
		thread a 100 100 0x7f00
		thread c 200 200 0x7f02
		block 4
		event 2 1
		state c 5 3 1 24 2 0 3 0 0 0 read
		block 0
		event 65 10 @a
		kernel syscall_entry 100 @a nr=202 name=futex args=0x1000
		kernel sched_switch_out 110 @a state=S reason=blocked
		kernel sched_wakeup 400 cpu=2 @c by=timer target_cpu=2
		kernel sched_switch_in 410 @c runnable=10
		kernel sched_wakeup 700 cpu=2 @a by=thread waker_pid=@c waker_tid=@c
		kernel sched_switch_in 710 cpu=0 @a runnable=10
		kernel syscall_exit 810 @a nr=202
		event 66 910 @a
		end
	END
	export_log html page log
	[ "$(same_as_why page log)" -eq 2 ]
	page_data page | jq -r '.. | .text? // empty' | grep -qx 'blocked in read, fd 3, woken by a timer'
}

# The filter only selects what is shown. The explanations use the events of all threads.
test_filter_does_not_change_answers()
{
	request_log log
	export_log html page log
	export_log html filtered log --filter='request_*'
	page_data page | jq -c '.why.instances[] | select(.[3].scope == "request")' >wanted
	page_data filtered | jq -c '.why.instances[] | select(.[3].scope == "request")' >got
	prints got <wanted
	[ "$(wc -l <got)" -eq 3 ]
}

test_panel_says_why_a_scope_took_so_long()
{
	request_log log
	export_log html page log
	[ "$(same_as_why page log)" -eq 4 ]
	browse page '
		const tip = document.getElementById("tip");
		for (let y = 0; y < 500; y += 4) {
			pointer("pointermove", 600, y);
			if (tip.querySelector("b")?.textContent === "request") {
				pointer("pointerdown", 600, y); pointer("pointerup", 600, y);
				break;
			}
		}
		await frameDone();
		report("buttons", [...document.querySelectorAll(".slowest button")].map((button) =>
			button.textContent + (button.disabled ? " here" : "")).join("; "));'"$(panel_facts)"
	sed -n 's/^panel[0-9]*=//p' facts >got
	prints got <<-'END'
		request
		took 10.5 µs; at 0 ns, 2023-11-14T22:13:20.000000000Z; process 7 (main), main-7; begin:;   cpu: 0; end:;   cpu: 0
		Why
		time|%|count|what
		5 µs|47.6|1|blocked in futex, address 0x1000, woken by worker-8
		3 µs|28.6||worker-8: running in read, fd 3
		2 µs|19.0|1|worker-8: blocked in read, fd 3 (I/O), woken by an interrupt
		3 µs|28.6||running in the program
		1.5 µs|14.3||running in futex, address 0x1000
		1 µs|9.5|1|runnable, woken
		1 µs|9.5||no thread of the log ran there
		Number 1 of the 3 slowest. The page explains the 5 slowest of each name; posixtrace why explains all.
	END
	[ "$(fact buttons)" = '1: 10.5 µs here; 2: 9 µs; 3: 1 µs' ]
	# a button selects another instance, and a click on a part shows the part's longest period
	browse page '
		const search = document.getElementById("search");
		search.value = "request";
		search.dispatchEvent(new Event("input"));
		key("Enter", search); key("Enter"); key("Escape");
		document.querySelectorAll(".slowest button")[1].click();
		report("second", document.querySelector("#panel pre").textContent.split("\n")[0]);
		document.querySelectorAll(".tree tr")[3].click();
		await frameDone();
		report("shown", state.from <= 4000 && state.to >= 6000);
		key("Escape");
		search.value = "sched_process";
		search.dispatchEvent(new Event("input"));
		report("closed", document.getElementById("panel").hidden);'
	[ "$(fact second)" = 'took 9 µs' ]
	[ "$(fact shown)" = true ]
	[ "$(fact closed)" = true ]
}

# The path of a selected scope is drawn as a line below the states of the threads on the path.
test_selected_scope_has_its_path_drawn()
{
	request_log log
	export_log html page log
	browse page '
		const path = getComputedStyle(document.documentElement).getPropertyValue("--path").trim();
		const search = document.getElementById("search");
		search.value = "request";
		search.dispatchEvent(new Event("input"));
		key("Enter", search); key("Enter"); key("Escape"); key("0");
		await frameDone();
		const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
		const wanted = [1, 3, 5].map((i) => parseInt(path.slice(i, i + 2), 16));
		const isPath = (x, y) => wanted.every((value, part) =>
			Math.abs(value - pixels[(y * canvas.width + x) * 4 + part]) < 40);
		const heights = (ns) => {
			const x = Math.round(170 + (ns - state.from) / (state.to - state.from) * (canvas.width - 170));
			return [...Array(canvas.height).keys()].filter((y) => isPath(x, y));
		};
		const main = heights(2500), worker = heights(5000);
		report("main", main.length);
		report("worker", worker.length);
		report("below", worker[0] > main[main.length - 1]);
		report("outside", heights(11500).length);'
	[ "$(fact main)" -ge 2 ]
	[ "$(fact worker)" -ge 2 ]
	[ "$(fact below)" = true ]
	[ "$(fact outside)" -eq 0 ]
}

# If there are more than 1000 parts, the page has the largest ones and the sum of the others. The
# path is shortened.
test_page_leaves_out_small_parts()
{
	{
		printf '%s\n' 'classes all' 'name 65 work_begin' 'name 66 work_end' 'thread a 7 7 0x1000' \
			'since 1700000000000000000' 'block 0' 'event 65 0 @a'
		awk 'BEGIN {
			for (i = 0; i < 3000; i++) {
				print "kernel syscall_entry", i * 1000 + 100, "@a nr=0 name=read args=" i
				print "kernel syscall_exit", i * 1000 + 200, "@a nr=0"
			}
		}'
		echo 'event 66 3000100 @a'
	} | whole_log log
	export_log html page log
	page_data page | jq -c '[.why.instances[] | select(.[3].scope == "work") | .[3] |
		(.parts | length), (.parts | map(.ns) | add) + .smaller.ns == .ns, .smaller.count,
		(.path | length), .path_complete]' >got
	prints got <<<'[1,true,3000,5000,false]'
	browse page '
		const search = document.getElementById("search");
		search.value = "work";
		search.dispatchEvent(new Event("input"));
		key("Enter", search); key("Enter");
		report("last", [...document.querySelectorAll(".tree tr")].pop().textContent);
		report("path", document.getElementById("panel").textContent.includes(
			"The critical path is drawn only in part."));'
	fact last | grep -q '3000 smaller parts$'
	[ "$(fact path)" = true ]
}

test_page_tells_why_it_cannot_explain()
{
	whole_log log <<-'END'
		name 65 work_begin
		name 66 work_end
		block 0
		event 65 1700000000000000000
		event 66 1700000000000001000
	END
	export_log html page log
	browse page '
		const search = document.getElementById("search");
		search.value = "work";
		search.dispatchEvent(new Event("input"));
		key("Enter", search); key("Enter");
		report("panel", document.getElementById("panel").textContent.replaceAll("\n", "; "));'
	fact panel | grep -q 'WhyWhy it took so long is unknown: the log lacks the class sched.$'
}

test_hostile_names_in_answers()
{
	local bad='</script><script>report("hacked",1)</script>\x5c"&\xff'
	whole_log log <<-END
		classes all
		host h
		name 65 ${bad}_begin
		name 66 ${bad}_end
		task 7 7 0 <b>\x5c"
		thread a 7 7 0x1000
		since 1700000000000000000
		block 0
		event 65 0 @a
		kernel syscall_entry 1000 @a nr=-1 name=$bad
		kernel sched_switch_out 2000 @a state=S reason=blocked
		kernel sched_wakeup 3000 @a by=thread waker_pid=-1 waker_tid=2147483647
		kernel sched_switch_in 3000 @a
		kernel irq 4000 @a duration=100 kind=77 number=4294967295 name=$bad
		kernel syscall_exit 5000 @a nr=-1
		event 66 6000 @a
	END
	export_log html page log
	[ "$(grep -c '<script' page)" -eq 2 ]
	[ "$(same_as_why page log)" -eq 2 ]
	browse page '
		const search = document.getElementById("search");
		search.value = "script";
		search.dispatchEvent(new Event("input"));
		key("Enter", search);
		for (let i = 0; i < 5; i++) {
			key("n"); key("Enter");
			await frameDone();
		}
		report("explained", state.explained);
		report("elements", document.querySelectorAll("#panel script, #panel b").length);'
	not grep hacked facts
	[ "$(fact explained)" -eq 2 ]
	[ "$(fact elements)" -eq 0 ]
}

test_options_choose_what_is_explained()
{
	request_log log
	export_log html page log --scope=request --worst=2
	page_data page | jq -c '[.why.worst, [.why.instances[][3] | [.scope, .number, .of]]]' >got
	prints got <<<'[2,[["request",1,2],["request",2,2]]]'
	fails 2 'posixtrace: --worst: must be a number from 1 to 100 (got "101")' \
		posixtrace export -O html --worst=101 log
	fails 2 'posixtrace: --scope: needs --format=html or perfetto' \
		posixtrace export -O chrome --scope=request log
	fails 2 'posixtrace: --worst: needs --format=html or perfetto' \
		posixtrace export -O ctf -o out --worst=2 log
	fails 2 'posixtrace: --worst: needs --scope or --format=html' \
		posixtrace export -O perfetto -o out --worst=2 log
	fails 1 'posixtrace: log: no complete nothing in this period: posixtrace stat lists the scopes' \
		posixtrace export -O html -o out --scope=nothing log
	[ ! -e out ]
	whole_log other <<<'name 65 tick'
	fails 1 'posixtrace: other: lacks the class sched: record --kernel=sched,process,syscall' \
		posixtrace export -O html -o out --scope=request other
	[ ! -e out ]
}

run_cases
