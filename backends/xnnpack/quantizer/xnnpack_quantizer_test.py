# SPDX-License-Identifier: BSD-3-Clause
"""Which values the quantizer makes 8-bit, how exact the converted models are, and quantization-aware training."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import (
    convert_pt2e,
    prepare_pt2e,
    prepare_qat_pt2e,
)
from torchao.quantization.utils import compute_error

from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)

STATIC = get_symmetric_quantization_config(is_per_channel=True)
DYNAMIC = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True)


def quantize(
    model: nn.Module, inputs: tuple[torch.Tensor, ...], quantizer: XNNPACKQuantizer
) -> GraphModule:
    prepared = prepare_pt2e(torch.export.export(model.eval(), inputs).module(), quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


def operators(model: GraphModule) -> Counter[str]:
    return Counter(str(node.target) for node in model.graph.nodes if node.op == "call_function")


def quantized_inputs(model: GraphModule) -> set[str]:
    """Names of operators of which an input is dequantized."""
    return {
        user.name
        for node in model.graph.nodes
        if "dequantize_per_tensor" in str(node.target)
        for user in node.users
    }


class Attention(nn.Module):
    """`causal`: without a mask from outside, with rotations and RMS norms; else as BERT does it."""

    def __init__(self, causal: bool, size: int = 32, heads: int = 2) -> None:
        super().__init__()
        self.causal, self.heads = causal, heads
        self.embedding = nn.Embedding(50, size)
        self.norm = nn.RMSNorm(size) if causal else nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.gate, self.up = nn.Linear(size, 2 * size), nn.Linear(size, 2 * size)
        self.down = nn.Linear(2 * size, size)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.embedding(ids)
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q, k, v = (each.transpose(1, 2) for each in (q, k, v))
        length = ids.shape[1]
        if self.causal:
            q, k = self.rotate(q), self.rotate(k)
            added = torch.full((length, length), torch.finfo(torch.float32).min).triu(1)
        else:
            added = (1.0 - mask[:, None, None, :].float()) * torch.finfo(torch.float32).min
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + added
        mixed = F.softmax(scores, -1) @ v
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))

    def rotate(self, x: torch.Tensor) -> torch.Tensor:
        half = x.shape[-1] // 2
        angles = torch.arange(x.shape[-2])[:, None] / 100.0 ** (torch.arange(half) / half)
        cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
        return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def attention_inputs() -> tuple[torch.Tensor, torch.Tensor]:
    mask = torch.ones(1, 12, dtype=torch.long)
    mask[:, 9:] = 0
    return torch.randint(0, 50, (1, 12)), mask


@pytest.mark.parametrize("config", [STATIC, DYNAMIC], ids=["static", "dynamic"])
@pytest.mark.parametrize("causal", [False, True], ids=["masked", "causal"])
def test_attention_with_a_mask_stays_exact(causal: bool, config: object) -> None:
    """A mask's huge numbers must not become the range of anything quantized."""
    torch.manual_seed(0)
    model, inputs = Attention(causal).eval(), attention_inputs()
    quantized = quantize(model, inputs, XNNPACKQuantizer().set_global(config))
    assert compute_error(model(*inputs), quantized(*inputs)) > 25
    linears = [name for name in quantized_inputs(quantized) if name.startswith("linear")]
    assert len(linears) == 5 or config is DYNAMIC


