# SPDX-License-Identifier: BSD-3-Clause
"""Rows of convolutions, with the limits that run with them."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from executorch.backends.vulkan.aot.row import FLOATS, VulkanRow, argument, arguments_of, row
from executorch.exir.backend.lowering.annotation import GEMM
from executorch.exir.backend.lowering.op_table import when
from executorch.exir.backend.lowering.patterns import HEAD, Call
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.graph_facts import op_name

LIMITS = Call(
    ("aten.relu.default", "aten.hardtanh.default", "aten.clamp.default"), HEAD, name="limits"
)
_LARGEST = torch.finfo(torch.float64).max


def limits_of(node: Node) -> tuple[float | None, float | None]:
    """Least and largest that an activation gives."""
    if op_name(node) == "aten.relu.default":
        return 0.0, _LARGEST
    low, high = arguments_of(node)[1:3]
    return (None if low is None else float(low)), (None if high is None else float(high))


def _has_images(node: Node) -> bool:
    rank = node.args[0].meta["val"].dim()
    return rank == 4 or (rank == 3 and not argument(node, "transposed"))


def write_convolution(writer: Any, step: Step) -> None:
    args = [
        writer.argument(each, raw=place > 0) for place, each in enumerate(arguments_of(step.head))
    ]
    limits = step.named.get("limits")
    if limits is None:
        writer.call("aten.convolution.default", args, step.head)
        return
    args += [writer.argument(each) for each in limits_of(limits)]
    writer.call("et_vk.conv_with_clamp.default", args, step.result)


def convolution_rows() -> dict[str, VulkanRow]:
    images = when(_has_images, "batches of images, or of rows and not transposed, are expected")
    convolution = row(
        FLOATS, images, annotation=GEMM, tail=LIMITS, lower=write_convolution, prepacks=True
    )
    return {
        "aten.convolution.default": convolution,
        "et_vk.conv_with_clamp.default": row(FLOATS, images, prepacks=True),
    }
