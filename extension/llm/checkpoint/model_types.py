# SPDX-License-Identifier: BSD-3-Clause
"""The model types that a config.json may name: a row says what such a file leaves unsaid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Config = Mapping[str, Any]
FULL, SLIDING, CONV = "full_attention", "sliding_attention", "conv"


@dataclass(frozen=True)
class ModelType:
    """absent: what keys of config.json are where the file has them not, as transformers has it.
    args: of ModelArgs, whatever the file says.
    names: rows of checkpoint.keys.NAMES, later ones winning.
    layer: the type of a layer where the file has no layer_types; without it all layers see everything, and a window
    is refused.
    partial: whether a part of a head may be turned.
    unread: a key that transformers does not read for this type, and that is refused.
    """

    absent: Config
    args: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ("base",)
    layer: Callable[[Config, int], str] | None = None
    partial: bool = False
    unread: tuple[str, ...] = ()


_SIZES = (
    *("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"),
    *("num_key_value_heads", "vocab_size"),
)
_MAX = {"hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 10000.0}


def _sizes(*sizes: int | None) -> dict[str, Any]:
    return {**_MAX, **dict(zip(_SIZES, sizes, strict=True))}


def _sliding(config: Config, layer: int) -> str:
    return SLIDING


def _sliding_late(config: Config, layer: int) -> str:
    late = config["use_sliding_window"] and layer >= config["max_window_layers"]
    return SLIDING if late else FULL


def _sliding_without_rope(config: Config, layer: int) -> str:
    return SLIDING if config["use_sliding_window"] and not rope_of(config, layer) else FULL


def _sliding_by_turns(config: Config, layer: int) -> str:
    return SLIDING if (layer + 1) % 2 else FULL


def _sliding_by_pattern(config: Config, layer: int) -> str:
    return SLIDING if (layer + 1) % config["sliding_window_pattern"] else FULL


def _convolution_but_some(config: Config, layer: int) -> str:
    attending = config.get("full_attn_idxs")
    return FULL if attending is None or layer in attending else CONV


def rope_of(config: Config, layer: int) -> bool:
    """Whether a layer turns queries and keys."""
    if (given := config.get("no_rope_layers")) is not None:
        return bool(given[layer])
    interval = config.get("no_rope_layer_interval")
    return not interval or (layer + 1) % interval != 0


_QWEN = {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28}
_GEMMA = {"head_dim": 256, "hidden_act": "gelu_pytorch_tanh"}
_GEMMA_LATER = {
    "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh",
    "query_pre_attn_scalar": 256,
    "sliding_window": 4096,
}
_GEMMA_ARGS = {"use_hf_rope": True, "norm_type": "gemma3"}
_GEMMA_NORMS = {**_GEMMA_ARGS, "post_attention_norm": True, "post_ffn_norm": True}
_NORMED = {"use_qk_norm": True, "qk_norm_before_rope": True}

MODEL_TYPES: dict[str, ModelType] = {
    "llama": ModelType(_sizes(4096, 11008, 32, 32, None, 32000)),
    "mistral": ModelType(
        {**_sizes(4096, 14336, 32, 32, 8, 32000), "sliding_window": 4096}, layer=_sliding
    ),
    "granite": ModelType(
        {
            **_sizes(4096, 11008, 32, 32, None, 32000),
            "embedding_multiplier": 1.0,
            "residual_multiplier": 1.0,
            "attention_multiplier": 1.0,
            "logits_scaling": 1.0,
        }
    ),
    "smollm3": ModelType(
        {
            **_sizes(2048, 11008, 36, 16, 4, 128256),
            "rope_theta": 2000000.0,
            "no_rope_layer_interval": 4,
            "use_sliding_window": False,
        },
        layer=_sliding_without_rope,
    ),
    "qwen2": ModelType(
        {**_sizes(4096, 22016, 32, 32, 32, 151936), **_QWEN},
        {"use_hf_rope": True, "attention_qkv_bias": True},
        ("base", "qkv_bias"),
        _sliding_late,
    ),
    "qwen3": ModelType(
        {**_sizes(4096, 22016, 32, 32, 32, 151936), **_QWEN, "head_dim": 128},
        {"use_hf_rope": True, **_NORMED},
        ("base", "qk_norm"),
        _sliding_late,
    ),
    "phi3": ModelType(
        {
            **_sizes(3072, 8192, 32, 32, None, 32064),
            "rms_norm_eps": 1e-5,
            "max_position_embeddings": 4096,
            "original_max_position_embeddings": 4096,
        },
        {"use_hf_rope": True},
        ("base", "fused"),
        _sliding,
        partial=True,
    ),
    "lfm2": ModelType(
        {
            **_sizes(2560, 12288, 32, 32, 8, 65536),
            "norm_eps": 1e-5,
            "rms_norm_eps": None,
            "rope_theta": 1000000.0,
        },
        {"use_hf_rope": True, **_NORMED},
        ("base", "lfm2"),
        _convolution_but_some,
    ),
    "gemma": ModelType({**_sizes(3072, 24576, 28, 16, 16, 256000), **_GEMMA}, _GEMMA_ARGS),
    "gemma2": ModelType(
        {
            **_sizes(2304, 9216, 26, 8, 4, 256000),
            **_GEMMA_LATER,
            "final_logit_softcapping": 30.0,
            "attn_logit_softcapping": 50.0,
        },
        _GEMMA_NORMS,
        ("base", "gemma_norms"),
        _sliding_by_turns,
    ),
    "gemma3_text": ModelType(
        {
            **_sizes(2304, 9216, 26, 8, 4, 262208),
            **_GEMMA_LATER,
            "rope_theta": 1000000.0,
            "rope_local_base_freq": 10000.0,
            "sliding_window_pattern": 6,
        },
        {**_GEMMA_NORMS, **_NORMED},
        ("base", "gemma_norms", "qk_norm"),
        _sliding_by_pattern,
        unread=("attn_logit_softcapping",),
    ),
}
