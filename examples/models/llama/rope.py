# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports extension.llm.model.rope."""

from executorch.extension.llm.model.rope import Rope, RotaryEmbedding, apply_rotary_emb

__all__ = ["Rope", "RotaryEmbedding", "apply_rotary_emb"]
