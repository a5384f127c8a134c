# SPDX-License-Identifier: BSD-3-Clause
"""Runs payloads in Python: what a payload means, in a few lines. The checks of values use it where the runtime half is
not built."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from executorch.backends.skeleton.aot.payload import SCHEMA
from executorch.backends.test.conformance.backend import Run


def load(payload: bytes, data: Mapping[str, bytes]) -> Run:
    return partial(_run, SCHEMA.unpack(payload), data)


def _run(graph: Any, data: Mapping[str, bytes], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    operators = SCHEMA.classes["Operator"]
    shape = inputs[0].shape  # all values have one
    values = [*inputs, *(_constant(data[each.key], shape) for each in graph.constants)]
    for call in graph.calls:
        left, right = values[call.left], values[call.right]
        values.append(left + right if call.operator == operators.Add else left * right)
    return [values[place] for place in graph.outputs]


def _constant(data: bytes, shape: torch.Size) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.float32).reshape(shape)
