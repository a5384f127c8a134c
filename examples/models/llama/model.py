# SPDX-License-Identifier: BSD-3-Clause
"""The decoder as an example model: module and inputs of a config."""

from __future__ import annotations

from typing import Any

import torch

from executorch.examples.models.model_base import EagerModelBase
from executorch.extension.llm.export.config.llm_config import LlmConfig
from executorch.extension.llm.export.models import load_model
from executorch.extension.llm.export.pipeline import example_inputs


class Llama2Model(EagerModelBase):
    """Without a config: the demo's shape with random weights."""

    def __init__(self, llm_config: LlmConfig | None = None) -> None:
        if llm_config is None:
            from importlib.resources import files

            llm_config = LlmConfig()
            folder = files("executorch") / "examples/models/llama/params"
            llm_config.base.params = str(folder / "demo_config.json")
        self.llm_config = llm_config
        self._loaded = load_model(llm_config, llm_config.base.lora_config)

    def get_eager_model(self) -> torch.nn.Module:
        return self._loaded.model

    def get_example_inputs(self) -> tuple[Any, ...]:
        return example_inputs(self.llm_config)

    def get_example_inputs_kvcache_sdpa(self) -> tuple[Any, ...]:
        """Tokens and the position of the first."""
        return example_inputs(self.llm_config)
