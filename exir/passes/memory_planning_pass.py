# SPDX-License-Identifier: BSD-3-Clause
"""MemoryPlanningPass: the last pass before emission; gives every tensor its arena and offset.

before:  alloc(...) nodes and specs without a place
after:   spec.lifetime, spec.mem_id, spec.mem_offset; graph_module.meta["non_const_buffer_sizes"]
"""

from collections.abc import Callable
from typing import Any

from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.memory_planning import (
    MemoryPlanningAlgorithmSuite,
    apply_algo,
    greedy,
    naive,
)

_BY_NAME = {"greedy": greedy, "naive": naive}


class MemoryPlanningPass(PassBase):
    """`memory_planning_algo`: a function such as `greedy` or `naive` (or its name), or a
    MemoryPlanningAlgorithmSuite; greedy unless given. What is not allocated (`alloc_graph_input`
    ... false) has a null data pointer after loading and must be supplied by the user."""

    def __init__(
        self,
        memory_planning_algo: Callable[..., Any] | str | None = None,
        allow_lifetime_and_storage_overlap: bool = False,
        alloc_graph_input: bool = True,
        alloc_graph_output: bool = True,
        alloc_mutable_buffers: bool = True,
        share_mutable_buffers: bool = False,
        alignment: int = 16,
    ) -> None:
        self.memory_planning_algo = _algorithm(memory_planning_algo)
        self.allow_lifetime_and_storage_overlap = allow_lifetime_and_storage_overlap
        self.alloc_graph_input = alloc_graph_input
        self.alloc_graph_output = alloc_graph_output
        self.alloc_mutable_buffers = alloc_mutable_buffers
        self.share_mutable_buffers = share_mutable_buffers
        self.alignment = alignment

    def call(self, graph_module: GraphModule) -> PassResult:
        return self.run(graph_module)

    def run(
        self, graph_module: GraphModule, graph_signature: ExportGraphSignature | None = None
    ) -> PassResult:
        sizes = apply_algo(
            self.memory_planning_algo,
            graph_module,
            self.alignment,
            graph_signature,
            self.alloc_graph_input,
            self.alloc_graph_output,
            self.alloc_mutable_buffers,
        )
        graph_module.meta["non_const_buffer_sizes"] = sizes
        return PassResult(graph_module, True)


def _algorithm(algorithm: Callable[..., Any] | str | None) -> Callable[..., Any]:
    if algorithm is None:
        return MemoryPlanningAlgorithmSuite([greedy])
    if not isinstance(algorithm, str):
        return algorithm
    if algorithm not in _BY_NAME:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"unknown memory planning algorithm {algorithm!r}; "
            f"expected one of {sorted(_BY_NAME)} or a function",
        )
    return _BY_NAME[algorithm]
