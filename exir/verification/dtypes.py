# SPDX-License-Identifier: BSD-3-Clause
"""The validator of dtypes: after passes of one's own, which calls break the constraints of edge.yaml?"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from executorch.exir.dialects.edge._constraints import DTYPES, DtypeConstraints, constraints_of
from executorch.exir.dialects.edge._ops import EdgeOpOverload

_KNOWN = frozenset(DTYPES.values())


def dtype_violations(graph_module: GraphModule) -> list[str]:
    """One line for each call, in branches too, whose dtypes no row of edge.yaml allows.

    The table speaks of eight dtypes: calls with others (16-bit floats, complex) are not judged, nor is a result whose
    dtype the call itself decides (an argument `dtype`, a floating point number beside integers).
    """
    found = []
    for node in graph_module.graph.nodes:
        if node.op == "call_function" and isinstance(node.target, EdgeOpOverload):
            constraints = constraints_of(node.target._op._schema)
            if constraints is not None:
                found.extend(_violation(node, constraints))
    for child in graph_module.children():
        if isinstance(child, GraphModule):
            found.extend(dtype_violations(child))
    return found


def _violation(node: Node, constraints: DtypeConstraints) -> list[str]:
    dtypes = {**_inputs(node), **({} if _decides_its_dtype(node) else _results(node))}
    if not set(dtypes.values()) <= _KNOWN or constraints.accepts(dtypes):
        return []
    message = ", ".join(f"{name} {str(dtype)[6:]}" for name, dtype in dtypes.items())
    rows = " or ".join(_row(row, constraints) for row in constraints.rows[:4])
    more = f" or {len(constraints.rows) - 4} more rows" if len(constraints.rows) > 4 else ""
    where = node.meta.get("stack_trace", "").strip().splitlines()[-1:]
    return [
        f"{node.name} = {node.target.__name__}: expected {rows}{more}; found {message}"
        + (f" (from `{where[0].strip()}`)" if where else "")
    ]


def _row(row: dict[str, str], constraints: DtypeConstraints) -> str:
    cells = []
    for name, alias in row.items():
        allowed = "|".join(sorted(str(dtype)[6:] for dtype in constraints.aliases[alias]))
        cells.append(f"{name}: {alias}={allowed}")
    return "{" + ", ".join(cells) + "}"


def _dtype_of(value: Any) -> torch.dtype | None:
    fake = value.meta.get("val") if isinstance(value, Node) else value
    return fake.dtype if isinstance(fake, torch.Tensor) else None


def _named_arguments(node: Node) -> dict[str, Any]:
    names = [argument.name for argument in node.target._op._schema.arguments]
    return {**dict(zip(names, node.args, strict=False)), **node.kwargs}


def _inputs(node: Node) -> dict[str, torch.dtype]:
    dtypes = {name: _dtype_of(value) for name, value in _named_arguments(node).items()}
    return {name: dtype for name, dtype in dtypes.items() if dtype is not None}


def _results(node: Node) -> dict[str, torch.dtype]:
    value = node.meta.get("val")
    values = value if isinstance(value, list | tuple) else [value]
    dtypes = {f"__ret_{index}": _dtype_of(each) for index, each in enumerate(values)}
    return {name: dtype for name, dtype in dtypes.items() if dtype is not None}


def _decides_its_dtype(node: Node) -> bool:
    named = _named_arguments(node)
    return named.get("dtype") is not None or any(isinstance(v, float) for v in named.values())
