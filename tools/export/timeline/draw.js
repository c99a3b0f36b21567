/* SPDX-License-Identifier: MIT */
/* Draws the visible part of the tracks. */

const width = () => view.clientWidth;
const toX = (time) => LABELS + (time - from) / (to - from) * (width() - LABELS);
const toTime = (x) => from + (x - LABELS) / (width() - LABELS) * (to - from);

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
		if (row.kind === INSTANT) {
			paint.beginPath();
			paint.moveTo(x, y + 2);
			paint.lineTo(x + 5, y + ROW / 2);
			paint.lineTo(x, y + ROW - 2);
			paint.lineTo(x - 5, y + ROW / 2);
			paint.fill();
		} else if (row.kind === COUNTER) {
			const scale = (row.high - row.low) / (ROW - 2) || 1;
			const zero = y + ROW - 1 + row.low / scale, size = (item.value || 0) / scale;
			paint.fillRect(x, Math.min(zero, zero - size) - 1, Math.max(right - x, 1),
				       Math.abs(size) + 1);
		} else {
			paint.fillRect(x, y + 1, Math.max(right - x, 1), ROW - 2);
			if (row.kind === ASYNC) {
				paint.fillStyle = style.paper;
				paint.fillRect(x, y + ROW - 5, Math.max(right - x, 1), 2);
			}
			paint.fillStyle = "#10151c";
			drawText(item.text, x, y, right - x);
		}
		if (item === hovered || item === matches[match]) {
			paint.globalAlpha = 1;
			paint.strokeStyle = style.ink;
			paint.lineWidth = 2;
			paint.strokeRect(x - (row.kind === INSTANT ? 6 : 0), y + 1,
					 row.kind === INSTANT ? 12 : Math.max(right - x, 2), ROW - 2);
			paint.lineWidth = 1;
		}
	}
	paint.globalAlpha = 1;
}

/*
 * Draws a strip of states, each at least a pixel wide. If states share a pixel, draws the one with the
 * most time in it.
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
	if (hovered && hovered.kind === STATE && hovered.track === row.track) {
		const x = Math.max(toX(hovered.start), LABELS), right = Math.min(toX(hovered.end), width());
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

function drawLost() {
	paint.font = "11px system-ui, sans-serif";
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

function draw() {
	frame = 0;
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
	drawAxis();
	paint.save();
	paint.beginPath();
	paint.rect(0, AXIS, w, h - AXIS);
	paint.clip();
	tracks.forEach((track, i) => {
		const top = AXIS + track.top - scroll, bottom = AXIS + track.bottom - scroll;
		if (bottom < AXIS || top > h)
			return;
		paint.fillStyle = i % 2 ? style.band : style.paper;
		paint.globalAlpha = 0.5;
		paint.fillRect(LABELS, top - GAP / 2, w, bottom - top + GAP / 2);
		paint.globalAlpha = 1;
		paint.save();
		paint.beginPath();
		paint.rect(LABELS, AXIS, w - LABELS, h - AXIS);
		paint.clip();
		for (const row of track.rows)
			(row.kind === STATE ? drawStates : drawRow)(row, top + row.top);
		paint.restore();
		paint.fillStyle = style.ink;
		drawText(track.label, 6, top - 2, LABELS - 8);
		paint.fillStyle = style.faint;
		drawText(track.process, 6, top + LINE, LABELS - 8);
	});
	drawLost();
	paint.restore();
	paint.strokeStyle = style.line;
	paint.strokeRect(LABELS + 0.5, -1, w, h + 2);
	document.body.dataset.from = from;
	document.body.dataset.to = to;
	document.body.dataset.scroll = scroll;
}

function redraw() {
	frame ||= requestAnimationFrame(draw);
}
