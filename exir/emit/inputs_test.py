# SPDX-License-Identifier: BSD-3-Clause
"""Sizes that inputs may have, and inputs that the model changes: written by the emitter, kept by the runtime; beside
eager PyTorch and the guards of torch.export."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim, ExportedProgram, export

from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.emit._input_dimensions import InputDimension
from executorch.exir.passes import MemoryPlanningPass
from executorch.extension.pybindings.portable_lib import _load_program_from_buffer


class Call(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def exported(function: Callable[..., Any], sizes: list[tuple[int, ...]], dims: Any) -> Any:
    return export(Call(function), tuple(torch.ones(size) for size in sizes), dynamic_shapes=(dims,))


B = Dim("b", max=8)
K = Dim("k", min=3, max=6)
# Function, example sizes, dynamic dimensions, sizes to try for each dimension.
PROGRAMS = {
    "own range": (
        lambda x: x.sum(1) / x.shape[1],
        [(4, 3)],
        ({0: B},),
        list(itertools.product([0, 1, 4, 8, 9], [2, 3, 6])),
    ),
    "minimum": (lambda x: x + 1, [(4,)], ({0: K},), [(n,) for n in range(8)]),
    "multiple of a small one": (
        lambda x: x * 2,
        [(9,)],
        ({0: 3 * Dim("small", min=2, max=6)},),
        [(n,) for n in range(10)],
    ),
    "shared": (
        lambda x, y: x.sum() + y,
        [(4,), (4,)],
        ({0: B}, {0: B}),
        list(itertools.product([3, 4, 9], [3, 4])),
    ),
    "multiple": (lambda x: x * 2, [(8,)], ({0: 2 * K},), [(n,) for n in range(4, 15)]),
    "multiple of another": (
        lambda x, y: torch.cat([x, x]) + y,
        [(4,), (8,)],
        ({0: B}, {0: 2 * B}),
        list(itertools.product([2, 3], [4, 5, 6])),
    ),
}


def accepts(run: Callable[..., Any], inputs: list[torch.Tensor]) -> torch.Tensor | None:
    try:
        result = run(*inputs)
    except (AssertionError, RuntimeError):
        return None
    return result


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("planned", [True, False])
def test_sizes_are_taken_as_torch_export_takes_them(name: str, planned: bool) -> None:
    function, examples, dims, tries = PROGRAMS[name]
    program = exported(function, examples, dims)
    planning = MemoryPlanningPass(alloc_graph_input=planned)
    lowered = to_edge(program).to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning))
    method = _load_program_from_buffer(lowered.buffer).load_method("forward")
    eager = program.module()
    taken = 0
    for numbers in tries:
        rest = iter(numbers)
        inputs = [torch.rand([next(rest) for _ in example]) for example in examples]
        expected = accepts(eager, inputs)
        found = accepts(lambda *args: method.call(args)[0], inputs)
        assert (found is None) == (expected is None), numbers
        if expected is not None:
            torch.testing.assert_close(found, expected)
            taken += 1
    assert 0 < taken < len(tries)


def rows_of(program: ExportedProgram) -> list[InputDimension] | None:
    (plan,) = to_edge(program).to_executorch().executorch_program.execution_plan
    numbers = plan.input_dimensions
    return numbers and [InputDimension(*numbers[i : i + 6]) for i in range(0, len(numbers), 6)]


def test_rows_say_range_and_relation() -> None:
    rows = rows_of(
        exported(lambda x, y: torch.cat([x, x]) + y, [(4, 2), (8, 2)], ({0: K}, {0: 2 * K}))
    )
    assert rows == [InputDimension(0, 0, min=3), InputDimension(1, 0, min=6, scale=2, same_n_as=0)]
    rows = rows_of(
        exported(
            lambda x, y: x.flatten() + y,
            [(4, 5), (20,)],
            ({0: Dim("r", max=8), 1: Dim("c", max=9)}, {0: Dim.DYNAMIC}),
        )
    )
    # A product is bounded, from below by what torch.export's guards ask for, and no more is said.
    assert rows == [InputDimension(0, 0), InputDimension(0, 1), InputDimension(1, 0, min=4)]
    assert rows_of(exported(lambda x: x + 1, [(4,)], (None,))) is None


@pytest.mark.parametrize(
    "dim, least",
    [
        (Dim("n", min=1, max=9), 1),
        (Dim("n", max=9), 0),
        (Dim.AUTO(max=9), 0),
        (Dim("n", min=5, max=9), 5),
    ],
    ids=str,
)
def test_the_least_size_is_the_one_that_was_asked_for(dim: Any, least: int) -> None:
    rows = rows_of(exported(lambda x: x + 1, [(8,)], ({0: dim},)))
    assert rows == [InputDimension(0, 0, min=least)]


def add_and_double(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x * 2


def change_two(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> Any:
    z.mul_(3)
    x.add_(z)
    return x * 2, y - z


def only_change(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    y[:2] = x[:2]
    return x + 1


CHANGED = {add_and_double: [0], change_two: [0, 2], only_change: [1]}


@pytest.mark.parametrize("function", CHANGED)
@pytest.mark.parametrize("planned", [True, False])
def test_changed_inputs_are_the_first_outputs(function: Callable[..., Any], planned: bool) -> None:
    """As upstream gives them. Where planning leaves inputs to the caller, its tensor changes as in eager."""
    count = function.__code__.co_argcount

    def make() -> tuple[torch.Tensor, ...]:
        return tuple(torch.arange(3.0) + i for i in range(count))

    program = export(Call(function), make())
    planning = MemoryPlanningPass(alloc_graph_input=planned)
    with pytest.warns(UserWarning, match="method forward changes its inputs"):
        lowered = to_edge(program).to_executorch(
            ExecutorchBackendConfig(memory_planning_pass=planning)
        )
        buffer = lowered.buffer
    method = _load_program_from_buffer(buffer).load_method("forward")
    ours, eager = make(), make()
    for _ in range(2):
        results = function(*eager)
        results = results if isinstance(results, tuple) else (results,)
        expected = [eager[i] for i in CHANGED[function]] + list(results)
        torch.testing.assert_close(method.call(ours), expected)
        if not planned:
            torch.testing.assert_close(ours, eager)
        else:
            torch.testing.assert_close(ours, make())
            eager = make()
