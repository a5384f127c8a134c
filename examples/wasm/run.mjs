// SPDX-License-Identifier: BSD-3-Clause
// Runs a program in Node: node run.mjs PACKAGE PROGRAM INPUTS OUTPUTS [RUNS [THREADS]]. INPUTS: bytes of all input tensors, one behind
// the other; "random" makes some. Prints the median of the runs' times, without the first.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, program, inputs, outputs, runs = "1", threads = "1"] = process.argv.slice(2);
const { load } = await import(pathToFileURL(resolve(folder, "index.mjs")));
const et = await load({ threads: Number(threads) });
const module = et.Module.load(readFileSync(program));

let data = inputs === "random" ? null : readFileSync(inputs);
const tensors = module.getMethodMeta("forward").inputTensorMeta.map((info) => {
  const tensor = et.Tensor.zeros(info.sizes, info.scalarType);
  if (data === null) {
    return tensor;
  }
  const bytes = new Uint8Array(tensor.data.buffer);
  bytes.set(data.subarray(0, bytes.length));
  data = data.subarray(bytes.length);
  return tensor;
});

const times = [];
let results = [];
for (let i = 0; i < Number(runs) + 1; ++i) {
  const start = performance.now();
  results = module.forward(tensors);
  times.push(performance.now() - start);
}
writeFileSync(outputs, Buffer.concat(results.map(({ data: { buffer } }) => Buffer.from(buffer))));
const sorted = times.slice(1).sort((a, b) => a - b);
console.log(JSON.stringify({ first: times[0], median: sorted[Math.floor(sorted.length / 2)], memory: et.memoryUsed(), threads: et.numThreads }));
module.delete();
