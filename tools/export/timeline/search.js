/* SPDX-License-Identifier: MIT */
/* Finds items by name. */

function find(text) {
	query = text.trim().toLowerCase();
	for (const item of items)
		item.hit = !query || item.text.toLowerCase().includes(query);
	matches = query ? items.filter((item) => item.hit) : [];
	match = -1;
	byId("matches").textContent = query ? `${matches.length} matches` : "";
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
