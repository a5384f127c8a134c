# SPDX-License-Identifier: BSD-3-Clause
"""Quantized programs: what is delegated, as which values, and that the delegate computes what the converted model does
in eager mode. The quantizer's own tests stand beside it."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cache
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
from torchao.quantization.granularity import PerGroup
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.utils import compute_error

from executorch.backends.transforms.duplicate_dynamic_quant_chain import (
    DuplicateDynamicQuantChainPass,
)
from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.partition.config.xnnpack_config import ConfigPrecisionType
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.serialization.graph import deserialize
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer


def converted(model: nn.Module, inputs: tuple[torch.Tensor, ...], **options: bool) -> nn.Module:
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(**options))
    prepared = prepare_pt2e(torch.export.export(model.eval(), inputs).module(), quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


def lower(model: nn.Module, inputs: tuple[torch.Tensor, ...]) -> EdgeProgramManager:
    exported = torch.export.export(model, inputs)
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])


def run(manager: EdgeProgramManager, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    return _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward(inputs)[0]


def calls(manager: EdgeProgramManager) -> list[str]:
    nodes = manager.exported_program().graph.nodes
    return [n.name for n in nodes if n.op == "call_function" and "getitem" not in n.name]


def graphs(manager: EdgeProgramManager) -> list[Any]:
    modules = get_lowered_backend_modules(manager.exported_program().graph_module)
    return [deserialize(module.processed_bytes) for module in modules]


def types(graph: Any) -> Counter[str]:
    """How many values there are of each type."""
    values = [value.xvalue_union for value in graph.xvalues]
    tensors = [getattr(value, "tensor_value", value) for value in values]
    return Counter(tensor.datatype.name.removeprefix("xnn_datatype_") for tensor in tensors)


def kinds(graph: Any) -> list[str]:
    return [type(node.xnode_union).__name__ for node in graph.xnodes]


class Two(nn.Module):
    """An operator of two operands between convolutions."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.a, self.b = kind, nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = self.a(x), self.b(x)
        match self.kind:
            case "add":
                return F.relu(a + b)
            case "mul":
                return a * b
            case "cat":
                return torch.cat([a, b], 1)
            case "adaptive_avg_pool2d":
                return F.adaptive_avg_pool2d(a, 1)
            case "max_pool2d":
                return F.max_pool2d(a, 2)
        return a.flatten(2).transpose(1, 2)


IMAGE, ROWS, SEQUENCE = (2, 4, 8, 6), (3, 5, 12), (2, 4, 13)
NCDHW = (2, 4, 5, 6, 7)
STATIC: dict[str, tuple[nn.Module, tuple[int, ...]]] = {
    "linear": (nn.Linear(12, 7), ROWS),
    "linear_relu": (nn.Sequential(nn.Linear(12, 7, bias=False), nn.ReLU()), ROWS),
    "linear_gelu": (nn.Sequential(nn.Linear(12, 16), nn.GELU(), nn.Linear(16, 7)), ROWS),
    "linear_tanh": (nn.Sequential(nn.Linear(12, 7), nn.Tanh(), nn.Linear(7, 7)), ROWS),
    "conv": (nn.Conv2d(4, 6, 3, padding=1), IMAGE),
    "conv_hardswish": (
        nn.Sequential(nn.Conv2d(4, 6, 3), nn.Hardswish(), nn.Conv2d(6, 4, 1)),
        IMAGE,
    ),
    "conv_sigmoid": (nn.Sequential(nn.Conv2d(4, 6, 3), nn.Sigmoid(), nn.Conv2d(6, 4, 1)), IMAGE),
    "conv_relu6": (nn.Sequential(nn.Conv2d(4, 6, 3, stride=2), nn.ReLU6()), IMAGE),
    "conv_batch_norm": (nn.Sequential(nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6)), IMAGE),
    "conv_grouped": (nn.Conv2d(4, 6, 3, groups=2), IMAGE),
    "conv_depthwise": (nn.Conv2d(4, 8, 3, groups=4), IMAGE),
    "conv_transposed": (nn.ConvTranspose2d(4, 6, 2, 2), IMAGE),
    "conv1d_transposed": (nn.ConvTranspose1d(4, 6, 3, 2), SEQUENCE),
    "conv1d": (nn.Sequential(nn.Conv1d(4, 6, 3, 2), nn.GELU(), nn.Conv1d(6, 4, 1)), SEQUENCE),
    "conv1d_depthwise": (
        nn.Sequential(nn.Conv1d(4, 8, 3, groups=4), nn.ReLU(), nn.Conv1d(8, 4, 3, dilation=2)),
        SEQUENCE,
    ),
    "conv3d": (nn.Conv3d(4, 6, 3, padding=1), NCDHW),
    "conv3d_uneven": (nn.Conv3d(4, 6, (2, 3, 4), (3, 1, 2), (1, 2, 0), (1, 2, 1)), NCDHW),
    "conv3d_same": (nn.Conv3d(4, 6, (3, 1, 3), padding="same", bias=False), NCDHW),
    "conv3d_along_depth": (nn.Conv3d(4, 6, (3, 1, 1), (2, 1, 1), (1, 0, 0)), NCDHW),
    "conv3d_network": (
        nn.Sequential(
            nn.Conv3d(4, 6, 3, padding=1),
            nn.BatchNorm3d(6),
            nn.ReLU(),
            nn.MaxPool3d(2),
            nn.ConvTranspose3d(6, 4, 3, 2, 1, 1),
            nn.Conv3d(4, 4, 1),
            nn.AdaptiveAvgPool3d(1),
        ),
        NCDHW,
    ),
    "conv_pad_conv": (
        nn.Sequential(nn.Conv2d(4, 6, 1), nn.ZeroPad2d(1), nn.Conv2d(6, 4, 3)),
        IMAGE,
    ),
    "conv_pad_one_side": (
        nn.Sequential(nn.Conv2d(4, 6, 1), nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(6, 4, 3)),
        IMAGE,
    ),
    "conv_nearest": (
        nn.Sequential(nn.Conv2d(4, 6, 1), nn.Upsample(scale_factor=2.0), nn.Conv2d(6, 4, 3)),
        IMAGE,
    ),
    **{
        name: (Two(name), IMAGE)
        for name in ("add", "mul", "cat", "adaptive_avg_pool2d", "max_pool2d", "moved")
    },
}


