# SPDX-License-Identifier: BSD-3-Clause
"""Programs at each stage of the compiler, and the way from one to the next."""

from executorch.exir.program._fake_program import get_fake_program, update_to_real_program
from executorch.exir.program._managers import (
    EdgeProgramManager,
    ExecutorchProgramManager,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.exir.program._passes_by_hand import edge_to_executorch_passes
from executorch.exir.program._single_program import (
    ExecutorchProgram,
    ExirExportedProgram,
    MultiMethodExecutorchProgram,
    _to_edge,
)

__all__ = [
    "ExecutorchProgram",
    "ExirExportedProgram",
    "MultiMethodExecutorchProgram",
    "_to_edge",
    "get_fake_program",
    "update_to_real_program",
    "EdgeProgramManager",
    "ExecutorchProgramManager",
    "edge_to_executorch_passes",
    "to_edge",
    "to_edge_transform_and_lower",
]
