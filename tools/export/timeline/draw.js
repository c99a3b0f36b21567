/* SPDX-License-Identifier: MIT */
/* Draws the visible part of the tracks. */

const ARROWS = 400;	/* wake-ups drawn as arrows; more would hide the rest */

function drawAxis() {
	const wanted = (to - from) / Math.max(1, (width() - LABELS) / 110);
	let step = 10 ** Math.floor(Math.log10(wanted));
	step *= [1, 2, 5, 10].find((factor) => step * factor >= wanted) || 10;
	paint.fillStyle = style.paper;
	paint.fillRect(LABELS, 0, width(), AXIS);
	for (let time = Math.ceil(from / step) * step, i = 0; time <= to && i < 200;
	     time += step, i++) {
		const x = Math.round(toX(time)) + 0.5;
		paint.strokeStyle = style.line;
		paint.beginPath();
		paint.moveTo(x, AXIS - 6);
		paint.lineTo(x, view.clientHeight);
		paint.stroke();
		paint.fillStyle = style.faint;
		paint.fillText(axisText(time, step), x + 3, AXIS / 2);
	}
}

function drawText(text, x, y, room) {
	if (room < 12)
		return;
	paint.save();
	paint.beginPath();
	paint.rect(x, y, room - 2, ROW);
	paint.clip();
	paint.fillText(text, x + 3, y + ROW / 2);
	paint.restore();
}

function visiblePart({ start, end }) {
	return [Math.max(toX(start), LABELS), Math.min(toX(end), width())];
}

/* ---- Items ---- */

function drawMark(x, y) {
	paint.beginPath();
	paint.moveTo(x, y + 2);
	paint.lineTo(x + 5, y + ROW / 2);
	paint.lineTo(x, y + ROW - 2);
	paint.lineTo(x - 5, y + ROW / 2);
	paint.fill();
}

function drawValue(row, item, x, y, room) {
	const scale = (row.high - row.low) / (CURVE - 2) || 1;
	const zero = y + CURVE - 1 + row.low / scale, size = (item.value || 0) / scale;
	paint.fillRect(x, Math.min(zero, zero - size) - 1, Math.max(room, 1), Math.abs(size) + 1);
}

function drawBar(row, item, x, y, room) {
	paint.fillRect(x, y + 1, Math.max(room, 1), ROW - 2);
	if (row.kind === ASYNC) {
		paint.fillStyle = style.paper;
		paint.fillRect(x, y + ROW - 5, Math.max(room, 1), 2);
	}
	paint.fillStyle = "#10151c";
	drawText(item.text, x, y, room);
}

function drawFrame(row, x, y, room) {
	const mark = row.kind === INSTANT;
	paint.globalAlpha = 1;
	paint.strokeStyle = style.ink;
	paint.lineWidth = 2;
	paint.strokeRect(x - (mark ? 6 : 0), y + 1, mark ? 12 : Math.max(room, 2), row.height - 2);
	paint.lineWidth = 1;
}

/*
 * Draws at most one item per pixel and skips other small items. During a search, draws matches and
 * other items separately, so that matches are not hidden.
 */
function drawRow(row, y) {
	const pixel = (to - from) / (width() - LABELS), drawn = [-1, -1];
	for (let i = row.find(from); i < row.items.length && row.start[i] <= to;) {
		const item = row.items[i], hit = item.hit ? 1 : 0;
		const x = Math.max(toX(item.start), LABELS);
		const right = row.kind === INSTANT ? x : Math.min(toX(item.end), width());
		i++;
		if (right - x < 1) {
			if (!query)
				i = Math.max(i, row.find(item.start + pixel));
			else if (Math.floor(x) === drawn[hit])
				continue;
			drawn[hit] = Math.floor(x);
		}
		paint.globalAlpha = hit ? 1 : 0.18;
		paint.fillStyle = colour(item);
		if (row.kind === INSTANT)
			drawMark(x, y);
		else if (row.kind === COUNTER)
			drawValue(row, item, x, y, right - x);
		else
			drawBar(row, item, x, y, right - x);
		if (item === hovered || item === selected || item === matches[match])
			drawFrame(row, x, y, right - x);
	}
	paint.globalAlpha = 1;
}

/*
 * Draws a strip of states, each at least a pixel wide. If states share a pixel, draws the one with
 * the most time in it.
 */
