# SPDX-License-Identifier: BSD-3-Clause
"""Decoders that `llama.py` knows; a subclass of LLMModelConfig below `register_llm_model(name)` is one more."""

from executorch.examples.qualcomm.oss_scripts.llama.models import (
    SUPPORTED_LLM_MODELS,
    LLMModelConfig,
    register_llm_model,
)

__all__ = ["SUPPORTED_LLM_MODELS", "LLMModelConfig", "register_llm_model"]
