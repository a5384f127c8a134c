// SPDX-License-Identifier: BSD-3-Clause
// const et = await load(); for browsers, workers, Node and other runtimes with ES modules.
import loadCore from "./core.mjs";

const PLACE = new URL("./executorch.wasm", import.meta.url);
const THREADS = new URL("./threads/", import.meta.url);

async function bytesAt(place) {
  if (String(place).startsWith("file:")) {
    const { readFile } = await import("node:fs/promises");
    return readFile(new URL(place));
  }
  const response = await fetch(place);
  if (!response.ok) {
    throw new Error(`expected executorch.wasm at ${place}, found status ${response.status}`);
  }
  return response.arrayBuffer();
}

/** The program with threads, whose workers begin with files of the folder. */
async function loadThreads(numThreads) {
  const isFile = THREADS.protocol === "file:";
  const { default: core } = await import(isFile ? "./threads/core.js" : "./threads/core.mjs");
  const { fileURLToPath } = isFile ? await import("node:url") : { fileURLToPath: String };
  const placeOf = (name) => fileURLToPath(new URL(name, THREADS));
  return core({
    wasmBinary: await bytesAt(new URL("executorch.wasm", THREADS)), numWorkers: numThreads - 1, locateFile: placeOf,
    mainScriptUrlOrBlob: placeOf("core.js"),
  });
}

/** Why a page cannot have threads; "" where it can. */
function obstacle() {
  return typeof SharedArrayBuffer !== "undefined" && globalThis.crossOriginIsolated !== false ? ""
    : "threads need memory that is shared: expected a page whose server sends Cross-Origin-Opener-Policy: same-origin and "
      + "Cross-Origin-Embedder-Policy: require-corp, found one that is not cross-origin isolated";
}

/** `wasm`: bytes or a URL of executorch.wasm, where it is not beside this file. `threads`: how many; where more than one cannot
 * be had, there is one, and `whyOneThread` says why. */
export async function load({ wasm = PLACE, threads = 1 } = {}) {
  let whyOneThread = threads > 1 ? obstacle() : "";
  if (threads > 1 && whyOneThread === "") {
    try {
      return await loadThreads(threads);
    } catch (error) {
      whyOneThread = `threads need the package's folder threads: ${error.message}`;
    }
  }
  const isBytes = wasm instanceof ArrayBuffer || ArrayBuffer.isView(wasm);
  return loadCore({ wasmBinary: isBytes ? wasm : await bytesAt(wasm), whyOneThread });
}

export default load;
