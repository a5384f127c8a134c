# SPDX-License-Identifier: BSD-3-Clause
"""What is planned and what is left out: each choice of collect_specs_from_nodes() and of MemoryPlanningPass alone."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch.export import export

from executorch.exir import ExecutorchBackendConfig, memory, schema, to_edge
from executorch.exir.memory_lifetimes import input_specs, specs_of, writes_its_first_argument
from executorch.exir.memory_planning import (
    MemoryPlanningAlgorithmSuite,
    apply_algo,
    collect_specs_from_nodes,
    get_graph_input_tensors,
    greedy,
    naive,
    update_all_tensors_lifetime,
    update_tensor_lifetime,
)
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass


class Counting(torch.nn.Module):
    """A buffer that changes, a parameter that does not."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x)
        return (x * self.weight + self.count).exp()


@pytest.fixture
def method() -> torch.export.ExportedProgram:
    return to_edge(export(Counting(), (torch.randn(4),))).to_executorch().exported_program()


def test_what_collecting_passes_over(method: torch.export.ExportedProgram) -> None:
    nodes, signature = list(method.graph.nodes), method.graph_signature

    def collected(**options: bool) -> list[object]:
        return list(collect_specs_from_nodes(nodes, signature, **options))

    plain = set(collected())
    placeholders = method.graph.find_nodes(op="placeholder")
    constants = {spec for node in placeholders for spec in specs_of(node) if spec.const}
    (buffer,) = input_specs(method.graph_module, signature)[1]
    assert len(constants) == 1 and not constants & plain and buffer in plain
    assert set(collected(ignore_const=False)) == plain | constants
    assert set(collected(ignore_mutable_buffers=True)) == plain - {buffer}
    assert set(collect_specs_from_nodes(nodes, None, ignore_mutable_buffers=True)) == plain
    assert list(collect_specs_from_nodes([], signature, ignore_mutable_buffers=True)) == []
    inputs = get_graph_input_tensors(nodes, signature)
    assert len(inputs) == 1
    assert set(collected(ignore_graph_input=True)) == plain - inputs
    # An alloc node and the call that writes to it have the same spec.
    outs_too = Counter(collected(dedup=False, ignore_out_var_node=False))
    assert set(outs_too) == plain
    assert outs_too.total() > Counter(collected(dedup=False)).total() > len(plain)
    for ignored in (True, False):
        assert len(collected(ignore_out_var_node=ignored)) == len(plain)
    (alloc, *_) = method.graph.find_nodes(op="call_function", target=memory.alloc)
    (spec,) = specs_of(alloc)
    spec.shape_dynamism = schema.TensorShapeDynamism.DYNAMIC_UNBOUND
    assert set(collected()) == plain - {spec}
    assert set(collected(ignore_dynamic_unbound_tensor=False)) == plain
    placeholders[0].meta.pop("spec")  # only of calls a spec is expected
    assert set(collected()) < plain


def test_buffers_get_memory_on_request_alone(method: torch.export.ExportedProgram) -> None:
    module, signature = method.graph_module, method.graph_signature
    (buffer,) = input_specs(module, signature)[1]
    for allocate, arena in ((True, 1), (False, None)):
        MemoryPlanningPass(alloc_mutable_buffers=allocate).run(module, signature)
        assert buffer.mem_id == arena
    with pytest.raises(ValueError, match="only meaningful when alloc_mutable_buffers is True"):
        MemoryPlanningPass(alloc_mutable_buffers=False, share_mutable_buffers=True)


def test_shared_buffers_lie_behind_the_arenas_of_all_methods() -> None:
    """Also of a method with fewer; a method that only reads the buffer has it in the same place."""

    class Reading(Counting):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.count

    methods = [
        to_edge(export(m, (torch.randn(4),))).to_executorch().exported_program()
        for m in (Counting(), Reading())
    ]
    planning = MemoryPlanningPass(share_mutable_buffers=True)
    planning.run_multimethod()  # nothing ran: nothing to do
    for each in methods:
        planning.run(each.graph_module, each.graph_signature)
    few, many = (each.graph_module.meta["non_const_buffer_sizes"] for each in methods)
    many.append(48)
    planning.run_multimethod()
    assert few[2:] == [0, 16] and many[2:] == [48, 16]
    for each in methods:
        names = each.graph_signature.inputs_to_buffers
        (node,) = (n for n in each.graph.find_nodes(op="placeholder") if n.name in names)
        (spec,) = specs_of(node)
        assert (spec.mem_id, spec.mem_offset, spec.const) == (3, 0, False)
    # Without a signature no buffer has a name: nothing is shared, and nothing goes wrong.
    planning.run(methods[0].graph_module)
    assert planning.state.graph_modules == []


