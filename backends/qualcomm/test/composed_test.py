# SPDX-License-Identifier: BSD-3-Clause
"""Formulas in place of operators that QNN lacks, scalars and norms of any rank: by the evaluator as by eager, also
between quantized values; and what is moved from one encoding into another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.test import evaluated
from executorch.backends.qualcomm.test.recorder import Recorder, left, lowered, quantized

X = torch.linspace(-0.9, 0.9, 24).reshape(2, 3, 4)
FORMULAS: dict[str, Callable[[Tensor], Tensor]] = {
    **{name: getattr(torch, name)
       for name in "log1p expm1 exp2 tan acos sinh cosh asinh atanh trunc".split()},
    "log2": lambda x: torch.log2(x + 1.5),
    "log10": lambda x: torch.log10(x + 1.5),
    "acosh": lambda x: torch.acosh(x + 2),
    "remainder": lambda x: torch.remainder(x, 0.35),
    "remainder_of_two": lambda x: torch.remainder(x, x[0] + 2),
    "floor": lambda x: torch.div(x, 0.3, rounding_mode="floor"),
    "truncated": lambda x: torch.div(x, 0.3, rounding_mode="trunc"),
    "gelu": lambda x: F.gelu(x * 3, approximate="tanh"),
    "softplus": F.softplus,
    "mish": F.mish,
    "variance": lambda x: x.var(1),
    "variance_kept": lambda x: x.var((0, 2), correction=0, keepdim=True),
    "mean": lambda x: x.mean(),
    "largest": lambda x: x.max() - x.min(),
}  # fmt: skip


class Of(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def difference(model: nn.Module, *inputs: Tensor) -> float:
    """Of one delegate that has all."""
    door = Recorder()
    manager = lowered(model, inputs, door)
    assert left(manager) == [] and len(door.graphs) == 1
    (found,) = evaluated.run(manager.exported_program(), door, inputs)
    wanted = model(*inputs)
    assert found.dtype == wanted.dtype
    return float((found.reshape(wanted.shape).double() - wanted.double()).abs().max())


def test_formulas_are_those_of_eager() -> None:
    found = {name: difference(Of(each), X) for name, each in FORMULAS.items()}
    assert {name: each for name, each in found.items() if each > 3e-6} == {}


def test_formulas_between_quantized_values_are_computed_in_floats() -> None:
    """A relu on either side is quantized; both round to steps, of which results may differ by one."""
    for name in ("log1p", "softplus", "gelu", "expm1"):
        function = FORMULAS[name]
        model = quantized(Of(lambda x, f=function: F.relu(f(F.relu(x)))), (X,), QuantDtype.use_8a8w)
        assert difference(model, X) < 2.6 / 255, name


@pytest.mark.parametrize("sizes", [(2, 6), (2, 6, 5)])
def test_batch_norms_of_any_rank(sizes: tuple[int, ...]) -> None:
    norm = nn.BatchNorm1d(6).eval()
    norm.running_mean.uniform_(), norm.running_var.uniform_(0.5, 2)
    assert difference(norm, torch.randn(sizes)) < 1e-5


def test_norms_of_three_dimensions() -> None:
    for norm in (nn.GroupNorm(2, 6), nn.InstanceNorm1d(6, affine=True)):
        assert difference(norm, torch.randn(2, 6, 5)) < 1e-5


def test_scalars_of_integers_of_64_bits_have_one_dimension() -> None:
    assert difference(Of(lambda n, x: x * n.to(torch.float32)), torch.tensor(3), X) == 0


def test_outputs_in_other_orders_of_memory_are_transposed() -> None:
    """Of an input that has its columns first, as factorizations give them; kernels keep such an order."""
    door, x = Recorder(), torch.randn(4, 3).t()
    manager = lowered(Of(torch.abs), (x,), door)
    (graph,) = door.graphs
    assert [each.type for each in graph.operators] == ["Transpose", "ElementWiseAbs", "Transpose"]
    assert [graph.tensors[place].dims for place in (*graph.inputs, *graph.outputs)] == [(4, 3)] * 2
    assert manager.exported_program().graph.output_node().args[0][0].meta["val"].dim_order() == (
        1,
        0,
    )


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


def test_what_is_moved_into_another_encoding_is_converted() -> None:
    """A view whose result is quantized by what reads it, and a table that a call makes and a view shapes."""
    made = Of(lambda n: F.embedding(n, torch.arange(16.0).reshape(2, 8)))
    for model, x in ((Attention().eval(), torch.randn(2, 3, 8)), (made, torch.tensor([1, 0]))):
        in_8_bits = quantized(model, (x,), QuantDtype.use_8a8w)
        step = float(in_8_bits(x).abs().max()) / 100
        assert difference(in_8_bits, x) <= step
