# SPDX-License-Identifier: BSD-3-Clause
"""Memory plans: the native planner against brute force, lifetimes of whole methods, options of the pass."""

import itertools
import random
from collections.abc import Iterator

import pytest
import torch
from torch.export import Dim, export

from executorch.exir import ExecutorchBackendConfig, memory, memory_planning, schema, to_edge
from executorch.exir._native import lower_bound, plan_arena, plan_linear, verify_program
from executorch.exir.emit import emit_program
from executorch.exir.error import ExportError, InternalError
from executorch.exir.memory_planning import (
    MemoryAlgoResult,
    MemoryPlanningAlgorithmSuite,
    SharedObject,
    SpecAllocResult,
    Verifier,
    greedy,
    materialize_buffer,
    naive,
    pick_shared_obj,
)
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass
from executorch.exir.tensor import TensorSpec

Tensors = list[tuple[int, int, int]]


def random_tensors(rng: random.Random) -> Tensors:
    steps = rng.randint(1, 30)
    tensors = []
    for _ in range(rng.randint(0, 40)):
        first = rng.randrange(steps)
        last = min(steps - 1, first + int(rng.expovariate(0.3)))
        tensors.append((rng.choice([0, 1, 16, 17, 64, 1000, rng.randint(1, 5000)]), first, last))
    return tensors


def aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def brute_force_peak(tensors: Tensors, alignment: int) -> int:
    steps = range(max((last for _, _, last in tensors), default=0) + 1)
    return max(
        sum(aligned(size, alignment) for size, first, last in tensors if first <= step <= last)
        for step in steps
    )


def check_places(tensors: Tensors, offsets: list[int], size: int, alignment: int) -> None:
    assert len(offsets) == len(tensors)
    assert all(offset % alignment == 0 for offset in offsets)
    placed = list(zip(tensors, offsets, strict=True))
    assert all(offset + nbytes <= size for (nbytes, _, _), offset in placed)
    for ((a, a0, a1), ao), ((b, b0, b1), bo) in itertools.combinations(placed, 2):
        if a0 <= b1 and b0 <= a1:
            assert ao + a <= bo or bo + b <= ao, ((a, a0, a1, ao), (b, b0, b1, bo))


@pytest.mark.req("CMP-038")
@pytest.mark.parametrize("alignment", [1, 16, 64])
def test_native_plans_never_overlap(alignment: int) -> None:
    rng = random.Random(alignment)
    for _ in range(300):
        tensors = random_tensors(rng)
        peak = lower_bound(tensors, alignment)
        assert peak == brute_force_peak(tensors, alignment)
        linear = plan_linear(tensors, alignment)
        check_places(tensors, linear[0], linear[2], alignment)
        best = plan_arena(tensors, alignment)
        turns = plan_arena(tensors, alignment, share_stretches=False)
        for offsets, _, size in (best, turns):
            check_places(tensors, offsets, size, alignment)
        assert peak <= best[2] <= turns[2] <= linear[2]


def test_stretches_serve_one_tensor_at_a_time() -> None:
    rng = random.Random(3)
    for _ in range(50):
        tensors = random_tensors(rng)
        offsets, objects, _ = plan_arena(tensors, 16, share_stretches=False)
        for i, j in itertools.combinations(range(len(tensors)), 2):
            if objects[i] == objects[j]:
                assert offsets[i] == offsets[j]


def test_plans_are_near_the_lower_bound_on_chains() -> None:
    """Of a chain only neighbours live together: the two largest neighbours are enough."""
    rng = random.Random(5)
    sizes = [rng.randint(1, 100) * 16 for _ in range(200)]
    tensors = [(size, step, step + 1) for step, size in enumerate(sizes)]
    assert plan_arena(tensors, 16)[2] == lower_bound(tensors, 16)


def test_plans_are_improved_when_no_order_meets_the_bound() -> None:
    tensors = [(4, 6, 9), (5, 3, 5), (6, 5, 6), (3, 5, 7), (3, 6, 8)]
    assert plan_arena(tensors, 1)[2] == lower_bound(tensors, 1) == 16


@pytest.mark.parametrize(
    "tensors",
    [[(16, 3, 2)], [(2**63, 0, 0)], [(2**62, 0, 0), (2**62, 1, 1)], [(2**64 - 1, 0, 1)]],
)
def test_impossible_tensors_are_errors(tensors: Tensors) -> None:
    for plan in (plan_arena, plan_linear, lower_bound):
        with pytest.raises((ValueError, TypeError)):
            plan(tensors, 16)