def test_a_plan_without_a_signature_takes_all_placeholders_for_inputs(
    method: torch.export.ExportedProgram,
) -> None:
    sizes = apply_algo(naive, method.graph_module, 16, None, alloc_graph_input=False)
    placeholders = method.graph.find_nodes(op="placeholder")
    assert all(spec.mem_id is None for node in placeholders for spec in specs_of(node))
    assert len(sizes) == 2 and sizes[1] > 0


def test_which_calls_write_their_first_argument() -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    aten = torch.ops.aten
    cases = [
        (aten.add_.Tensor, (x, x), True),
        (aten.add.Tensor, (x, x), False),
        (aten.slice.Tensor, (x,), False),  # a view: an alias that is not written
        (aten.full.default, ([2], 1), False),
        (aten.scalar_tensor.default, (1,), False),
        (aten._foreach_add_.Scalar, ([x], 1), False),  # a list is written, not one tensor
        (torch.add, (x, x), False),  # no operator
    ]
    for target, args, expected in cases:
        assert writes_its_first_argument(graph.call_function(target, args)) is expected, target
    assert not writes_its_first_argument(graph.call_function(aten.add_.Tensor))
    assert not writes_its_first_argument(x)


def test_what_is_written_in_place_lives_as_long_as_its_result() -> None:
    """The call's result has a spec of its own, of the same bytes, which are needed until it is read last."""

    class Scattered(torch.nn.Module):
        def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            y = (x * 2).exp().index_put((i,), x[0])
            return y.sin() + y.cos()

    config = ExecutorchBackendConfig(run_reinplace_pass=True)
    edge = to_edge(export(Scattered(), (torch.randn(3, 4), torch.tensor([1]))))
    nodes = list(edge.to_executorch(config).exported_program().graph.nodes)
    in_place = torch.ops.aten.index_put_.default
    (write,) = (node for node in nodes if node.target is in_place)
    (base,), (result,) = specs_of(write.args[0]), specs_of(write)
    assert result is not base and result.mem_offset is not None
    places = [(each.mem_id, each.mem_obj_id, each.mem_offset) for each in (base, result)]
    assert places[0] == places[1]
    last_read = max(nodes.index(user) for user in write.users)
    assert base.lifetime == result.lifetime == [nodes.index(write.args[0].kwargs["out"]), last_read]
    # It writes into what it is given and has no out argument: collecting does not pass over it.
    assert result in set(collect_specs_from_nodes(nodes))


def test_lifetimes_by_uses(method: torch.export.ExportedProgram) -> None:
    """An input begins at 0; a buffer that the method changes lives to its end, as the signature says."""
    signature = method.graph_signature
    nodes = {n.name: n for n in method.graph.find_nodes(op="placeholder")}
    (buffer,) = (nodes[name] for name in signature.inputs_to_buffers)
    (weight,) = (nodes[name] for name in signature.inputs_to_parameters)
    (x,) = (nodes[name] for name in signature.user_inputs)
    for node, of_method, expected in (
        (x, signature, [0, 5]),
        (weight, signature, [0, 5]),
        (buffer, signature, [0, 9]),
        (buffer, None, [0, 5]),
    ):
        (spec,) = specs_of(node)
        spec.lifetime = [None, None]
        update_tensor_lifetime(node, spec, 3, 9, of_method)
        update_tensor_lifetime(node, spec, 5, 9, of_method)
        assert spec.lifetime == expected


def test_a_suite_runs_the_algorithms_that_it_is_given(
    method: torch.export.ExportedProgram,
) -> None:
    module, signature = method.graph_module, method.graph_signature

    def size(*algorithms: object) -> int:
        suite = MemoryPlanningAlgorithmSuite(list(algorithms))
        return sum(apply_algo(suite, module, 16, signature))

    assert size(naive) > size(greedy) == size(naive, greedy) == size()


def test_the_order_in_which_specs_come_changes_no_plan(
    method: torch.export.ExportedProgram,
) -> None:
    """Users' passes give sets: what begins at the same step is told apart by its number."""
    module, signature = method.graph_module, method.graph_signature
    apply_algo(greedy, module, 16, signature)
    specs = [s for s in update_all_tensors_lifetime(module, signature) if s.mem_id is not None]
    specs.sort(key=lambda spec: spec.mem_obj_id)
    for number, spec in enumerate(specs):
        spec.mem_obj_id = number
    assert len({spec.lifetime[0] for spec in specs}) < len(specs)
    for algorithm in (greedy, naive):
        there, back = (
            algorithm(16, given, module, signature, 0).spec_dict for given in (specs, specs[::-1])
        )
        assert there == back


def test_what_branches_yield_needs_no_place_beside_theirs() -> None:
    """One for both, in which the result is: x, it and their sum live together, nothing else."""

    class Choice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a * 2, (x,))

    program = to_edge(export(Choice(), (torch.randn(1000),))).to_executorch().executorch_program
    (plan,) = program.execution_plan
    assert 3 * 4000 <= sum(plan.non_const_buffer_sizes) < 3 * 4000 + 200
