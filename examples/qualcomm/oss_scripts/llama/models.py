# SPDX-License-Identifier: BSD-3-Clause
"""Decoders by the names of `--decoder_model`, and what of them is for the NPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.examples.qualcomm.oss_scripts.llama.quantize import LLMQuantRecipe
from executorch.exir.error import ExportError, ExportErrorType

# Of 4 bits, scales for channels alone double the perplexity of SmolLM2; blocks, and 8 bits where few cost most, do not.
BY_BLOCKS = LLMQuantRecipe(QuantDtype.use_16a4w_block, sensitive=QuantDtype.use_16a8w)
MORE_BITS = LLMQuantRecipe(QuantDtype.use_16a8w)


@dataclass(init=False, frozen=True)
class LLMModelConfig:
    """Subclasses set what is theirs. `model_class`: base.model_class of export_llm, whose names of tensors, shape and
    checkpoint are the model's; `num_bos`: begin tokens before a prompt. What stands in NOT_HERE keeps its default."""

    model_class: str = "llama3_2"
    num_bos: int = 0
    repo_id: str | None = None
    params_path: str | None = None
    convert_weights: Any = None
    transform_weight: bool = False
    instruct_model: bool = False
    num_sharding: int = 1
    masked_softmax: bool = False
    seq_mse_candidates: int = 0
    r1: bool = False
    r2: bool = False
    r3: bool = False
    quant_recipe: LLMQuantRecipe = MORE_BITS

    NOT_HERE: ClassVar[tuple[str, ...]] = (
        "repo_id", "convert_weights", "num_sharding", "masked_softmax", "seq_mse_candidates", "r1", "r2", "r3",
    )  # fmt: skip


LLM = TypeVar("LLM", bound=type[LLMModelConfig])
SUPPORTED_LLM_MODELS: dict[str, LLMModelConfig] = {}


def register_llm_model(name: str) -> Callable[[LLM], LLM]:
    """Of a subclass. ExportError where it asks for what is not here."""

    def register(kind: LLM) -> LLM:
        asked = [
            each for each in kind.NOT_HERE if getattr(kind, each) != getattr(LLMModelConfig, each)
        ]
        if asked:
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                f"{name}: expected {', '.join(asked)} left out, these are not here yet",
            )
        SUPPORTED_LLM_MODELS[name] = kind()
        return kind

    return register


@register_llm_model("llama3_2-1b_instruct")
@dataclass(init=False, frozen=True)
class Llama3_2_1B_Instruct(LLMModelConfig):
    num_bos = 1
    quant_recipe = BY_BLOCKS


@register_llm_model("llama3_2-3b_instruct")
@dataclass(init=False, frozen=True)
class Llama3_2_3B_Instruct(LLMModelConfig):
    num_bos = 1
    quant_recipe = BY_BLOCKS


@register_llm_model("stories110m")
@register_llm_model("stories260k")
@dataclass(init=False, frozen=True)
class Stories(LLMModelConfig):
    model_class = "stories110m"
    num_bos = 1


@register_llm_model("smollm2_135m")
@dataclass(init=False, frozen=True)
class SmolLM2_135M(LLMModelConfig):
    model_class = "smollm2"


@register_llm_model("smollm3-3b")
@dataclass(init=False, frozen=True)
class SmolLM3_3B(LLMModelConfig):
    model_class = "smollm3_3b"
    quant_recipe = BY_BLOCKS


@register_llm_model("qwen2_5-0_5b")
@dataclass(init=False, frozen=True)
class Qwen2_5_0_5B(LLMModelConfig):
    model_class = "qwen2_5_0_5b"


@register_llm_model("qwen2_5-1_5b")
@dataclass(init=False, frozen=True)
class Qwen2_5_1_5B(LLMModelConfig):
    model_class = "qwen2_5_1_5b"
    quant_recipe = BY_BLOCKS


@register_llm_model("qwen3-0_6b")
@dataclass(init=False, frozen=True)
class Qwen3_0_6B(LLMModelConfig):
    model_class = "qwen3_0_6b"


@register_llm_model("qwen3-1_7b")
@dataclass(init=False, frozen=True)
class Qwen3_1_7B(LLMModelConfig):
    model_class = "qwen3_1_7b"
    quant_recipe = BY_BLOCKS
