// SPDX-License-Identifier: BSD-3-Clause
// What the documents say of the interface, on the package in EXECUTORCH_WASM with the programs of programs.py in PROGRAMS:
// node --test
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

const folder = process.env.EXECUTORCH_WASM;
const { load } = await import(pathToFileURL(join(folder, "index.mjs")));
const et = await load({ threads: Number(process.env.THREADS ?? 1) });
const { Module, Tensor, ScalarType, Tag } = et;
const bytes = (name) => readFileSync(join(process.env.PROGRAMS, `${name}.pte`));
const list = (tensor) => Array.from(tensor.data);

/** Runs `work` with a module, and ends that. */
function using(name, work) {
  const module = Module.load(bytes(name));
  try {
    work(module);
  } finally {
    module.delete();
  }
}

test("enumerations", () => {
  assert.deepEqual([ScalarType.Float.value, ScalarType.Float.name], [6, "Float"]);
  assert.deepEqual([ScalarType.Long.value, ScalarType.Long.name], [4, "Long"]);
  const tags = ["None", "Tensor", "String", "Double", "Int", "Bool", "ListBool", "ListDouble", "ListInt", "ListTensor",
    "ListScalar", "ListOptionalTensor"];
  tags.forEach((name, value) => assert.deepEqual([Tag[name].name, Tag[name].value], [name, value]));
});

test("zeros", () => {
  const tensor = Tensor.zeros([2, 2]);
  assert.equal(tensor.scalarType, ScalarType.Float);
  assert.ok(tensor.data instanceof Float32Array);
  assert.deepEqual([tensor.sizes, list(tensor)], [[2, 2], [0, 0, 0, 0]]);
  assert.deepEqual(list(Tensor.zeroes([2], ScalarType.Long)), [0n, 0n]);
});
test("zeros of integers", () => assert.ok(Tensor.zeros([2], ScalarType.Long).data instanceof BigInt64Array));
test("ones", () => assert.deepEqual(list(Tensor.ones([2, 2])), [1, 1, 1, 1]));
test("ones of integers", () => assert.deepEqual(list(Tensor.ones([2], ScalarType.Long)), [1n, 1n]));
test("full", () => assert.deepEqual(list(Tensor.full([2, 2], 3)), [3, 3, 3, 3]));
test("full of a bigint is Long", () => assert.equal(Tensor.full([2], 3n).scalarType, ScalarType.Long));
test("full of a scalar", () => assert.deepEqual(list(Tensor.full([], 3)), [3]));
test("fromArray", () => {
  const tensor = Tensor.fromArray([2, 2], [1, 2, 3, 4]);
  assert.deepEqual([tensor.scalarType, list(tensor)], [ScalarType.Float, [1, 2, 3, 4]]);
});
test("fromArray of bigints", () => {
  const tensor = Tensor.fromArray([2], [1n, 2n]);
  assert.deepEqual([tensor.scalarType, list(tensor)], [ScalarType.Long, [1n, 2n]]);
});
test("fromArray of typed arrays", () => {
  assert.deepEqual(list(Tensor.fromArray([2], new Float32Array([1, 2]))), [1, 2]);
  assert.deepEqual(list(Tensor.fromArray([2], new BigInt64Array([1n, 2n]))), [1n, 2n]);
});
test("fromArray of nothing is Float", () => assert.equal(Tensor.fromArray([0], []).scalarType, ScalarType.Float));
test("fromArray with a type", () => assert.deepEqual(list(Tensor.fromArray([2], [1n, 2n], ScalarType.Long)), [1n, 2n]));
test("fromArray copies", () => {
  const array = new Float32Array([1, 2]);
  const tensor = Tensor.fromArray([2], array);
  array[0] = 9;
  assert.deepEqual(list(tensor), [1, 2]);
});
test("fromArray with too few elements", () =>
  assert.throws(() => Tensor.fromArray([2, 2], [1, 2, 3]), { name: "Error", message: "Required 4 elements, given 3" }));
