# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Calls that name a device name another one.

before: %y = ones([2], device=cuda)              after: %y = ones([2], device=cpu)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.pass_base import ExportPass


class ToDevicePass(ExportPass):
    """Works in place on the calls, branches included; where parameters live is the caller's affair."""

    def __init__(self, device: str | torch.device, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.device = torch.device(device)

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for module in graph_module.modules():
            for node in module.graph.nodes if isinstance(module, GraphModule) else ():
                if node.op == "call_function" and node.kwargs.get("device") is not None:
                    modified = modified or node.kwargs["device"] != self.device
                    node.update_kwarg("device", self.device)
        graph_module.recompile()
        return PassResult(graph_module, modified)

    def __call__(self, graph_module: GraphModule) -> PassResult:
        return self.call(graph_module)
