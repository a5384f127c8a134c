# SPDX-License-Identifier: BSD-3-Clause
"""The shape of a model as its checkpoint tells it: Hugging Face's config.json, or a GGUF file's metadata.

Both give keyword arguments of ModelArgs; a params.json of the user's wins over either.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.gguf import GGUFFile

# key of config.json -> of ModelArgs
_HF_KEYS = {
    "hidden_size": "dim",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "num_key_value_heads": "n_kv_heads",
    "head_dim": "head_dim",
    "intermediate_size": "hidden_dim",
    "vocab_size": "vocab_size",
    "rms_norm_eps": "norm_eps",
    "norm_eps": "norm_eps",
    "partial_rotary_factor": "partial_rotary_factor",
    "embedding_multiplier": "embedding_scale_factor",
    "residual_multiplier": "residual_multiplier",
    "attention_multiplier": "attention_multiplier",
    "logits_scaling": "logits_scaling",
    "final_logit_softcapping": "final_logit_softcapping",
    "attn_logit_softcapping": "attn_logit_softcapping",
    "layer_types": "layer_types",
}
_GEMMA = {"use_hf_rope": True, "norm_type": "gemma3"}
_GEMMA_NORMS = {"post_attention_norm": True, "post_ffn_norm": True, "act_fn": "gelu_approx"}
_NORMED = {"use_qk_norm": True, "qk_norm_before_rope": True}
# model_type -> what its config.json takes for granted
_HF_TYPES: dict[str, dict[str, Any]] = {
    "llama": {},
    "mistral": {},
    "granite": {},
    "smollm3": {},
    "qwen2": {"use_hf_rope": True, "attention_qkv_bias": True},
    "qwen3": {"use_hf_rope": True, **_NORMED},
    "phi3": {"use_hf_rope": True},
    "lfm2": {"use_hf_rope": True, **_NORMED},
    "gemma": {**_GEMMA, "act_fn": "gelu"},
    "gemma2": {**_GEMMA, **_GEMMA_NORMS},
    "gemma3_text": {**_GEMMA, **_GEMMA_NORMS, **_NORMED},
}
# architecture of a GGUF file -> model_type
_GGUF_TYPES = {"phi3": "phi3", "gemma3": "gemma3_text"}
# key below the architecture -> of ModelArgs
_GGUF_KEYS = {
    "embedding_length": "dim",
    "block_count": "n_layers",
    "attention.head_count": "n_heads",
    "attention.head_count_kv": "n_kv_heads",
    "attention.key_length": "head_dim",
    "feed_forward_length": "hidden_dim",
    "vocab_size": "vocab_size",
    "attention.layer_norm_rms_epsilon": "norm_eps",
    "rope.freq_base": "rope_freq_base",
    "attention.sliding_window": "sliding_window",
    "attn_logit_softcapping": "attn_logit_softcapping",
    "final_logit_softcapping": "final_logit_softcapping",
    "attention.scale": "attention_multiplier",
    "embedding_scale": "embedding_scale_factor",
    "residual_scale": "residual_multiplier",
    "logit_scale": "logits_scaling",
}


def _type_row(model_type: str, where: str) -> dict[str, Any]:
    if model_type not in _HF_TYPES:
        raise CheckpointError(
            f"{where}: model type {model_type!r} is none of {', '.join(_HF_TYPES)}; "
            "give base.params, or export it with optimum-executorch"
        )
    return dict(_HF_TYPES[model_type])


def params_from_config(path: Path) -> dict[str, Any]:
    """From Hugging Face's config.json."""
    try:
        config = json.loads(path.read_text())
        config = config.get("text_config") or config  # a model of images or sound, too
        model_type = config["model_type"]
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path}: expected JSON with a model_type: {error}") from error
    args = _type_row(model_type, str(path))
    args |= {ours: config[key] for key, ours in _HF_KEYS.items() if config.get(key) is not None}
    rope = config.get("rope_parameters") or {}
    local = rope.get("sliding_attention", {})
    rope = rope.get("full_attention", rope)
    args["rope_freq_base"] = rope.get("rope_theta") or config.get("rope_theta") or 10000.0
    local_theta = local.get("rope_theta") or config.get("rope_local_base_freq")
    if local_theta:
        args["local_rope_theta"] = local_theta
    args |= _rope_scaling(rope if "rope_type" in rope else config.get("rope_scaling"), config, path)
    if model_type.startswith("gemma"):
        args["embedding_scale_factor"] = math.sqrt(args["dim"])
        if config.get("query_pre_attn_scalar"):
            args["attention_multiplier"] = config["query_pre_attn_scalar"] ** -0.5
    if model_type == "phi3" and rope.get("partial_rotary_factor"):
        args["partial_rotary_factor"] = rope["partial_rotary_factor"]
    types = args.get("layer_types")
    if types and "sliding_attention" in types:
        args["sliding_window"] = config.get("sliding_window")
    elif types and "conv" not in types:
        del args["layer_types"]
    if model_type == "smollm3":
        args["no_rope_layer_interval"] = config.get("no_rope_layer_interval", 4)
    if model_type == "lfm2":
        args["hidden_dim"] = _lfm2_width(config)
    return args


