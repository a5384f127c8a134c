# SPDX-License-Identifier: BSD-3-Clause
"""Sizes that inputs may have, as lists: the Neural Engine takes these, and no ranges. A compile spec has them by the
symbolic sizes of the exported program, as delegates call their inputs otherwise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.apple.coreml.aot.library import ct
from executorch.exir.graph_facts import input_specs

Sizes = list[list[int]]
_DTYPES = {torch.float16: np.float16, torch.float32: np.float32, torch.int32: np.int32}


@dataclass(frozen=True)
class EnumeratedShapes:
    """Rows of (symbolic sizes, (lists of sizes, names of inputs)), as the compile spec has them."""

    rows: list[Any]

    @staticmethod
    def of_program(ep: ExportedProgram, shapes: Mapping[str, Sizes]) -> EnumeratedShapes:
        nodes = _inputs(ep)
        assert shapes, "enumerated shapes: expected sizes for at least one input, found none"
        rows: dict[str, Any] = {}
        first = next(iter(shapes))
        for name, sizes in shapes.items():
            assert name in nodes, f"enumerated shapes: {name} is no input of {sorted(nodes)}"
            assert len(sizes) == len(shapes[first]), (
                f"enumerated shapes: {name} has {len(sizes)} lists of sizes, {first} has {len(shapes[first])}"
            )
            assert len(sizes) > 1, f"enumerated shapes: {name} has one list of sizes, expected more"
            symbolic = _symbolic(nodes[name].meta["val"], ep)
            for each in sizes:
                _check(name, each, symbolic)
            row = rows.setdefault(json.dumps(symbolic), [{"shape": symbolic}, [sizes, []]])
            assert row[1][0] == sizes, (
                f"enumerated shapes: {name} has the symbolic sizes of {row[1][1]}, but other lists of sizes"
            )
            row[1][1].append(name)
        for name, node in nodes.items():
            if _is_symbolic(node) and name not in shapes:
                raise ValueError(
                    f"The input {name} has a symbolic shape, but you did not provide an enumeration for it"
                )
        return EnumeratedShapes(list(rows.values()))

    @staticmethod
    def of_json(text: str) -> EnumeratedShapes:
        return EnumeratedShapes(json.loads(text))

    def to_json(self) -> str:
        return json.dumps(self.rows)

    def inputs(self, program: ExportedProgram, target: ct.target | None) -> list[Any]:
        """coremltools' types of a delegate's inputs."""
        by_sizes = {json.dumps(row[0]["shape"]): row[1][0] for row in self.rows}
        nodes = _inputs(program)
        count = sum(map(_is_symbolic, nodes.values()))
        if count > 1 and (target is None or target < ct.target.iOS18):
            found = "not set" if target is None else target.value
            raise ValueError(
                f"Your program has {count} enumerated inputs, but minimum_deployment_target is {found}. Multiple "
                "enumerated inputs requires iOS18 or later."
            )
        return [self._input(node, program, by_sizes) for node in nodes.values()]

    def _input(self, node: Node, program: ExportedProgram, by_sizes: Mapping[str, Sizes]) -> Any:
        value = node.meta["val"]
        assert value.dtype in _DTYPES, (
            f"enumerated shapes: input {node.name} is {value.dtype}, expected float16, float32 or int32"
        )
        sizes = list(value.shape)
        if _is_symbolic(node):
            sizes = ct.EnumeratedShapes(shapes=by_sizes[json.dumps(_symbolic(value, program))])
        return ct.TensorType(name=node.name, shape=sizes, dtype=_DTYPES[value.dtype])


def _inputs(program: ExportedProgram) -> dict[str, Node]:
    specs = input_specs(program.graph_signature)
    placeholders = program.graph.find_nodes(op="placeholder")
    return {node.name: node for node in placeholders if specs[node.name].kind.name == "USER_INPUT"}


def _is_symbolic(node: Node) -> bool:
    sizes = getattr(node.meta["val"], "shape", ())
    return any(isinstance(size, torch.SymInt) for size in sizes)


def _symbolic(value: torch.Tensor, program: ExportedProgram) -> list[Any]:
    return [
        _range(size, program) if isinstance(size, torch.SymInt) else size for size in value.shape
    ]


def _range(size: torch.SymInt, program: ExportedProgram) -> dict[str, Any]:
    bounds = program.range_constraints[size.node.expr]
    low, high = (
        int(bound) if bound.is_number and bound.is_finite and bound < 2**31 else None
        for bound in (bounds.lower, bounds.upper)
    )
    return {"key_name": str(size.node.expr), "low": low, "high": high}


def _check(name: str, sizes: list[int], symbolic: list[Any]) -> None:
    start = f"enumerated shapes: input {name} cannot have sizes {sizes}:"
    assert len(sizes) == len(symbolic), f"{start} it has {len(symbolic)} dimensions"
    for place, (size, expected) in enumerate(zip(sizes, symbolic, strict=True)):
        where = f"{start} dimension {place}"
        assert isinstance(size, int) and size >= 1, f"{where} must be a number from 1 on"
        if isinstance(expected, int):
            assert size == expected, f"{where} is {expected}"
            continue
        low, high = expected["low"], expected["high"]
        # torch.export makes a lower bound of 1 one of 2
        least = 1 if low is None or low <= 2 else low
        assert size >= least, f"{where} is {least} or more"
        assert high is None or size <= high, f"{where} is {high} or less"
