# SPDX-License-Identifier: BSD-3-Clause
"""Names of inputs and outputs, and least sizes of outputs, that the emitter writes."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch.export import Dim, export

from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.error import ExportError
from executorch.exir.schema import ExecutionPlan


@dataclass
class Found:
    scores: torch.Tensor
    boxes: list[torch.Tensor]


torch.export.register_dataclass(Found)
Pair = namedtuple("Pair", "first second")


class Named(torch.nn.Module):
    def forward(self, image: torch.Tensor, state: dict[str, Any], *, mask: torch.Tensor) -> Any:
        return {"sum": image + state["hidden"], "pair": Pair(mask + 1, state["boxes"][0] * 2)}


class Call(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


def plan_of(
    module: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    dynamic_shapes: Any = None,
) -> ExecutionPlan:
    program = export(module, args, kwargs, dynamic_shapes=dynamic_shapes)
    (plan,) = to_edge(program).to_executorch().executorch_program.execution_plan
    return plan


def test_names_are_those_of_the_signature_and_of_nested_values() -> None:
    one = torch.ones(2)
    state = {"hidden": one, "boxes": [one]}
    plan = plan_of(Named(), (one, state), {"mask": one})
    assert plan.input_names == ["image", "state.hidden", "state.boxes.0", "mask"]
    assert plan.output_names == ["sum", "pair.first", "pair.second"]
    assert plan.output_dimensions is None


RETURNED = {
    "one tensor": (lambda x: x + 1, [""]),
    "a tuple": (lambda x: (x + 1, x + 2), ["", ""]),
    "a list in a tuple": (lambda x: (x + 1, [x + 2]), ["", ""]),
    "a dict": (lambda x: {"b": x + 1, "a": x + 2}, ["b", "a"]),
    "a dict in a tuple": (lambda x: ({"b": x + 1}, x + 2), ["0.b", ""]),
    "a key of two lines": (lambda x: {"a\nb": x + 1}, ["a b"]),
    "keys that are numbers": (lambda x: {7: x + 1}, ["7"]),
    "a named tuple": (lambda x: Pair(x + 1, x + 2), ["first", "second"]),
    "a dataclass": (lambda x: Found(x + 1, [x + 2, x + 3]), ["scores", "boxes.0", "boxes.1"]),
    "a number among tensors": (lambda x: {"b": x + 1, "n": 3}, ["b", "n"]),
}


@pytest.mark.parametrize("name", RETURNED)
def test_outputs_are_named_as_far_as_containers_name_them(name: str) -> None:
    function, expected = RETURNED[name]
    plan = plan_of(Call(function), (torch.ones(2),))
    assert plan.output_names == expected
    assert len(plan.outputs) == len(expected)
    if not any(expected):
        assert plan.output_name_lines is None


def test_least_sizes_of_outputs_that_vary() -> None:
    batch, length = Dim("batch", max=8), Dim("length", min=4, max=16)
    plan = plan_of(
        Call(lambda x: {"rows": x.sum(1), "pairs": torch.cat([x, x], 1), "whole": x.sum()}),
        (torch.ones(3, 5),),
        dynamic_shapes=({0: batch, 1: length},),
    )
    # torch.export's guards take batches of 0 and 1 where its own least is 2; 2 * 4 is arithmetic.
    assert plan.output_dimensions == [0, 0, 0, 1, 0, 0, 1, 1, 8]


def test_a_changed_input_is_an_output_of_its_name() -> None:
    def change(x: torch.Tensor) -> Any:
        x.add_(1)
        return {"double": x * 2}

    with pytest.warns(UserWarning, match="changes its inputs x"):
        plan = plan_of(Call(change), (torch.ones(2),))
    assert plan.output_names == ["x", "double"]


class Everything(torch.nn.Module):
    def forward(self, *parts: torch.Tensor, **more: torch.Tensor) -> torch.Tensor:
        return parts[0] + parts[1] + more["late"]


def test_arguments_without_names_of_their_own_are_counted() -> None:
    one = torch.ones(2)
    assert plan_of(Everything(), (one, one), {"late": one}).input_names == [
        "parts_0",
        "parts_1",
        "late",
    ]


def test_names_that_are_python_builtins_stay() -> None:
    class Builtin(torch.nn.Module):
        def forward(self, input: torch.Tensor, type: torch.Tensor) -> torch.Tensor:
            return input + type

    one = torch.ones(2)
    assert plan_of(Builtin(), (one, one)).input_names == ["input", "type"]


def test_a_container_without_keys_counts_its_items() -> None:
    class Box:
        def __init__(self, items: tuple[torch.Tensor, ...]) -> None:
            if not all(isinstance(item, torch.Tensor) for item in items):
                raise TypeError("tensors alone")
            self.items = items

    torch.utils._pytree.register_pytree_node(
        Box, lambda box: (list(box.items), None), lambda items, _: Box(tuple(items))
    )
    plan = plan_of(Call(lambda x: {"box": Box((x + 1, x + 2))}), (torch.ones(2),))
    assert plan.output_names == ["box.0", "box.1"]


def test_text_of_the_user() -> None:
    program = export(Call(lambda x: x + 1), (torch.ones(2),))

    def lowered(entries: Any) -> Any:
        config = ExecutorchBackendConfig(user_metadata=entries)
        return to_edge(program).to_executorch(config).executorch_program.user_metadata

    assert json.loads(lowered({"labels": ["cat", "Ä"], "size": 3})) == {
        "labels": ["cat", "Ä"],
        "size": 3,
    }
    assert lowered({}) is None
    with pytest.raises(
        ExportError, match="user_metadata: expected texts, numbers, lists and dicts"
    ):
        lowered({"size": torch.ones(1)})


def test_constant_methods_say_nothing() -> None:
    program = export(Call(lambda x: x + 1), (torch.ones(2),))
    lowered = to_edge(program, constant_methods={"get_size": 3}).to_executorch()
    plans = {plan.name: plan for plan in lowered.executorch_program.execution_plan}
    assert plans["get_size"].output_name_lines is None
    assert plans["forward"].input_name_lines == "x"
