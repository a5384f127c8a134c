# SPDX-License-Identifier: BSD-3-Clause
"""Combinations of options that cannot be: a row of the table each, (when it holds, what is wrong and what to do)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import reduce
from typing import Any

from executorch.backends.discovery import language_models
from executorch.extension.llm.export.config.llm_config import (
    GGUF_BITS,
    BackendConfig,
    LlmConfig,
)
from executorch.extension.llm.formats.weight_bits import embedding_bits, linear_bits

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


# What rewrites weights, or needs them as floats: not for blocks.
_OTHER_WEIGHTS = (
    "quantization.embedding_quantize",
    "quantization.use_spin_quant",
    "quantization.pt2e_quantize",
    "base.preq_mode",
    "multimethod.methods",
    "model.input_prune_map",
    "model.output_prune_map",
)


def takes_blocks(c: LlmConfig) -> bool:
    """Whether the weights of a GGUF file are to stay the blocks that they are, though nobody asks: where no others are
    asked for, and each backend leaves operators on blocks to the CPU."""
    asked = (
        c.quantization.qmode,
        c.quantization.budget,
        *(_asked(c, each) for each in _OTHER_WEIGHTS),
    )
    return not any(asked) and _backends_leave_blocks(c)


def held_as(c: LlmConfig) -> str:
    """The family of forms (quantization/forms.py) that a budget chooses from."""
    return "blocks" if c.quantization.qmode is None and _backends_leave_blocks(c) else "8da4w"


def _backends_leave_blocks(c: LlmConfig) -> bool:
    modules = (language_models().get(name) for name in enabled_backends(c))
    return all(m and getattr(m.load(m.language_models), "KEEPS_BLOCKS", False) for m in modules)


Rule = tuple[Callable[[LlmConfig], object], str]


def _torchao(text: str | None) -> bool:
    return bool(text) and text.startswith("torchao:")


def same_low_bits(c: LlmConfig) -> bool:
    """Whether linear layers and embeddings are asked for in the same bits and groups, by torchao's names."""
    mode, table = c.quantization.qmode or "", c.quantization.embedding_quantize
    if not (mode.startswith("torchao:8da") and table):
        return False
    linear, rows = linear_bits(mode, c.quantization.group_size), embedding_bits(table)
    return (linear.bits, linear.group) == (rows.bits, rows.group)


def _shares_by_torchao(c: LlmConfig) -> bool:
    return c.model.use_shared_embedding and c.quantization.budget is None


def _pre_quantized(c: LlmConfig) -> bool:
    return bool(c.quantization.use_spin_quant or c.quantization.use_qat)


# Documented options whose work is not in this package; taking them out of this list is part of doing it.
NOT_YET: tuple[Rule, ...] = (
    (
        lambda c: c.base.lora_config and c.base.lora_config.adapter_quant,
        "lora_config.adapter_quant is not supported here yet: leave it at its default",
    ),
)


def _value(c: LlmConfig, key: str) -> Any:
    return reduce(getattr, key.split("."), c)


def _asked(c: LlmConfig, key: str) -> bool:
    """Whether an option is other than it is by default; `key=value`: whether it is that."""
    name, _, value = key.partition("=")
    found = _value(c, name)
    return str(found) == value if value else bool(found) and found != _value(_DEFAULT, name)


def _needs(key: str, *needed: str) -> Rule:
    how = "it" if len(needed) == 1 else "them"
    return (
        lambda c: _asked(c, key) and not all(_value(c, each) for each in needed),
        f"{key} needs {' and '.join(needed)}: set {how} to True, too",
    )


def _without(key: str, why: str, *others: str) -> Rule:
    return (
        lambda c: _asked(c, key) and any(_asked(c, each) for each in others),
        f"{key} {why}: leave out {', '.join(others)}",
    )


_DEFAULT = LlmConfig()
RULES: tuple[Rule, ...] = (
    _without(f"quantization.qmode={GGUF_BITS}", "keeps all bits of the file", *_OTHER_WEIGHTS),
    _without(
        "quantization.budget",
        "chooses the form of all weights of one method",
        *_OTHER_WEIGHTS,
        "base.lora_config",
        "export.embed",
        "backend.torchao.use_torchao_kernels_linear",
        "backend.torchao.use_torchao_kernels_tied_embedding",
    ),
    (
        lambda c: c.quantization.budget and c.quantization.qmode not in (None, "8da4w"),
        "quantization.budget chooses blocks of 4 to 8 bits, or, with quantization.qmode=8da4w, integers that backends "
        "lower: leave out other values of quantization.qmode",
    ),
    _needs("model.use_sdpa_with_kv_cache", "model.use_kv_cache"),
    _needs("model.quantize_kv_cache", "model.use_kv_cache"),
    _needs("model.use_attention_sink", "model.use_kv_cache"),
    _needs("model.local_global_attention", "model.use_kv_cache"),
    _needs("export.max_sessions", "model.use_sdpa_with_kv_cache", "model.enable_dynamic_shape"),
    # of the caches that llama::update_cache writes
    _needs("model.kv_cache_dtype", "model.use_sdpa_with_kv_cache"),
    _without("model.kv_cache_dtype", "chooses floats", "model.quantize_kv_cache"),
    _without(
        "export.max_sessions",
        "has plain caches and is told which logits to give",
        "model.quantize_kv_cache",
        "model.use_attention_sink",
        "model.local_global_attention",
        "debug.generate_full_logits",
        "quantization.pt2e_quantize",
        "multimethod.methods",
    ),
    _without(
        "export.embed",
        "adds a method without a cache that shares its weights in the program",
        "model.use_attention_sink",
        "model.local_global_attention",
        "quantization.pt2e_quantize",
        "multimethod.methods",
        "export.foundation_weights_file",
        "export.lora_weights_file",
    ),
    _without("model.use_attention_sink", "chooses the cache", "model.local_global_attention"),
    _without("model.use_attention_sink", "has a cache of floats", "model.quantize_kv_cache"),
    _without(
        "multimethod.methods",
        "share weights in the program, and data files are for one method",
        "export.foundation_weights_file",
        "export.lora_weights_file",
    ),
    _without("multimethod.methods", "name adapters, each its own", "base.lora_config"),
    _without("quantization.pt2e_quantize", "quantizes one method", "multimethod.methods"),
    _without(
        "quantization.use_spin_quant",
        "and use_qat are two kinds of checkpoints",
        "quantization.use_qat",
    ),
    (
        lambda c: (
            _shares_by_torchao(c)
            and not (_torchao(c.quantization.qmode) and _torchao(c.quantization.embedding_quantize))
        ),
        "model.use_shared_embedding needs quantization.qmode and quantization.embedding_quantize in their torchao: "
        "forms, of equal bits",
    ),
    (
        lambda c: _shares_by_torchao(c) and not same_low_bits(c),
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
