# SPDX-License-Identifier: BSD-3-Clause
"""Taps in an exported program.

before: return (%y,)            after: %tap = tap.Tensor(%y, "STATS"); return (%y, %tap)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument
from torch.utils import _pytree as pytree

from executorch.devtools.intermediate_output_tap import custom_ops_lib  # noqa: F401  the operator
from executorch.devtools.intermediate_output_tap._reducers import STATS, StatReducer, get_reducer
from executorch.devtools.intermediate_output_tap._selectors import (
    NodeSelector,
    modules_of,
    select_all_call_function,
)
from executorch.devtools.intermediate_output_tap._spec import TapSpec
from executorch.exir.graph_facts import op_name

TapRule = tuple[NodeSelector, "str | StatReducer"]


def is_tap_node(n: fx.Node) -> bool:
    return op_name(n) == "executorch_devtools.tap.Tensor"


def find_tap_nodes(gm: fx.GraphModule) -> list[fx.Node]:
    return [node for node in gm.graph.nodes if is_tap_node(node)]


def tap_intermediate_outputs_(
    ep: ExportedProgram,
    rules: Sequence[TapRule] | TapRule | None = None,
    *,
    max_taps: int | None = None,
    error_on_empty: bool = True,
) -> tuple[ExportedProgram, list[TapSpec]]:
    """Works in place: tapped values are outputs behind the program's own, which become flat. Of several rules the
    first that takes a node counts; without rules all calls are tapped with STATS. ValueError when nothing is, a warning
    with `error_on_empty=False`; ValueError for an empty list of rules."""
    chosen = _choose(ep, _listed(rules))[: None if max_taps is None else max(max_taps, 0)]
    if not chosen:
        text = (
            "tap_intermediate_outputs_: no rule matched any node. Double-check your rule predicates"
        )
        if error_on_empty:
            raise ValueError(f"{text}, or pass `error_on_empty=False` to suppress this error.")
        warnings.warn(f"{text}.", UserWarning, stacklevel=2)
        return ep, []
    output = next(iter(reversed(ep.graph.nodes)))
    returned, specs = list(output.args[0]), []
    first = sum(each.kind == OutputKind.USER_OUTPUT for each in ep.graph_signature.output_specs)
    for place, (node, reducer) in enumerate(chosen):
        with ep.graph.inserting_before(output):
            tap = _tap(ep.graph, node, reducer)
        returned.append(tap)
        ep.graph_signature.output_specs.append(
            OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(tap.name), None)
        )
        specs.append(_spec(node, reducer, first + place))
    output.args = (tuple(returned),)
    output.meta["val"] = tuple(
        each.meta.get("val") if isinstance(each, fx.Node) else each for each in returned
    )
    _return_flat(ep, first + len(chosen))
    ep.graph_module.recompile()
    return ep, specs


def _listed(rules: Sequence[TapRule] | TapRule | None) -> list[TapRule]:
    if rules is None:
        return [(select_all_call_function(), STATS)]
    if len(rules) == 0:
        raise ValueError("tap_intermediate_outputs_: `rules` must be non-empty.")
    is_one = len(rules) == 2 and callable(rules[0])
    return [rules] if is_one else list(rules)  # type: ignore[list-item, arg-type]


def _choose(ep: ExportedProgram, rules: list[TapRule]) -> list[tuple[fx.Node, StatReducer]]:
    found = []
    for node in ep.graph.nodes:
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor) or is_tap_node(node):
            continue
        reducer = next((get_reducer(each) for select, each in rules if select(node)), None)
        if reducer is not None:
            found.append((node, reducer))
    return found


def _tap(graph: fx.Graph, node: fx.Node, reducer: StatReducer) -> fx.Node:
    get_reducer(reducer.name)  # the operator finds it by name
    tap = graph.call_function(torch.ops.executorch_devtools.tap.Tensor, (node, reducer.name))
    value = node.meta["val"]
    tap.meta["val"] = (
        value.new_empty((len(reducer.fields),), dtype=torch.float32)
        if reducer.fields
        else torch.empty_like(value)
    )
    tap.meta |= {
        key: node.meta[key] for key in ("stack_trace", "nn_module_stack") if key in node.meta
    }
    return tap


def _spec(node: fx.Node, reducer: StatReducer, output_index: int) -> TapSpec:
    path, kind = (modules_of(node) or [(None, None)])[-1]
    return TapSpec(
        node.name,
        str(node.target),
        output_index,
        reducer.name,
        reducer.fields,
        node.meta.get("stack_trace"),
        path,
        kind,
    )


def _return_flat(ep: ExportedProgram, count: int) -> None:
    """The program returns a tuple of all its outputs."""
    spec = pytree.tree_structure(tuple(range(count)))
    signature: Any = ep.module_call_graph[0].signature
    signature.out_spec = spec
    codegen: Any = ep.graph._codegen
    if getattr(codegen, "pytree_info", None) is not None:
        codegen.pytree_info = codegen.pytree_info._replace(out_spec=spec)
