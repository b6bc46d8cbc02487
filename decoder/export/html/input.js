/* SPDX-License-Identifier: BSD-2-Clause */
/* input.js: mouse, keys, touch, the search and the link; then it all begins. */
'use strict';

/* ---- searching ---- */

class Search {
	constructor(app) {
		this.app = app;
		this.text = '';
		this.found = null; /* by function: 1 */
		this.moments = []; /* notes and spans: {t, thread, point or span} */
		this.at = null;    /* the hit that was gone to */
	}
	/* A function of texts; null: none. An expression that makes no sense is a text. */
	matcher(text) {
		const parts = /^\/(.+)\/$/.exec(text);
		try {
			const expression = parts && new RegExp(parts[1], 'i');
			if (expression)
				return (one) => expression.test(one);
		} catch {
			/* below */
		}
		const small = text.toLowerCase();
		return (one) => one.toLowerCase().includes(small);
	}
	set(text) {
		byId('search').value = text;
		this.run(text);
		this.app.panel.open('search');
	}
	run(text) {
		const {trace, picture, panel} = this.app;
		this.text = text;
		this.at = null;
		this.moments = [];
		this.found = null;
		picture.shown = picture.colours;
		byId('hits').textContent = '';
		if (!text) {
			panel.put('search', el('p', {className: 'dim', textContent: 'Nothing is searched for.'}));
		} else {
			this.look(this.matcher(text));
			this.colour();
			this.list();
		}
		this.app.changed();
	}
	colour() {
		const {picture} = this.app, {other} = picture.theme;
		if (this.found)
			picture.shown = picture.colours.map((one, i) => this.found[i] ? HIT_OF(one) : other);
	}
	look(matches) {
		const {trace} = this.app;
		this.found = Uint8Array.from(trace.functions, (one) =>
			matches(one[0]) || (one[4] && matches(one[4])) ? 1 : 0);
		this.counts = new Uint32Array(trace.functions.length);
		for (const thread of trace.threads) {
			for (let i = 0; i < thread.count; i++)
				this.counts[thread.func[i]] += thread.flags[i] & RESUMED ? 0 : 1;
			for (const point of thread.points)
				if (matches(point.text))
					this.moments.push({t: point.t, thread, point});
			for (const span of thread.spans)
				if (matches(span.name))
					this.moments.push({t: span.t, thread, span});
		}
		this.moments.sort((a, b) => a.t - b.t);
	}
	list() {
		const {trace, panel} = this.app, list = [];
		let calls = 0;
		for (let i = 0; i < this.found.length; i++)
			if (this.found[i]) {
				calls += this.counts[i];
				list.push(i);
			}
		const spans = this.moments.filter((one) => one.span).length;
		const text = `${number(calls)} calls of ${number(list.length)} functions, ` +
			`${number(this.moments.length - spans)} notes, ${number(spans)} spans`;
		byId('hits').textContent = text;
		list.sort((a, b) => this.counts[b] - this.counts[a]);
		const rows = list.slice(0, 300).map((i) => [
			link(trace.labels[i], () => this.only(i)), number(this.counts[i])]);
		const notes = this.moments.slice(0, 300).map((one) => [
			link((one.point || one.span).text || (one.point || one.span).name,
			     () => this.app.select(one, true)), timeText(one.t, 1)]);
		panel.put('search', el('p', {textContent: text}),
			  table(rows, 'list', ['function', 'calls']),
			  notes.length ? table(notes, 'list', ['note or span', 'at']) : null);
	}
	/* Goes to the next call of that one. */
	only(func) {
		this.found.fill(0);
		this.found[func] = 1;
		this.moments = [];
		this.go(1);
	}
	/* From the hit before, else from what is selected, else from the left edge. */
	go(step) {
		if (!this.found)
			return;
		const {selected, from} = this.app.picture;
		const at = this.at || (selected && selected.thread && selected.call >= 0 ? this.placeOf(selected)
			: {t: step > 0 ? from : from + this.app.picture.length, thread: -1, call: -1});
		const hit = this.nearest(at, step);
		if (!hit) {
			this.app.status(step > 0 ? 'no hit after this' : 'no hit before this');
			return;
		}
		this.app.select(hit, true);
		this.at = this.placeOf(hit);
	}
	placeOf(hit) {
		const moment = hit.point || hit.span;
		return {t: moment ? moment.t : hit.thread.begin[hit.call], thread: hit.thread.index,
			call: moment ? -2 : hit.call};
	}
	nearest(at, step) {
		let best = null;
		const offer = (hit) => {
			const place = this.placeOf(hit);
			if (order(place, at) * step > 0 &&
			    (!best || order(place, this.placeOf(best)) * step < 0))
				best = hit;
		};
		for (const thread of this.app.trace.threads)
			for (let row = 0; row < thread.rows; row++)
				this.offerRow(thread, row, at, step, offer);
		for (const moment of this.moments)
			offer(moment);
		return best;
	}
	/* Those that may come first, of a row; calls of one time are not many. */
	offerRow(thread, row, at, step, offer) {
		const {begin, func} = thread, low = thread.starts[row], high = thread.starts[row + 1];
		let i = step > 0 ? firstAbove(begin, at.t - 1, low, high)
				 : firstAbove(begin, at.t, low, high) - 1;
		for (let first = null; i >= low && i < high; i += step) {
			if (first !== null && begin[i] !== first)
				return;
			if (!this.found[func[i]])
				continue;
			offer({thread, call: i});
			if (begin[i] !== at.t)
				first = begin[i];
		}
	}
}