def _rope_scaling(scaling: Any, config: dict[str, Any], path: Path) -> dict[str, Any]:
    kind = (scaling or {}).get("rope_type") or (scaling or {}).get("type") or "default"
    if kind == "default":
        return {}
    if kind == "llama3":
        return {
            "use_scaled_rope": True,
            "rope_scale_factor": scaling["factor"],
            "low_freq_factor": scaling["low_freq_factor"],
            "high_freq_factor": scaling["high_freq_factor"],
            "original_max_position_embeddings": scaling["original_max_position_embeddings"],
        }
    if kind == "linear":
        return {"rope_linear_factor": scaling["factor"]}
    if kind == "longrope":
        return {
            "rope_scaling_short_factor": scaling["short_factor"],
            "rope_scaling_long_factor": scaling["long_factor"],
            "rope_scaling_attention_factor": scaling.get("attention_factor"),
            "original_max_position_embeddings": scaling.get("original_max_position_embeddings")
            or config.get("original_max_position_embeddings"),
            "max_position_embeddings": config.get("max_position_embeddings"),
        }
    raise CheckpointError(
        f"{path}: rope scaling {kind!r} is none of default, linear, llama3, longrope"
    )


def _lfm2_width(config: dict[str, Any]) -> int:
    width = config.get("intermediate_size") or config["block_ff_dim"]
    if not config.get("block_auto_adjust_ff_dim", True):
        return width
    width = int(config.get("block_ffn_dim_multiplier", 1.0) * int(2 * width / 3))
    multiple = config.get("block_multiple_of", 256)
    return -(-width // multiple) * multiple


def params_from_gguf(file: GGUFFile) -> dict[str, Any]:
    """From a GGUF file's metadata."""
    architecture = file.architecture()
    args = _type_row(_GGUF_TYPES.get(architecture, architecture), str(file.path))
    found = {ours: file.get(key) for key, ours in _GGUF_KEYS.items()}
    args |= {key: value for key, value in found.items() if value is not None}
    for theirs, ours in _GGUF_KEYS.items():
        value = file.get(theirs)
        if value is not None and (not isinstance(value, int | float) or value <= 0):
            raise CheckpointError(
                f"{file.path}: metadata {architecture}.{theirs} ({ours}): expected a positive number, found {value!r}"
            )
    missing = [key for key in ("dim", "n_layers", "n_heads", "hidden_dim") if key not in args]
    if missing:
        raise CheckpointError(
            f"{file.path}: metadata of {architecture!r} lacks {', '.join(missing)}"
        )
    if "vocab_size" not in args and "token_embd.weight" in file.tensors:
        args["vocab_size"] = file.tensors["token_embd.weight"].shape[0]
    rotated = file.get("rope.dimension_count")
    rotated = rotated if isinstance(rotated, int) else None
    head = args.get("head_dim") or args["dim"] // args["n_heads"]
    if rotated and rotated != head:
        args["partial_rotary_factor"] = rotated / head
    args |= _gguf_rope_scaling(file)
    if architecture.startswith("gemma"):
        args["embedding_scale_factor"] = math.sqrt(args["dim"])
        args |= _gemma_windows(architecture, args)
    else:
        args.pop("sliding_window", None)
    return args


def _gguf_rope_scaling(file: GGUFFile) -> dict[str, Any]:
    """Divisors of frequencies are tensors: one for all texts (Llama 3.1), or one for short and one for long ones."""
    kind = file.get("rope.scaling.type") or "none"
    factor = file.get("rope.scaling.factor" if kind == "linear" else "rope.scale_linear")
    if "rope_freqs.weight" in file.tensors:
        divisors = file.read("rope_freqs.weight").tolist()
        return {
            "rope_scaling_short_factor": divisors,
            "rope_scaling_long_factor": divisors,
            "rope_scaling_attention_factor": 1.0,
        }
    names = ("rope_factors_short.weight", "rope_factors_long.weight")
    if all(name in file.tensors for name in names):
        short, long = (file.read(name).tolist() for name in names)
        return {
            "rope_scaling_short_factor": short,
            "rope_scaling_long_factor": long,
            "rope_scaling_attention_factor": file.get("rope.scaling.attn_factor"),
            "original_max_position_embeddings": file.get("rope.scaling.original_context_length"),
            "max_position_embeddings": file.get("context_length"),
        }
    if kind not in ("none", "linear"):
        raise CheckpointError(
            f"{file.path}: rope scaling {kind!r} without tensors of its factors; expected none or linear. Export the "
            "model from its safetensors"
        )
    return {"rope_linear_factor": factor} if factor else {}


def _gemma_windows(architecture: str, args: dict[str, Any]) -> dict[str, Any]:
    """Every second (Gemma 2) or sixth (Gemma 3) layer sees everything."""
    period = {"gemma2": 2, "gemma3": 6}.get(architecture)
    if period is None:
        return {}
    kinds = ["sliding_attention"] * (period - 1) + ["full_attention"]
    local = {"local_rope_theta": 10000.0} if architecture == "gemma3" else {}
    layers = args["n_layers"]
    return {"layer_types": [kinds[i % period] for i in range(layers)], **local}
