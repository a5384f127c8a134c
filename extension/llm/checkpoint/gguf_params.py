# SPDX-License-Identifier: BSD-3-Clause
"""The shape of a model as a GGUF file's metadata tell it, with what llama.cpp knows by the architecture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.checkpoint.known_keys import GGUF, read_known
from executorch.extension.llm.checkpoint.model_types import CONV, FULL, MODEL_TYPES, SLIDING


@dataclass(frozen=True)
class Architecture:
    """type: the row of MODEL_TYPES whose `args` hold here, too; args: besides; absent: where the file says nothing.
    window: every so many layers see all, the others the last positions; 0: all layers have the file's window; None:
    a window is refused.
    wide: the number of layers of the one size that divides scores by the root of width / heads.
    """

    type: str
    args: Mapping[str, Any] = field(default_factory=dict)
    absent: Mapping[str, Any] = field(default_factory=dict)
    window: int | None = None
    wide: int | None = None


ARCHITECTURES = {
    "llama": Architecture("llama", window=0),
    "granite": Architecture("granite"),
    "smollm3": Architecture("smollm3", {"no_rope_layer_interval": 4}),
    "qwen2": Architecture("qwen2"),
    "qwen3": Architecture("qwen3"),
    "phi3": Architecture("phi3", window=0),
    "lfm2": Architecture("lfm2"),
    "gemma": Architecture("gemma", {"act_fn": "gelu_approx"}),
    "gemma2": Architecture(
        "gemma2",
        {"act_fn": "gelu_approx"},
        {
            "sliding_window": 4096,
            "attn_logit_softcapping": 50.0,
            "final_logit_softcapping": 30.0,
        },
        window=2,
        wide=46,
    ),
    "gemma3": Architecture(
        "gemma3_text",
        {"act_fn": "gelu_approx"},
        {"local_rope_theta": 10000.0},
        window=6,
        wide=62,
    ),
}
_NEEDED = ("dim", "n_layers", "n_heads", "hidden_dim", "norm_eps")
# Numbers that a file may have for each layer.
_BY_LAYER = ("attention.head_count", "attention.head_count_kv", "feed_forward_length")


def params_from_gguf(file: GGUFFile) -> dict[str, Any]:
    """Keyword arguments of ModelArgs."""
    name, where = file.architecture(), str(file.path)
    if name not in ARCHITECTURES:
        raise CheckpointError(
            f"{where}: architecture {name!r} is none of {', '.join(ARCHITECTURES)}; give base.params, or export the "
            "model from its safetensors"
        )
    row = ARCHITECTURES[name]
    own, types = _metadata(file)
    known = read_known(own, GGUF, f"{where}: metadata {name}.*")
    args = {**MODEL_TYPES[row.type].args, **row.args, **row.absent, **known}
    if missing := [key for key in _NEEDED if key not in args]:
        raise CheckpointError(f"{where}: metadata of {name!r} lacks {', '.join(missing)}")
    if "vocab_size" not in args and "token_embd.weight" in file.tensors:
        args["vocab_size"] = file.tensors["token_embd.weight"].shape[0]
    head = args.get("head_dim") or args["dim"] // args["n_heads"]
    if own.get("attention.value_length", head) != head:
        raise CheckpointError(
            f"{where}: metadata {name}.attention.value_length: expected that of keys, {head}, found "
            f"{own['attention.value_length']}"
        )
    if (rotated := own.get("rope.dimension_count")) and rotated != head:
        if not args.get("use_hf_rope"):
            raise CheckpointError(
                f"{where}: metadata {name}.rope.dimension_count: expected {head}, found {rotated}"
            )
        args["partial_rotary_factor"] = rotated / head
    if name == "granite" and own.get("rope.scaling.finetuned") is False:
        args["rope_layers"] = [False] * args["n_layers"]
    if "blk.0.attn_q.bias" in file.tensors:
        args["attention_qkv_bias"] = True
    args |= _rope_scaling(file)
    if name.startswith("gemma"):
        args["embedding_scale_factor"] = math.sqrt(args["dim"])
    if row.wide == args["n_layers"]:
        args["attention_multiplier"] = (args["dim"] // args["n_heads"]) ** -0.5
    return {**args, **_windows(own, row, args, where), **types}


def _metadata(file: GGUFFile) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stands below the architecture's name, one number for all layers; and the layers' types where key and value
    heads tell them: a layer without any is a convolution."""
    prefix = f"{file.architecture()}."
    own = {
        key.removeprefix(prefix): value
        for key, value in file.metadata.items()
        if key.startswith(prefix)
    }
    types: dict[str, Any] = {}
    for key in _BY_LAYER:
        given = own.get(key)
        if not isinstance(given, list):
            continue
        numbers = sorted(set(given))
        if (
            key == "attention.head_count_kv"
            and file.architecture() == "lfm2"
            and numbers[:1] == [0]
        ):
            types["layer_types"] = [FULL if heads else CONV for heads in given]
            numbers = numbers[1:]
        if len(numbers) != 1 or len(given) != own.get("block_count"):
            raise CheckpointError(
                f"{file.path}: metadata {prefix}{key}: expected one number for all {own.get('block_count')} layers, "
                f"found {given}"
            )
        own[key] = numbers[0]
    return own, types


def _windows(
    own: Mapping[str, Any], row: Architecture, args: dict[str, Any], where: str
) -> dict[str, Any]:
    """A window of 0 is none."""
    window = own.get("attention.sliding_window", args.pop("sliding_window", 0))
    if not window:
        return {}
    if row.window is None or not isinstance(window, int):
        raise CheckpointError(f"{where}: attention.sliding_window: expected none, found {window}")
    layers = range(args["n_layers"])
    pattern = own.get("attention.sliding_window_pattern", row.window)
    if isinstance(pattern, list) and len(pattern) == len(layers):
        slides = [bool(each) for each in pattern]
    elif isinstance(pattern, int) and pattern >= 0:
        slides = [not pattern or (layer + 1) % pattern != 0 for layer in layers]
    else:
        raise CheckpointError(
            f"{where}: attention.sliding_window_pattern: expected a number or one for each layer, found {pattern}"
        )
    return {
        "sliding_window": window,
        "layer_types": [SLIDING if each else FULL for each in slides],
    }


def _rope_scaling(file: GGUFFile) -> dict[str, Any]:
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
