# SPDX-License-Identifier: BSD-3-Clause
"""Small programs that tell how fast an engine does each kind of work, each of one kind, at sizes that networks have."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from executorch.devtools.commands.program_file import payload_reader
from executorch.devtools.costs import work
from executorch.devtools.costs.machine import CALL_SECONDS, FAR_BYTES, KERNELS, NEAR_BYTES, Engine
from executorch.devtools.costs.timing import Timed, timed, traced

_TOKENS, _HEADS, _FLOAT = 197, 12, 4


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
    """Those of one kind count together."""
    wide, deep = torch.randn(1, 64, 56, 56), torch.randn(1, 256, 14, 14)
    tokens, query = torch.randn(_TOKENS, 768), torch.randn(_HEADS, _TOKENS, 64)
    probes = [
        Probe(work.MATMUL, nn.Linear(768, 3072), (tokens,)),
        Probe(work.BATCHED, Calls(torch.bmm), (query, query.mT.contiguous())),
        Probe(work.FUNCTION, nn.GELU(), (tokens,)),
        Probe(work.FUNCTION, nn.Softmax(-1), (tokens,)),
        Probe(work.NORM, nn.LayerNorm(768), (tokens,)),
        Probe(work.NORM, nn.GroupNorm(32, 64), (wide,)),
        Probe(work.REDUCTION, _between(64, nn.AvgPool2d(2)), (wide,)),
        Probe(work.ARRANGE, Calls(lambda x: x.permute(0, 2, 3, 1).contiguous()), (wide,)),
    ]
    for image in (wide, deep):
        width = image.shape[1]
        probes += [
            Probe(work.MATMUL, nn.Conv2d(width, 2 * width, 1), (image,)),
            Probe(work.WINOGRAD, _between(width, nn.Conv2d(width, width, 3, 1, 1)), (image,)),
            Probe(work.CONVOLUTION, _between(width, nn.Conv2d(width, width, 3, 2, 1)), (image,)),
            Probe(
                work.DEPTHWISE,
                _between(width, nn.Conv2d(width, width, 3, 1, 1, groups=width)),
                (image,),
            ),
        ]
    return probes


def _between(width: int, module: nn.Module) -> nn.Module:
    """Of convolutions, which then are what changes the layout for a backend that wants another."""
    return nn.Sequential(nn.Conv2d(width, width, 1), module, nn.Conv2d(width, 8, 1))


def can_lower_for(backend: str) -> bool:
    return hasattr(payload_reader(backend), "partitioner")


def measured(engine: str) -> Engine:
    """KERNELS, or the name of a backend that can be lowered for."""
    near, far = (_moved(engine, size) for size in (NEAR_BYTES, FAR_BYTES))
    amounts: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for probe in _probes():
        for each in _run(engine, probe.module, probe.inputs):
            amount = sum(found.amount for found in each.works if found.kind == probe.kind)
            # What a backend leaves to the kernels says nothing of the backend.
            if amount and each.engine == engine:
                amounts[probe.kind] = amounts.get(probe.kind, 0) + amount
                taken = max(each.seconds - CALL_SECONDS, CALL_SECONDS)
                seconds[probe.kind] = seconds.get(probe.kind, 0.0) + taken
    rates = {kind: amount / seconds[kind] for kind, amount in amounts.items()}
    return Engine(near, far, rates)


def _moved(engine: str, num_bytes: int) -> float:
    """Bytes per second of a sum of operands that are that large together with it."""
    one = torch.randn(num_bytes // _FLOAT // 3)
    done = _run(engine, Calls(torch.add), (one, one.clone()))
    return sum(each.num_bytes for each in done) / sum(each.seconds for each in done)


def _run(engine: str, module: nn.Module, inputs: tuple[Tensor, ...]) -> list[Timed]:
    from executorch.exir import to_edge_transform_and_lower
    from executorch.exir.common import override_logger

    reader = payload_reader(engine) if engine != KERNELS else None
    with torch.no_grad():
        exported = torch.export.export(module, inputs)
    partitioner = [reader.partitioner()] if reader else None
    with override_logger(logging.ERROR):  # no warning of a probe that a backend leaves alone
        program = to_edge_transform_and_lower(
            exported, partitioner=partitioner, generate_etrecord=True
        ).to_executorch()
    record = program.get_etrecord()
    return timed(traced(bytes(program.buffer), "forward", inputs, record), record)
