# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of several calls: where a graph has them, what they name, and what a table makes of them."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import ExportedProgram, export
from torch.fx import Graph, Node

from executorch.backends.xnnpack.aot import steps as xnnpack
from executorch.exir import to_edge
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.op_table import Condition, OpTable, Row, TensorCondition
from executorch.exir.backend.lowering.patterns import HEAD, Call, Found, Value, find
from executorch.exir.backend.lowering.steps import limits_of, nodes_of, sources_of
from executorch.exir.dialects._ops import ops

aten = ops.edge.aten
ADD, MUL, RELU = "aten.add.Tensor", "aten.mul.Tensor", "aten.relu.default"


def _program(function: Callable[..., object], *inputs: Tensor) -> ExportedProgram:
    class Model(torch.nn.Module):
        def forward(self, *args: Tensor) -> object:
            return function(*args)

    return to_edge(export(Model(), inputs or (torch.randn(2, 3),))).exported_program()


def _found(pattern: Call, program: ExportedProgram) -> list[Found]:
    found = (find(pattern, node) for node in program.graph.nodes if node.op == "call_function")
    return [each for each in found if each is not None]


def _names(found: Found) -> list[str]:
    return [node.name.removeprefix("aten_").partition("_")[0] for node in found.calls]


X = Value("x")
_SQUARE = Call(MUL, X, X)
RMS = Call(
    MUL,
    Call(
        MUL,
        X,
        Call("aten.rsqrt.default", Call(ADD, Call("aten.mean.dim", _SQUARE, (-1,), True), None)),
        commutes=True,
    ),
    Value("weight"),
    commutes=True,
)


def _rms(x: Tensor, weight: Tensor, swapped: bool = False) -> Tensor:
    scale = torch.rsqrt((x * x).mean([-1], keepdim=True) + 1e-5)
    return weight * (scale * x) if swapped else (x * scale) * weight


@pytest.mark.parametrize("swapped", [False, True])
def test_a_tree_is_found_whichever_way_round_its_operands_are(swapped: bool) -> None:
    inputs = (torch.randn(2, 3), torch.randn(3))
    (found,) = _found(RMS, _program(lambda x, w: _rms(x, w, swapped), *inputs))
    assert _names(found) == ["mul", "mean", "add", "rsqrt", "mul", "mul"]
    assert [found.named[name].name for name in ("x", "weight")] == ["args_0", "args_1"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: _rms(x, w) * torch.rsqrt((x * w).mean([-1], keepdim=True) + 1),
        lambda x, w: (x * torch.rsqrt((x * x).mean([0], keepdim=True) + 1)) * w,
        lambda x, w: (x * torch.rsqrt((x * w).mean([-1], keepdim=True) + 1)) * w,
    ],
    ids=["another call", "other numbers", "another value under the same name"],
)
def test_what_differs_is_not_found(function: Callable[..., Tensor]) -> None:
    found = _found(RMS, _program(function, torch.randn(2, 3), torch.randn(3)))
    assert len(found) == (1 if "_rms" in function.__code__.co_names else 0)


def test_what_others_read_is_no_part_of_a_pattern() -> None:
    pattern = Call(RELU, Call(ADD, None, None))
    program = _program(lambda x: (torch.relu(x + x), torch.relu(y := x + 1), y))
    assert [_names(each) for each in _found(pattern, program)] == [["add", "relu"]]
    shared = Call(RELU, Call(ADD, None, None, name="sum", shared=True))
    kept, read_twice = _found(shared, program)
    assert _names(kept) == _names(read_twice) == ["relu"]
    assert read_twice.named["sum"].name == "aten_add_tensor_1"


def test_items_of_lists_are_matched_one_by_one() -> None:
    pattern = Call("aten.cat.default", (X, Call(RELU, X)), -1)
    program = _program(
        lambda x: (
            torch.cat([x, x.relu()], -1),
            torch.cat([x, x.relu(), x], -1),
            torch.cat([x, x.relu()]),
        )
    )
    assert len(_found(pattern, program)) == 1


NORM = "aten._native_batch_norm_legit_no_training.default"
_TAIL = Call(RELU, Call(NORM, HEAD, name="norm", optional=True), name="relu", optional=True)


class Norms(torch.nn.Module):
    def __init__(self, kinds: str) -> None:
        super().__init__()
        made = {"c": torch.nn.Conv2d(3, 3, 1), "n": torch.nn.BatchNorm2d(3), "r": torch.nn.ReLU()}
        self.layers = torch.nn.Sequential(*(made[each] for each in kinds))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