# ---- Whole methods ----


class Mixed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 8)
        self.register_buffer("count", torch.zeros(8))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.second(torch.relu(self.first(x)))
        self.count.add_(hidden.sum(0))
        parts = torch.split(hidden.view(-1, 4), 2)
        return parts[0] * y.sum() + parts[1], hidden + self.count


class Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        def deep(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return torch.cond(
                a.sum() > b.sum(), lambda u, v: (u * v + u).exp(), lambda u, v: (u - v) * 2, (a, b)
            )

        z = x * 2
        chosen = torch.cond(
            x.sum() > 0,
            lambda a, b: (deep(a, b) + a, a + b),
            lambda a, b: ((a - b) * b, b.relu() * 3),
            (z, y),
        )
        return chosen[0] + z, chosen[1] * y


MIXED = (Mixed(), (torch.randn(2, 8), torch.randn(3)))
BRANCHES = (Branches(), (torch.randn(4, 5), torch.randn(4, 5)))


def lower(
    model: torch.nn.Module, inputs: tuple, pass_: MemoryPlanningPass | None = None, **options
):
    config = ExecutorchBackendConfig(memory_planning_pass=pass_ or MemoryPlanningPass())
    program = to_edge(export(model, inputs, **options)).to_executorch(config)
    verify_program(program.buffer)
    return program


def planned_specs(program) -> set[TensorSpec]:
    return planned_specs_of(program.exported_program())


def planned_specs_of(method) -> set[TensorSpec]:
    specs = memory_planning.update_all_tensors_lifetime(method.graph_module, method.graph_signature)
    return {spec for spec in specs if spec.mem_offset is not None}


def tensors_of(plan: schema.ExecutionPlan, indices: list[int]) -> list[schema.Tensor]:
    return [plan.values[index].val for index in indices]


def paths(plan: schema.ExecutionPlan) -> Iterator[list[schema.InstructionArguments]]:
    """Every sequence of instructions that a run may take."""
    code = [instruction.instr_args for instruction in plan.chains[0].instructions]

    def follow(position: int, taken: list) -> Iterator[list]:
        while position < len(code):
            call = code[position]
            if isinstance(call, schema.JumpFalseCall):
                condition = plan.values[call.cond_value_index].val
                if condition != schema.Bool(False):
                    yield from follow(position + 1, [*taken, call])
                position = call.destination_instruction
                taken = [*taken, call]
            else:
                taken = [*taken, call]
                position += 1
        yield taken

    yield from follow(0, [])


def check_run(plan: schema.ExecutionPlan, calls: list) -> int:
    """Follows one run: whatever is read must be what was last written to that tensor's bytes. Gives
    the number of reads checked."""
    where = {}  # value -> (arena, begin, end, tensor that it stands for)
    for index, value in enumerate(plan.values):
        tensor = value.val
        if isinstance(tensor, schema.Tensor) and tensor.allocation_info is not None:
            begin = tensor.allocation_info.memory_offset
            nbytes = 8
            for size in tensor.sizes:
                nbytes *= size
            nbytes = nbytes // 8 * {0: 1, 4: 8, 6: 4, 11: 1}[tensor.scalar_type]
            where[index] = (tensor.allocation_info.memory_id, begin, begin + nbytes)
    writer: dict[tuple, int] = {}  # byte range -> time of the last write to any of its bytes
    content: dict[tuple, int] = {}  # byte range -> time at which it was written as a whole
    checked = 0

    def write(index: int, time: int) -> None:
        if index not in where:
            return
        arena, begin, end = where[index]
        content[where[index]] = time
        for other in {*writer, where[index]}:
            if other[0] == arena and other[1] < end and begin < other[2]:
                writer[other] = time
        writer[where[index]] = time

    def read(index: int) -> int:
        if index not in where or where[index] not in content:
            return 0
        assert writer[where[index]] == content[where[index]], (
            f"value {index} was overwritten before it was read"
        )
        return 1

    for index in plan.inputs:
        write(index, 0)
    for time, call in enumerate(calls, 1):
        if isinstance(call, schema.KernelCall):
            name = plan.operators[call.op_index].name
            outs = call.args[-1:] if name != "aten::copy_" else call.args[:1]
            listed = plan.values[outs[0]].val
            outs = listed.items if isinstance(listed, schema.TensorList) else outs
            checked += sum(read(arg) for arg in call.args if arg not in outs)
            for out in outs:
                write(out, time)
        elif isinstance(call, schema.MoveCall):
            where[call.move_to] = where[call.move_from]
        elif isinstance(call, schema.JumpFalseCall):
            checked += read(call.cond_value_index)
    return checked + sum(read(index) for index in plan.outputs)


@pytest.mark.req("CMP-038")
@pytest.mark.parametrize("algorithm", [greedy, naive])
@pytest.mark.parametrize("model", [MIXED, BRANCHES], ids=["mixed", "branches"])
def test_no_run_reads_overwritten_bytes(model, algorithm) -> None:
    program = lower(*model, MemoryPlanningPass(memory_planning_algo=algorithm))
    (plan,) = program.executorch_program.execution_plan
    runs = list(paths(plan))
    assert len(runs) == (1 if model is MIXED else 3)
    for calls in runs:
        assert check_run(plan, calls) >= 8


@pytest.mark.req("CMP-038")
@pytest.mark.parametrize("model", [MIXED, BRANCHES], ids=["mixed", "branches"])
def test_greedy_is_at_most_naive_and_at_least_the_peak(model) -> None:
    sizes = {}
    for algorithm in (greedy, naive):
        program = lower(*model, MemoryPlanningPass(memory_planning_algo=algorithm))
        (plan,) = program.executorch_program.execution_plan
        sizes[algorithm] = plan.non_const_buffer_sizes
        assert sum(sizes[algorithm]) >= memory_planning.peak_live_bytes(planned_specs(program))
    assert sizes[greedy][0] == sizes[naive][0] == 0
    assert sum(sizes[greedy]) < sum(sizes[naive])


@pytest.mark.req("CMP-036")
def test_graph_shows_alloc_nodes_and_places() -> None:
    program = lower(*MIXED)
    graph = program.exported_program().graph
    targets = {str(node.target) for node in graph.nodes if node.op == "call_function"}
    assert any("memory.alloc" in target or "alloc" in target for target in targets)
    for spec in planned_specs(program):
        assert spec.mem_id == 1
        assert spec.mem_offset % 16 == 0
        assert spec.lifetime[0] <= spec.lifetime[1]


@pytest.mark.req("CMP-037")
@pytest.mark.parametrize("inputs", [True, False])
@pytest.mark.parametrize("outputs", [True, False])
def test_inputs_and_outputs_are_planned_on_request(inputs: bool, outputs: bool) -> None:
    pass_ = MemoryPlanningPass(
        memory_planning_algo=greedy, alloc_graph_input=inputs, alloc_graph_output=outputs
    )
    program = lower(*MIXED, pass_)
    (plan,) = program.executorch_program.execution_plan
    assert all((t.allocation_info is not None) == inputs for t in tensors_of(plan, plan.inputs))
    assert all((t.allocation_info is not None) == outputs for t in tensors_of(plan, plan.outputs))
    method = program.exported_program()
    verifier = Verifier(method.graph_module, inputs, outputs, True, method.graph_signature)
    verifier.verify_graph_input_output()
    wrong = Verifier(method.graph_module, not inputs, outputs, True, method.graph_signature)
    with pytest.raises(
        AssertionError, match=f"Misallocate graph input: {inputs} v.s. {not inputs}"
    ):
        wrong.verify_graph_input_output()


def test_view_of_an_unplanned_input_is_made_at_run_time() -> None:
    class View(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.view(6) + 1

    def operators(pass_: MemoryPlanningPass) -> list[str]:
        program = lower(View(), (torch.randn(2, 3),), pass_)
        return [op.name for op in program.executorch_program.execution_plan[0].operators]

    assert "executorch_prim::et_view" in operators(MemoryPlanningPass(alloc_graph_input=False))
    assert "executorch_prim::et_view" not in operators(MemoryPlanningPass())


@pytest.mark.req("CMP-039")
def test_custom_pools() -> None:
    class CustomPoolMemoryPlanningPass(MemoryPlanningPass):
        def run(self, graph_module, graph_signature=None):
            for subgm in graph_module.modules():
                if not isinstance(subgm, torch.fx.GraphModule):
                    continue
                for node in subgm.graph.nodes:
                    if node.op == "placeholder":
                        node.meta["spec"].mem_id = 1
                    elif node.op == "call_function" and node.target == torch.ops.aten.add.out:
                        node.meta["spec"].mem_id = 2
                    elif node.op == "call_function" and node.target == torch.ops.aten.mul.out:
                        node.meta["spec"].mem_id = 1
            return super().run(graph_module, graph_signature)

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return ((x + y) * x + y) * y

    inputs = (torch.randn(7), torch.randn(7))
    program = lower(Model(), inputs, CustomPoolMemoryPlanningPass(memory_planning_algo=greedy))
    (plan,) = program.executorch_program.execution_plan
    assert plan.non_const_buffer_sizes[0] == 0
    assert len(plan.non_const_buffer_sizes) == 3
    assert all(size > 0 for size in plan.non_const_buffer_sizes[1:])
    arenas = {
        plan.operators[call.op_index].name: plan.values[call.args[-1]].val.allocation_info.memory_id
        for call in (instruction.instr_args for instruction in plan.chains[0].instructions)
    }
    assert arenas == {"aten::add": 2, "aten::mul": 1}


@pytest.mark.req("CMP-040")
def test_upper_bounds_drive_dynamic_memory() -> None:
    class Double(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    rows = Dim("rows", min=16, max=1024)
    program = lower(Double(), (torch.randn(20, 4),), dynamic_shapes={"x": {0: rows}})
    (plan,) = program.executorch_program.execution_plan
    assert plan.non_const_buffer_sizes == [0, 2 * 1024 * 4 * 4]
    for tensor in tensors_of(plan, [*plan.inputs, *plan.outputs]):
        assert tensor.sizes == [1024, 4]
        assert tensor.shape_dynamism == schema.TensorShapeDynamism.DYNAMIC_BOUND


@pytest.mark.req("CMP-041")
def test_methods_are_planned_independently() -> None:
    together = to_edge({"encode": export(*MIXED), "decode": export(*BRANCHES)}).to_executorch()
    sizes = {p.name: p.non_const_buffer_sizes for p in together.executorch_program.execution_plan}
    for name, model in (("encode", MIXED), ("decode", BRANCHES)):
        (plan,) = lower(*model).executorch_program.execution_plan
        assert sizes[name] == plan.non_const_buffer_sizes


@pytest.mark.req("CMP-C04")
def test_algorithm_by_name() -> None:
    by_name = lower(*MIXED, MemoryPlanningPass("naive"))
    by_function = lower(*MIXED, MemoryPlanningPass(memory_planning_algo=naive))
    assert by_name.buffer == by_function.buffer
    with pytest.raises(ExportError, match=r"'best'; expected one of \['greedy', 'naive'\]"):
        MemoryPlanningPass("best")


@pytest.mark.req("CMP-039")
def test_suite_takes_the_smallest_and_users_planners_are_checked() -> None:
    suite = MemoryPlanningAlgorithmSuite([naive, greedy])
    assert (
        lower(*MIXED, MemoryPlanningPass(suite)).buffer
        == lower(*MIXED, MemoryPlanningPass(greedy)).buffer
    )

    def all_at_zero(alignment, specs, graph_module, graph_signature, extra_padding):
        places = {spec: SpecAllocResult(1, 0, 0) for spec in specs}
        return MemoryAlgoResult(places, [0, max(spec.allocated_memory for spec in specs)])

    with pytest.raises(InternalError, match="two tensors live at the same time on the same bytes"):
        lower(*MIXED, MemoryPlanningPass(all_at_zero))
    lower(*MIXED, MemoryPlanningPass(all_at_zero, allow_lifetime_and_storage_overlap=True))

    def nothing(alignment, specs, graph_module, graph_signature, extra_padding):
        return MemoryAlgoResult({}, [0, 0])

    with pytest.raises(ExportError, match="left out TensorSpec"):
        lower(*MIXED, MemoryPlanningPass(nothing))


def test_plans_are_reproducible() -> None:
    assert lower(*MIXED).buffer == lower(*MIXED).buffer
    assert lower(*BRANCHES).buffer == lower(*BRANCHES).buffer


def test_verifier_counts_reuse() -> None:
    program = lower(*MIXED)
    method = program.exported_program()
    verifier = Verifier(method.graph_module, True, True, True, method.graph_signature)
    assert verifier.verify_storage_reuse() > 0
    spec = next(iter(planned_specs(program)))
    assert Verifier.storage_overlap(spec, spec)
    assert not Verifier.has_overlap([0, 2], [3, 4])
    assert Verifier.has_overlap([0, 3], [3, 4])


def test_branches_share_what_they_yield() -> None:
    """The two results of a branch lie where the other branch's results lie: only one of them runs."""

    class Choice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a * 2, (x,))

    (plan,) = lower(Choice(), (torch.randn(1000),)).executorch_program.execution_plan
    copies = [
        instruction.instr_args
        for instruction in plan.chains[0].instructions
        if isinstance(instruction.instr_args, schema.MoveCall)
    ]
    first, second = tensors_of(plan, [move.move_from for move in copies])
    assert first.allocation_info == second.allocation_info
    assert sum(plan.non_const_buffer_sizes) < 2 * 4000 + 200


def test_shared_mutable_buffers_have_one_place() -> None:
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(5))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(x)
            return self.count + 1

    class Reset(Counter):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.copy_(x * 0)
            return x + 1

    edge = to_edge({m.__name__: export(m(), (torch.randn(5),)) for m in (Counter, Reset)})
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(share_mutable_buffers=True)
    )
    for plan in edge.to_executorch(config).executorch_program.execution_plan:
        (buffer,) = (
            plan.values[args[0]].val
            for args in (i.instr_args.args for i in plan.chains[0].instructions)
            if args[0] == args[-1]
        )
        assert buffer.allocation_info == schema.AllocationDetails(2, 0, 0)
        assert plan.non_const_buffer_sizes[2:] == [32]


