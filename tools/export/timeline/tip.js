/* SPDX-License-Identifier: MIT */
/* Describes items. */

/* Formats fields with their units. Units are keyed by the dotted path of the field. */
function fieldLines(fields, indent, units, path) {
	return Object.entries(fields).map(([key, value]) => {
		const place = Array.isArray(fields) ? path : path ? `${path}.${key}` : key;
		const unit = Object.hasOwn(units, place) ? ` ${units[place]}` : "";
		if (Array.isArray(value) && value.every((item) => typeof item !== "object"))
			return `${indent}${key}: [${value.join(", ")}]${unit}`;
		return typeof value === "object" ?
			`${indent}${key}:\n${fieldLines(value, indent + "  ", units, place)}` :
			`${indent}${key}: ${value}${unit}`;
	}).join("\n");
}

/* ---- System calls ---- */

/* By enum syscall_arg_type: how to show an argument word. */
const argTexts = {
	d: (word) => BigInt.asIntN(32, word),
	D: (word) => BigInt.asIntN(64, word),
	u: (word) => BigInt.asUintN(32, word),
	U: (word) => word,
	x: (word) => `0x${BigInt.asUintN(32, word).toString(16)}`,
	X: (word) => `0x${word.toString(16)}`,
};

function argText(type, word) {
	return (Object.hasOwn(argTexts, type) ? argTexts[type] : argTexts.X)(BigInt(word));
}

/* Shows as many arguments as the call has, or all words if that is unknown. */
function argsLine(name, { args, compat }) {
	if (compat || !Object.hasOwn(data.calls, name))
		return `argument words: ${args.join(", ")}`;
	const known = data.calls[name];
	return known.length ? "arguments: " + known.map(([type, name], i) =>
		`${name} ${argText(type, args[i])}`).join(", ") : "no arguments";
}

function callLines(name, item) {
	const { args, result, unfinished, ...others } = item;
	return [argsLine(name, item), unfinished ? "no exit in the log" : `result: ${result}`,
		lines(others, "")];
}

/* ---- States ---- */

/* The kinds of wakers: what is said if no thread is known, and how a known thread woke. */
const wakers = {
	interrupt: ["an interrupt", ""],
	softirq: ["a softirq", " in a softirq"],
	timer: ["a timer", ""],
	child: ["the end of a child", " by its end"],
	signal: ["a signal", " by a signal"],
	kernel: ["a thread of the kernel", ""],
};

function wakerText(by, waker, time) {
	const [nameless, how] = wakers[by] || ["another thread", ""];
	if (!waker)
		return nameless;
	const [pid, tid] = waker, track = findTrack(pid, tid, time);
	return `${track ? track.label : `thread ${tid}`} of process ${pid}${how}`;
}

function stateLines({ letter, preempted, call, by, waker, cpu }, time) {
	const text = [];
	if (cpu !== undefined)
		text.push(`on cpu ${cpu}`);
	if (call)
		text.push(`in system call ${call}`);
	if (letter)
		text.push(`state ${letter}`);
	if (preempted)
		text.push("preempted");
	if (by)
		text.push(`woken by ${wakerText(by, waker, time)}`);
	return text;
}

/* ---- All items ---- */

function lines(args, indent) {
	return Object.entries(args).filter(([key]) => key !== "units").map(([key, value]) =>
		key === "fields" ? fieldLines(value, indent, args.units || {}, "") :
		typeof value === "object" ? `${indent}${key}:\n${lines(value, indent + "  ")}` :
			`${indent}${key}: ${value}`).join("\n");
}

/* Describes a thread, a counter, a processor or a process. */
function targetLines({ kind, track, group }) {
	const count = group && group.tracks.filter((track) => threads.includes(track)).length;
	if (kind === PROCESS)
		return [group.process, group.detail, count ? counted(count, "thread") : ""];
	return [track.process, track.tid ? `thread id ${track.tid}` : "", track.group.detail];
}

function timeLines({ kind, start, end, args }) {
	const text = [];
	if (kind === STATE || kind === RUN)
		text.push(`for ${span(end - start)}${args.open ? " or more" : ""}`);
	else if (kind !== INSTANT && kind !== LOST && kind !== COUNTER)
		text.push(`took ${span(end - start)}`);
	const word = kind === STATE || kind === RUN ? "since" : "at";
	text.push(`${word} ${span(start)}, ${wallTime(start)}`);
	return text;
}

/* Describes an item in lines of text. */
function itemLines(item) {
	if (item.kind === THREAD || item.kind === PROCESS)
		return targetLines(item).filter((line) => line);
	const text = timeLines(item), thread = item.thread || item.track;
	if (thread)
		text.push(thread.pid ? `${thread.process}, ${thread.label}` : thread.label);
	if (item.kind === STATE || item.kind === RUN)
		text.push(...stateLines(item.args, item.name === RUNNABLE ? item.start : item.end));
	else if (item.kind === CALL)
		text.push(...callLines(item.text, item.args));
	else if (item.args)
		text.push(lines(item.args, ""));
	return text.join("\n").replace(/\n+/g, "\n").split("\n");
}

/* Shortens a line, because a command line may be too long for the window. */
const cut = (text) => text.length > 1000 ? text.slice(0, 1000) + "…" : text;

function showTip(item, x, y) {
	tip.hidden = !item;
	if (!item)
		return;
	const name = document.createElement("b");
	name.textContent = item.kind === PROCESS ? item.group.title : item.text;
	tip.replaceChildren(name, itemLines(item).map(cut).join("\n"));
	tip.style.left = `${Math.max(0, Math.min(x + 14, width() - tip.offsetWidth - 4))}px`;
	tip.style.top = `${y + 18 + tip.offsetHeight > view.clientHeight ?
		Math.max(0, y - tip.offsetHeight - 8) : y + 18}px`;
}
