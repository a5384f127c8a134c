# SPDX-License-Identifier: BSD-3-Clause
"""Operators that an edge program keeps whole for the backend."""

from __future__ import annotations

import torch

from executorch.exir import EdgeCompileConfig

_ATEN = torch.ops.aten
# Those that have no kernels of their own.
FOR_TABLES = tuple(
    getattr(_ATEN, name).default
    for name in ("hardsigmoid", "hardsigmoid_", "hardswish", "hardswish_", "silu")
)


def edge_config() -> EdgeCompileConfig:
    return EdgeCompileConfig(
        preserve_ops=[_ATEN.linear.default, *FOR_TABLES],
        _check_ir_validity=False,
        _core_aten_ops_exception_list=[_ATEN.max_pool2d.default],
    )
