/* SPDX-License-Identifier: BSD-2-Clause */
/* panel.js: words beside the picture: the report, what was clicked, functions of a selection, what
 * a search found. Text gets into the document as text only. */
'use strict';

function el(tag, properties, ...children) {
	const made = Object.assign(document.createElement(tag), properties || {});
	if (made.textContent)
		made.textContent = shown(made.textContent);
	made.append(...children.filter((one) => one !== null && one !== undefined)
		.map((one) => typeof one === 'string' ? shown(one) : one));
	return made;
}

/* A button, for the keyboard gets to those. */
function link(text, action) {
	return el('button', {className: 'link', textContent: text, onclick: action});
}

const byId = (id) => document.getElementById(id);

class Panel {
	constructor(app) {
		this.app = app;
		this.pages = new Map();
		for (const name of ['Report', 'Details', 'Selection', 'Search', 'Keys']) {
			const id = name.toLowerCase();
			const page = el('div', {className: 'page', id: `page-${id}`, tabIndex: 0, role: 'tabpanel',
						ariaLabel: name});
			const tab = el('button', {textContent: name, id: `tab-${id}`, role: 'tab',
						  onclick: () => this.open(id)});
			tab.setAttribute('aria-controls', page.id);
			byId('tabs').append(tab);
			byId('pages').append(page);
			this.pages.set(id, {page, tab});
		}
		byId('tabs').addEventListener('keydown', (event) => this.turn(event));
		this.report();
		this.keys();
		this.put('details', el('p', {className: 'dim', textContent: 'Click a call.'}));
		this.put('selection', el('p', {className: 'dim',
			textContent: 'Drag with Shift, or in the ruler: the functions of that time.'}));
		this.put('search', el('p', {className: 'dim', textContent: 'Nothing is searched for.'}));
		this.open('report');
	}
	/* Tab leads to the tab that is open, arrows to the others. */
	turn(event) {
		const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
		const ids = [...this.pages.keys()], at = ids.indexOf(this.opened);
		if (!step || event.ctrlKey || event.altKey || event.metaKey)
			return;
		this.open(ids[(at + step + ids.length) % ids.length]);
		this.pages.get(this.opened).tab.focus();
		event.preventDefault();
		event.stopPropagation();
	}
	open(id) {
		this.opened = id;
		for (const [name, {page, tab}] of this.pages) {
			page.classList.toggle('on', name === id);
			tab.classList.toggle('on', name === id);
			tab.setAttribute('aria-selected', String(name === id));
			tab.tabIndex = name === id ? 0 : -1;
		}
	}
	put(id, ...children) {
		this.pages.get(id).page.replaceChildren(...children.filter((one) => one));
	}

	/* ---- the report ---- */

	report() {
		const {facts} = this.app.trace;
		const page = this.linked(facts.page || facts.report || 'There is no report.', 'report');
		const all = facts.page && facts.report
			? el('details', {id: 'more'}, el('summary', {textContent: 'all of it: every thread and frame'}),
			     this.linked(facts.report, 'report-all')) : null;
		const warnings = facts.warnings.map((text) =>
			el('div', {className: 'warn', textContent: text}));
		this.put('report', page, all, ...(facts.report ? [] : warnings));
	}
	/* Threads that are named in it are links to their rows. */
	linked(text, id) {
		const pre = el('pre', {id});
		const tids = new Map(this.app.trace.threads.map((one) => [String(one.tid), one]));
		for (const part of text.split(/(\bthread \d+)/)) {
			const thread = /^thread \d+$/.test(part) ? tids.get(part.slice(7)) : null;
			pre.append(thread && thread.facts.there
				? link(part, () => this.app.showThread(thread)) : shown(part));
		}
		return pre;
	}

