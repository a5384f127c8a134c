# SPDX-License-Identifier: BSD-3-Clause
"""Each step of a quantized network for itself: PyTorch beside the reference model, on the operands of the latter.

A network of many layers may end several quanta away from PyTorch where no step is wrong: one quantum in a few values of
a norm is more of them behind products and scales that magnify it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from executorch.backends.arm.aot.lowering import written
from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.aot.writer import TosaWriter
from executorch.backends.arm.test.arm_reference import delegates, first_delegate, run, run_on
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.exir import EdgeProgramManager
from executorch.exir.backend.lowering.layout import dims_in
from executorch.exir.backend.lowering.quantized import is_quantize


class _Beside(Interpreter):
    """A quantize gives what the reference model has there; `apart`: the quanta between both."""

    def __init__(self, module: GraphModule, found: dict[str, torch.Tensor]) -> None:
        super().__init__(module)
        self._found = found
        self.apart: dict[str, int] = {}

    def run_node(self, node: Node) -> Any:
        value = super().run_node(node)
        if node.name not in self._found:
            return value
        found = self._found[node.name]
        self.apart[node.name] = int((value.int() - found.int()).abs().max())
        return found


def quanta_apart(edge: EdgeProgramManager, inputs: Sequence[torch.Tensor]) -> dict[str, int]:
    """By the quantize behind a step, of the first delegate."""
    delegate = delegates(edge)[0]
    program = delegate.original_module
    spec = TosaCompileSpec._from_list(delegate.compile_specs).tosa_spec
    _, arguments = first_delegate(edge, inputs)
    found = _stored_values(written(program, spec, "TOSABackend"), program.graph.nodes, arguments)
    beside = _Beside(program.graph_module, found)
    run_on(beside, program, arguments)
    return beside.apart


def _stored_values(
    writer: TosaWriter, nodes: Sequence[Node], arguments: Sequence[torch.Tensor]
) -> dict[str, torch.Tensor]:
    """What the reference model computes for each quantize, with PyTorch's dimensions."""
    graph = SCHEMA.unpack(writer.packed())
    (block,) = graph.regions[0].blocks
    computed = {name for each in block.operators for name in each.outputs}
    places = {}
    for node in filter(is_quantize, nodes):
        layout = writer.layout_of(node)
        with contextlib.suppress(KeyError):  # what stands for itself in no step
            name = writer.values[writer.known(node, layout)].name
            if name in computed:
                places[node] = name, layout
    block.outputs = list(dict.fromkeys([*block.outputs, *(name for name, _ in places.values())]))
    results = dict(zip(block.outputs, run(SCHEMA.pack(graph), arguments), strict=True))
    found = {}
    for node, (name, layout) in places.items():
        order = dims_in(layout, node.meta["val"].dim())
        found[node.name] = results[name].permute([order.index(dim) for dim in range(len(order))])
    return found
