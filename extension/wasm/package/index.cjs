// SPDX-License-Identifier: BSD-3-Clause
// const et = await require("executorch").load(); for Node, and bundlers with CommonJS.
"use strict";

const loadCore = require("./core.cjs");

async function load({ wasm, threads = 1 } = {}) {
  if (threads > 1) {
    return (await import("./index.mjs")).load({ wasm, threads });
  }
  if (wasm instanceof ArrayBuffer || ArrayBuffer.isView(wasm)) {
    return loadCore({ wasmBinary: wasm });
  }
  const { readFile } = require("fs/promises");
  const place = wasm === undefined ? require("path").join(__dirname, "executorch.wasm") : wasm;
  return loadCore({ wasmBinary: await readFile(String(place).startsWith("file:") ? new URL(place) : place) });
}

module.exports = load;
module.exports.load = load;
