# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Parts of the quantizer under the names that users import."""

from torch.fx import GraphModule
from torchao.quantization.pt2e.quantizer import QuantizationConfig, QuantizationSpec

from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.exir.backend.lowering.quantizer.captured import CapturedTable
from executorch.exir.backend.lowering.quantizer.rewrites import numbers_to_tensors


def _convert_scalars_to_attrs(model: GraphModule) -> GraphModule:
    """Numbers that are added or multiplied become tensors of the module, so that they can be quantized."""
    numbers_to_tensors(model, CapturedTable(TABLE))
    model.recompile()
    return model


__all__ = ["QuantizationConfig", "QuantizationSpec", "_convert_scalars_to_attrs"]