@pytest.mark.parametrize(
    ("kinds", "steps"),
    [
        ("c", ["c"]),
        ("cn", ["cn"]),
        ("cr", ["cr"]),
        ("cnr", ["cnr"]),
        ("crn", ["cr", "n"]),
        ("cnrr", ["cnr", "r"]),
        ("ncr", ["n", "cr"]),
        ("rc", ["r", "c"]),
    ],
)
def test_a_tail_runs_with_its_call_as_far_as_it_goes(kinds: str, steps: list[str]) -> None:
    table = OpTable({"aten.convolution.default": Row(print, tail=_TAIL)})
    model = Norms(kinds).eval()
    program = to_edge(export(model, (torch.randn(1, 3, 4, 4),))).exported_program()
    letters = {"convolution": "c", "": "n", "relu": "r", "getitem": ""}
    found = [
        "".join(
            letters[node.name.removeprefix("aten_").partition("_")[0]] for node in nodes_of(step)
        )
        for step in table.steps(program.graph, Constants(program))
    ]
    assert found == steps
    (step,) = (each for each in table.steps(program.graph, {}) if "convolution" in each.head.name)
    (text,) = (each for each in steps if "c" in each)
    names = {"n": "norm", "r": "relu"}
    assert {*step.named} == {"head", *(names[letter] for letter in text if letter in names)}


def test_patterns_choose_before_single_calls_and_earlier_ones_first() -> None:
    sum_of_products = Call(ADD, Call(MUL, X, None), None)
    table = OpTable(
        {
            Call(RELU, sum_of_products): Row(
                print, (Condition(lambda step, constants: len(step.calls) == 3, "three calls"),)
            ),
            sum_of_products: Row(print, (Condition(lambda step, constants: False, "never"),)),
            ADD: Row(print),
        },
        of_tensors=(TensorCondition(lambda tensor, call: "val" in tensor.meta, "a value"),),
    )
    program = _program(lambda x: (torch.relu(x * x + x), x * x + x))
    steps = table.steps(program.graph, Constants(program))
    assert [len(nodes_of(step)) for step in steps] == [3, 1, 1]
    whole = steps[0]
    assert table.row_of(whole) is not table.row_of(steps[2]) and not table.step_why_not(whole, {})
    assert [node.name for node in sources_of(whole)] == ["args_0"]
    assert list(table) == [ADD]
    (refused,) = (find(sum_of_products, node) for node in [steps[2].result])
    assert refused is not None  # it is there, but its row does not take it


# ---- Limits, which are the patterns of rows' tails ----


def _limiting(op: Any, *args: Any, **kwargs: Any) -> Node:
    graph = Graph()
    return graph.call_function(op, (graph.placeholder("x"), *args), kwargs)


@pytest.mark.parametrize(
    "node, limits",
    [
        (_limiting(aten.relu.default), (0.0, inf)),
        (_limiting(aten.hardtanh.default), (-1.0, 1.0)),
        (_limiting(aten.hardtanh.default, 0, 6), (0.0, 6.0)),
        (_limiting(aten.hardtanh.default, max_val=3.0), (-1.0, 3.0)),
        (_limiting(aten.clamp.default, None, 6), (-inf, 6.0)),
        (_limiting(aten.clamp.default, -2), (-2.0, inf)),
        (_limiting(aten.clamp.default, max=4.0), (-inf, 4.0)),
        (_limiting(aten.clamp.default, 2.0, 1.0), None),
        (_limiting(aten.clamp.default, nan, 1.0), None),
        (_limiting(aten.clamp.default, torch.tensor(0.0)), None),
        (_limiting(aten.sigmoid.default), None),
    ],
    ids=str,
)
def test_limits(node: Node, limits: tuple[float, float] | None) -> None:
    assert limits_of(node) == limits == xnnpack.limits_of(node)


def test_xnnpack_takes_no_range_of_one_number() -> None:
    node = _limiting(aten.clamp.default, 1.0, 1.0)
    assert limits_of(node) == (1.0, 1.0) and xnnpack.limits_of(node) is None


def test_patterns_print_as_one_reads_them() -> None:
    """Without addresses of functions: pages have them."""
    sums = Call(ADD, Value("x"), (Call(RELU, Value("y"), where=bool), 1))
    assert str(sums) == f"{ADD}(x, [{RELU}(y), 1])"
