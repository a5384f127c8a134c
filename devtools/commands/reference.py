# SPDX-License-Identifier: BSD-3-Clause
"""What PyTorch gives for each operator of an edge program, from the operands that a device had."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, takewhile
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export import ExportedProgram
from torch.fx import GraphModule, Interpreter, Node

from executorch.devtools.commands import given
from executorch.devtools.commands.probe import Found

_FLOAT, COARSE, _STEPS = 1e-3, 2e-2, 0.25
HALVES = (torch.float16, torch.bfloat16)
COND = torch.ops.higher_order.cond
_MAX_DIMS = 5  # of values whose orders of dimensions are tried


@dataclass(frozen=True)
class Compared:
    """`own_error`: of the value found against what the operator gives from the operands that were found; `error`:
    against the model's own run. Relative, of L2 norms; of integers the mean difference. `joined`: all nodes
    that the value stands for; `source`: of those the last with a line of Python, which what is around 8-bit values has
    not; `index`: place among those compared."""

    node: Node
    joined: tuple[str, ...]
    source: Node
    found: Found
    index: int
    own_error: float
    error: float
    is_coarse: bool
    is_exact: bool

    def leaves(self, tolerance: float | None) -> bool:
        if self.is_exact:
            return not self.own_error <= _STEPS
        allowed = COARSE if self.is_coarse else _FLOAT
        return not self.own_error <= (allowed if tolerance is None else tolerance)


def compare(
    program: ExportedProgram,
    inputs: Sequence[Any],
    found: Sequence[tuple[tuple[int, ...], Found]],
) -> list[Compared]:
    """In the order of the program, branches before what they are branches of. Of a value that stands for several nodes,
    the last one is compared; what has other sizes than that is left out, and so is what is random."""
    module = program.module()
    place = {node: index for index, node in enumerate(nodes_of(module))}
    by_node = by_nodes(place, found)
    with torch.no_grad():
        state = [(buffer, buffer.clone()) for buffer in module.buffers()]
        true = _Run(module, {})
        true.run(*given.copies(inputs))
        _restore(state)
        forced = _Run(module, {node: each for node, (each, _) in by_node.items()})
        forced.run(*given.copies(inputs))
        _restore(state)
    compared: list[Compared] = []
    for node in place:
        if node not in by_node or node not in forced.own_errors or _is_random(node):
            continue
        each, joined = by_node[node]
        operands = {one for node in joined for one in node.all_input_nodes} - by_node.keys()
        is_coarse = any("quantize" in str(one.target) for one in {*joined, *operands})
        expected = true.values.get(node, ())  # of a branch that was not taken: nothing
        if not expected:
            continue
        compared.append(
            Compared(
                node,
                tuple(one.name for one in joined),
                next((one for one in reversed(joined) if one.meta.get("stack_trace")), node),
                each,
                len(compared),
                forced.own_errors[node],
                _farthest(node, each, expected),
                is_coarse or expected[0].dtype in HALVES,
                not expected[0].dtype.is_floating_point,
            )
        )
    return compared


def by_nodes(
    place: Mapping[Node, int], found: Sequence[tuple[tuple[int, ...], Found]]
) -> dict[Node, tuple[Found, list[Node]]]:
    """The node that each value is of, and all that it stands for. `place`: of each node in the program."""
    nodes: dict[int, list[Node]] = {}
    for node in place:
        handle = node.meta.get("debug_handle")
        if node.op == "call_function" and isinstance(handle, int) and "getitem" not in node.name:
            nodes.setdefault(handle, []).append(node)
    by_node: dict[Node, tuple[Found, list[Node]]] = {}
    for handles, each in found:
        joined = sorted(
            (node for handle in handles for node in nodes.get(handle, ())), key=place.__getitem__
        )
        # A quantize and its dequantize may have one handle.
        alike = [node for node in joined if _dtype_of(node) in (None, each.values[0].dtype)]
        if alike:
            by_node[alike[-1]] = (each, joined)
    return by_node


def nodes_of(module: GraphModule) -> Iterator[Node]:
    for node in module.graph.nodes:
        if node.op == "call_function" and node.target is COND:
            for branch in node.args[1:3]:
                yield from nodes_of(module.get_submodule(branch.target))
        yield node


def _is_random(node: Node) -> bool:
    called = getattr(node.target, "_op", node.target)
    return torch.Tag.nondeterministic_seeded in getattr(called, "tags", ())


def _restore(state: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> None:
    for buffer, value in state:
        buffer.copy_(value)


def _dtype_of(node: Node) -> torch.dtype | None:
    value = node.meta.get("val")
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return first.dtype if isinstance(first, torch.Tensor) else None


class _Run(Interpreter):
    """Goes on with the values that were found, where there are some."""

    def __init__(self, module: GraphModule, found: dict[Node, Found]) -> None:
        super().__init__(module)
        self._found = found
        self.values: dict[Node, tuple[torch.Tensor, ...]] = {}
        self.own_errors: dict[Node, float] = {}

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is not COND:
            return super().call_function(target, args, kwargs)
        condition, yes, no, operands = args
        branch = _Run(yes if condition else no, self._found)
        branch.values, branch.own_errors = self.values, self.own_errors
        return branch.run(*operands)

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        is_one = not isinstance(result, (list, tuple))
        listed = [result] if is_one else list(result)
        expected = tuple(takewhile(lambda each: isinstance(each, torch.Tensor), listed))
        self.values[n] = tuple(each.clone() for each in expected)
        if n not in self._found:
            return result
        for index, found, wanted in value_pairs(n, self._found[n], expected):
            error = 0.0 if self._may_be_wider(n) else distance(found, wanted)
            self.own_errors[n] = max(error, self.own_errors.get(n, 0.0))
            listed[index] = found.to(wanted.dtype)
        return listed[0] if is_one else listed

    def _may_be_wider(self, node: Node) -> bool:
        """Whether a delegate computes on what half precision cannot hold, and the value that is known of it cannot."""
        if self._found[node].delegate_handle is None:
            return False
        operands = pytree.tree_leaves(self.fetch_args_kwargs_from_env(node))
        return any(
            isinstance(each, torch.Tensor) and each.dtype in HALVES and not each.isfinite().all()
            for each in operands
        )


def value_pairs(
    node: Node, found: Found, expected: Sequence[torch.Tensor]
) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Of outputs that something reads: others, such as a norm's means, may be anything near zero, or nothing."""
    is_delegated = found.delegate_handle is not None
    read = [index for index in range(len(expected)) if _is_read(node, index)]
    values = (
        {read[-1]: found.values[-1]} if is_delegated and read else dict(enumerate(found.values))
    )
    for index in (each for each in read if each in values):
        wanted = expected[index].clamp(*found.limits) if found.limits else expected[index]
        aligned = _aligned(values[index], wanted, is_delegated)
        if aligned is not None:
            yield index, aligned, wanted