	keys() {
		const rows = [
			['w s, Ctrl + wheel, pinch', 'zoom'], ['a d, ← →, drag', 'pan'],
			['↑ ↓, wheel, PageUp PageDown', 'scroll'],
			['f, double click', 'zoom to what is selected'],
			['m', 'mark what is selected as the time to sum up'],
			['Shift + drag, drag in the ruler', 'select a time: a table of its functions'],
			['0', 'everything'], ['e', 'the end'], ['/', 'search'],
			['n N, Enter', 'next hit, previous hit'],
			['[ ]', 'call before, call after, in the row'], ['u', 'its caller'],
			['i', 'the first call that it made'], ['t T', 'the thread below, above'],
			['o, click on a name', 'fold, show all levels, show some'],
			['p', 'panel'], ['Esc', 'nothing is selected'], ['?', 'this'],
		];
		const colours = [
			['#43a047', 'on a CPU'], ['#78aaf0', 'ready: waits for a CPU'],
			['#f0a028', 'waits; in a call: for certain in that call itself; striped: in it or ' +
			 'in one that it called'],
			['#c43e28', 'waits and cannot be interrupted'], ['#cdcdcd', 'not known'],
			['#b07e7e', 'hatched: history is missing, or hooks were off'],
			['#d61428', 'the end of a process that died: not before this'],
		];
		const box = (colour) => el('span', {style: `display:inline-block;width:14px;height:12px;` +
							   `background:${colour}`});
		this.put('keys', table(rows), el('h3', {textContent: 'Colours'}),
			 table(colours.map(([colour, text]) => [box(colour), text])),
			 el('h3', {textContent: 'Times'}),
			 el('p', {textContent: 'Since the first record that is left. A ~ marks what is ' +
				 'known within an interval only; its ends are told beside it. Of calls ' +
				 'that share a pixel one is drawn.'}));
	}

	/* ---- what was clicked ---- */

	details(what) {
		const page = what.call >= 0 ? this.call(what.thread, what.call)
			: what.point ? this.point(what) : what.slice >= 0 ? this.slice(what)
			: what.span ? this.span(what) : what.gap ? this.gap(what)
			: what.cpu ? this.cpu(what) : what.switched ? this.switched(what)
			: what.before ? this.before(what) : null;
		if (!page)
			return;
		this.put('details', ...page);
		this.open('details');
	}
	threadLink(thread) {
		return link(`${thread.name || 'thread'} ${thread.tid || ''}`,
			    () => this.app.showThread(thread));
	}
	/* "~1.5 ms (between 1.2 ms and 1.7 ms)" */
	when(thread, t, interval) {
		const exact = timeText(t, 1);
		if (!interval)
			return exact;
		const low = thread.low[interval - 1], high = thread.high[interval - 1];
		return high === Infinity
			? `~${exact} (not before ${timeText(low, 1)}; until when is not known)`
			: `~${exact} (between ${timeText(low, 1)} and ${timeText(high, 1)})`;
	}
	wallClock(t) {
		const zero = BigInt(this.app.trace.facts.zero_realtime_ns);
		if (!zero)
			return '';
		const ns = zero + BigInt(Math.round(t)), ms = ns / 1000000n;
		return new Date(Number(ms)).toISOString().slice(0, 19).replace('T', ' ') +
			`.${String(ns % 1000000000n).padStart(9, '0')} UTC`;
	}

