# SPDX-License-Identifier: BSD-3-Clause
"""Stack traces of nodes as frames of the program file."""

import re

import torch

from executorch.exir.schema import Frame, FrameList

_FRAME = re.compile(
    r'^\s*File "(?P<file>.*)", line (?P<line>\d+), in (?P<name>.*)$(?:\n(?!\s*File ")(?P<code>.*)$)?',
    re.MULTILINE,
)


def frames_of(node: torch.fx.Node) -> FrameList:
    """The Python frames that a node came from, outermost first; empty when the node does not say."""
    return frames_in(node.meta.get("stack_trace") or "")


def frames_in(text: str) -> FrameList:
    """The frames of a Python traceback."""
    return FrameList(
        [
            Frame(
                filename=match["file"],
                lineno=int(match["line"]),
                name=match["name"].strip(),
                context=(match["code"] or "").strip(),
            )
            for match in _FRAME.finditer(text)
        ]
    )
