# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the tests of the HTML page, which load it in a headless Chromium.

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/export_common.sh"

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
				const pointer = (type, x, y, more) => canvas.dispatchEvent(new PointerEvent(type, {
					clientX: x, clientY: canvas.getBoundingClientRect().top + y,
					bubbles: true, pointerId: 1, ...more }));
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

# drive PAGE <COMMANDS: drives the page with the mouse and the keyboard, see drive.mjs
drive()
{
	local profile status=0
	profile=$(mktemp -d)
	# without the suffix, the browser would show it as text
	cp "$1" driven.html
	timeout 300 node "$native/drive.mjs" driven.html "$profile" || status=$?
	rm -rf "$profile"
	return "$status"
}

fact()
{
	sed -n "s/^$1=//p" facts
}

# page_data PAGE: prints the JSON in a page
page_data()
{
	sed -n '/^<script type="application\/json"/,/^<\/script>/p' "$1" | sed '1d; $d'
}

# panel_facts: writes the lines of the panel to the file panel, cells with "|" between them
panel_facts()
{
	cat <<-'END'
		[...document.querySelectorAll("#panel h2, #panel pre, #panel caption, #panel tr")].forEach((part, i) =>
			report("panel" + i, part.cells ? [...part.cells].map((cell) => cell.textContent).join("|") :
				part.textContent.replaceAll("\n", "; ")));
	END
}
