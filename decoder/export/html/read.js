/* SPDX-License-Identifier: BSD-2-Clause */
/* read.js: chunks (html.h) → columns in memory. Calls of a thread lie row by row: all of depth 0 in
 * order of time, then all of depth 1 …; in a row they do not overlap, so that a row is searched by
 * halves, and drawing never looks at more calls than there are pixels. */
'use strict';

/* EP_CALL_ of event.h, and our own above them. */
const BEFORE = 1, ABANDONED = 2, ACROSS_GAP = 8, AMBIGUOUS = 16, UNWOUND = 32, OPEN = 64,
	UNSURE_WAIT = 128, SWITCHED = 256, RESUMED = 512, SUSPENDED = 1024, RECURSIVE = 2048;
const RUNNING = 1, READY = 2, BLOCKED = 3;
const BEGIN_CODE = 11;
const POINTS = ['throw', 'rethrow', 'catch', 'longjmp', 'another stack', 'note', 'span begin',
	'end of a span that began before the history', 'missed deadline'];
const STRAY = 15;

const utf8 = new TextDecoder();

class Bytes {
	constructor(bytes, at, end) {
		this.bytes = bytes;
		this.at = at;
		this.end = end;
	}
	uint() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];
		if (byte < 128)
			return byte;
		let value = byte & 127, unit = 128;
		do {
			byte = bytes[this.at++];
			value += (byte & 127) * unit;
			unit *= 128;
		} while (byte >= 128);
		return value;
	}
	int() {
		const value = this.uint();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}
	text() {
		const size = this.uint();
		this.at += size;
		return size ? utf8.decode(this.bytes.subarray(this.at - size, this.at)) : '';
	}
}

/* ---- a thread's columns ---- */

function columns(facts, index) {
	const levels = facts.levels || [], starts = [0];
	for (const count of levels)
		starts.push(starts[starts.length - 1] + count);
	const count = starts[starts.length - 1];
	return {
		index, tid: facts.tid, serial: facts.serial, name: facts.name, facts, count,
		rows: levels.length,
		starts,                          /* by depth: the first call of the row */
		next: Int32Array.from(starts),   /* by depth: where the next one goes */
		begin: new Float64Array(count),
		end: new Float64Array(count),
		func: new Uint32Array(count),
		parent: new Int32Array(count),   /* -1: none that is known */
		flags: new Uint16Array(count),
		beginIn: null, endIn: null,      /* number of the interval + 1; 0: exact */
		low: [], high: [],               /* of intervals */
		stack: [], now: 0, on: new Map(),
		suspended: new Map(),            /* by number: the bar that ended so last */
		partBefore: new Map(), partAfter: new Map(), /* bars of one call, by each other */
		points: [], gaps: [], spans: [], openSpans: new Map(), waits: [], slices: null,
		last: facts.last || 0, folded: false, limit: 0,
	};
}

/* An event's time: the number of its interval + 1. */
function intervalOf(thread, how, more) {
	if (how === 0)
		return 0;
	if (how === 2) {
		const low = thread.now + more.int(), length = more.uint();
		thread.low.push(low);
		thread.high.push(length ? low + length - 1 : Infinity);
		if (!thread.beginIn) {
			thread.beginIn = new Uint32Array(thread.count);
			thread.endIn = new Uint32Array(thread.count);
		}
	}
	return thread.low.length;
}

function beginCall(thread, func, flags, interval) {
	const depth = thread.stack.length, at = thread.next[depth]++;
	const already = thread.on.get(func) || 0;
	thread.begin[at] = thread.now;
	thread.func[at] = func;
	thread.parent[at] = depth ? thread.stack[depth - 1] : -1;
	thread.flags[at] = flags | (already ? RECURSIVE : 0);
	if (interval)
		thread.beginIn[at] = interval;
	thread.on.set(func, already + 1);
	thread.stack.push(at);
}

function endCall(thread, flags, interval) {
	const at = thread.stack.pop();
	thread.end[at] = thread.now;
	thread.flags[at] |= flags;
	if (interval)
		thread.endIn[at] = interval;
	thread.on.set(thread.func[at], thread.on.get(thread.func[at]) - 1);
}

function here(thread) {
	const depth = thread.stack.length;
	return depth ? thread.stack[depth - 1] : -1;
}

function readPoint(thread, more, interval) {
	const kind = more.uint(), func = more.uint() - 1;
	thread.points.push({t: thread.now, kind, func, text: more.text(), interval,
			    call: here(thread)});
}

function readSpan(thread, more, interval) {
	const number = more.uint();
	const span = {t: thread.now, end: null, name: more.text(), interval, endInterval: 0};
	thread.spans.push(span);
	thread.openSpans.set(number, span);
}

function readSpanEnd(thread, more, interval) {
	const number = more.uint(), span = thread.openSpans.get(number);
	if (!span)
		return;
	span.end = thread.now;
	span.endInterval = interval;
	thread.openSpans.delete(number);
}

