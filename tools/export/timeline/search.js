/* SPDX-License-Identifier: MIT */
/* Finds processes, threads and items by name. */

function find(text) {
	query = text.trim().toLowerCase();
	const processes = groups.map((group) => group.target);
	const named = [...threads, ...processors.values()].map((track) => track.target);
	const others = [...counters.values()].map((track) => track.target);
	const runs = [...processors.values()].flatMap((track) => track.runs);
	for (const item of [processes, named, others, runs, items].flat())
		item.hit = !query || item.text.toLowerCase().includes(query);
	/* Leave out what runs on a processor: the search already finds it as a thread. */
	matches = query ? [...processes, ...named, ...items].filter((item) => item.hit) : [];
	match = -1;
	byId("matches").textContent = !query ? "" :
		matches.length === 1 ? "1 match" : `${matches.length} matches`;
	document.body.dataset.matches = matches.length;
	redraw();
}

function step(by) {
	if (!matches.length)
		return;
	match = match < 0 ? (by > 0 ? 0 : matches.length - 1) :
		(match + by + matches.length) % matches.length;
	byId("matches").textContent = `${match + 1} of ${matches.length}`;
	document.body.dataset.match = match;
	goTo(matches[match]);
}

/* Leaves the field, so that the keys for the next and previous match work. */
function beginSteps(by) {
	step(by);
	canvas.focus();
}

function endSearch() {
	search.value = "";
	find("");
	canvas.focus();
}
