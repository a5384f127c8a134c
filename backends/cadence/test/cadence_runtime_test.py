# SPDX-License-Identifier: BSD-3-Clause
"""Figures of how far results are apart, and what compare() and the memory planner refuse."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from executorch.backends.cadence.aot import compiler
from executorch.backends.cadence.aot.memory_planning import CadenceMemoryPlanning
from executorch.backends.cadence.aot.programs import MemoryConfig, MemoryPlanningAlgoFailure
from executorch.backends.cadence.runtime import distances, runtime


@pytest.mark.req("NPU-057")
def test_figures() -> None:
    found, wanted = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0])
    assert distances.rms(found, wanted) == pytest.approx(math.sqrt(2))  # sqrt((0 + 4) / 2)
    assert (
        distances.max_abs_diff(found, wanted) == 2 and distances.max_rel_diff(found, wanted) == 0.5
    )
    assert distances.normalized_rms(found, wanted) == pytest.approx(math.sqrt(2 / 8.5))
    assert distances.rms(torch.empty(0), torch.empty(0)) == 0
    nan, inf = torch.tensor([torch.nan, 1]), torch.tensor([torch.inf, 1])
    assert distances.rms(nan, nan) == 0 and distances.rms(inf, inf) == 0
    assert all(
        math.isnan(distances.rms(*pair)) for pair in ((nan, found), (inf, -inf), (found, found[:1]))
    )


def test_comparing() -> None:
    runtime.compare(torch.ones(2), torch.ones(2))
    with pytest.raises(RuntimeError, match="Output 1 mismatched"):
        runtime.compare([torch.ones(2), torch.ones(2)], [torch.ones(2), torch.zeros(2)])
    with pytest.raises(RuntimeError, match="mismatched"):
        runtime.compare([torch.tensor([torch.nan])], [torch.ones(1)])


@pytest.mark.parametrize("mem_algo", (0, 1))
def test_memories_are_filled_in_order(mem_algo: int) -> None:
    """Input [64, 32], 8 KiB, goes where there is room: into the second memory; stored values fit into the first."""
    config = MemoryConfig([4096, 16384])
    program = compiler._lower_ep_to_cadence_gen_etrecord(
        compiler.quantize_pt2(nn.Linear(32, 16), (torch.ones(64, 32),)),
        mem_algo=mem_algo,
        memory_config=config,
    )
    (plan,) = program.executorch_program.execution_plan
    unused, first, second = plan.non_const_buffer_sizes
    assert unused == 0 and 2048 <= first <= 4096 and 8192 <= second <= 16384


def test_what_does_not_fit_is_an_error() -> None:
    with pytest.raises(MemoryPlanningAlgoFailure, match="Cannot fit"):
        compiler.export_to_executorch_gen_etrecord(
            nn.ReLU(), (torch.ones(64, 32),), memory_config=MemoryConfig([4096])
        )
    with pytest.raises(ValueError, match="mem_algo of 0 or 1"):
        CadenceMemoryPlanning(MemoryConfig([1]), 1, 2)