function drawStates(row, y) {
	let drawn = LABELS;
	for (let i = row.find(from); i < row.items.length && row.start[i] <= to;) {
		const item = row.items[i], right = Math.min(toX(item.end), width());
		let x = Math.max(toX(item.start), drawn), next = i + 1;
		if (right - x < 1) {
			x = Math.floor(x);
			drawn = x + 1;
			next = Math.max(next, row.find(toTime(drawn)));
		}
		paint.fillStyle = style[STATE_COLOURS[row.longest(i, next)]];
		paint.fillRect(x, y + 1, Math.max(right - x, 1), STRIP - 2);
		i = next;
	}
	for (const item of [hovered, selected]) {
		if (!item || item.kind !== STATE || item.track !== row.track)
			continue;
		const [x, right] = visiblePart(item);
		paint.strokeStyle = style.ink;
		paint.strokeRect(x, y + 0.5, Math.max(right - x, 2), STRIP - 1);
	}
	row.irqs.forEach((irqs) => drawIrqs(irqs, y + STRIP / 2));
}

/* Interrupts took their time from the state drawn above them. */
function drawIrqs(row, y) {
	const pixel = (to - from) / (width() - LABELS);
	paint.fillStyle = style.irq;
	for (let i = row.find(from); i < row.items.length && row.start[i] <= to;) {
		const item = row.items[i], x = Math.max(toX(item.start), LABELS);
		const room = Math.min(toX(item.end), width()) - x;
		paint.globalAlpha = !item.hit ? 0.18 : room < 1 ? 0.5 : 1;
		paint.fillRect(x, y, Math.max(room, 1), STRIP / 2 - 1);
		i = room >= 1 || query ? i + 1 :
			Math.max(i + 1, row.find(Math.max(item.start, from) + pixel));
	}
	paint.globalAlpha = 1;
}

/* ---- Tracks ---- */

function drawLabel(target, text, x, y, room) {
	const found = query && target.hit;
	paint.fillStyle = found ? style.accent : style.ink;
	paint.globalAlpha = query && !found ? 0.5 : 1;
	if (target === matches[match] || target === hovered)
		paint.font = "bold 11px system-ui, sans-serif";
	drawText(text, x, y, room);
	paint.font = "11px system-ui, sans-serif";
	paint.globalAlpha = 1;
}

/* Shows between which values a curve is drawn. */
function drawScale(row, track, y) {
	const texts = [[row.high, y + 6], [row.low, y + CURVE - 6]];
	paint.fillStyle = style.faint;
	paint.textAlign = "right";
	for (const [value, at] of texts)
		paint.fillText(valueText(value, track.unit), LABELS - 4, at);
	paint.textAlign = "left";
}

function drawTrack(track, band) {
	const top = AXIS + track.top - scroll, bottom = AXIS + track.bottom - scroll;
	if (bottom < AXIS || top > view.clientHeight)
		return;
	const inRange = range && range.tracks.includes(track);
	paint.fillStyle = inRange ? style.accent : band ? style.band : style.paper;
	paint.globalAlpha = inRange ? 0.08 : 0.5;
	paint.fillRect(LABELS, top - GAP / 4, width(), bottom - top);
	paint.globalAlpha = 1;
	paint.save();
	paint.beginPath();
	paint.rect(LABELS, AXIS, width() - LABELS, view.clientHeight - AXIS);
	paint.clip();
	for (const row of track.rows)
		(row.kind === STATE ? drawStates : drawRow)(row, top + row.top);
	paint.restore();
	const curve = track.rows.find((row) => row.kind === COUNTER);
	drawLabel(track.target, track.label, INDENT, top - 2, LABELS - INDENT - (curve ? 50 : 2));
	if (curve)
		drawScale(curve, track, top);
}

function drawHead(group) {
	const y = AXIS + group.top - scroll;
	if (y + HEAD < AXIS || y > view.clientHeight)
		return;
	paint.fillStyle = style.head;
	paint.fillRect(0, y, width(), HEAD - 2);
	const title = `${group.closed ? "▸" : "▾"} ${group.title}`;
	paint.font = "bold 11px system-ui, sans-serif";
	const room = Math.min(paint.measureText(title).width + 10, width() / 2);
	drawLabel(group.target, title, 0, y - 1, room);
	paint.fillStyle = style.faint;
	drawText(group.detail, room, y - 1, width() - room);
}

function drawTracks() {
	let open = 0;
	for (const group of groups) {
		drawHead(group);
		if (group.closed)
			continue;
		group.tracks.forEach((track, i) => drawTrack(track, i % 2));
		open += group.tracks.length;
	}
	document.body.dataset.tracks = open;
}

/* ---- Over the tracks ---- */

/* Returns the middle of the states of a thread, or of the head of its group if that is closed. */
function middle(track) {
	const row = track.strip, y = AXIS - scroll + track.top;
	return y + (track.group.closed ? HEAD / 2 : row ? row.top + STRIP / 2 : track.height / 2);
}

