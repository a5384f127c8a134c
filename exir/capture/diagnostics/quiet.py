# SPDX-License-Identifier: BSD-3-Clause
"""What torch prints while it refuses a model: its graph so far, and notes to its developers."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import Iterator
from typing import TextIO

_GRAPHS = ("class GraphModule(torch.nn.Module):", "def forward(self, arg0_1")
_TRACE = logging.getLogger("torch.export._trace")


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Nothing is printed, by the model neither."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(disabled)


@contextlib.contextmanager
def without_graphs() -> Iterator[None]:
    """All but what torch.export adds to an error that is told otherwise."""
    level = _TRACE.level
    _TRACE.setLevel(logging.CRITICAL)
    try:
        with contextlib.redirect_stderr(_WithoutGraphs(sys.stderr)):
            yield
    finally:
        _TRACE.setLevel(level)


class _WithoutGraphs(io.TextIOBase):
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._follows_a_graph = False

    def write(self, text: str) -> int:
        is_graph = text.lstrip().startswith(_GRAPHS)
        if not is_graph and not (self._follows_a_graph and text == "\n"):
            self._stream.write(text)
        self._follows_a_graph = is_graph
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()
