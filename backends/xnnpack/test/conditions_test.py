# SPDX-License-Identifier: BSD-3-Clause
"""Every condition of every row: one call that is not delegated for that reason alone, and is exact there. A condition
without a case fails."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim
from torch.fx import Graph, Node
from torch.fx.experimental.symbolic_shapes import (
    DimDynamic,
    ShapeEnv,
    StatelessSymbolicContext,
)
from torch.utils._sympy.value_ranges import ValueRanges

from executorch.backends.test.conformance.conditions import Seen, watched
from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.aot import conditions as c
from executorch.backends.xnnpack.aot import pooling_conditions as w
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

ops, QD = torch.ops.aten, torch.ops.quantized_decomposed
CONV, POOL, POOL3 = (
    "aten.convolution.default",
    "aten.max_pool2d_with_indices.default",
    "aten.max_pool3d_with_indices.default",
)
NORM, GROUPS, BATCH = (
    "aten.native_layer_norm.default",
    "aten.native_group_norm.default",
    "aten._native_batch_norm_legit_no_training.default",
)
QUANTIZE, DEQUANTIZE = (
    "quantized_decomposed.quantize_per_tensor.default",
    "quantized_decomposed.dequantize_per_tensor.default",
)
BILINEAR, NEAREST = "aten.upsample_bilinear2d.vec", "aten.upsample_nearest2d.vec"
AVERAGE, SLICE, SELECT = "aten.avg_pool2d.default", "aten.slice_copy.Tensor", "aten.select_copy.int"
COPY = "dim_order_ops._clone_dim_order.default"


class Call(nn.Module):
    def __init__(self, function: Callable[..., Any], modules: dict[str, nn.Module]) -> None:
        super().__init__()
        self.function = function
        for name, module in modules.items():
            self.add_module(name, module)
        self.table = nn.Parameter(torch.linspace(-1, 1, 24).reshape(2, 3, 4))

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(self, *inputs)


@dataclass(frozen=True)
class Case:
    """`function`: of the module, which has `table` [2, 3, 4], and of inputs of `shapes`; `dynamic`: their dimensions of
    a dynamic size."""

    row: str
    reason: str
    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    dynamic: tuple[tuple[int, ...], ...] = ()
    module: Callable[[], nn.Module] = nn.Identity

    @property
    def name(self) -> str:
        return f"{self.row}: {self.reason}"


def _of(module: Callable[[], nn.Module]) -> dict[str, Any]:
    return {"function": lambda m, *inputs: m.part(*inputs), "module": module}


def _reasons(*conditions: c.Condition) -> list[str]:
    return [each.reason for each in conditions]


ALPHA, GELU, ELU, POWER = (_reasons(*each)[0] for each in (c.ALPHA, c.GELU, c.ELU, c.POWER))
(CLAMP,) = _reasons(*c.CLAMP)
FEW, PIXELS = _reasons(*w._WINDOWS_OF_MAXIMA)
FOUR, STATIC_IMAGE, ONE_ELEMENT = _reasons(*w._window(5))
DTYPE, LAST, SOME, ROWS, SIZES = _reasons(*c.MEAN)
START, END = _reasons(*c.SLICE[1:])
X, BATCHES = (2, 3, 4, 5), ((0,),)
NCDHW = (4, 2, 4, 5, 6)

CASES = [
    Case(CONV, c.WEIGHTS, lambda m, x, y: F.conv2d(x, y), (X, (2, 3, 2, 2))),
    Case(
        CONV,
        c.ONE_DYNAMIC_SIZE,
        shapes=((2, 3, 9),),
        dynamic=((0, 2),),
        **_of(lambda: nn.Conv1d(3, 4, 2)),
    ),
    Case(
        CONV,
        c.CONVOLUTION[4].reason,
        shapes=(X,),
        **_of(lambda: nn.ConvTranspose2d(3, 4, 3, 1, dilation=2, output_padding=1)),
    ),
    Case(CONV, c.STATIC_NCDHW, shapes=(NCDHW,), dynamic=BATCHES, **_of(lambda: nn.Conv3d(2, 4, 2))),
    Case(
        CONV, c.CONVOLUTION[6].reason, shapes=(NCDHW,), **_of(lambda: nn.Conv3d(2, 4, 2, groups=2))
    ),
    Case(
        CONV,
        c.CONVOLUTION[7].reason,
        shapes=(NCDHW,),
        **_of(lambda: nn.ConvTranspose3d(2, 4, 3, 2, 1)),
    ),
    Case(
        CONV,
        c.CONVOLUTION[8].reason,
        shapes=((2, 3, 1, 4),),
        **_of(lambda: nn.ConvTranspose2d(3, 4, 3, 3, 1)),
    ),
    Case(
        BATCH,
        c.BATCH_NORM[0].reason,
        lambda m, x, mean, var: F.batch_norm(x, mean, var.abs()),
        (X, (3,), (3,)),
    ),
    Case("aten.linear.default", c.WEIGHTS, lambda m, x, y: F.linear(x, y), ((4, 5), (3, 5))),
    Case(
        "aten.linear.default",
        c.LINEAR[1].reason,
        lambda m, x: F.linear(x, m.table[0, 0]),
        ((3, 4),),
    ),
    Case(
        "aten.addmm.default",
        c.WEIGHTS,
        lambda m, x, y: torch.addmm(m.table[0, 0], x, y),
        ((2, 3), (3, 4)),
    ),
    Case(
        "aten.addmm.default",
        c.PRODUCT_AND_BIAS[1].reason,
        lambda m, x: torch.addmm(m.table[0, 0, :1], x, m.table[0]),
        ((2, 3),),
    ),
    Case(
        "aten.addmm.default",
        c.PRODUCT_AND_BIAS[2].reason,
        lambda m, x: torch.addmm(m.table[0, 0], x, m.table[0], alpha=2),
        ((2, 3),),
    ),
    Case(
        "aten.addmm.default",
        c.PRODUCT_AND_BIAS[2].reason,
        lambda m, x: torch.addmm(m.table[0, 0], x, m.table[0], beta=2),
        ((2, 3),),
    ),
    Case("aten.mm.default", c.NOT_CONSTANT.reason, lambda m, x: m.table[0] @ x, ((4, 5),)),
    Case(
        "aten.mm.default", c.ONE_DYNAMIC_SIZE, lambda m, x, y: x @ y, ((4, 5), (5, 6)), ((0,), (1,))
    ),
    Case(
        "aten.bmm.default", c.NOT_CONSTANT.reason, lambda m, x: torch.bmm(m.table, x), ((2, 4, 5),)
    ),
    Case("aten.add.Tensor", ALPHA, lambda m, x, y: torch.add(x, y, alpha=2), (X, X)),
    Case("aten.sub.Tensor", ALPHA, lambda m, x, y: torch.sub(x, y, alpha=2), (X, X)),
    Case("aten.gelu.default", GELU, lambda m, x: F.gelu(x * 4, approximate="tanh"), (X,)),
    Case("aten.elu.default", ELU, lambda m, x: ops.elu.default(x, 1.0, 2.0), (X,)),
    Case("aten.elu.default", ELU, lambda m, x: ops.elu.default(x, 1.0, 1.0, 2.0), (X,)),
    Case("aten.hardtanh.default", CLAMP, lambda m, x: F.hardtanh(x, 0.5, 0.5), (X,)),
    Case("aten.clamp.default", CLAMP, lambda m, x: torch.clamp(x, 1.0, -1.0), (X,)),
    Case("aten.pow.Tensor_Scalar", POWER, lambda m, x: x**3, (X,)),
    Case("aten.prelu.default", c.PRELU[0].reason, shapes=((4,),), **_of(nn.PReLU)),
    Case("aten.prelu.default", c.PRELU[1].reason, lambda m, x, y: F.prelu(x, y), (X, (3,))),
    Case("aten._softmax.default", c.SOFTMAX[0].reason, lambda m, x: x.softmax(0), ((4, 5000),)),
    Case("aten.mean.dim", LAST, lambda m, x: x.mean(0), (X,)),
    Case("aten.mean.dim", ROWS, lambda m, x: x.mean(-1), ((2, 9),), ((1,),)),
    Case("aten.mean.dim", SIZES, lambda m, x: x.mean(-1), ((2, 3, 9),), ((0, 1),)),
    Case("aten.sum.dim_IntList", c.SUM[0].reason, lambda m, x: x.sum((2, 3)), (X,)),
    Case("aten.sum.dim_IntList", LAST, lambda m, x: x.sum(0), (X,)),
    Case("aten.sum.dim_IntList", ROWS, lambda m, x: x.sum(-1), ((2, 9),), ((1,),)),
    Case("aten.sum.dim_IntList", SIZES, lambda m, x: x.sum(-1), ((2, 3, 9),), ((0, 1),)),
    Case(
        NORM,
        c.FIRST_OUTPUT.reason,
        lambda m, x: torch.native_layer_norm(x, [5], None, None, 1e-5)[1],
        (X,),
    ),
    Case(NORM, c.WEIGHTS, lambda m, x, y: F.layer_norm(x, (5,), y), (X, (5,))),
    Case(NORM, c.ONE_DYNAMIC_SIZE, lambda m, x: F.layer_norm(x, (5,)), ((2, 3, 5),), ((0, 1),)),
    Case(
        GROUPS,
        c.FIRST_OUTPUT.reason,
        lambda m, x: torch.native_group_norm(x, m.part.weight, m.part.bias, 2, 3, 20, 1, 1e-5)[1],
        (X,),
        module=lambda: nn.GroupNorm(1, 3),
    ),
    Case(GROUPS, c.WEIGHTS, lambda m, x: F.group_norm(x, 1), (X,)),
    Case(GROUPS, c.GROUP_NORM[2].reason, shapes=((2, 8, 4, 5),), **_of(lambda: nn.GroupNorm(2, 8))),
    Case(GROUPS, c.GROUP_NORM[3].reason, shapes=((2, 8),), **_of(lambda: nn.GroupNorm(1, 8))),
    Case(POOL, FOUR, lambda m, x: F.max_pool2d(x, 2), ((3, 4, 5),)),
    Case(POOL, ONE_ELEMENT, lambda m, x: F.max_pool2d(x, 1, 2), (X,)),
    Case(POOL, FEW, lambda m, x: F.max_pool2d(x, 2, 3), (X,)),
    Case(POOL, FEW, lambda m, x: F.max_pool2d(x, (2, 3), (3, 1)), (X,)),
    Case(POOL, FEW, lambda m, x: F.max_pool2d(x, 3, 4), ((1, 2, 9, 9),)),
    Case(POOL, PIXELS, lambda m, x: F.max_pool2d(x, 2, 1, 1, 2), ((1, 2, 1, 6),)),
    Case(POOL3, c.STATIC_NCDHW, lambda m, x: F.max_pool3d(x, 2), (NCDHW,), BATCHES),
    Case(
        POOL3,
        w.MAX_POOL_3D[2].reason,
        lambda m, x: F.max_pool3d(x, 2, ceil_mode=True),
        (NCDHW,),
    ),
    Case(POOL3, FEW, lambda m, x: F.max_pool3d(x, 2, (3, 2, 2)), (NCDHW,)),
    Case(POOL3, PIXELS, lambda m, x: F.max_pool3d(x, 2, 1, 1, 2), ((1, 2, 1, 5, 6),)),
    Case(
        AVERAGE, w.AVERAGE_POOL[0].reason, lambda m, x: F.avg_pool2d(x, 2, divisor_override=3), (X,)
    ),
    Case(AVERAGE, FOUR, lambda m, x: F.avg_pool2d(x, 2), ((3, 4, 5),)),
    Case(AVERAGE, ONE_ELEMENT, lambda m, x: F.avg_pool2d(x, 1, 2), (X,)),
    Case(
        BILINEAR,
        w.RESIZE[0].reason,
        lambda m, x: F.interpolate(x, scale_factor=2.0, mode="bilinear"),
        (X,),
        BATCHES,
    ),
    Case(
        BILINEAR,
        w.RESIZE[1].reason,
        lambda m, x: F.interpolate(x, scale_factor=1.7, mode="bilinear"),
        (X,),
    ),
    Case(
        NEAREST, w.RESIZE[0].reason, lambda m, x: F.interpolate(x, scale_factor=2.0), (X,), BATCHES
    ),
    Case(NEAREST, w.RESIZE[1].reason, lambda m, x: F.interpolate(x, scale_factor=1.7), (X,)),
    Case(NEAREST, w.RESIZE_NEAREST[2].reason, lambda m, x: F.interpolate(x, (7, 10)), (X,)),
    Case(
        "aten.unsqueeze_copy.default",
        c.ONE_DYNAMIC_SIZE,
        lambda m, x: x.unsqueeze(0),
        ((2, 3),),
        ((0, 1),),
    ),
    Case(
        "aten.squeeze_copy.dims",
        c.ONE_DYNAMIC_SIZE,
        lambda m, x: x.squeeze(2),
        ((2, 3, 1),),
        ((0, 1),),
    ),
    Case(SLICE, c.SLICE[0].reason, lambda m, x: x[:, ::2], (X,)),
    Case(SLICE, START, lambda m, x: x[2:], ((9, 3),), BATCHES),
    Case(SLICE, END, lambda m, x: x[-2:], ((9, 3),), BATCHES),
    Case(SELECT, END, lambda m, x: x[-1], ((9, 3),), BATCHES),
    Case(SELECT, c.ONE_DYNAMIC_SIZE, lambda m, x: x[:, :, 1], ((9, 8, 3),), ((0, 1),)),
    Case("aten.expand_copy.default", c.EXPAND[0].reason, lambda m, x: x.expand(2, 3, 4), ((3, 4),)),
    Case("aten.expand_copy.default", c.EXPAND[1].reason, lambda m, x: x.expand(26, 4), ((1, 4),)),
    Case(COPY, c.CLONE[1].reason, lambda m, x: x.clone(memory_format=torch.channels_last), (X,)),
    Case(
        c.CONVERSION,
        c.OTHER_FLOAT[0].reason,
        lambda m, x: x.to(memory_format=torch.channels_last),
        (X,),
    ),
    Case(
        c.CONVERSION,
        c.OTHER_FLOAT[1].reason,
        lambda m, x: x.to(torch.float16, memory_format=torch.channels_last),
        (X,),
    ),
    Case("aten.constant_pad_nd.default", c.PAD[0].reason, lambda m, x: F.pad(x, (-1, 1)), (X,)),
    Case(
        QUANTIZE,
        c.CONVERT[0].reason,
        lambda m, x: QD.quantize_per_tensor(x, 0.05, 3, -127, 127, torch.int8),
        (X,),
    ),
    Case(
        DEQUANTIZE,
        c.CONVERT[0].reason,
        lambda m, x: QD.dequantize_per_tensor(x.to(torch.int8), 0.05, 3, -127, 127, torch.int8),
        (X,),
    ),
]


Sizes = tuple[int | str, ...]
CONSTANT, ITEMS = "constant", "items"


@dataclass(frozen=True)
class ByHand:
    """A call that torch.export or to_edge makes otherwise today, so that no program shows the condition. Sizes by name
    are dynamic. `args`: sizes stand for an input, (CONSTANT, sizes) for data; `val`: sizes, or (ITEMS, sizes...) of
    several results, of which `reads` is read."""

    row: str
    reason: str
    args: tuple[Any, ...]
    val: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()
    reads: int = 0
    dtype: torch.dtype = torch.float32
    result: torch.dtype | None = None
    layout: torch.memory_format = torch.contiguous_format


_THREE = (CONSTANT, (3,))
_IMAGE = ("n", 3, 4, 5)
_STORED = {"dtype": torch.int8, "result": torch.float32}
_WINDOW = ([2, 2], [2, 2], [0, 0])
BY_HAND = [
    ByHand(
        CONV,
        c.CONVOLUTION[1].reason,
        ((3, 4), (CONSTANT, (5, 3)), None, [], [], [], False, [], 1),
        (3, 5),
    ),
    ByHand(
        CONV,
        c.CONVOLUTION[3].reason,
        (X, (CONSTANT, (4, 3, 2, 2)), None, [None, 1], [0, 0], [1, 1], False, [0, 0], 1),
        (2, 4, 3, 4),
    ),
    ByHand(
        BATCH,
        c.FIRST_OUTPUT.reason,
        (X, None, None, _THREE, _THREE, 0.1, 1e-5),
        (ITEMS, X, (3,), (3,)),
        reads=1,
    ),
    ByHand("aten.mean.dim", DTYPE, (X, [3]), X[:3], (("dtype", torch.float32),)),
    ByHand("aten.sum.dim_IntList", DTYPE, (X, [3]), X[:3], (("dtype", torch.float32),)),
    ByHand("aten.mean.dim", SOME, (X, []), ()),
    ByHand("aten.sum.dim_IntList", SOME, (X, []), ()),
    ByHand(
        NORM,
        c.FIXED_ROWS,
        ((3, "s"), ["s"], None, None, 1e-5),
        (ITEMS, (3, "s"), (3, 1), (3, 1)),
    ),
    ByHand(
        GROUPS,
        c.FIXED_ROWS,
        (_IMAGE, _THREE, _THREE, None, 3, 20, 1, 1e-5),
        (ITEMS, _IMAGE, ("n", 1), ("n", 1)),
    ),
    ByHand(
        GROUPS,
        c.GROUP_NORM[4].reason,
        (X, _THREE, _THREE, 2, 3, 20, 1, 1e-5),
        (ITEMS, X, (2, 1), (2, 1)),
        dtype=torch.float16,
    ),
    ByHand(POOL, w.MAX_POOL[0].reason, (X, *_WINDOW), (ITEMS, X, X), reads=1),
    ByHand(POOL3, w.MAX_POOL[0].reason, (NCDHW, *_WINDOW), (ITEMS, NCDHW, NCDHW), reads=1),
    ByHand(
        POOL,
        STATIC_IMAGE,
        ((2, 3, "s", 9), *_WINDOW, [1, 1], True),
        (ITEMS, (2, 3, "t", 5), (2, 3, "t", 5)),
    ),
    ByHand(AVERAGE, STATIC_IMAGE, ((2, 3, "s", 9), *_WINDOW, True), (2, 3, "t", 5)),
    ByHand("aten.cat.default", c.CONCATENATE[0].reason, ([X],), X),
    ByHand("aten.view_copy.default", c.ONE_DYNAMIC_SIZE, (("s", "t", 6), []), ("s", "t", 2, 3)),
    ByHand(SELECT, START, (X, 0, None), X[1:]),
    ByHand(c.CONVERSION, c.OTHER_FLOAT[2].reason, ((CONSTANT, X),), X, result=torch.float16),
    ByHand("aten.clone.default", c.CLONE[0].reason, ((CONSTANT, X),), X),
    ByHand(COPY, c.CLONE[0].reason, ((CONSTANT, X),), X),
    ByHand("aten.clone.default", c.CLONE[1].reason, (X,), X, layout=torch.channels_last),
    ByHand(
        QUANTIZE,
        c.CONVERT[1].reason,
        ((CONSTANT, X), 0.1, 0, -128, 127, torch.int8),
        X,
        result=torch.int8,
    ),
    ByHand(
        DEQUANTIZE,
        c.CONVERT[1].reason,
        ((CONSTANT, X), 0.1, 0, -128, 127, torch.int8),
        X,
        **_STORED,
    ),
]


def lowered(case: Case) -> tuple[nn.Module, tuple[Tensor, ...], Seen, EdgeProgramManager]:
    torch.manual_seed(0)
    module = Call(case.function, {"part": case.module()}).eval()
    inputs = tuple(torch.randn(shape) for shape in case.shapes)
    dims = [
        {
            dim: Dim(f"d{place}_{dim}", min=min(4, inputs[place].shape[dim]), max=12)
            for dim in case.dynamic[place]
        }
        if place < len(case.dynamic)
        else None
        for place in range(len(inputs))
    ]
    shapes = {"inputs": tuple(dims)} if case.dynamic else None
    exported = torch.export.export(module, inputs, dynamic_shapes=shapes)
    partitioner = XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS)
    seen = watched(partitioner)
    return module, inputs, seen, to_edge_transform_and_lower(exported, partitioner=[partitioner])


@needs_runtime
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_call_stays_outside_and_is_exact(case: Case) -> None:
    module, inputs, seen, manager = lowered(case)
    assert seen.reasons[case.row, case.reason], dict(seen.reasons)
    assert not seen.claimed[case.row]
    found = _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward(inputs)
    expected = module(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for output, right in zip(found, expected, strict=True):
        torch.testing.assert_close(output, right, rtol=1e-5, atol=1e-5)


def _operator(name: str) -> Any:
    return functools.reduce(getattr, name.split("."), torch.ops)


class Maker:
    """Values of a call without a program."""

    def __init__(self, case: ByHand) -> None:
        self.case, self.graph, self.constants = case, Graph(), set[Node]()
        self.mode = FakeTensorMode(shape_env=ShapeEnv())

    def tensor(self, sizes: Sizes, dtype: torch.dtype) -> Tensor:
        kinds = [DimDynamic.STATIC if isinstance(s, int) else DimDynamic.DYNAMIC for s in sizes]
        real = torch.empty(
            [s if isinstance(s, int) else 7 + number for number, s in enumerate(sizes)]
        )
        context = StatelessSymbolicContext(dynamic_sizes=kinds)
        fake = self.mode.from_tensor(real.to(dtype), symbolic_context=context)
        ranges = self.mode.shape_env.var_to_range
        ranges.update(dict.fromkeys(ranges, ValueRanges(2, 12)))
        is_image = len(sizes) == 4
        return (
            fake.to(memory_format=self.case.layout)
            if is_image and dtype.is_floating_point
            else fake
        )

    def argument(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.argument(each) for each in value]
        if not isinstance(value, tuple):
            return value
        is_constant = bool(value) and value[0] == CONSTANT
        node = self.graph.placeholder(f"x{len(self.graph.nodes)}")
        sizes = value[1] if is_constant else value
        node.meta["val"] = self.tensor(sizes, self.case.dtype).contiguous()
        if is_constant:
            self.constants.add(node)
        return node

    def call(self) -> Node:
        args = tuple(map(self.argument, self.case.args))
        node = self.graph.call_function(_operator(self.case.row), args, dict(self.case.kwargs))
        dtype = self.case.result or self.case.dtype
        if self.case.val[:1] != (ITEMS,):
            node.meta["val"] = self.tensor(self.case.val, dtype)
            return node
        node.meta["val"] = tuple(self.tensor(sizes, dtype) for sizes in self.case.val[1:])
        item = self.graph.call_function(operator.getitem, (node, self.case.reads))
        item.meta["val"] = node.meta["val"][self.case.reads]
        return node


@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: f"{case.row}: {case.reason}")
def test_a_call_that_no_program_has_stays_outside(case: ByHand) -> None:
    made = Maker(case)
    assert TABLE.why_not(made.call(), made.constants) == case.reason


def test_every_condition_has_a_case() -> None:
    cases = {(case.row, case.reason) for case in (*CASES, *BY_HAND)}
    found = {(name, each.reason) for name, row in TABLE.items() for each in row.conditions}
    assert found - cases == set(), "conditions without a case"
    assert cases - found == set(), "cases of conditions that are no more"
    for row in TABLE.values():
        reasons = [each.reason for each in row.conditions]
        assert len(reasons) == len(set(reasons)), "a reason stands for one condition of a row"


@needs_runtime
@pytest.mark.parametrize(
    ("reason", "function", "shapes"),
    [
        ("found float64", lambda m, x: (x.double() * 3).float(), (X,)),
        ("at most 6 dimensions", lambda m, x: x.reshape(1, 1, 1, 1, 2, 12, 5) * 3, (X,)),
        ("at least one element", lambda m, x: (x[:0] * 3).reshape(0, 60), (X,)),
        ("sizes that data decide", lambda m, x: x.flatten()[m.table.flatten() > 2] * 3, ((24,),)),
    ],
)
def test_tensors_that_no_row_takes(reason: str, function: Any, shapes: Any) -> None:
    case = Case("aten.mul.Tensor", reason, function, shapes)
    module, inputs, recorder, manager = lowered(case)
    reasons = [why for row, why in recorder.reasons if row == case.row]
    assert any(reason in why for why in reasons), reasons
    found = _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward(inputs)
    torch.testing.assert_close(found[0], module(*inputs))


def test_each_tensor_condition_is_tried() -> None:
    assert len(c.OF_TENSORS) == 4