@cache
def static_case(name: str, per_channel: bool) -> tuple[Any, ...]:
    torch.manual_seed(0)
    model, shape = STATIC[name]
    inputs = (torch.randn(shape),)
    quantized = converted(model, inputs, is_per_channel=per_channel)
    return model, quantized, inputs, lower(quantized, inputs)


@pytest.mark.req("XQ-019")
@pytest.mark.parametrize(
    ("name", "per_channel"),
    [(name, True) for name in STATIC]
    + [(name, False) for name in ("linear", "conv_depthwise", "conv3d")],
)
def test_a_static_row_is_delegated_whole_and_exact(name: str, per_channel: bool) -> None:
    model, quantized, inputs, manager = static_case(name, per_channel)
    assert calls(manager) == ["executorch_call_delegate"]
    (graph,) = graphs(manager)
    assert types(graph)["fp32"] == 2  # the input and the output
    assert kinds(graph).count("XNNConvert") == 2
    found = run(manager, inputs)
    assert compute_error(quantized(*inputs), found) > 40
    assert compute_error(model(*inputs), found) > 25


def test_values_are_written_as_upstream_writes_them() -> None:
    *_, manager = static_case("conv_depthwise", True)
    (graph,) = graphs(manager)
    values = [value.xvalue_union for value in graph.xvalues]
    quantized = [value for value in values if hasattr(value, "quant_params")]
    (kernel,) = [v for v in quantized if v.tensor_value.datatype.name == "xnn_datatype_qcint8"]
    (bias,) = [v for v in quantized if v.tensor_value.datatype.name == "xnn_datatype_qcint32"]
    assert kernel.tensor_value.dims == [1, 3, 3, 8] and kernel.quant_params.channel_dim == 3
    assert (kernel.quant_params.num_scales, bias.quant_params.channel_dim) == (8, 0)
    (module,) = get_lowered_backend_modules(manager.exported_program().graph_module)
    data = module.named_data_store_output
    key = graph.constant_data[kernel.quant_params.scale_buffer_idx].named_key
    content = bytes(data.buffers[data.pte_data[key].buffer_index])
    assert key == "scale_" + hashlib.sha256(content).hexdigest() and len(content) == 4 * 8


