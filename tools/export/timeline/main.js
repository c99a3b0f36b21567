/* SPDX-License-Identifier: MIT */
/* Events of the browser, and the start. */

canvas.addEventListener("wheel", (event) => {
	event.preventDefault();
	if (event.shiftKey)
		scrollTo(scroll + (event.deltaY || event.deltaX));
	else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
		pan(event.deltaX / width());
	else
		zoom(Math.exp(Math.max(-1, Math.min(event.deltaY / 400, 1))), event.offsetX);
}, { passive: false });

/*
 * The pointer moves the tracks, draws a range on the axis or with Shift, or selects what it clicks.
 */
let drag = null;
const point = (event) => ({ x: event.offsetX, y: event.offsetY });

canvas.addEventListener("pointerdown", (event) => {
	const begin = point(event);
	drag = { begin, last: begin, moved: false,
		 draws: begin.x >= LABELS && (begin.y < AXIS || event.shiftKey) };
	if (event.isTrusted)
		canvas.setPointerCapture(event.pointerId);
	canvas.classList.add("dragging");
});

function dragTo(at) {
	drag.moved ||= Math.abs(at.x - drag.begin.x) > 3 || Math.abs(at.y - drag.begin.y) > 3;
	if (drag.draws) {
		drawing = drag.moved ? rangeBetween(drag.begin, at) : null;
		redraw();
	} else if (drag.moved) {
		pan((drag.last.x - at.x) / (width() - LABELS));
		scrollTo(scroll + drag.last.y - at.y);
		drag.last = at;
	}
	showTip(null);
}

canvas.addEventListener("pointermove", (event) => {
	const at = point(event);
	if (drag) {
		dragTo(at);
		return;
	}
	const item = itemAt(at.x, at.y);
	if (item !== hovered)
		redraw();
	hovered = item;
	showTip(item, at.x, at.y);
});

function click(at) {
	const item = itemAt(at.x, at.y);
	if (item && item.kind === PROCESS)
		toggle([item.group], !item.group.closed);
	else
		select(item);
}

canvas.addEventListener("pointerup", (event) => {
	const { draws, moved, begin } = drag || { moved: true };
	if (draws && moved)
		showRange(rangeBetween(begin, point(event)));
	else if (!moved)
		click(point(event));
	endDrag();
});
canvas.addEventListener("pointercancel", endDrag);

function endDrag() {
	drag = drawing = null;
	canvas.classList.remove("dragging");
	redraw();
}

canvas.addEventListener("pointerleave", () => {
	hovered = null;
	showTip(null);
	redraw();
});
canvas.addEventListener("dblclick", (event) => {
	const item = itemAt(event.offsetX, event.offsetY);
	const margin = item ? (item.end - item.start) * 0.1 : 0;
	if (margin > 0)
		show(item.start - margin, item.end + margin);
});

const keys = {
	"+": () => zoom(0.7), "=": () => zoom(0.7), w: () => zoom(0.7),
	"-": () => zoom(1 / 0.7), s: () => zoom(1 / 0.7),
	ArrowLeft: () => pan(-0.15), a: () => pan(-0.15),
	ArrowRight: () => pan(0.15), d: () => pan(0.15),
	ArrowUp: () => scrollTo(scroll - 40), ArrowDown: () => scrollTo(scroll + 40),
	0: () => show(...whole), Home: () => show(...whole),
	"/": () => search.focus(), n: () => step(1), p: () => step(-1),
	c: toggleAll, r: showVisible,
	Enter: () => select(matches[match] || hovered), Escape: escape,
};

/* Closes the search, or else the panel. */
function escape() {
	if (query)
		endSearch();
	else
		closePanel();
}

document.addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (event.target === search) {
		if (event.key === "Enter")
			beginSteps(event.shiftKey ? -1 : 1);
		if (event.key === "Escape")
			endSearch();
		return;
	}
	/* On a button, Enter clicks it. */
	if (event.target.tagName === "BUTTON" && event.key === "Enter")
		return;
	if (Object.hasOwn(keys, event.key)) {
		event.preventDefault();
		keys[event.key]();
	}
});
search.addEventListener("input", () => find(search.value));
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
	readStyle();
	redraw();
});

/* ---- Start ---- */

byId("title").textContent = document.title = data.title;
byId("summary").textContent = `${data.total} events of ${data.totalThreads} threads, ` +
	(earliest <= latest ? `${span(duration)} from ${wallTime(0)}` : "nothing to show");
if (data.notice) {
	byId("notice").textContent = data.notice;
	byId("notice").hidden = false;
}
if (strips) {
	for (const [name, colour] of [...STATES.map((name, i) => [name, STATE_COLOURS[i]]).slice(1),
				      ["unknown", "unknown"], ["interrupt", "irq"]]) {
		const entry = document.createElement("span"), sample = document.createElement("i");
		sample.style.background = `var(--${colour})`;
		entry.append(sample, name);
		byId("wakes").before(entry);
	}
	byId("legend").hidden = false;
}
byId("wakes").hidden = !arrows.length;
canvas.setAttribute("aria-label", `Timeline: ${byId("summary").textContent}`);
readStyle();
draw();
document.body.dataset.items = items.length;
document.body.dataset.states = threads.reduce((n, track) => n + track.states.length, 0);
document.body.dataset.rows = tracks.reduce((n, track) => n + track.rows.length, 0);
document.body.dataset.lost = lost.length;
document.body.dataset.groups = groups.length;
document.body.dataset.explained = [...slowest.values()].reduce((sum, list) => sum + list.length, 0);
