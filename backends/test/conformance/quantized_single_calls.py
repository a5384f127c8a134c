# SPDX-License-Identifier: BSD-3-Clause
"""Single calls on stored values beside eager PyTorch on what those stand for: a result is rounded once.

call  ->  program_of(call, operand, result), lowered and run  ->  quanta_off(call, found, operand, result)"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from executorch.backends.test.conformance.single_call import Call, Data, Numbers


def tensors_of(call: Call) -> list[Tensor]:
    """What its program is run with."""
    given = pytree.tree_leaves((call.args, dict(call.kwargs)))
    return [each for each in given if isinstance(each, Tensor)]


def _stored(x: Tensor, numbers: Numbers) -> Tensor:
    """To the nearest that is stored."""
    if x.dtype != torch.float32:
        return x
    scale, zero_point, low, high, _ = numbers
    return ((x / scale).round().add(zero_point).clamp(low, high) - zero_point) * scale


def _real(data: Data) -> Tensor:
    if data.scale is None:
        return data.tensor
    scales, sizes = torch.tensor(data.scale).reshape(-1), [1] * data.tensor.dim()
    sizes[data.axis] = -1
    return data.tensor.float() * scales.reshape(sizes)


def exact(call: Call, operand: Numbers) -> Tensor:
    """In float32; the first of several results."""
    args = pytree.tree_map_only(Tensor, lambda each: _stored(each, operand), call.args)
    args = pytree.tree_map_only(Data, _real, args)
    return pytree.tree_leaves(call.op(*args, **call.kwargs))[0]


def quanta_off(call: Call, found: Tensor, operand: Numbers, result: Numbers) -> float:
    """By how many quanta of the result at most; of conditions, how many differ. Infinite for other sizes."""
    expected = exact(call, operand)
    if found.shape != expected.shape:
        return torch.inf
    if not expected.is_floating_point():
        return float((found != expected).sum())
    scale, zero_point, low, high, _ = result
    quanta = (expected.double() / scale + zero_point).clamp(low, high)
    return (found.double() / scale + zero_point - quanta).abs().max().item()
