# SPDX-License-Identifier: BSD-3-Clause
"""The export command's parts under the names that other code imports; they live in extension/llm/export."""

from __future__ import annotations

from typing import Any

from executorch.extension.llm.export.builder import LLMEdgeManager
from executorch.extension.llm.export.config.flags import build_args_parser
from executorch.extension.llm.export.config.llm_config import LlmConfig
from executorch.extension.llm.export.pipeline import as_config, export_llama, prepare
from executorch.extension.llm.export.quantizer_lib import (
    PT2EQuantOptions,
    get_pt2e_quantization_params,
    quantizers_for,
)
from executorch.extension.llm.export.stages import Stages
from executorch.extension.llm.model.families import FAMILIES

EXECUTORCH_DEFINED_MODELS = list(FAMILIES)
TORCHTUNE_DEFINED_MODELS = ["llama3_2_vision"]
HUGGING_FACE_REPO_IDS = {name: row.repo for name, row in FAMILIES.items() if row.repo}

__all__ = [
    "EXECUTORCH_DEFINED_MODELS",
    "HUGGING_FACE_REPO_IDS",
    "TORCHTUNE_DEFINED_MODELS",
    "build_args_parser",
    "export_llama",
]


def _prepare_for_llama_export(llm_config: LlmConfig) -> LLMEdgeManager:
    """The model with its weights, rewritten as the config asks, ready for `export()`."""
    config = as_config(llm_config)
    return prepare(config, Stages(say=False), config.base.lora_config)[0]


def get_llama_model(llm_config: LlmConfig) -> tuple[Any, Any, Any, Any]:
    """The module, its inputs, inputs by keyword (none) and dynamic shapes (the manager's)."""
    manager = _prepare_for_llama_export(llm_config)
    return manager.model, manager.example_inputs, None, manager.dynamic_shapes


def get_quantizer_and_quant_params(
    llm_config: LlmConfig,
) -> tuple[PT2EQuantOptions | None, list[Any], None]:
    """Of `quantization.pt2e_quantize`: XNNPACK's options, the quantizers, and a place for Qualcomm's type."""
    name = llm_config.quantization.pt2e_quantize
    if not name:
        return None, [], None
    is_xnnpack = str(name) in ("xnnpack_dynamic", "xnnpack_dynamic_qc4")
    options = get_pt2e_quantization_params(str(name)) if is_xnnpack else None
    return options, quantizers_for(llm_config), None
