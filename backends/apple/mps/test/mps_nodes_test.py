# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes a call is, the fewest that say it, and what their fields hold."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from executorch.backends.apple.mps.test.mps_lowering_test import kinds, lowered, nodes, payloads
from executorch.backends.test.corpus.row import numbers

pytestmark = pytest.mark.filterwarnings("ignore:The MPS:FutureWarning")
X, ROW, MATRIX, IMAGE = numbers(4, 5, 6), numbers(1, 3, 6), numbers(5, 6), numbers(1, 3, 8, 8)
nn = torch.nn
SPREAD = ["View", "ConstantPadND"]


def of(channels: int) -> torch.Tensor:
    return torch.ones(1, channels, 5, 5)


NODES: dict[str, tuple[Any, torch.Tensor, list[str]]] = {
    "convolution of one channel": (nn.Conv2d(1, 2, 2), of(1), ["Conv2D"]),
    "per channel": (nn.Conv2d(3, 6, 2, groups=3), of(3), ["DepthwiseConv2D"]),
    "by groups": (nn.Conv2d(4, 4, 2, groups=2), of(4), ["Conv2D"]),
    "of rows": (nn.Conv1d(3, 6, 2, groups=3), ROW, ["Conv2D"]),
    "transposed": (nn.ConvTranspose2d(3, 2, 2), of(3), ["Conv2D"]),
    "transposed, strides": (nn.ConvTranspose2d(3, 2, 2, stride=2), of(3), [*SPREAD, *SPREAD, "View", "Conv2D"]),
    "transposed, stride of rows": (nn.ConvTranspose2d(3, 2, 2, stride=(2, 1)), of(3), [*SPREAD, "View", "Conv2D"]),
    "transposed, stride of columns": (nn.ConvTranspose2d(3, 2, 2, stride=(1, 2)), of(3), [*SPREAD, "View", "Conv2D"]),
    "transposed, cropped": (nn.ConvTranspose2d(3, 2, 1, padding=(1, 0)), of(3), ["Slice", "Conv2D"]),
    "linear": (nn.Linear(6, 3), MATRIX, ["Permute", "Addmm"]),
    "linear without bias": (nn.Linear(6, 3, bias=False), MATRIX, ["Permute", "MatMul"]),
    "linear of several": (nn.Linear(6, 3), X, ["View", "Permute", "Addmm", "View"]),
    "linear of several without bias": (nn.Linear(6, 3, bias=False), X, ["Permute", "View", "MatMul", "View"]),
    "average": (nn.AvgPool2d(3, 2, 1), IMAGE, ["AvgPool2D"]),
    "average that reaches behind": (nn.AvgPool2d(3, 2, 0, True), IMAGE, ["AvgPool2D"]),
    "average that reaches behind padding": (nn.AvgPool2d(3, 3, 1, True), of(3), ["AvgPool2D"]),
    "average that reaches behind counted padding": (nn.AvgPool2d(3, 2, 1, True), IMAGE, ["ConstantPadND", "AvgPool2D"]),
    "expanded": (lambda x: x.sign().expand(7, 1, 5, 6), X[:1, None], ["Sign", "Expand"]),
    "expanded with dimensions": (lambda x: x.sign().expand(2, 4, 5, 6), X, ["Sign", "View", "Expand"]),
    "put": (lambda x: torch.index_put(x, (ROWS,), x[:2] + 1), X, ["Slice", "Add", "IndexPut"]),
    "put in all": (lambda x: torch.index_put(x, (ROWS,), x[0, 0] + 1), X,
                   ["Select", "Select", "Add", "View", "Expand", "IndexPut"]),
    "to bool": (lambda x: x.to(torch.bool), X, ["Ne"]),
    "to half and back": (lambda x: x.half().float() + 1, X, ["Cast", "Cast", "Add"]),
    "shared cast": (lambda i: (i + 0.5, i * 0.5), X.int(), ["Cast", "Add", "Mul"]),
    "remainder of truncated division": (lambda x: torch.fmod(x, 2), X.half(), ["Cast", "Cast", "Fmod", "Cast"]),
    "square root of halves": (torch.sqrt, X.half(), ["Sqrt"]),
}  # fmt: skip
ROWS = torch.tensor([0, 1])


def test_a_call_is_the_fewest_nodes() -> None:
    for name, (code, x, expected) in NODES.items():
        (payload,) = payloads(lowered(code, x))
        assert kinds(payload) == expected, name


