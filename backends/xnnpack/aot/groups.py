# SPDX-License-Identifier: BSD-3-Clause
"""What a call takes along into its delegate."""

from __future__ import annotations

from torch.fx import Node

from executorch.backends.xnnpack.aot.constants import Constants
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.aot.quantized_steps import quantized_group
from executorch.backends.xnnpack.aot.steps import foldable_convolution
from executorch.exir.backend.lowering.steps import BATCH_NORM, first_item
from executorch.exir.graph_facts import op_name


def group_of(node: Node, constants: Constants) -> list[Node]:
    """A call that a row takes, with its dequantizes and quantize, the item of its result, a convolution to fold."""
    quantized = quantized_group(node, constants)
    if quantized:
        return quantized
    group = [node]
    if isinstance(node.meta["val"], tuple | list):
        group.append(first_item(node))
    if op_name(node) == BATCH_NORM:
        convolution = foldable_convolution(node)
        if convolution is not None and not TABLE.why_not(convolution, constants):
            group.insert(0, convolution)
    return group
