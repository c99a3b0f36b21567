#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "posixtrace export --format=html", shown by a headless Chromium. Speaks TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

# browse PAGE [SCRIPT]: the page as it is after the script has run in it, in the file dom. The
# script has told(NAME, VALUE), whose values are in the file facts, one a line. Nothing may go
# wrong, nothing may be fetched, nothing may be said on the console.
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
			window.told = (name, value) => {
				const fact = document.createElement("i");
				fact.className = "fact";
				fact.textContent = name + "=" + value;
				document.body.append("\n", fact, "\n");
			};
			// The time of the page is virtual, that of frames is not: they would be late.
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
				told("problems", problems.length + " " + problems);
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
		told("items", state.items);
		told("rows", state.rows);
		told("lost", state.lost);
		told("title", document.title);
		told("summary", document.getElementById("summary").textContent);
		const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width,
			canvas.height).data;
		const seen = new Map();
		for (let i = 0; i < pixels.length; i += 4) {
			const colour = pixels.slice(i, i + 3).join(",");
			seen.set(colour, (seen.get(colour) || 0) + 1);
		}
		told("colours", [...seen].filter(([, n]) => n > 40).length);
	'
	# START is not in the log, OVERFLOW and RESUME the reader makes.
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
		told("wheel_in", room() < all * 0.7);
		wheel({ deltaY: 200 });
		await frameDone();
		told("wheel_out", Math.abs(room() / all - 1) < 0.01);
		key("+"); key("+");
		await frameDone();
		told("key_in", Math.abs(room() / all - 0.49) < 0.01);
		let before = Number(state.from);
		key("ArrowRight");
		await frameDone();
		told("key_right", state.from > before);
		before = Number(state.from);
		const pointer = (type, x) => canvas.dispatchEvent(new PointerEvent(type,
			{ clientX: x, clientY: 200, bubbles: true, pointerId: 1 }));
		pointer("pointerdown", 500); pointer("pointermove", 600); pointer("pointerup", 600);
		await frameDone();
		told("drag", state.from < before);
		told("drag_keeps_zoom", Math.abs(room() / all - 0.49) < 0.01);
		key("0");
		await frameDone();
		told("key_all", room() === all);
		for (let i = 0; i < 100; i++)
			key("+");
		await frameDone();
		told("smallest", room());
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
		told("matches", state.matches);
		key("Enter", search);
		await frameDone();
		told("first", state.match + " " + document.getElementById("matches").textContent);
		key("n");
		await frameDone();
		told("second", state.match);
		told("visible", state.from <= 1000000 && state.to >= 1000000);
		search.value = "no such name";
		search.dispatchEvent(new Event("input"));
		told("none", document.getElementById("matches").textContent);
		key("n");
	'
	[ "$(fact matches)" -eq 2 ]
	[ "$(fact first)" = '0 1 of 2' ]
	[ "$(fact second)" -eq 1 ]
	[ "$(fact visible)" = true ]
	[ "$(fact none)" = '0 matches' ]
}

pointer_shows_what_it_is_case()
{
	nested_log log
	export_log html page log
	browse page '
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
		[...seen].sort().forEach((text, i) => told("tip" + i, text));
	'
	sed -n 's/^tip[0-9]*=//p' facts >tips
	grep -q '^outertook 400 µs; at 0 ns, 2023-11-14T22:13:20.000000000Z; process 7, thread 0x1000; begin:;   text: hello;   cpu: 0; end:;   cpu: 0$' tips
	grep -q '^innertook 100 µs; at 100 µs, ' tips
	grep -q '^tickat 1 ms, 2023-11-14T22:13:20.001000000Z; process 7, thread 0x2000; text: bye; cpu: 0$' tips
	grep -q '^7 events lostat ' tips
}

# None of these may become a part of the page, or be run.
hostile_names_and_data_case()
{
	whole_log log <<-'END'
		name 65 </script><script>told("hacked",1)</script>
		name 66 <!--<script>
		name 67 "],x:told("hacked",2),y:["
		name 68 <img src=x onerror=told("hacked",3)>
		name 69 __proto__
		name 70 ${told("hacked",4)}`\x5c
		name 71 \xe2\x80\xa8\xff\x1b[31m\x00
		block 0
		event 65 1700000000000000000 text=</script><script>told("hacked",5)</script>
		event 66 1700000000000000001 text=<!--<script>
		event 67 1700000000000000002 text=\x5c"]}</script>
		event 68 1700000000000000003 text=<img/src=x/onerror=told("hacked",6)>
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
		told("scripts", document.querySelectorAll("script").length);
		told("images", document.images.length);
		told("items", state.items);
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
		told("seen", seen.size);
		told("tip_elements", tip.querySelectorAll("*").length);
		told("matches", state.matches);
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
		told("items", state.items);
		told("room", Math.round(Math.log10(state.to - state.from)));'
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

# What is left out is told, with numbers; so is that there is nothing.
limits_are_told_case()
{
	many_events 3000 8 | whole_log log
	export_log html page log --max-events=100
	browse page 'told("notice", document.getElementById("notice").textContent);
		told("items", state.items);'
	fact notice | grep -q '^Only the first 100 of [0-9]* events are in this page; the others'
	[ "$(fact items)" -lt 100 ]
	export_log html all log
	browse all 'told("notice", document.getElementById("notice").hidden);'
	[ "$(fact notice)" = true ]
	whole_log empty <<<'name 65 tick'
	export_log html nothing empty
	browse nothing 'told("summary", document.getElementById("summary").textContent);
		key("+"); key("n");'
	[ "$(fact summary)" = '0 events of 0 threads, nothing to show' ]
	for max in 0 -1 x 1x 99999999999999999999; do
		fails 2 'not a number from 1' posixtrace export -f html -m "$max" log
	done
}

# The page has a part of the log; what it says of the log is not about that part.
summary_is_that_of_the_whole_log_case()
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
	browse page 'told("summary", document.getElementById("summary").textContent);
		told("items", state.items);
		told("rows", state.rows);'
	[ "$(fact summary)" = '4 events of 3 threads, 3 s from 2023-11-14T22:13:20.000000000Z' ]
	[ "$(fact items)" -eq 2 ]
	[ "$(fact rows)" -eq 1 ]
}

# As many as go in by default, nearly.
many_events_case()
{
	many_events 190000 9 | whole_log log
	(ulimit -v 32768 && export_log html page log)
	browse page '
		told("items", state.items);
		const begin = performance.now();
		for (let i = 0; i < 10; i++) {
			key(i % 2 ? "-" : "+");
			await frameDone();
		}
		told("rows", state.rows);
	'
	[ "$(fact items)" -gt 100000 ]
}

run_cases
