# SPDX-License-Identifier: BSD-3-Clause
"""hardswish(x), preserved for a row that did not take it  ->  x * clamp(x + 3, 0, 6) / 6, as no kernel serves it."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.graph_facts import called_op
from executorch.exir.retrace.undelegated import decompose_calls


class DecomposePreservedPass:
    """`ops`: what the edge program keeps whole for the table alone. Behind the pass of the table."""

    def __init__(self, program: ExportedProgram, ops: Collection[torch._ops.OpOverload]) -> None:
        self._program, self._ops = program, ops

    def __call__(self, graph_module: GraphModule) -> PassResult:
        found = any(called_op(node) in self._ops for node in graph_module.graph.nodes)
        if found:
            decompose_calls(self._program, graph_module, self._ops)
        return PassResult(graph_module, found)
