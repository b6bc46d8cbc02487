// SPDX-License-Identifier: BSD-2-Clause
// flamegraph.js NODE_MODULES IMPORTED: a page that draws, with d3-flame-graph, what speedscope.js printed of folded stacks.
// The frames' names are in the page as JSON; nothing is fetched.
'use strict';
const fs = require('fs');
const path = require('path');

const [modules, imported] = process.argv.slice(2);
const root = { name: 'all', value: 0, children: [] };
const open = [root];
for (const line of fs.readFileSync(imported, 'utf8').split('\n')) {
	const [kind, depth, name, weight] = line.split('\t');
	if (kind !== 'call') continue;
	open.length = +depth + 1;
	const siblings = open[open.length - 1].children;
	let node = siblings.find((one) => one.name === name);
	if (!node) siblings.push((node = { name, value: 0, children: [] }));
	node.value += +weight;
	open.push(node);
}
root.value = root.children.reduce((sum, one) => sum + one.value, 0);

const text = (...file) => fs.readFileSync(path.join(modules, ...file), 'utf8').replace(/<\/script/g, '<\\/script');
console.log(`<!DOCTYPE html><meta charset="utf-8"><title>flame graph</title>
<style>${text('d3-flame-graph/dist/d3-flamegraph.css')}</style><body><div id="chart"></div>
<script>${text('d3-selection/dist/d3-selection.min.js')}</script>
<script>${text('d3-flame-graph/dist/d3-flamegraph.min.js')}</script>
<script>
const data = ${JSON.stringify(root).replace(/</g, '\\u003c')};
d3.select('#chart').datum(data).call(flamegraph().width(1150).minFrameSize(0).inverted(false));
</script>`);
