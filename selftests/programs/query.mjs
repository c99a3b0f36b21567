// SPDX-License-Identifier: GPL-2.0
// Queries a trace with Perfetto's trace processor. The trace processor is compiled for a web worker:
// this script provides the parts of a browser that it expects.
//
// usage: node query.mjs DIRECTORY TRACE <QUERIES    SQL queries, separated by semicolons; prints the
//	rows, with tabs between columns

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import vm from 'node:vm';

const [directory, trace] = process.argv.slice(2);

globalThis.self = globalThis.WorkerGlobalScope = globalThis;
globalThis.location = pathToFileURL(`${directory}/`);
globalThis.XMLHttpRequest = class {
	open(_method, name) { this.name = name; }
	send() { this.response = readFileSync(`${directory}/${this.name}`); }
};
// The engine probes for 64-bit memory with a module that starts with such a memory. The package has
// no build for that, so let the probe fail.
WebAssembly.Module = class extends WebAssembly.Module {
	constructor(code) {
		if (code[8] === 5 && code[11] === 4)
			throw new Error('no memory with 64 bits');
		super(code);
	}
};
// The engine writes progress and compiler warnings there.
console.warn = console.log = () => {};
process.env.NODE_ENV = 'production';
vm.runInThisContext(readFileSync(`${directory}/engine_bundle.node.js`, 'utf8'));
const { EngineBase } = await import(pathToFileURL(`${directory}/engine.mjs`));

const { port1, port2 } = new MessageChannel();
globalThis.self.onmessage({ data: port2 });

class Engine extends EngineBase {
	mode = 'WASM';
	id = 'test';
	rpcSendRequestBytes(data) { port1.postMessage(data); }
}

const engine = new Engine();
port1.on('message', data => engine.onRpcResponseBytes(data));
await engine.parse(new Uint8Array(readFileSync(trace)));
await engine.notifyEof();
for (const sql of readFileSync(0, 'utf8').split(';')) {
	if (!sql.trim())
		continue;
	const result = await engine.query(sql);
	const columns = result.columns();
	for (const row = result.iter({}); row.valid(); row.next())
		process.stdout.write(columns.map(name => row.get(name)).join('\t') + '\n');
}
port1.close();
