# SPDX-License-Identifier: BSD-3-Clause
"""Every row of the table of ops: the call is delegated whole, and the delegate computes what eager does."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.pybindings.portable_lib import (
    _load_for_executorch_from_buffer,
)
from executorch.runtime import Runtime


class Call(nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


class LstmStep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(6, 5)

    def forward(self, x: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor) -> torch.Tensor:
        return torch.cat(self.cell(x, (hidden, cell)), 1)


def gated(a: torch.Tensor) -> torch.Tensor:
    """Parts of unequal sizes, of which one is read twice and one by nobody."""
    size = a.shape[1]
    one, two, _ = a.split([1, size - 2, 1], 1)
    return two.sigmoid() * two + one


def conv_bn(*arguments: int, **options: int) -> nn.Module:
    conv = nn.Conv2d(*arguments, **options)
    norm = nn.BatchNorm2d(conv.out_channels)
    norm.running_mean.uniform_(-1, 1)
    norm.running_var.uniform_(0.5, 2)
    return nn.Sequential(conv, norm, nn.ReLU6())


def normalized(norm: nn.Module) -> nn.Module:
    """With numbers that are not those of an untrained one."""
    with torch.no_grad():
        for name, value in [*norm.named_parameters(), *norm.named_buffers()]:
            if value.is_floating_point():
                value.uniform_(0.5, 2) if "var" in name else value.uniform_(-1, 1)
    return norm


def conv1d_bn(*arguments: int, **options: int) -> nn.Module:
    conv = nn.Conv1d(*arguments, **options)
    return nn.Sequential(conv, normalized(nn.BatchNorm1d(conv.out_channels)), nn.ReLU6())


def conv_relu_bn(*arguments: int) -> nn.Module:
    conv = nn.Conv2d(*arguments)
    return nn.Sequential(conv, nn.ReLU(), normalized(nn.BatchNorm2d(conv.out_channels)))


def by_position(channels: int) -> nn.Module:
    """A layer norm of the channels of each position."""
    norm = normalized(nn.LayerNorm(channels))
    return Call(lambda a: norm(a.permute(0, 2, 3, 1)).permute(0, 3, 1, 2))


def channel_prelu(channels: int) -> nn.Module:
    module = nn.PReLU(channels)
    with torch.no_grad():
        module.weight.uniform_(-1, 1)
    return module


class Sequence(nn.Module):
    """Convolutions over one dimension with all that may stand between: sums with plain and turned values, constants,
    parts joined along channels and positions, padding, norms, and rows of positions."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (
            nn.Conv1d(8, 6, 3, padding=1),
            nn.Conv1d(6, 6, 3, padding=2, dilation=2),
        )
        self.depthwise, self.up = (
            nn.Conv1d(12, 12, 3, groups=12),
            nn.ConvTranspose1d(12, 8, 4, 2, 1),
        )
        self.norm, self.slopes = normalized(nn.BatchNorm1d(6)), channel_prelu(6)
        self.rows = nn.Linear(8, 5)
        self.offset = nn.Parameter(torch.linspace(-1, 1, 6).reshape(6, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.slopes(self.norm(torch.tanh(self.first(x)))) + self.offset
        y = y + self.second(y) * x[:, 1:7]
        y = torch.cat([y, y.sigmoid()], 1)
        y = F.pad(torch.cat([y[:, :, 1:4], y], 2), (1, 2))
        z = self.up(self.depthwise(y))
        return self.rows(z.permute(0, 2, 1) * 2.0) + z.mT.relu()[:, :, :5]


X = (1, 8, 10, 12)
NCDHW = (2, 16, 5, 6, 7)
MATRIX, BIAS = torch.linspace(-1, 1, 84).reshape(12, 7), torch.linspace(-1, 1, 7)
SCALE = torch.linspace(0.5, 2, 4).reshape(4, 1, 1)
# name, module or function, shapes of the inputs
ROWS: list[tuple[str, nn.Module | Callable[..., torch.Tensor], list[tuple[int, ...]]]] = [
    ("conv", nn.Conv2d(8, 6, 3, padding=1), [X]),
    ("conv_stride_dilation", nn.Conv2d(8, 6, (3, 2), (2, 1), (0, 1), (1, 2)), [X]),
    ("conv_grouped", nn.Conv2d(8, 6, 3, groups=2, bias=False), [X]),
    ("conv_depthwise", nn.Conv2d(8, 8, 3, padding=1, groups=8), [X]),
    ("conv_depthwise_multiplier", nn.Conv2d(8, 16, 3, groups=8), [X]),
    ("conv_depthwise_two_taps", nn.Conv2d(8, 8, (1, 2), groups=8), [X]),
    ("conv_depthwise_five_taps", nn.Conv2d(8, 8, (5, 1), groups=8), [X]),
    ("conv_depthwise_wide", nn.Conv2d(8, 8, 7, padding=3, groups=8), [X]),
    ("conv_transposed", nn.ConvTranspose2d(8, 6, 3, 2, 1, output_padding=1), [X]),
    ("conv_transposed_grouped", nn.ConvTranspose2d(8, 6, 3, 2, groups=2), [X]),
    ("conv_batch_norm_relu6", conv_bn(8, 6, 3, bias=False), [X]),
    ("depthwise_batch_norm_relu6", conv_bn(8, 8, 3, groups=8), [X]),
    ("conv_to_one_channel", nn.Conv2d(64, 1, 1), [(1, 64, 32, 32)]),
    ("conv_of_one_pixel", nn.Conv2d(8, 3, 1), [(1, 8, 1, 1)]),
    ("two_convs", nn.Sequential(nn.Conv2d(8, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 1)), [X]),
    ("linear", nn.Linear(12, 7), [(3, 12)]),
    ("linear_no_bias_rank3_relu", nn.Sequential(nn.Linear(12, 7, bias=False), nn.ReLU()), [X[1:]]),
    ("addmm_relu", lambda a: F.relu(torch.addmm(BIAS, a, MATRIX)), [(3, 12)]),
    ("mm", lambda a: a @ MATRIX, [(3, 12)]),
    ("conv_transposed_phases", nn.ConvTranspose2d(8, 16, 4, 2, 1), [X]),
    ("conv_transposed_phases_whole", nn.ConvTranspose2d(8, 16, 2, 2), [X]),
    ("conv_transposed_phases_odd", nn.ConvTranspose2d(8, 16, 3, 2, 1, output_padding=1), [X]),
    ("conv_transposed_phases_uneven", nn.ConvTranspose2d(8, 16, (4, 2), (2, 1), (1, 0)), [X]),
    ("conv_transposed_phases_wide", nn.ConvTranspose2d(8, 16, 5, (1, 3), 1, bias=False), [X]),
    ("conv_transposed_phases_cropped", nn.ConvTranspose2d(8, 16, 2, 2, 1), [X]),
    ("conv_transposed_phases_apart", nn.ConvTranspose2d(8, 16, 3, 2, 1, dilation=2), [X]),
    (
        "conv_transposed_phases_norm",
        nn.Sequential(
            nn.ConvTranspose2d(8, 16, 4, 2, 1), normalized(nn.BatchNorm2d(16)), nn.ReLU6()
        ),
        [(2, 8, 5, 7)],
    ),
    ("conv3d", nn.Conv3d(16, 16, 3, padding=1), [NCDHW]),
    ("conv3d_five_taps", nn.Conv3d(16, 17, 5, padding=2), [NCDHW]),
    (
        "conv3d_uneven",
        nn.Conv3d(16, 17, (2, 3, 4), (3, 1, 2), (1, 2, 0), (1, 2, 1), bias=False),
        [NCDHW],
    ),
    ("conv3d_strides", nn.Conv3d(16, 16, 3, 2, 1), [NCDHW]),
    ("conv3d_dilated", nn.Conv3d(16, 16, 3, padding=2, dilation=2), [NCDHW]),
    ("conv3d_along_depth", nn.Conv3d(16, 16, (3, 1, 1), (2, 1, 1), (1, 0, 0)), [NCDHW]),
    ("conv3d_of_slices", nn.Conv3d(16, 16, (1, 3, 3), padding=(0, 1, 1)), [NCDHW]),
    ("conv3d_of_some_slices", nn.Conv3d(16, 16, (1, 3, 3), (3, 1, 1)), [NCDHW]),
    (
        "conv3d_taps_of_zeros",
        nn.Conv3d(16, 16, (7, 3, 3), padding=(3, 1, 1)),
        [(2, 16, 1, 4, 4)],
    ),
    ("conv3d_in_parts", nn.Conv3d(16, 16, 3, padding=1), [(1, 16, 9, 64, 64)]),
    ("conv3d_in_parts_of_rows", nn.Conv3d(16, 16, 3, 2, 1), [(1, 16, 18, 64, 64)]),
    (
        "conv3d_batch_norm_relu6_pool",
        nn.Sequential(
            nn.Conv3d(16, 16, 3),
            normalized(nn.BatchNorm3d(16)),
            nn.ReLU6(),
            nn.MaxPool3d(3, (1, 2, 2), 1),
            nn.Conv3d(16, 4, 1),
        ),
        [NCDHW],
    ),
    (
        "conv3d_mean",
        nn.Sequential(
            nn.Conv3d(16, 16, 3), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(16, 3)
        ),
        [NCDHW],
    ),
    ("conv_transposed3d", nn.ConvTranspose3d(16, 16, 2, 2), [NCDHW]),
    ("conv_transposed3d_odd", nn.ConvTranspose3d(16, 16, 3, 2, 1, 1), [NCDHW]),
    (
        "conv_transposed3d_norm",
        nn.Sequential(
            nn.ConvTranspose3d(16, 17, (4, 3, 3), (2, 1, 1), 1),
            normalized(nn.BatchNorm3d(17)),
            nn.ReLU(),
        ),
        [NCDHW],
    ),
    ("conv1d_batch_norm_relu6", conv1d_bn(8, 6, 3, stride=2, padding=1), [(2, 8, 11)]),
    ("conv1d_between", Sequence(), [(2, 8, 11)]),
    ("conv1d_of_turned", nn.Sequential(Call(lambda a: a.mT), nn.Conv1d(11, 4, 3)), [(2, 8, 11)]),
    ("conv1d_depthwise", nn.Conv1d(8, 8, 5, padding=2, groups=8), [(2, 8, 11)]),
    ("conv1d_transposed", nn.ConvTranspose1d(8, 6, 3, 2, 1, output_padding=1), [(2, 8, 11)]),
    ("batch_norm_relu", nn.Sequential(normalized(nn.BatchNorm2d(8)), nn.ReLU()), [X]),
    ("conv_relu_batch_norm", conv_relu_bn(8, 6, 3), [X]),
    ("batch_norm_of_rows", normalized(nn.BatchNorm1d(12)), [(3, 12)]),
    ("relu_group_norm", nn.Sequential(nn.ReLU(), normalized(nn.GroupNorm(1, 8))), [X]),
    (
        "group_norm_of_positions",
        nn.Sequential(nn.Conv1d(8, 6, 3), normalized(nn.GroupNorm(1, 6)), nn.Conv1d(6, 4, 1)),
        [(2, 8, 20)],
    ),
    (
        "group_norm_between_convs",
        nn.Sequential(nn.Conv2d(8, 6, 3), normalized(nn.GroupNorm(1, 6)), nn.Conv2d(6, 4, 1)),
        [X],
    ),
    ("layer_norm", normalized(nn.LayerNorm(12)), [(2, 3, 12)]),
    ("layer_norm_two_dims_plain", nn.LayerNorm((3, 12), elementwise_affine=False), [(2, 3, 12)]),
    ("conv_norm_by_position", nn.Sequential(nn.Conv2d(8, 6, 1), by_position(6)), [X]),
    ("mm_of_values", lambda a, b: torch.tanh(a) @ b, [(3, 12), (12, 5)]),
    ("sum_of_rows", lambda a: a.sum(-1, keepdim=True) * a, [(2, 3, 12)]),
    ("sum_of_ncdhw", lambda a: a.sum((2, 3, 4), keepdim=True).neg(), [NCDHW]),
    ("mean_of_ncdhw", lambda a: a.mean((2, 3, 4)).neg(), [NCDHW]),
    ("power_half", lambda a: a.abs() ** 0.5 + (a.abs() + 1) ** -0.5, [X]),
    ("avg_pool_of_all", nn.AvgPool2d(20, 20, ceil_mode=True), [X]),
    ("mean_of_rows", lambda a: a.mean(-1, keepdim=True) * a, [(2, 3, 12)]),
    ("mean_of_two_dims", lambda a: a.mean((1, 2)).neg(), [(2, 3, 12)]),
    ("bmm", torch.bmm, [(3, 4, 5), (3, 5, 6)]),
    ("add_relu", lambda a, b: F.relu(a + b), [X, X]),
    ("add_broadcast", torch.add, [X, (8, 1, 1)]),
    ("sub", torch.sub, [X, X]),
    ("mul_number", lambda a: a * 0.125, [X]),
    ("div", lambda a, b: a / (b.abs() + 1), [X, X]),
    ("maximum", torch.maximum, [X, X]),
    ("minimum", torch.minimum, [X, X]),
    ("scalar_add", lambda a, b: a + b, [(), ()]),
    ("ceil", torch.ceil, [X]),
    ("cos", torch.cos, [X]),
    ("sin", torch.sin, [X]),
    ("square", lambda a: a**2, [X]),
    ("exp", torch.exp, [X]),
    ("prelu", nn.PReLU(8, 0.1), [X]),
    ("prelu_one", nn.PReLU(), [(3, 12)]),
    ("conv_prelu", nn.Sequential(nn.Conv2d(8, 4, 1), channel_prelu(4)), [X]),
    ("resize", lambda a: F.interpolate(a, scale_factor=2.0, mode="bilinear"), [X]),
    (
        "resize_corners",
        lambda a: F.interpolate(a, (7, 9), mode="bilinear", align_corners=True),
        [X],
    ),
    ("nearest", lambda a: F.interpolate(a.neg(), scale_factor=2.0), [X]),
    ("nearest_rows", lambda a: F.interpolate(a.neg(), (30, 12)), [X]),
    ("nearest_often", lambda a: F.interpolate(a.neg(), (20, 72)), [X]),
    ("select", lambda a: a[:, 0].neg(), [X]),
    ("select_last", lambda a: a[..., -1] * 2, [X[1:]]),
    ("repeat", lambda a: a.unsqueeze(2).expand(1, 8, 7, 10, 12).neg(), [X]),
    ("clone", lambda a: (a + 1).clone().neg(), [X]),
    ("floor", torch.floor, [X]),
    ("gelu", F.gelu, [X]),
    ("log", lambda a: torch.log(a.abs() + 1), [X]),
    ("neg", torch.neg, [X]),
    ("rsqrt", lambda a: torch.rsqrt(a.abs() + 1), [X]),
    ("sigmoid", torch.sigmoid, [X]),
    ("sqrt", lambda a: torch.sqrt(a.abs()), [X]),
    ("tanh", torch.tanh, [X]),
    ("leaky_relu", lambda a: F.leaky_relu(a, 0.2), [X]),
    ("leaky_relu_default", F.leaky_relu, [X]),
    ("elu", lambda a: F.elu(a, 0.5), [X]),
    ("elu_default", F.elu, [X]),
    ("cat_first", lambda a, b: torch.cat([a, b]).neg(), [X, X]),
    ("relu", F.relu, [X]),
    ("hardsigmoid", F.hardsigmoid, [X]),
    ("hardswish", F.hardswish, [X]),
    ("silu", F.silu, [X]),
    ("hardtanh", F.hardtanh, [X]),
    ("clamp", lambda a: torch.clamp(a, -0.5, 0.25), [X]),
    ("softmax", lambda a: F.softmax(a, -1), [X]),
    ("softmax_channels", lambda a: F.softmax(a.abs(), 1), [(2, 9, 5, 7)]),
    ("softmax_positions", lambda a: F.softmax(a.abs(), 1), [(2, 9, 5)]),
    ("softmax_first", lambda a: F.softmax(a.abs(), 0), [(9, 5, 3, 4)]),
    ("softmax_branches", lambda a: F.softmax(a.abs(), 1), [(1, 2, 64, 1, 1)]),
    ("global_average", lambda a: a.mean((2, 3)), [X]),
    ("global_average_keepdim", nn.AdaptiveAvgPool2d(1), [X]),
    ("max_pool", nn.MaxPool2d(3, 2, 1), [X]),
    ("max_pool_ceil", nn.MaxPool2d(3, 2, ceil_mode=True), [(1, 3, 8, 11)]),
    ("max_pool_ceil_dilated", nn.MaxPool2d(3, 3, 1, 2, ceil_mode=True), [(2, 3, 12, 9)]),
    ("avg_pool_ceil", nn.AvgPool2d(3, 2, ceil_mode=True), [(1, 3, 8, 11)]),
    ("avg_pool_padded", nn.AvgPool2d(3, 1, 1), [(2, 3, 8, 11)]),
    ("avg_pool_ceil_counted", nn.AvgPool2d(3, 2, 1, ceil_mode=True), [(1, 3, 9, 12)]),
    (
        "avg_pool_ceil_padded",
        nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False),
        [(1, 3, 8, 11)],
    ),
    ("avg_pool", nn.AvgPool2d(2), [X]),
    ("cat", lambda a, b: torch.cat([a, b, a], 1).neg(), [X, X]),
    ("cat_seven", lambda a: torch.cat([a] * 7, -1).neg(), [X]),
    ("conv_cat", nn.Sequential(nn.Conv2d(8, 4, 1), Call(lambda a: torch.cat([a, a], 1))), [X]),
    ("permute", lambda a: a.permute(0, 3, 1, 2).neg(), [X]),
    ("view", lambda a: a.view(8, -1).neg(), [X]),
    ("unsqueeze_squeeze", lambda a: a.unsqueeze(1).neg().squeeze(1), [X[1:]]),
    ("slice", lambda a: a[:, 2:-1].neg(), [X]),
    ("slice_from_before_the_first", lambda a: a[:, -99:-1].neg(), [X]),
    ("conv_slice", nn.Sequential(nn.Conv2d(8, 4, 1), Call(lambda a: a[:, 1:3])), [X]),
    ("split", gated, [X]),
    ("conv_split", nn.Sequential(nn.Conv2d(8, 4, 1), Call(gated)), [X]),
    ("lstm_step", LstmStep(), [(2, 6), (2, 5), (2, 5)]),
    ("pad", lambda a: F.pad(a, (1, 2, 3, 0), value=0.5).neg(), [X]),
    ("conv_pad", nn.Sequential(nn.Conv2d(8, 4, 1), nn.ZeroPad2d((1, 0, 2, 3))), [X]),
    ("pad_conv", nn.Sequential(nn.ZeroPad2d((2, 2, 1, 1)), nn.Conv2d(8, 4, 3, padding=1)), [X]),
    ("pad_conv1d", nn.Sequential(nn.ConstantPad1d(2, 0.0), nn.Conv1d(8, 4, 3)), [(2, 8, 11)]),
    ("pad_one_side_conv", nn.Sequential(nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(8, 4, 3, 2)), [X]),
    ("pad_ones_conv", nn.Sequential(nn.ConstantPad2d(1, 1.0), nn.Conv2d(8, 4, 3)), [X]),
    ("conv_scale", nn.Sequential(nn.Conv2d(8, 4, 1), Call(lambda a: a * SCALE)), [X]),
]
NAMES = [row[0] for row in ROWS]
# But for functions that hold float constants of their own, and for what PyTorch decomposes into steps in float.
FLOATS = ["addmm_relu", "mm", "conv_scale", "conv_norm_by_position", "silu", "hardsigmoid"]
HALF_NAMES = [name for name in NAMES if name not in FLOATS and "group_norm" not in name]


@cache
def case(
    name: str, dtype: torch.dtype = torch.float32
) -> tuple[nn.Module, tuple[torch.Tensor, ...], EdgeProgramManager]:
    _, module, shapes = ROWS[NAMES.index(name)]
    module = deepcopy(module) if isinstance(module, nn.Module) else Call(module)
    module = module.eval().to(dtype)
    generator = torch.Generator().manual_seed(0)
    inputs = tuple(torch.randn(shape, generator=generator).to(dtype) for shape in shapes)
    exported = torch.export.export(module, inputs)
    partitioner = XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS)
    return module, inputs, to_edge_transform_and_lower(exported, partitioner=[partitioner])


