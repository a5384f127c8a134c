# SPDX-License-Identifier: BSD-3-Clause
"""The frame of evaluators of graphs that are plain data: operators in their order, each value written once, before it
is read; results of the sizes that the graph says. What operators compute is each evaluator's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch


class InvalidGraph(ValueError):
    """Where, what was expected there and what was found."""

    def __init__(self, where: str, expected: object, found: object) -> None:
        super().__init__(f"{where}: expected {expected}, found {found}")


class Operator(Protocol):
    name: str
    type: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Graph(Protocol):
    """`tensors` have a name and dims; one without dimensions has one of 1."""

    tensors: Sequence[Any]
    operators: Sequence[Any]
    inputs: Sequence[int]
    outputs: Sequence[int]


# An operator and what it reads, as it is stored -> what it gives, to be stored likewise.
Compute = Callable[[Any, list[torch.Tensor]], Sequence[torch.Tensor]]
Values = dict[int, torch.Tensor]


def where_is(operator: Operator) -> str:
    return f"{operator.name} ({operator.type})"


def check_dims(where: str, tensor: Any, value: torch.Tensor) -> torch.Tensor:
    """Of a value that the tensor is to hold."""
    found = tuple(value.shape) or (1,)
    if found != tuple(tensor.dims):
        raise InvalidGraph(f"{where} {tensor.name}", f"dims {found}", tuple(tensor.dims))
    return value.reshape(found)


def run_operators(graph: Graph, held: Values, compute: Compute) -> Values:
    """`held`: constants and inputs by their places, to which all values are added."""
    for operator in graph.operators:
        where = where_is(operator)
        for place in operator.inputs:
            if place not in held:
                name = graph.tensors[place].name
                raise InvalidGraph(where, f"{name} written before it is read", "no value")
        results = compute(operator, [held[place] for place in operator.inputs])
        if len(results) != len(operator.outputs):
            raise InvalidGraph(where, f"{len(results)} outputs", len(operator.outputs))
        for place, result in zip(operator.outputs, results, strict=True):
            tensor = graph.tensors[place]
            if place in held:
                raise InvalidGraph(where, f"{tensor.name} written once", "a second time")
            held[place] = check_dims(f"{where}, output", tensor, result)
    return held


def results_of(graph: Graph, held: Values) -> list[torch.Tensor]:
    for place in graph.outputs:
        if place not in held:
            name = graph.tensors[place].name
            raise InvalidGraph(f"output {name}", "an operator that writes it", "none")
    return [held[place] for place in graph.outputs]