function order(a, b) {
	return a.t - b.t || a.thread - b.thread || a.call - b.call;
}

/* Its colour, but stronger. */
function HIT_OF(colour) {
	const part = (shift) => Math.max(0, (colour >>> shift & 255) - 70);
	return rgb(Math.min(255, part(0) + 90), part(8), part(16)) >>> 0;
}

/* ---- the whole ---- */

class App {
	constructor(trace) {
		const there = trace.threads.filter((one) => one.facts.there);
		this.trace = trace;
		for (const thread of there)
			thread.limit = there.length <= 8 ? 64 : 12;
		this.picture = new Picture(byId('canvas'), trace);
		this.panel = new Panel(this);
		this.search = new Search(this);
		this.pointers = new Map();
		this.due = false;
		this.listen();
		this.name();
		this.restore();
		this.dress();
	}
	name() {
		const {facts} = this.trace, program = facts.program.replace(/.*\//, '');
		document.title = shown(`${program} ${facts.pid}${facts.death ? `: ${facts.death.text}` : ''}`);
		byId('name').textContent = document.title;
	}
	changed() {
		if (this.due)
			return;
		this.due = true;
		requestAnimationFrame(() => {
			this.due = false;
			this.picture.draw();
			this.status();
			clearTimeout(this.saving);
			this.saving = setTimeout(() => this.save(), 250);
		});
	}
	status(text) {
		const {picture, trace} = this, drawn = picture.arcs.length, status = byId('status');
		const words = text || `${number(trace.calls)} calls of ` +
			`${number(trace.functions.length)} functions in ` +
			`${number(trace.threads.filter((one) => one.facts.there).length)} threads` +
			(picture.wakes > drawn ? ` · arcs of the ${number(drawn)} longest waits that were ended, ` +
			 `${number(picture.wakes - drawn)} not drawn: zoom in` : '') + ' · ? for keys';
		if (status.textContent !== words)
			status.textContent = words;
	}
	/* For those who do not see the picture. */
	say(text) {
		byId('said').textContent = shown(text || '');
	}
	dress() {
		const dark = matchMedia('(prefers-color-scheme: dark)').matches && !this.printing;
		this.picture.theme = dark ? THEMES.dark : THEMES.light;
		this.search.colour();
		this.changed();
	}
	print(on) {
		this.printing = on;
		this.dress();
		this.picture.draw();
	}

	/* ---- what is selected ---- */

	select(what, reveal) {
		const {picture} = this;
		picture.selected = what;
		if (reveal && what.call >= 0)
			picture.reveal(what.thread, what.call);
		else if (reveal && what.thread)
			this.revealTime(what);
		this.panel.details(what);
		this.say(this.tipText(what));
		this.changed();
	}
	revealTime({thread, point, span}) {
		const {picture} = this, t = (point || span).t;
		if (t < picture.from || t > picture.from + picture.length)
			picture.from = t - picture.length * 0.3;
		this.scrollTo(thread);
	}
	scrollTo(thread) {
		const {picture} = this, block = picture.blocks.find((one) => one.thread === thread);
		if (block && (block.y < picture.top || block.y > picture.top + picture.viewHeight - 80))
			picture.top = block.y;
	}
	showThread(thread) {
		const block = this.picture.blocks.find((one) => one.thread === thread);
		if (block)
			this.picture.top = block.y;
		this.changed();
	}
	/* The times of what is selected; null: none. */
	times() {
		const {selected} = this.picture;
		if (!selected)
			return this.picture.area;
		const {thread, call, span, slice} = selected;
		if (call >= 0)
			return [thread.begin[call], thread.end[call]];
		if (slice >= 0)
			return [thread.slices.begin[slice], thread.slices.end[slice]];
		return span ? [span.t, span.end === null ? this.trace.facts.end : span.end] : null;
	}
	setArea(from, to) {
		this.picture.area = [from, to];
		this.panel.selection(from, to);
		this.changed();
	}
	fold(thread) {
		if (thread.folded) {
			thread.folded = false;
			thread.limit = Infinity;
		} else if (thread.limit < Math.min(thread.rows, 12)) {
			thread.limit = 12;
		} else if (thread.limit === Infinity || thread.rows <= thread.limit) {
			thread.folded = true;
			thread.limit = 12;
		} else {
			thread.limit = Infinity;
		}
		this.picture.layout();
		this.changed();
	}

	/* ---- the link ---- */

	save() {
		const {picture} = this, {selected} = picture, round = (n) => Math.round(n * 10) / 10;
		const parts = [`t=${round(picture.from)},${round(picture.length)}`];
		if (picture.top)
			parts.push(`y=${Math.round(picture.top)}`);
		if (selected && selected.thread && selected.call >= 0)
			parts.push(`call=${selected.thread.serial},${selected.call}`);
		if (picture.area)
			parts.push(`area=${round(picture.area[0])},${round(picture.area[1])}`);
		if (this.search.text)
			parts.push(`q=${encodeURIComponent(this.search.text)}`);
		this.saved = `#${parts.join('&')}`;
		if (location.hash !== this.saved)
			history.replaceState(null, '', this.saved);
	}
	restore() {
		const given = new URLSearchParams(location.hash.slice(1)), {picture} = this;
		const numbers = (key) => (given.get(key) || '').split(',').map(Number);
		const pair = (key) => given.has(key) && numbers(key).length === 2 &&
			numbers(key).every(Number.isFinite) ? numbers(key) : null;
		const time = pair('t'), area = pair('area'), call = pair('call');
		picture.resize();
		if (given.get('q')) {
			byId('search').value = given.get('q');
			this.search.run(given.get('q'));
		}
		if (area && area[1] > area[0])
			this.setArea(area[0], area[1]);
		const thread = call && this.trace.threads.find((one) => one.serial === call[0]);
		if (thread && Number.isInteger(call[1]) && call[1] >= 0 && call[1] < thread.count)
			this.select({thread, call: call[1]}, true);
		if (time && time[1] > 0)
			[picture.from, picture.length] = time;
		if (given.has('y'))
			picture.top = Number(given.get('y')) || 0;
	}

	/* ---- listening ---- */

	listen() {
		const {canvas} = this.picture;
		canvas.addEventListener('pointerdown', (event) => this.down(event));
		canvas.addEventListener('pointermove', (event) => this.move(event));
		canvas.addEventListener('pointerup', (event) => this.up(event));
		canvas.addEventListener('pointercancel', (event) => this.pointers.delete(event.pointerId));
		canvas.addEventListener('pointerleave', () => this.tip(null));
		canvas.addEventListener('dblclick', () => this.key('f'));
		canvas.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
		window.addEventListener('keydown', (event) => this.pressed(event));
		window.addEventListener('hashchange', () => {
			if (location.hash !== this.saved) {
				this.restore();
				this.changed();
			}
		});
		this.watchSize(canvas);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.dress());
		window.addEventListener('beforeprint', () => this.print(true));
		window.addEventListener('afterprint', () => this.print(false));
		byId('search').addEventListener('input', (event) => this.search.run(event.target.value));
		byId('search').addEventListener('focus', () => this.panel.open('search'));
		byId('next').onclick = () => this.search.go(1);
		byId('previous').onclick = () => this.search.go(-1);
		byId('whole').onclick = () => this.key('0');
		byId('end').onclick = () => this.key('e');
		byId('side').onclick = () => this.key('p');
	}
	/* The screen's own pixels, where the browser tells them: with a ratio of 1.25 they are no whole
	 * number of ours. */
	watchSize(canvas) {
		const observer = new ResizeObserver(([{devicePixelContentBoxSize: sizes}]) => {
			if (sizes)
				this.picture.exact = [sizes[0].inlineSize, sizes[0].blockSize];
			this.changed();
		});
		try {
			observer.observe(canvas, {box: 'device-pixel-content-box'});
		} catch {
			observer.observe(canvas);
		}
		this.watchRatio();
	}
	/* The window went to another screen, or the page was zoomed. */
	watchRatio() {
		this.changed();
		matchMedia(`(resolution: ${devicePixelRatio}dppx)`)
			.addEventListener('change', () => this.watchRatio(), {once: true});
	}
	place(event) {
		const box = this.picture.canvas.getBoundingClientRect();
		return [event.clientX - box.left, event.clientY - box.top];
	}
	down(event) {
		const [x, y] = this.place(event);
		this.picture.canvas.setPointerCapture(event.pointerId);
		this.picture.canvas.focus({preventScroll: true});
		this.pointers.set(event.pointerId, [x, y]);
		const area = this.pointers.size === 1 && x > LEFT && (event.shiftKey || y < RULER);
		this.drag = {x, y, moved: this.pointers.size > 1, area: area ? this.picture.tOf(x) : null};
		this.tip(null);
	}
	move(event) {
		const [x, y] = this.place(event), before = this.pointers.get(event.pointerId);
		if (!before || !this.drag) {
			this.hover(x, y, event);
			return;
		}
		if (Math.abs(x - this.drag.x) + Math.abs(y - this.drag.y) > 4)
			this.drag.moved = true;
		if (this.pointers.size === 2)
			this.pinch(event.pointerId, x, y);
		else if (this.drag.area !== null && this.drag.moved)
			this.stretch(x);
		else if (this.drag.moved)
			this.pan(before[0] - x, before[1] - y);
		this.pointers.set(event.pointerId, [x, y]);
	}
	up(event) {
		const [x, y] = this.place(event), drag = this.drag;
		this.pointers.delete(event.pointerId);
		if (!drag || this.pointers.size)
			return;
		this.drag = null;
		if (!drag.moved)
			this.click(x, y);
		else if (drag.area !== null)
			this.setArea(...this.picture.area);
	}
	stretch(x) {
		const t = this.picture.tOf(Math.max(x, LEFT));
		this.picture.area = [Math.min(t, this.drag.area), Math.max(t, this.drag.area)];
		this.changed();
	}
	pan(dx, dy) {
		const {picture} = this;
		picture.from += dx / (picture.width - LEFT) * picture.length;
		picture.top += dy;
		this.changed();
	}
	pinch(id, x, y) {
		const [other] = [...this.pointers].filter(([one]) => one !== id).map(([, place]) => place);
		const before = this.pointers.get(id), {picture} = this;
		const was = Math.max(20, Math.hypot(before[0] - other[0], before[1] - other[1]));
		const is = Math.max(20, Math.hypot(x - other[0], y - other[1]));
		picture.zoom(was / is, (x + other[0]) / 2);
		this.pan((before[0] - x) / 2, (before[1] - y) / 2);
	}
	click(x, y) {
		const what = this.picture.pick(x, y);
		if (what && what.name && what.thread)
			this.fold(what.thread);
		else if (what && !what.name)
			this.select(what, false);
		else if (y < RULER)
			this.key('Escape');
	}
	wheel(event) {
		const unit = event.deltaMode === 1 ? 16 : 1, {picture} = this;
		event.preventDefault();
		if (event.ctrlKey || event.metaKey)
			picture.zoom(Math.exp(event.deltaY * unit * 0.002), this.place(event)[0]);
		else if (event.shiftKey)
			this.pan((event.deltaX || event.deltaY) * unit, 0);
		else
			this.pan(event.deltaX * unit, event.deltaY * unit);
		this.changed();
	}

