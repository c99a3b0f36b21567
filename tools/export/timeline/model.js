/* SPDX-License-Identifier: MIT */
/* Turns the data of the page into groups of tracks; a track has rows of items. */

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const view = byId("view"), canvas = document.querySelector("canvas"), tip = byId("tip");
const search = byId("search"), paint = canvas.getContext("2d");

function processText(pid, name) {
	if (!pid)
		return "";
	return name === `process ${pid}` ? name : `process ${pid} (${name})`;
}

function newTrack(fields) {
	return { slices: [], asyncs: [], instants: [], calls: [], states: [], irqs: [], values: [],
		 rows: [], first: Infinity, target: { kind: THREAD, hit: true }, ...fields };
}

/* Process ids are reused: "life" counts the previous processes with the same id. */
const threads = data.threads.map(([pid, thread, label, tid, life, name]) =>
	newTrack({ pid, thread, label, tid, life, name, process: processText(pid, name) }));
const byTid = new Map();	/* lists of threads, by process and kernel thread id */
for (const track of threads) {
	const key = `${track.pid} ${track.tid}`;
	if (track.tid)
		byTid.set(key, [...byTid.get(key) || [], track]);
}
const commands = new Map(data.commands.map(([pid, life, text]) => [`${pid} ${life}`, text]));
const counters = new Map();	/* tracks, by process and name */
const processors = new Map();	/* tracks, by number */
const lost = [];
const items = [];		/* all except states */
const texts = new Map();	/* names of system calls and interrupts -> numbers */
let earliest = Infinity, latest = -Infinity, strips = 0;

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
	if (kind === IRQ && name !== `${args.kind} ${args.number}`)
		return `${args.kind} ${name}`.trim();
	return kind === CALL || kind === IRQ ? name : data.names[name];
}

function counterTrack({ pid, life, name, process }, item) {
	const key = `${pid} ${life} ${item.name}`;
	if (!counters.has(key))
		counters.set(key, newTrack({ pid, life, name, process, label: data.names[item.name],
					     unit: (item.args.units || {}).counter || "" }));
	return counters.get(key);
}

/* Adds what a processor runs to its track. */
function addRun(item) {
	const { cpu } = item.args, thread = item.track;
	if (!processors.has(cpu))
		processors.set(cpu, newTrack({ cpu, label: `cpu ${cpu}`, runs: [] }));
	const track = processors.get(cpu);
	track.runs.push({ ...item, kind: RUN, name: thread.tid || 0, text: thread.label, track,
			  thread });
}

function addItem(item) {
	const { kind, track } = item;
	if (kind !== LOST)
		track.first = Math.min(track.first, item.start);
	if (kind === STATE) {
		track.states.push(item);
		strips++;
		if (item.name === RUNNING && item.args.cpu !== undefined)
			addRun(item);
		return;
	}
	items.push(item);
	if (kind === COUNTER) {
		item.value = Number(item.args.fields.counter);
		item.track = counterTrack(track, item);
	}
	const lists = {
		[LOST]: lost, [SLICE]: track.slices, [ASYNC]: track.asyncs, [CALL]: track.calls,
		[IRQ]: track.irqs, [INSTANT]: track.instants, [COUNTER]: item.track.values,
	};
	lists[kind].push(item);
}

data.events.forEach(([kind, thread, name, start, length, args], at) => {
	earliest = Math.min(earliest, start);
	latest = Math.max(latest, start + length);
	addItem({
		kind, name: kind === CALL || kind === IRQ ? number(name) : name, start,
		end: start + length, args, track: threads[thread], text: textOf(kind, name, args),
		hit: true, at,
	});
});
items.sort(byTime);

/* ---- Rows ---- */

/* A counter keeps its value until the next event. */
function makeCurve(track) {
	const row = addRow(track, COUNTER);
	row.items = track.values.sort(byTime);
	row.items.forEach((item, i) => {
		const next = row.items[i + 1];
		item.end = Math.max(item.start, next ? next.start : data.length);
	});
	const values = row.items.map((item) => item.value).filter(Number.isFinite);
	row.low = values.reduce((low, value) => Math.min(low, value), 0);
	row.high = values.reduce((high, value) => Math.max(high, value), 0);
}

/* Distributes durations that overlap to lanes. Without a free lane, shows only the begin. */
function makeLanes(track) {
	const lanes = [];
	for (const item of track.asyncs.sort(byTime)) {
		let lane = lanes.find((row) => row.items[row.items.length - 1].end <= item.start);
		if (!lane && lanes.length < LANES) {
			lane = new Row(ASYNC);
			lane.track = track;
			lanes.push(lane);
		}
		(lane ? lane.items : track.instants).push(item);
	}
	return lanes;
}

