# SPDX-License-Identifier: BSD-3-Clause
"""Which values are quantized, and their numbers in five precisions: the rules of 1.4.1, arithmetic beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import export
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.backends.mediatek import NeuropilotQuantizer, Precision
from executorch.backends.mediatek.quantizer import qconfig
from executorch.backends.mediatek.quantizer.annotator import OP_TO_ANNOTATOR, register_annotator
from executorch.backends.mediatek.test.stand_in import Function
from executorch.exir.graph_facts import op_name

V, IMAGE, SIGNAL = torch.ones(2, 8), torch.ones(1, 3, 8, 8), torch.ones(1, 3, 10)
MATRICES = torch.ones(2, 3, 4), torch.ones(2, 4, 5)


def annotated(model: nn.Module, *inputs: Tensor) -> list[str]:
    """Calls, with the places of operands that are quantized on the way in, and `!` where the result is."""
    module = export(model, inputs).module()
    quantizer = NeuropilotQuantizer()
    made = quantizer.annotate(quantizer.transform_for_annotation(module))
    found = []
    for node in made.graph.nodes:
        annotation = node.meta.get(Q_ANNOTATION_KEY)
        if node.op == "call_function" and annotation is not None:
            places = [node.args.index(each) for each in annotation.input_qspec_map]
            name = op_name(node).removeprefix("aten.").removesuffix(".default")
            if places or annotation.output_qspec is not None:
                found.append(name + "".join(map(str, places)) + "!" * bool(annotation.output_qspec))
    return found


def of(function: Callable[..., Any], *inputs: Tensor, **modules: nn.Module) -> list[str]:
    return annotated(Function(lambda m, *x: function(m, *x), **modules), *inputs)


def conv() -> nn.Module:
    return nn.Conv2d(3, 4, 3)


def test_convolutions_and_linear_layers() -> None:
    assert annotated(conv(), IMAGE) == ["conv2d1!"]
    assert annotated(nn.Conv1d(3, 4, 3), SIGNAL) == ["conv1d1!"]
    assert annotated(nn.Linear(8, 4), V) == ["linear1!"]
    assert annotated(nn.ConvTranspose2d(3, 4, 2), IMAGE) == []
    assert of(lambda m, x: m.e(x), torch.tensor([1]), e=nn.Embedding(9, 4)) == ["embedding0"]


def test_limits_are_quantized_with_what_is_before_them() -> None:
    assert of(lambda m, x: F.relu(m.c(x)), IMAGE, c=conv()) == ["conv2d1", "relu!"]
    assert of(lambda m, x: F.relu6(m.c(x)), IMAGE, c=conv()) == ["conv2d1", "relu6!"]
    assert of(lambda m, x: torch.relu_(m.c(x)), IMAGE, c=conv()) == ["conv2d1", "relu_!"]
    for op, function in (
        ("add.Tensor", lambda _, x, y: F.relu(x + y)),
        ("rsub.Tensor", lambda _, x, y: F.relu(torch.rsub(x, y))),
        ("divide.Tensor", lambda _, x, y: F.relu(torch.divide(x, y))),
    ):
        assert of(function, V, V + 1) == ["relu!"], op
    # neither two readers, nor other limits, nor what is no arithmetic
    assert of(lambda m, x: F.relu(c := m.c(x)) + c, IMAGE, c=conv()) == ["conv2d1!", "add.Tensor!"]
    assert of(lambda m, x: F.hardtanh(m.c(x)), IMAGE, c=conv()) == ["conv2d1!"]
    assert of(lambda _, x: F.relu(F.gelu(x)), V) == ["gelu!"]
    assert of(lambda _, x: F.relu(x), V) == []


@pytest.mark.parametrize(
    ("name", "function", "inputs"),
    [
        ("add.Tensor", lambda _, x, y: x + y, (V, V + 1)),
        ("sub.Tensor", lambda _, x, y: x - y, (V, V + 1)),
        ("mul.Scalar", lambda _, x: torch.ops.aten.mul.Scalar(x, 2.0), (V,)),
        ("div.Tensor", lambda _, x, y: x / y, (V, V + 1)),
        ("rsub.Scalar", lambda _, x: 1 - x, (V,)),
        ("pow.Tensor_Scalar", lambda _, x: x**3, (V,)),
        ("pow.Tensor_Tensor", lambda _, x, y: x**y, (V, V + 1)),
        ("pow.Scalar", lambda _, x: 2.0**x, (V,)),
        ("bmm", lambda _, x, y: torch.bmm(x, y), MATRICES),
        ("matmul", lambda _, x, y: x @ y, MATRICES),
        ("gelu", lambda _, x: F.gelu(x), (V,)),
        ("silu", lambda _, x: F.silu(x), (V,)),
        ("leaky_relu", lambda _, x: F.leaky_relu(x), (V,)),
        ("layer_norm", lambda _, x: F.layer_norm(x, [8]), (V,)),
        ("group_norm", lambda _, x: F.group_norm(x, 1), (IMAGE,)),
    ],
)
def test_arithmetic_has_results_of_its_own(name: str, function: Any, inputs: Any) -> None:
    assert of(function, *inputs) == [f"{name}!"]


def test_others_are_not_annotated() -> None:
    for function in (
        lambda _, x: F.softmax(x, -1),
        lambda _, x: torch.sigmoid(x),
        lambda _, x: torch.cat([x, x], 1),
        lambda _, x: -x,
    ):
        assert of(function, V) == []
    assert of(lambda _, x: x + 1, torch.tensor([1, 2])) == []  # 1.4.1 observes integers
    assert of(lambda _, x: F.scaled_dot_product_attention(x, x, x), torch.ones(1, 2, 4, 8)) == [
        "mul.Scalar!",
        "mul.Scalar!",
        "bmm!",
        "bmm!",
    ]


def test_of_a_root_mean_square_norm_the_result_alone() -> None:
    def norm(square: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        return x * torch.rsqrt(square(x).mean(-1, keepdim=True) + 1e-6)

    assert of(lambda _, x: norm(lambda y: y * y, x), V) == ["mul.Tensor!"]
    assert of(lambda _, x: norm(lambda y: y.pow(2), x) * 3, V) == ["mul.Tensor!"] * 2
    # a square that others read is one of a norm no more
    assert of(lambda _, x: norm(lambda y: y * y, x) + (x * x), V) == ["mul.Tensor!"] * 2 + [
        "add.Tensor!"
    ]
    assert len(of(lambda _, x: norm(lambda y: y.pow(3), x), V)) == 3


# ---- Numbers ----

WEIGHT = torch.tensor([[-1.0, 0.5], [2.0, 6.0]])
INPUT = torch.tensor([[-3.0, 2.0]])
# bits -> quanta from the least to the largest value, and above 0
STEPS, ABOVE = {16: 65535, 8: 255, 4: 15}, {16: 32767.5, 8: 127.5, 4: 7.5}


def affine(low: float, high: float, bits: int) -> tuple[float, int]:
    """The range has 0 in it."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / STEPS[bits]
    return scale, -(1 << bits - 1) - round(low / scale)


