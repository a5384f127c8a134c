# SPDX-License-Identifier: BSD-3-Clause
"""Combinations of options that cannot be: a row of the table each, (when it holds, what is wrong and what to do)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from executorch.backends.discovery import language_models
from executorch.extension.llm.export.config.llm_config import (
    DEFAULT_GROUP,
    GGUF_BITS,
    BackendConfig,
    LlmConfig,
)

# What `backend.<name>.enabled` may name, and which of them lower language models here.
BACKENDS = tuple(
    each.name
    for each in fields(BackendConfig)
    if hasattr(getattr(BackendConfig(), each.name), "enabled")
)
PRESENT = tuple(language_models())


def enabled_backends(c: LlmConfig) -> list[str]:
    return [name for name in BACKENDS if getattr(c.backend, name).enabled]


def pt2e_backend(name: str) -> str:
    """Whose quantizer a value of quantization.pt2e_quantize names, such as xnnpack_dynamic."""
    return name.split("_")[0]


def _other_weights(c: LlmConfig) -> object:
    """What rewrites weights, or needs them as floats: not for blocks."""
    return (
        c.quantization.embedding_quantize
        or c.quantization.use_spin_quant
        or c.quantization.pt2e_quantize
        or c.base.preq_mode
        or c.multimethod.methods
        or c.model.input_prune_map
        or c.model.output_prune_map
    )


def takes_blocks(c: LlmConfig) -> bool:
    """Whether the weights of a GGUF file are to stay the blocks that they are, though nobody asks: where no others are
    asked for, and each backend leaves operators on blocks to the CPU."""
    modules = (language_models().get(name) for name in enabled_backends(c))
    if c.quantization.qmode is not None or _other_weights(c):
        return False
    return all(m and getattr(m.load(m.language_models), "KEEPS_BLOCKS", False) for m in modules)


Rule = tuple[Callable[[LlmConfig], object], str]


def _torchao(text: str | None) -> bool:
    return bool(text) and text.startswith("torchao:")


def same_low_bits(c: LlmConfig) -> bool:
    """Whether linear layers and embeddings are asked for in the same bits and groups, by torchao's names."""
    mode, table = c.quantization.qmode or "", c.quantization.embedding_quantize or ""
    group = c.quantization.group_size or DEFAULT_GROUP
    bits = mode.removeprefix("torchao:8da").removesuffix("w")
    return table.removeprefix("torchao:").split(",")[:2] == [bits, str(group)]


def _pre_quantized(c: LlmConfig) -> bool:
    return bool(c.quantization.use_spin_quant or c.quantization.use_qat)


def _not_yet(holds: Callable[[LlmConfig], object], key: str) -> Rule:
    return holds, f"{key} is not supported here yet: leave it at its default"


# Documented options whose work is not in this package; taking them out of this list is part of doing it.
NOT_YET: tuple[Rule, ...] = (
    _not_yet(
        lambda c: c.base.lora_config and c.base.lora_config.adapter_quant,
        "lora_config.adapter_quant",
    ),
)

