# SPDX-License-Identifier: BSD-3-Clause
"""The first operator of a program file whose output leaves the model's, by line of Python, inside of delegates, too.

The file runs on the runtime of this package. Each operator is computed once more by PyTorch from what the file gave
its operands, so that an operator is found by its own error, not by one that it was handed. The model is its record
(generate_etrecord=True), or an exported program (torch.export.save), which is lowered again as the file was.

    python -m executorch.devtools bisect model.etrecord model.pte

The exit status is 1 when an operator leaves the reference.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from executorch.devtools.commands.origins import origin_of
from executorch.devtools.commands.probe import Found, found_values
from executorch.devtools.commands.program_file import ProgramFile, payload_reader
from executorch.devtools.commands.reference import Compared, compare
from executorch.devtools.commands.report import Report, Row, Table
from executorch.devtools.inspector._graphs import FORWARD, one_method
from executorch.exir.backend.payload import operator_key
from executorch.exir.program._etrecord import ETRecord, parse_etrecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", type=Path, help="a record (.etrecord) or an exported program (.pt2)"
    )
    parser.add_argument("file", type=Path, help="a .pte file of that model")
    parser.add_argument(
        "--tolerance",
        type=float,
        help="of an operator's own error, ||found - expected|| / ||expected||: 1e-3 for float32, 2e-2 for half "
        "precision and for what is quantized while running, unless given; integers may be 0.25 off on average",
    )
    parser.add_argument(
        "--inputs", type=Path, help="torch.save of a tuple; the record's inputs unless given"
    )


def report(arguments: argparse.Namespace) -> Report:
    file = ProgramFile(arguments.file)
    record = _record(arguments.model, file)
    edge = one_method(record.edge_dialect_program)
    if edge is None or not record._debug_handle_map:
        raise ValueError(
            f"{arguments.model}: expected a record with an edge program and handles, as generate_etrecord=True makes it"
        )
    _check_same_program(file, record, arguments.model)
    inputs = _inputs(record, edge, arguments.inputs)
    method = (
        FORWARD
        if isinstance(edge, ExportedProgram) and FORWARD in _methods(file)
        else _methods(file)[0]
    )
    try:
        found = found_values(arguments.file, method, pytree.tree_leaves(inputs))
    except RuntimeError as problem:
        raise ValueError(f"{arguments.file} does not run here: {problem}") from problem
    compared = compare(edge, inputs, _by_handles(record, found))
    if not compared:
        raise ValueError(f"{arguments.file}: none of its operators has a value to compare")
    wrong = [each for each in compared if each.leaves(arguments.tolerance)]
    return Report(
        f"{arguments.file} against {arguments.model}",
        _sentences(compared, wrong),
        [
            Table("wrong", "Operators that leave the reference", [_row(each) for each in wrong]),
            Table(
                "operators",
                "All operators",
                [_row(each) for each in compared],
                shown=0 if wrong else 10,
            ),
        ],
        facts={"first": _row(wrong[0]) if wrong else None},
        status=int(bool(wrong)),
    )


def _methods(file: ProgramFile) -> list[str]:
    return [plan.name for plan in file.program.execution_plan]


def _record(path: Path, file: ProgramFile) -> ETRecord:
    if path.suffix != ".pt2":
        try:
            return parse_etrecord(path)
        except (KeyError, RuntimeError) as problem:
            raise ValueError(f"{path}: expected a record or a .pt2 file: {problem}") from problem
    from executorch.exir import to_edge_transform_and_lower

    readers = [payload_reader(name) for name in file.backends]
    if None in readers:
        raise ValueError(
            f"{file.path} has a delegate that cannot be made again here: give the record of the model"
        )
    lowered = to_edge_transform_and_lower(
        torch.export.load(path),
        partitioner=[reader.partitioner() for reader in readers if reader is not None],
        generate_etrecord=True,
    )
    return lowered.to_executorch().get_etrecord()


def _check_same_program(file: ProgramFile, record: ETRecord, model: Path) -> None:
    known = one_method(record._debug_handle_map) or {}
    calls = {
        call.instruction for call in file.calls if not call.name.startswith("executorch_prim::")
    }
    missing = calls - {int(key) for key in known}
    if missing or len(known) > len(file.calls):
        raise ValueError(
            f"{model} is of another program than {file.path}, or lowered in another way: it has handles of "
            f"{len(known)} instructions, the file has {len(file.calls)}; give the record that was made with the file"
        )


def _inputs(record: ETRecord, edge: ExportedProgram, path: Path | None) -> tuple[Any, ...]:
    if path is not None:
        return tuple(torch.load(path))
    if record._representative_inputs is not None:
        return tuple(record._representative_inputs)
    if edge.example_inputs is None:
        raise ValueError(
            "the record has no inputs: give --inputs, or call update_representative_inputs()"
        )
    return tuple(edge.example_inputs[0])


def _by_handles(record: ETRecord, found: list[Found]) -> list[tuple[tuple[int, ...], Found]]:
    """With the handles of the nodes that each value stands for."""
    handle_map = one_method(record._debug_handle_map) or {}
    delegates = one_method(record._delegate_map) or {}

    def at(table: Any, instruction: int) -> Any:
        return table.get(instruction, table.get(str(instruction)))

    pairs = []
    for each in found:
        if each.delegate_handle is None:
            handles = at(handle_map, each.instruction)
        else:
            joined = (at(delegates, each.instruction) or {}).get("delegate_map") or {}
            handles = joined.get(operator_key(each.delegate_handle), (each.delegate_handle,))
        if handles is not None:
            pairs.append(((handles,) if isinstance(handles, int) else tuple(handles), each))
    return pairs


def _sentences(compared: list[Compared], wrong: list[Compared]) -> list[str]:
    worst = max(compared, key=lambda each: each.own_error)
    if not wrong:
        return [
            f"All {len(compared)} operators give what the model gives; the largest error of their own is "
            f"{worst.own_error:.2g}, of {worst.node.name}."
        ]
    first = wrong[0]
    where = ", inside of the delegate" if first.found.delegate_handle is not None else ""
    return [
        f"The first of {len(compared)} operators that leaves the reference: {first.node.name} "
        f"({first.found.name}{where}), own error {first.own_error:.3g}.",
        f"  {origin_of(first.node)}",
        f"It computes {', '.join(first.joined)}. Its operands are right: so are the {first.index} operators before it.",
        "Next: its kernel, its constants in the file (`explain`), how it was lowered. "
        f"In all, {len(wrong)} operators have an error of their own.",
    ]


def _row(each: Compared) -> Row:
    origin = origin_of(each.node)
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
