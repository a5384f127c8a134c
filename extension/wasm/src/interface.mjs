// SPDX-License-Identifier: BSD-3-Clause
// All of the interface over one instance of the program.
import { ScalarType, Tag } from "./dtypes.mjs";
import { Core, ExecuTorchError } from "./memory.mjs";
import { moduleClass } from "./module.mjs";
import { Tensor } from "./tensor.mjs";
import { textSessionClass } from "./text.mjs";

export function createInterface(runtime) {
  const core = new Core(runtime);
  return {
    Module: moduleClass(core), Tensor, ScalarType, Tag, ExecuTorchError, TextSession: textSessionClass(core),
    version: core.text(core.table.library_version),
    /** Bytes of memory that the program has taken so far. */
    memoryUsed: () => runtime.memory.buffer.byteLength,
  };
}
