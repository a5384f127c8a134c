# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one value that PyTorch takes apart: quantized each is one table, so that only its input and its result
are rounded."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.quantizer import TOSAQuantizer
from executorch.backends.arm.quantizer.decompositions import _FORMS, _FORMS_WHERE
from executorch.backends.arm.test.arm_reference import delegates, lowered, quantized
from executorch.backends.test.corpus.row import Function
from executorch.exir.backend.lowering.quantized import quantization_of
from executorch.exir.backend.lowering.quantizer.captured import CapturedTable

X = torch.linspace(-9, 8, 200).reshape(4, 50)
FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "softplus": F.softplus,
    "softplus, beta and threshold": lambda x: F.softplus(x, 2.0, 5.0),
    "mish": F.mish,
    "logsigmoid": F.logsigmoid,
    "celu": lambda x: F.celu(x, 0.7),
    "selu": F.selu,
    "rrelu": F.rrelu,
    "softshrink": F.softshrink,
    "erfc": torch.erfc,
    "square": torch.square,
    "a number to the power": lambda x: 2.0**x,
    "quotient, cut off": lambda x: torch.div(x, 1.5, rounding_mode="trunc"),
    "logit": lambda x: torch.logit(x, 1e-3),
    "sinc": torch.sinc,
}


def off(function: Callable[[Tensor], Tensor]) -> tuple[list[str], float]:
    """What computes in the graph, and by how many quanta the quantized model differs from eager at what its input is
    rounded to."""
    model = quantized(Function(function), (X,))
    qparams = [found for node in model.graph.nodes if (found := quantization_of(node)) is not None]
    before, after = qparams[0], qparams[-1]
    stored = torch.round(X / before.scale) + before.zero_point
    stored = stored.clamp(before.quant_min, before.quant_max)
    exact = function((stored - before.zero_point) * before.scale) / after.scale + after.zero_point
    found = model(X) / after.scale + after.zero_point
    limits = after.quant_min, after.quant_max
    (delegate,) = delegates(lowered(model, (X,), "TOSA-1.0+INT"))
    (block,) = SCHEMA.unpack(bytes(delegate.processed_bytes)).regions[0].blocks
    operators = [each.op.name for each in block.operators if not each.op.name.startswith("CONST")]
    return operators, float((found - exact.clamp(*limits)).abs().max())


@pytest.mark.parametrize("part", range(3))
def test_each_is_one_table(part: int) -> None:
    found = {name: off(FUNCTIONS[name]) for name in list(FUNCTIONS)[part::3]}
    assert {
        name: each for name, each in found.items() if each[0] != ["TABLE"] or each[1] > 0.51
    } == {}


# hardshrink jumps, as compare and select do; the others are another function of a row, or nothing.
OTHERWISE = {"hardshrink", "square", "positive", "angle", "conj_physical", "_conj_physical"}


def of_one_value() -> Iterator[torch._ops.OpOverload]:
    """What PyTorch computes element by element, from one tensor of floats to one."""
    x = torch.rand(3)
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in getattr(packet, "overloads", list)():
            op = getattr(packet, overload)
            first, *rest = op._schema.arguments or [None]
            takes_one = first is not None and all(each.has_default_value() for each in rest)
            if torch.Tag.pointwise not in op.tags or op._schema.is_mutable or not takes_one:
                continue
            with contextlib.suppress(RuntimeError, TypeError):
                if getattr(op(x), "dtype", None) == torch.float32:
                    yield op


def test_all_of_pytorch_have_a_row() -> None:
    table, forms = CapturedTable(TOSAQuantizer.table), {*_FORMS, *_FORMS_WHERE}
    missing = {
        op.overloadpacket.__name__
        for op in of_one_value()
        if not table.has_row(str(op)) and str(op) not in forms
    }
    assert {each for each in missing if "bessel" not in each and "airy" not in each} == OTHERWISE
