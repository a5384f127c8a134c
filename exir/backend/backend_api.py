# SPDX-License-Identifier: BSD-3-Clause
"""`to_backend`: a whole program to one backend, or the parts that partitioners claim to theirs."""

# Steps and owners: docs/design/005-delegation.md.

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, overload

from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule

from executorch.exir.backend._extract import extract
from executorch.exir.backend._insert import Lowered, insert_all
from executorch.exir.backend._partitions import TAG, Partition, find_partitions
from executorch.exir.backend._preprocess import Task, preprocess_all
from executorch.exir.backend._tagging import tag_program
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_facts import torch_op
from executorch.exir.lowered_backend_module import LoweredBackendModule
from executorch.exir.passes.debug_handle_generator_pass import generate_missing_debug_handles
from executorch.exir.program_copies import signature_for

__all__ = [
    "CompileSpec",
    "LoweredBackendModule",
    "MethodProgramsPartitionerSpec",
    "disable_validation",
    "to_backend",
    "validation_disabled",
]

_log = logging.getLogger("executorch.exir")
_ENABLE_VALIDATION = True


def disable_validation() -> None:
    """From now on nobody checks that partitioners change nothing but tags."""
    global _ENABLE_VALIDATION
    _ENABLE_VALIDATION = False


@contextlib.contextmanager
def validation_disabled() -> Iterator[None]:
    """The same, inside."""
    global _ENABLE_VALIDATION
    before, _ENABLE_VALIDATION = _ENABLE_VALIDATION, False
    try:
        yield
    finally:
        _ENABLE_VALIDATION = before


@dataclass
class MethodProgramsPartitionerSpec:
    """Methods that are lowered together, so that a backend can share data between them. A method without a
    partitioner stays as it is."""

    method_to_edge_program: Mapping[str, ExportedProgram]
    method_to_partitioner: Mapping[str, Partitioner]


@overload
def to_backend(
    backend_id: str, edge_program: ExportedProgram, compile_specs: list[CompileSpec]
) -> LoweredBackendModule: ...
@overload
def to_backend(edge_program: ExportedProgram, partitioner: Partitioner) -> ExportedProgram: ...
@overload
def to_backend(
    method_edge_program_partitioners: MethodProgramsPartitionerSpec,
) -> dict[str, ExportedProgram]: ...
def to_backend(*args: Any, **kwargs: Any) -> Any:
    """Lowers to backends; the given programs are not changed.

    (backend_id, edge_program, compile_specs): the whole program, as a LoweredBackendModule.
    (edge_program, partitioner): what the partitioner (or its class) claims, as a program with delegate calls.
    (MethodProgramsPartitionerSpec): several methods at once; gives the programs by name.
    """
    values = [*args, *kwargs.values()]
    kinds = [type(value) for value in values]
    if len(values) == 3 and isinstance(values[0], str) and isinstance(values[1], ExportedProgram):
        return _lower_whole(*values)
    if len(values) == 2 and isinstance(values[0], ExportedProgram):
        return lower_methods({"forward": values[0]}, {"forward": values[1]})["forward"]
    if len(values) == 1 and isinstance(values[0], MethodProgramsPartitionerSpec):
        (spec,) = values
        return lower_methods(dict(spec.method_to_edge_program), dict(spec.method_to_partitioner))
    raise ExportError(
        ExportErrorType.INVALID_INPUT_TYPE,
        "to_backend takes (backend id, ExportedProgram, compile specs), (ExportedProgram, partitioner) or "
        f"(MethodProgramsPartitionerSpec); found ({', '.join(kind.__name__ for kind in kinds)}). An "
        "EdgeProgramManager has its own to_backend(partitioner), and .exported_program() for this one",
    )


def _lower_whole(
    backend_id: str, program: ExportedProgram, compile_specs: list[CompileSpec]
) -> LoweredBackendModule:
    task = Task("forward", "", DelegationSpec(backend_id, compile_specs), program)
    return preprocess_all([task])[0]


def lower_methods(
    programs: dict[str, ExportedProgram], partitioners: dict[str, Any]
) -> dict[str, ExportedProgram]:
    """Each method with what its partitioner claims lowered; each backend is asked once per level of nesting."""
    result = dict(programs)
    found: dict[str, list[Partition]] = {}
    for name, partitioner in partitioners.items():
        tagged = tag_program(name, programs[name], partitioner, _ENABLE_VALIDATION)
        result[name] = tagged.tagged_exported_program
        found[name] = find_partitions(result[name], tagged)
        if not found[name]:
            _log.info("%s claimed nothing of method %s", type(partitioner).__name__, name)
    levels = sorted({one.level for each in found.values() for one in each}, reverse=True)
    for level in levels:
        _lower_level(
            result, {k: [p for p in each if p.level == level] for k, each in found.items()}
        )
    for name in found:
        program = result[name]
        program._graph_signature = signature_for(program.graph_signature, program.graph_module)
        generate_missing_debug_handles(program)
        for module in result[name].graph_module.modules():
            if isinstance(module, GraphModule):
                remove_used_metadata(module.graph)
    return result


def _lower_level(
    programs: dict[str, ExportedProgram], partitions: dict[str, list[Partition]]
) -> None:
    places, tasks = [], []
    for name, each in partitions.items():
        for partition in each:
            extracted = extract(programs[name], partition)
            places.append((name, partition, extracted))
            tasks.append(Task(name, partition.tag, partition.delegation, extracted.program))
    lowered = [Lowered(p, e, m) for (_, p, e), m in zip(places, preprocess_all(tasks))]
    for name in partitions:
        insert_all(programs[name], [one for one, place in zip(lowered, places) if place[0] == name])
        generate_missing_debug_handles(programs[name])  # delegates of the next level read them


def explain_nothing_claimed(programs: Mapping[str, ExportedProgram], tried: list[Any]) -> None:
    """Warns when partitioners were given and the programs hold no delegate."""
    names = ", ".join(dict.fromkeys(type(one).__name__ for one in tried))
    for method, program in programs.items():
        operators = Counter(
            str(torch_op(node.target) or node.target)
            for node in program.graph.nodes
            if node.op == "call_function"
        )
        seen = ", ".join(f"{name} x{count}" for name, count in operators.most_common(8))
        _log.warning(
            "method %s: expected delegates, but %s claimed no node; everything runs on the CPU kernels. The program's "
            "operators: %s. Compare them with what the backend supports",
            method,
            names,
            seen or "none",
        )


def remove_used_metadata(graph: Graph) -> None:
    """Forgets the tags of a partitioner; the next one starts clean."""
    for node in graph.nodes:
        node.meta.pop(TAG, None)
