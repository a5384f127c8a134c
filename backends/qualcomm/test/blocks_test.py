# SPDX-License-Identifier: BSD-3-Clause
"""Weights of 4 bits by blocks: their scales, encodings, and what graphs of them compute, by the evaluator and on the
stand-ins."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.qualcomm.aot.blocks import channels_and_multiples
from executorch.backends.qualcomm.aot.graph import DataType, Encoding, EncodingType, Graph
from executorch.backends.qualcomm.quantizer.observers.per_block_param_observer import (
    PerBlockParamObserver,
)
from executorch.backends.qualcomm.quantizer.qconfig import get_ptq_per_block_quant_config
from executorch.backends.qualcomm.quantizer.quantizer import QnnQuantizer, QuantDtype
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.backends.qualcomm.test import stand_in
from executorch.backends.qualcomm.test.recorder import Recorder, left, lowered
from executorch.backends.qualcomm.test.reference.evaluator import evaluate

X = (torch.linspace(-1, 1, 3 * 64).sin().reshape(3, 64),)
IMAGE = (torch.linspace(-1, 1, 32 * 9).cos().reshape(1, 32, 3, 3),)


class Layers(nn.Module):
    """The second one's rows have 3 blocks."""

    def __init__(self, biases: bool = True) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(64, 96, biases), nn.Linear(96, 4, False)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.relu(self.first(x)))


