# SPDX-License-Identifier: BSD-3-Clause
"""Every operator writes into tensors that stand in the graph.

before: %y = aten.add.Tensor(%a, %b)             after: %o = memory.alloc(((2, 4), float32))
                                                        %y = torch.ops.aten.add.out(%a, %b, out=%o)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir import memory
from executorch.exir.dialects.backend._ops import BackendOpOverload
from executorch.exir.error import ExportError, ExportErrorType, source_line
from executorch.exir.graph_facts import called_op
from executorch.exir.operator.convert import NoOutVariant, to_out_variant
from executorch.exir.operator.custom_writes import writes_beside_results
from executorch.exir.passes.executorch_prim_ops_registry import (
    _EXECUTORCH_SYM_OPS,
    is_sym_op,
)
from executorch.exir.tensor import TensorSpec

# Operators that stay as they are: the runtime's core carries them out.
to_out_var_skiplist = set(_EXECUTORCH_SYM_OPS)


class MissingOutVariants(ExportError, RuntimeError):
    """Operators of the program that cannot write into planned memory."""


class ToOutVarPass(PassBase):
    """Runs after specs have sizes. All operators without an out variant are reported in one error, unless
    `ignore_to_out_var_failure`, which leaves them functional."""

    def __init__(self, ignore_to_out_var_failure: bool = False) -> None:
        super().__init__()
        self.ignore_to_out_var_failure = ignore_to_out_var_failure

    def call(self, graph_module: GraphModule) -> PassResult:
        missing = missing_out_variants(graph_module)
        if missing and not self.ignore_to_out_var_failure:
            raise MissingOutVariants(ExportErrorType.NOT_SUPPORTED, explain_missing(missing))
        for module in graph_module.modules():
            if isinstance(module, GraphModule):
                for node in list(module.graph.nodes):
                    _convert(module, node)
        return PassResult(graph_module, True)


def missing_out_variants(graph_module: GraphModule) -> dict[str, list[Node]]:
    """Operators without an out variant, and the nodes that call them; branches included."""
    missing: dict[str, list[Node]] = {}
    for node, op in operators_in(graph_module):
        if not _stays(op):
            try:
                to_out_variant(op)
            except NoOutVariant:
                missing.setdefault(op.name(), []).append(node)
    return missing


def operators_in(graph_module: GraphModule) -> Iterator[tuple[Node, torch._ops.OpOverload]]:
    """Every call of an operator, in branches too."""
    for module in graph_module.modules():
        for node in module.graph.nodes if isinstance(module, GraphModule) else ():
            op = called_op(node)
            if op is not None:
                yield node, op


def _stays(op: torch._ops.OpOverload) -> bool:
    """Scalar operators, and operators whose results are arguments that they write."""
    return is_sym_op(op) or (op._schema.is_mutable and not writes_beside_results(op))


def _convert(module: GraphModule, node: Node) -> None:
    op = called_op(node)
    if op is None:
        return
    if not isinstance(node.target, BackendOpOverload):
        node.target = op
    if _stays(op):
        return
    try:
        out_op, out_names = to_out_variant(op)
    except NoOutVariant:
        return
    kwargs = _accepted(node.kwargs, out_op)
    returns = out_op._schema.returns
    value, spec = node.meta["val"], node.meta.get("spec")
    with module.graph.inserting_before(node):
        if len(out_names) == 1:
            kwargs[out_names[0]] = _alloc(module, value, spec, node)
        else:
            value, specs = _with_empty(value, spec)
            node.meta["val"] = value
            if spec is not None:
                node.meta["spec"] = specs
            for name, one_value, one_spec in zip(out_names, value, specs, strict=True):
                kwargs[name] = _alloc(module, one_value, one_spec, node)
    node.target = out_op
    node.kwargs = kwargs
    if not returns:  # the results are the list that was passed in
        node.replace_all_uses_with(kwargs[out_names[0]])


def _accepted(kwargs: dict[str, Any], out_op: torch._ops.OpOverload) -> dict[str, Any]:
    names = {arg.name for arg in out_op._schema.arguments}
    return {name: value for name, value in kwargs.items() if name in names}


def _with_empty(values: Any, specs: Any) -> tuple[tuple[Any, ...], list[TensorSpec | None]]:
    """Results that are not asked for (output_mask) are arguments all the same: empty tensors."""
    given = next(value for value in values if value is not None)
    filled = tuple(given.new_empty(0) if value is None else value for value in values)
    if specs is None:
        return filled, [None] * len(filled)
    pairs = zip(filled, specs, strict=True)
    return filled, [TensorSpec.from_tensor(v) if spec is None else spec for v, spec in pairs]


def _alloc(module: GraphModule, value: Any, spec: Any, origin: Node) -> Node:
    """Without a spec, on a graph that has none, as large as the value."""
    size = alloc_spec(spec) if spec is not None else _shape_and_dtypes(value)
    node = module.graph.call_function(memory.alloc, (size,))
    node.meta["val"] = value
    if spec is not None:
        node.meta["spec"] = spec
    if "stack_trace" in origin.meta:
        node.meta["stack_trace"] = origin.meta["stack_trace"]
    return node


def alloc_spec(spec: TensorSpec | list[TensorSpec]) -> Any:
    """The argument of memory.alloc for a tensor, or a list of them."""
    if isinstance(spec, list | tuple):
        return [alloc_spec(item) for item in spec]
    return (tuple(spec.shape), spec.dtype)


def make_alloc_node(graph_module: GraphModule, val: Any, tensor_meta: Any) -> Node:
    """A memory.alloc node for the fake value(s) `val`, at the graph's insertion point."""
    node = graph_module.graph.call_function(memory.alloc, (_shape_and_dtypes(val),))
    node.meta["val"] = val
    node.meta["tensor_meta"] = tensor_meta
    return node


def _shape_and_dtypes(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_shape_and_dtype(item) for item in value]
    return _shape_and_dtype(value)


def _shape_and_dtype(value: Any) -> Any:
    if value is None:
        return ((0,), torch.float32)
    return (tuple(value.shape), value.dtype)


def explain_missing(missing: dict[str, list[Node]]) -> str:
    lines = [f"Missing out variants: {{{', '.join(repr(name) for name in sorted(missing))}}}"]
    for name, nodes in sorted(missing.items()):
        lines.append(f"  {name}: node {nodes[0].name}{source_line(nodes[0])}")
        if reason := nodes[0].meta.get("why_preserved"):
            lines.append(f"    ({reason})")
    lines.append(
        "Give each a variant with out= arguments (torch.library: define 'name.out(..., *, Tensor(a!) out)'), "
        "register a decomposition, or rewrite the operator in a pass given to transform()."
    )
    return "\n".join(lines)
