# SPDX-License-Identifier: BSD-3-Clause
"""Which values NeutronQuantizer quantizes and how, for each operator that documents name, and what it does otherwise
than the released package, whose results are quietly wrong there."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.nxp.aten_passes.neutron_aten_pass_manager import NeutronAtenPassManager
from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec
from executorch.backends.nxp.neutron_partitioner import NeutronPartitioner
from executorch.backends.nxp.quantizer.neutron_quantizer import (
    NeutronQuantizer,
    act_qspec,
    bias_qspec,
    wgt_fc_qspec,
    wgt_qspec,
)
from executorch.backends.nxp.quantizer.utils import calibrate_and_quantize
from executorch.backends.test.corpus.row import Function
from executorch.exir import to_edge
from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    is_quantize,
    quantization_of,
)
from executorch.exir.graph_facts import op_name

SPEC = NeutronTargetSpec("imxrt700")
DRAWN = torch.Generator().manual_seed(0)
IMAGE, ROWS = (torch.randn(sizes, generator=DRAWN) for sizes in ((1, 8, 6, 6), (4, 8)))
OWN, SHARED = "own", "shared"
FROM_0_TO_1, FROM_MINUS_1_TO_1 = (1 / 256, -128), (1 / 128, 0)


def quantized(
    model: Any, *inputs: Tensor, quantizer: NeutronQuantizer | None = None
) -> GraphModule:
    module = model if isinstance(model, nn.Module) else Function(model)
    program = torch.export.export(module.eval(), inputs)
    return calibrate_and_quantize(program, [inputs], quantizer or NeutronQuantizer(SPEC))


def is_delegated(module: GraphModule, *inputs: Tensor) -> bool:
    """Whether nothing but the first quantize and the last dequantize stays on the CPU."""
    edge = to_edge(torch.export.export(module, inputs))
    left = [op_name(node) for node in NeutronPartitioner().why_not_delegated(edge)]
    return all("quantized_decomposed" in name for name in left)


def numbers(qparams: Quantization) -> tuple[float, int]:
    return qparams.scale, qparams.zero_point


def around(call: Node) -> tuple[list[Quantization], Quantization]:
    """Of what a call reads and what it gives, limits behind it included."""
    inputs = [quantization_of(each) for each in call.all_input_nodes if is_dequantize(each)]
    last = call
    while not is_quantize(last):
        (last,) = last.users
    return inputs, quantization_of(last)


class Added(nn.Module):
    """addmm of parameters, as captured graphs have it."""

    def __init__(self) -> None:
        super().__init__()
        self.bias, self.weight = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.weight)


DOCUMENTED: dict[str, tuple[Any, Tensor, Any]] = {
    "aten.abs.default": (torch.abs, IMAGE, SHARED),
    "aten.adaptive_avg_pool2d.default": (nn.AdaptiveAvgPool2d(2), IMAGE, SHARED),
    "aten.addmm.default": (Added(), ROWS, OWN),
    "aten.add.Tensor": (lambda x: x + x.abs(), ROWS, OWN),
    "aten.avg_pool2d.default": (nn.AvgPool2d(2), IMAGE, SHARED),
    "aten.cat.default": (lambda x: torch.cat([x, x * 3], 1), IMAGE, SHARED),
    "aten.conv1d.default": (nn.Conv1d(8, 4, 3), IMAGE[:, :, 0], OWN),
    "aten.conv2d.default": (nn.Conv2d(8, 4, 3), IMAGE, OWN),
    "aten.dropout.default": (nn.Sequential(nn.Dropout(), nn.Tanh()), IMAGE, SHARED),
    "aten.flatten.using_ints": (lambda x: torch.flatten(x, 1), IMAGE, SHARED),
    "aten.hardtanh.default": (F.hardtanh, IMAGE, OWN),
    "aten.hardtanh_.default": (lambda x: F.hardtanh_(x * 2), IMAGE, OWN),
    "aten.linear.default": (nn.Linear(8, 3), ROWS, OWN),
    "aten.max_pool2d.default": (nn.MaxPool2d(2), IMAGE, SHARED),
    "aten.mean.dim": (lambda x: x.mean([2, 3]), IMAGE, SHARED),
    "aten.mul.Tensor": (lambda x: x * x, ROWS, OWN),
    "aten.pad.default": (lambda x: F.pad(x, [1, 1]), IMAGE, SHARED),
    "aten.permute.default": (lambda x: x.permute(0, 2, 3, 1), IMAGE, SHARED),
    "aten.relu.default": (F.relu, IMAGE, OWN),
    "aten.relu_.default": (lambda x: F.relu_(x * 2), IMAGE, OWN),
    "aten.reshape.default": (lambda x: x.reshape(4, -1), IMAGE, SHARED),
    "aten.view.default": (lambda x: x.view(8, 36), IMAGE, SHARED),
    "aten.softmax.int": (lambda x: x.softmax(-1), ROWS, FROM_0_TO_1),
    "aten.tanh.default": (torch.tanh, ROWS, FROM_MINUS_1_TO_1),
    "aten.tanh_.default": (lambda x: (x * 2).tanh_(), ROWS, FROM_MINUS_1_TO_1),
    "aten.sigmoid.default": (torch.sigmoid, ROWS, FROM_0_TO_1),
    "aten.slice.Tensor": (lambda x: x[:, 1:5], IMAGE, SHARED),
}
FOLDED = {"aten.hardtanh_.default", "aten.relu_.default"}  # behind arithmetic


@pytest.mark.req("NPU-035")
@pytest.mark.parametrize("name", DOCUMENTED)
def test_documented_operators(name: str) -> None:
    model, x, how = DOCUMENTED[name]
    module = quantized(model, x)
    (call, *_) = (node for node in module.graph.nodes if op_name(node) == name)
    inputs, result = around(call.all_input_nodes[0] if name in FOLDED else call)
    assert result.dtype == torch.int8 and (result.quant_min, result.quant_max) == (-128, 127)
    dynamic = [each for each in inputs if each.is_static and each.zero_point is not None]
    if how is SHARED:
        assert {numbers(each) for each in dynamic} == {numbers(result)}
    elif how is OWN:
        assert numbers(result) not in {numbers(each) for each in dynamic}
    else:
        assert numbers(result) == how
    computes_nothing = name in {
        "aten.flatten.using_ints",
        "aten.reshape.default",
        "aten.view.default",
    }
    assert is_delegated(module, x) is not computes_nothing


@pytest.mark.req("NPU-035")
def test_weights_and_biases() -> None:
    module = quantized(nn.Sequential(nn.Conv2d(8, 4, 3), nn.Flatten(), nn.Linear(64, 5)), IMAGE)
    for name, is_per_channel in (("aten.conv2d.default", True), ("aten.linear.default", False)):
        (call,) = (node for node in module.graph.nodes if op_name(node) == name)
        source, weight, bias = (quantization_of(each) for each in call.args[:3])
        assert (weight.quant_min, weight.quant_max, weight.dtype) == (-127, 127, torch.int8)
        assert (weight.axis == 0) is is_per_channel and bias.dtype == torch.int32
        scales = [_data(module, each.scale) for each in (weight, bias)]
        torch.testing.assert_close(scales[1], scales[0] * source.scale, rtol=1e-6, atol=0.0)


def _data(module: GraphModule, scale: Any) -> Tensor:
    found = getattr(module, scale.target) if isinstance(scale, Node) else scale
    return torch.as_tensor(found, dtype=torch.float64)


def test_specs_that_documents_name() -> None:
    assert act_qspec(False).qscheme == torch.per_tensor_affine and bias_qspec is None
    assert wgt_qspec(False).ch_axis == 0 and wgt_qspec(False).qscheme == torch.per_channel_symmetric
    assert wgt_fc_qspec(True).qscheme == torch.per_tensor_symmetric


def test_operands_of_bmm_are_around_zero() -> None:
    x = torch.rand(2, 3, 4)
    module = quantized(lambda x: torch.bmm(x, x.transpose(1, 2)), x)
    (call,) = (node for node in module.graph.nodes if op_name(node) == "aten.bmm.default")
    inputs, _ = around(call)
    assert [each.zero_point for each in inputs] == [0, 0]


# ---- Where the released package is quietly wrong ----


def _off(model: Any, *inputs: Tensor) -> float:
    """Of the largest result."""
    expected = model(*inputs)
    off = (quantized(model, *inputs)(*inputs) - expected).abs().max()
    return (off / expected.abs().max()).item()


def test_factors_beyond_a_half_are_not_cut() -> None:
    """There, factors have a scale of 1/256 around 0, whatever they are: 0.498 at most."""
    x = torch.linspace(-3, 3, 32).reshape(4, 8)
    assert _off(Function(lambda a, b: a * b), x, x.flip(0)) < 0.02


def test_alpha_is_not_forgotten() -> None:
    x = torch.linspace(-3, 3, 32).reshape(4, 8)
    module = quantized(lambda a, b: torch.add(a, b, alpha=3), x, x.flip(0))
    edge = to_edge(torch.export.export(module, (x, x)))
    (reason,) = (
        why
        for node, why in NeutronPartitioner().why_not_delegated(edge).items()
        if "add" in node.name
    )
    assert reason == "alpha must be 1"


@pytest.mark.parametrize("function", [torch.sigmoid, torch.tanh])
def test_what_sigmoid_and_tanh_read_has_a_range_of_its_own(function: Any) -> None:
    """There, what a convolution gives has the scale of the sigmoid behind it: below 0 it is cut."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(8, 4, 3), Function(lambda x: function(x * 4)))
    assert _off(model, IMAGE) < 0.05
    layer = nn.Sequential(
        nn.Conv2d(8, 4, 3), nn.Sigmoid() if function is torch.sigmoid else nn.Tanh()
    )
    assert _off(layer, IMAGE) < 0.02 and is_delegated(quantized(layer, IMAGE), IMAGE)


