# SPDX-License-Identifier: BSD-3-Clause
"""What `export_llm` asks of MPS (LANGUAGE_MODELS of exir/backend/lowering/manifest.py)."""

from __future__ import annotations

from typing import Any

from executorch.backends.apple.mps.partition.mps_partitioner import MPSPartitioner
from executorch.exir.backend.compile_spec_schema import CompileSpec

PREFIX = "mps_"  # of the file's name
_STATIC = "which the MPS backend needs for static sizes"
RULES = (
    (lambda c: not c.model.use_kv_cache, f"model.use_kv_cache=True is expected, {_STATIC}"),
    (
        lambda c: c.model.enable_dynamic_shape,
        f"model.enable_dynamic_shape=False is expected, {_STATIC}",
    ),
)


def partitioner(use_kv_cache: bool = False) -> MPSPartitioner:
    if not use_kv_cache:
        raise ValueError(f"get_mps_partitioner: use_kv_cache=True is expected, {_STATIC}")
    return MPSPartitioner([CompileSpec("use_fp16", bytes([True]))])


def partitioners(config: Any) -> list[Any]:
    return [partitioner(config.model.use_kv_cache)]
