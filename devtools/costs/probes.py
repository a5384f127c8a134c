# SPDX-License-Identifier: BSD-3-Clause
"""Small programs that tell how fast an engine does each kind of work, each of one kind, at sizes that networks have.

A kind's rate is the geometric mean of its programs'."""

from __future__ import annotations

import copy
import functools
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from executorch.devtools.commands.program_file import partitioner_of
from executorch.devtools.costs import work
from executorch.devtools.costs.machine import FAR_BYTES, KERNELS, NEAR_BYTES, Engine
from executorch.devtools.costs.timing import Timed, timed, traced
from executorch.devtools.devices.job import Device, Job
from executorch.devtools.progress import counted

_TOKENS, _HEADS, _FLOAT, _LINKS, _CALLS, _ADDENDS = 197, 12, 4, 4, 16, 9


class Calls(nn.Module):
    """A module of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


@dataclass(frozen=True)
class Probe:
    kind: str
    module: nn.Module
    inputs: tuple[Tensor, ...]


def _probes() -> list[Probe]:
    """Chains, so that weights and values come from as far away as they do in a network."""
    wide, deep = torch.randn(1, 64, 56, 56), torch.randn(1, 256, 14, 14)
    tokens, query = torch.randn(_TOKENS, 768), torch.randn(_HEADS, _TOKENS, 64)
    narrow = torch.randn(1, 3136, 64)
    up_and_down = (nn.Linear(768, 3072), nn.Linear(3072, 768))
    probes = [
        Probe(work.MATMUL, nn.Sequential(*up_and_down, *copy.deepcopy(up_and_down)), (tokens,)),
        Probe(work.MATMUL, _chain(nn.Linear(256, 256)), (torch.randn(49, 256),)),
        Probe(work.BATCHED, Calls(torch.bmm), (query, query.mT.contiguous())),
        Probe(work.FUNCTION, _chain(nn.GELU()), (tokens,)),
        Probe(work.FUNCTION, nn.Softmax(-1), (tokens,)),
        Probe(work.NORM, _chain(nn.LayerNorm(768)), (tokens,)),
        Probe(work.NORM, _chain(nn.LayerNorm(64)), (narrow,)),
        Probe(work.NORM, nn.GroupNorm(32, 64), (wide,)),
        Probe(work.NORM, _chain(nn.BatchNorm2d(64)), (wide,)),
        Probe(work.REDUCTION, _between(64, nn.AvgPool2d(2)), (wide,)),
        Probe(work.ARRANGE, Calls(_transposed_twice), (narrow,)),
        Probe(work.ARRANGE, Calls(_transposed_twice), (narrow.repeat(1, 1, 4),)),
        Probe(work.ARRANGE, Calls(_cut_and_joined), (wide,)),
        Probe(work.RESAMPLE, _between(64, nn.Upsample(scale_factor=2, mode="bilinear")), (wide,)),
    ]
    for image in (wide, deep):
        width = image.shape[1]
        one, three = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 3, 1, 1)
        half, apart = (
            nn.Conv2d(width, width, 3, 2, 1),
            nn.Conv2d(width, width, 3, 1, 1, groups=width),
        )
        probes += [
            Probe(work.MATMUL, _chain(one), (image,)),
            Probe(work.WINOGRAD, _between(width, _chain(three)), (image,)),
            Probe(work.CONVOLUTION, _between(width, half), (image,)),
            Probe(work.DEPTHWISE, _between(width, _chain(apart)), (image,)),
        ]
    return probes


def _chain(module: nn.Module, links: int = _LINKS) -> nn.Module:
    return nn.Sequential(*(copy.deepcopy(module) for _ in range(links)))


def _transposed_twice(x: Tensor) -> Tensor:
    return (x.transpose(1, 2).contiguous() + 1).transpose(1, 2).contiguous()


def _cut_and_joined(x: Tensor) -> Tensor:
    first, second = x.chunk(2, 1)
    return torch.cat((second, first), 1)


def _between(width: int, module: nn.Module) -> nn.Module:
    """Of convolutions, which then are what changes the layout for a backend that wants another."""
    return nn.Sequential(nn.Conv2d(width, width, 1), module, nn.Conv2d(width, 8, 1))


def can_lower_for(backend: str) -> bool:
    return partitioner_of(backend) is not None


def measured(engine: str, device: Device | None = None) -> Engine:
    """KERNELS, or the name of a backend that can be lowered for."""
    near, far = (_moved(engine, size, device) for size in (NEAR_BYTES, FAR_BYTES))
    call = _called(engine, device)
    rates: dict[str, list[float]] = {}
    probes = _probes()
    for probe in counted(probes, f"speeds of {engine or 'the kernels'}", len(probes)):
        # What a backend leaves to the kernels says nothing of the backend.
        ran = _run(engine, probe.module, probe.inputs, device)
        done = [each for each in ran if each.engine == engine]
        amounts = [sum(w.amount for w in each.works if w.kind == probe.kind) for each in done]
        if any(amounts):
            mine = sum(max(d.seconds - call, call) for d, amount in zip(done, amounts) if amount)
            rates.setdefault(probe.kind, []).append(sum(amounts) / mine)
    means = {kind: math.prod(found) ** (1 / len(found)) for kind, found in rates.items()}
    return Engine(near, far, call, means)


def _called(engine: str, device: Device | None) -> float:
    """Seconds of a call that has nothing to do."""
    calls = _run(engine, _chain(nn.Softmax(-1), _CALLS), (torch.ones(1, 8),), device)
    return sum(each.seconds for each in calls) / len(calls)


def _moved(engine: str, num_bytes: int, device: Device | None) -> float:
    """Bytes per second of sums of operands that are each that large together with their sum."""
    count = num_bytes // _FLOAT // 3
    addends = tuple(torch.randn(count) for _ in range(_ADDENDS))
    done = _run(engine, Calls(_summed), addends, device)
    return sum(each.num_bytes for each in done) / sum(each.seconds for each in done)


def _summed(*addends: Tensor) -> Tensor:
    return functools.reduce(torch.add, addends)


def _run(
    engine: str, module: nn.Module, inputs: tuple[Tensor, ...], device: Device | None
) -> list[Timed]:
    from executorch.exir import to_edge_transform_and_lower
    from executorch.exir.common import override_logger

    with torch.no_grad():
        exported = torch.export.export(module.eval(), inputs)
    partitioner = [partitioner_of(engine)] if engine != KERNELS else None
    with override_logger(logging.ERROR):  # no warning of a probe that a backend leaves alone
        program = to_edge_transform_and_lower(
            exported, partitioner=partitioner, generate_etrecord=True
        ).to_executorch()
    record = program.get_etrecord()
    job = Job(bytes(program.buffer), "forward", inputs)
    return timed(traced(job, record, device), record)
