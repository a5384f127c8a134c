# SPDX-License-Identifier: BSD-3-Clause
"""What the partitioner claims never makes preprocess fail: graphs of views, copies and a little arithmetic, of which
outputs are inputs, constants, given twice or equal after rewriting, and of which results nobody may read."""

from __future__ import annotations

from random import Random

import pytest
import torch
from torch import Tensor, nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.backends.xnnpack.xnnpack_preprocess import XnnpackBackend
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.backend.backend_api import to_backend
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

SIZES = ((2, 3, 4), (2, 12), (1, 2, 3, 4), (24,), (2, 4, 3), (1, 4, 2, 3))
Values = tuple[Tensor, ...]


class Drawn(nn.Module):
    """Steps and outputs by number: of the inputs, then the data, then the steps."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        r = Random(seed)
        self.register_buffer("table", torch.linspace(-1, 1, 24).reshape(r.choice(SIZES)))
        self.weight = nn.Parameter(torch.linspace(1, 2, 24).reshape(2, 3, 4))
        count = r.randrange(1, 9)
        self.steps = [
            (r.choice(STEPS), r.random(), r.random(), r.choice(SIZES)) for _ in range(count)
        ]
        self.given = [r.random() for _ in range(r.randrange(1, 6))]
        self.ends = r.choice((False, False, True))

    def forward(self, x: Tensor, y: Tensor) -> Values:
        values = [x, y, self.table, self.weight]
        for step, first, second, sizes in self.steps:
            a, b = (values[int(place * len(values))] for place in (first, second))
            values.append(step(a, b, sizes))
        outputs = [values[int(place * len(values))] for place in self.given]
        if self.ends:  # a view of one, back in its own sizes
            outputs += [outputs[0].reshape(24), outputs[0].reshape(24).reshape(outputs[0].shape)]
        return tuple(outputs)


def added(a: Tensor, b: Tensor, sizes: tuple[int, ...]) -> Tensor:
    return a + b.reshape(a.shape)


def turned(a: Tensor, b: Tensor, sizes: tuple[int, ...]) -> Tensor:
    return a.mT if a.dim() > 1 else a


def last(a: Tensor, b: Tensor, sizes: tuple[int, ...]) -> Tensor:
    if a.dim() != 4:
        return a.clone()
    return a.clone(memory_format=torch.channels_last)


STEPS = (
    lambda a, b, sizes: a.reshape(sizes),
    lambda a, b, sizes: a.clone().reshape(sizes),
    lambda a, b, sizes: torch.relu(a),
    lambda a, b, sizes: a * 2.0,
    lambda a, b, sizes: a.unsqueeze(0).squeeze(0),
    lambda a, b, sizes: torch.cat([a, b.reshape(a.shape)], 0)[: a.shape[0]],
    lambda a, b, sizes: torch.softmax(a, -1),
    lambda a, b, sizes: torch.bmm(a.reshape(2, 3, 4), b.reshape(2, 4, 3)).reshape(-1)[:6].repeat(4),
    added,
    added,
    turned,
    last,
)
INPUTS = (torch.linspace(-2, 2, 24).reshape(2, 3, 4), torch.linspace(3, -1, 24).reshape(2, 12))


def check(module: nn.Module, inputs: Values = INPUTS) -> None:
    exported = torch.export.export(module.eval(), inputs)
    for options in ({}, {"configs": ALL_PARTITIONER_CONFIGS}, {"per_op_mode": True}):
        manager = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner(**options)])
        program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
        for _ in range(2):
            found = program.forward(inputs)
            for output, expected in zip(found, module(*inputs), strict=True):
                torch.testing.assert_close(output, expected, rtol=1e-5, atol=1e-5)


class Returned(nn.Module):
    def __init__(self, function: object) -> None:
        super().__init__()
        self.function = function
        self.register_buffer("table", torch.arange(24.0).reshape(2, 3, 4))

    def forward(self, *inputs: Tensor) -> Values:
        return self.function(self, *inputs)


def views_back(module: nn.Module, x: Tensor, y: Tensor) -> Values:
    a = x.view(2, -1)
    return a, a * 2, a.view(x.shape)


def twice(module: nn.Module, x: Tensor, y: Tensor) -> Values:
    a = torch.relu(x)
    return a, a, x, x + 1, module.table, y


def copies_of_one(module: nn.Module, x: Tensor, y: Tensor) -> Values:
    a = x.neg()
    return a.clone(), a.clone(), a, a.view(24), module.table.clone()


def unread(module: nn.Module, x: Tensor, y: Tensor) -> Values:
    torch.softmax(y, -1)
    a, _ = torch.max_pool2d(x, 2).split(1)
    return (a * 2,)


@needs_runtime
@pytest.mark.parametrize("function", [views_back, twice, copies_of_one, unread])
def test_outputs_that_are_equal_or_inputs(function: object) -> None:
    check(Returned(function))


@needs_runtime
@pytest.mark.parametrize("seed", range(12))
def test_drawn_graphs(seed: int) -> None:
    check(Drawn(seed))


@needs_runtime
@pytest.mark.full
@pytest.mark.parametrize("first", range(100, 400, 20))
def test_many_more_drawn_graphs(first: int) -> None:
    for seed in range(first, first + 20):
        try:
            check(Drawn(seed))
        except Exception as reason:
            raise AssertionError(f"Drawn({seed}): {reason}") from reason


@needs_runtime
def test_a_whole_program_may_return_its_inputs_and_data() -> None:
    """Without a partitioner, preprocess gets what was exported."""

    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.linspace(1, 2, 24).reshape(2, 3, 4))

        def forward(self, x: Tensor) -> Values:
            a = x + self.weight
            return a, x, a, self.weight, x

    x = INPUTS[0]
    edge = to_edge(torch.export.export(Whole(), (x,))).exported_program()
    lowered = to_backend(XnnpackBackend.__name__, edge, [])
    program = to_edge(torch.export.export(lowered, (x,))).to_executorch()
    found = _load_for_executorch_from_buffer(program.buffer).forward((x,))
    for output, expected in zip(found, Whole()(x), strict=True):
        torch.testing.assert_close(output, expected)


def test_a_whole_program_of_other_types_is_refused_by_name() -> None:
    class Whole(nn.Module):
        def forward(self, x: Tensor, place: Tensor) -> Values:
            return x + 1, place

    inputs = (INPUTS[0], torch.arange(3))
    edge = to_edge(torch.export.export(Whole(), inputs)).exported_program()
    with pytest.raises(RuntimeError, match=r"input place is int64 \[3\]"):
        to_backend(XnnpackBackend.__name__, edge, [])
