/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * draw.js: the time line. Bars are written into a buffer of pixels, which takes as long for a
 * million calls as for a thousand: of those that share a pixel one is drawn. Text and arcs come on
 * top by the canvas's own means.
 */
'use strict';

const RULER = 30, HEAD = 20, ROW = 16, LANE = 14, CPU_ROW = 14, LEFT = 190;
const ARCS = 400; /* drawn at once */

const rgb = (r, g, b) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
const HATCH = rgb(176, 126, 126), WAIT = rgb(240, 160, 40), WAIT_UNSURE = rgb(246, 205, 140),
	DEATH = rgb(214, 20, 40);
/* What bars stand on, by what the reader prefers; bars are pale, with dark text, on both. `other`:
 * calls that a search did not find, and other processes. */
const THEMES = {
	light: {paper: rgb(255, 255, 255), line: rgb(225, 228, 232), hatch: rgb(250, 236, 236),
		other: rgb(226, 229, 233), shade: rgb(205, 222, 255), names: '#f7f8fa',
		ruler: '#eef1f5', edge: '#c8ccd2', ink: '#222', dim: '#6a7480', death: '#d61428',
		arc: 'rgba(150, 60, 0, 0.55)'},
	dark: {paper: rgb(24, 29, 36), line: rgb(52, 60, 70), hatch: rgb(62, 40, 42),
	       other: rgb(112, 122, 134), shade: rgb(38, 58, 96), names: '#1f262f',
	       ruler: '#28313c', edge: '#46525f', ink: '#e4e8ec', dim: '#9aa6b2', death: '#ff6b78',
	       arc: 'rgba(255, 170, 90, 0.65)'},
};
const STATES = [rgb(205, 205, 205), rgb(67, 160, 71), rgb(120, 170, 240), WAIT];
const UNINTERRUPTIBLE = rgb(196, 62, 40), NOTE = rgb(30, 90, 200), THROW = rgb(214, 20, 40);

function hashOf(text) {
	let hash = 2166136261;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	return hash >>> 0;
}