def test_other_devices_have_arenas_of_their_own() -> None:
    method = lower(*MIXED).exported_program()
    moved = [spec for spec in planned_specs_of(method) if spec.shape == [2, 16]]
    assert moved
    for spec in moved:
        spec.device, spec.device_index = schema.DeviceType.CUDA, 1
    MemoryPlanningPass().run(method.graph_module, method.graph_signature)
    (plan,) = emit_program(method).program.execution_plan
    assert plan.non_const_buffer_device == [
        schema.NonConstBufferDevice(2, schema.DeviceType.CUDA, 1)
    ]
    assert len(plan.non_const_buffer_sizes) == 3
    assert {spec.mem_id for spec in moved} == {2}
    assert all(spec.mem_id == 1 for spec in planned_specs_of(method) if spec not in moved)


def test_without_tensors_of_the_processor_it_has_no_arena() -> None:
    method = lower(*MIXED).exported_program()
    for spec in planned_specs_of(method):
        spec.device, spec.device_index = schema.DeviceType.CUDA, 0
        spec.mem_id = None
    sizes = memory_planning.apply_algo(
        naive, method.graph_module, 16, method.graph_signature, enable_non_cpu_memory_planning=True
    )
    (device,) = method.graph_module.meta["non_const_buffer_device"]
    assert len(sizes) == 2 and sizes[0] == 0 < sizes[1]
    assert device == schema.NonConstBufferDevice(1, schema.DeviceType.CUDA, 0)