def calls(manager: EdgeProgramManager) -> list[str]:
    nodes = manager.exported_program().graph.nodes
    return [node.name for node in nodes if node.op == "call_function"]


@pytest.mark.parametrize("name", NAMES)
def test_a_row_is_delegated_whole(name: str) -> None:
    names = calls(case(name)[2])
    assert [name for name in names if "getitem" not in name] == ["executorch_call_delegate"]


@needs_runtime
@pytest.mark.parametrize("name", NAMES)
def test_a_row_computes_what_eager_does(name: str) -> None:
    module, inputs, manager = case(name)
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for _ in range(2):  # the second run reuses what the first set up
        torch.testing.assert_close(
            program.forward(inputs)[0], module(*inputs), rtol=1e-4, atol=1e-5
        )


@needs_runtime
@pytest.mark.req("XQ-010")
@pytest.mark.parametrize("name", HALF_NAMES)
def test_a_row_takes_half_precision(name: str) -> None:
    """Within its own rounding of what eager computes in float."""
    module, inputs, manager = case(name, torch.float16)
    assert [name for name in calls(manager) if "getitem" not in name] == [
        "executorch_call_delegate"
    ]
    expected = deepcopy(module).float()(*(each.float() for each in inputs))
    outputs = _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward(inputs)
    assert outputs[0].dtype == torch.float16
    torch.testing.assert_close(outputs[0].float(), expected, rtol=4e-3, atol=4e-3)


