// SPDX-License-Identifier: BSD-3-Clause
// Programs of ExecuTorch in Node: require("...")("./executorch.node"). Objects end with close().
"use strict";

const path = require("path");

module.exports = (binding) => {
  const native = require(path.resolve(binding));

  class Handle {
    constructor(handle) {
      this.handle = handle;
    }
    close() {
      native.release(this.handle);
    }
  }

  // Tensors are {dtype, sizes, data: ArrayBuffer}; dtypes are those of executorch.h. Outputs are copies.
  class Module extends Handle {
    constructor(file) {
      super(native.load(file));
    }
    inputs(method = "forward") {
      return native.inputs(this.handle, method);
    }
    execute(inputs, method = "forward") {
      return native.execute(this.handle, method, inputs);
    }
  }

  // A context, behind which each prompt and answer goes. onText gets each piece as it comes.
  class TextSession extends Handle {
    constructor(program, tokenizer = null) {
      super(native.text(program, tokenizer));
    }
    generate(prompt, options, onText) {
      native.generate(this.handle, prompt, options, onText);
    }
  }

  return { Module, TextSession };
};
