# SPDX-License-Identifier: BSD-3-Clause
"""Partitioners as the managers see them: which ones a method has, what they keep whole, where they lower to."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.error import ExportError, ExportErrorType


def partitioners_of(partitioner: Any, method: str) -> list[Any]:
    """The method's partitioners in order of priority, from None, one (also its class), a list, or a dict by method."""
    if isinstance(partitioner, dict):
        partitioner = partitioner.get(method)
    if partitioner is None:
        return []
    several = partitioner if isinstance(partitioner, list | tuple) else [partitioner]
    return [one() if inspect.isclass(one) else one for one in several]


def kept_by(partitioners: list[Any], program: ExportedProgram) -> frozenset[Node]:
    """Nodes of `program` that some partitioner wants whole. A partitioner without an opinion keeps nothing."""
    kept: set[Node] = set()
    for partitioner in partitioners:
        if not hasattr(partitioner, "ops_to_not_decompose"):
            continue
        ops, accepts = partitioner.ops_to_not_decompose(program)
        wanted = frozenset(ops)
        for node in program.graph.nodes:
            if (
                node.op == "call_function"
                and node.target in wanted
                and (accepts is None or accepts(node))
            ):
                _check_functional(node, partitioner)
                kept.add(node)
    return frozenset(kept)


def _check_functional(node: Node, partitioner: Any) -> None:
    if isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable:
        raise ExportError(
            ExportErrorType.VIOLATION_OF_SPEC,
            f"{type(partitioner).__name__} wants {node.target} whole, which writes to an argument",
        )


def lower_to_backends(program: ExportedProgram, partitioners: list[Any]) -> ExportedProgram:
    """`program` with what the partitioners claim handed to their backends."""
    if partitioners:
        names = ", ".join(type(one).__name__ for one in partitioners)
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"delegation to a backend is not part of this version; leave out the partitioners ({names}), and every "
            "operator runs on the CPU kernels",
        )
    return program
