// SPDX-License-Identifier: BSD-3-Clause
// The method forward of a program on bytes of a file, and text, in Node: see run.c, which does the same. The binding's
// path comes before its arguments.
"use strict";

const fs = require("fs");
const path = require("path");

const [binding, command, ...words] = process.argv.slice(2);
const { Module, TextSession } = require(path.join(__dirname, "..", "node"))(binding);

function run(program, inputs, outputs) {
  const bytes = fs.readFileSync(inputs);
  const module = new Module(program);
  let at = 0;
  const tensors = module.inputs().map(({ dtype, sizes, bytes: size }) => {
    const data = new Uint8Array(bytes.subarray(at, at + size)).buffer;
    at += size;
    return { dtype, sizes, data };
  });
  const results = module.execute(tensors);
  fs.writeFileSync(outputs, Buffer.concat(results.map((each) => Buffer.from(each.data))));
  module.close();
}

function text(program, tokenizer, prompt) {
  const session = new TextSession(program, tokenizer);
  const options = { temperature: 0, max_new_tokens: 40, ignores_end: 1 };
  session.generate(prompt, options, (piece) => fs.writeSync(1, piece));
  session.close();
}

function load(program, count) {
  let afterWarming = 0;
  for (let round = 0; round < count; round += 1) {
    new Module(program).close();
    if (round === Math.floor(count / 10)) {
      afterWarming = process.resourceUsage().maxRSS;
    }
  }
  console.log(`${process.resourceUsage().maxRSS - afterWarming} KiB more`);
}

try {
  ({ run, text, load: (program, count) => load(program, Number(count)) })[command](...words);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
