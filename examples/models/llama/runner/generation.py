# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports extension.llm.model.generation."""

from executorch.extension.llm.model.generation import LlamaRunner, next_token, sample_top_p

__all__ = ["LlamaRunner", "next_token", "sample_top_p"]
