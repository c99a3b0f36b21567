#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace export --format=html" with a headless Chromium. Prints TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

# browse PAGE [SCRIPT]: loads the page, runs SCRIPT in it, and writes the resulting page to the
# file dom. SCRIPT reports values with report(NAME, VALUE), which go to the file facts, one per
# line. Fails after an error, a fetch or a message on the console.
browse()
{
	local page=$1 script=${2:-} profile
	{
		sed '/^<style>$/,$d' "$page"
		cat <<-'END'
			<script>
			window.problems = [];
			addEventListener("error", (event) => problems.push(event.message));
			addEventListener("securitypolicyviolation", (event) =>
				problems.push(event.violatedDirective + " " + event.blockedURI));
			window.report = (name, value) => {
				const fact = document.createElement("i");
				fact.className = "fact";
				fact.textContent = name + "=" + value;
				document.body.append("\n", fact, "\n");
			};
			// The page has virtual time, but real frames would come too late.
			window.requestAnimationFrame = (draw) => setTimeout(draw, 16);
			window.frameDone = () => new Promise((done) =>
				requestAnimationFrame(() => requestAnimationFrame(done)));
			</script>
		END
		sed -n '/^<style>$/,$p' "$page" | sed '$d' | sed '$d'
		cat <<-END
			<script>
			addEventListener("load", async () => {
				const canvas = document.querySelector("canvas");
				const state = document.body.dataset;
				const key = (key, target) => (target || canvas).dispatchEvent(
					new KeyboardEvent("keydown", { key, bubbles: true }));
				await frameDone();
				$script
				await frameDone();
				report("problems", problems.length + " " + problems);
			});
			</script>
			</body>
			</html>
		END
	} >browsed.html
	profile=$(mktemp -d)
	timeout 300 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$profile" --window-size=1000,600 --enable-logging=stderr \
		--virtual-time-budget=20000 --dump-dom "file://$PWD/browsed.html" >dom 2>browser
	rm -rf "$profile"
	grep CONSOLE browser || true
	not grep -q CONSOLE browser
	sed -n 's,^<i class="fact">\(.*\)</i>$,\1,p' dom >facts
	cat facts
	grep -qx 'problems=0 ' facts
}

fact()
{
	sed -n "s/^$1=//p" facts
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

page_draws_all_threads_case()
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
	# The log has no START; the reader adds OVERFLOW and RESUME.
	[ "$(fact items)" -eq 7 ]
	[ "$(fact rows)" -eq 4 ]
	[ "$(fact lost)" -eq 1 ]
	[ "$(fact title)" = 'of a test' ]
	[ "$(fact summary)" = '8 events of 3 threads, 1 ms from 2023-11-14T22:13:20.000000000Z' ]
	[ "$(fact colours)" -ge 6 ]
}

wheel_drag_and_keys_zoom_and_move_case()
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
		const pointer = (type, x) => canvas.dispatchEvent(new PointerEvent(type,
			{ clientX: x, clientY: 200, bubbles: true, pointerId: 1 }));
		pointer("pointerdown", 500); pointer("pointermove", 600); pointer("pointerup", 600);
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

search_goes_from_match_to_match_case()
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

# find_tips PAGE: writes the descriptions of all items that the pointer finds to the file tips
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

pointer_shows_details_of_an_item_case()
{
	nested_log log
	export_log html page log
	find_tips page
	grep -q '^outertook 400 µs; at 0 ns, 2023-11-14T22:13:20.000000000Z; process 7, thread 0x1000; begin:;   text: hello;   cpu: 0; end:;   cpu: 0$' tips
	grep -q '^innertook 100 µs; at 100 µs, ' tips
	grep -q '^tickat 1 ms, 2023-11-14T22:13:20.001000000Z; process 7, thread 0x2000; text: bye; cpu: 0$' tips
	grep -q '^7 events lostat ' tips
}

names_of_the_log_are_used_case()
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

counters_have_lanes_case()
{
	counter_log log
	export_log html page log
	find_tips page
	grep -q '^queueat 100 µs, .*; process 7, queue; counter: 20 B; ' tips
	grep -q '^queueat 150 µs, .*; process 8, queue; counter: 18446744073709551615 B; ' tips
	grep -q '^loadat 200 µs, .*; process 7, load; counter: -1.5 1/s; ' tips
	[ "$(grep -c '^queue' tips)" -eq 4 ]
}

fields_have_names_and_units_case()
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

# None of these may become part of the page or run.
hostile_names_and_data_case()
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

hostile_times_case()
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

page_needs_no_network_case()
{
	nested_log log
	export_log html page log
	not grep -nE 'https?:|//[a-z]|src=|href=|@import|url\(' page
	grep -q "default-src 'none'" page
}

# The page says how many events it lacks, and that a log has no events.
limits_are_shown_case()
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
	export_log html nothing empty
	browse nothing 'report("summary", document.getElementById("summary").textContent);
		key("+"); key("n");'
	[ "$(fact summary)" = '0 events of 0 threads, nothing to show' ]
	for max in 0 -1 x 1x 99999999999999999999; do
		fails 2 "posixtrace: --max-events: must be at least 1 (got \"$max\")" \
			posixtrace export -f html -m "$max" log
	done
}

# The page has only a part of the log, but its summary describes the whole log.
summary_describes_the_whole_log_case()
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

# Nearly as many events as the page has by default.
many_events_case()
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

run_cases
