# SPDX-License-Identifier: BSD-3-Clause
"""Whether a program's numbers on a device are others than PyTorch's because a call computes something else, or because
sums in another order fell to another of 255 steps: each call beside PyTorch for what the device gave its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from executorch.backends.vulkan.aot.eager_quantized import grouped_weights
from executorch.backends.vulkan.test.lowered import payloads
from executorch.backends.vulkan.test.reference import Machine
from executorch.devtools.commands.probe import found_values
from executorch.devtools.devices.job import Job
from executorch.exir._serialize._program import deserialize_pte_binary

DYNAMIC = "et_vk.linear_dq8ca_q4gsw.default"


@dataclass(frozen=True)
class Beside:
    """`error`: of the largest element that PyTorch gives."""

    name: str
    error: float


@dataclass(frozen=True)
class Steps:
    """Elements that linear layers quantize, how many fall to another step, and how many steps away the first do, in
    the order of the calls. `quotients`: of one of these by its scale, which both sides round."""

    count: int
    others: int
    first: int = 0
    quotients: tuple[float, float] = (0.0, 0.0)


class _Recording(Machine):
    """Keeps what its layers quantize."""

    given: dict[int, Tensor] = {}

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        self.quantized: list[Tensor] = []
        self.beside: list[Beside] = []
        return super().run(inputs)

    def _call(self, call: Any) -> None:
        if call.name == DYNAMIC:
            self.quantized.append(self.values[call.args[0]].clone())
        super()._call(call)
        place = call.args[-1]
        if call.node_id not in self.given or not isinstance(self.values[place], Tensor):
            return
        expected = self.values[place].clone()
        found = self.given[call.node_id].reshape(expected.shape).to(expected.dtype)
        most = expected.double().abs().max().item()
        error = (found.double() - expected.double()).abs().max().item()
        self.beside.append(Beside(call.name, error / most if most else error))
        self.values[place] = found


class _Exact(_Recording):
    """Layers whose sums are of float64, and rounded once."""

    def _compute(self, name: str, args: list[Any], outs: Sequence[int]) -> Any:
        if name != DYNAMIC:
            return super()._compute(name, args, outs)
        x, scales, points, weights, _, weight_scales, group_size, bias = args
        weight = grouped_weights(weights, weight_scales, group_size)[:, : x.shape[-1]].double()
        scale, point = (each.reshape(*x.shape[:-1], 1).float() for each in (scales, points))
        stored = torch.clamp(torch.round(x * (1 / scale)) + point, -128, 127)
        wide = None if bias is None else bias[: weights.shape[0]].double()
        sums = torch.nn.functional.linear(((stored - point) * scale).double(), weight, wide)
        return sums.to(x.dtype)


def _loaded(kind: type[_Recording], file: bytes) -> _Recording:
    (payload,) = payloads(file)
    named = deserialize_pte_binary(file).named_data
    data = {key: bytes(named.buffers[each.buffer_index]) for key, each in named.pte_data.items()}
    return kind(payload, data)


def on_device(file: bytes, inputs: Sequence[Any]) -> _Recording:
    """Of a program that is one delegate: `beside` has its calls, `quantized` what its layers round."""
    machine = _loaded(_Recording, file)
    found = found_values(Job(file, "forward", inputs))
    machine.given = {each.delegate_handle: each.values[0] for each in found}
    machine.run(inputs)
    return machine


def in_eager(file: bytes, inputs: Sequence[Any], exact: bool = False) -> _Recording:
    """`exact`: with sums of float64."""
    machine = _loaded(_Exact if exact else _Recording, file)
    machine.run(inputs)
    return machine


def _rounded(x: Tensor) -> tuple[Tensor, Tensor]:
    """By the row's scale: quotients, and steps from zero."""
    least, most = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
    scale = ((most - least) / 255).clamp(min=torch.finfo(torch.float32).eps)
    point = torch.clamp(-128 - torch.round(least / scale), -128, 127)
    quotients = x * (1 / scale)
    return quotients, torch.clamp(torch.round(quotients) + point, -128, 127) - point


def _other_steps(one: _Recording, other: _Recording) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    for found, expected in zip(one.quantized, other.quantized, strict=True):
        (a, steps), (b, wanted) = _rounded(found), _rounded(expected)
        yield (steps - wanted).abs(), a, b


def other_steps(one: _Recording, other: _Recording) -> Steps:
    count = others = first = 0
    quotients = (0.0, 0.0)
    for steps, a, b in _other_steps(one, other):
        fell = steps > 0
        if fell.any() and not others:
            first = int(steps.max())
            quotients = (float(a[fell][0]), float(b[fell][0]))
        count, others = count + fell.numel(), others + int(fell.sum())
    return Steps(count, others, first, quotients)