def test_weights_quantized_at_export_are_quantized_ahead() -> None:
    """fold_quantize=False leaves the quantize of a weight in the program."""
    inputs = (torch.randn(3, 8),)
    config = get_symmetric_quantization_config(is_per_channel=True)
    exported = torch.export.export(nn.Linear(8, 4), inputs).module()
    prepared = prepare_pt2e(exported, XNNPACKQuantizer().set_global(config))
    prepared(*inputs)
    quantized = convert_pt2e(prepared, fold_quantize=False)
    manager = lower(quantized, inputs)
    assert calls(manager) == ["executorch_call_delegate"]
    assert types(graphs(manager)[0])["qcint8"] == 1
    assert compute_error(quantized(*inputs), run(manager, inputs)) > 40


def test_readers_outside_get_floats() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.a(x)
            return self.b(torch.cumsum(y, 0)) + y

    inputs = (torch.randn(3, 8),)
    quantized = converted(Model(), inputs, is_per_channel=True)
    manager = lower(quantized, inputs)
    assert [name for name in calls(manager) if "delegate" not in name] == ["aten_cumsum_default"]
    assert compute_error(quantized(*inputs), run(manager, inputs)) > 35


class Residual(nn.Module):
    """tanh(x) as a float, which the norm outside reads, and in 8 bits, which another delegate adds to."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(16), nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.tanh()
        return x + self.linear(self.norm(x))


def test_a_delegate_gives_8_bit_values_to_another() -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(2, 5, 16),)
    model = converted(Residual(), inputs, is_per_channel=True)
    manager = lower(model, inputs)
    assert len(graphs(manager)) == 2
    step = 0.05  # of the sum, whose values are below 6
    torch.testing.assert_close(run(manager, inputs), model(*inputs), atol=step, rtol=0)


def test_nothing_is_converted_for_nobody() -> None:
    """Dropout leaves a pair of calls that quantizes its input back to what it was."""

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.norm = nn.Linear(8, 8), nn.LayerNorm(8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.norm(F.dropout(self.linear(x), training=False) + x)

    inputs = (torch.randn(3, 8),)
    (graph,) = graphs(lower(converted(Residual(), inputs, is_per_channel=True), inputs))
    assert kinds(graph) == ["XNNConvert", "XNNFullyConnected", "XNNConvert", "XNNAdd"]


class Attention(nn.Module):
    """Three linears that read one value."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(16, 16) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(self.q(x), 1) * self.k(x) + self.v(x)


@pytest.mark.req("XQ-019")
@pytest.mark.parametrize("per_channel", [True, False], ids=["channel", "tensor"])
def test_dynamic_linears_are_delegated_whatever_they_share(per_channel: bool) -> None:
    torch.manual_seed(0)
    model, inputs = Attention().eval(), (torch.randn(2, 5, 16),)
    quantized = converted(model, inputs, is_per_channel=per_channel, is_dynamic=True)
    manager = lower(quantized, inputs)
    assert [name for name in calls(manager) if "delegate" not in name] == ["aten_cumsum_default"]
    found = sum((types(graph) for graph in graphs(manager)), Counter())
    assert found["qcint8"] == 3 and 1 <= found["qdint8"] <= 3
    assert compute_error(model(*inputs), run(manager, inputs)) > 35


@pytest.mark.req("XQ-019")
def test_a_dynamic_convolution_is_delegated() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(4, 6, 3, padding=1), nn.ReLU())
    inputs = (torch.randn(IMAGE),)
    manager = lower(converted(model, inputs, is_per_channel=True, is_dynamic=True), inputs)
    assert calls(manager) == ["executorch_call_delegate"]
    assert types(graphs(manager)[0])["qdint8"] == 1
    assert compute_error(model(*inputs), run(manager, inputs)) > 35


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, padding=1)), IMAGE),
        (nn.Sequential(nn.LayerNorm(12), nn.Linear(12, 7)), ROWS),
    ],
    ids=["max_pool", "layer_norm"],
)
def test_dynamic_readers_of_the_first_of_several_results_are_delegated(
    model: nn.Module, shape: tuple[int, ...]
) -> None:
    inputs = (torch.randn(shape),)
    manager = lower(converted(model, inputs, is_per_channel=True, is_dynamic=True), inputs)
    assert not [name for name in calls(manager) if "quantize" in name or "qparams" in name]
    assert types(graphs(manager)[-1])["qdint8"] == 1
    assert compute_error(model(*inputs), run(manager, inputs)) > 35