	call(thread, call) {
		const {trace} = this.app, one = trace.functions[thread.func[call]];
		const flags = thread.flags[call], begin = thread.begin[call], end = thread.end[call];
		const beginIn = thread.beginIn ? thread.beginIn[call] : 0;
		const endIn = thread.endIn ? thread.endIn[call] : 0;
		const about = beginIn || endIn || flags & (BEFORE | OPEN | SWITCHED | AMBIGUOUS) ? '~' : '';
		const [first, past] = calleesOf(thread, call);
		let inner = 0;
		for (let i = first; i < past; i++)
			inner += thread.end[i] - thread.begin[i];
		for (const one of [...thread.gaps.filter((gap) => gap.call === call),
				   ...thread.waits.filter((wait) => wait.inside === call && !wait.certain)])
			inner += one.end - one.t;
		const before = flags & BEFORE;
		const rows = [
			['thread', this.threadLink(thread)],
			[before ? 'history begins' : flags & RESUMED ? 'resumed' : 'began',
			 before ? `${timeText(begin, 1)}; it began before` : this.when(thread, begin, beginIn)],
			[flags & OPEN ? 'last known of it' : flags & SUSPENDED ? 'suspended' : 'ended',
			 flags & OPEN ? `${timeText(end, 1)}; it did not return`
				: this.when(thread, end, endIn)],
			['took', `${flags & OPEN || before ? 'at least ' : about}${timeText(end - begin)}`],
			['itself', `${about}${timeText(end - begin - inner)}`],
			['time of day', this.wallClock(begin)],
			['before the end', `${about}${timeText(trace.facts.end - begin)}`],
			['module', one[1]], ...this.parts(thread, call), ...this.words(flags), ...this.spent(thread, begin, end, about),
		];
		return [el('h2', {id: 'call-name', textContent: one[0]}), table(rows),
			this.callers(thread, call), this.callees(thread, first, past),
			this.source(one), this.findAll(one[0])];
	}
	/* Of a call upon a stack that the thread left and came back to: the other bars of it. */
	parts(thread, call) {
		const parts = partsOf(thread, call), at = parts.indexOf(call);
		if (parts.length === 1)
			return [];
		const go = (words, part) => part === undefined ? []
			: [['', link(`${words} at ${timeText(thread.begin[part], 1)}`,
				     () => this.app.select({thread, call: part}, true))]];
		const ran = parts.reduce((sum, part) => sum + thread.end[part] - thread.begin[part], 0);
		return [['part', `${number(at + 1)} of ${number(parts.length)}, between which the thread was on ` +
			`other stacks; ${timeText(ran)} together`],
			...go('the part before began', parts[at - 1]), ...go('it goes on', parts[at + 1])];
	}
	words(flags) {
		const list = [
			[UNWOUND, 'left without a return, by an exception or longjmp'],
			[ABANDONED, 'left without a return'],
			[SWITCHED, 'its hooks were switched off: when it returned is not known'],
			[ACROSS_GAP, 'history is missing inside: perhaps it is another call of the function'],
			[AMBIGUOUS, 'the return may be of an outer call of it'],
			[UNSURE_WAIT, 'it may have waited, or a call near it: not known which'],
			[SUSPENDED, 'execution went on upon another stack'],
			[RESUMED, 'execution came back to this stack'],
			[OPEN, 'it did not return'],
		];
		return list.filter(([bit]) => flags & bit && !(bit === ABANDONED && flags & UNWOUND))
			.map(([, text]) => ['', el('span', {className: 'warn', textContent: text})]);
	}
	/* What the thread did meanwhile, as far as the kernel told. */
	spent(thread, from, to, about) {
		const {slices} = thread, sums = [0, 0, 0, 0];
		if (!slices)
			return [];
		for (let i = firstAbove(slices.end, from, 0, slices.count);
		     i < slices.count && slices.begin[i] < to; i++)
			sums[slices.state[i]] += Math.min(to, slices.end[i]) -
				Math.max(from, slices.begin[i]);
		const known = sums[1] + sums[2] + sums[3];
		return known ? [['meanwhile', `the thread was ${about}${timeText(sums[RUNNING])} on a CPU, ` +
			`waited ${about}${timeText(sums[BLOCKED])}, was ready ${about}${timeText(sums[READY])}` +
			(to - from - known > 1 ? `; ${timeText(to - from - known)} are not known` : '')]] : [];
	}
	callers(thread, call) {
		const list = el('div', {id: 'callers'});
		for (let at = thread.parent[call], i = 0; at >= 0 && i < 40; at = thread.parent[at], i++) {
			const here = at;
			list.append(el('div', {}, link(this.app.trace.labels[thread.func[at]],
						       () => this.app.select({thread, call: here}, true))));
		}
		return list.childNodes.length
			? el('div', {}, el('h3', {textContent: 'called by'}), list) : null;
	}
	callees(thread, first, past) {
		const sums = new Map();
		for (let i = first; i < past; i++) {
			const sum = sums.get(thread.func[i]) || {count: 0, total: 0, first: i};
			sum.count++;
			sum.total += thread.end[i] - thread.begin[i];
			sums.set(thread.func[i], sum);
		}
		if (!sums.size)
			return null;
		const rows = [...sums].sort((a, b) => b[1].total - a[1].total).slice(0, 20)
			.map(([func, sum]) => [link(this.app.trace.labels[func], () =>
				this.app.select({thread, call: sum.first}, true)),
				number(sum.count), timeText(sum.total)]);
		return el('div', {}, el('h3', {textContent: `calls (${number(past - first)})`}),
			  table(rows, 'list', ['function', 'calls', 'total']));
	}
	source([, , file, line]) {
		const one = this.app.trace.facts.files[file];
		if (!one)
			return el('p', {className: 'dim', textContent: 'No line is known.'});
		const where = el('h3', {textContent: `${one.path}${line ? `:${line}` : ''}`});
		if (one.text === undefined)
			return el('div', {}, where, el('p', {className: 'dim',
				textContent: 'Its text is not in this file: export with --sources=DIR.'}));
		const lines = one.text.split('\n'), pre = el('pre', {id: 'source'});
		const from = Math.max(0, line - 4);
		lines.slice(from, from + 44).forEach((text, i) =>
			pre.append(el('div', {className: from + i + 1 === line ? 'at' : '',
				textContent: `${String(from + i + 1).padStart(5)}  ${text}`})));
		return el('div', {}, where, pre);
	}
	findAll(name) {
		return el('p', {}, link('search all its calls', () => this.app.search.set(name)));
	}

