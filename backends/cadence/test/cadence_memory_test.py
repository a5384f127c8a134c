# SPDX-License-Identifier: BSD-3-Clause
"""Where the memory planners place tensors of given sizes and lives, and the peaks of what is placed."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest
import torch
from torch.fx import Graph, GraphModule

from executorch.backends.cadence.aot.memory_planning import (
    ALGORITHMS,
    CadenceMemoryPlanning,
    find_peak_memory_usage,
    find_peak_memory_usages_per_memory,
    print_memory_planning_info,
)
from executorch.backends.cadence.aot.programs import MemoryConfig, MemoryPlanningAlgoFailure
from executorch.exir.memory_planning import MemoryAlgoResult
from executorch.exir.tensor import TensorSpec

Tensors = Sequence[tuple[int, int, int]]  # bytes, first and last step of life
Places = list[tuple[int, int]]  # memory and offset


def specs_of(tensors: Tensors) -> list[TensorSpec]:
    specs = [TensorSpec(torch.uint8, [size]) for size, _, _ in tensors]
    for spec, (_, first, last) in zip(specs, tensors, strict=True):
        spec.lifetime = [first, last]
    return specs


def planned(
    algorithm: int, config: MemoryConfig, tensors: Tensors, padding: int = 0
) -> tuple[Places, MemoryAlgoResult]:
    specs = specs_of(tensors)
    result = ALGORITHMS[algorithm](config)(16, specs, GraphModule({}, Graph()), None, padding)
    places = [result.spec_dict[each] for each in specs]
    return [(each.mem_id, each.mem_offset) for each in places], result


# Tensors, by falling size; memories; places by either algorithm, sizes of memories.
CASES = [
    # Lives that touch in one step do not share; those apart do.
    ([(64, 0, 2), (48, 2, 3), (32, 3, 4)], [256], [(1, 0), (1, 64), (1, 0)], [0, 112]),
    # Exactly full, and one byte too much for the first memory.
    ([(64, 0, 1), (64, 0, 1)], [128, 64], [(1, 0), (1, 64)], [0, 128]),
    ([(64, 0, 1), (64, 0, 1)], [127, 64], [(1, 0), (2, 0)], [0, 64, 64]),
    # A memory that is left empty behind others that are used is not said.
    ([(64, 0, 1)], [64, 64, 64], [(1, 0)], [0, 64]),
    ([(64, 0, 1)], [32, 64, 64], [(2, 0)], [0, 0, 64]),
    # Sizes are filled up to 16: two of 20 bytes are 32 apart.
    ([(20, 0, 1), (20, 0, 1)], [64], [(1, 0), (1, 32)], [0, 64]),
    # A gap of just the size.
    (
        [(96, 0, 1), (64, 0, 9), (48, 2, 9), (48, 2, 9)],
        [512],
        [(1, 0), (1, 96), (1, 0), (1, 48)],
        [0, 160],
    ),
]


@pytest.mark.parametrize("algorithm", (0, 1))
@pytest.mark.parametrize(("tensors", "memories", "places", "sizes"), CASES)
def test_places(
    algorithm: int, tensors: Tensors, memories: list[int], places: Places, sizes: list[int]
) -> None:
    found, result = planned(algorithm, MemoryConfig(memories), tensors)
    assert found == places and result.bufsizes == sizes


def test_the_lowest_and_the_smallest_gap() -> None:
    """At step 9 bytes 0 to 112 and 208 to 272 are free: both hold the last tensor."""
    tensors = [(112, 0, 1), (96, 0, 9), (64, 0, 1), (48, 0, 9), (32, 9, 9)]
    first, smallest = (planned(each, MemoryConfig([1024]), tensors)[0] for each in (0, 1))
    assert first == [(1, 0), (1, 112), (1, 208), (1, 272), (1, 0)]
    assert smallest == [*first[:-1], (1, 208)]


def test_alignment_of_a_memory_and_padding() -> None:
    config = MemoryConfig([256], memory_alignments=[64])
    places, result = planned(0, config, [(16, 0, 1), (16, 0, 1)], padding=8)
    assert places == [(1, 0), (1, 64)] and result.bufsizes == [0, 136]


def test_what_fits_nowhere() -> None:
    tensors = [(64, 0, 1), (48, 0, 1), (48, 1, 2)]
    with pytest.raises(MemoryPlanningAlgoFailure, match=r"48 bytes into memories of \[64, 48\]"):
        planned(0, MemoryConfig([64, 48]), tensors)
    assert planned(0, MemoryConfig([64, 96]), tensors)[0] == [(1, 0), (2, 0), (2, 48)]


def test_numbers_of_levels_and_algorithms() -> None:
    config = MemoryConfig([64])
    for level, number in ((0, 0), (4, 1)):
        CadenceMemoryPlanning(config, opt_level=level, mem_algo=number)
    for level, number in ((5, 0), (-1, 0), (1, 2), (1, -1)):
        with pytest.raises(ValueError, match=f"found {level} and {number}"):
            CadenceMemoryPlanning(config, opt_level=level, mem_algo=number)
    with pytest.raises(NotImplementedError, match="constraints on places"):
        CadenceMemoryPlanning(config, additional_constraint_gen_passes=[object()])
    assert CadenceMemoryPlanning(config, additional_constraint_gen_passes=[]).alloc_graph_input


# (memory, offset), bytes and life of each.
PLACED = [((1, 0), (64, 0, 1)), ((1, 64), (32, 1, 2)), ((3, 16), (48, 2, 3)), ((1, 0), (16, 3, 3))]


def graph_of(specs: Sequence[TensorSpec]) -> GraphModule:
    graph = Graph()
    for place, spec in enumerate(specs):
        graph.placeholder(f"x{place}").meta["spec"] = spec
    graph.output(())
    return GraphModule({}, graph)


def placed() -> list[TensorSpec]:
    specs = specs_of([tensor for _, tensor in PLACED])
    for spec, (place, _) in zip(specs, PLACED, strict=True):
        spec.mem_id, spec.mem_offset = place
    return specs


def test_peaks() -> None:
    """Ends of memories 1 and 3 are 96 and 64; at step 1, 64 and 32 bytes live, at step 2, 32 and 48."""
    module = graph_of(placed())
    assert find_peak_memory_usages_per_memory(module) == [0, 96, 0, 64]
    assert find_peak_memory_usage(module) == 96


@pytest.mark.parametrize("field", ("mem_id", "mem_offset", "lifetime"))
def test_peaks_pass_over_what_is_not_placed(field: str) -> None:
    """A tensor of the caller: of 1024 bytes, and in no memory, at no place or of no life."""
    (more,) = specs_of([(1024, 0, 3)])
    more.mem_id, more.mem_offset = 1, 0
    setattr(more, field, [None, None] if field == "lifetime" else None)
    module = graph_of([*placed(), more])
    ends = [0, 1024, 0, 64] if field == "lifetime" else [0, 96, 0, 64]
    assert find_peak_memory_usages_per_memory(module) == ends
    assert find_peak_memory_usage(module) == (1120 if field == "mem_offset" else 96)


def test_what_is_said_of_memories(caplog: pytest.LogCaptureFixture) -> None:
    config = MemoryConfig([128, 64, 64], None, ["near", "mid", "far"], [0x1000, 0x2000, 0x4000])
    print_memory_planning_info(graph_of(placed()), config)
    assert caplog.messages == []
    with caplog.at_level(logging.INFO):
        print_memory_planning_info(graph_of(placed()), config)
    assert caplog.messages == [
        "near at 0x1000: 96 bytes of 128",
        "mid at 0x2000: 0 bytes of 64",
        "far at 0x4000: 64 bytes of 64",
        "Peak memory usage across all spaces | 96 bytes",
    ]