@pytest.mark.req("XQ-005")
def test_the_rows_reach_the_whole_table() -> None:
    """But for what the exporter decomposes before a partitioner sees it."""
    seen: set[str] = set()
    for name in NAMES:
        for module in get_lowered_backend_modules(case(name)[2].exported_program().graph_module):
            seen |= {op_name(node) for node in module.original_module.graph.nodes}
    copies = {  # and conversions of float types, precision_test.py
        "aten.clone.default",
        "dim_order_ops._clone_dim_order.default",
        "dim_order_ops._to_dim_order_copy.default",
    }
    rest = set(TABLE) - seen - copies
    assert all(name.startswith("quantized_decomposed.") for name in rest)  # quantized_test.py


@needs_runtime
def test_sizes_may_be_dynamic() -> None:
    mean = Call(lambda a: a.mean((2, 3)))
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), mean, nn.Linear(4, 2))
    module.eval()
    sizes = {0: Dim("batch", max=5), 2: Dim("height", min=4, max=20)}
    exported = torch.export.export(module, (torch.randn(2, 3, 9, 9),), dynamic_shapes=(sizes,))
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    assert len(calls(manager)) == 2
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for batch, height in [(2, 9), (5, 20), (1, 4), (2, 9)]:
        x = torch.randn(batch, 3, height, 9)
        torch.testing.assert_close(program.forward((x,))[0], module(x), rtol=1e-4, atol=1e-5)
    with pytest.raises(RuntimeError):
        program.forward((torch.randn(1, 3, 2, 9),))  # smaller than the window


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v = (
            part.reshape(batch, length, 2, 4).transpose(1, 2)
            for part in (self.qkv(self.norm(x))[..., i : i + 8] for i in (0, 8, 16))
        )
        found = F.scaled_dot_product_attention(q, k, v)
        return (x + self.out(found.transpose(1, 2).reshape(batch, length, 8)))[:, 0]


