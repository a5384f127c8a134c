# SPDX-License-Identifier: BSD-3-Clause
"""A model lowered to a backend, with what the checks ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from executorch.backends.test.conformance.backend import Backend
from executorch.exir import EdgeProgramManager, ExecutorchProgramManager
from executorch.exir import to_edge_transform_and_lower as lower_program
from executorch.exir.lowered_backend_module import (
    LoweredBackendModule,
    get_lowered_backend_modules,
)
from executorch.extension.pybindings import portable_lib


@dataclass
class Lowered:
    manager: EdgeProgramManager

    @property
    def delegates(self) -> list[LoweredBackendModule]:
        """Of all methods."""
        methods = sorted(self.manager.methods)
        graphs = (self.manager.exported_program(method).graph_module for method in methods)
        return [each for graph in graphs for each in get_lowered_backend_modules(graph)]

    def to_executorch(self) -> ExecutorchProgramManager:
        return self.manager.to_executorch()


def lower(backend: Backend, model: Any, inputs: tuple[Any, ...] = (), **export: Any) -> Lowered:
    """`model`: a module, or a dictionary of exported programs."""
    programs = model
    if isinstance(model, torch.nn.Module):
        programs = torch.export.export(model.eval(), inputs, **export)
    return Lowered(lower_program(programs, partitioner=[backend.partitioner()]))


def load(buffer: bytes) -> Any:
    return portable_lib._load_for_executorch_from_buffer(buffer)


def check(found: list[Any], expected: Any, names: list[str] | None = None) -> None:
    """Results of a program beside eager ones."""
    values = pytree.tree_leaves(expected)
    for place, (result, value) in enumerate(zip(found, values, strict=True)):
        name = names[place] if names else f"output {place}"
        torch.testing.assert_close(
            result,
            value,
            equal_nan=True,
            check_stride=False,
            msg=lambda text, n=name: f"{n}: {text}",
        )
