# SPDX-License-Identifier: BSD-3-Clause
"""Taps become what their reducers compute: before %t = tap.Tensor(%y, "FULL_TENSOR"); return (%y, %t); after return
(%y, %y)."""

from __future__ import annotations

from typing import Any

from executorch.devtools.intermediate_output_tap._reducers import get_reducer
from executorch.devtools.intermediate_output_tap._tap_pass import find_tap_nodes


def strip_taps_(edge_manager: Any) -> None:
    """In place, in all methods, after to_edge or to_edge_transform_and_lower, before to_executorch."""
    for name in edge_manager.methods:
        program = edge_manager.exported_program(name)
        graph_module = program.graph_module
        for node in find_tap_nodes(graph_module):
            value, reducer_name = node.args
            with graph_module.graph.inserting_before(node):
                result = get_reducer(reducer_name).emit(graph_module.graph, value)
            for spec in program.graph_signature.output_specs:
                if getattr(spec.arg, "name", None) == node.name:
                    spec.arg.name = result.name
            node.replace_all_uses_with(result)
            graph_module.graph.erase_node(node)
        graph_module.graph.lint()
        graph_module.recompile()