def recorder() -> nn.Module:
    return nn.Sequential(conv1d_bn(8, 6, 3, padding=1), Call(lambda a: a.mean(-1)))


@needs_runtime
@pytest.mark.parametrize(
    ("module", "shape", "place", "least"),
    [
        (Attention(), (1, 5, 8), 1, 2),
        (recorder(), (2, 8, 11), 0, 1),
        (nn.Sequential(nn.Conv1d(8, 6, 3), nn.ELU(), nn.Conv1d(6, 4, 1)), (1, 8, 7), 2, 4),
        (nn.ConvTranspose2d(8, 16, 4, 2, 1), (2, 8, 5, 6), 0, 1),
        (nn.Sequential(nn.Conv2d(3, 9, 1), nn.Softmax(1)), (1, 3, 5, 6), 2, 1),
    ],
    ids=["length", "batch", "positions", "batch of phases", "height of classes"],
)
def test_any_one_size_may_be_dynamic(
    module: nn.Module, shape: tuple[int, ...], place: int, least: int
) -> None:
    """Views with a computed size, slices of other dimensions, norms and means of a number of rows."""
    size = {place: Dim("size", min=least, max=9)}
    exported = torch.export.export(module.eval(), (torch.randn(shape),), dynamic_shapes=(size,))
    partitioner = XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS)
    manager = to_edge_transform_and_lower(exported, partitioner=[partitioner])
    assert len(calls(manager)) == 2, calls(manager)
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for number in (shape[place], 9, least, 4):
        x = torch.randn([number if dim == place else s for dim, s in enumerate(shape)])
        torch.testing.assert_close(program.forward((x,))[0], module(x), rtol=1e-4, atol=1e-5)