test("fromArray with a dim order", () =>
  assert.deepEqual(Tensor.fromArray([2, 3], [1, 2, 3, 4, 5, 6], ScalarType.Float, [1, 0]).strides, [1, 2]));
test("fromArray with a dim order of another rank", () =>
  assert.throws(() => Tensor.fromArray([2], [1, 2], ScalarType.Float, [0, 1]),
    { message: "dim_order size must match sizes or be empty." }));
test("fromArray with strides", () =>
  assert.deepEqual(Tensor.fromArray([2, 2], [1, 2, 3, 4], ScalarType.Float, [1, 0], [1, 2]).dimOrder, [1, 0]));
test("fromArray with strides alone", () =>
  assert.deepEqual(Tensor.fromArray([2, 3], [1, 2, 3, 4, 5, 6], ScalarType.Float, [], [1, 2]).dimOrder, [1, 0]));
test("fromArray with strides of another rank", () =>
  assert.throws(() => Tensor.fromArray([2], [1, 2], ScalarType.Float, [0], [1, 1]),
    { message: "strides size must match sizes or be empty." }));
test("fromArray with strides that cannot be", () =>
  assert.throws(() => Tensor.fromArray([2, 2], [1, 2, 3, 4], ScalarType.Float, [0, 1], [3, 1]),
    { message: /invalid strides for dim 0: expected 2, found 3/ }));
test("fromIter", () => {
  function* values() {
    yield* [1, 2, 3, 4];
  }
  const tensor = Tensor.fromIter([2, 2], values());
  assert.deepEqual([tensor.scalarType, list(tensor)], [ScalarType.Float, [1, 2, 3, 4]]);
});
test("fromIter of bigints", () =>
  assert.deepEqual(list(Tensor.fromIter([2], new Set([1n, 2n]), ScalarType.Long)), [1n, 2n]));
test("fromIter with too few elements", () =>
  assert.throws(() => Tensor.fromIter([3], [1, 2]), { message: "Required 3 elements, given 2" }));
test("fromIter without an end", () => {
  function* forever() {
    for (;;) {
      yield 0;
    }
  }
  assert.throws(() => Tensor.fromIter([2], forever()), RangeError);
});
test("a type that is none", () =>
  assert.throws(() => Tensor.zeros([2], { value: 12 }), { name: "TypeError", message: "Unsupported Tensor type: 12" }));

test("load takes Uint8Array and ArrayBuffer", () => {
  const file = new Uint8Array(bytes("add"));
  for (const data of [file, file.buffer]) {
    const module = Module.load(data);
    assert.deepEqual(module.getMethods(), ["forward"]);
    module.delete();
  }
});
test("load takes a path of the program's files", () => {
  et.FS.writeFile("/add.pte", bytes("add"));
  const module = Module.load("/add.pte");
  assert.deepEqual(module.getMethods(), ["forward"]);
  module.delete();
  assert.throws(() => Module.load("/none.pte"), { name: "ExecuTorchError", codeName: "ACCESS_FAILED", message: /none\.pte/ });
});
for (const nothing of [null, undefined]) {
  test(`load refuses ${nothing}`, () =>
    assert.throws(() => Module.load(nothing), { name: "TypeError", message: "Data cannot be null or undefined" }));
}
test("load refuses a number", () => assert.throws(() => Module.load(3), { message: "Unsupported data type: number" }));
test("load refuses bytes that are no program", () =>
  assert.throws(() => Module.load(new Uint8Array(64)), { name: "ExecuTorchError", codeName: "INVALID_PROGRAM", code: 0x23 }));
test("getMethods", () => using("test", (module) => assert.deepEqual(module.getMethods().sort(), ["add_all", "forward"])));
test("loadMethod", () => using("add", (module) => module.loadMethod("forward")));
test("loadMethod of none", () => using("add", (module) =>
  assert.throws(() => module.loadMethod("none"), { name: "ExecuTorchError", message: /^Failed to load method none, error: 0x/ })));

