# SPDX-License-Identifier: BSD-3-Clause
"""Partitioners as the managers see them: which ones a method has, what they keep whole, where they lower to."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend._tagging import graph_lines
from executorch.exir.backend.backend_api import explain_nothing_claimed, lower_methods
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.exir.program._arguments import check_partitioner
from executorch.exir.program._quantized_weights import with_stored_weights
from executorch.exir.program._transform import collect_named_data_store_from_exported_program


class UnknownMethod(ExportError, AssertionError):
    """A partitioner for a method that the manager does not have."""


def partitioners_of(partitioner: Any, method: str) -> list[Any]:
    """The method's partitioners in order of priority, from None, one (also its class), a list, or a dict by method."""
    if isinstance(partitioner, Mapping):
        partitioner = partitioner.get(method)
    if partitioner is None:
        return []
    several = partitioner if isinstance(partitioner, list | tuple) else [partitioner]
    for one in several:
        check_partitioner(one)
    return [one() if inspect.isclass(one) else one for one in several]


def check_methods(partitioner: Any, methods: Collection[str]) -> None:
    """A dict of partitioners names methods that exist."""
    unknown = sorted(set(partitioner) - set(methods)) if isinstance(partitioner, Mapping) else []
    if unknown:
        raise UnknownMethod(
            ExportErrorType.INVALID_INPUT_TYPE,
            f"Partitioner for method {unknown[0]} is not provided with a program: partitioners are given for methods "
            f"{unknown}, but the methods are {sorted(methods)}",
        )


def kept_by(partitioners: list[Any], program: ExportedProgram) -> frozenset[Node]:
    """Nodes of `program` that some partitioner preserves. A partitioner without an opinion keeps nothing."""
    kept: set[Node] = set()
    for partitioner in partitioners:
        if not hasattr(partitioner, "ops_to_not_decompose"):
            continue
        ops, accepts = partitioner.ops_to_not_decompose(program)
        wanted = frozenset(_remove_invalid_ops_for_not_decompose(ops))
        for node in program.graph.nodes:
            if (
                node.op == "call_function"
                and node.target in wanted
                and (accepts is None or accepts(node))
            ):
                kept.add(node)
    return frozenset(kept)


# What no partitioner keeps: one node for them is nothing to gain, and passes expect what they become.
_ALWAYS_DECOMPOSED = frozenset(
    {
        torch.ops.aten._to_copy.default,
        torch.ops.aten._local_scalar_dense.default,
        torch.ops.aten.add.Tensor,
        torch.ops.aten.div.Tensor,
        torch.ops.aten.item.default,
        torch.ops.aten.mul.Tensor,
        torch.ops.aten.split_with_sizes.default,
        torch.ops.aten.sub.Tensor,
        torch.ops.aten.unbind.int,
    }
)


def _remove_invalid_ops_for_not_decompose(preserve_ops: Iterable[Any]) -> list[Any]:
    """`preserve_ops` without operators that write, that give a view, or that are always decomposed."""

    def may_stay(op: Any) -> bool:
        schema = op._schema
        aliases = any(result.alias_info is not None for result in schema.returns)
        return not (schema.is_mutable or aliases or op in _ALWAYS_DECOMPOSED)

    return [op for op in preserve_ops if may_stay(op)]


@dataclass(frozen=True)
class Source:
    """What edge programs were made of: a partitioner that preserves operators which to_edge has decomposed, gets
    them from there, as long as nobody has changed the edge program since. `programs`: as they were exported, by method;
    `as_made`: what their edge programs were."""

    programs: dict[str, ExportedProgram]
    as_made: dict[str, Any]

    @staticmethod
    def of(programs: dict[str, ExportedProgram], edge: dict[str, ExportedProgram]) -> Source:
        return Source(programs, {name: _contents(each) for name, each in edge.items()})

    def preserved_nodes(
        self, method: str, edge: ExportedProgram, partitioners: list[Any]
    ) -> frozenset[Node]:
        """Nodes of the exported program that the edge program must be made again for; none where it was changed."""
        kept = kept_by(partitioners, self.programs[method])
        return kept if kept and _contents(edge) == self.as_made[method] else frozenset()


def _contents(program: ExportedProgram) -> Any:
    """All that a user may change in place, tensors by their identity."""
    metas = [
        tuple(node.meta)
        for module in program.graph_module.modules()
        if isinstance(module, GraphModule)
        for node in module.graph.nodes
    ]
    data = [
        {name: id(tensor) for name, tensor in holder.items()}
        for holder in (program.state_dict, program.constants)
    ]
    return graph_lines(program.graph_module), metas, data, repr(program.graph_signature)


def lower_in_rounds(
    programs: dict[str, ExportedProgram], partitioners: dict[str, list[Any]]
) -> dict[str, ExportedProgram]:
    """Each method's first partitioner in the first round, and so on: earlier ones choose first."""
    result = programs
    for turn in range(max(map(len, partitioners.values()), default=0)):
        chosen = {name: each[turn] for name, each in partitioners.items() if turn < len(each)}
        for name, one in chosen.items():
            if getattr(one, "reads_stored_weights", False):
                result = {**result, name: with_stored_weights(result[name], has_backends=True)}
        result = lower_methods(result, chosen)
    for name, each in partitioners.items():
        if each and not get_lowered_backend_modules(result[name].graph_module):
            explain_nothing_claimed({name: result[name]}, each)
    return result


def named_data_store_of(programs: dict[str, ExportedProgram]) -> NamedDataStore:
    """What the backends of all methods have filed, merged."""
    store = NamedDataStore()
    for program in programs.values():
        collect_named_data_store_from_exported_program(program, store)
    return store