	/* ---- what lies under the pointer ---- */

	hover(x, y, event) {
		const what = this.picture.pick(x, y);
		this.tip(what && this.tipText(what), event);
	}
	tipText({thread, call, point, span, slice, gap, cpu, at, switched}) {
		if (call >= 0)
			return `${this.trace.labels[thread.func[call]]}\n` +
				`${timeText(thread.end[call] - thread.begin[call])}` +
				(thread.beginIn && (thread.beginIn[call] || thread.endIn[call]) ? ' (~)' : '') +
				(thread.flags[call] & OPEN ? ', did not return' : '');
		if (point)
			return `${POINTS[point.kind] || 'stray return'}: ${point.text}`;
		if (slice >= 0)
			return `${['not known', 'on a CPU', 'ready', 'waits'][thread.slices.state[slice]]} ` +
				timeText(thread.slices.end[slice] - thread.slices.begin[slice]);
		if (cpu)
			return this.picture.threadName(cpu.tid[at]);
		return span ? span.name : gap ? gap.why : switched ? `${switched.name}: off` : null;
	}
	tip(text, event) {
		const tip = byId('tip');
		tip.style.display = text ? 'block' : 'none';
		if (!text)
			return;
		tip.textContent = shown(text.length > 600 ? cutMiddle(text, 600) : text);
		tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
		tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
	}