test("getMethodMeta", () => using("add_mul", (module) => {
  for (const meta of [module.getMethodMeta("forward"), module.getMethodMetadata("forward")]) {
    assert.equal(meta.name, "forward");
    assert.deepEqual(meta.inputTags, [Tag.Tensor, Tag.Tensor, Tag.Tensor]);
    assert.deepEqual(meta.outputTags, [Tag.Tensor]);
    const info = meta.inputTensorMeta[0];
    assert.deepEqual([info.sizes, info.dimOrder, info.scalarType, info.nbytes, info.nBytes],
      [[2, 2], [0, 1], ScalarType.Float, 16, 16]);
    assert.equal(typeof info.isMemoryPlanned, "boolean");
    assert.deepEqual([meta.attributeTensorMeta, meta.backends, meta.numInstructions], [[], [], 2]);
    assert.deepEqual(meta.operators, { "aten::add.out": 1, "aten::mm.out": 1 });
    assert.ok(meta.memoryPlannedBufferSizes.every((size) => size > 0));
  }
}));
test("getMethodMeta of values that are no tensors", () => using("test", (module) => {
  const meta = module.getMethodMeta("add_all");
  assert.deepEqual(meta.inputTags, [Tag.Tensor, Tag.Int, Tag.Double, Tag.Bool]);
  assert.deepEqual(meta.inputTensorMeta.slice(1), [undefined, undefined, undefined]);
  assert.deepEqual([meta.inputTensorMeta[0].sizes, meta.inputTensorMeta[0].minSizes[0]], [[8, 2], 1]);
}));
test("getMethodMeta of none", () => using("add", (module) =>
  assert.throws(() => module.getMethodMeta("none"), { message: /^Failed to get method meta for none, error: 0x/ })));

const pair = () => [Tensor.ones([2, 2]), Tensor.full([2, 2], 2)];
test("forward", () => using("add", (module) => {
  const [sum] = module.forward(pair());
  assert.deepEqual([sum.sizes, sum.scalarType, list(sum)], [[2, 2], ScalarType.Float, [3, 3, 3, 3]]);
}));
test("execute", () => using("add_mul", (module) =>
  assert.deepEqual(list(module.execute("forward", [...pair(), Tensor.ones([2, 2])])[0]), [5, 5, 5, 5])));
test("execute of none", () => using("add", (module) => assert.throws(() => module.execute("none", []), { name: "ExecuTorchError" })));
test("values of all kinds", () => using("test", (module) => {
  const outputs = module.execute("add_all", [Tensor.ones([3, 2]), 7n, 0.5, true]);
  assert.deepEqual(list(outputs[0]), new Array(6).fill(8.5));
  assert.deepEqual(outputs.slice(1), [3n, 2.5, true, null]);
}));
test("sizes within bounds", () => using("test", (module) => {
  assert.deepEqual(module.execute("add_all", [Tensor.ones([5, 2]), 7n, 0.5, true])[0].sizes, [5, 2]);
  assert.throws(() => module.execute("add_all", [Tensor.ones([9, 2]), 7n, 0.5, true]), { name: "ExecuTorchError" });
}));
test("too few inputs", () => using("add", (module) =>
  assert.throws(() => module.forward(Tensor.ones([2, 2])), { message: /^Failed to execute method forward, error: 0x12: .*2/ })));
test("inputs of another size", () => using("add", (module) =>
  assert.throws(() => module.forward([Tensor.ones([2, 3]), Tensor.ones([2, 3])]),
    { name: "ExecuTorchError", message: /dimension 1: expected 2, found 3/ })));
