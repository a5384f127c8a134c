# SPDX-License-Identifier: BSD-3-Clause
"""Test cases inside of a program file: the report of `self_test`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.self_tests import SelfTest, self_test_of, with_self_test
from executorch.devtools.commands import given
from executorch.devtools.commands.output.report import Figure, Report, Row, Table
from executorch.devtools.commands.output.words import number_of, sized
from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.inspector._graphs import of_method
from executorch.exir.program._etrecord import ETRecord


def report(arguments: argparse.Namespace) -> Report:
    file = ProgramFile(arguments.file)
    if arguments.etrecord is None:
        return _carried(arguments.file, self_test_of(file.data))
    method = file.plan(arguments.method).name
    record = of_method(given.record(arguments.etrecord), method)
    program = _model(record, file)
    if program is None:
        raise ValueError(f"{arguments.etrecord}: expected a record with the program of {method}")
    recorded = given.recorded_inputs(record, program)
    all_inputs = [
        *([recorded] if recorded is not None else []),
        *map(given.inputs, arguments.inputs),
    ]
    if not all_inputs:
        raise ValueError(f"{arguments.etrecord} has no inputs: give --inputs")
    module = program.module()
    plan = file.plan(method)
    cases = [
        MethodTestCase(pytree.tree_leaves(inputs), given.expected_outputs(module, inputs, plan))
        for inputs in all_inputs
    ]
    rtol, atol = _tolerances(arguments, cases)
    try:
        tested = with_self_test(file.data, [MethodTestSuite(method, cases)], rtol, atol)
    except AssertionError as problem:
        raise ValueError(
            f"{arguments.file} can have no self-test with {arguments.etrecord}: {problem}"
        ) from problem
    target = arguments.output or arguments.file
    try:
        rows = _run(tested, method, cases, (rtol, atol), arguments.data)
    except RuntimeError as problem:
        raise ValueError(f"{arguments.file} does not run here: {problem}") from problem
    target.write_bytes(tested)
    failed = sum(not row["passes"] for row in rows)
    return Report(
        f"{target}: {number_of(len(cases), 'case')} of {method}",
        [
            f"{number_of(failed, 'case')} {'fails' if failed == 1 else 'fail'} here: see --rtol and --atol, "
            "or `bisect` for the operator."
            if failed
            else "All cases pass here.",
            f"{number_of(len(tested) - len(file.data), 'byte')} more than {arguments.file}.",
            f"Next: executor_runner --self_test --model_path={target}",
        ],
        [Table("cases", "Cases on this machine", rows)],
        status=int(failed > 0),
        figures=[
            Figure("cases", f"{len(cases):,}"),
            Figure("fail here", f"{failed:,}"),
            Figure("size of the cases", sized(len(tested) - len(file.data))),
        ],
    )


def _model(record: ETRecord, file: ProgramFile) -> ExportedProgram | None:
    """As the user exported it. Of several methods the record has one so, and does not say which: the edge program
    gives the same."""
    if len(file.program.execution_plan) == 1:
        return record.exported_program
    return record.edge_dialect_program


def _tolerances(
    arguments: argparse.Namespace, cases: Sequence[MethodTestCase]
) -> tuple[float, float]:
    outputs = [each for case in cases for each in case.expected_outputs]
    halves = (torch.float16, torch.bfloat16)
    is_half = any(isinstance(each, torch.Tensor) and each.dtype in halves for each in outputs)
    rtol, atol = (2e-2, 1e-3) if is_half else (1e-3, 1e-5)
    return (
        rtol if arguments.rtol is None else arguments.rtol,
        atol if arguments.atol is None else arguments.atol,
    )


def _run(
    data: bytes,
    method: str,
    cases: Sequence[MethodTestCase],
    tolerances: tuple[float, float],
    data_path: Path | None,
) -> list[Row]:
    from executorch.runtime import Runtime

    loaded = Runtime.get().load_program(data, data_path=data_path).load_method(method)
    rtol, atol = tolerances
    rows = []
    for index, case in enumerate(cases):
        pairs = list(
            zip(case.expected_outputs, loaded.execute(given.copies(case.inputs)), strict=True)
        )
        rows.append(
            {
                "case": index,
                "passes": all(
                    torch.allclose(expected, found, rtol=rtol, atol=atol, equal_nan=True)
                    for expected, found in pairs
                ),
                "largest difference": max(
                    (
                        float((expected.double() - found.double()).abs().max())
                        for expected, found in pairs
                        if found.numel()
                    ),
                    default=0.0,
                ),
            }
        )
    return rows


def _carried(path: Path, test: SelfTest | None) -> Report:
    if test is None:
        return Report(str(path), ["It carries no self-test: --etrecord adds one."])
    rows = [{"method": suite.method_name, "cases": len(suite.test_cases)} for suite in test.suites]
    sentence = f"It carries a self-test, rtol {test.rtol:g}, atol {test.atol:g}."
    return Report(str(path), [sentence], [Table("suites", "Test cases", rows)])
