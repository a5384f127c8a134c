# SPDX-License-Identifier: BSD-3-Clause
"""Layers of any module quantized by the names that commands give: 4w, 8w, 8da4w, 8da8w."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

_LINEAR = {"4w": (4, False), "8w": (8, False), "8da4w": (4, True), "8da8w": (8, True)}
_EMBEDDING = {"4w": 4, "8w": 8}
_GROUP = 32


def _default_group_size(config_name: str | None) -> int:
    """0: a scale for each row."""
    return {"8w": 0, "8da8w": 0, "nvfp4": 16}.get(config_name, _GROUP)


def _bits_and_groups(bits: int, group_size: int) -> tuple[torch.dtype, Any]:
    from torchao.quantization.granularity import PerAxis, PerGroup

    return getattr(torch, f"int{bits}"), PerGroup(group_size) if group_size else PerAxis(0)


def _make_linear_config(config_name: str, group_size: int) -> Any:
    from torchao.quantization.quant_api import (
        Int8DynamicActivationIntxWeightConfig,
        IntxWeightOnlyConfig,
    )

    if config_name not in _LINEAR:
        raise ValueError(
            f"Unsupported qlinear_config: {config_name}; expected one of {', '.join(_LINEAR)}"
        )
    bits, dynamic = _LINEAR[config_name]
    dtype, groups = _bits_and_groups(bits, group_size)
    scales = "hqq_scale_only"
    if dynamic:
        return Int8DynamicActivationIntxWeightConfig(
            weight_dtype=dtype, weight_granularity=groups, intx_choose_qparams_algorithm=scales
        )
    return IntxWeightOnlyConfig(
        weight_dtype=dtype, granularity=groups, intx_choose_qparams_algorithm=scales
    )


def _make_embedding_config(config_name: str, group_size: int) -> Any:
    from torchao.quantization.quant_api import IntxWeightOnlyConfig

    if config_name not in _EMBEDDING:
        raise ValueError(
            f"Unsupported qembedding_config: {config_name}; expected one of {', '.join(_EMBEDDING)}"
        )
    dtype, groups = _bits_and_groups(_EMBEDDING[config_name], group_size)
    return IntxWeightOnlyConfig(
        weight_dtype=dtype, granularity=groups, intx_choose_qparams_algorithm="hqq_scale_only"
    )


def _chosen(
    module: nn.Module, kind: type[nn.Module], name: str, group_size: int, skip: bool
) -> set[nn.Module]:
    found = set()
    for fqn, layer in module.named_modules():
        if not isinstance(layer, kind):
            continue
        shape = list(layer.weight.shape)
        if not group_size or shape[1] % group_size == 0:
            found.add(layer)
            continue
        what = f"weight shape {shape} incompatible with {name} (group_size={group_size})"
        if not skip:
            raise RuntimeError(
                f"Layer {fqn} has {what}. Use skip_incompatible_shapes=True to skip instead of failing."
            )
        print(f"  Skipping {fqn}: {what}")
    return found


def quantize_model_(
    module: torch.nn.Module,
    qlinear_config: str | None = None,
    qlinear_group_size: int | None = None,
    qlinear_packing_format: str | None = None,
    qembedding_config: str | None = None,
    qembedding_group_size: int | None = None,
    tie_word_embeddings: bool = False,
    skip_incompatible_shapes: bool = False,
) -> None:
    """Quantizes linear layers and embeddings in place; a group of 0 or -1 is a row. `tie_word_embeddings`: `lm_head`
    takes the quantized table of `embed_tokens` once both are of the same bits.

    Raises:
        ValueError: names that do not exist, packing for kernels of GPUs (`qlinear_packing_format`).
        RuntimeError: a group that does not divide a layer's inputs, unless `skip_incompatible_shapes`.
    """
    from torchao.quantization.quant_api import quantize_

    if qlinear_packing_format is not None:
        raise ValueError(
            f"qlinear_packing_format: {qlinear_packing_format!r} is for kernels of GPUs, which are not here"
        )
    wanted = (
        (nn.Embedding, qembedding_config, qembedding_group_size, _make_embedding_config),
        (nn.Linear, qlinear_config, qlinear_group_size, _make_linear_config),
    )
    steps = []
    for kind, name, given, make in wanted:
        if name is not None:
            group = _default_group_size(name) if given is None else max(given, 0)
            layers = _chosen(module, kind, name, group, skip_incompatible_shapes)
            steps.append((f"{name} {kind.__name__.lower()}", make(name, group), layers, group))
    for what, config, layers, group in steps:
        print(f"  Applying {what} quantization (group_size={group})...")
        quantize_(module, config, lambda layer, _, layers=layers: layer in layers)
    if tie_word_embeddings:
        _tie(module)


def _tie(module: nn.Module) -> None:
    """The output layer reads the embedding's weight."""
    heads = [each for name, each in module.named_modules() if name.endswith("lm_head")]
    tables = [each for name, each in module.named_modules() if name.endswith("embed_tokens")]
    if len(heads) != 1 or len(tables) != 1:
        raise ValueError(
            f"tie_word_embeddings: expected one lm_head and one embed_tokens, found {len(heads)} and {len(tables)}"
        )
    heads[0].weight = tables[0].weight