def test_queries_for_users_passes() -> None:
    method = lower(*BRANCHES).exported_program()
    nodes = list(method.graph.nodes)
    inputs = memory_planning.get_graph_input_tensors(nodes, method.graph_signature)
    outputs = memory_planning.get_graph_output_tensors(nodes)
    assert len(inputs) == len(outputs) == 2
    assert memory_planning.get_input_specs(method.graph_module) == inputs
    assert memory_planning.get_return_specs(method.graph_module) == outputs
    counts = {
        query: len(list(query(method.graph_module)))
        for query in (
            memory_planning.get_cond_nodes,
            memory_planning.get_while_nodes,
            memory_planning.get_map_nodes,
            memory_planning.get_scan_nodes,
        )
    }
    assert list(counts.values()) == [1, 0, 0, 0]
    everything = list(memory_planning.collect_specs_from_nodes(nodes, method.graph_signature))
    assert len(everything) == len(set(everything))
    inner = list(
        memory_planning.collect_specs_from_nodes(
            nodes, method.graph_signature, ignore_graph_input=True, ignore_graph_output=True
        )
    )
    assert set(inner) == set(everything) - inputs - outputs
    call = next(node for node in nodes if node.target == torch.ops.aten.mul.out)
    alloc = next(node for node in nodes if node.target is memory.alloc)
    kept = alloc.meta.pop("spec")
    with pytest.raises(InternalError, match="has no spec; run SpecPropPass first"):
        list(memory_planning.collect_specs_from_nodes([alloc]))
    assert list(memory_planning.collect_specs_from_nodes([alloc], do_assertion=False)) == []
    alloc.meta["spec"] = kept
    assert memory_planning.filter_nodes((call.args, call.kwargs)) == list(call.all_input_nodes)
    (spec,) = memory_planning.get_node_tensor_specs(call)
    spec.lifetime = [None, None]
    memory_planning.update_tensor_lifetime(call, spec, 5, 9)
    memory_planning.update_tensor_lifetime(call, spec, 7, 9)
    assert spec.lifetime == [5, 7]


