# SPDX-License-Identifier: BSD-3-Clause
"""What a quantizer has chosen and no row takes is said, with the reason and the line."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn
from torch.export import export

from executorch.exir import to_edge
from executorch.exir.backend.lowering.kernels.left_in_floats import left_in_floats
from executorch.exir.backend.lowering.kernels.rows import of_call, quantized, write_move
from executorch.exir.backend.lowering.op_table import OpTable, Row
from executorch.exir.backend.lowering.table_pass import TablePass
from executorch.exir.graph_facts import op_name

_Q = torch.ops.quantized_decomposed
NUMBERS = (0.1, 3, -128, 127, torch.int8)
FEW = of_call(lambda call: call.meta["val"].dim() == 2, "two dimensions are expected")
TABLE = OpTable({quantized("aten.flip.default"): Row(write_move, (FEW,))})


def stored(x: Tensor) -> Tensor:
    return _Q.dequantize_per_tensor(_Q.quantize_per_tensor(x, *NUMBERS), *NUMBERS)


class Model(nn.Module):
    def __init__(self, rank: int) -> None:
        super().__init__()
        self.rank = rank

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        flipped = stored(stored(x.reshape((4, 6, 1)[: self.rank])).flip(0))
        return flipped, stored(torch.relu(flipped + 1)), flipped * 2


def run(rank: int) -> list[str]:
    program = to_edge(export(Model(rank), (torch.randn(24),))).exported_program()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        TablePass(TABLE, program)(program.graph_module)
    return [str(each.message) for each in caught]


def test_reasons_are_those_of_rows_or_that_there_is_none() -> None:
    """A product whose result stays float was not asked for."""
    (message,) = run(3)
    assert message.startswith("what was quantized is computed in floats here:\n")
    flip, add = message.splitlines()[1:]
    assert flip.strip().startswith("aten.flip.default: two dimensions are expected: node ")
    assert "left_in_floats_test.py" in flip and ".flip(0))" in flip
    assert add.strip().startswith("aten.add.Tensor: the backend has no such operator: node ")
    (message,) = run(2)
    assert "aten.flip" not in message


def test_limits_behind_a_call_are_a_part_of_it() -> None:
    program = to_edge(export(Model(2), (torch.randn(24),))).exported_program()
    calls = [op_name(each) for each in left_in_floats(program.graph).values()]
    assert calls == ["aten.flip.default", "aten.add.Tensor"]


def test_tables_of_floats_say_nothing() -> None:
    program = to_edge(export(Model(2), (torch.randn(24),))).exported_program()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TablePass(OpTable({}), program)(program.graph_module)
