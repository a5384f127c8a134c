# SPDX-License-Identifier: BSD-3-Clause
"""The model that a config asks for: its shape, its checkpoint, its weights."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from executorch.extension.llm.checkpoint.config_params import read_config
from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.keys import Pair
from executorch.extension.llm.checkpoint.load import check_complete, load_into, tie
from executorch.extension.llm.checkpoint.params import params_from_config, params_from_gguf
from executorch.extension.llm.checkpoint.prequantized import (
    ADAPTOR_SCALE,
    Prequantized,
    adapted_layers,
    embedding_kind,
)
from executorch.extension.llm.checkpoint.reader import Checkpoint, open_checkpoint
from executorch.extension.llm.export.config.llm_config import GGUF_BITS, LlmConfig, LoraConfig
from executorch.extension.llm.model.args import ModelArgs, read_params
from executorch.extension.llm.model.attention import ATTENTION_TARGETS
from executorch.extension.llm.model.families import FAMILIES, Family
from executorch.extension.llm.model.feed_forward import FEED_FORWARD_TARGETS
from executorch.extension.llm.model.transformer import Transformer, construct_transformer

if TYPE_CHECKING:
    from executorch.extension.llm.quantization.budget import Search

# instead of a checkpoint: weights drawn at random, to try a shape
RANDOM = "random"
_DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


@dataclass
class LoadedModel:
    model: Transformer
    args: ModelArgs
    checkpoint: Checkpoint | None
    search: Search | None = None  # for quantization.budget


def family_of(config: LlmConfig, checkpoint: Checkpoint | None = None) -> Family:
    """That of base.model_class. What tensors are called says a folder's config.json, as it says the shape."""
    family = FAMILIES[str(config.base.model_class)]
    if checkpoint is None or checkpoint.config is None or config.base.params:
        return family
    return replace(family, names=read_config(checkpoint.config)[0].names)


def dtype_of(config: LlmConfig) -> torch.dtype:
    return _DTYPES[str(config.model.dtype_override)]


def find_checkpoint(config: LlmConfig) -> Checkpoint | None:
    """None for random weights: where the config says so, or gives a shape and no file."""
    given, family = config.base.checkpoint, family_of(config)
    if given == RANDOM:
        return None
    if given:
        return open_checkpoint(given)
    if family.repo:
        return open_checkpoint(download(family.repo, str(config.base.model_class)))
    if config.base.params:
        return None
    raise ValueError(
        f"base.checkpoint: expected a file or folder for model class {config.base.model_class}, found none; "
        f"base.checkpoint={RANDOM} with base.params tries a shape with random weights"
    )


def download(repo: str, model_class: str) -> Path:
    """The folder of a Hugging Face repository, fetched once."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ValueError(
            f"base.checkpoint: none given for {model_class}; fetching {repo} needs huggingface_hub: "
            "pip install huggingface_hub, or give a local file or folder"
        ) from error
    wanted = ["*.safetensors", "*.json"]
    try:
        return Path(snapshot_download(repo, allow_patterns=wanted))
    except Exception as error:
        raise ValueError(
            f"base.checkpoint: none given for {model_class}, and {repo} could not be fetched from Hugging Face "
            f"({error}); give a local file or folder"
        ) from error


def _shape(config: LlmConfig, checkpoint: Checkpoint | None) -> dict[str, Any]:
    """base.params, else what the checkpoint says of itself, else the family's own file."""
    if config.base.params:
        return read_params(config.base.params)
    if checkpoint is not None and checkpoint.gguf is not None:
        return params_from_gguf(checkpoint.gguf)
    if checkpoint is not None and checkpoint.config is not None:
        return params_from_config(checkpoint.config)
    family = family_of(config)
    if family.params is None:
        raise ValueError(
            f"base.params: expected the params.json of the checkpoint for {config.base.model_class}, found none"
        )
    return read_params(Path(str(files("executorch"))) / family.params)


def _prune_map(path: str | None, key: str) -> dict[int, int] | None:
    if path is None:
        return None
    try:
        return {int(k): int(v) for k, v in json.loads(Path(path).read_text()).items()}
    except (OSError, ValueError, AttributeError) as error:
        raise ValueError(f"{key}: expected a JSON object of ids at {path}: {error}") from error


def _lora(lora: LoraConfig | None) -> dict[str, Any]:
    if lora is None:
        return {}
    given: dict[str, Any] = {}
    if lora.adapter_config:
        path = Path(lora.adapter_config)
        try:
            given = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise ValueError(
                f"lora_config.adapter_config: expected JSON at {path}: {error}"
            ) from error
    rank, alpha = given.get("r", lora.lora_rank), given.get("lora_alpha", lora.lora_alpha)
    targets = given.get("target_modules", lora.target_modules)
    if not rank or not alpha or not targets:
        raise ValueError(
            "lora_config: expected an adapter_config, or lora_rank, lora_alpha and target_modules"
        )
    return {"r": rank, "lora_alpha": alpha, "target_modules": list(targets)}


