// SPDX-License-Identifier: BSD-3-Clause
// The C interface as JavaScript calls it: structures and text in the program's memory, calls whose status becomes an error.
import { API_VERSION, CONSTANTS, STRUCTS } from "./raw.mjs";

const NAMES_OF_CODES = Object.entries(CONSTANTS).slice(0, Object.keys(CONSTANTS).indexOf("UINT8"));

/** What the runtime reports. `code` is a number of Error in C++, `codeName` its name. */
export class ExecuTorchError extends Error {
  constructor(code, message, doing = "") {
    const number = "0x" + code.toString(16).padStart(2, "0");
    super(doing === "" ? message : `${doing}, error: ${number}: ${message}`);
    this.name = "ExecuTorchError";
    this.code = code;
    this.codeName = (NAMES_OF_CODES.find(([, value]) => value === code) || ["UNKNOWN"])[0];
    this.reason = message;
  }
}

const READERS = { u8: "getUint8", i32: "getInt32", u32: "getUint32", i64: "getBigInt64", u64: "getBigUint64", f64: "getFloat64" };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Memory and functions of one instance of the program. `runtime` has memory, table, malloc, free, getApi, addFunction. */
export class Core {
  constructor(runtime) {
    this.runtime = runtime;
    const api = runtime.getApi(API_VERSION);
    if (api === 0) {
      throw new Error(`this program is older than version ${API_VERSION} of the interface`);
    }
    this.table = this.read("ExecuTorchApi", api);
  }

  /** Views end when memory grows: ask for one each time. */
  get view() {
    if (this.cachedView === undefined || this.cachedView.buffer !== this.runtime.memory.buffer) {
      this.cachedView = new DataView(this.runtime.memory.buffer);
    }
    return this.cachedView;
  }

  bytes(address, size) {
    return new Uint8Array(this.runtime.memory.buffer, address, size);
  }

  text(address) {
    if (address === 0) {
      return "";
    }
    const all = new Uint8Array(this.runtime.memory.buffer);
    return decoder.decode(all.slice(address, all.indexOf(0, address)));
  }

  integers(address, count, type) {
    return Array.from({ length: count }, (_, i) =>
      this.view[READERS[type]](address + i * (type === "u8" ? 1 : 4), true));
  }

  read(name, address) {
    const result = {};
    for (const [member, offset, type] of STRUCTS[name].members) {
      result[member] = type in READERS ? this.view[READERS[type]](address + offset, true) : this.read(type, address + offset);
    }
    return result;
  }

  write(name, address, values) {
    for (const [member, offset, type] of STRUCTS[name].members) {
      const value = member === "struct_size" ? STRUCTS[name].size : values[member];
      if (value === undefined) {
        continue;  // memory was zero
      }
      if (type in READERS) {
        this.view[READERS[type].replace("get", "set")](address + offset, value, true);
      } else {
        this.write(type, address + offset, value);
      }
    }
  }

  allocate(size) {
    const address = this.runtime.malloc(Math.max(size, 1)) >>> 0;  // beyond 2 GB it comes as a negative number
    if (address === 0) {
      throw new ExecuTorchError(CONSTANTS.MEMORY_ALLOCATION_FAILED, `expected memory for ${size} bytes, found none`);
    }
    return address;
  }

  free(address) {
    this.runtime.free(address);
  }

  /** Runs `work` with a scope, whose memory ends with it. */
  scope(work) {
    const scope = new Scope(this);
    try {
      return work(scope);
    } finally {
      scope.close();
    }
  }

  /** Calls a function of the table; gives the status, 0n for success. */
  status(name, ...values) {
    return this.runtime.table.get(this.table[name])(...values);
  }

  /** Calls a function of the table; `doing` begins the message of an error, as "Failed to ...". */
  call(doing, name, ...values) {
    this.check(doing, this.status(name, ...values));
  }

  check(doing, status) {
    if (status !== 0n) {
      throw this.error(doing, status);
    }
  }

  error(doing, status) {
    const code = this.runtime.table.get(this.table.status_code)(status);
    // The first line has the function and the code, which the error has already.
    const message = this.text(this.runtime.table.get(this.table.status_message)(status))
      .replace(/^\w+: Error::\w+ \(0x[0-9a-f]+\)\n\s*/, "");
    this.release(status);
    return new ExecuTorchError(code, message, doing);
  }

  release(handle) {
    const status = this.runtime.table.get(this.table.release)(handle);
    if (status !== 0n) {
      this.runtime.table.get(this.table.release)(status);
    }
  }
}

/** Memory during a call. */
class Scope {
  constructor(core) {
    this.core = core;
    this.blocks = [];
  }

  allocate(size) {
    const address = this.core.allocate(size);
    this.blocks.push(address);
    return address;
  }

  zeros(size) {
    const address = this.allocate(size);
    this.core.bytes(address, size).fill(0);
    return address;
  }

  text(text) {
    if (text === null) {
      return 0;
    }
    const bytes = encoder.encode(text);
    const address = this.zeros(bytes.length + 1);
    this.core.bytes(address, bytes.length).set(bytes);
    return address;
  }

  data(bytes) {
    const address = this.allocate(bytes.byteLength);
    this.core.bytes(address, bytes.byteLength).set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return address;
  }

  /** An array of structures, filled from `rows`; or one that is empty. */
  structs(name, rows) {
    const size = STRUCTS[name].size;
    const address = this.zeros(size * rows.length);
    rows.forEach((row, i) => this.core.write(name, address + i * size, row));
    return address;
  }

  struct(name, values = {}) {
    return this.structs(name, [values]);
  }

  close() {
    for (const address of this.blocks) {
      this.core.free(address);
    }
  }
}
