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

function callLines({ args, result, unfinished, ...others }) {
	return [`arguments: ${args.join(", ")}`, unfinished ? "no exit in the log" : `result: ${result}`,
		lines(others, "")];
}

/* Finds the last thread with these ids before a time. */
function findTrack(pid, tid, time) {
	return (byTid.get(`${pid} ${tid}`) || []).filter((track) => track.first <= time).pop();
}

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

function lines(args, indent) {
	return Object.entries(args).filter(([key]) => key !== "units").map(([key, value]) =>
		key === "fields" ? fieldLines(value, indent, args.units || {}, "") :
		typeof value === "object" ? `${indent}${key}:\n${lines(value, indent + "  ")}` :
			`${indent}${key}: ${value}`).join("\n");
}

function showTip(item, x, y) {
	tip.hidden = !item;
	if (!item)
		return;
	const name = document.createElement("b"), text = [];
	name.textContent = item.text;
	if (item.kind === STATE)
		text.push(`for ${span(item.end - item.start)}${item.args.open ? " or more" : ""}`);
	else if (item.kind !== INSTANT && item.kind !== LOST && item.kind !== COUNTER)
		text.push(`took ${span(item.end - item.start)}`);
	text.push(`${item.kind === STATE ? "since" : "at"} ${span(item.start)}, ${wallTime(item.start)}`);
	if (item.track)
		text.push(item.track.pid ? `${item.track.process}, ${item.track.label}` : item.track.label);
	if (item.kind === STATE)
		text.push(...stateLines(item.args, item.name === RUNNABLE ? item.start : item.end));
	else if (item.kind === CALL)
		text.push(...callLines(item.args));
	else if (item.args)
		text.push(lines(item.args, ""));
	tip.replaceChildren(name, text.join("\n").replace(/\n+/g, "\n"));
	tip.style.left = `${Math.max(0, Math.min(x + 14, view.clientWidth - tip.offsetWidth - 4))}px`;
	tip.style.top = `${y + 18 + tip.offsetHeight > view.clientHeight ?
		Math.max(0, y - tip.offsetHeight - 8) : y + 18}px`;
}
