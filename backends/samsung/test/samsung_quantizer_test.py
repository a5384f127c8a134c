# SPDX-License-Identifier: BSD-3-Clause
"""Which values are quantized: the rules of 1.4.1, and the few that are otherwise here, with why."""

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
from torchao.quantization.pt2e.quantizer import SharedQuantizationSpec
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.backends.samsung.quantizer.qconfig import (
    get_a8w8_enn_quant_config,
    get_quant_config,
)
from executorch.backends.samsung.quantizer.quantizer import EnnQuantizer, Precision
from executorch.backends.samsung.test.graph_cases import Function
from executorch.exir.graph_facts import op_name

V, W, IMAGE = torch.ones(2, 8), torch.zeros(2, 8), torch.ones(1, 3, 8, 8)
MATRICES = torch.ones(2, 3, 4), torch.ones(2, 4, 5)


def _text(node: Any, spec: Any) -> str:
    """`=` of a shared range, with the name of whose it is; `w` of weights; `a` of activations."""
    if spec is None:
        return "-"
    if isinstance(spec, SharedQuantizationSpec):
        of = spec.edge_or_node
        return f"={(of if not isinstance(of, tuple) else of[0]).name}"
    return "w" if spec.ch_axis == 0 else "a"


def annotated(model: nn.Module, *inputs: Tensor) -> list[str]:
    """Calls that are annotated: name, operands, result."""
    made = EnnQuantizer().annotate(export(model.eval(), inputs).module())
    found = []
    for node in made.graph.nodes:
        annotation = node.meta.get(Q_ANNOTATION_KEY)
        if node.op == "call_function" and annotation is not None:
            operands = " ".join(_text(node, each) for each in annotation.input_qspec_map.values())
            found.append(f"{node.name}({operands}) {_text(node, annotation.output_qspec)}")
    return found


def of(function: Callable[..., Any], *inputs: Tensor) -> list[str]:
    return annotated(Function(function), *inputs)


class Layers(nn.Module):
    """A function of a model with layers."""

    def __init__(self, function: Callable[..., Any], **layers: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, each in layers.items():
            setattr(self, name, each)

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(self, *inputs)


def conv() -> nn.Module:
    return nn.Conv2d(3, 3, 1)


def test_products_and_their_activations() -> None:
    assert annotated(conv(), IMAGE) == ["conv2d(a w) a"]
    assert annotated(nn.Sequential(conv(), nn.ReLU()), IMAGE) == ["conv2d(a w) -", "relu() a"]
    assert annotated(nn.Sequential(nn.Linear(8, 4), nn.ReLU6(inplace=True)), V) == [
        "linear(a w) -",
        "hardtanh_() a",
    ]
    assert annotated(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4)), V) == [
        "linear(a w) a",
        "linear_1(=linear w) a",
    ]
    two = Layers(lambda m, x: F.relu(c := m.c(x)) + c, c=conv())
    assert annotated(two, IMAGE) == ["conv2d(a w) a", "relu(a) a", "add(a =relu) =relu"]
    # 1.4.1 takes any hardtanh for the activation of a convolution, and fails then
    assert annotated(nn.Sequential(conv(), nn.Hardtanh()), IMAGE) == [
        "conv2d(a w) a",
        "hardtanh(a) a",
    ]
    assert annotated(nn.ConvTranspose2d(3, 4, 2), IMAGE) == []


def test_arithmetic() -> None:
    for name, function in (("add", torch.add), ("sub", torch.sub), ("mul", torch.mul)):
        assert of(function, V, W) == [f"{name}(a =inputs_0) =inputs_0"]
    assert of(torch.div, V, W + 1) == ["div(a a) a"]
    assert of(torch.bmm, *MATRICES) == ["bmm(a a) a"]
    assert of(lambda x: x * 2, V) == ["mul(a) a"]
    assert of(lambda x: 2 - x, V) == ["rsub(a) a"]
    assert of(lambda x: x + 2, V) == [] == of(lambda x: x - 2, V)
    assert of(lambda x: F.relu(x) + 2, V) == ["relu(a) a", "add(a) a"]
    dropped = of(lambda x, y: F.dropout(x, training=False) + y, V, W)
    assert dropped == ["add(a a) a"]
    # 1.4.1: RecursionError
    assert of(lambda x, y: x + y + x, V, W) == ["add(a =inputs_0) =inputs_0", "add_1(a a) a"]
    assert of(lambda x, y: x + y, torch.tensor([1, 2]), torch.tensor([3, 4])) == []
    assert of(torch.maximum, V, W) == []


def test_what_moves_values_shares_their_range() -> None:
    assert of(lambda x: x.view(8, 2), V) == ["view(a) =inputs_0"]
    chain = of(lambda x: F.relu(x).permute(1, 0).unsqueeze(0), V)
    assert chain == ["relu(a) a", "permute(=relu) =relu", "unsqueeze(=permute) =permute"]
    layer = nn.Linear(2, 4)
    through = Layers(lambda m, x: m.l(F.relu(x).transpose(0, 1).contiguous()), l=layer)
    assert annotated(through, V)[-1] == "linear(=transpose w) a"
    # not through what computes: 1.4.1 gives the results of exp the range of its operand
    other = Layers(lambda m, x: m.c(torch.exp(F.relu(x))), c=conv())
    assert annotated(other, IMAGE) == ["relu(a) a", "conv2d(a w) a"]
    assert of(lambda x, y: torch.cat([x, y]), V, W) == ["cat(a =inputs_0) =inputs_0"]
    assert of(lambda x: x.unbind(1)[0], torch.ones(2, 2, 2))[:2] == [
        "unbind(a) =inputs_0",
        "getitem() =inputs_0",
    ]