def test_unbounded_tensors_are_freed_after_their_last_use() -> None:
    method = lower(*MIXED).exported_program()
    unbounded = next(
        spec
        for node in method.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.out)
        for spec in memory_planning.get_node_tensor_specs(node)
    )
    unbounded.shape_dynamism = schema.TensorShapeDynamism.DYNAMIC_UNBOUND
    everything = memory_planning.update_all_tensors_lifetime(
        method.graph_module, method.graph_signature
    )
    memory_planning.insert_calls_to_free(method.graph_module, everything)
    nodes = list(method.graph.nodes)
    (free,) = (node for node in nodes if node.target is memory.free)
    (freed,) = free.args
    assert memory_planning.get_node_tensor_specs(freed) == [unbounded]
    uses = [
        node
        for node in nodes
        if unbounded
        in {s for a in node.all_input_nodes for s in memory_planning.get_node_tensor_specs(a)}
    ]
    assert [node for node in uses if node is not free][-1] is nodes[nodes.index(free) - 1]


# (size, first step, last step) and the object that upstream's function puts it in, with and without sharing a time.
PICKED = [
    (
        True,
        [(96, 2, 4, 0), (80, 7, 10, 0), (80, 3, 7, 1), (64, 0, 2, 1), (48, 7, 9, 2), (32, 4, 5, 2)]
        + [(16, 4, 8, 3), (16, 1, 3, 2)],
        [96, 80, 48, 16],
    ),
    (
        True,
        [(80, 0, 1, 0), (80, 2, 2, 0), (48, 1, 5, 1), (48, 5, 9, 0), (16, 6, 8, 1), (16, 6, 8, 0)],
        [80, 48],
    ),
    (False, [(80, 8, 9, 0), (48, 7, 11, 1), (48, 8, 9, 2), (32, 7, 11, 3), (16, 0, 3, 0)], None),
    (False, [(96, 5, 9, 0), (96, 0, 1, 0), (32, 6, 10, 1), (16, 5, 8, 2), (16, 3, 3, 0)], None),
]


