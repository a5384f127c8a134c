# SPDX-License-Identifier: BSD-3-Clause
"""Which rewrites a config asks for, in the order in which they run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from executorch.extension.llm.export.config.llm_config import LlmConfig
from executorch.extension.llm.export.config.rules import same_low_bits
from executorch.extension.llm.formats.weight_bits import WeightBits, embedding_bits, linear_bits
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.caches import without_cache
from executorch.extension.llm.model.likelihood import module_logits
from executorch.extension.llm.quantization.weights import (
    quantize_embeddings,
    quantize_linears,
    report,
)
from executorch.extension.llm.transform.hadamard import (
    inject_fast_hadamard_transform_native_for_spin_quant,
)

if TYPE_CHECKING:
    from executorch.extension.llm.quantization.budget import Search

logger = logging.getLogger(__name__)
Transform = Callable[[nn.Module], nn.Module]


def transforms_for(
    config: LlmConfig,
    args: ModelArgs,
    texts: Sequence[torch.Tensor] = (),
    search: Search | None = None,
) -> list[Transform]:
    """Weights first, while modules are plain; then sinks, then what reads caches, then the caches themselves, from
    float to 8 bits to rings. `texts`: the tokens (1, n) that weights are rounded by, where the qmode says so; `search`
    chooses all weights' forms."""
    quantization, options = config.quantization, config.model
    found: list[Transform] = []
    if quantization.use_spin_quant:
        found.append(inject_fast_hadamard_transform_native_for_spin_quant)
    kernels = config.backend.torchao
    if (options.use_shared_embedding and search is None) or (
        kernels.use_torchao_kernels_tied_embedding and same_low_bits(config)
    ):
        from executorch.extension.llm.quantization.packed import share_embedding

        shared = linear_bits(quantization.qmode, quantization.group_size)
        required = options.use_shared_embedding
        found.append(
            partial(share_embedding, wanted=shared, use_hqq=quantization.use_hqq, required=required)
        )
    if quantization.embedding_quantize:
        wanted = embedding_bits(quantization.embedding_quantize)
        found.append(partial(quantize_embeddings, wanted=wanted, use_hqq=quantization.use_hqq))
    if search is not None:
        found.append(search.apply)
    elif quantization.few_bits is not None:
        bits = linear_bits(quantization.few_bits, quantization.group_size)
        how: dict[str, Any] = {"texts": texts} if texts else {"use_hqq": quantization.use_hqq}
        found.append(partial(_by_text if texts else quantize_linears, wanted=bits, **how))
    if found or config.base.preq_mode:
        found.append(partial(_reported, say=config.debug.verbose))
    return [*found, *_caches(options, args), *_sessions(config, args), *_packed(config)]


def _by_text(model: nn.Module, wanted: WeightBits, texts: Sequence[torch.Tensor]) -> nn.Module:
    from executorch.extension.llm.quantization.rounding import quantize_linears_by_text

    with without_cache(model):
        return quantize_linears_by_text(model, wanted, texts, module_logits(model))


def check_linear_attention(config: LlmConfig, args: ModelArgs, dynamic: bool) -> None:
    """Raises ValueError where the loop over tokens would fix their number: without the operator, in a call of any."""
    linear = any(args.layer_type(layer) == "linear_attention" for layer in range(args.n_layers))
    if linear and dynamic and not config.model.use_sdpa_with_kv_cache:
        raise ValueError(
            f"{config.base.model_class} has linear attention, whose calls of any length need an operator: set "
            "model.use_kv_cache and model.use_sdpa_with_kv_cache to True, or model.enable_dynamic_shape to False"
        )


def _sessions(config: LlmConfig, args: ModelArgs) -> list[Transform]:
    if config.export.max_sessions == 1:
        return []
    from executorch.extension.llm.transform.sessions import serve_sessions

    return [partial(serve_sessions, params=args, sessions=config.export.max_sessions)]


def _packed(config: LlmConfig) -> list[Transform]:
    linears = config.backend.torchao.use_torchao_kernels_linear
    if not (linears or (config.quantization.embedding_quantize or "").startswith("torchao:")):
        return []
    # torchao's operators are registered when something needs them
    from executorch.extension.llm.quantization.packed import pack_low_bits

    return [partial(pack_low_bits, linears=linears)]


def _caches(options: object, args: ModelArgs) -> list[Transform]:
    # the operators of language models are registered when something needs them
    if not args.use_kv_cache:
        return []
    from executorch.extension.llm.export.builder import DType
    from executorch.extension.llm.transform import caches, sdpa

    found: list[Transform] = []
    if options.use_attention_sink:
        sink, window = map(int, options.use_attention_sink.split(",")[:2])
        found.append(
            partial(sdpa.enable_attention_sink, params=args, sink_size=sink, window_size=window)
        )
    if options.use_sdpa_with_kv_cache:
        found.append(sdpa.replace_sdpa_with_custom_op)
        found.append(sdpa.replace_delta_rule_with_custom_op)
        found.append(caches.replace_kv_cache_with_custom_kv_cache)
    if options.kv_cache_dtype:
        dtype = DType(str(options.kv_cache_dtype)).to_torch_dtype()
        found.append(partial(caches.hold_caches_in, dtype=dtype))
    if options.quantize_kv_cache:
        found.append(caches.replace_kv_cache_with_quantized_kv_cache)
        if options.use_sdpa_with_kv_cache:
            found.append(sdpa.replace_sdpa_with_quantized_sdpa)
    if options.local_global_attention:
        sizes = options.local_global_attention
        found.append(partial(caches.replace_kv_cache_with_ring_kv_cache, layer_sizes=sizes))
    return found


def _reported(model: nn.Module, say: bool) -> nn.Module:
    text = report(model)
    logger.info("%s", text)
    if say:
        print(f"quantized: {text}")
    return model
