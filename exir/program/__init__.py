# SPDX-License-Identifier: BSD-3-Clause
"""Programs at each stage of the compiler, and the way from one to the next."""

from executorch.exir.program._program import (
    EdgeProgramManager,
    ExecutorchProgramManager,
    edge_to_executorch_passes,
    to_edge,
    to_edge_transform_and_lower,
)

__all__ = [
    "EdgeProgramManager",
    "ExecutorchProgramManager",
    "edge_to_executorch_passes",
    "to_edge",
    "to_edge_transform_and_lower",
]