def test_halves_outside_are_not_cast() -> None:
    """Float32 alone is, with use_fp16: an input at the first, a result at the last."""
    for x, expected in ((X.half(), ["ReLU"]), (X, ["Cast", "ReLU", "Cast"])):
        (payload,) = payloads(lowered(torch.relu, x, use_fp16=True))
        assert kinds(payload) == expected, x.dtype


POOLING = ("kernel_height", "kernel_width", "stride_height", "padding_top", "padding_left", "padding_bottom",
           "padding_right", "dilation_height", "ceil_mode", "count_include_pad", "divisor_override")  # fmt: skip
FIELDS: dict[str, tuple[Any, torch.Tensor, dict[str, Any]]] = {
    name: (code, x, dict(zip(POOLING, values, strict=True)))
    for name, code, x, values in (
        ("average", nn.AvgPool2d((3, 2), 2, (1, 0)), IMAGE, (3, 2, 2, 1, 0, 1, 0, 1, False, True, 0)),
        # 8 + 2 is (4 - 1) * 2 + 4, so that rounding up changes nothing.
        ("average rounded up", nn.AvgPool2d(4, 2, 1, True), IMAGE, (4, 4, 2, 1, 1, 1, 1, 1, True, True, 0)),
        # Five windows are 4 * 2 + 3 = 11, one more than there is.
        ("average that reaches behind", nn.AvgPool2d(3, 2, 1, True, False), IMAGE,
         (3, 3, 2, 1, 1, 2, 2, 1, False, False, 0)),
        ("divided by a number", nn.AvgPool2d(3, 2, 1, True, divisor_override=5), IMAGE,
         (3, 3, 2, 1, 1, 2, 2, 1, False, True, 5)),
        # One window of all: no larger than the image with its padding, 8 + 2 * 3.
        ("average of all", nn.AvgPool2d(1280, ceil_mode=True), IMAGE, (8, 8, 1280, 0, 0, 0, 0, 1, True, True, 0)),
        ("average of all with padding", nn.AvgPool2d(20, padding=3, ceil_mode=True), IMAGE,
         (14, 14, 20, 3, 3, 3, 3, 1, True, True, 0)),
        ("largest", nn.MaxPool2d(2, ceil_mode=True), IMAGE[..., :7, :], (2, 2, 2, 0, 0, 1, 0, 1, False, True, 0)),
        ("largest of gaps", lambda x: F.max_pool2d(x, 2, 1, 1, 3), IMAGE, (2, 2, 1, 1, 1, 1, 1, 3, False, True, 0)),
    )
} | {
    "softmax": (lambda x: x.softmax(1), X, {"dim": 1, "half_to_float": False}),
    "convolution": (
        nn.Conv2d(3, 6, 3, (1, 2), (3, 4), (5, 1), groups=3), numbers(1, 3, 16, 8),
        {"stride_y": 1, "stride_x": 2, "padding_top": 3, "padding_bottom": 3, "padding_left": 4, "padding_right": 4,
         "dilation_y": 5, "dilation_x": 1, "groups": 3},
    ),
    "convolution of rows": (
        nn.Conv1d(3, 6, 3, 2, 4, 1), ROW,
        {"stride_y": 1, "stride_x": 2, "padding_top": 0, "padding_left": 4, "padding_right": 4, "dilation_y": 1},
    ),
    "batch norm": (nn.BatchNorm2d(3, 0.25).eval(), IMAGE, {"epsilon": 0.25, "momentum": pytest.approx(0.1)}),
    "layer norm": (nn.LayerNorm(6, 0.25), X, {"eps": 0.25, "normalized_shape": [6]}),
    "mean of all": (lambda x: torch.ops.aten.mean.dim(x, []), X,
                    {"dims": [0, 1, 2], "num_dims": 3, "keep_dims": False}),
    "slice": (lambda x: x[:, -3:9:2], X, {"dim": 1, "start": 2, "end": 5, "step": 2}),
    "select": (lambda x: x[..., -2], X, {"dim": 2, "index": -2}),
}  # fmt: skip


def test_fields_of_nodes() -> None:
    for name, (code, x, expected) in FIELDS.items():
        (payload,) = payloads(lowered(code, x))
        node = nodes(payload)[0]
        assert {field: getattr(node, field) for field in expected} == expected, name
