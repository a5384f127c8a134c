# SPDX-License-Identifier: BSD-3-Clause
"""Parts of decoders and image encoders that export where torchtune's do not; torchtune itself is not needed."""

from executorch.extension.llm.modules._position_embeddings import (
    TiledTokenPositionalEmbedding,
    TilePositionalEmbedding,
    replace_tile_positional_embedding,
    replace_tiled_token_positional_embedding,
)
from executorch.extension.llm.modules.attention import (
    MultiHeadAttention,
    replace_mha_with_inference_mha,
)
from executorch.extension.llm.modules.kv_cache import KVCache

__all__ = [
    "KVCache",
    "MultiHeadAttention",
    "TilePositionalEmbedding",
    "TiledTokenPositionalEmbedding",
    "replace_mha_with_inference_mha",
    "replace_tile_positional_embedding",
    "replace_tiled_token_positional_embedding",
]
