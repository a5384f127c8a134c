# SPDX-License-Identifier: BSD-3-Clause
"""What PyTorch gives for each operator of an edge program, from the operands that a device had."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Interpreter, Node

from executorch.devtools.commands.probe import Found

_FLOAT, _COARSE, _STEPS = 1e-3, 2e-2, 0.25
_HALVES = (torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Compared:
    """`own_error`: of the value found against what the operator gives from the operands that were found; `error`:
    against the model's own run. Relative, of L2 norms; of integers the mean difference. `joined`: all nodes
    that the value stands for; `index`: place among those compared."""

    node: Node
    joined: tuple[str, ...]
    found: Found
    index: int
    own_error: float
    error: float
    is_coarse: bool
    is_exact: bool

    def leaves(self, tolerance: float | None) -> bool:
        if self.is_exact:
            return not self.own_error <= _STEPS
        allowed = _COARSE if self.is_coarse else _FLOAT
        return not self.own_error <= (allowed if tolerance is None else tolerance)


def compare(
    program: ExportedProgram,
    inputs: Sequence[Any],
    found: Sequence[tuple[tuple[int, ...], Found]],
) -> list[Compared]:
    """In the order of the program. Of a value that stands for several nodes, the last one is compared; what has other
    sizes than that is left out."""
    module = program.module()
    nodes: dict[int, list[Node]] = {}
    place = {node: index for index, node in enumerate(module.graph.nodes)}
    for node in module.graph.nodes:
        handle = node.meta.get("debug_handle")
        if node.op == "call_function" and isinstance(handle, int) and "getitem" not in node.name:
            nodes.setdefault(handle, []).append(node)
    by_node: dict[Node, tuple[Found, list[Node]]] = {}
    for handles, each in found:
        joined = sorted(
            (node for handle in handles for node in nodes.get(handle, ())), key=place.__getitem__
        )
        # A quantize and its dequantize may have one handle.
        alike = [node for node in joined if _dtype_of(node) in (None, each.value.dtype)]
        if alike:
            by_node[alike[-1]] = (each, joined)
    with torch.no_grad():
        true = _Run(module, {})
        true.run(*inputs)
        forced = _Run(module, {node: each.value for node, (each, _) in by_node.items()})
        forced.run(*inputs)
    compared: list[Compared] = []
    for node in module.graph.nodes:
        if node not in by_node or node not in forced.own_errors:
            continue
        each, joined = by_node[node]
        is_coarse = any("quantize" in str(one.target) for one in joined)
        expected = true.values[node]
        compared.append(
            Compared(
                node,
                tuple(one.name for one in joined),
                each,
                len(compared),
                forced.own_errors[node],
                _distance(_aligned(each.value, expected), expected),
                is_coarse or expected.dtype in _HALVES,
                not expected.dtype.is_floating_point,
            )
        )
    return compared


def _dtype_of(node: Node) -> torch.dtype | None:
    value = node.meta.get("val")
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return first.dtype if isinstance(first, torch.Tensor) else None


class _Run(Interpreter):
    """Goes on with the values that were found, where there are some."""

    def __init__(self, module: GraphModule, found: dict[Node, torch.Tensor]) -> None:
        super().__init__(module)
        self._found = found
        self.values: dict[Node, torch.Tensor] = {}
        self.own_errors: dict[Node, float] = {}

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        first = result[0] if isinstance(result, (list, tuple)) and result else result
        if not isinstance(first, torch.Tensor):
            return result
        self.values[n] = first.clone()
        found = _aligned(self._found[n], first) if n in self._found else None
        if found is None:
            return result
        self.own_errors[n] = _distance(found, first)
        found = found.to(first.dtype)
        return [found, *result[1:]] if isinstance(result, (list, tuple)) else found


def _aligned(found: torch.Tensor, expected: torch.Tensor) -> torch.Tensor | None:
    """The value with the sizes expected: as it is, or from channels last; None when it has other sizes."""
    if found.numel() != expected.numel():
        return None
    choices = (
        [found.reshape(expected.shape)] if found.shape == expected.shape or found.dim() != 4 else []
    )
    if expected.dim() == 4 and tuple(found.shape) == tuple(expected.permute(0, 2, 3, 1).shape):
        choices.append(found.permute(0, 3, 1, 2))
    choices = choices or [found.reshape(expected.shape)]
    return min(choices, key=lambda each: _distance(each, expected))


def _distance(found: torch.Tensor | None, expected: torch.Tensor) -> float:
    if found is None:
        return math.inf
    if not expected.dtype.is_floating_point:
        return float((found.double() - expected.double()).abs().mean()) if found.numel() else 0.0
    a, b = found.double(), expected.double()
    finite = b.isfinite()
    if not torch.equal(a.isfinite(), finite) or not torch.equal(
        a[~finite].nan_to_num(1.0), b[~finite].nan_to_num(1.0)
    ):
        return math.inf
    return (
        float((a[finite] - b[finite]).norm() / b[finite].norm().clamp_min(1e-12))
        if finite.any()
        else 0.0
    )
