# SPDX-License-Identifier: BSD-3-Clause
"""Between the nodes of a record's programs and debug handles."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, TypeAlias

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.devtools.debug_format.base_schema import OperatorGraph, OperatorNode
from executorch.devtools.debug_format.et_schema import FXOperatorGraph
from executorch.devtools.inspector._lookup import (
    FORWARD,
    one_method,
)
from executorch.devtools.inspector._lookup import (
    at_instruction as at_instruction,  # others look for it here
)
from executorch.exir.debug_handle_utils import UNSET_DEBUG_HANDLE
from executorch.exir.program._etrecord import ETRecord

EDGE_DIALECT_GRAPH_KEY = "edge_dialect_graph_module"
DebugHandle: TypeAlias = tuple[int, ...]


class NodeFilter:
    """Nodes with an entry `metadata_key`, of kind `op_type`, whose name has none of `exclude_ops` in it."""

    def __init__(
        self, metadata_key: str, op_type: str, exclude_ops: list[str] | None = None
    ) -> None:
        self.metadata_key, self.op_type = metadata_key, op_type
        self.exclude_ops = exclude_ops or []

    def matches(self, node: torch.fx.Node) -> bool:
        return (
            node.meta.get(self.metadata_key) is not None
            and node.op == self.op_type
            and not any(excluded in node.name for excluded in self.exclude_ops)
        )


CALLS = NodeFilter("debug_handle", "call_function", ["getitem"])


def of_method(record: ETRecord, method: str) -> ETRecord:
    """The record as if its program had this method alone. Inputs that were given for "forward" are no other's."""
    only = copy.copy(record)
    several = (
        isinstance(record.edge_dialect_program, Mapping) and len(record.edge_dialect_program) > 1
    )
    only.edge_dialect_program = one_method(record.edge_dialect_program, method)
    for name in ("_debug_handle_map", "_delegate_map", "_instruction_id_to_num_outs_map"):
        setattr(only, name, {method: one_method(getattr(record, name), method)})
    if several and method != FORWARD:
        only._representative_inputs = None
    return only


def gen_graphs_from_etrecord(
    etrecord: ETRecord, enable_module_hierarchy: bool = False
) -> dict[str, OperatorGraph]:
    """The record's graphs: those it names, and the edge program's under EDGE_DIALECT_GRAPH_KEY."""
    programs = dict(etrecord.graph_map or {})
    edge = one_method(etrecord.edge_dialect_program)
    if edge is not None:
        programs[EDGE_DIALECT_GRAPH_KEY] = edge
    return {
        name: FXOperatorGraph.gen_operator_graph(
            program.graph_module, enable_module_hierarchy=enable_module_hierarchy
        )
        for name, program in programs.items()
    }


def create_debug_handle_to_op_node_mapping(
    op_graph: OperatorGraph,
) -> dict[int, list[OperatorNode]]:
    """The operators of a graph and of those in it, by debug handle."""
    found: dict[int, list[OperatorNode]] = {}
    stack: list[Any] = [op_graph]
    while stack:
        item = stack.pop()
        if isinstance(item, OperatorGraph):
            stack.extend(reversed(item.elements))
        elif isinstance(item, OperatorNode):
            handle = (item.metadata or {}).get("debug_handle")
            if handle is not None:
                found.setdefault(handle, []).append(item)
    return found


def handle_of(node: torch.fx.Node) -> DebugHandle:
    handle = node.meta["debug_handle"]
    return (handle,) if isinstance(handle, int) else tuple(handle)


def get_aot_debug_handle_to_op_name_mapping(
    graph_module: GraphModule,
) -> dict[DebugHandle, list[str]]:
    """Names of the operators that have a handle."""
    found: dict[DebugHandle, list[str]] = {}
    for node in graph_module.graph.nodes:
        if CALLS.matches(node):
            found.setdefault(handle_of(node), []).append(node.name)
    return found


def find_op_names(
    target_debug_handle: DebugHandle, debug_handle_to_op_names: dict[DebugHandle, list[str]]
) -> list[str]:
    """Of all handles that `target_debug_handle` contains."""
    wanted = set(target_debug_handle)
    return [
        name
        for handle, names in debug_handle_to_op_names.items()
        if set(handle) <= wanted
        for name in names
    ]


def propagate_back_debug_handle(
    exported_program: ExportedProgram,
    exported_program_graph_id: int,
    edge_dialect_program: ExportedProgram,
    disable_debug_handle_valdiation: bool = False,
) -> bool:
    """Gives the calls of the program before to_edge the handles of what became of them, UNSET_DEBUG_HANDLE those of
    which nothing did. False, and no change, when some operator of the edge program does not come from it; that is not
    asked with the last argument."""
    handles: dict[str, Any] = {}
    for node in edge_dialect_program.graph.nodes:
        if not CALLS.matches(node):
            continue
        source = _source_in(node.meta.get("from_node") or (), exported_program_graph_id)
        if source is not None:
            handles[source] = node.meta["debug_handle"]
        elif not disable_debug_handle_valdiation:
            return False
    names = {node.name for node in exported_program.graph.nodes}
    if not disable_debug_handle_valdiation and not set(handles) <= names:
        return False
    for node in exported_program.graph.nodes:
        if node.name in handles:
            node.meta["debug_handle"] = handles[node.name]
        elif node.op == "call_function":
            node.meta["debug_handle"] = UNSET_DEBUG_HANDLE
        else:
            node.meta.pop("debug_handle", None)
    return bool(handles)


def _source_in(sources: Any, graph_id: int) -> str | None:
    for source in sources:
        if source.graph_id == graph_id:
            return source.name
        found = _source_in(source.from_node or (), graph_id)
        if found is not None:
            return found
    return None
