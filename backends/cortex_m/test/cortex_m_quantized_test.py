# SPDX-License-Identifier: BSD-3-Clause
"""Rows on stored values beside float64: by the operators in Python, in either order of images, and by the kernels,
which give the same bits. Nothing is left in floats, and nothing is said."""

from __future__ import annotations

import warnings

import pytest
import torch

from executorch.backends.cortex_m.passes.edge_config import edge_config
from executorch.backends.cortex_m.test.cortex_m_quantized_rows import FAMILIES
from executorch.backends.cortex_m.test.lowered import lowered
from executorch.backends.test.quantized_calls import Row
from executorch.exir import EdgeProgramManager, to_edge
from executorch.exir.graph_facts import op_name
from executorch.runtime import Runtime

FIRST, LAST = torch.contiguous_format, torch.channels_last
CASES = [(family, FIRST) for family in FAMILIES]
CASES += [(family, LAST) for family in ("softmaxes", "data_movement", "convolutions")]


def inputs_of(row: Row, form: torch.memory_format) -> tuple[torch.Tensor, ...]:
    return tuple(each.to(memory_format=form) if each.dim() == 4 else each for each in row.inputs)


def edge_of(row: Row, inputs: tuple[torch.Tensor, ...]) -> EdgeProgramManager:
    exported = torch.export.export(row.call, inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return lowered(to_edge(exported, compile_config=edge_config()))


@pytest.mark.req("ARM-037")
@pytest.mark.parametrize(("family", "form"), CASES, ids=str)
def test_rows_round_once(family: str, form: torch.memory_format) -> None:
    torch.manual_seed(0)
    wrong, methods = [], []
    for row in FAMILIES[family]():
        inputs = inputs_of(row, form)
        edge = edge_of(row, inputs)
        program = edge.exported_program()
        found = program.module()(*inputs)
        wrong.append(row.why_wrong(found))
        floats = [op_name(node) for node in program.graph.nodes if "dequantize" in op_name(node)]
        wrong.append(f"{row.name}: {floats}" if floats else "")
        methods.append((row.name, edge, inputs, found))
    for name, edge, inputs, expected in methods:
        program = Runtime.get().load_program(edge.to_executorch().buffer)
        (found,) = program.load_method("forward").execute(inputs)
        wrong.append("" if torch.equal(found, expected) else f"{name}: the kernel differs")
    assert [each for each in wrong if each] == []
