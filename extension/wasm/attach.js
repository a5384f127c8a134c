// SPDX-License-Identifier: BSD-3-Clause
// Behind what Emscripten writes, which its minifier reads: the interface's names on the module object, before anyone runs.
addOnInit(function () {
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
    recordsEvents: "@events@" === "true",
  }));
});
