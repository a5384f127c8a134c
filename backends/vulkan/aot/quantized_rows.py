# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what quantizes and dequantizes by itself, and of the operators of et_vk that users may call."""

from __future__ import annotations

from torch.fx import Node

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401  defines et_vk
from executorch.backends.vulkan.aot.row import (
    ALL,
    BYTES,
    FLOATS,
    INT8,
    VulkanRow,
    argument,
    row,
)
from executorch.exir.backend.lowering.op_table import when

_OF_FLOATS = "sdpa apply_rotary_emb apply_rotary_emb_interleaved"
_WITH_CONSTANTS = "rms_norm linear_q4gsw linear_qcs4w linear_dq8ca_q4gsw linear_q8ta_q8csw"
_OF_BYTES = "q8ta_add q8ta_relu q8ta_pixel_shuffle"
_LINEAR_OF_BYTES = (
    "q8ta_linear q8ta_linear_gemv q8ta_conv2d q8ta_conv2d_pw q8ta_conv2d_dw q8ta_conv2d_transposed"
)


def _has_full_range(node: Node) -> bool:
    return (argument(node, "quant_min"), argument(node, "quant_max")) == (-128, 127)


def quantized_rows() -> dict[str, VulkanRow]:
    whole = when(_has_full_range, "the whole range of int8 is expected")
    rows = {
        "quantized_decomposed.quantize_per_tensor.default": row(FLOATS, whole, gives=INT8),
        "quantized_decomposed.dequantize_per_tensor.default": row(INT8, whole, gives=FLOATS),
        "aten._weight_int8pack_mm.default": row((FLOATS, INT8, FLOATS), prepacks=True),
        "et_vk.grid_priors.default": row(FLOATS),
    }
    rows |= {f"et_vk.{name}.default": row(FLOATS) for name in _OF_FLOATS.split()}
    rows |= {
        f"et_vk.{name}.default": row(ALL, gives=FLOATS, prepacks=True)
        for name in _WITH_CONSTANTS.split()
    }
    rows["et_vk.embedding_q4gsw.default"] = row(
        ALL, gives=FLOATS, prepacks=True, primary=3, places=(3,)
    )
    rows |= {f"et_vk.{name}.default": row(BYTES) for name in _OF_BYTES.split()}
    rows |= {
        f"et_vk.{name}.default": row(ALL, gives=INT8, prepacks=True)
        for name in _LINEAR_OF_BYTES.split()
    }
    return rows