function makeStrip(track) {
	const row = addRow(track, STATE);
	row.items = track.states.sort(byTime);
	row.irqs = nest(track.irqs.sort(byNesting), () => new Row(IRQ));
	row.irqs.forEach((irqs) => irqs.seal());
	track.strip = row;
	strips += row.irqs.length;
}

function makeRows(track) {
	const lanes = makeLanes(track);
	if (track.values.length)
		makeCurve(track);
	if (track.instants.length)
		addRow(track, INSTANT).items = track.instants.sort(byTime);
	nest(track.slices.sort(byNesting), () => addRow(track, SLICE));
	track.rows.push(...lanes);
	if (track.calls.length)
		addRow(track, CALL).items = track.calls.sort(byTime);
	if (track.runs)
		addRow(track, RUN).items = track.runs.sort(byTime);
	if (track.states.length || track.irqs.length)
		makeStrip(track);
	track.rows.forEach((row) => row.seal());
	track.height = Math.max(track.rows.reduce((sum, row) => {
		row.top = sum;
		return sum + row.height;
	}, 0), LINE + 4);
}

/* ---- Groups: the processors, then each process with its threads and counters ---- */

const groups = [];

function addGroup(fields) {
	const group = { tracks: [], closed: false, hit: true, detail: "", ...fields };
	group.target = { kind: PROCESS, hit: true, group, text: `${group.title} ${group.detail}` };
	groups.push(group);
	return group;
}

function groupTitle({ pid, name, label }) {
	if (!pid)
		return name || label;
	return name === `process ${pid}` ? name : `${name} ${pid}`;
}

function makeGroups() {
	const found = new Map();
	const byNumber = [...processors.values()].sort((a, b) => a.cpu - b.cpu);
	if (byNumber.length)
		addGroup({ title: "processors", tracks: byNumber, closed: byNumber.length > 16 });
	for (const track of [...threads, ...counters.values()]) {
		const key = `${track.pid} ${track.life}`;
		if (!found.has(key))
			found.set(key, addGroup({
				title: groupTitle(track), pid: track.pid, process: track.process,
				detail: commands.get(key) || "",
			}));
		found.get(key).tracks.push(track);
	}
}

/* Finds the last thread with these ids before a time. */
function findTrack(pid, tid, time) {
	return (byTid.get(`${pid} ${tid}`) || []).filter((track) => track.first <= time).pop();
}

makeGroups();
const tracks = groups.flatMap((group) => group.tracks);
for (const group of groups) {
	for (const track of group.tracks) {
		makeRows(track);
		track.group = group;
		Object.assign(track.target, { track, text: track.label });
	}
}

let whole = [0, 1], duration = 0;
if (earliest <= latest) {
	whole = [earliest, latest];
	/* Use the duration of the whole log: the page may contain only its first events. */
	duration = Math.max(whole[1], data.length) - whole[0];
	const margin = Math.max((whole[1] - whole[0]) * 0.02, 1);
	whole = [whole[0] - margin, whole[1] + margin];
}

let height = 0;
function layOut() {
	height = 0;
	groups.forEach((group) => {
		group.top = height;
		height += HEAD;
		for (const track of group.tracks) {
			const { closed } = group;
			track.top = closed ? group.top : height;
			track.bottom = track.top + (closed ? HEAD : track.height + GAP / 2);
			height += closed ? 0 : track.height + GAP;
		}
		group.bottom = height;
	});
}
layOut();

/* ---- Wake-ups ---- */

/*
 * Returns the wake-ups that are drawn as arrows. Both the wait that a wake-up ended and the state
 * after it name the waker: use only one of them. A wake-up has no arrow if its waker is not a
 * thread, or is a thread that is not drawn.
 */
function wakeUps() {
	const found = [];
	for (const to of threads) {
		to.states.forEach((item, i) => {
			const time = item.name === RUNNABLE ? item.start : item.end;
			const from = item.args.waker && !isToldAgain(item, to.states[i + 1]) &&
				findTrack(...item.args.waker, time);
			if (from)
				found.push({ time, from, to });
		});
	}
	return found.sort((a, b) => a.time - b.time);
}

function isToldAgain(item, next) {
	return item.name !== RUNNABLE && next && next.name === RUNNABLE && next.args.waker &&
		next.start === item.end;
}

const arrows = wakeUps();
const arrowTimes = Float64Array.from(arrows, (arrow) => arrow.time);
