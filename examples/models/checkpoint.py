# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of other projects: names, types, files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import torch

from executorch.extension.llm.checkpoint.keys import get_mapped_key
from executorch.extension.llm.checkpoint.reader import open_checkpoint

__all__ = [
    "get_checkpoint_dtype",
    "get_default_model_resource_dir",
    "get_mapped_key",
    "load_checkpoint_from_pytorch_model",
]


def get_default_model_resource_dir(model_file_path: str) -> Path:
    """The folder `params` beside a model's source file."""
    return Path(model_file_path).absolute().parent / "params"


def get_checkpoint_dtype(checkpoint: dict[str, Any]) -> torch.dtype | None:
    """The type of the first tensor, None for no tensors; a warning names those of other types."""
    types = {name: value.dtype for name, value in checkpoint.items() if hasattr(value, "dtype")}
    if not types:
        return None
    first, dtype = next(iter(types.items()))
    others = [(name, each) for name, each in types.items() if each != dtype]
    if others:
        logging.getLogger(__name__).warning(
            "mixed types: %s is %s, others are not: %s", first, dtype, others
        )
    return dtype


def load_checkpoint_from_pytorch_model(input_dir: str) -> dict[str, torch.Tensor]:
    """The tensors of pytorch_model.bin, or of the files that its index names."""
    folder = Path(input_dir)
    if (folder / "pytorch_model.bin").is_file():
        return dict(open_checkpoint(folder / "pytorch_model.bin"))
    if (folder / "pytorch_model.bin.index.json").is_file():
        return dict(open_checkpoint(folder))
    raise FileNotFoundError(f"Could not find pytorch_model checkpoint in {input_dir}")