RULES: tuple[Rule, ...] = (
    (
        lambda c: c.quantization.qmode == GGUF_BITS and _other_weights(c),
        "quantization.qmode=gguf keeps all bits of the file: leave out quantization.embedding_quantize, use_spin_quant "
        "and pt2e_quantize, base.preq_mode, multimethod.methods, model.input_prune_map and output_prune_map",
    ),
    (
        lambda c: c.model.use_sdpa_with_kv_cache and not c.model.use_kv_cache,
        "model.use_sdpa_with_kv_cache needs model.use_kv_cache: set it to True, too",
    ),
    (
        lambda c: (
            c.export.max_sessions > 1
            and not (c.model.use_sdpa_with_kv_cache and c.model.enable_dynamic_shape)
        ),
        "export.max_sessions needs model.use_sdpa_with_kv_cache and model.enable_dynamic_shape: set them to True, too",
    ),
    (
        lambda c: (
            c.export.max_sessions > 1
            and (
                c.model.quantize_kv_cache
                or c.model.use_attention_sink
                or c.model.local_global_attention
                or c.debug.generate_full_logits
                or c.quantization.pt2e_quantize
                or c.multimethod.methods
            )
        ),
        "export.max_sessions has plain caches and is told which logits to give: leave out model.quantize_kv_cache, "
        "use_attention_sink and local_global_attention, debug.generate_full_logits, quantization.pt2e_quantize and "
        "multimethod.methods",
    ),
    (
        lambda c: c.model.quantize_kv_cache and not c.model.use_kv_cache,
        "model.quantize_kv_cache needs model.use_kv_cache: set it to True, too",
    ),
    (
        lambda c: (
            c.model.kv_cache_dtype
            and (c.model.quantize_kv_cache or not c.model.use_sdpa_with_kv_cache)
        ),
        "model.kv_cache_dtype is of the caches that llama::update_cache writes: set model.use_sdpa_with_kv_cache to "
        "True, and leave out model.quantize_kv_cache",
    ),
    (
        lambda c: c.model.use_attention_sink and not c.model.use_kv_cache,
        "model.use_attention_sink needs model.use_kv_cache: set it to True, too",
    ),
    (
        lambda c: c.model.local_global_attention and not c.model.use_kv_cache,
        "model.local_global_attention needs model.use_kv_cache: set it to True, too",
    ),
    (
        lambda c: c.model.local_global_attention and c.model.use_attention_sink,
        "model.local_global_attention and model.use_attention_sink each choose the cache: give one of them",
    ),
    (
        lambda c: c.model.quantize_kv_cache and c.model.use_attention_sink,
        "model.quantize_kv_cache has no cache with attention sinks: give one of them",
    ),
    (
        lambda c: (
            c.model.use_shared_embedding
            and not (_torchao(c.quantization.qmode) and _torchao(c.quantization.embedding_quantize))
        ),
        "model.use_shared_embedding needs quantization.qmode and quantization.embedding_quantize in their torchao: "
        "forms, of equal bits",
    ),
    (
        lambda c: c.model.use_shared_embedding and not same_low_bits(c),
        "model.use_shared_embedding: expected equal bits and groups of quantization.qmode=torchao:8da<bits>w with "
        "quantization.group_size and quantization.embedding_quantize=torchao:<bits>,<group>",
    ),
    (
        lambda c: (
            c.backend.torchao.use_torchao_kernels_linear
            and not (c.quantization.qmode or "").startswith("torchao:8da")
        ),
        "backend.torchao.use_torchao_kernels_linear needs quantization.qmode=torchao:8da<bits>w",
    ),
    (
        lambda c: (
            c.multimethod.methods
            and (c.export.foundation_weights_file or c.export.lora_weights_file)
        ),
        "export.foundation_weights_file and export.lora_weights_file are for one method: methods share weights in the "
        "program",
    ),
    (
        lambda c: (
            c.export.embed
            and (
                c.model.use_attention_sink
                or c.model.local_global_attention
                or c.quantization.pt2e_quantize
                or c.multimethod.methods
                or c.export.foundation_weights_file
                or c.export.lora_weights_file
            )
        ),
        "export.embed adds a method without a cache that shares its weights in the program: leave out "
        "model.use_attention_sink and local_global_attention, quantization.pt2e_quantize, multimethod.methods, "
        "export.foundation_weights_file and lora_weights_file",
    ),
    (
        lambda c: c.base.lora_config and c.multimethod.methods,
        "base.lora_config and multimethod.methods both name adapters: give base.lora_config to the method",
    ),
    (
        lambda c: c.multimethod.methods and c.quantization.pt2e_quantize,
        "quantization.pt2e_quantize quantizes one method: leave it out, or multimethod.methods",
    ),
    (
        lambda c: len({m.method_name for m in c.multimethod.methods}) < len(c.multimethod.methods),
        "multimethod.methods: two methods have the same method_name",
    ),
    (
        lambda c: _pre_quantized(c) and not c.base.preq_mode,
        "quantization.use_spin_quant and quantization.use_qat read quantized checkpoints: give base.preq_mode "
        "(8da4w or 8da4w_output_8da8w) and base.preq_group_size",
    ),
    (
        lambda c: c.base.preq_mode and not _pre_quantized(c),
        "base.preq_mode says how a checkpoint is quantized: give quantization.use_spin_quant or "
        "quantization.use_qat with it",
    ),
    (
        lambda c: _pre_quantized(c) and c.quantization.few_bits,
        "quantization.qmode would quantize weights that the checkpoint has quantized: leave it out",
    ),
    (
        lambda c: c.quantization.use_spin_quant and c.quantization.use_qat,
        "quantization.use_spin_quant and quantization.use_qat are two kinds of checkpoints: give one",
    ),
    (
        lambda c: c.base.use_lora and not c.quantization.use_qat,
        "base.use_lora reads the adapters of a QAT checkpoint: set quantization.use_qat, or give base.lora_config",
    ),
    (
        lambda c: c.base.preq_group_size not in (32, 64, 128, 256),
        "base.preq_group_size: expected 32, 64, 128 or 256",
    ),
    (
        lambda c: str(c.quantization.quantize_scope) != "full",
        "quantization.quantize_scope=linear is of the Arm backends, which are not in this package: leave it out; "
        "XNNPACK's quantizers take linear layers only",
    ),
    (
        lambda c: c.quantization.calibration_tasks or c.quantization.calibration_limit,
        "quantization.calibration_tasks and calibration_limit need lm_eval's data sets, which are not here: give text "
        "as quantization.calibration_data",
    ),
    (
        lambda c: c.quantization.qmode == "8da4w-gptq",
        "quantization.qmode=8da4w-gptq: torchao has no GPTQ for exported models any more; use 8da4w",
    ),
    (
        lambda c: str(c.base.model_class) == "llama3_2_vision",
        "base.model_class=llama3_2_vision is defined by torchtune, which is not supported here",
    ),
    (
        lambda c: (
            c.quantization.pt2e_quantize
            and pt2e_backend(str(c.quantization.pt2e_quantize)) not in PRESENT
        ),
        f"quantization.pt2e_quantize: its backend is not in this package; here are: {', '.join(PRESENT)}",
    ),
    *(
        (
            lambda c, name=name: getattr(c.backend, name).enabled,
            f"backend.{name} is not in this package; for language models here are: {', '.join(PRESENT)}",
        )
        for name in BACKENDS
        if name not in PRESENT
    ),
)


def check(config: LlmConfig) -> None:
    """Raises ValueError with every combination that cannot be."""
    broken = [
        text for holds, text in (*RULES, *NOT_YET, *_rules_of_backends(config)) if holds(config)
    ]
    if broken:
        raise ValueError("\n".join(broken))


def _rules_of_backends(config: LlmConfig) -> list[Rule]:
    """What the enabled backends that are here say themselves; without its SDK one says that."""
    found: list[Rule] = []
    for name in enabled_backends(config):
        backend = language_models().get(name)
        if backend is None:
            continue
        if reason := backend.why_absent():
            found.append((lambda c: True, reason))
        else:
            found.extend(getattr(backend.load(backend.language_models), "RULES", ()))
    return found
