# SPDX-License-Identifier: BSD-3-Clause
"""What a partitioner implements: which nodes of a program go to which backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend.compile_spec_schema import CompileSpec


class DelegationSpec(NamedTuple):
    """A backend's id and what it is told to compile with."""

    backend_id: str
    compile_specs: list[CompileSpec]


@dataclass
class PartitionResult:
    """The program with `node.meta["delegation_tag"]` on claimed nodes, and where each tag goes."""

    tagged_exported_program: ExportedProgram
    partition_tags: dict[str, DelegationSpec]


class Partitioner(ABC):
    """`spec` is free for the partitioner's own options; it cannot be changed from outside. `reads_stored_weights`: it
    sees embeddings, and matrices of floats, that torchao quantized as calls of `quantized_decomposed.embedding_*`, in
    place of a dequantize and what reads it."""

    reads_stored_weights = False

    def __init__(
        self, spec: Mapping[str | int | float | bool, object] = MappingProxyType({})
    ) -> None:
        self._spec = spec

    @property
    def spec(self) -> Mapping[str | int | float | bool, object]:
        return MappingProxyType(dict(getattr(self, "_spec", {})))

    def __call__(self, exported_program: ExportedProgram) -> PartitionResult:
        return self.partition(exported_program)

    @abstractmethod
    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        """Tags nodes. Nodes of one tag in one graph become one delegate. Nothing but tags may change."""

    def prepare(self, exported_program: ExportedProgram) -> None:  # noqa: B027  (most need none)
        """Rewrites a program in place before it is partitioned, into one that computes the same."""

    def finish(self, tagged_program: ExportedProgram) -> None:  # noqa: B027  (most need none)
        """The same of a program whose nodes have their tags, as for what crosses from one delegate to others; new nodes
        have tags, too."""

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[Node], bool] | None]:
        """Operators that the backend preserves, and which of their nodes (None: all). Asked before decomposition."""
        return [], None
