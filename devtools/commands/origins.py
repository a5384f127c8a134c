# SPDX-License-Identifier: BSD-3-Clause
"""Where the operators of a program come from: lines of Python and modules, by debug handle, from an ETRecord."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch.fx import GraphModule, Node

from executorch.devtools.commands import given
from executorch.devtools.commands.program_file import Call
from executorch.devtools.inspector._graphs import FORWARD, at_instruction, one_method
from executorch.exir.program._etrecord import ETRecord

_OF_TORCH = re.compile(r"/(site|dist)-packages/torch/|^<")  # in angle brackets: traced code
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in [^\n]*(?:\n\s*([^\n]+))?')


@dataclass(frozen=True)
class Origin:
    """A node of the edge program. `place`: "file:line" of the innermost frame outside
    of torch, empty when unknown; `source`: that line; `module`: path."""

    node: str
    operator: str
    place: str
    source: str
    module: str

    def __str__(self) -> str:
        return f"{self.place}: {self.source}" if self.place else self.node


def origin_of(node: Node) -> Origin:
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    of_the_user = [frame for frame in frames if not _OF_TORCH.search(frame[0])]
    file, line, source = (of_the_user or frames or [("", "", "")])[-1]
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    module = stack[-1][0] if stack else ""
    operator = getattr(node.target, "name", None)
    return Origin(
        node.name,
        operator() if callable(operator) else str(node.target),
        f"{file}:{line}" if file else "",
        source.strip(),
        module.replace("L['self'].", "").replace("L['self']", ""),
    )


class Origins:
    """Handles count in each method from the beginning."""

    def __init__(self, record: ETRecord) -> None:
        self._handles: Mapping[str, Any] = record._debug_handle_map or {}
        self._origins: dict[str, dict[int, Origin]] = {}
        for method, program in _programs(record.edge_dialect_program).items():
            found = self._origins.setdefault(method, {})
            for node in _nodes(program.graph_module):
                handle = node.meta.get("debug_handle")
                if node.op == "call_function" and isinstance(handle, int):
                    found.setdefault(handle, origin_of(node))

    @staticmethod
    def read(path: Path | None) -> Origins | None:
        """None without a path."""
        return None if path is None else Origins(given.record(path))

    def of_handles(self, handles: Any, method: str = FORWARD) -> list[Origin]:
        known = one_method(self._origins, method) or {}
        listed = [handles] if isinstance(handles, int) else handles or ()
        return [known[handle] for handle in listed if handle in known]

    def of_call(self, call: Call) -> list[Origin]:
        known = one_method(self._handles, call.method)
        return self.of_handles(at_instruction(known, call.instruction), call.method)


def _programs(edge: Any) -> Mapping[str, Any]:
    if edge is None:
        return {}
    return edge if isinstance(edge, Mapping) else {FORWARD: edge}


def _nodes(module: GraphModule) -> Iterator[Node]:
    for each in module.modules():
        if isinstance(each, GraphModule):
            yield from each.graph.nodes
