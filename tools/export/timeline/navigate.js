/* SPDX-License-Identifier: MIT */
/* What is visible, and what is under the pointer. */

function show(newFrom, newTo) {
	/* Limit the view to at least a nanosecond and at most 1.5 times the trace. */
	const room = whole[1] - whole[0];
	const length = Math.min(Math.max(newTo - newFrom, 1), room * 1.5);
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
	scroll = y;
	redraw();
}

function toggle(toggled, closed) {
	for (const group of toggled)
		group.closed = closed;
	layOut();
	scrollTo(scroll);
}

/* Opens or closes all processes; the processors stay as they are. */
function toggleAll() {
	const processes = groups.filter((group) => group.pid !== undefined);
	toggle(processes, processes.some((group) => !group.closed));
}

function goTo(item) {
	const group = item.group || (item.track && item.track.group);
	if (group && group.closed && item.track)
		toggle([group], false);
	if (item.start !== undefined) {
		const length = Math.max(item.end - item.start, (to - from) / 20);
		if (item.start < from || item.end > to || item.end - item.start < (to - from) / 200)
			show(item.start - length, item.end + length);
	}
	if (item.track || group)
		scrollTo((item.track || group).top - view.clientHeight / 3);
	redraw();
}

/* ---- The item under the pointer ---- */

/* Returns the item of a row closest to a time, or null. */
function itemOf(row, time, reach) {
	let best = null;
	for (let i = row.find(time - reach), n = 0; i < row.items.length && n < 100; i++, n++) {
		const item = row.items[i];
		if (item.start > time + reach)
			break;
		const away = Math.abs(item.start - time);
		if (!best || (item.hit && away < Math.abs(best.start - time)))
			best = item;
	}
	return best;
}

/* @y: in the track */
function itemOfTrack(track, x, y) {
	const pixel = (to - from) / (width() - LABELS), time = toTime(x);
	const row = track.rows.find((row) => y < row.top + row.height);
	let best = null;
	if (!row)
		return null;
	if (y >= row.top + STRIP / 2) {
		for (const irqs of row.irqs)
			best = itemOf(irqs, time, pixel) || best;
	}
	return best || itemOf(row, time, pixel * (row.kind === INSTANT ? 5 : 1));
}

/* Returns an item, or the target of a thread or process if the pointer is on its name; or null. */
function itemAt(x, y) {
	const at = y - AXIS + scroll;
	if (y < AXIS)
		return null;
	const group = groups.find((group) => at >= group.top && at < group.bottom);
	if (group && at < group.top + HEAD)
		return group.target;
	const lostHere = lost.find((item) => Math.abs(toX(item.start) - x) < 3);
	if (x >= LABELS && lostHere)
		return lostHere;
	const track = group && group.tracks.find((track) => at >= track.top && at < track.bottom);
	if (!track)
		return null;
	return x < LABELS ? track.target : itemOfTrack(track, x, at - track.top);
}
