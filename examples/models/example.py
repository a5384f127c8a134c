# SPDX-License-Identifier: BSD-3-Clause
"""What an example model is: one module per method, inputs to export with, and calls to compare with eager."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

Inputs = tuple[Any, ...]


@dataclass(frozen=True)
class Method:
    """One method of a program.

    `calls` are the inputs of successive calls on one loaded method, state carried from call to call;
    by default the export inputs once.
    """

    module: torch.nn.Module
    inputs: Inputs
    calls: Sequence[Inputs] = ()
    dynamic_shapes: Any = None

    def export(self) -> torch.export.ExportedProgram:
        with torch.no_grad():
            return torch.export.export(self.module, self.inputs, dynamic_shapes=self.dynamic_shapes)

    def eager(self) -> list[list[Any]]:
        """Outputs of every call, flat, from a fresh copy of the module (its buffers may change)."""
        module = copy.deepcopy(self.module)
        results = []
        with torch.no_grad():
            for inputs in self.calls or (self.inputs,):
                outputs, _ = torch.utils._pytree.tree_flatten(module(*inputs))
                results.append([o.clone() if isinstance(o, torch.Tensor) else o for o in outputs])
        return results


@dataclass(frozen=True)
class Example:
    """A program: its methods by name, in file order."""

    methods: dict[str, Method] = field(default_factory=dict)

    @property
    def forward(self) -> Method:
        return self.methods["forward"]

    def export(self) -> dict[str, torch.export.ExportedProgram]:
        return {name: method.export() for name, method in self.methods.items()}


def single(
    module: torch.nn.Module,
    inputs: Inputs,
    calls: Sequence[Inputs] = (),
    dynamic_shapes: Any = None,
) -> Example:
    """An example whose only method is `forward`."""
    return Example({"forward": Method(module, inputs, calls or (inputs,), dynamic_shapes)})
