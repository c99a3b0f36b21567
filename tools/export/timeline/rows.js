/* SPDX-License-Identifier: MIT */
/* Rows of items: the items of a row are in the order of time and do not overlap. */

/* Kinds of items. The numbers of the first ones must match html.c; others are not in the data. */
const SLICE = 0, ASYNC = 1, INSTANT = 2, LOST = 3, COUNTER = 4, CALL = 5, STATE = 6, IRQ = 7;
const RUN = 8;		/* a thread that runs on a processor */
const THREAD = 9, PROCESS = 10;
/* by state number: names and colour names; the numbers must match intervals.h */
const STATES = ["unknown", "running", "runnable", "blocked (sleep)", "blocked (I/O)", "stopped"];
const RUNNING = 1, RUNNABLE = 2;
const STATE_COLOURS = ["unknown", "running", "runnable", "sleep", "disk", "stopped"];
const LANES = 50;	/* rows per track for overlapping durations */
/* pixels */
const LABELS = 170, AXIS = 24, HEAD = 18, ROW = 18, STRIP = 11, CURVE = 34, GAP = 8, LINE = 12;
const INDENT = 14;

const HEIGHTS = { [STATE]: STRIP, [COUNTER]: CURVE };

class Row {
	constructor(kind) {
		this.kind = kind;
		this.height = HEIGHTS[kind] || ROW;
		this.items = [];
		this.irqs = [];		/* STATE: rows of interrupts, by depth */
	}
	/* As items do not overlap, ends are sorted as well, unless the clock went backwards. */
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
		return firstAtLeast(this.end, time);
	}
}

/* Returns the index of the first number that is not smaller, in a sorted array. */
function firstAtLeast(numbers, number) {
	let low = 0, high = numbers.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (numbers[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const byTime = (a, b) => a.start - b.start || b.end - a.end;
/* If two durations have the same times, the outer one ended last. */
const byNesting = (a, b) => byTime(a, b) || b.at - a.at;

function addRow(track, kind) {
	const row = new Row(kind);
	row.track = track;
	track.rows.push(row);
	return row;
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
