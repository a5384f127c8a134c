# SPDX-License-Identifier: BSD-3-Clause
"""Cuts a decoder between layers, so that delegates hold some layers each: for compilers that want them small."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass
from executorch.extension.llm.custom_ops import op_fallback  # noqa: F401


class SplitGraph(ExportPass):
    """Before: layer 1 -> layer 2. After, with 2 in `shard_layers`: layer 1 -> llama::fallback -> layer 2.

    `pattern` finds the number of a layer in the path of a module, group 1. Values that layers below a cut hand to
    those above go through the copy, others do not.
    """

    def __init__(self, shard_layers: Sequence[int], pattern: str = r"layers.(\d+)") -> None:
        super().__init__()
        self.shard_layers, self.pattern = list(shard_layers), pattern

    def _layer(self, node: torch.fx.Node) -> int | None:
        for path, _ in reversed(list(node.meta.get("nn_module_stack", {}).values())):
            if found := re.search(self.pattern, path):
                return int(found[1])
        return None

    def call(self, graph_module: torch.fx.GraphModule) -> PassResult:
        graph, modified = graph_module.graph, False
        layers = {node: self._layer(node) for node in graph.nodes if node.op == "call_function"}
        for cut in sorted(self.shard_layers, reverse=True):
            above = {node for node, layer in layers.items() if layer is not None and layer >= cut}
            for node, layer in list(layers.items()):
                users = [user for user in node.users if user in above]
                if layer is None or layer >= cut or not users:
                    continue
                with graph.inserting_after(node):
                    copied = graph.call_function(exir_ops.edge.llama.fallback.default, (node,))
                copied.meta = {**node.meta}
                layers[copied] = layer
                for user in users:
                    user.replace_input_with(node, copied)
                modified = True
        graph_module.recompile()
        return PassResult(graph_module, modified)


def get_split_graph_pass(
    num_layers: int, shares: int, pattern: str = r"layers.(\d+)"
) -> tuple[type[SplitGraph], dict[str, Any]]:
    """The pass, and its arguments in the form in which Qualcomm's pass manager takes them, for `shares` parts of
    equally many layers."""
    if not 1 <= shares <= num_layers:
        raise ValueError(f"get_split_graph_pass: expected 1 to {num_layers} shares, found {shares}")
    cuts = list(range(0, num_layers, num_layers // shares))
    arguments = {"shard_layers": cuts, "pattern": pattern}
    return SplitGraph, {"activate": True, "args_kwargs_defaults": arguments}