test("inputs that are no values", () => using("add", (module) => {
  assert.throws(() => module.forward(undefined ?? [undefined]), { name: "TypeError", message: "Value cannot be undefined" });
  assert.throws(() => module.forward([{ a: 1 }]), { name: "Error", message: 'Received non-tensor object: {"a":1}' });
  assert.throws(() => module.forward([Symbol("x")]), { name: "TypeError", message: "Unsupported JavaScript type: symbol" });
}));
test("etdump is there where events are", () => using("add", (module) => assert.equal(typeof module.etdump, "undefined")));

// What the interface should have been.
test("outputs stay valid", () => using("add", (module) => {
  const [first] = module.forward(pair());
  const [second] = module.forward([Tensor.full([2, 2], 9), Tensor.full([2, 2], 1)]);
  assert.deepEqual([list(first), list(second)], [[3, 3, 3, 3], [10, 10, 10, 10]]);
  module.delete();
  assert.deepEqual(list(first), [3, 3, 3, 3]);
}));
test("all element types", () => using("dtypes", (module) => {
  const names = ["Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "Bool", "BFloat16"];
  const outputs = module.forward(names.map((name) => Tensor.fromArray([3], [1, 0, 2], ScalarType[name])));
  names.forEach((name, i) => {
    assert.equal(outputs[i].scalarType, ScalarType[name]);
    const two = { Long: 2n, Bool: true }[name] ?? 2;
    assert.equal(outputs[i].toArray()[5], two, name);
    assert.equal(outputs[i].data.constructor, Tensor.zeros([1], ScalarType[name]).data.constructor);
  });
}));
test("channels last", () => using("image", (module) => {
  const [result] = module.forward(Tensor.fromArray([1, 3, 2, 2], Array.from({ length: 12 }, (_, i) => i), ScalarType.Float, [0, 2, 3, 1]));
  assert.deepEqual([result.dimOrder, list(result)], [[0, 2, 3, 1], Array.from({ length: 12 }, (_, i) => 2 * i)]);
}));
test("data files", () => {
  const data = readFileSync(join(process.env.PROGRAMS, readdirSync(process.env.PROGRAMS).find((name) => name.endsWith(".ptd"))));
  const module = Module.load(bytes("scaled"), [data]);
  assert.deepEqual(list(module.forward(Tensor.fromArray([2], [1, 2]))[0]), [2, 6]);
  module.delete();
  using("scaled", (without) => assert.throws(() => without.forward(Tensor.ones([2])), { name: "ExecuTorchError" }));
});
test("after delete", () => {
  const module = Module.load(bytes("add"));
  module.delete();
  module.delete();
  assert.throws(() => module.getMethods(), { message: /after delete/ });
  const tensor = Tensor.ones([1]);
  tensor.delete();
  assert.throws(() => tensor.data, { message: /after delete/ });
});
test("memory is flat over 1,000 calls, loads and errors", () => {
  const round = () => {
    using("add", (module) => {
      module.forward(pair());
      assert.throws(() => module.forward([Tensor.ones([3])]));
    });
    assert.throws(() => Module.load(new Uint8Array(64)));
  };
  for (let i = 0; i < 20; ++i) {
    round();
  }
  // The next block of the heap: what leaked would lie before it.
  const place = () => {
    const address = et._malloc(1 << 16);
    et._free(address);
    return address;
  };
  const before = [et.memoryUsed(), place()];
  for (let i = 0; i < 1000; ++i) {
    round();
  }
  assert.deepEqual([et.memoryUsed(), place()], before);
});
test("CommonJS has the same interface", async () => {
  const { load: loadCommon } = createRequire(import.meta.url)(join(folder, "index.cjs"));
  const other = await loadCommon();
  const module = other.Module.load(bytes("add"));
  assert.deepEqual(Array.from(module.forward([other.Tensor.ones([2, 2]), other.Tensor.ones([2, 2])])[0].data), [2, 2, 2, 2]);
  assert.equal(other.version, et.version);
});
