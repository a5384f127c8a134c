# SPDX-License-Identifier: BSD-3-Clause
"""Memory planning: a place for every tensor of a method. Lifetimes come from `memory_lifetimes`,
the places from the native planner; `passes/memory_planning_pass.py` runs it all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from executorch.exir import memory
from executorch.exir._native import lower_bound, plan_arena, plan_linear
from executorch.exir.error import ExportError, ExportErrorType, InternalError
from executorch.exir.graph_facts import called_op
from executorch.exir.memory_lifetimes import (
    StorageMap,
    higher_order_name,
    input_specs,
    output_specs,
    specs_of,
    walk_method,
)
from executorch.exir.schema import DeviceType, NonConstBufferDevice
from executorch.exir.tensor import TensorSpec
from executorch.exir.verification.memory_verifier import Verifier

__all__ = [
    "AllocationSpec",
    "MemoryAlgoResult",
    "MemoryPlanningAlgorithmSuite",
    "REGISTERED_ALGOS",
    "SharedObject",
    "SpecAllocResult",
    "Verifier",
    "apply_algo",
    "collect_specs_from_nodes",
    "filter_nodes",
    "get_cond_nodes",
    "get_graph_input_tensors",
    "get_graph_output_tensors",
    "get_input_specs",
    "get_map_nodes",
    "get_node_tensor_specs",
    "get_return_specs",
    "get_scan_nodes",
    "get_while_nodes",
    "greedy",
    "insert_calls_to_free",
    "materialize_buffer",
    "naive",
    "peak_live_bytes",
    "pick_shared_obj",
    "update_all_tensors_lifetime",
    "update_tensor_lifetime",
]
_DEFAULT_ARENA = 1


@dataclass
class SpecAllocResult:
    """Where one tensor is placed: arena, number of the stretch of the arena, byte offset."""

    mem_id: int
    mem_obj_id: int
    mem_offset: int


@dataclass
class MemoryAlgoResult:
    """What an algorithm decides; `bufsizes[i]` is the size of arena i, arena 0 is reserved."""

    spec_dict: dict[TensorSpec, SpecAllocResult]
    bufsizes: list[int]


Algorithm = Callable[..., "MemoryAlgoResult | list[int]"]
# Algorithms of users by name; none is registered here.
REGISTERED_ALGOS: dict[str, Algorithm] = {}
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
    specs: Iterable[TensorSpec],
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
    specs: Iterable[TensorSpec],
    graph_module: GraphModule,
    graph_signature: ExportGraphSignature,
    extra_padding: int,
) -> MemoryAlgoResult:
    """All tensors one after the other, nothing reused."""
    return _plan_arenas(plan_linear, alignment, specs, extra_padding)


@dataclass
class AllocationSpec:
    """A tensor's place in a SharedObject: bytes from its start."""

    offset: int
    spec: TensorSpec


@dataclass
class SharedObject:
    """A stretch of an arena that serves several tensors: a building block for planners of one's own. `offset` is -1
    until materialize_buffer() has laid it out; the uses are the first and last step of any of its tensors."""

    idx: int
    offset: int
    size: int
    first_used_index: int
    last_used_index: int
    allocations: list[AllocationSpec] = field(default_factory=list)


def pick_shared_obj(
    shared_objects: list[SharedObject], spec: TensorSpec, allow_overlapping_allocations: bool = True
) -> SharedObject:
    """Places `spec` in the first object whose tensors all live at other times, else, if allowed, behind those that live
    at its time in the first object with room there, else in a new object at the end of `shared_objects`. Specs are to
    come from the largest to the smallest."""
    start, end = spec.lifetime
    size = spec.allocated_memory
    if shared_objects and size > shared_objects[-1].size:
        raise InternalError(
            f"expected specs in descending size: {size} bytes come after {shared_objects[-1].size}; sort them first"
        )

    def behind(item: SharedObject) -> int:
        """The end of what lives in the object at spec's time."""
        live = (a for a in item.allocations if _live_together(a.spec.lifetime, (start, end)))
        return max((a.offset + a.spec.allocated_memory for a in live), default=0)

    places = [(item, behind(item)) for item in shared_objects]
    found = next((place for place in places if place[1] == 0), None)
    if found is None and allow_overlapping_allocations:
        found = next((p for p in places if p[1] + size <= p[0].size), None)
    if found is None:
        found = SharedObject(len(shared_objects), -1, size, start, end), 0
        shared_objects.append(found[0])
    item, offset = found
    item.allocations.append(AllocationSpec(offset, spec))
    item.first_used_index = min(item.first_used_index, start)
    item.last_used_index = max(item.last_used_index, end)
    return item