@needs_runtime
@pytest.mark.parametrize(
    "shape",
    [(1, 3, 8, 9), (2, 1, 9, 7), (2, 16, 3, 3), (1, 1, 3, 3), (1, 16, 5, 8, 9), (2, 16, 3, 3, 3)],
)
def test_channels_last_inputs_and_outputs_are_taken_as_they_lie(shape: tuple[int, ...]) -> None:
    """One channel and one pixel included, of which strides may say either layout."""
    last = torch.channels_last if len(shape) == 4 else torch.channels_last_3d
    kind = nn.Conv2d if len(shape) == 4 else nn.Conv3d
    module = nn.Sequential(kind(shape[1], 16, 3), nn.ReLU()).eval().to(memory_format=last)
    x = torch.randn(shape).to(memory_format=last)
    manager = to_edge_transform_and_lower(
        torch.export.export(module, (x,)), partitioner=[XnnpackPartitioner()]
    )
    assert calls(manager) == ["executorch_call_delegate", "getitem"]
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for given in (x, x.clone()):
        found = program.forward((given,))[0]
        torch.testing.assert_close(found, module(x), rtol=1e-4, atol=1e-5)


class AlongTheLast(nn.Module):
    """Its result lies as its input does."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, -1) + torch.sigmoid(x) * 2


@needs_runtime
@pytest.mark.parametrize(
    ("module", "shape", "order"),
    [
        (AlongTheLast(), (3, 4), (1, 0)),
        (AlongTheLast(), (2, 3, 4), (0, 2, 1)),
        (AlongTheLast(), (2, 3, 4, 5), (3, 0, 1, 2)),
        (AlongTheLast(), (1, 3, 1, 5), (2, 1, 0, 3)),
        (nn.Linear(4, 3), (4, 7), (1, 0)),
        (nn.Conv1d(4, 5, 3), (2, 9, 4), (0, 2, 1)),
        (nn.Conv2d(4, 5, 3), (2, 4, 9, 8), (0, 1, 3, 2)),
    ],
)
def test_inputs_may_lie_in_any_order(
    module: nn.Module, shape: tuple[int, ...], order: tuple[int, ...]
) -> None:
    x = torch.randn(shape).permute(order)
    module.eval()
    manager = to_edge_transform_and_lower(
        torch.export.export(module, (x,)), partitioner=[XnnpackPartitioner()]
    )
    assert "executorch_call_delegate" in calls(manager)
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    torch.testing.assert_close(program.forward((x,))[0], module(x), rtol=1e-4, atol=1e-5)


@needs_runtime
def test_inputs_in_another_order_may_change_size() -> None:
    x = torch.randn(2, 9, 4).transpose(1, 2)
    dynamic = {"x": {2: torch.export.Dim("length", min=1, max=9)}}
    exported = torch.export.export(AlongTheLast(), (x,), dynamic_shapes=dynamic)
    manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    assert "executorch_call_delegate" in calls(manager)
    program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
    for length in (9, 5, 1):
        x = torch.randn(2, length, 4).transpose(1, 2)
        found = program.forward((x,))[0]
        torch.testing.assert_close(found, AlongTheLast()(x), rtol=1e-4, atol=1e-5)


@needs_runtime
@pytest.mark.req("PY-019")
def test_the_backend_is_there() -> None:
    registry = Runtime.get().backend_registry
    assert registry.is_available("XnnpackBackend")
    assert "XnnpackBackend" in registry.registered_backend_names
