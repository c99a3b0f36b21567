// SPDX-License-Identifier: GPL-2.0
// Reads tables that "posixtrace export" has written, with Apache Arrow or DuckDB for node.
//
// usage: node tables.mjs READERS arrow FILE...    for each DIRECTORY/NAME.arrows, writes the columns and
//                                                 the rows of each batch to NAME.read
//        node tables.mjs READERS parquet FILE...  does the same for Parquet files, as one batch
//        node tables.mjs READERS sql QUERY...  prints each row of the results, with "|" between values
// READERS is what selftests/programs/table_readers prints.

import { createRequire } from 'node:module';
import { basename, extname } from 'node:path';
import { createReadStream, openSync, closeSync, writeSync } from 'node:fs';

const [, , readers, what, ...words] = process.argv;
const require = createRequire(`${readers}/node_modules/`);

// For JSON.stringify().
const texts = (key, value) => typeof value === 'bigint' ? String(value) : value;

// Prints lines in large pieces, into an open file.
let out = 1;
let waiting = [];
function print(line) {
	waiting.push(line);
	if (waiting.length >= 10000)
		flush();
}
function writeWhole(text) {
	let data = Buffer.from(text);
	while (data.length)
		data = data.subarray(writeSync(out, data));
}
function flush() {
	if (waiting.length)
		writeWhole(waiting.join('\n') + '\n');
	waiting = [];
}

// Everything that read(FILE) prints goes into a file. One process reads many files, because it takes
// longer to start than to read one.
async function each(files, read) {
	for (const file of files) {
		out = openSync(`${basename(file, extname(file))}.read`, 'w');
		await read(file);
		flush();
		closeSync(out);
	}
}

if (what === 'arrow') {
	const { RecordBatchReader } = require('apache-arrow');
	await each(words, async file => {
		const reader = await RecordBatchReader.from(createReadStream(file));
		await reader.open();
		print(JSON.stringify({
			metadata: Object.fromEntries(reader.schema.metadata),
			columns: reader.schema.fields.map(field =>
				[field.name, String(field.type), field.nullable]),
		}));
		for await (const batch of reader) {
			print(JSON.stringify({ rows: batch.numRows }));
			const columns = batch.schema.fields.map((field, i) => batch.getChildAt(i));
			for (let row = 0; row < batch.numRows; row++)
				print(JSON.stringify(columns.map(column => column.get(row)), texts));
		}
	});
} else {
	const { DuckDBInstance } = require('@duckdb/node-api');
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	const rows = async query => (await connection.runAndReadAll(query)).getRows();
	if (what === 'parquet') {
		const types = { BIGINT: 'Int64', UBIGINT: 'Uint64', INTEGER: 'Int32', UINTEGER: 'Uint32',
			DOUBLE: 'Float64', BOOLEAN: 'Bool', VARCHAR: 'Utf8' };
		await each(words, async file => {
			print(JSON.stringify({
				metadata: Object.fromEntries(await rows(
					`SELECT decode(key), decode(value) FROM parquet_kv_metadata('${file}')`)),
				columns: (await rows(`DESCRIBE FROM '${file}'`)).map(
					([name, type, nullable]) => [name, types[type] ?? type, nullable === 'YES']),
			}));
			const table = await rows(`FROM '${file}'`);
			print(JSON.stringify({ rows: table.length }));
			for (const row of table)
				print(JSON.stringify(row, texts));
		});
	} else {
		for (const query of words) {
			for (const row of await rows(query))
				print(row.map(value => value === null ? '-' : String(value)).join('|'));
		}
	}
}
flush();
