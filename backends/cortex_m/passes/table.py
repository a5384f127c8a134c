# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: which calls become operators of the backend, under which conditions, and as what. Passes,
quantizer, the reasons why calls stay and the page of operators read it."""

from __future__ import annotations

import torch
from torch.fx import Node

import executorch.backends.cortex_m.ops.operators  # noqa: F401  defines them
from executorch.backends.cortex_m.passes import convolution_and_linear, data_movement, elementwise
from executorch.exir.backend.lowering.kernels.writer import KernelWriter
from executorch.exir.backend.lowering.op_table import Condition, Constants, OpTable, Row
from executorch.exir.backend.lowering.quantized import is_dequantize, quantization_of
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.dialects._ops import ops
from executorch.exir.graph_facts import op_name

TABLE = OpTable({**elementwise.ROWS, **convolution_and_linear.ROWS, **data_movement.ROWS})


# ---- What is left between float32 and int8 ----


def _is_small(node: Node, constants: Constants) -> bool:
    qparams = quantization_of(node)
    if qparams.dtype not in (torch.int8, torch.int16) or not qparams.is_static:
        return False
    info = torch.iinfo(qparams.dtype)
    return info.min <= qparams.quant_min <= qparams.quant_max <= info.max


def _is_of_float(node: Node, constants: Constants) -> bool:
    value = node if is_dequantize(node) else node.args[0]
    return value.meta["val"].dtype == torch.float32


def _lies_plainly(node: Node, constants: Constants) -> bool:
    order = node.args[0].meta["val"].dim_order()
    return order in (tuple(range(len(order))), (0, 2, 3, 1))


def _write(writer: KernelWriter, step: Step) -> Node:
    name = op_name(step.head).split(".")[1]
    return writer.call(getattr(ops.edge.cortex_m, name).default, *step.head.args)


_SMALL = (
    Condition(_is_small, "int8 or int16 with limits within it is expected"),
    Condition(_is_of_float, "float32 on the other side is expected"),
    Condition(_lies_plainly, "the plain memory order or channels last is expected"),
)
QUANTIZE_TABLE = OpTable(
    {
        "quantized_decomposed.quantize_per_tensor.default": Row(_write, _SMALL),
        "quantized_decomposed.dequantize_per_tensor.default": Row(_write, _SMALL),
    }
)
