# SPDX-License-Identifier: BSD-3-Clause
"""Why a program's numbers differ from its model's, and the first operator that does: the report of `bisect`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from executorch.devtools.commands import given, python_model
from executorch.devtools.commands.numbers.causes import causes, sentences
from executorch.devtools.commands.numbers.overflow import (
    INFINITY,
    NAN,
    Broken,
    broken_values,
)
from executorch.devtools.commands.numbers.ranges import cuts
from executorch.devtools.commands.origins import origin_of
from executorch.devtools.commands.output.report import Figure, Report, Row, Table
from executorch.devtools.commands.output.words import number_of
from executorch.devtools.commands.probe import Found, found_values
from executorch.devtools.commands.program_file import Call, ProgramFile, partitioner_of
from executorch.devtools.commands.reference import Compared, compare
from executorch.devtools.devices import opened
from executorch.devtools.devices.job import Job
from executorch.devtools.inspector._graphs import at_instruction, of_method, one_method
from executorch.exir import schema
from executorch.exir.backend.payload import operator_key
from executorch.exir.capture.diagnostics import export_module
from executorch.exir.program._etrecord import ETRecord


def report(arguments: argparse.Namespace) -> Report:
    file = ProgramFile(arguments.file)
    method = file.plan(arguments.method).name
    record = of_method(_record(arguments.model, file), method)
    edge = record.edge_dialect_program
    calls = [call for call in _computing(file) if call.method == method]
    if not calls:
        raise ValueError(f"{arguments.file}: {method} has no operators to compare")
    if edge is None or not one_method(record._debug_handle_map):
        raise ValueError(
            f"{arguments.model}: expected a record with an edge program and handles, as generate_etrecord=True makes it"
        )
    _check_same_program(file.plan(method), calls, record, arguments)
    inputs = _inputs(record, edge, arguments.inputs)
    try:
        leaves = pytree.tree_leaves(inputs)
        with opened(arguments) as device:
            found = found_values(Job(file.data, method, leaves, arguments.data), device)
    except RuntimeError as problem:
        where = "here" if device.is_here else "there"
        raise ValueError(f"{arguments.file} does not run {where}: {problem}") from problem
    values = by_handles(record, found)
    compared = compare(edge, inputs, values)
    if not compared:
        raise ValueError(
            f"{arguments.file}: none of its {len(calls)} calls has a value to compare: loops keep their last turn, and "
            "what is random has no reference"
        )
    wrong = [each for each in compared if each.leaves(arguments.tolerance)]
    broken = broken_values(edge, inputs, values)
    found_causes = causes(cuts(edge, inputs), broken, wrong)
    return Report(
        f"{arguments.file} against {arguments.model}"
        + ("" if device.is_here else f" on {device.title}"),
        [
            *sentences(found_causes),
            *_sentences(compared, wrong),
            *_left(calls, compared, record),
        ],
        [
            Table("causes", "Causes, in order", found_causes),
            Table(
                "infinite",
                "Operators that give infinities or NaN, or lose numbers",
                list(map(_broken_row, broken)),
            ),
            Table("wrong", "Operators that leave the reference", [_row(each) for each in wrong]),
            Table(
                "operators",
                "All operators",
                [_row(each) for each in compared],
                shown=0 if wrong else 10,
            ),
        ],
        facts={
            "cause": found_causes[0] if found_causes else None,
            "first": _row(wrong[0]) if wrong else None,
            "first infinite": _broken_row(broken[0]) if broken else None,
        },
        status=int(any(row["cause"] not in (INFINITY, NAN) for row in found_causes)),
        figures=[
            Figure("operators compared", f"{len(compared):,}"),
            Figure("with an error of their own", f"{len(wrong):,}"),
            Figure("largest error", f"{max(each.own_error for each in compared):.2g}"),
        ],
    )


def _computing(file: ProgramFile) -> list[Call]:
    return [call for call in file.calls if not call.name.startswith("executorch_prim::")]


def _record(path: Path, file: ProgramFile) -> ETRecord:
    if path.suffix != ".pt2" and not python_model.is_python(str(path)):
        return given.record(path)
    from executorch.exir import to_edge_transform_and_lower

    partitioners = [partitioner_of(name) for name in file.backends]
    if None in partitioners:
        raise ValueError(
            f"{file.path} has a delegate that cannot be made again here: give the record of the model"
        )
    lowered = to_edge_transform_and_lower(
        _exported(path), partitioner=partitioners, generate_etrecord=True
    )
    return lowered.to_executorch().get_etrecord()


def _exported(path: Path) -> ExportedProgram:
    if path.suffix == ".pt2":
        return given.exported_program(path)
    model = python_model.load(str(path))
    if isinstance(model.module, ExportedProgram):
        return model.module
    with torch.no_grad():
        return export_module(
            model.module,
            model.inputs,
            model.keywords,
            dynamic_shapes=model.dynamic_shapes,
            strict=True,
        )


def _check_same_program(
    plan: schema.ExecutionPlan,
    calls: Sequence[Call],
    record: ETRecord,
    arguments: argparse.Namespace,
) -> None:
    known = {int(key) for key in one_method(record._debug_handle_map)}
    there = {
        index
        for chain in plan.chains
        for index, each in enumerate(chain.instructions)
        if not isinstance(each.instr_args, schema.FreeCall)
    }
    if not {call.instruction for call in calls} <= known <= there:
        raise ValueError(
            f"{arguments.model} is of another program than {arguments.file}, or lowered in another way: it has handles "
            f"of {len(known)} instructions, {plan.name} has {len(there)}; give the record that was made with the file"
        )


def _inputs(record: ETRecord, edge: ExportedProgram, path: Path | None) -> tuple[Any, ...]:
    if path is not None:
        return given.inputs(path)
    recorded = given.recorded_inputs(record, edge)
    if recorded is None:
        raise ValueError(
            "the record has no inputs: give --inputs, or call update_representative_inputs()"
        )
    return recorded


def by_handles(record: ETRecord, found: list[Found]) -> list[tuple[tuple[int, ...], Found]]:
    """With the handles of the nodes that each value stands for."""
    delegates = one_method(record._delegate_map)
    pairs = []
    for each in found:
        if each.delegate_handle is None:
            handles = _handles_of(record, each.instruction)
        else:
            joined = (at_instruction(delegates, each.instruction) or {}).get("delegate_map") or {}
            handles = _joined_with(each.delegate_handle, joined)
        pairs.append((tuple(handles), each))
    return pairs


def _joined_with(handle: int, joined: Mapping[Any, Sequence[int]]) -> Sequence[int]:
    """Payloads have handles of nodes, or numbers of their own, which the delegate's map is keyed by."""
    keys = (operator_key(handle), handle, str(handle))
    return next((joined[key] for key in keys if key in joined), (handle,))


