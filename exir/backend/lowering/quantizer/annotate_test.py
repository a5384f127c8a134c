# SPDX-License-Identifier: BSD-3-Clause
"""Operands and results that are no floats, weights that are missing, and parameters that an operator says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import QuantizationConfig

from executorch.exir.backend.lowering.annotation import (
    ARITHMETIC,
    ARITHMETIC_OF_FLOATS,
    FROM_0_TO_1,
    SHARED,
    Annotation,
    Kind,
)
from executorch.exir.backend.lowering.op_table import OpTable, Row
from executorch.exir.backend.lowering.quantized import Quantization
from executorch.exir.backend.lowering.quantized_steps import quantized_step
from executorch.exir.backend.lowering.quantizer.configs import limits_of, quantization_config
from executorch.exir.backend.lowering.quantizer.rewrites import silu_to_sigmoid
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer

KINDS = {
    "aten.mul.Tensor": ARITHMETIC,
    "aten.gt.Tensor": ARITHMETIC_OF_FLOATS,
    "aten.where.self": ARITHMETIC_OF_FLOATS,
    "aten.sigmoid.default": FROM_0_TO_1,
    "aten.native_layer_norm.default": Annotation(Kind.GEMM, places=(0, 2, 3)),
}
X, Y = torch.rand(2, 4), torch.rand(2, 4) * 3


class OfAll(TableQuantizer):
    table = OpTable({name: Row(print, annotation=kind) for name, kind in KINDS.items()})
    everywhere = True


class Moving(OfAll):
    rows = {"aten.neg.default": Row(print, annotation=SHARED)}
    table = OpTable({**OfAll.table, **rows})


class Otherwise(TableQuantizer):
    annotation = Annotation(
        Kind.ARITHMETIC, when=lambda n: n.meta["val"].shape[0] > 1, otherwise=SHARED
    )
    table = OpTable({"aten.neg.default": Row(print, annotation=annotation)})
    everywhere = True


class Function(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


class WithoutSilu(OfAll):
    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        silu_to_sigmoid(model)
        return super().transform_for_annotation(model)


def quantized(
    module: nn.Module,
    *inputs: Tensor,
    quantizer: TableQuantizer | None = None,
    config: QuantizationConfig | None = None,
) -> GraphModule:
    config = config or quantization_config((0, 255))
    quantizer = (quantizer or OfAll()).set_global(config)
    prepared = prepare_pt2e(torch.export.export(module, inputs).module(), quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


def around(model: GraphModule, name: str) -> tuple[list[Quantization], list[Quantization]]:
    """Qparams of operands and results of the first call of that name."""
    call = next(n for n in model.graph.nodes if f"aten.{name}." in str(n.target))
    step = quantized_step(call)
    return list(step.inputs.values()), list(step.outputs.values())


class Greater(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.where(x > y, x, y)


def test_conditions_stay_as_they_are() -> None:
    model = quantized(Greater(), X, Y)
    operands, results = around(model, "gt")
    assert len(operands) == 2 and not results
    operands, results = around(model, "where")
    assert len(operands) == 2 and len(results) == 1


class Gated(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(x)


@pytest.mark.parametrize(
    ("limits", "scale", "zero_point"),
    [((0, 255), 1 / 256, 0), (limits_of(8), 1 / 256, -128), ((0, 65535), 1 / 65536, 0)],
)
def test_what_has_fixed_parameters_is_read_with_these(
    limits: tuple[int, int], scale: float, zero_point: int
) -> None:
    """And the zero point follows the limits, not the dtype: 16 bits may be held in one that is signed."""
    model = quantized(Gated(), X, config=quantization_config(limits))
    (fixed,) = around(model, "sigmoid")[1]
    assert (fixed.scale, fixed.zero_point) == (scale, zero_point)
    assert fixed in around(model, "mul")[0]
    quantizes = [n for n in model.graph.nodes if ".quantize" in str(n.target)]
    assert len(quantizes) == 3  # x, the gate, the result


class MovedGate(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(x).neg() * x


def test_what_has_fixed_parameters_keeps_them_where_it_is_moved() -> None:
    model = quantized(MovedGate(), X, quantizer=Moving())
    (fixed,) = around(model, "sigmoid")[1]
    assert fixed == around(model, "neg")[0][0] == around(model, "neg")[1][0]
    assert fixed in around(model, "mul")[0]


def test_calls_that_a_condition_leaves_are_quantized_otherwise() -> None:
    """A first operand of one row is moved, any other is computed with."""
    for x, is_shared in ((X[:1], True), (X, False)):
        operands, results = around(quantized(Function(torch.neg), x, quantizer=Otherwise()), "neg")
        assert (operands == results) is is_shared


def test_a_silu_has_no_parameters_of_sigmoid() -> None:
    """Its largest result here is 2.86."""
    assert around(quantized(nn.SiLU(), Y), "silu") == ([], [])
    model = quantized(nn.SiLU(), Y, quantizer=WithoutSilu())
    (result,) = around(model, "mul")[1]
    largest = result.scale * (result.quant_max - result.zero_point)
    assert largest == pytest.approx(float(nn.functional.silu(Y).max()), rel=0.02)
    assert torch.allclose(model(Y), nn.functional.silu(Y), atol=0.03)


def test_a_norm_without_weights_stays_float() -> None:
    model = quantized(nn.LayerNorm(4, elementwise_affine=False), X)
    assert around(model, "layer_norm") == ([], [])
    operands, results = around(quantized(nn.LayerNorm(4), X), "layer_norm")
    assert len(operands) == 2 and len(results) == 1
