# SPDX-License-Identifier: BSD-3-Clause
"""What each operator of a graph gives when PyTorch runs it."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from executorch.devtools.inspector._graphs import CALLS, DebugHandle, handle_of


class IntermediateOutputCapturer(Interpreter):
    """Runs a graph and keeps copies of what operators with a debug handle give; of several with the same handle,
    the last."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)

    def run_and_capture(self, *args: Any, **kwargs: Any) -> dict[DebugHandle, Any]:
        self._captured: dict[DebugHandle, Any] = {}
        with torch.no_grad():
            self.run(*args, **kwargs)
        return self._captured

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if CALLS.matches(n):
            self._captured[handle_of(n)] = _copy(result)
        return result


def _copy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return type(value)(_copy(item) for item in value)
    return value
