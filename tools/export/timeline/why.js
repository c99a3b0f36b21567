/* SPDX-License-Identifier: MIT */
/* Why a scope or system call took so long: the results of "posixtrace why" for the slowest ones. */

const SMALL = 200;	/* parts of less than this fraction of the whole are shown as one */

const keyOf = (thread, start, length, scope) => `${thread} ${start} ${length} ${scope}`;
const whys = new Map();		/* objects of why --json, by thread, time and name */
for (const [thread, start, length, answer] of data.why ? data.why.instances : [])
	whys.set(keyOf(thread, start, length, answer.scope), answer);

const slowest = new Map();	/* lists of explained items, by name */

function whyOf(item) {
	const { start, end, text } = item;
	return whys.get(keyOf(threads.indexOf(item.track), start, end - start, text));
}

function isScope({ kind }) {
	return kind === SLICE || kind === ASYNC || kind === CALL;
}

if (whys.size) {
	const indexes = new Map(threads.map((track, i) => [track, i]));
	for (const item of items.filter(isScope)) {
		const { start, end, text } = item;
		const answer = whys.get(keyOf(indexes.get(item.track), start, end - start, text));
		if (answer)
			slowest.set(text, [...slowest.get(text) || [], { item, number: answer.number }]);
	}
	for (const list of slowest.values())
		list.sort((a, b) => a.number - b.number);
}

/* ---- The tree of parts ---- */

const number64 = (number) => Number(number);	/* large ones are strings */

function partText(part, parent) {
	const other = parent.what && part.thread && parent.thread &&
		(part.thread.tid !== parent.thread.tid || part.thread.pid !== parent.thread.pid);
	return other ? `${part.thread.name}: ${part.text}` : part.text;
}

function partRow(depth, text, ns, whole, count) {
	const what = element("td", text), percent = (100 * ns / (whole || 1)).toFixed(1);
	what.style.paddingLeft = `${depth + 1}em`;
	return element("tr", "", ...[shortSpan(ns), percent, count].map((cell) => element("td", cell)),
		       what);
}

/* A click on a part shows its longest period. */
function addPart(table, part, parent, depth, { item, whole }) {
	const isCounted = ["runnable", "blocked", "fault", "interrupt"].includes(part.what);
	const longest = number64(part.longest_ns), at = item.start + number64(part.longest_at_ns);
	const row = partRow(depth, partText(part, parent), number64(part.ns), whole,
			    isCounted ? String(part.count) : "");
	row.title = `the longest of ${part.count}: ${span(longest)} (click to show it)`;
	row.addEventListener("click", () => goTo({ start: at, end: at + longest,
						   track: trackOf(part, at) }));
	table.append(row);
	addParts(table, part, depth + 1, { item, whole });
}

/* Sums up small parts, and those that are not in the page. */
function sumSmaller({ smaller }, parts) {
	return parts.reduce((sum, { ns }) => ({ ns: sum.ns + number64(ns), count: sum.count + 1 }),
			    { ns: smaller ? number64(smaller.ns) : 0, count: smaller ? smaller.count : 0 });
}

function addParts(table, parent, depth, context) {
	const parts = parent.parts || [], least = Math.floor(context.whole / SMALL);
	const isSmall = (part) => number64(part.ns) < least && parts.length > 1;
	const { ns, count } = sumSmaller(parent, parts.filter(isSmall));
	for (const part of parts.filter((part) => !isSmall(part)))
		addPart(table, part, parent, depth, context);
	if (count)
		table.append(partRow(depth, counted(count, "smaller part"), ns, context.whole, ""));
}

function partTable(item, answer) {
	const made = emptyTable("", ["time", "%", "count", "what"]);
	made.className = "tree";
	addParts(made, answer, 0, { item, whole: number64(answer.ns) });
	return made;
}

/* ---- The critical path ---- */

function trackOf({ thread }, time) {
	return thread && findTrack(thread.pid, thread.tid, time);
}

function collectParts(parts, found) {
	for (const part of parts || []) {
		found.set(part.id, part);
		collectParts(part.parts, found);
	}
	return found;
}

function pathOf(item, answer) {
	const parts = collectParts(answer.parts, new Map());
	return answer.path.map(({ at_ns: at, ns, part }) => {
		const start = item.start + number64(at), end = start + number64(ns);
		return { start, end, track: parts.has(part) ? trackOf(parts.get(part), start) : null };
	});
}

/* ---- In the panel ---- */

/* Returns buttons for the slowest items with a name. */
function slowestButtons(text, selected) {
	return (slowest.get(text) || []).map(({ item, number }) => {
		const button = element("button", `${number}: ${span(item.end - item.start)}`);
		button.disabled = item === selected;
		button.addEventListener("click", () => {
			select(item);
			goTo(item);
		});
		return button;
	});
}

function whyNote(answer) {
	if (!data.why)
		return "Why it took so long is unknown: the log lacks the class sched.";
	const left = data.why.leftOut ? ` ${data.why.leftOut} of them did not fit into the page.` : "";
	const place = answer ? `Number ${answer.number} of the ${answer.of} slowest. ` : "";
	return `${place}The page explains the ${data.why.worst} slowest of each name; ` +
		`posixtrace why explains all.${left}`;
}

/* Returns what the panel shows about why an item took so long. */
function whyElements(item) {
	if (!isScope(item))
		return [];
	const answer = whyOf(item), made = [element("h2", "Why")];
	if (answer) {
		path = pathOf(item, answer);
		made.push(partTable(item, answer));
		if (!answer.path_complete)
			made.push(element("pre", "The critical path is drawn only in part."));
	}
	const list = element("div", "", ...slowestButtons(item.text, item));
	list.className = "slowest";
	made.push(element("pre", whyNote(answer)), list);
	return made;
}