def _live_together(one: Sequence[int], other: Sequence[int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def materialize_buffer(shared_objects: list[SharedObject], input_total_size: int = 0) -> int:
    """Lays the objects out one after the other from byte `input_total_size`; returns the size of the arena."""
    total = input_total_size
    for item in shared_objects:
        item.offset = total
        total += item.size
    return total


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
        specs: Iterable[TensorSpec],
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
    algo: Algorithm,
    graph_module: GraphModule,
    alignment: int,
    graph_signature: ExportGraphSignature | None = None,
    alloc_graph_input: bool = True,
    alloc_graph_output: bool = True,
    alloc_mutable_buffers: bool = True,
    enable_non_cpu_memory_planning: bool = False,
) -> list[int]:
    """Plans a method, branches of torch.cond included; gives the arena sizes. An input, output or
    mutable buffer that is not to be allocated keeps mem_id None. With `enable_non_cpu_memory_planning`
    tensors of each other device get an arena of their own, listed in
    graph_module.meta["non_const_buffer_device"]."""
    storages = walk_method(graph_module, graph_signature)
    left_out = _left_out(
        storages,
        graph_module,
        graph_signature,
        (alloc_graph_input, alloc_graph_output, alloc_mutable_buffers),
    )
    planned = [spec for spec in storages.roots if spec not in left_out]
    for number, spec in enumerate(planned):
        spec.mem_obj_id = number  # a tie-break that algorithms may sort by
    for spec in left_out:
        spec.mem_id = spec.mem_offset = None

    def plan(specs: list[TensorSpec]) -> list[int]:
        result = algo(alignment, list(specs), graph_module, graph_signature, 0)
        return _take(result, specs) if isinstance(result, MemoryAlgoResult) else list(result)

    if enable_non_cpu_memory_planning:
        sizes, devices = _plan_devices(plan, planned)
        if devices:
            graph_module.meta["non_const_buffer_device"] = devices
    else:
        sizes = plan(planned)
    for spec, root in storages.aliases():
        spec.lifetime = root.lifetime
        if not root.const:
            spec.mem_id, spec.mem_obj_id = root.mem_id, root.mem_obj_id
            spec.mem_offset = root.mem_offset
    return sizes


def _plan_devices(
    plan: Callable[[list[TensorSpec]], list[int]], specs: list[TensorSpec]
) -> tuple[list[int], list[NonConstBufferDevice]]:
    """The CPU's arenas first, if it has tensors, then one arena per other device in the order of their numbers."""
    groups: dict[tuple[DeviceType, int], list[TensorSpec]] = {}
    for spec in specs:
        groups.setdefault((spec.device, spec.device_index), []).append(spec)
    of_cpu = groups.pop((DeviceType.CPU, 0), [])
    sizes = plan(of_cpu) if of_cpu or not groups else [0]
    devices = []
    for device, index in sorted(groups):
        members = groups[device, index]
        for spec in members:
            spec.mem_id = _DEFAULT_ARENA
        (size,) = plan(members)[1:]
        for spec in members:
            spec.mem_id = len(sizes)
        devices.append(NonConstBufferDevice(len(sizes), device, index))
        sizes.append(size)
    return sizes, devices


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


# ---- Questions that planning passes of users ask ----


def update_all_tensors_lifetime(
    graph_module: GraphModule, graph_signature: ExportGraphSignature | None = None
) -> set[TensorSpec]:
    """Finds the lifetime of every tensor; gives those that need a place."""
    return set(walk_method(graph_module, graph_signature).roots)


def update_tensor_lifetime(
    node: Node,
    spec: TensorSpec,
    node_idx: int,
    max_node_idx: int,
    gs: ExportGraphSignature | None = None,
) -> None:
    """Extends one lifetime by the use of `spec` at `node`, the `node_idx`-th; inputs begin at 0, and a
    mutable buffer lives to the end."""
    first, last = spec.lifetime
    start = 0 if node.op == "placeholder" else node_idx
    spec.lifetime = [
        start if first is None else min(first, start),
        node_idx if last is None else max(last, node_idx),
    ]
    if gs is None or node.op != "placeholder":
        return
    if gs.inputs_to_buffers.get(node.name) in set(gs.buffers_to_mutate.values()):
        spec.lifetime = [0, max_node_idx]


def _is_out_var_node(node: Node) -> bool:
    """True for a call that writes into tensors it is given as out arguments."""
    op = called_op(node)
    return op is not None and any(argument.is_out for argument in op._schema.arguments)


def filter_nodes(inputs: Iterable[object]) -> Iterable[Node]:
    """The nodes among arguments, lists included."""
    return [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, Node)]


