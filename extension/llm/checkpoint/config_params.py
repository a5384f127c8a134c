# SPDX-License-Identifier: BSD-3-Clause
"""The shape of a model as Hugging Face's config.json tells it: keyword arguments of ModelArgs.

model_types.py says what a type of model leaves unsaid, known_keys.py which keys there are. A params.json of the
user's wins over all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.known_keys import CONFIG, ROPE, read_known
from executorch.extension.llm.checkpoint.model_types import (
    FULL,
    MODEL_TYPES,
    SLIDING,
    Config,
    ModelType,
    rope_of,
)

# transformers' names of one formula
_ACTIVATIONS = {
    "silu": "silu",
    "swish": "silu",
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    **dict.fromkeys(
        ("gelu_pytorch_tanh", "gelu_python_tanh", "gelu_new", "gelu_fast", "gelu_accurate"),
        "gelu_approx",
    ),
}


def read_config(path: Path) -> tuple[ModelType, dict[str, Any]]:
    """The row of a config.json's type, and its keys with those that it leaves unsaid."""
    try:
        config = json.loads(path.read_text())
        config = config.get("text_config") or config  # a model of images or sound, too
        name = config["model_type"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{path}: expected JSON with a model_type: {error}") from error
    if name not in MODEL_TYPES:
        raise CheckpointError(
            f"{path}: model type {name!r} is none of {', '.join(MODEL_TYPES)}; "
            "give base.params, or export it with optimum-executorch"
        )
    return MODEL_TYPES[name], {**MODEL_TYPES[name].absent, **config}


def params_from_config(path: Path) -> dict[str, Any]:
    row, config = read_config(path)
    for name in (each for each in row.unread if config.get(each) is not None):
        raise CheckpointError(f"{path}: {name}: expected null, found {config[name]}")
    args = {**row.args, **read_known(config, CONFIG, str(path))}
    try:
        args["act_fn"] = _activation(row, config, path)
        args |= _rope(row, config, path)
        args |= _layers(row, config, args["n_layers"], path)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise CheckpointError(f"{path}: {type(error).__name__}: {error}") from error
    if config["model_type"].startswith("gemma"):
        args["embedding_scale_factor"] = math.sqrt(args["dim"])
        if config.get("query_pre_attn_scalar"):
            args["attention_multiplier"] = config["query_pre_attn_scalar"] ** -0.5
    if config["model_type"] == "lfm2":
        args["hidden_dim"] = _lfm2_width(config)
    return args


def _activation(row: ModelType, config: Config, path: Path) -> str:
    key = "hidden_activation" if "hidden_activation" in row.absent else "hidden_act"
    name = config[key] or row.absent[key]
    if name not in _ACTIVATIONS:
        raise CheckpointError(
            f"{path}: {key}: expected one of {', '.join(_ACTIVATIONS)}, found {name!r}"
        )
    if name == "gelu" and config["model_type"] == "gemma":
        return "gelu_approx"  # what its first files meant, and transformers computes
    return _ACTIVATIONS[name]


def _rope(row: ModelType, config: Config, path: Path) -> dict[str, Any]:
    rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
    local = rope.get(SLIDING) or {}
    rope = rope.get(FULL, rope)
    for each in (rope, local):
        read_known(each, ROPE, f"{path}: rope_parameters")
    args = {"rope_freq_base": rope.get("rope_theta") or config["rope_theta"]}
    if theta := local.get("rope_theta") or config.get("rope_local_base_freq"):
        args["local_rope_theta"] = theta
    partial = rope.get("partial_rotary_factor") or config.get("partial_rotary_factor") or 1.0
    if partial != 1.0 and not row.partial:
        raise CheckpointError(
            f"{path}: partial_rotary_factor of rope_parameters: expected 1.0, found {partial}"
        )
    if _kind(local) != "default":
        raise CheckpointError(
            f"{path}: rope_parameters.{SLIDING}: expected rope_type default, found {_kind(local)!r}"
        )
    return {**args, "partial_rotary_factor": partial, **_rope_scaling(rope, config, path)}


def _kind(rope: Mapping[str, Any]) -> str:
    return rope.get("rope_type") or rope.get("type") or "default"


def _rope_scaling(rope: Mapping[str, Any], config: Config, path: Path) -> dict[str, Any]:
    kind = _kind(rope)
    if config["model_type"] == "phi3" and kind in ("su", "yarn"):
        kind = "longrope"  # as its first files call it
    original = (
        config.get("original_max_position_embeddings")
        or rope.get("original_max_position_embeddings")
        or config.get("max_position_embeddings")
    )
    if kind == "default":
        return {}
    if kind == "linear":
        return {"rope_linear_factor": rope["factor"]}
    if kind == "llama3":
        return {
            "use_scaled_rope": True,
            "rope_scale_factor": rope["factor"],
            "low_freq_factor": rope["low_freq_factor"],
            "high_freq_factor": rope["high_freq_factor"],
            "original_max_position_embeddings": original,
        }
    if kind == "longrope":
        return {
            "rope_scaling_short_factor": rope["short_factor"],
            "rope_scaling_long_factor": rope["long_factor"],
            "rope_scaling_attention_factor": rope.get("attention_factor"),
            "original_max_position_embeddings": original,
            "max_position_embeddings": config.get("max_position_embeddings"),
        }
    raise CheckpointError(
        f"{path}: rope_parameters: rope scaling {kind!r} is none of default, linear, llama3, longrope"
    )


def _layers(row: ModelType, config: Config, layers: int, path: Path) -> dict[str, Any]:
    """Types of layers, and which of them turn queries and keys."""
    args: dict[str, Any] = {}
    turned = [rope_of(config, layer) for layer in range(layers)]
    if not all(turned):
        args["rope_layers"] = turned
    types, window = config.get("layer_types"), config.get("sliding_window")
    if types is None and row.layer is not None:
        types = [row.layer(config, layer) for layer in range(layers)]
    if window and row.layer is None:
        raise CheckpointError(f"{path}: sliding_window: expected none, found {window}")
    if not window or config.get("use_sliding_window") is False:
        types = None if types is None else [FULL if each == SLIDING else each for each in types]
    if types is None or set(types[:layers]) <= {FULL}:
        return args
    if SLIDING in types:
        args["sliding_window"] = window
    return {**args, "layer_types": list(types)}


def _lfm2_width(config: Config) -> int:
    width = config.get("block_ff_dim") or config["intermediate_size"]
    if not config.get("block_auto_adjust_ff_dim", True):
        return width
    width = int(config.get("block_ffn_dim_multiplier", 1.0) * int(2 * width / 3))
    multiple = config.get("block_multiple_of", 256)
    return -(-width // multiple) * multiple
