/* SPDX-License-Identifier: MIT */
/* What is visible, and what is under the pointer. */

function show(newFrom, newTo) {
	/* Limit the view to at least a nanosecond and at most 1.5 times the trace. */
	const room = whole[1] - whole[0], length = Math.min(Math.max(newTo - newFrom, 1), room * 1.5);
	const middle = (newFrom + newTo) / 2;
	from = Math.min(Math.max(middle - length / 2, whole[0] - length * 0.9),
			whole[1] - length * 0.1);
	to = from + length;
	redraw();
}

function zoom(factor, x) {
	const time = toTime(x ?? (LABELS + width()) / 2);
	show(time - (time - from) * factor, time + (to - time) * factor);
}

function pan(part) {
	show(from + (to - from) * part, to + (to - from) * part);
}

function scrollTo(y) {
	scroll = Math.max(0, Math.min(y, height + AXIS - view.clientHeight + 20));
	redraw();
}

function goTo(item) {
	const length = Math.max(item.end - item.start, (to - from) / 20);
	if (item.start < from || item.end > to || item.end - item.start < (to - from) / 200)
		show(item.start - length, item.end + length);
	if (item.track)
		scrollTo(item.track.top - view.clientHeight / 3);
	redraw();
}

/* ---- The item under the pointer ---- */

function itemAt(x, y) {
	if (x < LABELS || y < AXIS)
		return null;
	const pixel = (to - from) / (width() - LABELS), time = toTime(x);
	for (const item of lost) {
		if (Math.abs(toX(item.start) - x) < 3)
			return item;
	}
	const at = y - AXIS + scroll;
	const track = tracks.find((track) => at >= track.top && at < track.bottom);
	const row = track && track.rows.find((row) => at < track.top + row.top + row.height);
	if (!row)
		return null;
	let best = null;
	if (at >= track.top + row.top + STRIP / 2) {
		for (const irqs of row.irqs)
			best = itemOf(irqs, time, pixel) || best;
	}
	return best || itemOf(row, time, pixel * (row.kind === INSTANT ? 5 : 1));
}

/* Returns the item of a row closest to a time, or null. */
function itemOf(row, time, reach) {
	let best = null;
	for (let i = row.find(time - reach), n = 0; i < row.items.length && n < 100; i++, n++) {
		const item = row.items[i];
		if (item.start > time + reach)
			break;
		if (!best || (item.hit && Math.abs(item.start - time) < Math.abs(best.start - time)))
			best = item;
	}
	return best;
}
