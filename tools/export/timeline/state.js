/* SPDX-License-Identifier: MIT */
/* What the page shows now. */

let from = whole[0], to = whole[1], scroll = 0;
let query = "", matches = [], match = -1;
let hovered = null, selected = null, frame = 0;
/* { from, to, tracks } drawn with the mouse: complete, or not yet */
let range = null, drawing = null;
let path = [];			/* the critical path of the selected item: { start, end, track } */
let style = {};

function readStyle() {
	const css = getComputedStyle(document.documentElement);
	for (const name of ["paper", "ink", "faint", "line", "band", "accent", "lost", "irq",
			    "path", "head", ...STATE_COLOURS])
		style[name] = css.getPropertyValue("--" + name).trim();
}

/* Steps of the golden angle give consecutive names very different colours. */
const colour = (item) => `hsl(${item.name * 137.508 % 360} 55% 70%)`;

const width = () => view.clientWidth;
const toX = (time) => LABELS + (time - from) / (to - from) * (width() - LABELS);
const toTime = (x) => from + (x - LABELS) / (width() - LABELS) * (to - from);
