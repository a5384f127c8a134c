# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports extension.llm.model.feed_forward."""

from executorch.extension.llm.model.feed_forward import FeedForward, LoRAFeedForward

__all__ = ["FeedForward", "LoRAFeedForward"]