def _handles_of(record: ETRecord, instruction: int) -> Sequence[int]:
    found = at_instruction(one_method(record._debug_handle_map), instruction)
    return (found,) if isinstance(found, int) else found or ()


def _sentences(compared: list[Compared], wrong: list[Compared]) -> list[str]:
    worst = max(compared, key=lambda each: each.own_error)
    if not wrong:
        return [
            f"{_all(len(compared))} what the model gives; the largest error of "
            f"their own is {worst.own_error:.2g}, of {worst.node.name}.",
        ]
    first = wrong[0]
    where = ", inside of the delegate" if first.found.delegate_handle is not None else ""
    return [
        f"The first of {number_of(len(compared), 'operator')} that leaves the reference: {first.node.name} "
        f"({first.found.name}{where}), own error {first.own_error:.3g}.",
        f"  {origin_of(first.source)}",
        f"It computes {', '.join(first.joined)}. Its operands are right: so are the {first.index} operators before it.",
        "Next: its kernel, its constants in the file (`explain`), how it was lowered. "
        f"In all, {_own_errors(len(wrong))}.",
    ]


def _all(count: int) -> str:
    if count == 1:
        return "The 1 operator that was compared gives"
    return f"All {count:,} operators that were compared give"


def _own_errors(count: int) -> str:
    has, its = ("has", "its") if count == 1 else ("have", "their")
    return f"{number_of(count, 'operator')} {has} an error of {its} own"


def _broken_row(each: Broken) -> Row:
    return {
        "operator": each.node.name,
        "runs as": each.found.name,
        "delegated": each.found.delegate_handle is not None,
        "kind": each.kind,
        "elements": each.count,
        "why": str(each),
        "line": str(origin_of(each.source)),
    }


def _left(calls: Sequence[Call], compared: list[Compared], record: ETRecord) -> list[str]:
    """How many calls stand for nothing that was compared."""
    seen = {handle for each in compared for handle in _handles_of(record, each.found.instruction)}
    left = sum(seen.isdisjoint(_handles_of(record, call.instruction)) for call in calls)
    why = "they are random, in loops or in branches that were not taken, or record nothing"
    of_all, have = f"{left} of {number_of(len(calls), 'call')}", "has" if left == 1 else "have"
    return [f"{of_all} {have} no value to compare: {why}."] if left else []


def _row(each: Compared) -> Row:
    origin = origin_of(each.source)
    return {
        "operator": each.node.name,
        "joined": list(each.joined),
        "runs as": each.found.name,
        "delegated": each.found.delegate_handle is not None,
        "own error": each.own_error,
        "error": each.error,
        "module": origin.module,
        "line": str(origin),
    }
