# SPDX-License-Identifier: BSD-3-Clause
"""What the operators on rows between matmuls compute (op_rows.h), in operators of PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true


def _expect_floats(name: str, **tensors: Tensor) -> None:
    for label, tensor in tensors.items():
        if tensor.dtype != torch.float32:
            raise ValueError(f"{name}: expected {label} float32, found {tensor.dtype}")


def _expect_size(name: str, label: str, wanted: object, found: object) -> None:
    if statically_known_true(wanted != found):
        raise ValueError(f"{name}: expected {label} of {wanted}, found {found}")


def rms_norm_meta(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    _expect_floats("rms_norm", x=x, weight=weight)
    if x.dim() < 1 or weight.dim() != 1 or eps < 0:
        raise ValueError(
            "rms_norm: expected x with rows, weight of 1 dim and eps of 0 or more, found "
            f"{x.dim()} dims, {weight.dim()} and {eps}"
        )
    _expect_size("rms_norm", "weight", x.shape[-1], weight.shape[0])
    return x.new_empty(x.shape)


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def rotate_meta(x: Tensor, cos: Tensor, sin: Tensor, halves: bool) -> Tensor:
    _expect_floats("rotate", x=x, cos=cos, sin=sin)
    if x.dim() < 3 or cos.dim() != 2 or sin.dim() != 2:
        raise ValueError(
            f"rotate: expected x of at least 3 dims, cos and sin of 2, found {x.dim()}, {cos.dim()} and {sin.dim()}"
        )
    _expect_size("rotate", "x's last size a multiple", 0, x.shape[-1] % 2)
    for label, table in (("cos", cos), ("sin", sin)):
        _expect_size("rotate", f"{label} rows", x.shape[-3], table.shape[0])
        columns = x.shape[-1] if halves else x.shape[-1] // 2
        _expect_size("rotate", f"{label} columns", columns, table.shape[1])
    return x.new_empty(x.shape)


def rotate(x: Tensor, cos: Tensor, sin: Tensor, halves: bool) -> Tensor:
    cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
    if halves:
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat((-second, first), -1) * sin
    first, second = x.unflatten(-1, (-1, 2)).unbind(-1)
    pairs = (first * cos - second * sin, first * sin + second * cos)
    return torch.stack(pairs, -1).flatten(-2)


def silu_gate_meta(x: Tensor, by: Tensor) -> Tensor:
    _expect_floats("silu_gate", x=x, by=by)
    if x.dim() != by.dim():
        raise ValueError(
            f"silu_gate: expected x and by of one shape, found {x.dim()} and {by.dim()} dims"
        )
    for wanted, found in zip(x.shape, by.shape):
        _expect_size("silu_gate", "each size of by", wanted, found)
    return x.new_empty(x.shape)


def silu_gate(x: Tensor, by: Tensor) -> Tensor:
    return x * torch.sigmoid(x) * by
