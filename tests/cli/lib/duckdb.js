// SPDX-License-Identifier: BSD-2-Clause
// duckdb.js NODE_MODULES STATEMENT...: runs the statements, prints each row as its values with tabs between them. Status 1: one failed.
'use strict';
const [modules, ...statements] = process.argv.slice(2);
const { DuckDBInstance } = require(`${modules}/@duckdb/node-api`);
(async () => {
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	for (const statement of statements) {
		const rows = (await connection.runAndReadAll(statement)).getRowsJson();
		for (const row of rows) console.log(row.map((one) => (one === null ? 'null' : String(one))).join('\t'));
	}
})().catch((error) => {
	console.log(error.message);
	process.exit(1);
});