def test_softmax_behind_a_mask() -> None:
    """A sum before it stays float: a mask would take all of its range."""
    assert of(lambda x: F.softmax(x, -1), V) == ["softmax() a"]
    assert of(lambda x, y: F.softmax(x + y, -1), V, W) == ["softmax() a"]
    scaled = of(lambda x, y: F.softmax(torch.bmm(x, y) * 0.5, -1), *MATRICES)
    assert scaled == ["bmm(a a) a", "mul(a) a", "softmax(=mul) a"]


def test_norms_and_tables() -> None:
    assert annotated(nn.LayerNorm(8), V) == ["layer_norm(a a) a"]
    assert of(lambda x: F.layer_norm(x, [8]), V) == ["layer_norm(a) a"]  # 1.4.1 fails
    rows = annotated(nn.Embedding(9, 4), torch.tensor([1]))
    assert rows == ["embedding(a) =weight"]  # a row has no other scale than its table


def test_sigmoid_is_from_0_to_1() -> None:
    """1/256 above the least int8; 1.4.1 has 0 for 0, and cuts at 127/256."""
    made = prepare_pt2e(export(Function(torch.sigmoid), (V,)).module(), EnnQuantizer())
    made(V)
    converted = convert_pt2e(made)
    scale, point = [
        n.args[1:3] for n in converted.graph.nodes if "quantize_per_tensor" in op_name(n)
    ][-1]
    assert (scale, point) == (1 / 256, -128)


# ---- Numbers ----


@pytest.mark.req("NPU-042")
@pytest.mark.parametrize("is_per_channel", [True, False])
def test_numbers(is_per_channel: bool) -> None:
    """-3..2 in 255 steps; weights of a channel around 0 in 127.5 steps each way, or all affine in 255."""
    model = nn.Linear(2, 2, bias=False)
    model.weight.data = torch.tensor([[-1.0, 0.5], [2.0, 6.0]])
    x = torch.tensor([[-3.0, 2.0]])
    quantizer = EnnQuantizer()
    quantizer.set_quant_params("A8W8", is_per_channel, False)
    prepared = prepare_pt2e(export(model, (x,)).module(), quantizer)
    prepared(x)
    converted = convert_pt2e(prepared, fold_quantize=False)
    quantizes = {
        n.args[0].name: n.args
        for n in converted.graph.nodes
        if "quantized_decomposed.quantize" in op_name(n)
    }
    limits = (-128, 127, torch.int8)
    assert quantizes["input_1"][1:] == (pytest.approx(5 / 255), -128 + 153, *limits)
    if not is_per_channel:
        assert quantizes["weight"][1:] == (pytest.approx(7 / 255), -128 + round(255 / 7), *limits)
        return
    scales = getattr(converted, quantizes["weight"][1].target)
    assert scales.tolist() == pytest.approx([1 / 127.5, 6 / 127.5])
    assert quantizes["weight"][3:] == (0, *limits)


def test_configurations() -> None:
    activation = get_quant_config("A8W8").input_activation
    observer = activation.observer_or_fake_quant_ctr()
    observer(torch.zeros(2))
    assert float(observer.calculate_qparams()[0]) == 2.0**-12
    trained = get_a8w8_enn_quant_config(is_per_channel=True, is_qat=True).weight
    assert type(trained.observer_or_fake_quant_ctr()).__name__ == "FakeQuantize"
    assert get_quant_config(Precision.A8W8).bias is None
    for wrong in ("A16W8", 7):
        with pytest.raises(ValueError, match="one of A8W8"):
            EnnQuantizer().set_quant_params(wrong)


def test_users_annotate_last() -> None:
    seen: list[int] = []

    def custom(model: GraphModule) -> None:
        seen.append(sum(Q_ANNOTATION_KEY in node.meta for node in model.graph.nodes))

    quantizer = EnnQuantizer()
    quantizer.add_custom_quant_annotations([custom])
    quantizer.annotate(export(conv(), (IMAGE,)).module())
    assert seen == [2]  # the input and the convolution


def test_what_1_4_1_ends_in_errors_with() -> None:
    """Scales by channel of a group norm's weights, and a range of integers."""
    norm, ids = nn.GroupNorm(2, 4), torch.tensor([[1, -2], [3, 4]])
    cast = Function(lambda x: x.to(torch.float32) / 3 + x.mean(0, dtype=torch.float32))
    for model, inputs in ((norm, (torch.randn(2, 4, 3, 3),)), (cast, (ids,))):
        observed = prepare_pt2e(export(model.eval(), inputs).module(), EnnQuantizer())
        observed(*inputs)
        found = convert_pt2e(observed)(*inputs)
        torch.testing.assert_close(found, model(*inputs), atol=0.05, rtol=0.0)
