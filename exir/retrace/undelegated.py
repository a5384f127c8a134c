# SPDX-License-Identifier: BSD-3-Clause
"""Decomposes, in place, the operators that a partitioner preserved and then did not claim, and those that no
kernel serves.

before: %y = scaled_dot_product_attention(%q, %k, %v)     after: %a = mul(%q, %c) ... %y = view_copy(%b, ...)
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Collection, Iterable
from contextlib import nullcontext
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.utils._pytree import tree_leaves

from executorch.exir.decompositions import late_decompositions
from executorch.exir.decompositions.complex_numbers import OF_COMPLEX_CALLS
from executorch.exir.decompositions.sizes import CannotDecompose
from executorch.exir.decompositions.user_operators import bodies_of_user_operators
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.operator.util import quant_primitives
from executorch.exir.retrace.builder import DebugHandles, EdgeGraphBuilder
from executorch.exir.retrace.op_rules import OpRules, Rule, is_composite
from executorch.exir.retrace.program import fake_mode_of
from executorch.exir.retrace.template import NeedsFullTrace

_log = logging.getLogger(__name__)


def decompose_undelegated(
    program: ExportedProgram,
    kept: Collection[torch._ops.OpOverload],
    preserve: Iterable[torch._ops.OpOverload],
    skip_dim_order: bool,
    decompose: frozenset[torch._ops.OpOverload] = frozenset(),
) -> None:
    """Decomposes calls of the operators `kept`, as to_edge would have done; `preserve` stays. What can only be
    decomposed with all of the program stays whole."""
    decompose_calls(program, program.graph_module, kept, preserve, skip_dim_order, decompose)


def decompose_calls(
    program: ExportedProgram,
    module: GraphModule,
    kept: Collection[torch._ops.OpOverload],
    preserve: Iterable[torch._ops.OpOverload] = (),
    skip_dim_order: bool = False,
    decompose: frozenset[torch._ops.OpOverload] = frozenset(),
) -> None:
    """The same in a graph of the program."""
    rules = OpRules(preserve, decompose=decompose)
    ops = {op for op in kept if rules.of(op) is not Rule.LEAF}
    _decompose_calls(program, module, _calls_of(ops), rules, skip_dim_order)


def decompose_unserved(program: ExportedProgram, skip_dim_order: bool) -> None:
    """Decomposes, in branches too, what no kernel serves and no backend has claimed. Calls without such a form stay."""
    ops = _ops_of(program)
    quantizing = {op: op.decompose for op in quant_primitives() if op in ops and is_composite(op)}
    table = {**late_decompositions(), **bodies_of_user_operators(ops), **quantizing}
    of_any, of_complex = _calls_of(table.keys()), _calls_of(OF_COMPLEX_CALLS.keys())
    steps = (
        (lambda node: of_complex(node) and _is_complex(node), OpRules(more=OF_COMPLEX_CALLS)),
        (of_any, OpRules(more=table)),
    )
    shape_env = fake_mode_of(program).shape_env
    # topk asks whether a dynamic size is large enough; the answer must not narrow the caller's program.
    with shape_env.suppress_guards() if shape_env is not None else nullcontext():
        for module in program.graph_module.modules():
            if isinstance(module, GraphModule):
                for wanted, rules in steps:
                    _decompose_calls(program, module, wanted, rules, skip_dim_order)


def _calls_of(ops: Collection[torch._ops.OpOverload]) -> Callable[[Node], bool]:
    return lambda node: _op_of(node) in ops


def _is_complex(node: Node) -> bool:
    values = tree_leaves([node.meta.get("val"), [n.meta.get("val") for n in node.all_input_nodes]])
    return any(isinstance(value, torch.Tensor) and value.dtype.is_complex for value in values)


def _decompose_calls(
    program: ExportedProgram,
    module: GraphModule,
    is_wanted: Callable[[Node], bool],
    rules: OpRules,
    skip_dim_order: bool,
) -> None:
    graph = module.graph
    if not any(is_wanted(node) for node in graph.nodes):
        return
    mode, handles = fake_mode_of(program), DebugHandles()
    builder = EdgeGraphBuilder(graph, mode, rules, {}, None, skip_dim_order, handles)
    for node in list(graph.nodes):
        if is_wanted(node):
            _decompose(graph, builder, node)
        else:
            builder.symbols.observe(node, node.meta.get("val"))
    module.recompile()


def _ops_of(program: ExportedProgram) -> set[torch._ops.OpOverload]:
    modules = (m for m in program.graph_module.modules() if isinstance(m, GraphModule))
    found = {_op_of(node) for module in modules for node in module.graph.nodes}
    return {op for op in found if op is not None}


def _op_of(node: Node) -> torch._ops.OpOverload | None:
    target = node.target
    return target._op if isinstance(target, EdgeOpOverload) else None


def _decompose(graph: Graph, builder: EdgeGraphBuilder, node: Node) -> None:
    try:
        with graph.inserting_before(node):
            builder.inherit(node, node.meta.get("debug_handle"))
            result = builder.call(_op_of(node), node.args, dict(node.kwargs), False)
        if torch.Tag.dynamic_output_shape in _op_of(node).tags:
            builder.name_sizes(result, node.meta["val"])
    except CannotDecompose as reason:
        node.meta["why_preserved"] = str(reason)
        return
    except NeedsFullTrace as reason:
        _log.warning("%s stays whole: %s", node.format_node(), reason)
        return
    except (AssertionError, IndexError, RuntimeError, ValueError) as reason:  # empty matrices, ...
        node.meta["why_preserved"] = f"its form with other operators does not take it: {reason}"
        return
    _replace(graph, node, result)


def _replace(graph: Graph, node: Node, result: Any) -> None:
    if isinstance(result, Node):
        node.replace_all_uses_with(result)
    else:
        for user in list(node.users):
            if user.target is operator.getitem:
                user.replace_all_uses_with(result[user.args[1]])
                graph.erase_node(user)
    graph.erase_node(node)
