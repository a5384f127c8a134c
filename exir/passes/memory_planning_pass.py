# SPDX-License-Identifier: BSD-3-Clause
"""MemoryPlanningPass: the last pass before emission; gives every tensor its arena and offset.

before:  alloc(...) nodes and specs without a place
after:   spec.lifetime, spec.mem_id, spec.mem_offset; graph_module.meta["non_const_buffer_sizes"]
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.memory_planning import (
    MemoryPlanningAlgorithmSuite,
    Verifier,
    apply_algo,
    greedy,
    naive,
)
from executorch.exir.tensor import TensorSpec

_BY_NAME = {"greedy": greedy, "naive": naive}


@dataclass
class _MemoryPlanningState:
    """What the methods planned so far share: their graphs, and their buffers by name, written or only read."""

    mutable_buffers: list[dict[str, TensorSpec]] = field(default_factory=list)
    maybe_mutable_buffers: list[dict[str, TensorSpec]] = field(default_factory=list)
    graph_modules: list[GraphModule] = field(default_factory=list)


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
        if share_mutable_buffers and not alloc_mutable_buffers:
            raise ValueError(
                "share_mutable_buffers is only meaningful when alloc_mutable_buffers is True"
            )
        self.memory_planning_algo = _algorithm(memory_planning_algo)
        self.allow_lifetime_and_storage_overlap = allow_lifetime_and_storage_overlap
        self.alloc_graph_input = alloc_graph_input
        self.alloc_graph_output = alloc_graph_output
        self.alloc_mutable_buffers = alloc_mutable_buffers
        self.share_mutable_buffers = share_mutable_buffers
        self.alignment = alignment
        self.state = _MemoryPlanningState()
        self._on_devices = True

    @contextlib.contextmanager
    def on_devices(self, wanted: bool) -> Iterator[None]:
        """Inside, tensors of other devices have arenas of their own, or are planned as the processor's."""
        before, self._on_devices = self._on_devices, wanted
        try:
            yield
        finally:
            self._on_devices = before

    def call(self, graph_module: GraphModule) -> PassResult:
        warnings.warn(
            "MemoryPlanningPass.call() plans without the signature; use MemoryPlanningPass.run(graph_module, "
            "graph_signature)",
            FutureWarning,
            stacklevel=3,
        )
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
            self.alloc_mutable_buffers and not self.share_mutable_buffers,
            enable_non_cpu_memory_planning=self._on_devices,
        )
        graph_module.meta["non_const_buffer_sizes"] = sizes
        if _is_foreign(self.memory_planning_algo):
            verifier = Verifier(
                graph_module,
                self.alloc_graph_input,
                self.alloc_graph_output,
                self.alloc_mutable_buffers,
                graph_signature,
            )
            verifier.verify_storage_reuse(self.allow_lifetime_and_storage_overlap)
        if self.share_mutable_buffers and graph_signature is not None:
            written = set(graph_signature.buffers_to_mutate.values())
            buffers = _buffers(graph_module, graph_signature)
            state = self.state
            state.graph_modules.append(graph_module)
            state.mutable_buffers.append({k: v for k, v in buffers.items() if k in written})
            state.maybe_mutable_buffers.append(
                {k: v for k, v in buffers.items() if k not in written}
            )
        return PassResult(graph_module, True)

    def run_multimethod(self) -> None:
        """With share_mutable_buffers: gives buffers of the same name that some method writes one place for all
        methods that ran, those that only read it included, in an arena behind those of every method."""
        state, self.state = self.state, _MemoryPlanningState()
        if not state.graph_modules:
            return
        arena = max(len(module.meta["non_const_buffer_sizes"]) for module in state.graph_modules)
        offsets: dict[str, int] = {}
        size = 0
        for buffers in state.mutable_buffers:
            for name, spec in buffers.items():
                if name not in offsets:
                    offsets[name] = size
                    size += spec.realign(self.alignment)
        for module in state.graph_modules:
            sizes = module.meta["non_const_buffer_sizes"]
            sizes += [0] * (arena - len(sizes)) + [size]
        for buffers in (*state.mutable_buffers, *state.maybe_mutable_buffers):
            for name, spec in buffers.items():
                if name in offsets:
                    spec.const = False
                    spec.mem_id, spec.mem_obj_id, spec.mem_offset = arena, None, offsets[name]


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


def _is_foreign(algorithm: Callable[..., Any]) -> bool:
    """Our own algorithms are proven by tests; a check after each run would cost more than planning."""
    parts = getattr(algorithm, "algo_list", [algorithm])
    return any(part not in (greedy, naive) for part in parts)


def _buffers(graph_module: GraphModule, signature: ExportGraphSignature) -> dict[str, TensorSpec]:
    """Specs of a method's buffers, by name."""
    names = signature.inputs_to_buffers
    placeholders = graph_module.graph.find_nodes(op="placeholder")
    return {names[node.name]: node.meta["spec"] for node in placeholders if node.name in names}
