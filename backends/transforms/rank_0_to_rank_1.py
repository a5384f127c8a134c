# SPDX-License-Identifier: BSD-3-Clause
"""Inputs without dimensions get two of size 1, as upstream's: what reads them broadcasts.

before: %x = placeholder of shape []     after: %x = placeholder of shape [1, 1]
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import finished, take_over
from executorch.exir.pass_base import ExportPass


class Rank0ToRank1Pass(ExportPass):
    """Values behind the inputs are computed anew."""

    def __init__(self) -> None:
        super().__init__()

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in graph_module.graph.find_nodes(op="placeholder"):
            value = node.meta.get("val")
            if isinstance(value, torch.Tensor) and value.dim() == 0:
                with value.fake_mode:
                    node.meta["val"] = value.reshape(1, 1)
                node.meta.pop("tensor_meta", None)
                modified = True
        if not modified:
            return finished(graph_module, False)
        return take_over(graph_module, super().call(graph_module).graph_module)
