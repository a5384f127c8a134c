# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Logs a graph between other passes: its code, its nodes with their source lines, and how many of each kind."""

from __future__ import annotations

import logging
import re
from collections import Counter

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.common import override_logger

_LOGGER = logging.getLogger("executorch.exir")
_FRAME = re.compile(r'(\s*File ")([^"]*/)?([^"/]+)(".*)')


class DebugPass(PassBase):
    """Changes nothing. `show_src`: the Python lines of each node, the innermost unless `show_all_frames`, with
    paths if `show_full_path`, only frames whose file matches the pattern `path_filter`. `show_spec`: tensor specs.
    The log goes to standard error or to `log_filename`."""

    def __init__(
        self,
        msg: str = "",
        enable_debug_pass: bool = True,
        show_src: bool = False,
        show_full_path: bool = False,
        show_all_frames: bool = False,
        path_filter: str | None = None,
        show_spec: bool = False,
        log_filename: str | None = None,
    ) -> None:
        super().__init__()
        self.msg = msg
        self.enable_debug_pass = enable_debug_pass
        self.show_src = show_src
        self.show_full_path = show_full_path
        self.show_all_frames = show_all_frames
        self.path_filter = re.compile(path_filter) if path_filter else None
        self.show_spec = show_spec
        self.log_filename = log_filename

    def call(self, graph_module: GraphModule) -> PassResult:
        if self.enable_debug_pass:
            with override_logger(filename=self.log_filename):
                self.callWithLoggerEnabled(graph_module)
        return PassResult(graph_module, False)

    def callWithLoggerEnabled(self, graph_module: GraphModule) -> None:
        if self.msg:
            _LOGGER.debug("%s", self.msg)
        _LOGGER.debug("code:\n%s", graph_module.code)
        kinds: Counter[str] = Counter()
        functions: Counter[str] = Counter()
        for index, node in enumerate(graph_module.graph.nodes):
            _LOGGER.debug("%4d: %s", index, node.format_node())
            if self.show_spec and "spec" in node.meta:
                _LOGGER.debug("      %s", node.meta["spec"])
            if self.show_src:
                self.printFrames(node)
            kinds[node.op] += 1
            if node.op == "call_function":
                functions[str(node.target)] += 1
        for title, counts in (("nodes", kinds), ("functions", functions)):
            rows = [f"{count:6} {name}" for name, count in counts.most_common()]
            _LOGGER.debug("%s:\n%s", title, "\n".join(rows))

    def printFrames(self, node: Node) -> None:
        """A frame is the line that names the file and the source text below it."""
        frames: list[list[str]] = []
        for line in (node.meta.get("stack_trace") or "").splitlines():
            if line.lstrip().startswith("File "):
                frames.append([line])
            elif frames:
                frames[-1].append(line)
        if self.path_filter is not None:
            frames = [frame for frame in frames if self.path_filter.search(frame[0])]
        for frame in frames if self.show_all_frames else frames[-1:]:
            where = frame[0] if self.show_full_path else _FRAME.sub(r"\1\3\4", frame[0])
            _LOGGER.debug("%s", "\n".join([where, *frame[1:]]))
