# SPDX-License-Identifier: BSD-3-Clause
"""`KernelWriter`: what the rows of a backend that is kernels write calls with, known data, and memory for scratch."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor
from torch._guards import detect_fake_mode
from torch.export import ExportedProgram
from torch.fx import Graph, Node

from executorch.exir import memory
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.graph_facts import DATA_KINDS, input_specs


class ProgramData:
    """The data of a program for graphs that it, or a copy of it, has: by the names of their placeholders."""

    def __init__(self, program: ExportedProgram | None) -> None:
        specs = input_specs(program.graph_signature) if program is not None else {}
        self._names = {name for name, spec in specs.items() if spec.kind in DATA_KINDS}
        self._program = program

    def __contains__(self, node: Node) -> bool:
        return node.op == "placeholder" and node.name in self._names

    def __getitem__(self, node: Node) -> Tensor:
        return self._by_name[node.name]

    @functools.cached_property
    def _by_name(self) -> dict[str, Tensor]:
        found = Constants(self._program) if self._program is not None else {}
        return {node.name: tensor.detach() for node, tensor in found.items()}


class KernelWriter:
    """Writes at the graph's insertion point. `options`: those of the pass."""

    def __init__(self, graph: Graph, data: ProgramData, options: Any = None) -> None:
        self.graph = graph
        self.options = options
        self._data = data

    def call(self, operator: Any, *args: Any) -> Node:
        """A call whose facts the pass fills in: the last one of a row."""
        return self.graph.call_function(operator, args)

    def value(self, operator: Any, args: tuple[Any, ...], facts: Tensor) -> Node:
        """A call of which `facts` is the value, as fake as those around it."""
        node = self.graph.call_function(operator, args)
        node.meta["val"] = facts
        return node

    def data(self, node: Node) -> Tensor:
        """Of a placeholder that is among the constants of a condition."""
        return self._data[node]

    def constant(self, name: str, tensor: Tensor) -> Node:
        """Data that the program gets, under that name or one like it."""
        module = self.graph.owning_module
        names = (name if number == 0 else f"{name}_{number}" for number in range(1 << 30))
        free = next(each for each in names if not hasattr(module, each))
        module.register_buffer(free, tensor.contiguous(), persistent=False)
        node = self.graph.get_attr(free)
        node.meta["val"] = self._fake(tensor)
        return node

    def scratch(self, num_bytes: int) -> Node:
        """Memory that is planned for the call that reads it, and costs no instruction."""
        spec = ((num_bytes,), torch.uint8)
        return self.value(
            memory.alloc, (spec,), self._fake(torch.empty(num_bytes, dtype=torch.uint8))
        )

    def _fake(self, tensor: Tensor) -> Tensor:
        values = (node.meta.get("val") for node in self.graph.nodes)
        mode = detect_fake_mode([next((v for v in values if isinstance(v, Tensor)), None)])
        return mode.from_tensor(tensor, static_shapes=True) if mode is not None else tensor
