# SPDX-License-Identifier: BSD-3-Clause
"""Weights by least squares are torchao's, bit for bit; so are the layers that hold them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn
from torchao.quantization.granularity import PerAxis, PerGroup
from torchao.quantization.quant_api import (
    Int8DynamicActivationIntxWeightConfig,
    IntxWeightOnlyConfig,
    quantize_,
)
from torchao.quantization.quant_primitives import _choose_qparams_and_quantize_scale_only_hqq

from executorch.extension.llm.formats.weight_bits import WeightBits
from executorch.extension.llm.quantization import weights
from executorch.extension.llm.quantization.weights import (
    quantize_by_least_squares,
    quantize_embeddings,
    quantize_linears,
)


def _weight(rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    torch.manual_seed(rows)
    weight = torch.randn(rows, columns) * torch.rand(rows, 1) ** 8
    weight[1] = 0
    weight[2] = weight[2].sign()
    return weight.to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("bits", [1, 2, 4, 5, 8])
@pytest.mark.parametrize("columns, group", [(96, 32), (1280, 1280), (512, 128)])
def test_codes_and_scales_are_torchaos(
    columns: int, group: int, bits: int, dtype: torch.dtype
) -> None:
    weight = _weight(130, columns, dtype)
    limits = (-(1 << bits - 1), (1 << bits - 1) - 1)
    codes, scales = quantize_by_least_squares(weight, group, *limits)
    expected = _choose_qparams_and_quantize_scale_only_hqq(weight, (1, group), *limits)
    assert torch.equal(codes, expected[0].to(torch.int8))
    assert torch.equal(scales, expected[1]) and scales.dtype == dtype


def test_all_parts_stop_at_the_same_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where little is enough, a part whose scales still move stops with the others."""
    weight = _weight(40, 2048, torch.float32)
    whole = _choose_qparams_and_quantize_scale_only_hqq(
        weight, (1, 2048), -8, 7, early_stop_tol=0.05
    )
    assert not torch.equal(quantize_by_least_squares(weight, 2048, -8, 7)[1], whole[1])
    monkeypatch.setattr(weights, "_ENOUGH", 0.05)
    codes, scales = quantize_by_least_squares(weight, 2048, -8, 7)
    assert torch.equal(scales, whole[1]) and torch.equal(codes, whole[0].to(torch.int8))


class _Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table, self.output = nn.Embedding(50, 64), nn.Linear(64, 50, bias=False)
        self.inner, self.odd = nn.Linear(64, 40), nn.Linear(40, 64)
        self.output.weight = self.table.weight


@pytest.mark.parametrize("use_hqq", [True, False])
@pytest.mark.parametrize(
    "wanted",
    [WeightBits(4, 32, True), WeightBits(8, 0, False), WeightBits(2, 32, False)],
    ids=["8da4w", "int8", "2w"],
)
def test_layers_hold_what_torchaos_configs_make(wanted: WeightBits, use_hqq: bool) -> None:
    ours, theirs = _Model(), _Model()
    rows = replace(wanted, dynamic=False)
    quantize_embeddings(quantize_linears(ours, wanted, use_hqq), rows, use_hqq)
    theirs.output.weight = nn.Parameter(theirs.table.weight.detach())
    dtype = getattr(torch, f"int{wanted.bits}")
    groups = PerGroup(wanted.group) if wanted.group else PerAxis(0)
    scales = "hqq_scale_only" if use_hqq else "affine"
    plain = IntxWeightOnlyConfig(
        weight_dtype=dtype, granularity=groups, intx_choose_qparams_algorithm=scales
    )
    dynamic = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=dtype, weight_granularity=groups, intx_choose_qparams_algorithm=scales
    )

    def is_taken(module: nn.Module, _: str) -> bool:
        return isinstance(module, nn.Linear) and (not wanted.group or module is not theirs.odd)

    quantize_(theirs, dynamic if wanted.dynamic else plain, is_taken)
    quantize_(theirs, plain, lambda module, _: isinstance(module, nn.Embedding))
    for (name, expected), (_, found) in zip(
        theirs.named_parameters(), ours.named_parameters(), strict=True
    ):
        assert type(found) is type(expected), name
        if not hasattr(expected, "qdata"):
            assert torch.equal(found, expected), name
            continue
        for attribute in type(expected).tensor_attribute_names:
            assert getattr(found, attribute) == getattr(expected, attribute), (name, attribute)
        for attribute in type(expected).tensor_data_names:
            assert torch.equal(getattr(found, attribute), getattr(expected, attribute)), name