@pytest.mark.req("XQ-018")
def test_the_most_particular_configuration_counts() -> None:
    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bar = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.bar(x)

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.foo, self.last = nn.Conv2d(3, 4, 1), Inner(), nn.Linear(4, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(self.foo(self.conv(x).flatten(2).transpose(1, 2)))

    x = (torch.randn(1, 3, 4, 4),)
    chained = (
        XNNPACKQuantizer()
        .set_global(STATIC)
        .set_object_type(torch.nn.Conv2d, None)
        .set_object_type(torch.nn.functional.linear, STATIC)
        .set_module_name("foo.bar", None)
    )
    assert quantized_inputs(quantize(Outer(), x, chained)) == {"linear_1", "output"}
    by_operator = XNNPACKQuantizer().set_operator_type(torch.ops.aten.conv2d, STATIC)
    assert quantized_inputs(quantize(Outer(), x, by_operator)) >= {"conv2d"}
    filtered = XNNPACKQuantizer().set_global(STATIC)
    filtered.set_filter_function(lambda node: node.name == "linear")
    assert quantized_inputs(quantize(Outer(), x, filtered)) >= {"linear"}
    assert "conv2d" not in quantized_inputs(quantize(Outer(), x, filtered))


@pytest.mark.req("XQ-018")
def test_weights_are_symmetric() -> None:
    model = quantize(nn.Linear(8, 4), (torch.randn(2, 8),), XNNPACKQuantizer().set_global(STATIC))
    (node,) = (n for n in model.graph.nodes if "dequantize_per_channel" in str(n.target))
    data, _, points = (getattr(model, arg.target) for arg in node.args[:3])
    assert node.args[4:6] == (-127, 127) and data.abs().max() == 127 and not points.any()
    config = get_symmetric_quantization_config(weight_qmin=-7, weight_qmax=7)
    assert (config.weight.quant_min, config.weight.quant_max) == (-7, 7)
    assert config.weight.qscheme == torch.per_tensor_symmetric


@pytest.mark.req("XQ-022")
def test_a_linear_is_surrounded_by_quantize_and_dequantize() -> None:
    model = quantize(nn.Linear(8, 4), (torch.randn(2, 8),), XNNPACKQuantizer().set_global(STATIC))
    assert operators(model) == {
        "quantized_decomposed.quantize_per_tensor.default": 2,
        "quantized_decomposed.dequantize_per_tensor.default": 2,
        "quantized_decomposed.dequantize_per_channel.default": 1,
        "aten.linear.default": 1,
    }


class Image(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8)
        self.depthwise, self.point = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 8, 1)
        self.last = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        y = self.point(F.relu6(self.depthwise(x))) + x
        y = torch.cat([y * x, y], 1)
        return self.last(F.adaptive_avg_pool2d(y, 1).flatten(1))


def test_operators_that_move_data_share_the_range_of_their_input() -> None:
    model = quantize(Image(), (torch.randn(2, 3, 12, 12),), XNNPACKQuantizer().set_global(STATIC))
    for node in model.graph.nodes:
        if node.name in ("max_pool2d", "cat", "flatten"):
            (after,) = node.users
            sources = node.args[0] if node.name == "cat" else [node.args[0]]
            assert all(each.args[1:5] == after.args[1:5] for each in sources), node.name
        if node.name == "adaptive_avg_pool2d":  # means lie in a narrower range
            (after,) = node.users
            assert after.args[1] < 0.7 * node.args[0].args[1]