function readWait(thread, more) {
	const ns = more.uint(), own = more.uint(), frames = Math.floor(own / 4);
	if (frames)
		thread.waits.push({t: thread.now, end: thread.now + ns, certain: own % 2 === 1,
				   ready: (own & 2) !== 0, inside: here(thread), call: thread.stack[frames - 1],
				   row: frames - 1});
}

/* A call of a stack that the thread leaves and comes back to has several bars. */
function suspendCall(thread, more, interval) {
	thread.suspended.set(more.uint(), here(thread));
	endCall(thread, SUSPENDED, interval);
}

function resumeCall(thread, more, interval) {
	const func = more.uint(), before = thread.suspended.get(more.uint());
	beginCall(thread, func, RESUMED, interval);
	if (before === undefined)
		return;
	thread.partBefore.set(here(thread), before);
	thread.partAfter.set(before, here(thread));
}

/* By code, but begins and plain ends. */
const READERS = [
	null,
	(thread, more, interval) => endCall(thread, more.uint(), interval),
	(thread, more, interval) => endCall(thread, more.uint() | OPEN, interval),
	suspendCall,
	readPoint,
	(thread, more) => thread.gaps.push({t: thread.now, end: thread.now + more.uint(),
					    why: more.text(), call: here(thread)}),
	readSpan,
	readSpanEnd,
	readWait,
	(thread, more, interval) => {
		const func = more.uint();
		beginCall(thread, func, more.uint(), interval);
	},
	resumeCall,
];

function readCalls(trace, bytes) {
	const head = new Bytes(bytes, 1, bytes.length);
	const thread = trace.threads[head.uint()], events = head.uint();
	const codesSize = head.uint(), timesSize = head.uint();
	head.uint();
	const codes = new Bytes(bytes, head.at), times = new Bytes(bytes, head.at + codesSize);
	const more = new Bytes(bytes, head.at + codesSize + timesSize);
	for (let i = 0; i < events; i++) {
		const word = codes.uint(), code = word >>> 2, how = word & 3;
		thread.now += times.uint();
		const interval = how ? intervalOf(thread, how, more) : 0;
		if (code >= BEGIN_CODE)
			beginCall(thread, code - BEGIN_CODE, 0, interval);
		else if (code === 0)
			endCall(thread, 0, interval);
		else
			READERS[code](thread, more, interval);
	}
}

/* ---- scheduling ---- */

function readSlices(trace, bytes) {
	const from = new Bytes(bytes, 1), thread = trace.threads[from.uint()], count = from.uint();
	const slices = {count, begin: new Float64Array(count), end: new Float64Array(count),
			state: new Uint8Array(count), cpu: new Int32Array(count),
			how: new Uint8Array(count), kind: new Uint8Array(count),
			waker: new Uint32Array(count), open: new Uint8Array(count)};
	let now = 0;
	for (let i = 0; i < count; i++) {
		slices.begin[i] = now += from.int();
		slices.end[i] = now += from.uint();
		const word = from.uint();
		slices.state[i] = word & 3;
		slices.kind[i] = word >> 2 & 3;
		slices.open[i] = word >> 4;
		slices.cpu[i] = slices.state[i] === RUNNING ? from.uint() - 1 : -1;
		if (slices.state[i] === BLOCKED) {
			slices.how[i] = from.uint();
			slices.waker[i] = slices.kind[i] === 1 ? from.uint() : 0;
		}
	}
	thread.slices = slices;
}

function readOccupations(trace, bytes) {
	const from = new Bytes(bytes, 1), number = from.uint(), count = from.uint();
	const cpu = {number, begin: new Float64Array(count), end: new Float64Array(count),
		     tid: new Uint32Array(count)};
	let now = 0;
	for (let i = 0; i < count; i++) {
		cpu.begin[i] = now += from.int();
		cpu.end[i] = now += from.uint();
		cpu.tid[i] = from.uint();
	}
	trace.cpus.push(cpu);
}

/* Without records of the whole machine: where the process's own threads ran. */
function ownCpus(trace) {
	const lists = new Map();
	for (const {slices, tid} of trace.threads)
		for (let i = 0; slices && i < slices.count; i++) {
			if (slices.state[i] !== RUNNING || slices.cpu[i] < 0)
				continue;
			if (!lists.has(slices.cpu[i]))
				lists.set(slices.cpu[i], []);
			lists.get(slices.cpu[i]).push([slices.begin[i], slices.end[i], tid]);
		}
	for (const [number, list] of lists) {
		list.sort((a, b) => a[0] - b[0]);
		trace.cpus.push({number, begin: Float64Array.from(list, (one) => one[0]),
				 end: Float64Array.from(list, (one) => one[1]),
				 tid: Uint32Array.from(list, (one) => one[2])});
	}
}

/* ---- the whole ---- */

