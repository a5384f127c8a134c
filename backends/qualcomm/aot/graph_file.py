# SPDX-License-Identifier: BSD-3-Clause
"""Graphs as a file of text, for who has no SDK yet: what it would be given, without asking it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from executorch.backends.qualcomm.aot.door import using
from executorch.backends.qualcomm.aot.graph import Graph
from executorch.backends.qualcomm.aot.graph_text import lines
from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchOptions


class _Texts:
    """A door that takes all operators that the table does, and compiles nothing."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def why_missing(self, options: QnnExecuTorchOptions) -> str:
        return ""

    def why_refused(self, graph: Graph, options: QnnExecuTorchOptions) -> str:
        return ""

    def compile(self, graphs: Sequence[Graph], options: QnnExecuTorchOptions) -> bytes:
        number = len(self.texts)
        written = [f"graph {graph.name} {number}\n" + "\n".join(lines(graph)) for graph in graphs]
        self.texts.append("\n".join(written))
        return b"%d" % number  # contexts of the same bytes are shared


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Programs that are lowered meanwhile are compiled for nothing; their graphs are in the file at the end."""
    with using(_Texts()) as door:
        yield
    path.write_text("".join(f"{text}\n" for text in door.texts))
