# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what the backend takes, under which conditions, and as what. The partitioner, preprocess, the
quantizer, the reasons why a call is not delegated and the page of operators all read it."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.backends.vulkan.aot.aten_rows import aten_rows
from executorch.backends.vulkan.aot.attention import attention_rows
from executorch.backends.vulkan.aot.convolution_rows import convolution_rows
from executorch.backends.vulkan.aot.fused_int8 import int8_patterns
from executorch.backends.vulkan.aot.fused_linear import linear_patterns
from executorch.backends.vulkan.aot.fused_norm import norm_patterns
from executorch.backends.vulkan.aot.fused_rotary import rotary_patterns
from executorch.backends.vulkan.aot.places import is_int64, reads_places, says_places
from executorch.backends.vulkan.aot.quantized_rows import quantized_rows
from executorch.backends.vulkan.aot.row import ALL
from executorch.backends.vulkan.aot.sizes import is_size
from executorch.backends.vulkan.aot.table import VulkanTable
from executorch.exir.backend.lowering.op_table import (
    TensorCondition,
    has_dtype_of,
    has_elements,
    has_rank_up_to,
)

MAX_RANK = 8


def _is_tensor_or_size(tensor: Node, call: Node) -> bool:
    found = tensor.meta.get("val")
    return isinstance(found, torch.Tensor | torch.SymInt | torch.SymBool | int) or found is None


def _has_sizes_that_fit(tensor: Node, call: Node) -> bool:
    return has_elements(tensor, call) and has_rank_up_to(MAX_RANK)(tensor, call)


def _has_known_elements(tensor: Node, call: Node) -> bool:
    """Of what only its sizes are read, elements do not matter."""
    is_other = not is_int64(tensor) or is_size(call) or reads_places(TABLE, tensor, call)
    return is_other or says_places(TABLE, tensor)


_DTYPES = ", ".join(sorted(str(each).removeprefix("torch.") for each in ALL))
TABLE = VulkanTable(
    {
        **int8_patterns(),
        **linear_patterns(),
        **norm_patterns(),
        **rotary_patterns(),
        **aten_rows(),
        **convolution_rows(),
        **quantized_rows(),
        **attention_rows(),
    },
    of_tensors=(
        TensorCondition(_is_tensor_or_size, "a tensor or a size is expected"),
        TensorCondition(has_dtype_of(ALL), f"dtype {_DTYPES} is expected"),
        TensorCondition(
            _has_known_elements, "int64 that says which elements are meant is expected"
        ),
        TensorCondition(
            _has_sizes_that_fit, f"at most {MAX_RANK} dimensions, with elements, are expected"
        ),
    ),
)