	point({thread, point}) {
		const func = this.app.trace.functions[point.func];
		const kind = point.kind === STRAY ? 'a return that belongs to no call' : POINTS[point.kind];
		const rows = [['', kind], ['thread', this.threadLink(thread)],
			['at', this.when(thread, point.t, point.interval)],
			['time of day', this.wallClock(point.t)],
			['before the end', timeText(this.app.trace.facts.end - point.t)]];
		if (func)
			rows.push(['in', func[0]]);
		if (point.call >= 0)
			rows.push(['call', link(this.app.trace.functions[thread.func[point.call]][0], () =>
				this.app.select({thread, call: point.call}, true))]);
		return [el('h2', {textContent: point.text || kind}), table(rows)];
	}
	span({thread, span}) {
		const about = span.interval || span.endInterval ? '~' : '';
		return [el('h2', {textContent: span.name}), table([['', 'span'],
			['thread', this.threadLink(thread)],
			['began', this.when(thread, span.t, span.interval)],
			['ended', span.end === null ? 'it did not end'
						    : this.when(thread, span.end, span.endInterval)],
			['took', span.end === null ? '' : about + timeText(span.end - span.t)],
			['time of day', this.wallClock(span.t)]])];
	}
	slice({thread, slice}) {
		const {slices} = thread, state = slices.state[slice], how = slices.how[slice];
		const words = ['not known', 'on a CPU', 'ready, waits for a CPU', 'waits'];
		const begin = slices.begin[slice], end = slices.end[slice];
		const rows = [['thread', this.threadLink(thread)], ['from', timeText(begin, 1)],
			['to', timeText(end, 1) + (slices.open[slice] ? '; it had not ended then' : '')],
			['for', timeText(end - begin)]];
		if (state === RUNNING && slices.cpu[slice] >= 0)
			rows.push(['CPU', String(slices.cpu[slice])]);
		if (how)
			rows.push(['state', String.fromCharCode(how)]);
		if (state === BLOCKED && !slices.open[slice])
			rows.push(['woken by', this.waker(slices, slice)]);
		return [el('h2', {textContent: `${thread.name || 'thread'} ${words[state]}`}), table(rows)];
	}
	waker(slices, slice) {
		const tid = slices.waker[slice];
		const thread = tid && this.app.trace.threads.find((one) => one.tid === tid);
		if (thread)
			return this.threadLink(thread);
		return tid ? `${this.app.picture.threadName(tid)}, of another process`
			: ['not known', '', 'a timer or device', 'a soft interrupt'][slices.kind[slice]];
	}
	gap({thread, gap}) {
		return [el('h2', {textContent: 'history is missing'}), table([
			['thread', this.threadLink(thread)], ['why', gap.why],
			['from', timeText(gap.t, 1)], ['for', timeText(gap.end - gap.t)]])];
	}
	before({thread}) {
		return [el('h2', {textContent: 'before the history'}), table([
			['thread', this.threadLink(thread)],
			['', 'what the thread did before its first record that is left is not known'],
			['history begins', timeText(thread.facts.first, 1)]])];
	}
	cpu({cpu, at}) {
		const tid = cpu.tid[at], thread = this.app.trace.threads.find((one) => one.tid === tid);
		return [el('h2', {textContent: `CPU ${cpu.number}`}), table([
			['ran', thread ? this.threadLink(thread) : this.app.picture.threadName(tid)],
			['from', timeText(cpu.begin[at], 1)],
			['for', timeText(cpu.end[at] - cpu.begin[at])]])];
	}
	switched({switched, off}) {
		const reasons = [[1, 'by its name (epitaph_untrace)'], [2, 'it cost too much'],
			[4, 'by epitaph control']].filter(([bit]) => switched.reasons & bit);
		const time = (t) => t === null ? 'not known' : timeText(t, 1);
		return [el('h2', {textContent: switched.name}), table([
			['', 'its hooks were switched off: calls of it are missing'],
			['off between', `${time(off[0])} and ${time(off[1])}`],
			['back', off[3] === null ? 'not yet' : `between ${time(off[2])} and ${time(off[3])}`],
			['off in all', `${number(switched.times)} times`],
			['now off', reasons.map(([, text]) => text).join(', ') || 'no'],
		])];
	}