class Gated(nn.Module):
    """An activation that a concatenation and a sum read, and one that a gate multiplies."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.gate = (nn.Conv2d(4, 4, 1) for _ in range(3))
        self.last = nn.Conv2d(8, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.silu(self.first(x))
        x = self.last(torch.cat([x, x + F.silu(self.second(x))], 1))
        x = F.silu(x)
        return self.first(x * torch.sigmoid(self.gate(x)))


def test_activations_are_8_bit_where_they_are_moved_and_added_alone() -> None:
    model = quantize(Gated(), (torch.randn(1, 4, 6, 6),), XNNPACKQuantizer().set_global(STATIC))
    rounded = {
        node.args[0].name
        for node in model.graph.nodes
        if ".quantize_per_tensor" in str(node.target) and "silu" in node.args[0].name
    }
    assert rounded == {"silu", "silu_1", "silu_2"}  # the last for the gate's convolution alone
    (product,) = [node for node in model.graph.nodes if "aten.mul" in str(node.target)]
    assert {each.name for each in product.args} == {"silu_2", "sigmoid"}
    (joined,) = [node for node in model.graph.nodes if "aten.cat" in str(node.target)]
    assert all("dequantize" in each.name for each in joined.args[0])


class Padded(nn.Module):
    def __init__(self, fill: float) -> None:
        super().__init__()
        self.first, self.last, self.fill = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 3), fill

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(F.pad(self.first(x), (1, 1, 1, 1), value=self.fill))


@pytest.mark.parametrize(("fill", "reads_8_bits"), [(0.0, True), (-float("inf"), False)])
def test_padding_is_8_bit_unless_its_fill_has_no_place_there(
    fill: float, reads_8_bits: bool
) -> None:
    inputs = (torch.randn(1, 3, 6, 6),)
    model = quantize(Padded(fill), inputs, XNNPACKQuantizer().set_global(STATIC))
    (pad,) = [node for node in model.graph.nodes if ".pad." in str(node.target)]
    (after,) = pad.users
    assert (after.args[1:5] == pad.args[0].args[1:5]) == reads_8_bits


@pytest.mark.parametrize(
    "conv",
    [
        nn.Conv2d(3, 4, (3, 5), padding="same", dilation=(1, 2), bias=False),
        nn.Conv2d(3, 6, (2, 3), padding="same", groups=3),
        nn.Conv2d(3, 4, 3, padding="valid", stride=2),
        nn.Conv1d(3, 4, 4, padding="same"),
    ],
    ids=lambda conv: f"{type(conv).__name__} {conv.kernel_size} {conv.padding}",
)
def test_convolutions_whose_padding_has_a_name_are_8_bit(conv: nn.Module) -> None:
    x = torch.randn(1, 3, *[9] * (conv.weight.dim() - 2))
    model = quantize(conv, (x,), XNNPACKQuantizer().set_global(STATIC))
    assert operators(model)["quantized_decomposed.dequantize_per_channel.default"] == 1
    assert model(x).shape == conv(x).shape and compute_error(conv(x), model(x)) > 30


class InputsFirst(nn.Module):
    """A linear layer as `transformers` writes those of GPT-2."""

    def __init__(self, by: str) -> None:
        super().__init__()
        self.by, self.weight, self.bias = (
            by,
            nn.Parameter(torch.randn(9, 5)),
            nn.Parameter(torch.randn(5)),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.by == "addmm":
            return torch.addmm(self.bias, x.view(-1, 9), self.weight).view(2, 3, 5)
        return x @ self.weight


@pytest.mark.parametrize("by", ["addmm", "matmul"])
def test_products_by_a_parameter_are_8_bit_linear_layers(by: str) -> None:
    module, x = InputsFirst(by), torch.randn(2, 3, 9)
    model = quantize(module, (x,), XNNPACKQuantizer().set_global(STATIC))
    found = operators(model)
    assert found["aten.linear.default"] == 1
    assert found["quantized_decomposed.dequantize_per_channel.default"] == 1
    assert compute_error(module(x), model(x)) > 30


class Standardized(nn.Conv2d):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        w = self.weight - self.weight.mean([1, 2, 3], keepdim=True)
        return F.conv2d(x, w, self.bias)


@pytest.mark.parametrize(
    "conv", [Standardized(3, 8, 3), nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 8, 3))]
)
def test_weights_computed_from_parameters_are_8_bit_unless_they_are_trained(
    conv: nn.Module,
) -> None:
    x = torch.randn(1, 3, 9, 9)
    model = quantize(conv, (x,), XNNPACKQuantizer().set_global(STATIC))
    assert operators(model) == {
        "quantized_decomposed.quantize_per_tensor.default": 2,
        "quantized_decomposed.dequantize_per_tensor.default": 2,
        "quantized_decomposed.dequantize_per_channel.default": 1,
        "aten.conv2d.default": 1,
    }
    assert compute_error(conv(x), model(x)) > 30
    training = get_symmetric_quantization_config(is_per_channel=True, is_qat=True)
    exported = torch.export.export(conv.train(), (x,)).module()
    trained = prepare_qat_pt2e(exported, XNNPACKQuantizer().set_global(training))
    trained(x).sum().backward()
    assert all(each.grad is not None for each in trained.parameters())


@pytest.mark.req("XQ-026")
@pytest.mark.parametrize("per_channel", [pytest.param(False, marks=pytest.mark.full), True])
def test_training_with_quantized_values_learns(per_channel: bool) -> None:
    torch.manual_seed(0)
    model, x, target = Image(), torch.randn(8, 3, 12, 12), torch.randn(8, 4)
    exported = torch.export.export(model.train(), (x,)).module()
    config = get_symmetric_quantization_config(is_per_channel=per_channel, is_qat=True)
    prepared = prepare_qat_pt2e(exported, XNNPACKQuantizer().set_global(config))
    optimizer = torch.optim.SGD(prepared.parameters(), lr=0.05)
    losses = []
    for _ in range(16):
        loss = F.mse_loss(prepared(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    move_exported_model_to_eval(prepared)
    expected = prepared(x)
    converted = convert_pt2e(prepared)
    assert "aten.batch_norm.default" not in operators(converted)
    assert compute_error(expected, converted(x)) > 20


def test_sums_that_only_norms_read_stay_float() -> None:
    class Layers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.norm = nn.Linear(8, 8), nn.Linear(8, 8), nn.LayerNorm(8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = x + self.a(self.norm(x))
            x = x + self.b(self.norm(x))
            return self.norm(x)

    model = quantize(Layers(), (torch.randn(4, 8),), XNNPACKQuantizer().set_global(STATIC))
    quantizers = [n for n in model.graph.nodes if ".quantize_per_tensor" in str(n.target)]
    assert sorted(node.args[0].name for node in quantizers) == [
        "layer_norm",
        "layer_norm_1",
        "linear",
        "linear_1",
    ]


def test_what_the_quantizer_supports_is_what_it_quantizes() -> None:
    configs = XNNPACKQuantizer.get_supported_quantization_configs()
    kinds = {(each.weight.qscheme, each.output_activation is None) for each in configs}
    assert len(kinds) == len(configs) == 4
    static, dynamic, of_any = (
        [each for (each,) in XNNPACKQuantizer.get_supported_operator_for_quantization_config(one)]
        for one in (STATIC, DYNAMIC, None)
    )
    aten = torch.ops.aten
    assert dynamic == [aten.linear.default, aten.conv2d.default, aten.conv_transpose2d.input]
    assert {*dynamic, aten.add.Tensor, aten.max_pool2d.default} <= {*static}
    assert aten.softmax.int not in static and of_any == static
    supported = XNNPACKQuantizer.get_supported_operators()
    assert [len(each.operators) for each in supported] == [len(static), len(dynamic)] * 2
    x = torch.randn(1, 4, 6, 6)
    for config in configs[2:]:
        converted = quantize(nn.Conv2d(4, 4, 3), (x,), XNNPACKQuantizer().set_global(config))
        assert operators(converted)["quantized_decomposed.dequantize_per_channel.default"] == 1


def test_conv3d_that_no_row_takes_stays_float() -> None:
    """In groups, and transposed ones whose stride does not divide their depth."""
    x = torch.randn(1, 4, 5, 6, 7)
    for layer in (nn.Conv3d(4, 4, 3, groups=4), nn.ConvTranspose3d(4, 4, 3, 2, 1)):
        quantized = quantize(layer, (x,), XNNPACKQuantizer().set_global(STATIC))
        assert not quantized_inputs(quantized), layer
    taken = quantize(nn.Conv3d(4, 4, 3), (x,), XNNPACKQuantizer().set_global(STATIC))
    assert quantized_inputs(taken) == {"conv3d", "output"}


def test_configurations_are_kept_by_what_the_user_gave() -> None:
    conv, linear = torch.ops.aten.conv2d, torch.ops.aten.linear.default
    quantizer = XNNPACKQuantizer().set_operator_type(conv, STATIC).set_operator_type(linear, None)
    quantizer.set_module_type(torch.nn.Linear, STATIC)
    assert quantizer.operator_type_config == {conv: STATIC, linear: None}
    assert quantizer.module_type_config == {torch.nn.Linear: STATIC}


@pytest.mark.parametrize("groups", [1, 2])
def test_dynamic_transposed_convolutions_have_8_bit_weights(groups: int) -> None:
    """By output channel, which is the second dimension. XNNPACK has none with groups."""
    conv, x = nn.ConvTranspose2d(4, 6, 3, 2, groups=groups), torch.randn(1, 4, 5, 6)
    model = quantize(conv, (x,), XNNPACKQuantizer().set_global(DYNAMIC))
    dequantized = [n for n in model.graph.nodes if "dequantize_per_channel" in str(n.target)]
    assert [node.args[3] for node in dequantized] == ([1] if groups == 1 else [])
    assert ("quantized_decomposed.choose_qparams.tensor" in operators(model)) == (groups == 1)
    assert compute_error(conv(x), model(x)) > 30


class Twice(nn.Module):
    def __init__(self, before: str, by: str) -> None:
        super().__init__()
        self.before, self.by = getattr(torch, before), getattr(torch, by)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.before(x, -1, 1) if self.before is torch.clamp else self.before(x)
        return self.by(z, z)


@pytest.mark.parametrize("by", ["add", "mul"])
@pytest.mark.parametrize(("before", "is_8_bit"), [("relu", True), ("clamp", True), ("cos", False)])
def test_arithmetic_on_limited_inputs_is_8_bit(before: str, is_8_bit: bool, by: str) -> None:
    """Of one value twice, too; between floats it stays float."""
    model = quantize(Twice(before, by), (torch.randn(4, 8),), XNNPACKQuantizer().set_global(STATIC))
    (node,) = (n for n in model.graph.nodes if n.name == by)
    around = [*node.all_input_nodes, *node.users]
    assert len(around) == 2 and all("quantize" in each.name for each in around) == is_8_bit


def test_ranges_are_those_of_the_limited_result() -> None:
    """Behind a relu all values are positive: the least is stored as -128, and 255 steps reach the largest."""
    model, x = nn.Sequential(nn.Linear(8, 16), nn.ReLU()), torch.randn(64, 8)
    found = quantize(model, (x,), XNNPACKQuantizer().set_global(STATIC))
    (stored,) = (
        n
        for n in found.graph.nodes
        if ".quantize_per" in str(n.target) and n.args[0].name == "relu"
    )
    scale, point = stored.args[1:3]
    assert point == -128 and scale == pytest.approx(float(model(x).max()) / 255, rel=0.2)


def test_a_far_value_does_not_take_the_range() -> None:
    """Activations by histogram: the range leaves out one value of 800,000, 40 times the deviation away, where cutting
    it costs less than wide steps for all do. Weights by their least and largest values."""
    torch.manual_seed(0)
    layer, x = nn.Linear(4, 4), torch.randn(200_000, 4)
    x[77, 2] = 40.0
    found = quantize(layer, (x,), XNNPACKQuantizer().set_global(STATIC))
    (stored,) = (
        n
        for n in found.graph.nodes
        if ".quantize_per" in str(n.target) and n.args[0].op == "placeholder"
    )
    by_extremes = float(x.max() - x.min()) / 255
    assert stored.args[1] < 0.9 * by_extremes, (stored.args[1], by_extremes)
    (weight,) = (n for n in found.graph.nodes if "dequantize_per_channel" in str(n.target))
    largest = layer.weight.detach().abs().amax(1)
    torch.testing.assert_close(getattr(found, weight.args[1].target), largest / 127)
