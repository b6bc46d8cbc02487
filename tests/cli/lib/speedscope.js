// SPDX-License-Identifier: BSD-2-Clause
// speedscope.js NODE_MODULES FILE...: imports each with speedscope's own importer, which the npm package has in its bundle
// for browsers: the bundle runs here up to where it would draw itself. Prints a line "profile<TAB>name<TAB>total<TAB>unit",
// then for each call, as speedscope nests it, "call<TAB>depth<TAB>name<TAB>weight", and "warning<TAB>…" for what it complains
// about. Status 1: it cannot import the file.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [modules, ...files] = process.argv.slice(2);
const release = path.join(modules, 'speedscope/dist/release');
const bundle = fs.readdirSync(release).find((name) => /^speedscope-.*\.js$/.test(name));
const code = fs.readFileSync(path.join(release, bundle), 'utf8');
const importer = /async function (\w+)\(\w+,\w+\)\{return\(await \w+\)\.importProfileGroupFromText\(/.exec(code)[1];
const drawing = code.lastIndexOf('console.log(`speedscope v');

const nothing = () => new Proxy(function () {}, {
	get: (of, key) => (key === Symbol.toPrimitive ? () => '' : nothing()), apply: nothing, construct: nothing, set: () => true,
});
const warn = (...words) => process.stdout.write(`warning\t${words.join(' ').split('\n')[0]}\n`);
const browser = {
	console: { log() {}, time() {}, timeEnd() {}, warn, error: warn },
	TextDecoder, TextEncoder, setTimeout, clearTimeout, URL, atob, btoa, performance,
	location: { protocol: 'file:', hash: '', href: '' }, navigator: { userAgent: '' }, document: nothing(),
	localStorage: nothing(), HTMLElement: function () {}, addEventListener() {}, requestAnimationFrame() {},
	matchMedia: () => ({ matches: false, addEventListener() {}, addListener() {} }),
};
browser.window = browser.self = browser;
vm.createContext(browser);
vm.runInContext(`${code.slice(0, drawing)}globalThis.importText=${importer};})();`, browser, { filename: bundle });

async function tell(file) {
	const group = await browser.importText(path.basename(file), fs.readFileSync(file, 'utf8'));
	if (!group) throw new Error(`${file}: no format that speedscope knows`);
	for (const one of group.profiles) {
		const profile = one.profile || one;
		const lines = [], open = [];
		profile.forEachCall(
			(node, at) => {
				open.push([lines.length, at]);
				lines.push([open.length - 1, node.frame.name.replace(/[\t\n]/g, '?')]);
			},
			(node, at) => {
				const [line, began] = open.pop();
				lines[line].push(at - began);
			});
		process.stdout.write(`profile\t${profile.getName()}\t${profile.getTotalWeight()}\t${profile.getWeightUnit()}\n` +
			lines.map((line) => `call\t${line.join('\t')}\n`).join(''));
	}
}

(async () => {
	for (const file of files) await tell(file);
})().catch((error) => {
	console.log(`failed\t${error.message}`);
	process.exit(1);
});
