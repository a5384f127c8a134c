// SPDX-License-Identifier: BSD-3-Clause
// As much of a program as the interface's JavaScript sees: memory, malloc, and a table of functions. Its one method doubles
// the first input. Counts blocks and handles.
import { CONSTANTS, STRUCTS } from "../src/raw.mjs";

const offsetOf = (struct, member) => STRUCTS[struct].members.find(([name]) => name === member)[1];

export class FakeRuntime {
  constructor() {
    this.memory = { buffer: new ArrayBuffer(1 << 16) };
    this.blocks = new Map();
    this.handles = new Map();
    this.files = new Map();
    this.end = 8;
    this.last = 0n;
    this.fails = {};
    this.functions = [null];
    this.table = { get: (index) => this.functions[index] };
    this.version = this.text("1.0");
    this.api = this.structure();
    this.blocks.clear();
  }

  get view() {
    return new DataView(this.memory.buffer);
  }

  malloc(size) {
    if (this.isFull) {
      return 0;
    }
    const address = this.end;
    this.end = Math.ceil((address + size) / 8) * 8;
    if (this.end > this.memory.buffer.byteLength || this.growsAlways) {
      this.memory.buffer = this.memory.buffer.transfer?.(this.memory.buffer.byteLength + this.end) ?? this.grown();
    }
    this.blocks.set(address, size);
    return address;
  }

  /** A copy, after which old views see no more changes. */
  grown() {
    const larger = new ArrayBuffer(this.memory.buffer.byteLength + this.end);
    new Uint8Array(larger).set(new Uint8Array(this.memory.buffer));
    return larger;
  }

  free(address) {
    if (!this.blocks.delete(address)) {
      throw new Error(`free of ${address}, which is no block`);
    }
  }

  getApi() {
    return this.api;
  }

  text(text) {
    const address = this.malloc(text.length + 1);
    new Uint8Array(this.memory.buffer).set(new TextEncoder().encode(text), address);
    return address;
  }

  structure() {
    const address = this.malloc(STRUCTS.ExecuTorchApi.size);
    for (const [name, offset] of STRUCTS.ExecuTorchApi.members) {
      if (name === "library_version") {
        this.view.setUint32(address + offset, this.version, true);
        continue;
      }
      this.view.setUint32(address + offset, this.functions.length, true);
      this.functions.push((...values) => {
        const wrong = this.fails[name];
        return wrong === undefined ? this[name](...values) : this.handle({ code: wrong[0], message: wrong[1] });
      });
    }
    return address;
  }

  handle(object) {
    this.handles.set(++this.last, object);
    return this.last;
  }

  result(address, object) {
    this.view.setBigUint64(address, this.handle(object), true);
    return 0n;
  }

  release(handle) {
    if (handle !== 0n && !this.handles.delete(handle)) {
      throw new Error(`release of ${handle}, which is no handle`);
    }
    return 0n;
  }

  status_code(handle) {
    return this.handles.get(handle).code;
  }

  status_message(handle) {
    const address = this.text(this.handles.get(handle).message);
    this.blocks.delete(address);  // the status's own
    return address;
  }

  addFunction(called) {
    return this.functions.push(called) - 1;
  }

  writeFile(path, bytes) {
    this.files.set(path, bytes);
  }

  removeFile(path) {
    this.files.delete(path);
  }

  text_new(options, count, out) {
    return this.result(out, { files: this.files.size });
  }

  /** Says each word of the prompt, until it is told to end. */
  text_generate(session, prompt, options, result) {
    const called = this.functions[this.view.getUint32(options + offsetOf("ExecuTorchGenerateOptions", "on_text"), true)];
    const bytes = new Uint8Array(this.memory.buffer);
    const words = new TextDecoder().decode(bytes.slice(prompt, bytes.indexOf(0, prompt))).split(" ");
    let count = 0;
    for (const word of words) {
      const address = this.text(word);
      const ends = called(0, address, word.length);
      this.free(address);
      ++count;
      if (ends !== 0) {
        break;
      }
    }
    this.view.setInt32(result + offsetOf("ExecuTorchTextResult", "reason"), count === words.length ? 1 : 4, true);
    this.view.setBigInt64(result + offsetOf("ExecuTorchTextResult", "new_tokens"), BigInt(count), true);
    return 0n;
  }

  module_load(options, out) {
    const place = options + offsetOf("ExecuTorchModuleOptions", "program") + offsetOf("ExecuTorchSource", "size");
    return this.result(out, { size: this.view.getUint32(place, true) });
  }

  method_info(module, method, out) {
    this.view.setUint32(out + offsetOf("ExecuTorchMethodInfo", "num_outputs"), 1, true);
    return 0n;
  }

  tensor_new(spec, out) {
    const member = (name) => this.view.getUint32(spec + offsetOf("ExecuTorchTensorSpec", name), true);
    const size = this.view.getInt32(member("sizes"), true);
    const values = Array.from({ length: size }, (_, i) => this.view.getFloat32(member("data") + 4 * i, true));
    return this.result(out, { values });
  }

  execute(module, method, inputs, numInputs, outputs) {
    const { values } = this.handles.get(this.view.getBigUint64(inputs + offsetOf("ExecuTorchValue", "tensor"), true));
    this.output = values.map((value) => 2 * value);
    this.view.setInt32(outputs, CONSTANTS.TENSOR, true);
    return 0n;
  }

  tensor_info(tensor, out) {
    const data = this.malloc(64);
    this.blocks.delete(data);  // the module's own
    this.output.forEach((value, i) => this.view.setFloat32(data + 4 * i, value, true));
    this.view.setInt32(data + 32, this.output.length, true);
    const write = (name, value) => this.view.setUint32(out + offsetOf("ExecuTorchTensorInfo", name), value, true);
    Object.entries({ dtype: 6, rank: 1, sizes: data + 32, dim_order: data + 40, data, num_bytes: 4 * this.output.length })
      .forEach(([name, value]) => write(name, value));
    return 0n;
  }
}
