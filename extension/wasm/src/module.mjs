// SPDX-License-Identifier: BSD-3-Clause
// A program with its methods. The program's bytes are in its memory until delete().
import { Tag, TAGS, dtypeOf } from "./dtypes.mjs";
import { ExecuTorchError } from "./memory.mjs";
import { CONSTANTS, STRUCTS } from "./raw.mjs";
import { Tensor } from "./tensor.mjs";

/** Bytes of what load() takes; a string is a path that `readFile` knows. */
function bytesOf(data, readFile) {
  if (data === null || data === undefined) {
    throw new TypeError("Data cannot be null or undefined");
  }
  if (typeof data === "string" && readFile !== undefined) {
    try {
      return readFile(data);
    } catch (error) {
      throw new ExecuTorchError(CONSTANTS.ACCESS_FAILED, `expected a file, found none at ${data}`, "Failed to load program");
    }
  }
  if (data instanceof ArrayBuffer) {
    return new Uint8Array(data);
  }
  if (ArrayBuffer.isView(data)) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  throw new TypeError(`Unsupported data type: ${typeof data}`);
}

/** The value that the C interface takes for one of JavaScript; tensors are made in `scope`. */
function inputOf(value, core, scope, tensors) {
  switch (typeof value) {
    case "number":
      return { kind: Tag.Double.value, number: value };
    case "bigint":
      return { kind: Tag.Int.value, integer: value };
    case "boolean":
      return { kind: Tag.Bool.value, integer: value ? 1n : 0n };
    case "string": {
      const text = scope.text(value);
      return { kind: Tag.String.value, text, text_size: new TextEncoder().encode(value).length };
    }
    case "undefined":
      throw new TypeError("Value cannot be undefined");
    case "object":
      break;
    default:
      throw new TypeError(`Unsupported JavaScript type: ${typeof value}`);
  }
  if (value === null) {
    return { kind: Tag.None.value };
  }
  if (!(value instanceof Tensor)) {
    throw new Error(`Received non-tensor object: ${JSON.stringify(value)}`);
  }
  const { data, sizes, dimOrder } = value;
  const spec = scope.struct("ExecuTorchTensorSpec", {
    dtype: value.scalarType.value, rank: sizes.length, sizes: scope.data(Int32Array.from(sizes)),
    dim_order: scope.data(Uint8Array.from(dimOrder)), data: scope.data(data), data_size: data.byteLength,
  });
  const handle = scope.zeros(8);
  core.call("Failed to make an input", "tensor_new", spec, handle);
  const tensor = core.view.getBigUint64(handle, true);
  tensors.push(tensor);
  return { kind: Tag.Tensor.value, tensor };
}

/** A copy in JavaScript's memory. */
function copyOf(handle, core, scope) {
  const address = scope.struct("ExecuTorchTensorInfo");
  core.call("Failed to read an output", "tensor_info", handle, address);
  const info = core.read("ExecuTorchTensorInfo", address);
  const dtype = dtypeOf(info.dtype);
  const data = new dtype.array(core.bytes(info.data, info.num_bytes).slice().buffer);
  const sizes = core.integers(info.sizes, info.rank, "i32");
  return new Tensor(info.dtype, sizes, data, core.integers(info.dim_order, info.rank, "u8"));
}

function outputOf(value, core, scope) {
  switch (TAGS[value.kind]) {
    case Tag.None:
      return null;
    case Tag.Tensor:
      return copyOf(value.tensor, core, scope);
    case Tag.String:
      return new TextDecoder().decode(core.bytes(value.text, value.text_size).slice());
    case Tag.Double:
      return value.number;
    case Tag.Int:
      return value.integer;
    case Tag.Bool:
      return value.integer !== 0n;
    default:
      throw new TypeError(`Unsupported EValue type: ${TAGS[value.kind]}`);
  }
}