def get_node_tensor_specs(node: Node) -> list[TensorSpec]:
    return specs_of(node)


def get_graph_input_tensors(
    nodes: Iterable[Node], graph_signature: ExportGraphSignature | None = None
) -> set[TensorSpec]:
    """Specs of the placeholders that the user fills; of all placeholders without a signature."""
    user = None if graph_signature is None else set(graph_signature.user_inputs)
    return {
        spec
        for node in nodes
        if node.op == "placeholder" and (user is None or node.name in user)
        for spec in specs_of(node)
    }


def get_graph_output_tensors(nodes: Iterable[Node]) -> set[TensorSpec]:
    return {
        spec
        for node in nodes
        if node.op == "output"
        for source in node.all_input_nodes
        for spec in specs_of(source)
    }


def get_input_specs(graph_module: GraphModule) -> set[TensorSpec]:
    """Specs of all placeholders."""
    return set(input_specs(graph_module, None)[0])


def get_return_specs(graph_module: GraphModule) -> set[TensorSpec]:
    return set(output_specs(graph_module))


def _higher_order_nodes(graph_module: GraphModule, *names: str) -> Iterable[Node]:
    return (node for node in graph_module.graph.nodes if higher_order_name(node) in names)


def get_cond_nodes(graph_module: GraphModule) -> Iterable[Node]:
    return _higher_order_nodes(graph_module, "cond")


def get_while_nodes(graph_module: GraphModule) -> Iterable[Node]:
    return _higher_order_nodes(graph_module, "while_loop")


def get_map_nodes(graph_module: GraphModule) -> Iterable[Node]:
    return _higher_order_nodes(graph_module, "map", "map_impl")


def get_scan_nodes(graph_module: GraphModule) -> Iterable[Node]:
    return _higher_order_nodes(graph_module, "scan")


def insert_calls_to_free(graph_module: GraphModule, allspecs: AbstractSet[TensorSpec]) -> None:
    """Frees each tensor of `allspecs` without an upper bound behind its last use; outputs stay."""
    last_use: dict[TensorSpec, Node] = {}
    for node in graph_module.graph.nodes:
        for user in (node, *node.all_input_nodes):
            last_use.update((spec, node) for spec in specs_of(user))
    origin = {
        spec: node
        for node in graph_module.graph.find_nodes(op="call_function", target=memory.alloc)
        for spec in specs_of(node)
    }
    for spec, node in last_use.items():
        if spec in allspecs and spec.is_dynamic_unbound_tensor and node.op != "output":
            with graph_module.graph.inserting_after(node):
                graph_module.graph.call_function(memory.free, (origin[spec],))


def collect_specs_from_nodes(
    nodes: Iterable[Node],
    graph_signature: ExportGraphSignature | None = None,
    ignore_graph_input: bool = False,
    ignore_graph_output: bool = False,
    ignore_mutable_buffers: bool = False,
    ignore_const: bool = True,
    ignore_out_var_node: bool = True,
    dedup: bool = True,
    do_assertion: bool = True,
    ignore_dynamic_unbound_tensor: bool = True,
) -> Iterable[TensorSpec]:
    """The specs of `nodes` in order. Calls that write into given tensors are passed over unless
    `ignore_out_var_node` is false, since their alloc nodes have the same specs."""
    nodes = list(nodes)
    seen: set[TensorSpec] = set()
    if ignore_graph_input:
        seen |= get_graph_input_tensors(nodes, graph_signature)
    if ignore_graph_output:
        seen |= get_graph_output_tensors(nodes)
    if ignore_mutable_buffers and nodes:
        seen.update(input_specs(nodes[0].graph.owning_module, graph_signature)[1])
    for node in nodes:
        if ignore_out_var_node and _is_out_var_node(node):
            continue
        if do_assertion and node.op == "call_function" and "spec" not in node.meta:
            raise InternalError(f"node {node.format_node()} has no spec; run SpecPropPass first")
        for spec in specs_of(node):
            if spec in seen or (ignore_const and spec.const):
                continue
            if ignore_dynamic_unbound_tensor and spec.is_dynamic_unbound_tensor:
                continue
            if dedup:
                seen.add(spec)
            yield spec
