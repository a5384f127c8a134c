# SPDX-License-Identifier: BSD-3-Clause
"""Runs a file with executorch-numpy-runtime, upstream's C++ without PyTorch; the outputs go to a .npz file."""

import json
import sys

import executorch_numpy_runtime
import numpy as np

program, inputs, outputs = sys.argv[1:]
given = np.load(inputs)
method = executorch_numpy_runtime.Runtime.get().load_program(program).load_method("forward")
results = method([given[name] for name in sorted(given.files)])
np.savez(outputs, *results)
print(json.dumps({"outputs": len(results)}))