/** The class of modules of one instance of the program. */
export function moduleClass(core) {
  const left = new FinalizationRegistry((owned) => release(owned));

  function release(owned) {
    core.release(owned.handle);
    owned.blocks.forEach((address) => core.free(address));
    owned.handle = 0n;
    owned.blocks = [];
  }

  /** Bytes in the program's memory, as a source of the C interface. */
  function sourceOf(data, blocks) {
    const bytes = bytesOf(data, core.runtime.readFile);
    const address = core.allocate(bytes.byteLength);
    blocks.push(address);
    core.bytes(address, bytes.byteLength).set(bytes);
    return { data: address, size: bytes.byteLength };
  }

  return class Module {
    #owned;
    #methods = new Map();

    /** Users have load(). */
    constructor(owned) {
      this.#owned = owned;
      left.register(this, owned, owned);
    }

    /** A .pte, and the .ptd files that it needs: paths, Uint8Arrays or ArrayBuffers, which are copied. */
    static load(data, dataFiles = []) {
      const owned = { handle: 0n, blocks: [] };
      try {
        core.scope((scope) => {
          const program = sourceOf(data, owned.blocks);
          const files = dataFiles.map((file) => sourceOf(file, owned.blocks));
          const options = scope.struct("ExecuTorchModuleOptions", {
            program, data_files: scope.structs("ExecuTorchSource", files), num_data_files: files.length,
            records_events: core.runtime.recordsEvents ? 1 : 0,
          });
          const handle = scope.zeros(8);
          core.call("Failed to load program", "module_load", options, handle);
          owned.handle = core.view.getBigUint64(handle, true);
          owned.program = program.data;
        });
      } catch (error) {
        release(owned);
        throw error;
      }
      return new Module(owned);
    }

    get #handle() {
      if (this.#owned.handle === 0n) {
        throw new Error("expected a module, found one after delete()");
      }
      return this.#owned.handle;
    }

    #ask(doing, name, struct, ...values) {
      return core.scope((scope) => {
        const address = scope.struct(struct);
        core.call(doing, name, this.#handle, ...values.map((each) => (typeof each === "string" ? scope.text(each) : each)), address);
        return core.read(struct, address);
      });
    }

    getMethods() {
      return core.scope((scope) => {
        const names = [];
        const name = scope.zeros(4);
        for (;;) {
          const status = core.status("method_name", this.#handle, names.length, name);
          if (status !== 0n) {
            const error = core.error("Failed to get methods", status);
            if (error.code === CONSTANTS.NOT_FOUND) {
              return names;
            }
            throw error;
          }
          names.push(core.text(core.view.getUint32(name, true)));
        }
      });
    }

    loadMethod(name) {
      core.scope((scope) =>
        core.call(`Failed to load method ${name}`, "load_method", this.#handle, scope.text(name), 0, 0));
    }

    /** Frees a method's memory; it is loaded again by its next call. */
    unloadMethod(name) {
      core.scope((scope) =>
        core.call(`Failed to unload method ${name}`, "unload_method", this.#handle, scope.text(name)));
    }

    #values(name, port, count) {
      const doing = `Failed to get method meta for ${name}`;
      return Array.from({ length: count }, (_, i) => {
        const info = this.#ask(doing, "value_info", "ExecuTorchValueInfo", name, port, i);
        const tensor = info.dtype < 0 ? undefined : {
          sizes: core.integers(info.sizes, info.rank, "i32"),
          minSizes: info.min_sizes === 0 ? undefined : core.integers(info.min_sizes, info.rank, "i32"),
          dimOrder: core.integers(info.dim_order, info.rank, "u8"),
          scalarType: dtypeOf(info.dtype).scalarType,
          isMemoryPlanned: info.is_planned !== 0,
          nbytes: info.num_bytes,
          nBytes: info.num_bytes,
          name: core.text(info.name),
        };
        return { tag: TAGS[info.kind], name: core.text(info.name), tensor };
      });
    }

    getMethodMeta(name) {
      const doing = `Failed to get method meta for ${name}`;
      const info = this.#ask(doing, "method_info", "ExecuTorchMethodInfo", name);
      const inputs = this.#values(name, CONSTANTS.INPUT, info.num_inputs);
      const outputs = this.#values(name, CONSTANTS.OUTPUT, info.num_outputs);
      const attributes = this.#values(name, CONSTANTS.ATTRIBUTE, info.num_attributes);
      const list = (count, take) => core.scope((scope) => {
        const [method, place] = [scope.text(name), scope.zeros(4)];
        return Array.from({ length: count }, (_, i) => take(method, i, place));
      });
      return {
        name,
        inputTags: inputs.map((each) => each.tag),
        inputNames: inputs.map((each) => each.name),
        inputTensorMeta: inputs.map((each) => each.tensor),
        outputTags: outputs.map((each) => each.tag),
        outputNames: outputs.map((each) => each.name),
        outputTensorMeta: outputs.map((each) => each.tensor),
        attributeTensorMeta: attributes.map((each) => each.tensor),
        memoryPlannedBufferSizes: list(info.num_planned_buffers, (method, i, place) => {
          core.call(doing, "planned_buffer_size", this.#handle, method, i, place);
          return core.view.getUint32(place, true);
        }),
        backends: list(info.num_backends, (method, i, place) => {
          core.call(doing, "method_backend", this.#handle, method, i, place);
          return core.text(core.view.getUint32(place, true));
        }),
        ...this.#calls(name),
      };
    }

    getMethodMetadata(name) {
      return this.getMethodMeta(name);
    }

    /** numInstructions, and how often each operator and each delegate is called. */
    #calls(name) {
      return core.scope((scope) => {
        const text = core.runtime.callsOf(this.#owned.program, scope.text(name)) >>> 0;
        try {
          return JSON.parse(core.text(text));
        } finally {
          core.free(text);
        }
      });
    }

    #numOutputs(name) {
      if (!this.#methods.has(name)) {
        const info = this.#ask(`Failed to load method ${name}`, "method_info", "ExecuTorchMethodInfo", name);
        this.#methods.set(name, info.num_outputs);
      }
      return this.#methods.get(name);
    }

    /** One value or an array of them; gives an array. Outputs are copies: the next call leaves them as they are. */
    execute(name, inputs = []) {
      const given = Array.isArray(inputs) ? inputs : [inputs];
      const numOutputs = this.#numOutputs(name);
      const tensors = [];
      return core.scope((scope) => {
        try {
          const values = given.map((value) => inputOf(value, core, scope, tensors));
          const outputs = scope.structs("ExecuTorchValue", Array.from({ length: numOutputs }, () => ({})));
          core.call(`Failed to execute method ${name}`, "execute", this.#handle, scope.text(name),
            scope.structs("ExecuTorchValue", values), values.length, outputs, numOutputs);
          return Array.from({ length: numOutputs }, (_, i) =>
            outputOf(core.read("ExecuTorchValue", outputs + i * STRUCTS.ExecuTorchValue.size), core, scope));
        } finally {
          tensors.forEach((tensor) => core.release(tensor));
        }
      });
    }

    forward(inputs = []) {
      return this.execute("forward", inputs);
    }

    static {
      if (core.runtime.recordsEvents) {
        /** What happened since the last call, as the bytes of an ETDump. */
        Module.prototype.etdump = function () {
          return { buffer: this.#takeEvents(), delete() {} };
        };
      }
    }

    #takeEvents() {
      return core.scope((scope) => {
        const [events, values] = [scope.struct("ExecuTorchMemory"), scope.struct("ExecuTorchMemory")];
        core.call("Failed to take events", "module_take_events", this.#handle, events, values);
        const { data, size } = core.read("ExecuTorchMemory", events);
        return core.bytes(data, size).slice();
      });
    }

    delete() {
      left.unregister(this.#owned);
      release(this.#owned);
    }
  };
}
