# SPDX-License-Identifier: BSD-3-Clause
"""Says which calls a quantizer has put between dequantize and quantize, and no row has taken: they compute in floats,
which the user did not ask for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from torch.fx import Graph, Node

from executorch.exir.backend.lowering.op_table import NO_ROW
from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize
from executorch.exir.backend.lowering.steps import LIMITING
from executorch.exir.error import source_line
from executorch.exir.graph_facts import only_user, op_name

_MAX_NAMED = 8


def left_in_floats(graph: Graph) -> dict[Node, Node]:
    """The quantize behind each call, or behind its limits -> the call."""
    found = {}
    for node in graph.nodes:
        value = node.args[0] if is_quantize(node) else None
        if op_name(value) in LIMITING and only_user(value.args[0]) is value:
            value = value.args[0] if _reads_stored(value.args[0]) else value
        if isinstance(value, Node) and not is_dequantize(value) and _reads_stored(value):
            found[node] = value
    return found


def _reads_stored(node: Node) -> bool:
    return any(is_dequantize(each) for each in node.all_input_nodes)


def warn_of_floats(graph: Graph, reasons: Mapping[Node, str]) -> None:
    """`reasons`: of calls by their quantize, where a row says why it does not take one."""
    calls: dict[tuple[str, str], list[Node]] = {}
    for result, call in left_in_floats(graph).items():
        key = op_name(call), reasons.get(result, NO_ROW)
        calls.setdefault(key, []).append(call)
    if not calls:
        return
    lines = []
    for (name, reason), nodes in calls.items():
        more = f" (and {len(nodes) - 1} more)" if len(nodes) > 1 else ""
        lines.append(f"    {name}: {reason}: node {nodes[0].name}{source_line(nodes[0])}{more}")
    rest = [f"    and {len(lines) - _MAX_NAMED} others"] if len(lines) > _MAX_NAMED else []
    warnings.warn(
        "\n".join(["what was quantized is computed in floats here:", *lines[:_MAX_NAMED], *rest]),
        UserWarning,
        stacklevel=2,
    )
