/* SPDX-License-Identifier: MIT */
/* Tracks have rows, rows have items in the order of time. */

/* kinds of items; the numbers must match html.c */
const SLICE = 0, ASYNC = 1, INSTANT = 2, LOST = 3, COUNTER = 4, CALL = 5, STATE = 6, IRQ = 7;
/* by state number: names and colour names; the numbers must match intervals.h */
const STATES = ["unknown", "running", "runnable", "blocked (sleep)", "blocked (I/O)", "stopped"];
const RUNNABLE = 2;
const STATE_COLOURS = ["unknown", "running", "runnable", "sleep", "disk", "stopped"];
const LANES = 50;	/* rows per track for overlapping durations */
const LABELS = 170, AXIS = 24, ROW = 18, STRIP = 11, GAP = 8, LINE = 12;	/* pixels */

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const view = byId("view"), canvas = document.querySelector("canvas"), tip = byId("tip");
const search = byId("search"), paint = canvas.getContext("2d");

/* ---- Model: tracks have rows, rows have items in time order ---- */

class Row {
	constructor(kind) {
		this.kind = kind;
		this.height = kind === STATE ? STRIP : ROW;
		this.items = [];
		this.irqs = [];		/* STATE: rows of interrupts, by depth */
	}
	/* Items of a row do not overlap, so their ends are sorted as well, unless the clock went backwards. */
	seal() {
		let last = -Infinity;
		this.start = Float64Array.from(this.items, (item) => item.start);
		this.end = this.kind === INSTANT ? this.start :
			Float64Array.from(this.items, (item) => last = Math.max(last, item.end));
		if (this.kind === STATE)
			this.sum();
	}
	/* Sums up the time in each state before each item. */
	sum() {
		this.sums = STATES.map(() => new Float64Array(this.items.length + 1));
		this.items.forEach((item, i) => {
			this.sums.forEach((sum) => sum[i + 1] = sum[i]);
			this.sums[item.name][i + 1] += item.end - item.start;
		});
	}
	/* Returns the state with the most time in the items from @from to before @to. */
	longest(from, to) {
		let best = this.items[from].name, time = 0;
		this.sums.forEach((sum, state) => {
			if (sum[to] - sum[from] > time) {
				time = sum[to] - sum[from];
				best = state;
			}
		});
		return best;
	}
	/* Returns the index of the first item that ends at or after the time. */
	find(time) {
		let low = 0, high = this.end.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.end[middle] < time)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}
}

/* Process ids are reused: "life" counts the previous processes with the same id. */
const tracks = data.threads.map(([pid, thread, label, tid, life, process]) =>
	({ pid, thread, label, tid, life, process: processText(pid, process), slices: [], asyncs: [],
	   instants: [], calls: [], states: [], irqs: [], rows: [], first: Infinity }));
const byTid = new Map();	/* lists of tracks, by process and kernel thread id */
for (const track of tracks) {
	const key = `${track.pid} ${track.tid}`;
	if (track.tid)
		byTid.set(key, [...byTid.get(key) || [], track]);
}
const counters = new Map();	/* tracks of counters, by process and name */
const lost = [];
const items = [];		/* all except states */
const texts = new Map();	/* names of system calls and interrupts -> numbers */
let earliest = Infinity, latest = -Infinity, strips = 0, at = 0;

function processText(pid, name) {
	if (!pid)
		return "";
	return name === `process ${pid}` ? name : `process ${pid} (${name})`;
}

function number(name) {
	if (!texts.has(name))
		texts.set(name, data.names.length + texts.size);
	return texts.get(name);
}

function textOf(kind, name, args) {
	if (kind === LOST)
		return `${name} events lost`;
	if (kind === STATE)
		return args.letter === "D" && !args.io ? "blocked (uninterruptible)" : STATES[name];
	if (kind === IRQ)
		return name === `${args.kind} ${args.number}` ? name : `${args.kind} ${name}`.trim();
	return kind === CALL ? name : data.names[name];
}

function counterTrack({ pid, life, process }, name) {
	const key = `${pid} ${life} ${name}`;
	if (!counters.has(key))
		counters.set(key, { pid, process, label: data.names[name], slices: [], asyncs: [],
				    instants: [], values: [], rows: [] });
	return counters.get(key);
}

