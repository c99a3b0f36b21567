/* SPDX-License-Identifier: MIT */
/* The panel beside the tracks, for a range or a selected item. */

const ROWS = 100;	/* of a table in the panel */
const panel = byId("panel");

function element(name, text, ...children) {
	const made = document.createElement(name);
	made.textContent = text;
	made.append(...children);
	return made;
}

/* Makes a table without rows. */
function emptyTable(title, heads) {
	const made = element("table", ""), top = element("tr", "");
	if (title)
		made.append(element("caption", title));
	top.append(...heads.map((head) => element("th", head)));
	made.append(top);
	return made;
}

/* @rows: lists of texts; the first one is a name */
function table(title, heads, rows) {
	const made = emptyTable(title, heads);
	made.className = "sums";
	for (const row of rows.slice(0, ROWS))
		made.append(element("tr", "", ...row.map((text) => element("td", text))));
	if (rows.length > ROWS)
		made.append(element("tr", "", element("td", `${rows.length - ROWS} more`)));
	return made;
}

function openPanel(title, ...children) {
	const close = element("button", "×");
	close.title = "close (Esc)";
	close.addEventListener("click", closePanel);
	panel.replaceChildren(close, element("h2", title), ...children);
	panel.hidden = false;
	panel.scrollTop = 0;
	redraw();
}

function closePanel() {
	panel.hidden = true;
	range = selected = null;
	path = [];
	canvas.focus();
	redraw();
}

/* Shows an item until another one is selected. */
function select(item) {
	if (!item)
		return;
	closePanel();
	selected = item;
	const title = item.kind === PROCESS ? item.group.title : item.text;
	openPanel(title, element("pre", itemLines(item).join("\n")), ...whyElements(item));
}
