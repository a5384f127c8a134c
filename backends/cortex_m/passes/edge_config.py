# SPDX-License-Identifier: BSD-3-Clause
"""Operators that an edge program keeps whole for the backend."""

from __future__ import annotations

import torch

from executorch.exir import EdgeCompileConfig

_ATEN = torch.ops.aten


def edge_config() -> EdgeCompileConfig:
    kept = ("linear", "hardsigmoid", "hardsigmoid_", "hardswish", "hardswish_", "silu")
    return EdgeCompileConfig(
        preserve_ops=[getattr(_ATEN, name).default for name in kept],
        _check_ir_validity=False,
        _core_aten_ops_exception_list=[_ATEN.max_pool2d.default],
    )
