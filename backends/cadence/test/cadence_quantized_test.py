# SPDX-License-Identifier: BSD-3-Clause
"""Rows on stored values beside float64: by the formulas in Python, and by the kernels, which give the same bits.
Nothing is left in floats, and nothing is said."""

from __future__ import annotations

import warnings

import pytest
import torch

from executorch.backends.cadence.aot.passes import cadence_passes
from executorch.backends.cadence.test.cadence_quantized_rows import FAMILIES
from executorch.backends.test.quantized_calls import Row
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import load_backend


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    load_backend("cadence")


def edge_of(row: Row) -> EdgeProgramManager:
    program = torch.export.export(row.call, row.inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return to_edge_transform_and_lower(program, transform_passes=cadence_passes(program))


@pytest.mark.req("NPU-047")
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_round_once(family: str) -> None:
    torch.manual_seed(0)
    wrong, made = [], []
    for row in FAMILIES[family]():
        edge = edge_of(row)
        program = edge.exported_program()
        found = program.module()(*row.inputs)
        wrong.append(row.why_wrong(found))
        floats = [op_name(node) for node in program.graph.nodes if "dequantize" in op_name(node)]
        wrong.append(f"{row.name}: {floats}" if floats else "")
        made.append((row, edge, found))
    for row, edge, expected in made:
        program = Runtime.get().load_program(edge.to_executorch().buffer)
        (found,) = program.load_method("forward").execute(row.inputs)
        near = (
            torch.equal(found, expected) if family != "rows_of_values" else _near(found, expected)
        )
        wrong.append("" if near else f"{row.name}: the kernel differs")
    assert [each for each in wrong if each] == []


def _near(found: torch.Tensor, expected: torch.Tensor) -> bool:
    """Sums of floats in another order."""
    return int((found.int() - expected.int()).abs().max()) <= 1
