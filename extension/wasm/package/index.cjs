// SPDX-License-Identifier: BSD-3-Clause
// const et = await require("executorch").load(); for Node, and bundlers with CommonJS.
"use strict";

const loadCore = require("./core.cjs");

async function load({ wasm } = {}) {
  if (wasm instanceof ArrayBuffer || ArrayBuffer.isView(wasm)) {
    return loadCore({ wasmBinary: wasm });
  }
  const { readFile } = require("fs/promises");
  return loadCore({ wasmBinary: await readFile(wasm || require("path").join(__dirname, "executorch.wasm")) });
}

module.exports = load;
module.exports.load = load;
