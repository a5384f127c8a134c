// SPDX-License-Identifier: BSD-3-Clause
// const et = await load(); for browsers, workers, Node and other runtimes with ES modules.
import loadCore from "./core.mjs";

const PLACE = new URL("./executorch.wasm", import.meta.url);

/** `wasm`: bytes or a URL of executorch.wasm, where it is not beside this file. */
export async function load({ wasm = PLACE } = {}) {
  if (wasm instanceof ArrayBuffer || ArrayBuffer.isView(wasm)) {
    return loadCore({ wasmBinary: wasm });
  }
  if (String(wasm).startsWith("file:")) {
    const { readFile } = await import("node:fs/promises");
    return loadCore({ wasmBinary: await readFile(new URL(wasm)) });
  }
  const response = await fetch(wasm);
  if (!response.ok) {
    throw new Error(`expected executorch.wasm at ${wasm}, found status ${response.status}`);
  }
  return loadCore({ wasmBinary: await response.arrayBuffer() });
}

export default load;
