# SPDX-License-Identifier: BSD-3-Clause
"""Importing this registers `preprocess::tile_crop` with PyTorch; the operator is in preprocess_custom_ops."""

from executorch.extension.llm.custom_ops.preprocess_custom_ops import MAX_NUM_TILES, tile_crop

__all__ = ["MAX_NUM_TILES", "tile_crop"]
