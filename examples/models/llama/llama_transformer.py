# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports extension.llm.model.transformer."""

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.feed_forward import MOEFeedForward
from executorch.extension.llm.model.norms import RMSNorm
from executorch.extension.llm.model.transformer import (
    Transformer,
    TransformerBlock,
    construct_transformer,
)

__all__ = [
    "MOEFeedForward",
    "ModelArgs",
    "RMSNorm",
    "Transformer",
    "TransformerBlock",
    "construct_transformer",
]
