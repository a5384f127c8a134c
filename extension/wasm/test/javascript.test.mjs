// SPDX-License-Identifier: BSD-3-Clause
// The interface's own JavaScript, on a program of a few lines instead of ExecuTorch: node --test
import assert from "node:assert/strict";
import test from "node:test";

import { ScalarType, bfloatOfNumber, halfOfNumber, numberOfBfloat, numberOfHalf } from "../src/dtypes.mjs";
import { createInterface } from "../src/interface.mjs";
import { API_VERSION, STRUCTS } from "../src/raw.mjs";
import { Tensor } from "../src/tensor.mjs";
import { FakeRuntime } from "./fake_runtime.mjs";

test("structures lie as a compiler of 32-bit pointers puts them", () => {
  assert.equal(API_VERSION, 2);
  assert.deepEqual(STRUCTS.ExecuTorchValue.members.map(([, offset]) => offset), [0, 8, 16, 24, 32, 36, 40]);
  assert.deepEqual([STRUCTS.ExecuTorchValue.size, STRUCTS.ExecuTorchSource.size], [48, 20]);
  // program (20 bytes) behind struct_size, then pointers.
  assert.deepEqual(STRUCTS.ExecuTorchModuleOptions.members.slice(0, 3).map(([, offset]) => offset), [0, 4, 24]);
});

test("halves and back", () => {
  // All 65,536 but NaN.
  for (let half = 0; half < 65536; ++half) {
    const value = numberOfHalf(half);
    if (!Number.isNaN(value)) {
      assert.equal(halfOfNumber(value), half);
    }
  }
  assert.deepEqual([1, -2, 65504, 65520, 2 ** -24, 2 ** -26, 1 + 2 ** -11, 1 + 3 * 2 ** -11, NaN, -0].map(halfOfNumber),
    [0x3c00, 0xc000, 0x7bff, 0x7c00, 1, 0, 0x3c00, 0x3c02, 0x7e00, 0x8000]);
});

test("bfloat16 and back", () => {
  assert.deepEqual([1, -2, 1 + 2 ** -8, 1 + 3 * 2 ** -8, Infinity, NaN].map(bfloatOfNumber),
    [0x3f80, 0xc000, 0x3f80, 0x3f82, 0x7f80, 0x7fc0]);
  assert.deepEqual([0x3f80, 0xc000, 0x7f80].map(numberOfBfloat), [1, -2, Infinity]);
});

test("each dtype holds ones", () => {
  for (const scalarType of Object.values(ScalarType)) {
    const tensor = Tensor.ones([2, 3], scalarType);
    assert.equal(tensor.scalarType, scalarType);
    assert.equal(Number(tensor.toArray()[0]), 1);
  }
});

test("sizes are checked", () => {
  for (const sizes of [[-1], [1.5], [2 ** 31]]) {
    assert.throws(() => Tensor.zeros(sizes), { name: "RangeError", message: /expected sizes from 0 to 2147483647/ });
  }
  assert.throws(() => new Tensor(ScalarType.Float, [2, 2], null, [0, 0]), { message: /each once, found \[0,0\]/ });
});

function made() {
  const runtime = new FakeRuntime();
  return { runtime, et: createInterface(runtime) };
}

test("a call frees what it allocated", () => {
  const { runtime, et } = made();
  const module = et.Module.load(new Uint8Array([1, 2, 3]));
  const before = runtime.blocks.size;
  const [result] = module.forward([et.Tensor.fromArray([2], [1, 2]), 3, 4n, true, null, "text"]);
  assert.deepEqual(Array.from(result.data), [2, 4]);
  assert.equal(runtime.blocks.size, before);
  assert.equal(runtime.handles.size, 1);
  module.delete();
  assert.deepEqual([runtime.blocks.size, runtime.handles.size], [0, 0]);
});

test("an error is the status's, and frees as much", () => {
  const { runtime, et } = made();
  const module = et.Module.load(new ArrayBuffer(3));
  const before = [runtime.blocks.size, runtime.handles.size];
  runtime.fails = { execute: [0x12, "expected 2 inputs, found 1"] };
  assert.throws(() => module.forward(et.Tensor.ones([2])), {
    name: "ExecuTorchError", code: 0x12, codeName: "INVALID_ARGUMENT", reason: "expected 2 inputs, found 1",
    message: "Failed to execute method forward, error: 0x12: expected 2 inputs, found 1",
  });
  assert.throws(() => module.forward([et.Tensor.ones([2]), undefined]), { message: "Value cannot be undefined" });
  assert.deepEqual([runtime.blocks.size, runtime.handles.size], before);
  runtime.fails = { module_load: [0x23, "no program"] };
  assert.throws(() => et.Module.load(new ArrayBuffer(3)), { code: 0x23 });
  assert.deepEqual([runtime.blocks.size, runtime.handles.size], before);
});

test("memory may grow at any allocation", () => {
  const { runtime, et } = made();
  runtime.growsAlways = true;
  const module = et.Module.load(new Uint8Array(3));
  assert.deepEqual(Array.from(module.forward(et.Tensor.fromArray([2], [1, 2]))[0].data), [2, 4]);
});

test("no memory is an error", () => {
  const { runtime, et } = made();
  runtime.isFull = true;
  assert.throws(() => et.Module.load(new Uint8Array(3)), { codeName: "MEMORY_ALLOCATION_FAILED" });
});

test("an answer comes in pieces, and ends when the receiver says so or fails", () => {
  const { runtime, et } = made();
  const session = et.TextSession.load(new Uint8Array(3), { tokenizer: new ArrayBuffer(2) });
  assert.equal(runtime.handles.get(1n).files, 2);
  assert.equal(runtime.files.size, 0);
  const pieces = [];
  const answer = session.generate("a b c", { temperature: 0, stops: ["x"] }, (piece) => pieces.push(piece));
  assert.deepEqual([pieces, answer.text, answer.reason, answer.newTokens], [["a", "b", "c"], "abc", "end_of_text", 3]);
  const { text, reason } = session.generate("a b c", {}, (piece) => piece !== "b");
  assert.deepEqual([text, reason], ["ab", "stopped"]);
  assert.throws(() => session.generate("a b c", {}, () => { throw new Error("no"); }), { message: "no" });
  assert.equal(session.generate("a b").text, "ab");
  session.delete();
  assert.deepEqual([runtime.blocks.size, runtime.handles.size], [0, 0]);
});