@pytest.mark.parametrize("overlapping, tensors, sizes", PICKED)
def test_shared_objects_of_planners_of_ones_own(
    overlapping: bool, tensors: list[tuple[int, ...]], sizes: list[int] | None
) -> None:
    objects: list[SharedObject] = []
    for size, first, last, expected in tensors:
        spec = TensorSpec.from_tensor(torch.empty(size, dtype=torch.uint8))
        spec.lifetime = [first, last]
        spec.realign(16)
        found = pick_shared_obj(objects, spec, overlapping)
        assert found is objects[expected] and found.idx == expected
        assert found.first_used_index <= first and last <= found.last_used_index
    assert sizes is None or [each.size for each in objects] == sizes
    assert materialize_buffer(objects, 7) == 7 + sum(each.size for each in objects)
    assert [each.offset for each in objects] == [
        7 + sum(e.size for e in objects[:i]) for i in range(len(objects))
    ]
    for each in objects:
        for one, other in itertools.combinations(each.allocations, 2):
            apart = (
                one.offset + one.spec.allocated_memory <= other.offset
                or other.offset + other.spec.allocated_memory <= one.offset
            )
            (a, b), (c, d) = one.spec.lifetime, other.spec.lifetime
            assert apart or b < c or d < a
    large = TensorSpec.from_tensor(torch.empty(1000))
    large.lifetime = [0, 1]
    large.realign(16)
    with pytest.raises(InternalError, match="expected specs in descending size"):
        pick_shared_obj(objects, large)