	/* ---- functions of a time ---- */

	selection(from, to, order) {
		const {sums, calls, about} = sumUp(this.app.trace, from, to);
		const key = order || 'self';
		const list = sums.filter((one) => one.count).sort((a, b) => b[key] - a[key]);
		const {functions, labels} = this.app.trace;
		const rows = list.slice(0, 300).map((one) => [
			link(labels[one.func], () => this.app.search.set(functions[one.func][0])),
			number(one.count), about + timeText(one.total), about + timeText(one.self),
			about + timeText(one.longest), one.waited ? timeText(one.waited) : '']);
		const heads = ['calls', 'total', 'self', 'longest', 'waited'].map((name) =>
			link(name, () => this.selection(from, to, name === 'calls' ? 'count' : name)));
		const made = table(rows, 'list', ['function', ...heads]);
		made.id = 'functions';
		this.put('selection',
			 el('h2', {textContent: `${timeText(to - from)} from ${timeText(from, 1)}`}),
			 el('p', {id: 'sum', textContent: `${number(calls)} calls of ` +
				 `${number(list.length)} functions, all threads. Times are cut to the ` +
				 `selection; of recursion the outermost call counts in the total.` +
				 (about ? ' Some begins and ends are known within an interval only.' : '')}),
			 made, list.length > 300 ? el('p', {textContent:
				 `${number(list.length - 300)} functions more`}) : null);
		this.open('selection');
	}
}

/* Rows of texts or elements. */
function table(rows, className, heads) {
	const made = el('table', {className: className || ''});
	if (heads)
		made.append(el('tr', {}, ...heads.map((head) => el('th', {scope: 'col'}, head))));
	for (const row of rows)
		made.append(el('tr', {}, ...row.map((cell, i) =>
			el(!heads && i === 0 && row.length === 2 ? 'th' : 'td', {}, cell))));
	return made;
}

/* By function: calls that reach into the time, what of it they took, and took themselves. What is
 * missing is nobody's own, nor is a wait of which it is not certain whose it is. */
function sumUp(trace, from, to) {
	const sums = trace.functions.map((_, func) =>
		({func, count: 0, total: 0, self: 0, longest: 0, waited: 0}));
	let calls = 0, about = '';
	for (const thread of trace.threads) {
		for (let row = 0; row < thread.rows; row++)
			calls += sumRow(sums, thread, row, from, to);
		for (const wait of thread.waits) {
			const ns = Math.max(0, Math.min(to, wait.end) - Math.max(from, wait.t));
			if (!wait.certain)
				sums[thread.func[wait.inside]].self -= ns;
			else if (!wait.ready)
				sums[thread.func[wait.call]].waited += ns;
		}
		for (const gap of thread.gaps)
			if (gap.call >= 0)
				sums[thread.func[gap.call]].self -=
					Math.max(0, Math.min(to, gap.end) - Math.max(from, gap.t));
		if (thread.beginIn)
			about = '~';
	}
	return {sums, calls, about};
}

function sumRow(sums, thread, row, from, to) {
	const {begin, end, func, parent, flags} = thread, past = thread.starts[row + 1];
	let at = firstAbove(end, from, thread.starts[row], past);
	const first = at;
	for (; at < past && begin[at] < to; at++) {
		const ns = Math.min(end[at], to) - Math.max(begin[at], from), sum = sums[func[at]];
		sum.count += flags[at] & RESUMED ? 0 : 1;
		sum.self += ns;
		if (!(flags[at] & RECURSIVE))
			sum.total += ns;
		if (ns > sum.longest)
			sum.longest = ns;
		if (parent[at] >= 0)
			sums[func[parent[at]]].self -= ns;
	}
	return at - first;
}
