# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports extension.llm.model.lora."""

from executorch.extension.llm.model.lora import LoRALinear, lora_call

__all__ = ["LoRALinear", "lora_call"]
