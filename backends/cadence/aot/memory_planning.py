# SPDX-License-Identifier: BSD-3-Clause
"""Places tensors in a chip's memories: the largest first, each in the first memory that has room."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.cadence.aot.programs import MemoryConfig, MemoryPlanningAlgoFailure
from executorch.exir.memory_planning import (
    MemoryAlgoResult,
    SpecAllocResult,
    collect_specs_from_nodes,
    peak_live_bytes,
)
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass
from executorch.exir.tensor import TensorSpec

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Placed:
    start: int
    end: int
    first: int
    last: int

    def lives_with(self, spec: TensorSpec) -> bool:
        return self.first <= spec.lifetime[1] and spec.lifetime[0] <= self.last


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


class PositionBasedGreedyWithHierarchy:
    """At the lowest offset that is free for all of a tensor's life."""

    def __init__(self, memory_config: MemoryConfig) -> None:
        self.memory_config = memory_config

    def __call__(
        self,
        alignment: int,
        specs: Iterable[TensorSpec],
        graph_module: GraphModule,
        graph_signature: ExportGraphSignature | None,
        extra_padding: int = 0,
    ) -> MemoryAlgoResult:
        count = len(self.memory_config.memory_sizes)
        placed: list[list[_Placed]] = [[] for _ in range(count)]
        result = MemoryAlgoResult({}, [0] * (count + 1))
        for number, spec in enumerate(sorted(specs, key=lambda each: -each.allocated_memory)):
            memory, offset = self._place(spec, placed, alignment)
            end = offset + spec.allocated_memory
            placed[memory].append(_Placed(offset, end, *spec.lifetime))
            result.spec_dict[spec] = SpecAllocResult(memory + 1, number, offset)
            result.bufsizes[memory + 1] = max(result.bufsizes[memory + 1], end + extra_padding)
        while len(result.bufsizes) > 2 and not result.bufsizes[-1]:
            result.bufsizes.pop()
        return result

    def _place(self, spec: TensorSpec, placed: list[list[_Placed]], least: int) -> tuple[int, int]:
        sizes = self.memory_config.memory_sizes
        for memory, size in enumerate(sizes):
            alignment = self.memory_config.alignment_of(memory, least)
            needed = spec.realign(alignment)
            neighbours = sorted(
                (each for each in placed[memory] if each.lives_with(spec)),
                key=lambda each: each.start,
            )
            offset = self._choose(needed, alignment, neighbours)
            if offset + needed <= size:
                return memory, offset
        raise MemoryPlanningAlgoFailure(
            f"Cannot fit a tensor of {spec.allocated_memory} bytes into memories of {sizes} bytes beside those that "
            "live with it: give larger memory_sizes"
        )

    def _choose(self, needed: int, alignment: int, neighbours: list[_Placed]) -> int:
        return next(iter(self._gaps(needed, alignment, neighbours)))[1]

    def _gaps(
        self, needed: int, alignment: int, neighbours: list[_Placed]
    ) -> list[tuple[int, int]]:
        """(size, offset) of what is free and large enough, by offset; the last is behind all, and has no end."""
        found, offset = [], 0
        for each in neighbours:
            if each.start - offset >= needed:
                found.append((each.start - offset, offset))
            offset = max(offset, _aligned(each.end, alignment))
        return [*found, (1 << 62, offset)]


class GreedyWithHeuristic(PositionBasedGreedyWithHierarchy):
    """In the smallest gap between living neighbours that is large enough, else behind all (arXiv 2001.03288)."""

    def _choose(self, needed: int, alignment: int, neighbours: list[_Placed]) -> int:
        return min(self._gaps(needed, alignment, neighbours))[1]


ALGORITHMS = (PositionBasedGreedyWithHierarchy, GreedyWithHeuristic)


class CadenceMemoryPlanning(MemoryPlanningPass):
    """`mem_algo`: a place in ALGORITHMS. The tables of memories are logged."""

    def __init__(
        self,
        memory_config: MemoryConfig,
        opt_level: int = 1,
        mem_algo: int = 0,
        alloc_graph_input: bool = True,
        alloc_graph_output: bool = True,
        additional_constraint_gen_passes: Any = None,
    ) -> None:
        if additional_constraint_gen_passes:
            raise NotImplementedError(
                "CadenceMemoryPlanning: constraints on places are not supported: views are placed in what they read by "
                "the compiler itself"
            )
        if opt_level not in range(5) or mem_algo not in range(len(ALGORITHMS)):
            raise ValueError(
                f"CadenceMemoryPlanning: an opt_level of 0 to 4 and a mem_algo of 0 or 1 are expected, found "
                f"{opt_level} and {mem_algo}"
            )
        super().__init__(
            ALGORITHMS[mem_algo](memory_config),
            alloc_graph_input=alloc_graph_input,
            alloc_graph_output=alloc_graph_output,
        )
        self.memory_config = memory_config

    def run(
        self, graph_module: GraphModule, graph_signature: ExportGraphSignature | None = None
    ) -> PassResult:
        done = super().run(graph_module, graph_signature)
        print_memory_planning_info(graph_module, self.memory_config)
        return done


def find_peak_memory_usages_per_memory(graph_module: GraphModule) -> list[int]:
    """The end of the last tensor in each memory of a planned program; memory 0 is not used."""
    ends = [0]
    for spec in collect_specs_from_nodes(graph_module.graph.nodes, None):
        if spec.mem_id is None or spec.mem_offset is None:
            continue
        ends += [0] * (spec.mem_id + 1 - len(ends))
        ends[spec.mem_id] = max(ends[spec.mem_id], spec.mem_offset + spec.allocated_memory)
    return ends


def find_peak_memory_usage(graph_module: GraphModule) -> int:
    """The most bytes of all memories together that live at one time."""
    specs = collect_specs_from_nodes(graph_module.graph.nodes, None)
    own = [each for each in specs if each.mem_id is not None and None not in each.lifetime]
    return peak_live_bytes(own)  # views have the place and the life of what they read


def print_memory_planning_info(graph_module: GraphModule, memory_config: MemoryConfig) -> None:
    if not _log.isEnabledFor(logging.INFO):
        return
    used = find_peak_memory_usages_per_memory(graph_module)[1:]
    for memory, most in enumerate(used):
        name, size = memory_config.name_of(memory), memory_config.memory_sizes[memory]
        _log.info("%s: %d bytes of %d", name, most, size)
    _log.info(
        "Peak memory usage across all spaces | %d bytes", find_peak_memory_usage(graph_module)
    )
