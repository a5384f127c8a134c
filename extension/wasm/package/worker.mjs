// SPDX-License-Identifier: BSD-3-Clause
// Programs in a thread of their own: `const et = await loadInWorker()`, then the interface with promises. The same file is the worker.
import { load } from "./index.mjs";

const IS_WORKER = typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope && self.name === "executorch";

/** Tensors between threads: what a message can hold. */
const packed = (value) => (value !== null && typeof value === "object" && value.scalarType !== undefined
  ? { sizes: value.sizes, data: value.data, dtype: value.scalarType.name, dimOrder: value.dimOrder } : value);

function unpacked(value, et) {
  return value !== null && typeof value === "object" && value.dtype !== undefined
    ? new et.Tensor(et.ScalarType[value.dtype], value.sizes, value.data, value.dimOrder) : value;
}

const listOf = (inputs) => (Array.isArray(inputs) ? inputs : [inputs]);

function serve() {
  const modules = new Map();
  let et = null;
  const calls = {
    start: async (options) => { et = await load(options); return { version: et.version, numThreads: et.numThreads, whyOneThread: et.whyOneThread }; },
    load: (id, data, files) => { modules.set(id, et.Module.load(data, files)); },
    getMethods: (id) => modules.get(id).getMethods(),
    loadMethod: (id, name) => modules.get(id).loadMethod(name),
    getMethodMeta: (id, name) => modules.get(id).getMethodMeta(name),
    memoryUsed: () => et.memoryUsed(),
    execute: (id, name, inputs) => modules.get(id).execute(name, inputs.map((each) => unpacked(each, et))).map(packed),
    loadText: (id, program, options) => { modules.set(id, et.TextSession.load(program, options)); },
    delete: (id) => { modules.get(id).delete(); modules.delete(id); },
  };
  // Those whose result comes in pieces before it is there.
  const answers = {
    generate: (id, prompt, options, onText) => modules.get(id).generate(prompt, options, onText),
    chat: (id, messages, options, onText) => modules.get(id).chat(messages, options, onText),
  };
  self.onmessage = async ({ data: { number, call, values } }) => {
    try {
      const result = call in answers ? answers[call](...values, (piece) => { self.postMessage({ number, piece }); }) : await calls[call](...values);
      self.postMessage({ number, result });
    } catch (error) {
      self.postMessage({ number, error: { name: error.name, message: error.message, code: error.code, reason: error.reason } });
    }
  };
}

if (IS_WORKER) {
  serve();
}

/** Starts a worker; terminate() ends it. Tensors are {sizes, data, dtype: name of a ScalarType, dimOrder}. */
export async function loadInWorker(options = {}) {
  const worker = new Worker(new URL(import.meta.url), { type: "module", name: "executorch" });
  const waiting = new Map();
  let last = 0;
  worker.onmessage = ({ data: { number, result, error, piece } }) => {
    const { resolve, reject, onText } = waiting.get(number);
    if (piece !== undefined) {
      onText?.(piece);
      return;
    }
    waiting.delete(number);
    if (error === undefined) {
      resolve(result);
    } else {
      reject(Object.assign(new Error(error.message), error));
    }
  };
  worker.onerror = (event) => waiting.forEach(({ reject }) => reject(new Error(event.message)));
  const answer = (onText, name, ...values) => new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject, onText });
    worker.postMessage({ number: last, call: name, values });
  });
  const call = (name, ...values) => answer(undefined, name, ...values);
  const facts = await call("start", options);
  return {
    ...facts,
    async load(data, files = []) {
      const id = ++last;
      await call("load", id, data, files);
      return {
        getMethods: () => call("getMethods", id),
        loadMethod: (name) => call("loadMethod", id, name),
        getMethodMeta: (name) => call("getMethodMeta", id, name),
        execute: (name, inputs = []) => call("execute", id, name, listOf(inputs).map(packed)),
        forward: (inputs = []) => call("execute", id, "forward", listOf(inputs).map(packed)),
        delete: () => call("delete", id),
      };
    },
    /** A session over a language model; onText gets pieces of the answer as they come. */
    async loadText(program, options = {}) {
      const id = ++last;
      await call("loadText", id, program, options);
      return {
        generate: (prompt, settings = {}, onText = undefined) => answer(onText, "generate", id, prompt, settings),
        chat: (messages, settings = {}, onText = undefined) => answer(onText, "chat", id, messages, settings),
        delete: () => call("delete", id),
      };
    },
    memoryUsed: () => call("memoryUsed"),
    terminate: () => worker.terminate(),
  };
}