def symmetric(low: float, high: float, bits: int) -> tuple[float, int]:
    return max(-low, high) / ABOVE[bits], 0


def converted(precision: Precision) -> GraphModule:
    model = nn.Linear(2, 2, bias=False)
    model.weight.data = WEIGHT
    quantizer = NeuropilotQuantizer()
    quantizer.setup_precision(precision)
    prepared = prepare_pt2e(export(model, (INPUT,)).module(), quantizer)
    prepared(INPUT)
    return convert_pt2e(prepared, fold_quantize=False)


@pytest.mark.req("NPU-024")
@pytest.mark.parametrize("name", ["A16W16", "A16W8", "A16W4", "A8W8", "A8W4"])
def test_numbers(name: str) -> None:
    """Of 16 bits activations are symmetric, and weights beside them, but not of 4 bits; a scale per channel."""
    activation, weight = (int(each) for each in name[1:].split("W"))
    numbers = symmetric if activation == 16 else affine
    of_weights = affine if weight == 4 else numbers
    made = converted(getattr(Precision, name))
    quantizes = [
        n for n in made.graph.nodes if op_name(n).startswith("quantized_decomposed.quantize")
    ]
    weights, given, result = sorted(quantizes, key=lambda node: "per_tensor" in op_name(node))
    limits = {16: (-32768, 32767, torch.int16), 8: (-128, 127, torch.int8), 4: (-8, 7, torch.int8)}
    assert given.args[3:] == limits[activation] == result.args[3:]
    assert given.args[1:3] == pytest.approx(numbers(-3.0, 2.0, activation))
    # 3 + 1 = 4 and -6 + 12 = 6
    scale, _ = of_weights(2.0, 6.0, weight)
    assert result.args[1] == pytest.approx(numbers(0.0, 6.0, activation)[0], rel=2 * scale)
    assert weights.args[3:] == (0, *limits[weight])[:1] + limits[weight]
    expected = [of_weights(-1.0, 0.5, weight), of_weights(2.0, 6.0, weight)]
    found = [getattr(made, each.target) for each in weights.args[1:3]]
    torch.testing.assert_close(found[0].double(), torch.tensor([e[0] for e in expected]).double())
    assert found[1].tolist() == [point for _, point in expected]


def test_least_scale() -> None:
    spec = qconfig.get_a8w8_quant_config().activation
    observer = spec.observer_or_fake_quant_ctr()
    observer(torch.zeros(3))
    assert observer.calculate_qparams()[0] == pytest.approx(1e-6)


def test_configurations() -> None:
    """4 bits stay 4 bits without a scale per channel, which 1.4.1 loses."""
    for precision in Precision:
        per_tensor = qconfig.get_quant_config(precision)
        limits = per_tensor.weight.quant_min, per_tensor.weight.quant_max
        assert limits == ((-8, 7) if precision.name.endswith("W4") else limits)
        assert per_tensor.weight.ch_axis is None
        named = getattr(qconfig, f"get_{precision.name.lower()}_quant_config")(True, True)
        assert named.weight.ch_axis == 0 and named.weight is not named.weight
        made = named.activation.observer_or_fake_quant_ctr()
        assert type(made).__name__ == "FakeQuantize"
    with pytest.raises(RuntimeError, match="Unrecognized precision setting."):
        qconfig.get_quant_config(7)
    with pytest.raises(RuntimeError, match="Unrecognized precision setting."):
        NeuropilotQuantizer().setup_precision(7)


def test_users_register_annotators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "executorch.backends.mediatek.quantizer.annotator.OP_TO_ANNOTATOR", dict(OP_TO_ANNOTATOR)
    )
    seen: list[str] = []
    register_annotator([torch.ops.aten.neg.default])(lambda node, config: seen.append(node.name))
    of(lambda _, x: -x, V)
    assert seen == ["neg"]
