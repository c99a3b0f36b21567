// SPDX-License-Identifier: GPL-2.0
// Drives a page in a headless Chromium with the mouse and the keyboard, as a person would: the
// browser decides what the input means. Reads commands from standard input, one per line:
//
//	move X [Y]		move the pointer
//	point X NAME		move it down at X until the tooltip describes NAME
//	down, up, click		press and release the button there
//	shift on|off		hold the key
//	type TEXT		press the keys of a text
//	press KEY		press a key: Enter, Escape or a character
//	print EXPRESSION	print the value of an expression in the page
//
// usage: node drive.mjs PAGE PROFILE <COMMANDS

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [page, profile] = process.argv.slice(2);
const browser = spawn('chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
	'--disable-background-networking', '--disable-component-update', '--disable-sync',
	'--remote-debugging-pipe', `--user-data-dir=${profile}`, '--window-size=1000,600'],
	{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });

/* ---- The protocol: messages are JSON with a null byte at the end ---- */

const waiting = new Map();	// functions, by the numbers of messages
let received = '', sent = 0, session;

browser.stdio[4].on('data', (bytes) => {
	const messages = (received + bytes).split('\0');
	received = messages.pop();
	for (const message of messages.map((text) => JSON.parse(text)))
		waiting.get(message.id)?.(message);
});

async function send(method, params = {}) {
	const id = ++sent;
	browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId: session }) + '\0');
	const { result, error } = await new Promise((resolve) => waiting.set(id, resolve));
	if (error)
		throw new Error(`${method}: ${error.message}`);
	return result;
}

async function value(expression) {
	const { result, exceptionDetails } = await send('Runtime.evaluate',
		{ expression, awaitPromise: true, returnByValue: true });
	if (exceptionDetails)
		throw new Error(exceptionDetails.exception.description);
	return result.value;
}

async function open() {
	const { targetInfos } = await send('Target.getTargets');
	const { targetId } = targetInfos.find((target) => target.type === 'page');
	session = (await send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
	await send('Page.navigate', { url: pathToFileURL(page).href });
	await value(`new Promise((done) =>
		document.readyState === 'complete' ? done() : addEventListener('load', done))`);
}

/* ---- Input ---- */

const CODES = { Enter: 13, Escape: 27 };
const pointer = { x: 0, y: 0, pressed: false, shift: false };

function mouse(type) {
	const { x, y, pressed, shift } = pointer;
	return send('Input.dispatchMouseEvent', {
		type, x, y, button: type === 'mouseMoved' && !pressed ? 'none' : 'left',
		buttons: pressed ? 1 : 0, clickCount: 1, modifiers: shift ? 8 : 0 });
}

async function press(key) {
	const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
	const windowsVirtualKeyCode = CODES[key] || key.toUpperCase().charCodeAt(0);
	await send('Input.dispatchKeyEvent', { type: 'keyDown', key, text, windowsVirtualKeyCode });
	await send('Input.dispatchKeyEvent', { type: 'keyUp', key, windowsVirtualKeyCode });
}

const tipName = `document.querySelector("#tip:not([hidden]) b")?.textContent`;

const commands = {
	move: (x, y = pointer.y) => {
		Object.assign(pointer, { x: Number(x), y: Number(y) });
		return mouse('mouseMoved');
	},
	point: async (x, ...words) => {
		const name = words.join(' ');
		for (let y = 70; y < 600; y += 4) {
			await commands.move(x, y);
			if (await value(tipName) === name)
				return;
		}
		throw new Error(`nothing at ${x} is ${name}`);
	},
	down: () => {
		pointer.pressed = true;
		return mouse('mousePressed');
	},
	up: () => {
		pointer.pressed = false;
		return mouse('mouseReleased');
	},
	click: async () => {
		await commands.down();
		await commands.up();
	},
	shift: (state) => pointer.shift = state === 'on',
	type: async (text) => {
		for (const key of text)
			await press(key);
	},
	press,
	print: async (...words) => console.log(await value(words.join(' '))),
};

try {
	await open();
	for (const line of readFileSync(0, 'utf8').trim().split('\n')) {
		const [command, ...words] = line.trim().split(' ');
		await commands[command](...words);
		// The page draws in the next frame.
		await value('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
	}
} finally {
	const ended = new Promise((resolve) => browser.on('exit', resolve));
	browser.kill();
	await ended;
}
