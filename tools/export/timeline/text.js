/* SPDX-License-Identifier: MIT */
/* Numbers and times as text. */

const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

function span(ns) {
	const [unit, name] = units.find(([unit]) => Math.abs(ns) >= unit) || units[3];
	return `${Number((ns / unit).toPrecision(6))} ${name}`;
}

function shortSpan(ns) {
	const [unit, name] = units.find(([unit]) => Math.abs(ns) >= unit) || units[3];
	return `${Number((ns / unit).toPrecision(4))} ${name}`;
}

function axisText(ns, step) {
	const [unit, name] = units.find(([unit]) => step >= unit) || units[3];
	const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
	return `${(ns / unit).toFixed(Math.min(digits, 9))} ${name}`;
}

/* data.first is too large for an exact Number: use BigInt. */
function wallTime(ns) {
	const time = BigInt(data.first) + BigInt(Math.round(ns));
	const date = new Date(Number(time / 1000000n));
	if (Number.isNaN(date.getTime()))
		return `${time} ns`;
	const fraction = (time % 1000000000n + 1000000000n) % 1000000000n;
	return date.toISOString().replace(/\.\d+Z$/, "." + String(fraction).padStart(9, "0") + "Z");
}

function valueText(value, unit) {
	return `${Number(value.toPrecision(6))}${unit ? ` ${unit}` : ""}`;
}

function counted(count, what) {
	return `${count} ${what}${count === 1 ? "" : "s"}`;
}
