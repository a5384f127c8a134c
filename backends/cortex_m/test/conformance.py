# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from executorch.backends.cortex_m.ops.operators import LIBRARY
from executorch.backends.cortex_m.test import cortex_m_quantized_rows, drawn
from executorch.backends.test.conformance.backend import KernelBackend
from executorch.backends.test.corpus import row as corpus
from executorch.backends.test.quantized_calls import Row


def _samples() -> dict[str, tuple[Any, ...]]:
    """The first drawn call of each operator."""
    found: dict[str, tuple[Any, ...]] = {}
    source = drawn.Bytes()
    for family in drawn.FAMILIES.values():
        for case in family(drawn.Draw()):
            name = str(case.op).rpartition(".")[2]
            if name not in found:
                inputs = [drawn.filled(source, each) for each in case.inputs]
                found[name] = tuple(case.args(inputs))
    return found


def _rows() -> Iterator[corpus.Row]:
    """Images with their channels last, and first."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        rows = [each for family in cortex_m_quantized_rows.FAMILIES.values() for each in family()]
    for each in rows:
        yield corpus.row(each.name, each.call, *_laid(each))
    for x in (torch.randn(2, 3), torch.randint(-128, 128, (3, 4), dtype=torch.int8)):
        yield corpus.row(f"{x.dtype}", _converted, x)


def _laid(row: Row) -> list[torch.Tensor]:
    return [
        each.to(memory_format=torch.channels_last) if each.dim() == 4 else each
        for each in row.inputs
    ]


def _converted(x: torch.Tensor) -> torch.Tensor:
    of = torch.ops.quantized_decomposed
    convert = of.quantize_per_tensor if x.is_floating_point() else of.dequantize_per_tensor
    return convert(x, 0.1, 3, -128, 127, torch.int8)


KERNELS = [KernelBackend("cortex_m", LIBRARY, samples=_samples(), rows=tuple(_rows()))]
