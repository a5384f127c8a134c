# SPDX-License-Identifier: BSD-3-Clause
"""Which quantized values XNNPACK's kernels compute with."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.exir.backend.lowering.quantized import Quantization, quantization_of
from executorch.exir.backend.lowering.quantized_steps import chain_of

_QD = "quantized_decomposed"
QUANTIZE = f"{_QD}.quantize_per_tensor.default"
DEQUANTIZE = f"{_QD}.dequantize_per_tensor.default"
_INT8 = (torch.int8, -128, 127)


def parameters_of(node: Node) -> Quantization | None:
    """Of a static quantize or dequantize to the whole range of int8. XNNPACK refuses scales that are not above 0."""
    qparams = quantization_of(node)
    if qparams is None or not qparams.is_static or qparams.out_dtype is not None:
        return None
    is_int8 = (qparams.dtype, qparams.quant_min, qparams.quant_max) == _INT8
    return qparams if is_int8 and qparams.scale > 0 else None


def dynamic_source(node: Node) -> Node | None:
    """The float tensor that the chain ending in `node` quantizes, if rows of it may be quantized each by itself."""
    chain = chain_of(node)
    return chain.source if chain is not None and chain.is_by_row else None
