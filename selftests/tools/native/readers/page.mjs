// SPDX-License-Identifier: GPL-2.0
// Prints the data of a page written by "posixtrace export --format=html", as a browser reads it.
//
// usage: node page.mjs PAGE

import { readFileSync } from 'node:fs';

const page = readFileSync(process.argv[2], 'utf8');
const begin = page.indexOf('<script type="application/json"');
const from = page.indexOf('>', begin) + 1;
const data = JSON.parse(page.slice(from, page.indexOf('</script>', from)));
process.stdout.write(JSON.stringify(data) + '\n');
