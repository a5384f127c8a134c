# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Configurations for programs that are lowered to XNNPACK. They are the defaults: nothing needs another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from executorch.backends.xnnpack._passes.remove_noop_expand_copy_pass import (
    RemoveNoopExpandCopyPass,
)
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig


def get_transform_passes(additional_passes: Sequence[Any] | None = None) -> list[Any]:
    """For `to_edge_transform_and_lower(transform_passes=...)`: expansions that change nothing go, then passes given."""
    return [RemoveNoopExpandCopyPass(), *(additional_passes or [])]


def get_xnnpack_edge_compile_config(skip_dim_order: bool = False) -> EdgeCompileConfig:
    return EdgeCompileConfig(_check_ir_validity=False, _skip_dim_order=skip_dim_order)


def get_xnnpack_executorch_backend_config(
    additional_passes: Sequence[Any] | None = None,
) -> ExecutorchBackendConfig:
    return ExecutorchBackendConfig(passes=list(additional_passes or []))