async function inflate(element) {
	const text = atob(element.textContent), bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	element.remove();
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Spans on lanes of their own, for they may overlap. */
function placeSpans(thread, end) {
	const lanes = [];
	thread.spans.sort((a, b) => a.t - b.t);
	for (const span of thread.spans) {
		let lane = lanes.findIndex((end) => end <= span.t);
		if (lane < 0)
			lane = lanes.push(0) - 1;
		span.lane = lane;
		lanes[lane] = span.end === null ? Infinity : span.end;
	}
	thread.lanes = lanes.length;
	thread.laneBars = lanes.map((_, lane) => {
		const list = thread.spans.filter((span) => span.lane === lane);
		return {list, begin: list.map((span) => span.t),
			end: list.map((span) => span.end === null ? Math.max(end, span.t) : span.end)};
	});
}

/* Waits by the row of the call that they are drawn in. */
function placeWaits(thread) {
	const rows = [];
	for (const wait of thread.waits)
		(rows[wait.row] = rows[wait.row] || []).push(wait);
	thread.waitRows = rows;
}

/* The waits that a thread of this process ended, in order of time: when, how long they were, and
 * who it was: the system gives a tid again. */
function placeWakes(thread, byTid) {
	const t = [], ns = [], by = [], {slices} = thread;
	for (let i = 0; slices && i < slices.count; i++) {
		const end = slices.end[i], found = slices.waker[i] && byTid.get(slices.waker[i]);
		const waker = found && found.find(({facts}) => (facts.start === null || facts.start <= end) &&
						  (facts.end === null || facts.end >= end));
		if (!waker || waker === thread)
			continue;
		t.push(end);
		ns.push(end - slices.begin[i]);
		by.push(waker);
	}
	thread.wakes = {t: Float64Array.from(t), ns: Float64Array.from(ns), by};
}

function placeAllWakes(trace) {
	const byTid = new Map();
	for (const thread of trace.threads)
		if (thread.facts.there)
			byTid.set(thread.tid, [...byTid.get(thread.tid) || [], thread]);
	for (const thread of trace.threads)
		placeWakes(thread, byTid);
}

function finish(trace) {
	for (const thread of trace.threads) {
		while (thread.stack.length) /* the file was cut off */
			endCall(thread, OPEN, 0);
		placeSpans(thread, trace.facts.end);
		placeWaits(thread);
		thread.pointTimes = Float64Array.from(thread.points, (point) => point.t);
		thread.gapEnds = Float64Array.from(thread.gaps, (gap) => gap.end);
		thread.on = thread.openSpans = thread.suspended = null;
	}
	placeAllWakes(trace);
	if (!trace.cpus.length)
		ownCpus(trace);
	trace.cpus.sort((a, b) => a.number - b.number);
	trace.calls = trace.threads.reduce((sum, thread) => sum + thread.count, 0);
}

const KINDS = {67: readCalls, 83: readSlices, 79: readOccupations};

async function readTrace() {
	const elements = [...document.querySelectorAll('script[type="epitaph/1"]')];
	const last = elements.pop();
	if (typeof DecompressionStream === 'undefined')
		throw new Error('this browser is too old: it cannot decompress (Chromium 80, ' +
				'Firefox 113 and Safari 16.4 can)');
	if (!last)
		throw new Error('there are no data in this file');
	const bytes = await inflate(last);
	if (bytes[0] !== 70)
		throw new Error('the end of this file is missing');
	const facts = JSON.parse(utf8.decode(bytes.subarray(1)));
	const trace = {facts, cpus: [], functions: facts.functions,
		       labels: facts.functions.map((one) => one[4] || one[0]),
		       threads: facts.threads.map(columns)};
	/* Some are inflated while one is read. */
	const ahead = [];
	for (let i = 0; i < elements.length || ahead.length;) {
		while (ahead.length < 4 && i < elements.length)
			ahead.push(inflate(elements[i++]));
		const chunk = await ahead.shift();
		KINDS[chunk[0]](trace, chunk);
	}
	finish(trace);
	return trace;
}

/* ---- searching a row ---- */

/* The first of [from, to) whose value is above `than`; `to`: none. */
function firstAbove(list, than, from, to) {
	while (from < to) {
		const middle = from + to >>> 1;
		if (list[middle] > than)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

/* The same, where it is likely to be near `from`. */
function gallop(list, than, from, to) {
	let step = 1, at = from;
	while (at < to && list[at] <= than) {
		from = at + 1;
		at += step;
		step *= 2;
	}
	return firstAbove(list, than, from, Math.min(at, to));
}

/* The bars of a call, in order of time. */
function partsOf(thread, call) {
	while (thread.partBefore.has(call))
		call = thread.partBefore.get(call);
	const parts = [call];
	while (thread.partAfter.has(call))
		parts.push(call = thread.partAfter.get(call));
	return parts;
}

function depthOf(thread, call) {
	return firstAbove(thread.starts, call, 0, thread.starts.length) - 1;
}

/* The calls that a call made: [first, end). */
function calleesOf(thread, call) {
	const row = depthOf(thread, call) + 1;
	if (row >= thread.rows)
		return [0, 0];
	return [firstAbove(thread.parent, call - 1, thread.starts[row], thread.starts[row + 1]),
		firstAbove(thread.parent, call, thread.starts[row], thread.starts[row + 1])];
}
