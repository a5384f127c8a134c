# SPDX-License-Identifier: BSD-3-Clause
"""Runs `.pte` programs from Python on the C++ runtime; tensors are `torch.Tensor` or `numpy.ndarray`.

from executorch.runtime import Runtime

program = Runtime.get().load_program("model.pte")
outputs = program.load_method("forward").execute([torch.randn(1, 3, 224, 224)])
"""

if __name__ == "runtime":
    from executorch import _alias

    _alias.install("runtime")
else:
    from executorch.runtime._named_values import Outputs
    from executorch.runtime._runtime import (
        BackendRegistry,
        ExecuTorchMethod,
        ExecuTorchProgram,
        Method,
        MethodMeta,
        OperatorRegistry,
        Program,
        Runtime,
        Verification,
    )

    __all__ = [
        "BackendRegistry",
        "ExecuTorchMethod",
        "ExecuTorchProgram",
        "Method",
        "MethodMeta",
        "OperatorRegistry",
        "Outputs",
        "Program",
        "Runtime",
        "Verification",
    ]
