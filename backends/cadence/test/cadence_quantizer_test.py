# SPDX-License-Identifier: BSD-3-Clause
"""Each quantizer: which operators a model gets by it, and that the model stays near its floats."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.cadence.aot import compiler
from executorch.backends.cadence.aot.programs import get_ops_count
from executorch.backends.cadence.aot.quantizer import quantizer as q

ATTENTION = (torch.randn(2, 4, 16), torch.randn(2, 16, 4))


class Attention(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.matmul(x, y), -1)


class Joined(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cat([x + y, y + x * 0.5])


def normed() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8))


def convolved() -> nn.Module:
    norm = nn.BatchNorm2d(4)
    norm.running_mean = torch.randn(4)
    return nn.Sequential(nn.Conv2d(3, 4, 3), norm, nn.ReLU())


IMAGE = (torch.randn(1, 3, 6, 6),)
ROWS = (torch.randn(6, 8),)
# Quantizer, model, inputs, operators of cadence beside quantize and dequantize.
CASES: list[tuple[Any, ...]] = [
    (q.CadenceDefaultQuantizer, normed, ROWS, {"quantized_linear.per_tensor": 1}),
    (q.CadenceNopQuantizer, normed, ROWS, {}),
    (q.CadenceRmsNormNopQuantizer, lambda: nn.RMSNorm(8), ROWS, {}),
    (q.CadenceDefaultQuantizer, Attention, ATTENTION, {"quantized_matmul.default": 1}),
    (
        q.CadenceWithLayerNormQuantizer,
        normed,
        ROWS,
        {"quantized_linear.per_tensor": 1, "quantized_layer_norm.per_tensor": 1},
    ),
    (
        q.CadenceWithSoftmaxQuantizer,
        Attention,
        ATTENTION,
        {"quantized_matmul.default": 1, "quantized_softmax.per_tensor": 1},
    ),
    (q.CadenceWakeWordQuantizer, Joined, (ROWS[0], ROWS[0] * 2), {"quantized_add.per_tensor": 2}),
    (q.CadenceFusedConvReluQuantizer, convolved, IMAGE, {"quantized_conv2d_nchw.per_tensor": 1}),
    (
        q.CadenceW8A32MixedQuantizer,
        lambda: nn.Linear(8, 4),
        (torch.randn(3, 1, 8),),
        {"quantized_w8a32_linear.default": 1},
    ),
    (
        q.CadenceWith16BitLinearActivationsQuantizer,
        lambda: nn.Linear(8, 4),
        ROWS,
        {"quantized_linear.per_tensor": 1},
    ),
    (
        q.CadenceWith16BitConvActivationsQuantizer,
        lambda: nn.Conv2d(3, 4, 3),
        IMAGE,
        {"quantized_conv2d_nchw.per_tensor": 1},
    ),
    (
        q.CadenceWith16BitMatmulActivationsQuantizer,
        Attention,
        ATTENTION,
        {"quantized_matmul.default": 1},
    ),
]


@pytest.mark.req("NPU-049")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_quantizers(case: tuple[Any, ...]) -> None:
    make, model_of, inputs, expected = case
    torch.manual_seed(0)
    model = model_of().eval()
    program = compiler.quantize_pt2(model, inputs, make())
    edge = compiler._lower_ep_to_cadence(program)
    counts = get_ops_count(edge.exported_program().graph_module)
    own = Counter(
        {n.removeprefix("cadence."): counts[n] for n in counts if "cadence.quantized" in n}
    )
    assert own == expected
    found, wanted = edge.exported_program().module()(*inputs), model(*inputs)
    assert (found - wanted).pow(2).mean() < 2e-3 * wanted.pow(2).mean()


def test_a_users_choice_counts_before_the_rows() -> None:
    quantizer = q.CadenceDefaultQuantizer().set_module_name("0", None)
    assert quantizer.get_supported_operators()
    rows = q.get_cadence_default_quantizers()
    only = q.CadenceDefaultQuantizer([each for each in rows if "relu" in each.pattern.functions])
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    edge = compiler._lower_ep_to_cadence(compiler.quantize_pt2(model, ROWS, only))
    counts = get_ops_count(edge.exported_program().graph_module)
    assert counts["cadence.quantized_relu.per_tensor"] == 1
    assert counts["cadence.quantized_linear.per_tensor"] == 0


def test_what_a_config_is_called_is_what_it_says() -> None:
    """Bits of activations and weights, symmetric or affine weights, int32 biases beside integers, training."""
    for name in "A8W8 A8W8sym A8W8_qat A8W8sym_qat A16 A32W8sym".split():
        config = getattr(q, f"qconfig_{name}")
        qparams, weight = config.input_activation, config.weight
        bits = {"A8": (-128, 127), "A16": (-32768, 32767)}.get(name[: 2 + name.startswith("A16")])
        assert bits == (qparams and (qparams.quant_min, qparams.quant_max)), name
        assert (config.bias is None) == name.startswith("A32"), name
        assert config.is_qat == name.endswith("_qat"), name
        is_symmetric = weight.qscheme == torch.per_tensor_symmetric
        assert is_symmetric == ("sym" in name) and weight.dtype == torch.int8, name


def test_a_pattern_with_a_relu_folds_it_alone() -> None:
    for name in ("Conv1dRelu", "Conv2dRelu", "AddRelu", "Conv1d", "Conv2d", "Add", "Linear"):
        row = q.CadenceAtenQuantizer(getattr(q.p, f"{name}Pattern")(), q.qconfig_A8W8)
        assert bool(q.CadenceQuantizer([row]).folded) == name.endswith("Relu"), name


def test_patterns_name_operators_that_exist() -> None:
    for each in q.get_cadence_default_quantizers():
        assert each.pattern.replacement_op().name().startswith("cadence::quantized")


@pytest.mark.parametrize("is_qat", (False, True))
@pytest.mark.parametrize(
    ("make", "more"),
    (
        (q.CadenceDefaultQuantizer, []),
        (q.CadenceWithLayerNormQuantizer, ["LayerNormPattern"]),
        (q.CadenceWakeWordQuantizer, ["AddPattern", "CatPattern"]),
    ),
)
def test_rows_of_training(make: Any, more: list[str], is_qat: bool) -> None:
    """In training every range is learnt, otherwise observed; zero points of convolutions' weights are 0."""
    rows = make(is_qat=is_qat).quantizers
    assert [type(each.pattern).__name__ for each in rows[9:]] == more
    for each in rows:
        config = each.quantization_config
        kind = (
            torch.per_tensor_symmetric if "Conv" in str(each.pattern) else torch.per_tensor_affine
        )
        for part in (config.input_activation, config.weight):
            assert ("FakeQuantize" in str(part.observer_or_fake_quant_ctr)) == is_qat
        assert config.weight.qscheme == kind


@pytest.mark.parametrize("name", ["A8W8", "A8W8sym", "A16", "A32W8sym", "A8W8_qat", "A8W8sym_qat"])
def test_scales_of_zeros_are_the_least(name: str) -> None:
    """2**-12, of activations and of weights."""
    config = getattr(q, f"qconfig_{name}")
    for spec in filter(None, (config.input_activation, config.output_activation, config.weight)):
        observer = spec.observer_or_fake_quant_ctr.with_args(
            dtype=spec.dtype,
            qscheme=spec.qscheme,
            quant_min=spec.quant_min,
            quant_max=spec.quant_max,
        )()
        observer(torch.zeros(3, 4))
        assert observer.calculate_qparams()[0].flatten().tolist() == [2**-12]