def test_every_reader_of_a_dynamic_chain_gets_its_own() -> None:
    inputs = (torch.randn(2, 5, 16),)
    model = converted(Attention(), inputs, is_per_channel=True, is_dynamic=True)
    expected = model(*inputs)

    def count(name: str) -> int:
        return sum(name in str(node.target) for node in model.graph.nodes)

    assert count("choose_qparams") == 1
    assert DuplicateDynamicQuantChainPass()(model).modified
    assert count("choose_qparams") == 3 and count("quantize_per_tensor.tensor") == 6
    assert torch.equal(model(*inputs), expected)
    assert not DuplicateDynamicQuantChainPass()(model).modified


def test_what_no_delegate_takes_runs_on_quantized_kernels() -> None:
    inputs = (torch.randn(3, 8),)
    quantized = converted(nn.Linear(8, 4), inputs, is_per_channel=True)
    manager = to_edge_transform_and_lower(torch.export.export(quantized, inputs))
    assert compute_error(quantized(*inputs), run(manager, inputs)) > 40


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fixed, self.found, self.plain = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.plain(torch.tanh(self.found(torch.sigmoid(self.fixed(x)))))


@pytest.mark.req("XQ-027")
@pytest.mark.parametrize(
    ("wanted", "inside"),
    [
        (ConfigPrecisionType.STATIC_QUANT, {"fixed"}),
        (ConfigPrecisionType.DYNAMIC_QUANT, {"found"}),
        ([ConfigPrecisionType.FP32], {"plain"}),
        (None, {"fixed", "found", "plain"}),
    ],
)
def test_precisions_select_what_is_delegated(wanted: Any, inside: set[str]) -> None:
    inputs = (torch.randn(3, 8),)
    quantizer = XNNPACKQuantizer()
    quantizer.set_module_name("fixed", get_symmetric_quantization_config())
    quantizer.set_module_name("found", get_symmetric_quantization_config(is_dynamic=True))
    prepared = prepare_pt2e(torch.export.export(Mixed().eval(), inputs).module(), quantizer)
    prepared(*inputs)
    model = convert_pt2e(prepared)
    partitioner = XnnpackPartitioner(config_precisions=wanted)
    exported = torch.export.export(model, inputs)
    manager = to_edge_transform_and_lower(exported, partitioner=[partitioner])
    found = sum((types(graph) for graph in graphs(manager)), Counter())
    assert {
        name for name, kind in (("fixed", "qint32"), ("found", "qdint8")) if found[kind]
    } == inside - {"plain"}
    linears = sum(kinds(graph).count("XNNFullyConnected") for graph in graphs(manager))
    assert linears == len(inside)
    assert compute_error(model(*inputs), run(manager, inputs)) > 35


def test_limits_that_leave_no_value_are_computed_on_floats() -> None:
    """All that is clamped is negative: its 8-bit range ends at 0."""

    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.relu(F.max_pool2d(x * x, 2).flatten(1).unsqueeze(1) * -1.0)

    inputs = (torch.randn(IMAGE),)
    quantized = converted(Model(), inputs)
    manager = lower(quantized, inputs)
    torch.testing.assert_close(run(manager, inputs), quantized(*inputs))


@pytest.mark.parametrize("dynamic", [False, True])
def test_sizes_of_quantized_programs_may_be_dynamic(dynamic: bool) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    sizes = ({0: torch.export.Dim("rows", max=9)},)
    x = torch.randn(4, 12)
    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=dynamic)
    exported = torch.export.export(model, (x,), dynamic_shapes=sizes).module()
    prepared = prepare_pt2e(exported, XNNPACKQuantizer().set_global(config))
    for _ in range(4):
        prepared(torch.randn(9, 12).clamp(-2, 2))
    quantized = torch.export.export(convert_pt2e(prepared), (x,), dynamic_shapes=sizes)
    manager = to_edge_transform_and_lower(quantized, partitioner=[XnnpackPartitioner()])
    assert calls(manager) == ["executorch_call_delegate"]
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for rows in (1, 9, 4):
        x = torch.randn(rows, 12).clamp(-2, 2)
        assert compute_error(model(x), program.forward((x,))[0]) > 15


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 16])
def test_weights_of_4_bits_take_any_number_of_rows(rows: int) -> None:
    """Kernels compute tiles of up to 14 rows, also where there are fewer."""
    torch.manual_seed(0)
    model, inputs = nn.Sequential(nn.Linear(64, 96), nn.Linear(96, 8)), (torch.randn(rows, 64),)
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=PerGroup(32)
    )
    quantize_(model, config)
    assert compute_error(model(*inputs), run(lower(model, inputs), inputs)) > 35
