// SPDX-License-Identifier: BSD-3-Clause
// Behind what Emscripten writes, which its minifier reads: the interface's names on the module object, before anyone runs.
addOnInit(function () {
  if (ENVIRONMENT_IS_NODE && typeof PThread !== "undefined") {
    PThread.unusedWorkers.forEach(function (worker) { worker.unref(); });  // or Node would wait for them at its end
  }
  var tokenizers = typeof _executorch_wasm_tokenizer_new === "undefined" ? undefined : {
    create: _executorch_wasm_tokenizer_new,
    remove: _executorch_wasm_tokenizer_delete,
    load: _executorch_wasm_tokenizer_load,
    facts: _executorch_wasm_tokenizer_facts,
    encode: _executorch_wasm_tokenizer_encode,
    decode: _executorch_wasm_tokenizer_decode,
  };
  Object.assign(Module, createExecuTorch({
    memory: wasmMemory,
    table: wasmTable,
    malloc: _malloc,
    free: _free,
    getApi: _executorch_get_api,
    callsOf: _executorch_wasm_calls,
    addFunction: addFunction,
    readFile: function (path) { return FS.readFile(path); },
    writeFile: function (path, bytes) { FS.writeFile(path, bytes, { canOwn: true }); },
    removeFile: function (path) { FS.unlink(path); },
    tokenizers: tokenizers,
    numThreads: (Module.numWorkers || 0) + 1,
    whyOneThread: Module.whyOneThread || "",
    recordsEvents: "@events@" === "true",
  }));
});
