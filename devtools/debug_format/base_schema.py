# SPDX-License-Identifier: BSD-3-Clause
"""A graph of operators and values, nested as tools show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Node:
    """`inputs` in the order of `named_args`; `output_shapes` one per output."""

    name: str
    inputs: list[Node] | None = None
    output_shapes: list[list[int]] | None = None
    metadata: dict[str, Any] | None = None
    named_args: list[str] | None = None


@dataclass
class OperatorNode(Node):
    op: str | None = None


@dataclass
class ValueNode(Node):
    dtype: str = ""
    val: Any | None = None


@dataclass
class OperatorGraph:
    graph_name: str
    elements: list[Node | OperatorGraph]
    metadata: dict[str, Any] | None = None
