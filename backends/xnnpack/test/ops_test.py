# SPDX-License-Identifier: BSD-3-Clause
"""Every row of the table of ops: the call is delegated whole, and the delegate computes what eager does."""

from __future__ import annotations

from copy import deepcopy
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

from executorch.backends.test.corpus import rows
from executorch.backends.test.corpus.convolutions import conv1d_bn
from executorch.backends.test.corpus.row import Function
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

ROWS = {row.name: row for row in rows() if row.family in ("convolutions", "calls")}
NAMES = list(ROWS)
# But for functions that hold float constants of their own, and for what PyTorch decomposes into steps in float.
FLOATS = ["addmm_relu", "mm", "conv_scale", "silu", "hardsigmoid"]
HALF_NAMES = [name for name in NAMES if name not in FLOATS and "group_norm" not in name]


@cache
def case(
    name: str, dtype: torch.dtype = torch.float32
) -> tuple[nn.Module, tuple[torch.Tensor, ...], EdgeProgramManager]:
    module = ROWS[name].module().to(dtype)
    inputs = tuple(each.to(dtype) for each in ROWS[name].inputs)
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
    mean = Function(lambda a: a.mean((2, 3)))
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
    return nn.Sequential(conv1d_bn(8, 6, 3, padding=1), Function(lambda a: a.mean(-1)))


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
