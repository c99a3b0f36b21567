/* SPDX-License-Identifier: MIT */
/* What is in a range of time. */

/* Calls a function for each item of a row in the range, with the time of its part in there. */
function eachInRange(row, range, use) {
	for (let i = row.find(range.from); i < row.items.length && row.start[i] <= range.to; i++) {
		const item = row.items[i], end = row.kind === INSTANT ? item.start : item.end;
		const time = Math.min(end, range.to) - Math.max(item.start, range.from);
		if (time > 0 || item.start === end)
			use(item, Math.max(time, 0));
	}
}

/* Adds an item to the sum of those with the same name. */
function addTo(sums, name, time) {
	const sum = sums.get(name) || { count: 0, time: 0 };
	sum.count++;
	sum.time += time;
	sums.set(name, sum);
}

function addValue(values, item) {
	const name = `${item.text} of ${item.track.process}`;
	const value = values.get(name) || { low: Infinity, high: -Infinity, unit: item.track.unit };
	value.low = Math.min(value.low, item.value);
	value.high = Math.max(value.high, item.value);
	values.set(name, value);
}

function summarize(range) {
	const sums = { cpus: new Map(), states: new Map(), calls: new Map(), scopes: new Map(),
		       irqs: new Map(), events: new Map(), values: new Map() };
	const lists = {
		[STATE]: sums.states, [CALL]: sums.calls, [SLICE]: sums.scopes,
		[ASYNC]: sums.scopes, [IRQ]: sums.irqs, [INSTANT]: sums.events,
	};
	const rows = range.tracks.flatMap((track) => track.rows);
	for (const row of rows.flatMap((row) => [row, ...row.irqs])) {
		eachInRange(row, range, (item, time) => {
			if (row.kind === COUNTER)
				addValue(sums.values, item);
			else if (row.kind === RUN)
				addTo(sums.cpus, row.track.label, time);
			else
				addTo(lists[row.kind], item.text, time);
		});
	}
	return sums;
}

/* Returns the rows of a table: name, count, time; the longest first. */
function sumRows(sums) {
	const before = ([a, x], [b, y]) => y.time - x.time || y.count - x.count || (a < b ? -1 : 1);
	return [...sums].sort(before)
		.map(([name, { count, time }]) => [name, String(count), span(time)]);
}

function stateRows(sums) {
	const all = [...sums.values()].reduce((sum, { time }) => sum + time, 0);
	return sumRows(sums).map(([name, count, time]) =>
		[name, count, time, `${(100 * sums.get(name).time / (all || 1)).toFixed(1)} %`]);
}

function valueRows(values) {
	return [...values].map(([name, { low, high, unit }]) =>
		[name, valueText(low, unit), valueText(high, unit)]);
}

function rangeTables(sums) {
	const tables = [
		["States", ["", "count", "time", "share"], stateRows(sums.states)],
		["System calls", ["", "count", "time"], sumRows(sums.calls)],
		["Scopes", ["", "count", "time"], sumRows(sums.scopes)],
		["Interrupts", ["", "count", "time"], sumRows(sums.irqs)],
		["Events", ["", "count"], sumRows(sums.events).map((texts) => texts.slice(0, 2))],
		["Counters", ["", "lowest", "highest"], valueRows(sums.values)],
		["Processors", ["", "threads", "time"], sumRows(sums.cpus)],
	];
	return tables.filter(([, , rows]) => rows.length).map((fields) => table(...fields));
}

function rangeLines({ from, to, tracks }) {
	const chosen = new Set(tracks);
	const inside = (time) => time >= from && time <= to;
	const wakes = arrows.filter((arrow) => inside(arrow.time) && chosen.has(arrow.to));
	const losses = lost.filter((item) => inside(item.start));
	const count = threads.filter((track) => chosen.has(track)).length;
	return [`from ${span(from)} to ${span(to)}`,
		`${count} of ${counted(threads.length, "thread")}`,
		`${counted(wakes.length, "wake-up")} by threads`,
		...losses.map((item) => item.text)].join("\n");
}

function showRange(newRange) {
	closePanel();
	range = newRange;
	openPanel(`Range of ${span(range.to - range.from)}`, element("pre", rangeLines(range)),
		  ...rangeTables(summarize(range)));
}

/* ---- With the mouse and with the keyboard ---- */

/* Returns the range between two points: all tracks if it was drawn on the axis. */
function rangeBetween(a, b) {
	const ascending = (x, y) => x - y;
	const [first, last] = [a, b].map(({ x }) => toTime(Math.max(x, LABELS))).sort(ascending);
	const [top, bottom] = [a, b].map(({ y }) => y - AXIS + scroll).sort(ascending);
	const inside = (track) => a.y < AXIS || (track.bottom >= top && track.top <= bottom);
	return {
		from: Math.round(Math.max(first, whole[0])),
		to: Math.round(Math.min(last, whole[1])),
		tracks: tracks.filter(inside),
	};
}

function showVisible() {
	showRange({ from: Math.max(from, earliest), to: Math.min(to, latest), tracks });
}