def _is_read(node: Node, index: int) -> bool:
    items = [user for user in node.users if user.target is operator.getitem]
    return not items or any(item.users for item in items if item.args[1] == index)


def _farthest(node: Node, found: Found, expected: Sequence[torch.Tensor]) -> float:
    """The largest distance of what can be compared."""
    pairs = value_pairs(node, found, expected)
    return max((distance(one, other) for _, one, other in pairs), default=math.inf)


def _aligned(
    found: torch.Tensor, expected: torch.Tensor, is_delegated: bool
) -> torch.Tensor | None:
    """The value with the sizes expected: as it is, or from channels last; None when it has other sizes. A delegate may
    leave a transpose for later: where another order of dimensions is right, the value is."""
    if found.numel() != expected.numel():
        return None
    choices = (
        [found.reshape(expected.shape)] if found.shape == expected.shape or found.dim() != 4 else []
    )
    if expected.dim() == 4 and tuple(found.shape) == tuple(expected.permute(0, 2, 3, 1).shape):
        choices.append(found.permute(0, 3, 1, 2))
    choices = choices or [found.reshape(expected.shape)]
    nearest = min(choices, key=lambda each: distance(each, expected))
    if not is_delegated or found.dim() > _MAX_DIMS or distance(nearest, expected) <= COARSE:
        return nearest
    orders = map(found.permute, permutations(range(found.dim())))
    same_shape = (each for each in orders if each.shape == expected.shape)
    right = (each for each in same_shape if distance(each, expected) <= COARSE)
    return next(right, nearest)


def distance(found: torch.Tensor | None, expected: torch.Tensor) -> float:
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
