# SPDX-License-Identifier: BSD-3-Clause
"""Memory planning: a place for every tensor of a method. Lifetimes come from `memory_lifetimes`,
the places from the native planner; `passes/memory_planning_pass.py` runs it all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule

from executorch.exir._native import lower_bound, plan_arena, plan_linear
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.memory_lifetimes import (
    StorageMap,
    forget_lifetimes,
    input_specs,
    output_specs,
)
from executorch.exir.tensor import TensorSpec

_DEFAULT_ARENA = 1


@dataclass
class SpecAllocResult:
    """Where one tensor lies: arena, number of the stretch of the arena, byte offset."""

    mem_id: int
    mem_obj_id: int
    mem_offset: int


@dataclass
class MemoryAlgoResult:
    """What an algorithm decides; `bufsizes[i]` is the size of arena i, arena 0 is reserved."""

    spec_dict: dict[TensorSpec, SpecAllocResult]
    bufsizes: list[int]


Planner = Callable[[list[tuple[int, int, int]], int], tuple[list[int], list[int], int]]


def _plan_arenas(
    planner: Planner, alignment: int, specs: Iterable[TensorSpec], extra_padding: int
) -> MemoryAlgoResult:
    """Plans each arena that specs ask for (spec.mem_id, 1 unless set) by itself."""
    arenas: dict[int, list[TensorSpec]] = {}
    for spec in sorted(specs, key=lambda spec: (spec.lifetime[0], spec.mem_obj_id or 0)):
        arenas.setdefault(spec.mem_id or _DEFAULT_ARENA, []).append(spec)
    result = MemoryAlgoResult({}, [0] * (max(arenas, default=_DEFAULT_ARENA) + 1))
    for arena, members in arenas.items():
        offsets, objects, size = planner(_lifetimes(members, alignment), alignment)
        for spec, offset, number in zip(members, offsets, objects, strict=True):
            result.spec_dict[spec] = SpecAllocResult(arena, number, offset)
        result.bufsizes[arena] = size + extra_padding
    return result


def _lifetimes(specs: Iterable[TensorSpec], alignment: int) -> list[tuple[int, int, int]]:
    return [(spec.realign(alignment), spec.lifetime[0], spec.lifetime[1]) for spec in specs]


def greedy(
    alignment: int,
    specs: AbstractSet[TensorSpec],
    graph_module: GraphModule,
    graph_signature: ExportGraphSignature,
    extra_padding: int = 0,
    *,
    allow_overlapping_allocations: bool = True,
) -> MemoryAlgoResult:
    """Best fit with reuse: the smallest of several greedy plans. With
    `allow_overlapping_allocations` false a stretch of memory serves one tensor at a time."""

    def planner(
        tensors: list[tuple[int, int, int]], alignment: int
    ) -> tuple[list[int], list[int], int]:
        return plan_arena(tensors, alignment, allow_overlapping_allocations)

    return _plan_arenas(planner, alignment, specs, extra_padding)


def naive(
    alignment: int,
    specs: AbstractSet[TensorSpec],
    graph_module: GraphModule,
    graph_signature: ExportGraphSignature,
    extra_padding: int,
) -> MemoryAlgoResult:
    """All tensors one after the other, nothing reused."""
    return _plan_arenas(plan_linear, alignment, specs, extra_padding)


def peak_live_bytes(specs: Iterable[TensorSpec], alignment: int = 16) -> int:
    """The most bytes that planned tensors need at one step: no plan of one arena is smaller."""
    return lower_bound(_lifetimes(specs, alignment), alignment)


class MemoryPlanningAlgorithmSuite:
    """Runs several algorithms and keeps the plan with the smallest total size."""

    def __init__(self, algo_list: list[Callable[..., MemoryAlgoResult]] | None = None) -> None:
        self.algo_list = algo_list or [greedy]

    def __call__(
        self,
        alignment: int,
        specs: AbstractSet[TensorSpec],
        graph_module: GraphModule,
        graph_signature: ExportGraphSignature,
        extra_padding: int,
    ) -> list[int]:
        results = [
            algo(alignment, specs, graph_module, graph_signature, extra_padding)
            for algo in self.algo_list
        ]
        best = min(results, key=lambda result: sum(result.bufsizes))
        return _take(best, specs)


def _take(result: MemoryAlgoResult, specs: Iterable[TensorSpec]) -> list[int]:
    """Writes an algorithm's decision into the specs."""
    for spec in specs:
        place = result.spec_dict.get(spec)
        if place is None:
            raise ExportError(
                ExportErrorType.VIOLATION_OF_SPEC,
                f"the memory planning algorithm left out {spec.debug()}",
            )
        spec.mem_id = place.mem_id
        spec.mem_obj_id = place.mem_obj_id
        spec.mem_offset = place.mem_offset
    return result.bufsizes


def apply_algo(
    algo: Callable[..., list[int] | MemoryAlgoResult],
    graph_module: GraphModule,
    alignment: int,
    graph_signature: ExportGraphSignature | None = None,
    alloc_graph_input: bool = True,
    alloc_graph_output: bool = True,
    alloc_mutable_buffers: bool = True,
    enable_non_cpu_memory_planning: bool = False,
) -> list[int]:
    """Plans a method, branches of torch.cond included; gives the arena sizes. An input, output or
    mutable buffer that is not to be allocated keeps mem_id None."""
    storages = _walk(graph_module, graph_signature)
    left_out = _left_out(
        storages,
        graph_module,
        graph_signature,
        (alloc_graph_input, alloc_graph_output, alloc_mutable_buffers),
    )
    planned = [spec for spec in storages.roots if spec not in left_out]
    for number, spec in enumerate(planned):
        spec.mem_obj_id = number  # makes the order of a set of specs reproducible
    for spec in left_out:
        spec.mem_id = spec.mem_offset = None
    result = algo(alignment, set(planned), graph_module, graph_signature, 0)
    sizes = _take(result, planned) if isinstance(result, MemoryAlgoResult) else result
    for spec, root in storages.aliases():
        spec.lifetime = root.lifetime
        if not root.const:
            spec.mem_id, spec.mem_obj_id = root.mem_id, root.mem_obj_id
            spec.mem_offset = root.mem_offset
    return sizes


def _walk(module: GraphModule, signature: ExportGraphSignature | None) -> StorageMap:
    """Lifetimes of all storages: inputs from the start, outputs to the end, mutable buffers always."""
    forget_lifetimes(module.modules())
    storages = StorageMap()
    storages.walk(module)
    _, buffers = input_specs(module, signature)
    for spec in [*output_specs(module), *buffers]:
        storages.touch(spec, storages.last_step)
    return storages


def _left_out(
    storages: StorageMap,
    module: GraphModule,
    signature: ExportGraphSignature | None,
    allocate: tuple[bool, bool, bool],
) -> set[TensorSpec]:
    allocate_inputs, allocate_outputs, allocate_buffers = allocate
    inputs, buffers = input_specs(module, signature)
    left_out = {spec for spec in storages.roots if spec.is_dynamic_unbound_tensor}
    if not allocate_inputs:
        left_out.update(inputs)
    if not allocate_buffers:
        left_out.update(buffers)
    if not allocate_outputs:
        own = {*inputs, *buffers}
        # What is also seen through a view needs memory from the start: the user's pointer reaches
        # one spec only.
        left_out.update(
            spec for spec in output_specs(module) if spec not in own and spec not in storages.viewed
        )
    return left_out