def test_exponentials_have_a_range_of_their_own() -> None:
    x = torch.linspace(-8, 5, 64).reshape(8, 8)
    assert _off(Function(torch.exp), x) < 0.04


def test_a_pool_without_a_stride() -> None:
    """There, the partitioner ends in an IndexError."""
    assert is_delegated(quantized(lambda x: F.avg_pool2d(x, 2), IMAGE), IMAGE)


# ---- What becomes other calls ----


@pytest.mark.parametrize(
    "model",
    [
        lambda x: x / 4,
        lambda x: torch.cat(x.split(3, 1)[::-1], 1) * 2,
        lambda x: torch.cat(x.chunk(2, 1)[::-1], 1) * 2,
        lambda x: x.sum() * x,
        lambda x: x.matmul(torch.ones(6, 3).cumsum(0)) * 1,
    ],
    ids=["division", "split", "chunk", "sum of all", "computed weight"],
)
def test_calls_that_become_others(model: Any) -> None:
    module = quantized(model, IMAGE)
    expected = model(IMAGE)
    assert float((module(IMAGE) - expected).abs().max() / expected.abs().max()) < 0.05
    names = {op_name(node) for node in module.graph.nodes}
    assert not names & {
        "aten.div.Tensor",
        "aten.split.Tensor",
        "aten.chunk.default",
        "aten.sum.default",
    }


