// SPDX-License-Identifier: BSD-3-Clause
// Writes text in Node: node write.mjs PACKAGE PROGRAM TOKENIZER PROMPT COUNT, of a package that was built with text. Prints the
// answer as JSON: twice the same, from the same context.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, program, tokenizer, prompt, count] = process.argv.slice(2);
const { load } = await import(pathToFileURL(resolve(folder, "index.mjs")));
const et = await load();
const session = et.TextSession.load(readFileSync(program), { tokenizer: readFileSync(tokenizer), tokenizerName: basename(tokenizer) });
const settings = { temperature: 0, maxNewTokens: Number(count), ignoresEnd: true };
const pieces = [];
const answer = session.generate(prompt, settings, (piece) => { pieces.push(piece); });
session.rewind(0);
const again = session.generate(prompt, settings).text;
console.log(JSON.stringify({ ...answer, pieces, again, ids: session.encode(prompt).map(Number), memory: et.memoryUsed() }));
session.delete();
