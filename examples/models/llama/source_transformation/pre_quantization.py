# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports the layers of checkpoints in few bits; `base.preq_mode` of export_llm loads such files itself."""

from executorch.extension.llm.quantization.group_layers import (
    sanitize_checkpoint_from_pre_quantization,
    transform_embedding_for_pre_quantization,
    transform_linear_for_pre_quantization,
    transform_output_linear_for_pre_quantization,
)

__all__ = [
    "sanitize_checkpoint_from_pre_quantization",
    "transform_embedding_for_pre_quantization",
    "transform_linear_for_pre_quantization",
    "transform_output_linear_for_pre_quantization",
]