for (const [kind, thread, name, start, length, args] of data.events) {
	const item = {
		kind, name: kind === CALL || kind === IRQ ? number(name) : name, start, end: start + length,
		args, track: tracks[thread], text: textOf(kind, name, args), hit: true, at: at++,
	};
	earliest = Math.min(earliest, item.start);
	latest = Math.max(latest, item.end);
	if (kind !== LOST)
		item.track.first = Math.min(item.track.first, item.start);
	if (kind === STATE) {
		item.track.states.push(item);
		strips++;
		continue;
	}
	items.push(item);
	if (kind === COUNTER) {
		item.value = Number(args.fields.counter);
		item.track = counterTrack(item.track, name);
		item.track.values.push(item);
	} else if (kind === LOST)
		lost.push(item);
	else if (kind === SLICE)
		item.track.slices.push(item);
	else if (kind === ASYNC)
		item.track.asyncs.push(item);
	else if (kind === CALL)
		item.track.calls.push(item);
	else if (kind === IRQ)
		item.track.irqs.push(item);
	else
		item.track.instants.push(item);
}
const byTime = (a, b) => a.start - b.start || b.end - a.end;
/* If two durations have the same times, the outer one ended last. */
const byNesting = (a, b) => byTime(a, b) || b.at - a.at;
items.sort(byTime);

function addRow(track, kind) {
	const row = new Row(kind);
	row.track = track;
	track.rows.push(row);
	return row;
}

/* A counter keeps its value until the next event. */
for (const track of counters.values()) {
	const row = addRow(track, COUNTER);
	row.items = track.values.sort(byTime);
	row.items.forEach((item, i) => {
		item.end = Math.max(item.start, i + 1 < row.items.length ? row.items[i + 1].start : data.length);
	});
	const values = row.items.map((item) => item.value).filter(Number.isFinite);
	row.low = values.reduce((low, value) => Math.min(low, value), 0);
	row.high = values.reduce((high, value) => Math.max(high, value), 0);
	row.seal();
}

/* Distributes durations, sorted by time, to rows by nesting depth. */
function nest(items, newRow) {
	const open = [], rows = [];
	for (const item of items) {
		while (open.length && open[open.length - 1].end < item.end)
			open.pop();
		while (open.length && open[open.length - 1].end <= item.start)
			open.pop();
		rows[open.length] ??= newRow();
		rows[open.length].items.push(item);
		open.push(item);
	}
	return rows;
}

for (const track of tracks) {
	const lanes = [];
	for (const item of track.asyncs.sort(byTime)) {
		let lane = lanes.find((row) => row.items[row.items.length - 1].end <= item.start);
		if (!lane && lanes.length < LANES) {
			lane = new Row(ASYNC);
			lanes.push(lane);
		}
		/* Without a free lane, show only the begin as an instant. */
		(lane ? lane.items : track.instants).push(item);
	}
	if (track.instants.length) {
		const row = addRow(track, INSTANT);
		row.items = track.instants.sort(byTime);
	}
	nest(track.slices.sort(byNesting), () => addRow(track, SLICE));
	track.rows.push(...lanes);
	if (track.calls.length)
		addRow(track, CALL).items = track.calls.sort(byTime);
	if (track.states.length || track.irqs.length) {
		const row = addRow(track, STATE);
		row.items = track.states.sort(byTime);
		row.irqs = nest(track.irqs.sort(byNesting), () => new Row(IRQ));
		row.irqs.forEach((row) => row.seal());
		strips += row.irqs.length;
	}
	track.rows.forEach((row) => row.seal());
}

tracks.push(...counters.values());

let whole = [0, 1], duration = 0;
if (earliest <= latest) {
	whole = [earliest, latest];
	/* Use the duration of the whole log: the page may contain only its first events. */
	duration = Math.max(whole[1], data.length) - whole[0];
	const margin = Math.max((whole[1] - whole[0]) * 0.02, 1);
	whole = [whole[0] - margin, whole[1] + margin];
}
let height = 0;
for (const track of tracks) {
	track.top = height;
	let rows = 0;
	for (const row of track.rows) {
		row.top = rows;
		rows += row.height;
	}
	height += Math.max(rows, 2 * LINE + 4) + GAP;
	track.bottom = height - GAP / 2;
}

/* ---- State ---- */

let from = whole[0], to = whole[1], scroll = 0;
let query = "", matches = [], match = -1;
let hovered = null, frame = 0;
let style = {};

function readStyle() {
	const css = getComputedStyle(document.documentElement);
	for (const name of ["paper", "ink", "faint", "line", "band", "accent", "lost", "irq",
			    ...STATE_COLOURS])
		style[name] = css.getPropertyValue("--" + name).trim();
}

/* Steps of the golden angle give consecutive names very different colours. */
const colour = (item) => `hsl(${item.name * 137.508 % 360} 55% 70%)`;