	/* ---- keys ---- */

	pressed(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.target === byId('search')) {
			if (event.key === 'Enter')
				this.search.go(event.shiftKey ? -1 : 1);
			if (event.key === 'Escape' || event.key === 'Enter')
				this.picture.canvas.focus({preventScroll: true});
			return;
		}
		if (!this.isTheirs(event) && this.key(event.key))
			event.preventDefault();
	}
	/* Buttons are pressed, and pages scrolled, by keys of ours. */
	isTheirs({target, key}) {
		const {canvas} = this.picture;
		return target !== canvas && target !== document.body &&
			(key === 'Enter' || key === ' ' || (/^(Arrow|Page|Home|End)/.test(key) &&
							    byId('panel').contains(target)));
	}
	/* Whether it is one of ours. */
	key(key) {
		const {picture} = this, page = picture.viewHeight - 60;
		const middle = LEFT + (picture.width - LEFT) / 2, step = (picture.width - LEFT) * 0.1;
		const keys = {
			w: () => picture.zoom(0.75, middle), s: () => picture.zoom(1 / 0.75, middle),
			'+': () => picture.zoom(0.75, middle), '-': () => picture.zoom(1 / 0.75, middle),
			a: () => this.pan(-step, 0), d: () => this.pan(step, 0),
			ArrowLeft: () => this.pan(-step, 0), ArrowRight: () => this.pan(step, 0),
			ArrowUp: () => this.pan(0, -40), ArrowDown: () => this.pan(0, 40),
			PageUp: () => this.pan(0, -page), PageDown: () => this.pan(0, page),
			f: () => this.times() && picture.show(...this.times()),
			m: () => this.times() && this.setArea(...this.times()),
			0: () => [picture.from, picture.length] = [picture.first, picture.all],
			Home: () => [picture.from, picture.length] = [picture.first, picture.all],
			e: () => picture.from = this.trace.facts.end - picture.length * 0.9,
			'/': () => byId('search').focus(),
			n: () => this.search.go(1), N: () => this.search.go(-1), Enter: () => this.search.go(1),
			'[': () => this.neighbour(-1), ']': () => this.neighbour(1), u: () => this.caller(),
			i: () => this.callee(), t: () => this.nextThread(1), T: () => this.nextThread(-1),
			o: () => this.foldSelected(),
			p: () => document.body.classList.toggle('narrow'),
			'?': () => this.panel.open('keys'), Escape: () => this.nothing(),
		};
		if (!keys[key])
			return false;
		keys[key]();
		this.changed();
		return true;
	}
	neighbour(step) {
		const {thread, call} = this.picture.selected || {}, row = call >= 0 ? depthOf(thread, call) : 0;
		if (!(call >= 0))
			this.nextThread(0);
		else if (call + step >= thread.starts[row] && call + step < thread.starts[row + 1])
			this.select({thread, call: call + step}, true);
	}
	callee() {
		const {thread, call} = this.picture.selected || {};
		if (!(call >= 0))
			this.nextThread(0);
		else if (calleesOf(thread, call)[1] > calleesOf(thread, call)[0])
			this.select({thread, call: calleesOf(thread, call)[0]}, true);
	}
	/* The outermost call in the middle of what is seen, or the one that is nearest; 0: of this
	 * thread, or of the first that is in view. */
	nextThread(step) {
		const {picture} = this, {selected, blocks, top} = picture;
		const list = blocks.filter((one) => one.thread), at = list.findIndex((one) =>
			selected && selected.thread ? one.thread === selected.thread : one.y + one.height > top);
		const from = selected && selected.thread ? at + step : at, block = list[from];
		if (!block)
			return;
		const {thread} = block, {starts} = thread, past = starts[1] || 0;
		const call = Math.min(firstAbove(thread.end, picture.from + picture.length / 2, 0, past), past - 1);
		this.select({thread, call, before: call < 0}, call >= 0);
		this.scrollTo(thread);
		this.say(`${thread.name || 'thread'} ${thread.tid || ''}: ${call < 0 ? 'no calls'
			: this.tipText({thread, call})}`);
	}
	foldSelected() {
		const {thread} = this.picture.selected || {};
		if (thread)
			this.fold(thread);
	}
	caller() {
		const {thread, call} = this.picture.selected || {};
		if (call >= 0 && thread.parent[call] >= 0)
			this.select({thread, call: thread.parent[call]}, true);
	}
	nothing() {
		this.picture.selected = this.picture.area = null;
		this.panel.open('report');
	}
}

readTrace().then((trace) => {
	window.epitaph = new App(trace);
	document.documentElement.dataset.state = 'ready';
	document.documentElement.dataset.ms = Math.round(performance.now());
}).catch((error) => {
	document.documentElement.dataset.state = 'failed';
	byId('status').textContent = shown(`This file cannot be shown: ${error.message}`);
	byId('status').className = 'warn';
});