def model_args(
    config: LlmConfig, checkpoint: Checkpoint | None, lora: LoraConfig | None = None
) -> ModelArgs:
    """The shape with what the config says of lengths, caches and adapters."""
    shape = _shape(config, checkpoint)
    model_class = str(config.base.model_class)
    if shape.get("use_scaled_rope"):
        if model_class in ("llama2", "stories110m"):
            raise ValueError(f"base.params: use_scaled_rope is none of {model_class}'s options")
        if model_class not in ("llama3", "llama3_1"):
            shape["rope_scale_factor"] = shape.get("rope_scale_factor", 32)
    known = {field.name for field in fields(ModelArgs)}
    given = {key: value for key, value in shape.items() if key in known}
    given |= {
        "max_seq_len": config.export.max_seq_length,
        "max_context_len": config.export.max_context_length,
        "use_kv_cache": config.model.use_kv_cache,
        "use_sdpa_with_kv_cache_op": config.model.use_sdpa_with_kv_cache,
        "enable_dynamic_shape": config.model.enable_dynamic_shape,
        "generate_full_logits": config.debug.generate_full_logits,
        "input_prune_map": _prune_map(config.model.input_prune_map, "model.input_prune_map"),
        "output_prune_map": _prune_map(config.model.output_prune_map, "model.output_prune_map"),
        **_lora(lora),
        **_adaptors(config, shape, checkpoint),
    }
    return ModelArgs(**given)


def _adaptors(
    config: LlmConfig, shape: dict[str, Any], checkpoint: Checkpoint | None
) -> dict[str, Any]:
    """The adapters that a checkpoint of quantization-aware training carries (`base.use_lora`)."""
    rank = config.base.use_lora
    if not rank:
        return {}
    given = shape.get("lora_args") or {}
    if given.get("rank", rank) != rank:
        raise ValueError(
            f"base.use_lora: expected the rank of base.params ({given['rank']}), found {rank}"
        )
    layers = adapted_layers(checkpoint.names if checkpoint else ())
    targets = {**ATTENTION_TARGETS, **FEED_FORWARD_TARGETS}
    adapted = [target for target, layer in targets.items() if layer in layers]
    if layers - set(targets.values()) or not adapted:
        raise ValueError(
            f"base.use_lora: expected adapters of {', '.join(sorted(set(targets.values())))} in the checkpoint, "
            f"found {', '.join(sorted(layers)) or 'none'}"
        )
    alpha = given.get("scale", ADAPTOR_SCALE) * rank
    return {"r": rank, "lora_alpha": alpha, "target_modules": adapted}


def _prequantized(config: LlmConfig, args: ModelArgs) -> Prequantized | None:
    mode, group = config.base.preq_mode, config.base.preq_group_size
    if mode is None:
        return None
    given = (args.quantization_args or {}).get("group_size", group)
    if given != group:
        raise ValueError(
            f"base.preq_group_size: expected the group of base.params ({given}), found {group}"
        )
    table = embedding_kind(config.base.preq_embedding_quantize)
    return Prequantized(group, str(mode) == "8da4w_output_8da8w", table, dtype_of(config))


def load_model(config: LlmConfig, lora: LoraConfig | None = None) -> LoadedModel:
    """A model in eval mode with the checkpoint's weights in the config's type, or with random ones.

    Raises:
        CheckpointError: the file is corrupted, or its tensors are not those of the shape; names file and tensor.
        ValueError: options that name nothing that exists.
    """
    checkpoint = find_checkpoint(config)
    family = family_of(config, checkpoint)
    own_bits = config.quantization.own_bits
    if own_bits and (checkpoint is None or checkpoint.gguf is None):
        raise ValueError(
            f"quantization.qmode={GGUF_BITS} keeps the bits of a GGUF file: expected one as base.checkpoint, found "
            f"{config.base.checkpoint}"
        )
    if own_bits:  # needs the kernels' library
        from executorch.extension.llm.quantization.blocks import (
            keep_gguf_bits,
            pairs_without_blocks,
        )

    args = model_args(config, checkpoint, lora)
    if checkpoint is None:
        model = construct_transformer(args).to(dtype_of(config))
        pruned = args.input_prune_map or args.output_prune_map
        if family.tied and model.output is not None and not pruned:
            tie(model)
    else:
        with torch.device("meta"):
            model = construct_transformer(args)
        adapters = _adapter_pairs(lora, family, args)
        how = _prequantized(config, args)
        # Matrices in blocks are not dequantized, so that no more memory is taken than the file has.
        tensors = pairs_without_blocks(checkpoint.gguf) if own_bits else None
        load_into(model, checkpoint, family, dtype_of(config), adapters, how, tensors)
        model = model.to(dtype_of(config))
        if own_bits:
            bits = config.quantization.activation_bits
            keep_gguf_bits(model, checkpoint.gguf, family, args, bits)
            check_complete(model, str(checkpoint.path))
    return LoadedModel(model.eval().requires_grad_(False), args, checkpoint)


def _adapter_pairs(lora: LoraConfig | None, family: Family, args: ModelArgs) -> list[Pair]:
    """The tensors of an adapter, under the model's names."""
    if lora is None or not lora.adapter_checkpoint:
        return []
    from executorch.extension.llm.checkpoint.keys import to_model_names

    adapter = open_checkpoint(lora.adapter_checkpoint)
    try:
        return list(to_model_names(adapter, adapter.names, family, args))
    except Exception as error:
        raise CheckpointError(f"{adapter.path}: {error}") from error