def test_a_division_by_nearly_nothing_stays() -> None:
    model = torch.export.export(Function(lambda x: x / 1e-13), (ROWS,)).module()
    result = NeutronAtenPassManager(SPEC)(model)
    assert not result.modified and "div" in str(model.graph)


@pytest.mark.parametrize("has_bias", [True, False])
def test_norms_behind_linear_layers_are_folded(has_bias: bool) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 5, bias=has_bias), nn.BatchNorm1d(5)).eval()
    model[1].running_mean, model[1].running_var = torch.randn(5), torch.rand(5) + 0.5
    graph = torch.export.export(model, (ROWS,)).module()
    assert NeutronAtenPassManager(SPEC)(graph).modified
    assert "batch_norm" not in str(graph.graph)
    torch.testing.assert_close(graph(ROWS), model(ROWS))


# ---- In one call, in training, and as a user says ----


@pytest.mark.req("NPU-036")
def test_a_program_or_a_module_is_quantized_in_one_call() -> None:
    program = torch.export.export(nn.Linear(8, 3), (ROWS,))
    one = calibrate_and_quantize(program, [(ROWS,), (ROWS * 2,)], NeutronQuantizer(SPEC))
    prepared = prepare_pt2e(program.module(), NeutronQuantizer(SPEC))
    for scale in (1, 2):
        prepared(ROWS * scale)
    assert torch.equal(one(ROWS), convert_pt2e(prepared)(ROWS))


def _trained(model: nn.Module, train_fn: Any = None) -> GraphModule:
    program = torch.export.export(model.train(), (IMAGE,))
    quantizer = NeutronQuantizer(SPEC, is_qat=True)
    return calibrate_and_quantize(program, [(IMAGE,)], quantizer, True, train_fn)


@pytest.mark.req("NPU-036")
def test_training_with_quantized_values() -> None:
    losses = []

    def train(module: GraphModule) -> None:
        optimizer = torch.optim.SGD(module.parameters(), 0.1)
        for _ in range(4):
            loss = module(IMAGE).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

    torch.manual_seed(0)
    layers = nn.Conv2d(8, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5)
    assert is_delegated(_trained(nn.Sequential(*layers), train), IMAGE)
    assert losses[-1] < losses[0]
    assert is_delegated(_trained(nn.Sequential(*layers)), IMAGE)


@pytest.mark.full
def test_training_with_norms() -> None:
    """PyTorch takes a minute to look for them."""
    assert is_delegated(
        _trained(nn.Sequential(nn.Conv2d(8, 4, 3), nn.BatchNorm2d(4), nn.ReLU())), IMAGE
    )


def test_a_user_leaves_layers_in_floats() -> None:
    quantizer = NeutronQuantizer(SPEC).set_module_type(nn.Linear, None)
    module = quantized(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), ROWS, quantizer=quantizer)
    (call,) = (node for node in module.graph.nodes if op_name(node) == "aten.linear.default")
    assert not is_dequantize(call.args[1])
