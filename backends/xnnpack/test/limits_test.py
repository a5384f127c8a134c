# SPDX-License-Identifier: BSD-3-Clause
"""What the partitioner claims, XNNPACK loads and computes as eager does; what it does not delegate is exact, too.
Of calls that are drawn around the limits of each row (draws.py)."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.test.draws import DRAWS, Draw, draw
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

_DROPPED = "dim_order_ops._clone_dim_order.default"  # by to_edge, where it changes nothing
_TOLERANCES = {torch.float32: 1e-4, torch.float16: 1e-2}


class Calls(nn.Module):
    """Several at once: one export for all."""

    def __init__(self, draws: list[Draw]) -> None:
        super().__init__()
        self.calls = nn.ModuleList(module for module, _ in draws)
        self.counts = [len(inputs) for _, inputs in draws]

    def forward(self, *inputs: Tensor) -> list[Tensor]:
        outputs, rest = [], list(inputs)
        for call, count in zip(self.calls, self.counts, strict=True):
            outputs.append(call(*rest[:count]))
            rest = rest[count:]
        return outputs


def in_dtype(drawn: Draw, dtype: torch.dtype) -> Draw:
    module, inputs = drawn
    return deepcopy(module).to(dtype), tuple(each.to(dtype) for each in inputs)


def is_taken(drawn: Draw) -> bool:
    """By eager: numbers may be beyond half precision."""
    module, inputs = drawn
    try:
        module(*inputs)
    except RuntimeError:
        return False
    return True


def delegated(draws: list[Draw], dtype: torch.dtype) -> set[str]:
    """Names of the operators in delegates, of a program that gave eager's results."""
    both = [(each, in_dtype(each, dtype)) for each in draws]
    draws = [each for each, made in both if is_taken(made)]
    made = [made for _, made in both if is_taken(made)]
    module, inputs = Calls(made).eval(), tuple(x for _, each in made for x in each)
    manager = to_edge_transform_and_lower(
        torch.export.export(module, inputs),
        partitioner=[XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS)],
    )
    lowered = get_lowered_backend_modules(manager.exported_program().graph_module)
    found = {op_name(node) for each in lowered for node in each.original_module.graph.nodes}
    outputs = _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward(inputs)
    with torch.no_grad():
        expected = Calls(draws).eval()(*(x.to(dtype).float() for _, each in draws for x in each))
    bound = _TOLERANCES[dtype]
    for output, right in zip(outputs, expected, strict=True):
        least = (
            bound * max(1.0, float(right[right.isfinite()].abs().amax()))
            if right.isfinite().any()
            else 0
        )
        torch.testing.assert_close(
            output.float(), right.to(dtype).float(), rtol=bound, atol=least / 4, equal_nan=True
        )
    return found


def check(name: str, seeds: range, dtype: torch.dtype) -> set[str]:
    draws = [draw(name, seed) for seed in seeds]
    try:
        return delegated(draws, dtype)
    except Exception:
        for seed, one in zip(seeds, draws, strict=True):
            try:
                delegated([one], dtype)
            except Exception as reason:
                raise AssertionError(f"draw({name!r}, {seed}) in {dtype}: {reason}") from reason
        raise


@needs_runtime
@pytest.mark.parametrize("name", DRAWS)
def test_what_is_claimed_is_loaded_and_computed(name: str) -> None:
    claimed = check(name, range(12), torch.float32)
    assert name in claimed or name == _DROPPED


@needs_runtime
@pytest.mark.full
@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_many_more_of_them(name: str, dtype: torch.dtype) -> None:
    for first in range(100, 132, 16):
        check(name, range(first, first + 16), dtype)


def test_every_row_is_drawn() -> None:
    """Quantized ones: quantized_limits_test.py."""
    rest = set(TABLE) - set(DRAWS) - {"aten.clone.default"}
    assert all(name.startswith("quantized_decomposed.") for name in rest), rest