function drawArrow({ time, from: waker, to: woken }) {
	const x = Math.round(toX(time)) + 0.5, start = middle(waker), end = middle(woken);
	const down = end > start ? 1 : -1;
	if (start === end)
		return;
	paint.beginPath();
	paint.moveTo(x, start);
	paint.lineTo(x, end);
	paint.stroke();
	paint.beginPath();
	paint.moveTo(x, end);
	paint.lineTo(x - 3, end - 6 * down);
	paint.lineTo(x + 3, end - 6 * down);
	paint.fill();
}

/* Draws the wake-ups, or only those of the thread under the pointer if there are too many. */
function drawArrows() {
	let visible = arrows.slice(firstAtLeast(arrowTimes, from), firstAtLeast(arrowTimes, to));
	const all = visible.length, thread = hovered && (hovered.thread || hovered.track);
	if (all > ARROWS)
		visible = visible.filter((arrow) => arrow.from === thread || arrow.to === thread);
	if (visible.length > ARROWS)
		visible = [];
	paint.strokeStyle = paint.fillStyle = style.accent;
	paint.globalAlpha = 0.8;
	visible.forEach(drawArrow);
	paint.globalAlpha = 1;
	document.body.dataset.arrows = visible.length;
	byId("wakes").textContent = visible.length === all ? "→ wake-up" :
		`→ ${all} wake-ups: zoom in, or point at a thread`;
}

function drawPath() {
	paint.strokeStyle = style.path;
	paint.lineWidth = 3;
	let last = null;
	for (const step of path) {
		if (step.end < from || step.start > to || !step.track)
			continue;
		const y = middle(step.track) + STRIP / 2 + 1;
		const [x, right] = visiblePart(step);
		paint.beginPath();
		if (last !== null && last !== y)
			paint.moveTo(x, last);
		else
			paint.moveTo(x, y);
		paint.lineTo(x, y);
		paint.lineTo(Math.max(right, x + 1), y);
		paint.stroke();
		last = y;
	}
	paint.lineWidth = 1;
}

function drawRange(shown) {
	if (!shown)
		return;
	const x = Math.max(toX(shown.from), LABELS), right = Math.min(toX(shown.to), width());
	if (right < x)
		return;
	paint.fillStyle = paint.strokeStyle = style.accent;
	paint.globalAlpha = 0.12;
	paint.fillRect(x, 0, right - x, view.clientHeight);
	paint.globalAlpha = 1;
	paint.strokeRect(x + 0.5, -1, Math.max(right - x, 1), view.clientHeight + 2);
}

function drawLost() {
	let free = LABELS;
	for (const item of lost) {
		const x = Math.round(toX(item.start)) + 0.5;
		if (x < LABELS || x > width())
			continue;
		paint.strokeStyle = style.lost;
		paint.setLineDash([4, 3]);
		paint.beginPath();
		paint.moveTo(x, AXIS);
		paint.lineTo(x, view.clientHeight);
		paint.stroke();
		paint.setLineDash([]);
		if (x > free) {
			paint.fillStyle = style.lost;
			paint.fillText(item.text, x + 3, view.clientHeight - 10);
			free = x + paint.measureText(item.text).width + 10;
		}
	}
}

/* ---- All ---- */

function prepare() {
	const scale = devicePixelRatio || 1, w = width(), h = view.clientHeight;
	if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
		canvas.width = Math.round(w * scale);
		canvas.height = Math.round(h * scale);
	}
	paint.setTransform(scale, 0, 0, scale, 0, 0);
	paint.textBaseline = "middle";
	paint.font = "11px system-ui, sans-serif";
	paint.fillStyle = style.paper;
	paint.fillRect(0, 0, w, h);
}

function clipped(x, y, drawInside) {
	paint.save();
	paint.beginPath();
	paint.rect(x, y, width() - x, view.clientHeight - y);
	paint.clip();
	drawInside();
	paint.restore();
}

function draw() {
	frame = 0;
	/* The height of the view may have changed. */
	scroll = Math.max(0, Math.min(scroll, height + AXIS - view.clientHeight + 20));
	prepare();
	drawAxis();
	clipped(0, AXIS, drawTracks);
	clipped(LABELS, AXIS, () => {
		drawPath();
		drawArrows();
		drawLost();
	});
	clipped(LABELS, 0, () => drawRange(drawing || range));
	paint.strokeStyle = style.line;
	paint.strokeRect(LABELS + 0.5, -1, width(), view.clientHeight + 2);
	Object.assign(document.body.dataset, { from, to, scroll });
}

function redraw() {
	frame ||= requestAnimationFrame(draw);
}