/* Pale, so that black text can be read, and never the colour of waits. */
function colourOf(text) {
	const hash = hashOf(text), hue = 75 + hash % 270, light = 0.74 + (hash >>> 12) % 9 / 100;
	const part = (n) => {
		const k = (n + hue / 30) % 12, a = 0.5 * Math.min(light, 1 - light);
		return Math.round(255 * (light - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	};
	return rgb(part(0), part(8), part(4));
}

class Picture {
	constructor(canvas, trace) {
		this.canvas = canvas;
		this.context = canvas.getContext('2d', {alpha: false});
		this.trace = trace;
		this.colours = Uint32Array.from(trace.functions, (one) => colourOf(one[0]));
		this.shown = this.colours; /* others while a search dims what it did not find */
		this.theme = THEMES.light;
		this.exact = null; /* [width, height] of the canvas, device pixels, where they are told */
		this.range();
		this.from = this.first;
		this.length = this.all;
		this.top = 0;
		this.selected = null; /* {thread, call} or another thing that has details */
		this.area = null;     /* [from, to] */
		this.frame = 0;       /* ms that the last one took */
		this.blocks = [];
		this.layout();
	}

	/* All times that there is something at. */
	range() {
		const facts = this.trace.facts;
		let low = 0, high = Math.max(facts.last, facts.end, 1);
		for (const {slices, last, facts: {start}} of this.trace.threads) {
			high = Math.max(high, last);
			low = Math.min(low, start || 0);
			if (slices && slices.count) {
				low = Math.min(low, slices.begin[0]);
				high = Math.max(high, slices.end[slices.count - 1]);
			}
		}
		this.low = low;
		this.high = Math.max(high, facts.end_latest || 0);
		/* Of what is lost before it, and of how much later it may have died, as much as
		 * shows that something is. */
		const last = Math.max(facts.last, facts.end, 100);
		this.all = Math.max(last, Math.min(facts.end_latest || 0, last * 1.25)) * 1.04;
		this.first = -this.all / 52;
	}

	/* ---- what stands where ---- */

	layout() {
		const blocks = this.blocks = [];
		let y = 0;
		const add = (block) => {
			blocks.push({...block, y});
			y += block.height;
		};
		if (this.trace.cpus.length)
			add({kind: 'cpus', height: HEAD + this.trace.cpus.length * CPU_ROW});
		if (this.trace.facts.switched.length)
			add({kind: 'switched',
			     height: HEAD + this.trace.facts.switched.length * LANE});
		for (const thread of this.order()) {
			const rows = this.rowsOf(thread), more = thread.rows > rows;
			const below = thread.folded ? 0
						    : thread.lanes * LANE + rows * ROW + (more ? LANE : 0);
			add({kind: 'thread', thread, rows, more, height: HEAD + below + 4});
		}
		this.height = y;
	}
	rowsOf(thread) {
		return thread.folded ? 0 : Math.min(thread.rows, thread.limit);
	}
	/* The one that died first. */
	order() {
		const death = this.trace.facts.death, tid = death ? death.tid : 0;
		const there = this.trace.threads.filter((one) => one.facts.there);
		const died = there.filter((one) => tid && one.tid === tid).pop();
		return died ? [died, ...there.filter((one) => one !== died)] : there;
	}

	/* As many pixels as the screen has for it, so that none is blurred. */
	resize() {
		const ratio = window.devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
		const near = this.exact && Math.abs(this.exact[0] - box.width * ratio) < 1 &&
			Math.abs(this.exact[1] - box.height * ratio) < 1;
		const [width, height] = near ? this.exact
			: [Math.max(1, Math.round(box.width * ratio)), Math.max(1, Math.round(box.height * ratio))];
		this.ratio = ratio;
		this.width = box.width;
		this.viewHeight = box.height;
		this.left = Math.round(LEFT * ratio);
		this.ruler = Math.round(RULER * ratio);
		if (this.image && this.canvas.width === width && this.canvas.height === height)
			return;
		this.canvas.width = width;
		this.canvas.height = height;
		this.image = this.context.createImageData(width, height);
		this.pixels = new Uint32Array(this.image.data.buffer);
	}

	/* CSS pixels ↔ times */
	xOf(t) {
		return (this.left + (t - this.from) / this.length * (this.canvas.width - this.left)) /
			this.ratio;
	}
	tOf(x) {
		return this.from + (x * this.ratio - this.left) / (this.canvas.width - this.left) *
			this.length;
	}
	/* CSS pixels to where a pixel of the screen begins. */
	crisp(x) {
		return Math.round(x * this.ratio) / this.ratio;
	}
	/* On top of the bars: device pixels. */
	box(x0, y0, x1, y1, colour) {
		const {context} = this;
		context.setTransform(1, 0, 0, 1, 0, 0);
		context.fillStyle = colour;
		context.fillRect(x0, y0, x1 - x0, y1 - y0);
		context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
	}
	put(text, x, y, colour) {
		this.context.fillStyle = colour;
		this.context.fillText(shown(text), this.crisp(x), this.crisp(y));
	}

	/* ---- bars ---- */

	/* Device pixels, cut to what lies below the ruler and right of the names. */
	fill(x0, y0, x1, y1, colour) {
		const width = this.canvas.width, pixels = this.pixels;
		x0 = Math.max(x0, this.left);
		x1 = Math.min(x1, width);
		y0 = Math.max(y0, this.ruler);
		y1 = Math.min(y1, this.canvas.height);
		if (x0 >= x1)
			return;
		if (x1 - x0 === 1) {
			for (let at = y0 * width + x0; y0 < y1; y0++, at += width)
				pixels[at] = colour;
			return;
		}
		for (; y0 < y1; y0++)
			pixels.fill(colour, y0 * width + x0, y0 * width + x1);
	}
	hatch(x0, y0, x1, y1, on, off, apart) {
		const width = this.canvas.width, step = Math.round((apart || 8) * this.ratio);
		const thick = Math.max(1, Math.round(this.ratio));
		x0 = Math.max(x0, this.left);
		x1 = Math.min(x1, width);
		y0 = Math.max(y0, this.ruler);
		y1 = Math.min(y1, this.canvas.height);
		if (off)
			this.fill(x0, y0, x1, y1, off);
		for (let y = y0; y < y1; y++)
			for (let x = x0 + (step - (x0 + y) % step) % step; x < x1; x += step)
				this.pixels.fill(on, y * width + x, y * width + Math.min(x + thick, x1));
	}
	device(t) {
		const x = this.left + (t - this.from) * this.scale;
		return Math.floor(Math.max(-1, Math.min(x, this.canvas.width + 1)));
	}
	/* One row of bars that do not overlap, [at, to) of the lists; colour and text by index. */
	bars(y, height, begin, end, at, to, colour, text, edges) {
		const until = this.from + this.length, y0 = this.y(y), y1 = this.y(y + height);
		at = firstAbove(end, this.from, at, to);
		/* What ends just where the picture begins has its pixel. */
		while (at < to && begin[at] < until) {
			const x0 = Math.max(this.device(begin[at]), this.left);
			const x1 = Math.max(this.device(end[at]), x0 + 1), wide = x1 - x0;
			this.fill(x0, y0, wide > 3 ? x1 - 1 : x1, y1, colour(at));
			if (text && wide > 22 * this.ratio)
				this.label(text(at), x0, y, wide);
			if (edges && wide > 8)
				edges(at, x0, x1 - 1, y0, y1);
			at++;
			if (wide === 1)
				at = gallop(end, this.from + (x1 - this.left) / this.scale, at, to);
		}
	}
	label(text, x, y, wide, colour) {
		this.labels.push([text, x / this.ratio + 3, y + 11 - this.top + RULER,
				  wide / this.ratio - 5, colour || '#111']);
	}
	y(y) {
		return Math.round((y - this.top + RULER) * this.ratio);
	}
	isSeen(y, height) {
		return y + height > this.top && y < this.top + this.viewHeight - RULER;
	}

	/* ---- a frame ---- */

	draw() {
		const begun = performance.now();
		this.resize();
		this.clamp();
		this.labels = [];
		this.arcs = []; /* a heap: the one of the shortest wait first */
		this.wakes = 0;
		this.scale = (this.canvas.width - this.left) / this.length;
		this.pixels.fill(this.theme.paper);
		if (this.area)
			this.fill(this.device(this.area[0]), this.ruler, this.device(this.area[1]) + 1,
				  this.canvas.height, this.theme.shade);
		for (const block of this.blocks)
			if (this.isSeen(block.y, block.height))
				this['draw_' + block.kind](block);
		this.allOff();
		this.death();
		this.context.putImageData(this.image, 0, 0);
		this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		this.drawTexts();
		this.drawArcs();
		this.drawSelected();
		this.drawRuler();
		this.drawNames();
		this.frame = performance.now() - begun;
	}
	clamp() {
		const most = (this.high - this.low) * 1.2 + 100;
		this.length = Math.min(Math.max(this.length, 20), most);
		this.from = Math.min(Math.max(this.from, this.low - this.length * 0.9),
				     this.high - this.length * 0.1);
		this.top = Math.max(0, Math.min(this.top, this.height + 40 - (this.viewHeight - RULER)));
	}

	draw_cpus(block) {
		this.trace.cpus.forEach((cpu, i) => {
			const y = block.y + HEAD + i * CPU_ROW;
			if (this.isSeen(y, CPU_ROW))
				this.bars(y, CPU_ROW - 2, cpu.begin, cpu.end, 0, cpu.begin.length,
					  (at) => this.threadColour(cpu.tid[at]),
					  (at) => this.threadName(cpu.tid[at]));
		});
	}
	threadColour(tid) {
		this.tids = this.tids || new Map(this.trace.threads.map((one) => [one.tid, one]));
		const one = this.tids.get(tid);
		return one ? colourOf(one.name + one.tid) : this.theme.other;
	}
	threadName(tid) {
		this.tasks = this.tasks || new Map(this.trace.facts.tasks);
		return `${this.tasks.get(tid) || ''} ${tid}`;
	}

	/* [begin, end, on_begin, on_end]: what is null is not known, or has not happened. */
	offRange([begin, end, , on]) {
		return [begin === null ? this.low : begin,
			on === null ? (begin === null ? end : this.high) : on];
	}
	draw_switched(block) {
		this.trace.facts.switched.forEach((one, i) => {
			const y = block.y + HEAD + i * LANE;
			if (this.isSeen(y, LANE))
				for (const off of one.off)
					this.hatchTimes(this.offRange(off), y, LANE - 2);
		});
	}
	hatchTimes([from, to], y, height) {
		const x0 = this.device(from), x1 = Math.max(this.device(to), x0 + 2);
		if (to >= this.from && from <= this.from + this.length)
			this.hatch(x0, this.y(y), x1, this.y(y + height), HATCH, this.theme.hatch);
	}
	/* Everything was off: over all that is there. */
	allOff() {
		for (const off of this.trace.facts.all_off) {
			const [from, to] = this.offRange(off);
			this.hatch(this.device(from), 0, this.device(to), this.canvas.height, HATCH);
		}
	}
	/* It died between the two; the later one is Infinity where nothing bounds it. */
	deathTimes() {
		const {end, end_latest: latest} = this.trace.facts;
		return [end, latest === undefined ? end : latest === null ? Infinity : latest];
	}
	death() {
		const [earliest, latest] = this.deathTimes(), x = this.device(earliest);
		if (this.trace.facts.death && latest > earliest)
			this.hatch(x, 0, this.device(latest), this.canvas.height, HATCH);
		if (this.trace.facts.death)
			this.fill(x, 0, x + Math.max(2, Math.round(2 * this.ratio)),
				  this.canvas.height, DEATH);
	}

	draw_thread(block) {
		const thread = block.thread;
		this.fill(this.left, this.y(block.y), this.canvas.width, this.y(block.y) + 1,
			  this.theme.line);
		this.lost(block);
		this.states(block);
		if (!thread.folded) {
			this.drawSpans(block);
			this.drawRows(block);
		}
		this.drawPoints(block);
	}
	/* History that is missing, and what was before it. */
	lost(block) {
		const {thread} = block, {facts} = thread, height = block.height - 4;
		if (!facts.whole && facts.first !== null)
			this.hatchTimes([facts.start === null ? this.low : facts.start, facts.first],
					block.y + 2, height);
		let at = firstAbove(thread.gapEnds, this.from, 0, thread.gaps.length);
		while (at < thread.gaps.length && thread.gaps[at].t < this.from + this.length) {
			const {t, end} = thread.gaps[at];
			this.hatchTimes([t, end], block.y + 2, height);
			at = gallop(thread.gapEnds, Math.max(end, t + 2 / this.scale), at + 1,
				    thread.gaps.length);
		}
	}
	states(block) {
		const {slices} = block.thread;
		if (!slices)
			return;
		this.bars(block.y + 12, 6, slices.begin, slices.end, 0, slices.count,
			  (at) => slices.how[at] === 68 ? UNINTERRUPTIBLE : STATES[slices.state[at]]);
		this.collectArcs(block);
	}
	/* The waits that another thread ended. Of too many, those that were waited for longest. */
	collectArcs({thread}) {
		const {wakes} = thread, until = this.from + this.length;
		for (let at = firstAbove(wakes.t, this.from, 0, wakes.t.length);
		     at < wakes.t.length && wakes.t[at] < until; at++) {
			this.wakes++;
			if (this.arcs.length < ARCS)
				this.arcs.push({thread, at, ns: wakes.ns[at]});
			else if (wakes.ns[at] > this.arcs[0].ns)
				this.arcs[0] = {thread, at, ns: wakes.ns[at]};
			else
				continue;
			if (this.arcs.length === ARCS)
				this.sift();
		}
	}
	/* The heap again; when the last one came, of all. */
	sift() {
		const {arcs} = this;
		if (!arcs.heap) {
			arcs.heap = true;
			arcs.sort((a, b) => a.ns - b.ns);
			return;
		}
		for (let at = 0, least; (least = 2 * at + 1) < ARCS; at = least) {
			if (least + 1 < ARCS && arcs[least + 1].ns < arcs[least].ns)
				least++;
			if (arcs[at].ns <= arcs[least].ns)
				return;
			[arcs[at], arcs[least]] = [arcs[least], arcs[at]];
		}
	}
	drawSpans(block) {
		block.thread.laneBars.forEach(({list, begin, end}, lane) => {
			const y = block.y + HEAD + lane * LANE;
			if (this.isSeen(y, LANE))
				this.bars(y, LANE - 3, begin, end, 0, list.length,
					  (at) => colourOf(list[at].name), (at) => list[at].name);
			this.bars(y, 1, begin, end, 0, list.length, () => NOTE);
		});
	}
	drawRows(block) {
		const {thread} = block, names = this.trace.labels;
		const top = block.y + HEAD + thread.lanes * LANE;
		const colour = (at) => this.shown[thread.func[at]];
		const about = thread.beginIn;
		const text = (at) => (about && (about[at] || thread.endIn[at]) ? '~' : '') +
			names[thread.func[at]];
		/* An end that is known within an interval only is torn. */
		const torn = (at, x0, x1, y0, y1) => {
			if (about[at])
				this.hatch(x0, y0, x0 + 3, y1, this.theme.paper, 0, 4);
			if (thread.endIn[at])
				this.hatch(x1 - 3, y0, x1, y1, this.theme.paper, 0, 4);
		};
		for (let row = 0; row < block.rows; row++) {
			const y = top + row * ROW;
			if (!this.isSeen(y, ROW))
				continue;
			this.bars(y, ROW - 1, thread.begin, thread.end, thread.starts[row],
				  thread.starts[row + 1], colour, text, about && torn);
			this.open(thread, row, y);
			this.waits(thread.waitRows[row], y);
		}
		if (block.more)
			this.label(`${thread.rows - block.rows} deeper levels: click the thread's name`,
				   this.left, top + block.rows * ROW - 2, this.canvas.width, this.theme.dim);
	}
	/* What did not return is open up to the end, as far as anybody knows. */
	open(thread, row, y) {
		const at = thread.starts[row + 1] - 1, end = this.trace.facts.end;
		if (at < thread.starts[row] || !(thread.flags[at] & OPEN) || thread.facts.end !== null)
			return;
		const x0 = Math.max(this.device(thread.end[at]), this.left), x1 = this.device(end);
		this.hatch(x0, this.y(y), x1, this.y(y + ROW - 1), this.shown[thread.func[at]]);
	}
	waits(list, y) {
		const until = this.from + this.length, y0 = this.y(y + 12), y1 = this.y(y + ROW - 1);
		let at = list ? firstWait(list, this.from) : 0, last = -1;
		for (; list && at < list.length && list[at].t < until; at++) {
			const {t, end, certain, ready} = list[at], colour = ready ? STATES[READY] : WAIT;
			const x0 = this.device(t), x1 = Math.max(this.device(end), x0 + 1);
			if (x1 <= last)
				continue;
			if (certain)
				this.fill(x0, y0, x1, y1, colour);
			else
				this.hatch(x0, y0, x1, y1, colour, WAIT_UNSURE);
			last = x1;
		}
	}
	drawPoints({thread, y}) {
		const times = thread.pointTimes, until = this.from + this.length;
		const half = Math.round(3 * this.ratio), top = this.y(y + 2);
		let at = firstAbove(times, this.from - 1, 0, times.length);
		while (at < times.length && times[at] <= until) {
			const x = this.device(times[at]), kind = thread.points[at].kind;
			for (let i = 0; i <= half * 2; i++) /* a triangle that points down */
				this.fill(x - half + (i >> 1), top + i, x + half + 1 - (i >> 1), top + i + 1,
					  kind < 2 || kind === 8 ? THROW : NOTE);
			at = gallop(times, this.from + (x + 3 - this.left) / this.scale, at + 1, times.length);
		}
	}

	/* ---- on top ---- */

	drawTexts() {
		const context = this.context, unit = this.charWidth();
		context.textBaseline = 'alphabetic';
		context.direction = 'ltr';
		for (const [text, x, y, width, colour] of this.labels) {
			const fits = Math.floor(width / unit);
			if (fits > 1)
				this.put(text.length > fits ? cutMiddle(text, fits) : text, x, y, colour);
		}
	}
	charWidth() {
		this.context.font = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
		if (!this.unit)
			this.unit = this.context.measureText('mmmmmmmmmm').width / 10;
		return this.unit;
	}
	drawArcs() {
		const context = this.context, at = new Map();
		for (const block of this.blocks)
			if (block.thread)
				at.set(block.thread, block);
		context.strokeStyle = context.fillStyle = this.theme.arc;
		for (const {thread, at: i} of this.arcs)
			this.arc(at.get(thread.wakes.by[i]), at.get(thread), this.xOf(thread.wakes.t[i]));
	}
	/* From who woke, to the one that was woken. */
	arc(from, to, x) {
		const context = this.context, y0 = from.y + 15 - this.top + RULER;
		const y1 = to.y + 15 - this.top + RULER, bend = Math.min(40, Math.abs(y1 - y0) / 3);
		context.beginPath();
		context.moveTo(x, y0);
		context.bezierCurveTo(x - bend, y0, x - bend, y1, x, y1);
		context.stroke();
		context.fillRect(x - 2, y1 - 2, 4, 4);
	}
	/* Where a call stands: [x, y, width], CSS pixels; null: in no row that is there. */
	placeOf(thread, call) {
		const block = this.blocks.find((one) => one.thread === thread);
		const row = depthOf(thread, call);
		if (!block || row >= block.rows)
			return null;
		const x = this.xOf(thread.begin[call]);
		return [x, block.y + HEAD + thread.lanes * LANE + row * ROW - this.top + RULER,
			Math.max(this.xOf(thread.end[call]) - x, 1)];
	}
	drawSelected() {
		const {thread, call} = this.selected || {};
		const place = thread && call >= 0 ? this.placeOf(thread, call) : null;
		if (!place || place[1] < RULER - ROW)
			return;
		const thick = Math.round(2 * this.ratio), {ink} = this.theme;
		const x0 = Math.max(this.device(thread.begin[call]), this.left - thick);
		const x1 = Math.max(this.device(thread.end[call]), x0 + 2 * thick);
		const y0 = Math.round(place[1] * this.ratio), y1 = Math.round((place[1] + ROW - 1) * this.ratio);
		if (x1 <= this.left)
			return;
		this.box(x0, y0, x1, y0 + thick, ink);
		this.box(x0, y1 - thick, x1, y1, ink);
		this.box(x0, y0, x0 + thick, y1, ink);
		this.box(x1 - thick, y0, x1, y1, ink);
	}
	drawRuler() {
		const step = niceStep(this.length / (this.width - LEFT) * 110), {theme} = this;
		const unit = Math.max(1, Math.round(this.ratio));
		this.box(0, 0, this.canvas.width, this.ruler, theme.ruler);
		for (let t = Math.ceil(this.from / step) * step; t < this.from + this.length; t += step) {
			const x = this.device(t);
			this.box(x, this.ruler - 8 * unit, x + unit, this.ruler, theme.ink);
			this.put(timeText(t, step), x / this.ratio + 3, 13, theme.ink);
		}
		if (this.area)
			this.drawArea();
		if (this.trace.facts.death)
			this.drawDeath();
		this.box(0, 0, this.left, this.ruler, theme.ruler);
		this.put(`${timeText(this.length)} in view`, 6, 18, theme.ink);
	}
	drawArea() {
		const [from, to] = this.area, x0 = this.device(from), x1 = this.device(to);
		this.box(x0, Math.round(16 * this.ratio), Math.max(x0 + 1, x1), this.ruler,
			 'rgba(60, 110, 230, 0.35)');
		this.put(timeText(to - from), Math.max(x0 / this.ratio, LEFT) + 3, 27, this.theme.ink);
	}
	drawDeath() {
		const [earliest, latest] = this.deathTimes(), signal = this.trace.facts.death.text.replace(/ .*/, '');
		const later = latest === Infinity ? ', here or later'
			: latest > earliest ? `, here or up to ${timeText(latest - earliest)} later` : '';
		const fits = (text) => text.length * this.charWidth() + 8 <= this.width - LEFT;
		const text = fits(signal + later) ? signal + later : signal;
		const x = this.xOf(earliest), width = text.length * this.charWidth() + 8;
		const left = this.crisp(Math.max(LEFT, Math.min(x, this.width - width)));
		if (x > this.width || this.xOf(latest) < LEFT)
			return;
		this.context.fillStyle = '#d61428';
		this.context.fillRect(left, this.crisp(15), this.crisp(width), this.crisp(15));
		this.put(text, left + 4, 26, '#fff');
	}
	drawNames() {
		const context = this.context;
		this.box(0, this.ruler, this.left, this.canvas.height, this.theme.names);
		context.save();
		context.beginPath();
		context.rect(0, RULER, LEFT, this.viewHeight);
		context.clip();
		for (const block of this.blocks)
			if (this.isSeen(block.y, block.height))
				this.drawName(block, block.y - this.top + RULER);
		context.restore();
		this.box(this.left - 1, this.ruler, this.left, this.canvas.height, this.theme.edge);
	}
	drawName(block, y) {
		const fits = Math.floor((LEFT - 14) / this.charWidth());
		const put = (text, at, colour) => {
			this.put(text.length > fits ? cutMiddle(text, fits) : text, 6, at,
				 colour || this.theme.ink);
		};
		if (block.kind === 'thread') {
			const {thread} = block, death = this.trace.facts.death;
			const died = death && death.tid && death.tid === thread.tid;
			put(`${thread.folded ? '▸' : '▾'} ${thread.name || 'thread'} ${thread.tid || ''}`,
			    y + 14, died ? this.theme.death : '');
			if (!thread.folded && block.height > HEAD + 16)
				put(`  ${number(thread.count)} calls`, y + 29, this.theme.dim);
		} else if (block.kind === 'cpus') {
			put('CPUs', y + 14, this.theme.dim);
			this.trace.cpus.forEach((cpu, i) =>
				put(`  CPU ${cpu.number}`, y + HEAD + i * CPU_ROW + 11, this.theme.dim));
		} else {
			put('switched off', y + 14, this.theme.dim);
			this.trace.facts.switched.forEach((one, i) =>
				put(`  ${one.name}`, y + HEAD + i * LANE + 11, this.theme.dim));
		}
	}

	/* ---- what lies under the pointer ---- */

	/* {thread, call}, {thread, point}, {thread, slice}, {cpu, at}, {thread}, … or null. */
	pick(x, y) {
		const at = y - RULER + this.top;
		const block = this.blocks.find((one) => at >= one.y && at < one.y + one.height);
		if (!block || y < RULER)
			return null;
		if (x < LEFT)
			return {block, thread: block.thread, name: true};
		const inside = at - block.y, near = this.length / (this.width - LEFT) * 2;
		const t = this.tOf(x);
		if (block.kind === 'cpus')
			return this.pickCpu(Math.floor((inside - HEAD) / CPU_ROW), t, near);
		if (block.kind === 'switched')
			return this.pickSwitched(Math.floor((inside - HEAD) / LANE), t);
		return inside < HEAD ? this.pickHead(block, inside, t, near)
				     : this.pickBelow(block, inside - HEAD, t, near);
	}
	pickCpu(row, t, near) {
		const cpu = this.trace.cpus[row];
		const at = cpu ? pickBar(cpu.begin, cpu.end, 0, cpu.begin.length, t, near) : -1;
		return at < 0 ? null : {cpu, at};
	}
	pickSwitched(row, t) {
		const one = this.trace.facts.switched[row];
		const off = one && one.off.find((o) => this.offRange(o)[0] <= t && this.offRange(o)[1] >= t);
		return off ? {switched: one, off} : null;
	}
	pickHead({thread}, inside, t, near) {
		const point = inside < 12 && thread.points.find((one) => Math.abs(one.t - t) < near * 2);
		if (point)
			return {thread, point};
		const {slices} = thread;
		const slice = slices ? pickBar(slices.begin, slices.end, 0, slices.count, t, near) : -1;
		return slice >= 0 ? {thread, slice} : this.pickGap(thread, t);
	}
	pickGap(thread, t) {
		const gap = thread.gaps.find((one) => one.t <= t && one.end >= t);
		const {facts} = thread;
		if (gap)
			return {thread, gap};
		return !facts.whole && facts.first !== null && t < facts.first ? {thread, before: true}
									       : null;
	}
	pickBelow(block, inside, t, near) {
		const {thread} = block, lane = Math.floor(inside / LANE);
		if (lane < thread.lanes) {
			const span = thread.spans.find((one) => one.lane === lane && one.t <= t + near &&
						       (one.end === null || one.end >= t - near));
			return span ? {thread, span} : null;
		}
		const row = Math.floor((inside - thread.lanes * LANE) / ROW);
		const call = row < block.rows ? pickBar(thread.begin, thread.end, thread.starts[row],
							thread.starts[row + 1], t, near)
					      : -1;
		return call >= 0 ? {thread, call} : this.pickGap(thread, t);
	}

	/* ---- moving ---- */

	zoom(factor, x) {
		const t = this.tOf(x), length = this.length * factor;
		this.from = t - (t - this.from) * factor;
		this.length = length;
	}
	show(from, to) {
		const length = Math.max(to - from, 20);
		this.from = from - length * 0.15;
		this.length = length * 1.3;
	}
	/* Makes a call be seen, changing as little as that takes. */
	reveal(thread, call) {
		const row = depthOf(thread, call), t = thread.begin[call];
		thread.folded = false;
		thread.limit = Math.max(thread.limit, row + 1);
		this.layout();
		if (t < this.from || t > this.from + this.length * 0.9)
			this.from = t - this.length * 0.3;
		const block = this.blocks.find((one) => one.thread === thread);
		const y = block.y + HEAD + thread.lanes * LANE + row * ROW;
		if (y < this.top + ROW || y > this.top + this.viewHeight - RULER - ROW * 3)
			this.top = y - this.viewHeight / 3;
	}
}

/* The bar at a time, or the nearest that is not far; -1: none. */
function pickBar(begin, end, from, to, t, near) {
	const at = firstAbove(end, t, from, to);
	if (at < to && begin[at] <= t)
		return at;
	if (at > from && t - end[at - 1] <= near)
		return at - 1;
	return at < to && begin[at] - t <= near ? at : -1;
}

/* The first that ends after a time. */
function firstWait(list, t) {
	let at = 0, to = list.length;
	while (at < to) {
		const middle = at + to >>> 1;
		if (list[middle].end > t)
			to = middle;
		else
			at = middle + 1;
	}
	return at;
}

/* ---- numbers and names for people ---- */

/* What cannot be seen, or turns the order of what follows it, as its number: names are whatever a
 * program says. */
function shown(text) {
	return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
			    (one) => `<U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`);
}

function niceStep(least) {
	const unit = 10 ** Math.floor(Math.log10(Math.max(least, 1e-3)));
	return [1, 2, 5, 10].find((n) => n * unit >= least) * unit;
}

/* "1.234567 ms"; with a step: as many digits as tell neighbours apart. */
function timeText(ns, step) {
	const size = Math.abs(ns);
	const [unit, name] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms']
		: size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
	let digits = unit === 1 ? 0 : 3;
	if (step)
		digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit / step) - 1e-9)));
	return `${(ns / unit).toFixed(digits)} ${name}`;
}

function number(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

function cutMiddle(text, length) {
	const head = Math.ceil((length - 1) / 2);
	return text.slice(0, head) + '…' + text.slice(text.length - (length - 1 - head));
}
