# SPDX-License-Identifier: BSD-3-Clause
"""LoRA adapters in the model's names; `base.lora_config` of export_llm reads them as they are."""

from __future__ import annotations

import torch

from executorch.extension.llm.checkpoint.keys import ADAPTER_NAMES, get_mapped_key
from executorch.extension.llm.checkpoint.reader import open_checkpoint


def unsloth_to_meta(state_dict: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Raises ValueError for a tensor that is no adapter of a projection."""
    found = {}
    for name, value in state_dict.items():
        try:
            found[get_mapped_key(name, ADAPTER_NAMES)] = value
        except Exception as error:
            raise ValueError(f"{name!r}: expected an adapter of a projection: {error}") from error
    return found


def load_and_convert_unsloth_to_meta(checkpoint_path: str) -> dict[str, torch.Tensor]:
    """The adapters of a safetensors file, such as peft and Unsloth write, by our names. Queries and keys keep the order
    of their rows."""
    return unsloth_to_meta(dict(open_checkpoint(checkpoint_path)))
