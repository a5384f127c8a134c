# SPDX-License-Identifier: BSD-3-Clause
"""Makes every spec's sizes numbers.

before: spec.shape = [s0, 4], 2 <= s0 <= 10       after: spec.shape = [10, 4], DYNAMIC_BOUND
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.utils._pytree import tree_leaves

from executorch.exir.error import ExportError, ExportErrorType, source_line
from executorch.exir.graph_facts import without_dialect
from executorch.exir.schema import TensorShapeDynamism
from executorch.exir.sym_util import (
    LARGEST_SIZE,
    any_upper_bound,
    eval_expr,
    upper_bound_or_none,
)
from executorch.exir.sym_util import eval_upper_bound as eval_upper_bound
from executorch.exir.tensor import TensorSpec, stride_from_dim_order

# Operators whose result has a size that depends on data, and what bounds it.
upper_bound_shape_inference_table: dict[Any, Callable[[Any, Any], list[int | None]]] = {}


def register_upper_bound_inference(
    fn: Any,
) -> Callable[[Callable[[Any, Any], list[int | None]]], Callable[[Any, Any], list[int | None]]]:
    """Decorator: the function gives the largest sizes of operator `fn`'s result from its args and kwargs."""

    def register(
        inference: Callable[[Any, Any], list[int | None]],
    ) -> Callable[[Any, Any], list[int | None]]:
        upper_bound_shape_inference_table[fn] = inference
        return inference

    return register


def _numel_bound(node: Node) -> int | None:
    bound = 1
    for size in node.meta["val"].shape:
        upper = upper_bound_or_none(size)
        if upper is None:
            return None
        bound *= upper
    return bound


@register_upper_bound_inference(torch.ops.aten.nonzero.default)
def nonzero(args: Any, kwargs: Any) -> list[int | None]:
    """At most every element."""
    return [_numel_bound(args[0]), args[0].meta["val"].dim()]


@register_upper_bound_inference(torch.ops.aten.index.Tensor)
def index_Tensor(args: Any, kwargs: Any) -> list[int | None]:
    """One index: its length, then the remaining sizes of the source."""
    source, indices = args[0], args[1]
    if len(indices) != 1 or indices[0] is None:
        return []
    index = indices[0].meta["val"]
    rest = [upper_bound_or_none(size) for size in source.meta["val"].shape[1:]]
    if index.dtype in (torch.bool, torch.uint8):
        return [_numel_bound(indices[0]), *source.meta["val"].shape[index.dim() :]]
    return [upper_bound_or_none(size) for size in index.shape] + rest


class ConstraintBasedSymShapeEvalPass(PassBase):
    """Sizes become their upper bounds under the program's range constraints. All tensors without a bound are
    reported in one error."""

    def call(self, graph_module: GraphModule) -> PassResult:
        unbounded = unbounded_tensors(graph_module)
        if unbounded:
            raise ExportError(ExportErrorType.NOT_SUPPORTED, explain_unbounded(unbounded))
        return PassResult(graph_module, True)


def unbounded_tensors(graph_module: GraphModule) -> list[Node]:
    """Gives every spec numbers where the ranges bound it, and the nodes where they do not."""
    return [
        node
        for module in graph_module.modules()
        if isinstance(module, GraphModule)
        for node in module.graph.nodes
        if not _resolve(node, upper_bound_or_none)
    ]


def explain_unbounded(nodes: list[Node]) -> str:
    """Names the tensors in which sizes without a bound come up; those computed from them are counted."""
    seen: set[Any] = set()
    first, others = [], 0
    for node in nodes:
        symbols = _unbounded_symbols(node)
        if symbols - seen:
            first.append(node)
        elif node.op != "output":
            others += 1
        seen |= symbols
    missing = "without an upper bound"
    if all(_unbounded_symbols(node) and "up to" in _describe(node) for node in first):
        missing = "with an upper bound that no file can hold"
    rest = f", and {others} computed from them" if others else ""
    return (
        f"these tensors have sizes {missing}: "
        + "; ".join(map(_describe, first))
        + rest
        + ". Give one: torch.export.Dim(name, max=...) for an input's dimension (or "
        "EdgeCompileConfig(max_dynamic_size=...) for all of them), torch._check(size <= ...) for a size that depends "
        "on data"
    )


def _unbounded_symbols(node: Node) -> set[Any]:
    sizes = [
        size
        for value in tree_leaves(node.meta.get("val"))
        if isinstance(value, torch.Tensor)
        for size in value.shape
        if isinstance(size, torch.SymInt) and upper_bound_or_none(size) is None
    ]
    return {symbol for size in sizes for symbol in size.node.expr.free_symbols}


class HintBasedSymShapeEvalPass(PassBase):
    """Sizes become those of the example inputs, those that depend on data their upper bounds. Only for programs that
    are run at these sizes or smaller."""

    def __init__(self) -> None:
        super().__init__()
        warnings.warn(
            "HintBasedSymShapeEvalPass is deprecated: larger inputs than the example fail at run time; use "
            "ConstraintBasedSymShapeEvalPass",
            FutureWarning,
            stacklevel=2,
        )

    def call(self, graph_module: GraphModule) -> PassResult:
        for node in graph_module.graph.nodes:
            _resolve(node, _hint_or_bound)
        return PassResult(graph_module, True)


def _hint_or_bound(size: Any) -> int | None:
    known = eval_expr(size)
    return upper_bound_or_none(size) if known is None else known


def _resolve(node: Node, evaluate: Callable[[Any], int | None]) -> bool:
    specs = node.meta.get("spec")
    specs = specs if isinstance(specs, list | tuple) else [specs]
    good = True
    for spec in specs:
        if isinstance(spec, TensorSpec) and not _is_static(spec):
            good = _evaluate(node, spec, evaluate) and good
    return good


def _is_static(spec: TensorSpec) -> bool:
    return all(type(size) is int for size in spec.shape)


def _evaluate(node: Node, spec: TensorSpec, evaluate: Callable[[Any], int | None]) -> bool:
    shape = [evaluate(size) for size in spec.shape]
    if None in shape:
        op = without_dialect(node.target)
        inference = upper_bound_shape_inference_table.get(op)
        bounds = inference(node.args, node.kwargs) if inference else []
        if len(bounds) == len(shape):
            shape = [bound if size is None else size for size, bound in zip(shape, bounds)]
    if None in shape:
        return False
    spec.shape = shape
    spec.stride = tuple(stride_from_dim_order(shape, spec.dim_order))
    spec.shape_dynamism = TensorShapeDynamism.DYNAMIC_BOUND
    return True


def _describe(node: Node) -> str:
    sizes = tuple(getattr(node.meta.get("val"), "shape", ()))
    bounds = [bound for size in sizes if (bound := any_upper_bound(size)) and bound > LARGEST_SIZE]
    too_large = f", up to {max(bounds)}: a file holds sizes up to {LARGEST_SIZE}" if bounds else ""
    return f"{node.name} (sizes {sizes}{too_large}){source_line(node)}"
