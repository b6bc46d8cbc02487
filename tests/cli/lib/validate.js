// SPDX-License-Identifier: BSD-2-Clause
// validate.js NODE_MODULES SCHEMA FILE...: with Ajv, a JSON schema validator. A file whose name ends in .jsonl is validated
// line by line. What does not fit is printed; the status is then 1.
'use strict';
const fs = require('fs');
const path = require('path');

const [modules, schema, ...files] = process.argv.slice(2);
const Ajv = require(path.join(modules, 'ajv')).default;
const validate = new Ajv({ strict: false, allErrors: false }).compile(JSON.parse(fs.readFileSync(schema, 'utf8')));
// Bytes that are no UTF-8 are an error here, not U+FFFD.
const decoder = new TextDecoder('utf-8', { fatal: true });
let failures = 0;

function check(name, text) {
	let value;
	try {
		value = JSON.parse(text);
	} catch (error) {
		failures++;
		console.log(`${name}: ${error.message}`);
		return;
	}
	if (!validate(value)) {
		failures++;
		const wrong = validate.errors[validate.errors.length - 1];
		console.log(`${name}: ${wrong.instancePath} ${wrong.message} ${JSON.stringify(wrong.params)}`);
	}
}

for (const file of files) {
	const text = decoder.decode(fs.readFileSync(file));
	if (!file.endsWith('.jsonl')) {
		check(file, text);
		continue;
	}
	const lines = text.split('\n');
	if (lines.pop() !== '') {
		failures++;
		console.log(`${file}: the last line has no newline`);
	}
	lines.forEach((line, i) => failures < 10 && check(`${file}:${i + 1}`, line));
}
process.exit(failures ? 1 : 0);
