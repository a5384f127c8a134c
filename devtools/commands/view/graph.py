# SPDX-License-Identifier: BSD-3-Clause
"""A method as a graph whose nodes say all that is known of them: the model of data that pages and JSON show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

INPUT, OUTPUT, DELEGATE = "input", "output", "delegate"
BY_KERNELS = "kernels"  # the backend of what stays outside of delegates


@dataclass(frozen=True)
class Weight:
    """`bins`: how many elements stand in each of equal parts of `low`..`high`, in per cent of the fullest; empty where
    the bytes are not known."""

    name: str
    kind: str
    num_bytes: int
    low: float = 0.0
    high: float = 0.0
    bins: tuple[int, ...] = ()


@dataclass(frozen=True)
class GraphNode:
    """`inputs`: places of the nodes that it reads; `outputs`: dtype, sizes and layout of what it gives; `backend`: who
    runs it, empty where no call does; `why`: it is not delegated; `limits`: of a quantized value; `call`: its place
    among the method's calls; `change`: against the other file."""

    name: str
    operator: str
    module: str = ""
    line: str = ""
    source: str = ""
    inputs: tuple[int, ...] = ()
    outputs: tuple[str, ...] = ()
    backend: str = ""
    why: str = ""
    num_bytes: int = 0
    ms: float | None = None
    limits: tuple[float, float] | None = None
    weights: tuple[Weight, ...] = ()
    call: int | None = None
    change: str = ""

    @property
    def is_call(self) -> bool:
        """A delegate's operators stand beside the call of it."""
        return self.operator not in (INPUT, OUTPUT, DELEGATE)


@dataclass(frozen=True)
class Graph:
    """`memory`: planned bytes that are alive at each call, empty where nothing is planned."""

    file: str
    method: str
    nodes: Sequence[GraphNode]
    memory: Sequence[int] = ()


def as_json(graph: Graph) -> dict[str, Any]:
    """Without what a node does not have."""
    nodes = [
        {key: value for key, value in asdict(node).items() if value not in (None, "", (), 0)}
        for node in graph.nodes
    ]
    return {
        "file": graph.file,
        "method": graph.method,
        "nodes": nodes,
        "memory": list(graph.memory),
    }


def described(dtype: str, sizes: Sequence[Any], dim_order: Sequence[int] | None) -> str:
    """`float32[1, 3, 8, 8]`, and the layout where it is not the usual one."""
    text = f"{dtype}[{', '.join(map(str, sizes))}]"
    if dim_order is None or list(dim_order) == sorted(dim_order):
        return text
    last = [0, *range(2, len(sizes)), 1]
    layout = "channels last" if list(dim_order) == last else f"dim order {tuple(dim_order)}"
    return f"{text} {layout}"
