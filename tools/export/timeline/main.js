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

let drag = null;
canvas.addEventListener("pointerdown", (event) => {
	drag = { x: event.offsetX, y: event.offsetY };
	if (event.isTrusted)
		canvas.setPointerCapture(event.pointerId);
	canvas.classList.add("dragging");
});
canvas.addEventListener("pointermove", (event) => {
	if (drag) {
		pan((drag.x - event.offsetX) / (width() - LABELS));
		scrollTo(scroll + drag.y - event.offsetY);
		drag = { x: event.offsetX, y: event.offsetY };
		showTip(null);
		return;
	}
	const item = itemAt(event.offsetX, event.offsetY);
	if (item !== hovered)
		redraw();
	hovered = item;
	showTip(item, event.offsetX, event.offsetY);
});
for (const end of ["pointerup", "pointercancel"]) {
	canvas.addEventListener(end, () => {
		drag = null;
		canvas.classList.remove("dragging");
	});
}
canvas.addEventListener("pointerleave", () => {
	hovered = null;
	showTip(null);
	redraw();
});
canvas.addEventListener("dblclick", (event) => {
	const item = itemAt(event.offsetX, event.offsetY);
	if (item && item.end > item.start)
		show(item.start - (item.end - item.start) * 0.1, item.end + (item.end - item.start) * 0.1);
});

const keys = {
	"+": () => zoom(0.7), "=": () => zoom(0.7), w: () => zoom(0.7),
	"-": () => zoom(1 / 0.7), s: () => zoom(1 / 0.7),
	ArrowLeft: () => pan(-0.15), a: () => pan(-0.15),
	ArrowRight: () => pan(0.15), d: () => pan(0.15),
	ArrowUp: () => scrollTo(scroll - 40), ArrowDown: () => scrollTo(scroll + 40),
	0: () => show(...whole), Home: () => show(...whole),
	"/": () => search.focus(), n: () => step(1), p: () => step(-1),
};
document.addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (event.target === search) {
		if (event.key === "Enter")
			step(event.shiftKey ? -1 : 1);
		if (event.key === "Escape") {
			search.value = "";
			find("");
			canvas.focus();
		}
		return;
	}
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
		byId("legend").append(entry);
	}
	byId("legend").hidden = false;
}
canvas.setAttribute("aria-label", `Timeline: ${byId("summary").textContent}`);
readStyle();
draw();
document.body.dataset.items = items.length;
document.body.dataset.states = tracks.reduce((n, track) => n + (track.states || []).length, 0);
document.body.dataset.rows = tracks.reduce((n, track) => n + track.rows.length, 0);
document.body.dataset.lost = lost.length;
