# SPDX-License-Identifier: BSD-3-Clause
"""Keys and values in 4 bits after a random rotation (TurboQuant)."""

from executorch.extension.llm.modules.turboquant.kv_cache import TurboQuantKVCache

__all__ = ["TurboQuantKVCache"]