class Pixels(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.pixels, self.edges = nn.Conv2d(32, 8, 1), nn.Conv2d(8, 8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.edges(self.pixels(x))


def quantizer(soc: QcomChipset = QcomChipset.SM8650) -> QnnQuantizer:
    made = QnnQuantizer(soc_model=soc)
    made.set_default_quant_config(QuantDtype.use_16a4w_block)
    return made


def quantized(model: nn.Module, inputs: tuple[Tensor, ...], by: QnnQuantizer | None = None):
    prepared = prepare_pt2e(export(model, inputs, strict=True).module(), by or quantizer())
    prepared(*inputs)
    return convert_pt2e(prepared)


def graph_of(model: nn.Module, inputs: tuple[Tensor, ...]) -> Graph:
    door = Recorder()
    assert left(lowered(model, inputs, door)) == []
    (graph,) = door.graphs
    return graph


def blocks_in(graph: Graph) -> dict[str, Encoding]:
    """By operators' types and places."""
    found = {}
    for place, operator in enumerate(graph.operators):
        for tensor in graph.of(operator.inputs):
            if tensor.encoding and tensor.encoding.type is EncodingType.BLOCKWISE_EXPANSION:
                assert tensor.dtype is DataType.SFIXED_POINT_8
                assert -8 <= int(tensor.data.min()) and int(tensor.data.max()) <= 7
                found[f"{operator.type} {place}"] = tensor.encoding
    return found


def test_scales_of_channels_and_multiples_of_blocks() -> None:
    scales = torch.tensor([[1.6, 0.8, 0.1], [0.3, 0.1, 0.2]])
    channels, multiples = channels_and_multiples(scales)
    # 16 * 0.1 and 15 * 0.02, as 16 parts of 0.3 are not 0.1
    assert channels.tolist() == pytest.approx([0.1, 0.02])
    assert multiples.tolist() == [[16, 8, 1], [15, 5, 10]]
    assert channels_and_multiples(torch.tensor([[1.0, 0.618]])) is None
    assert channels_and_multiples(torch.tensor([[1.0, 0.01]])) is None


def test_the_observer_takes_the_multiple_of_the_least_error() -> None:
    weight = torch.tensor([[7.0, 0, 0, 0, 3.0, 0, 0, 0]])
    observer = PerBlockParamObserver(torch.int8, (1, 4), -8, 7)
    assert observer(weight) is weight
    scales, points = observer.calculate_qparams()
    assert scales.tolist() == [[1.0, 0.4375]] and not points.any()  # 3 / 7 = 6.86 / 16
    outlier = torch.tensor([[7.0] * 4 + [1.0, 0.1, 0.1, 0.1]])
    observer(outlier)
    _, found = observer.calculate_qparams()[0][0]
    by_hand = {
        k: sum((min(round(v * 16 / k), 7) * k / 16 - v) ** 2 for v in (1.0, 0.1, 0.1, 0.1))
        for k in range(1, 4)
    }
    assert float(found) * 16 == min(by_hand, key=by_hand.get)


def test_linear_layers_have_blocks() -> None:
    model = quantized(Layers(), X)
    graph = graph_of(model, X)
    found = blocks_in(graph)
    assert {name: (len(e.scales), e.num_blocks, e.axis, e.bitwidth) for name, e in found.items()} == {
        "FullyConnected 1": (96, 2, 0, 4),
        "FullyConnected 3": (4, 3, 0, 4),
    }  # fmt: skip
    bias = graph.tensors[graph.operators[1].inputs[2]]
    of_input = graph.tensors[graph.operators[1].inputs[0]].encoding.scales[0]
    wanted = [of_input * each for each in found["FullyConnected 1"].scales]
    assert bias.encoding.scales == pytest.approx(wanted, rel=1e-5)
    (out,) = evaluate(graph, X)
    step = graph.tensors[graph.operators[-1].inputs[0]].encoding.scales[0]
    torch.testing.assert_close(out, model(*X), rtol=0, atol=1.01 * step)


def test_blocks_are_nearer_than_channels() -> None:
    channels = QnnQuantizer()
    channels.set_default_quant_config(QuantDtype.use_16a4w, is_linear_per_channel=True)
    # A part of the columns is small, and what it reads large: one scale for a row rounds it away.
    small = torch.where(torch.arange(64) < 32, 0.05, 1.0)
    model, x = Layers(), (X[0] / small,)
    with torch.no_grad():
        model.first.weight *= small
        wanted = model(*x)
        by_channels, by_blocks = (
            float((quantized(model, x, by)(*x) - wanted).norm() / wanted.norm())
            for by in (channels, quantizer())
        )
    assert 0 < by_blocks < 0.5 * by_channels


def test_convolutions_of_pixels_have_blocks() -> None:
    model = quantized(Pixels(), IMAGE)
    graph = graph_of(model, IMAGE)
    ((name, encoding),) = blocks_in(graph).items()
    assert name.startswith("Conv2d") and (encoding.axis, encoding.num_blocks) == (3, 1)
    (out,) = evaluate(graph, IMAGE)
    step = graph.tensors[graph.operators[-2].inputs[0]].encoding.scales[0]
    torch.testing.assert_close(out, model(*IMAGE), rtol=0, atol=1.01 * step)


def test_users_say_the_size_of_blocks() -> None:
    by = quantizer()
    by.set_block_size_map({"linear": (1, 16), "linear_1": (1, 96)})
    found = blocks_in(graph_of(quantized(Layers(), X, by), X))
    assert [each.num_blocks for each in found.values()] == [4, 1]
    by.set_block_size_map({"linear": (1, 48)})
    with pytest.raises(ValueError, match=r"linear: expected a block .* found \(1, 48\)"):
        quantized(Layers(), X, by)
    with pytest.raises(ValueError, match="expected per_channel_symmetric of a weight"):
        PerBlockParamObserver(torch.int8, (1, 16), -8, 7, qscheme=torch.per_tensor_affine)
    with pytest.raises(ValueError, match="expected int4, ch_axis 0 and a block of one channel"):
        get_ptq_per_block_quant_config(block_size=(2, 16))


def test_rows_that_blocks_do_not_fill_have_a_scale_for_each_channel() -> None:
    class Narrow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(20, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.layer(x)

    x = (torch.rand(2, 20),)
    by = quantizer()
    by.set_default_quant_config(QuantDtype.use_16a4w_block, is_linear_per_channel=True)
    graph = graph_of(quantized(Narrow(), x, by), x)
    weight = graph.tensors[graph.operators[1].inputs[1]]
    assert weight.encoding.type is EncodingType.BW_AXIS_SCALE_OFFSET


def test_scales_that_no_encoding_says_are_computed_with_in_floats() -> None:
    model = quantized(Layers(biases=False), X)
    before = model(*X)
    scales = next(each for name, each in model.named_buffers() if each.shape == (96, 2))
    scales[0, 0] *= 1.618 / 16
    assert channels_and_multiples(scales) is None
    graph = graph_of(model, X)
    first = next(each for each in graph.operators if each.type == "FullyConnected")
    assert all(each.dtype is DataType.FLOAT_32 for each in graph.of(first.inputs))
    (out,) = evaluate(graph, X)
    torch.testing.assert_close(out, model(*X), rtol=0, atol=1e-4)
    assert not math.isclose(float(before[0, 0]), float(out[0, 0]), rel_tol=1e-6)


def test_blocks_need_a_newer_npu() -> None:
    with pytest.raises(ValueError, match="by blocks need an NPU of V69 or later, SM8350 has V68"):
        quantized(Layers(), X, quantizer(QcomChipset.SM8350))


@pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing())
@pytest.mark.parametrize(
    ("model", "inputs"), [(Layers(), X), (Pixels(), IMAGE)], ids=["linear", "conv"]
)
def test_blocks_on_the_stand_in(model: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    made = quantized(model, inputs)
    specs = stand_in.specs_with_library(use_fp16=False)
    manager = stand_in.lowered(made, inputs, specs)
    assert left(manager) == []
    (out,) = stand_in.run(manager, inputs)
    wanted = evaluate(graph_of(made, inputs), inputs)[0]
    torch.testing.assert_close(out, wanted, rtol=0, atol=1e-4)
