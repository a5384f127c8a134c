// SPDX-License-Identifier: BSD-3-Clause
// All of the interface over one instance of the program.
import { ScalarType, Tag } from "./dtypes.mjs";
import { Core, ExecuTorchError } from "./memory.mjs";
import { moduleClass } from "./module.mjs";
import { Tensor } from "./tensor.mjs";
import { textSessionClass } from "./text.mjs";
import { tokenizerClasses } from "./tokenizers.mjs";

export function createInterface(runtime) {
  const core = new Core(runtime);
  if (runtime.numThreads > 1) {
    core.call("Failed to start threads", "set_num_threads", runtime.numThreads);
  }
  return {
    Module: moduleClass(core), Tensor, ScalarType, Tag, ExecuTorchError, TextSession: textSessionClass(core), ...tokenizerClasses(core),
    version: core.text(core.table.library_version),
    numThreads: runtime.numThreads, whyOneThread: runtime.whyOneThread,
    /** Bytes of memory that the program has taken so far. */
    memoryUsed: () => runtime.memory.buffer.byteLength,
  };
}
