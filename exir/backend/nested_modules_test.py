# SPDX-License-Identifier: BSD-3-Clause
"""Lowered modules inside other modules and programs; nodes as modules; partitioners over groups of nodes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # (defines the operators)
from torch.export import ExportedProgram, export
from torch.fx import Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.operator_support import OperatorSupportBase

from executorch.exir import to_edge
from executorch.exir.backend import backend_api
from executorch.exir.backend.backend_api import to_backend, validation_disabled
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.canonical_partitioners.duplicate_constant_node_pass import (
    duplicate_constant_node,
)
from executorch.exir.backend.canonical_partitioners.duplicate_dequant_node_pass import (
    DuplicateDequantNodePass,
)
from executorch.exir.backend.canonical_partitioners.group_partitioner import GroupBasedPartitioner
from executorch.exir.backend.canonical_partitioners.pattern_op_partitioner import (
    generate_grouped_partitions_from_list_of_nodes,
    generate_partitions_from_list_of_nodes,
)
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import is_identical_graph
from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.lowered_backend_module import (
    LoweredBackendModule,
    create_submodule_from_nodes,
    get_lowered_submodules,
)

X, Y = torch.randn(2, 3), torch.randn(2, 3)


class NestedBlobs(BackendDetails):
    """A blob that says how many calls it has; debug identifiers only when a spec asks."""

    @staticmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: list[Any]) -> PreprocessResult:
        calls = [node for node in edge_program.graph.nodes if node.op == "call_function"]
        return PreprocessResult(str(len(calls)).encode())


class Inner(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("offset", torch.arange(3.0))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (x + self.offset) * y, x * y


class Outer(torch.nn.Module):
    def __init__(self, lowered: LoweredBackendModule) -> None:
        super().__init__()
        self.lowered = lowered

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.lowered(x, y)[0] + 1


def edge(module: torch.nn.Module, *inputs: torch.Tensor) -> ExportedProgram:
    return to_edge(export(module, inputs)).exported_program()


@pytest.fixture
def lowered() -> LoweredBackendModule:
    return to_backend("NestedBlobs", edge(Inner(), X, Y), [])


@pytest.mark.parametrize("strict", [True, False])
def test_a_lowered_module_is_exported_and_lowered_again(
    lowered: LoweredBackendModule, strict: bool
) -> None:
    program = export(Outer(lowered), (X, Y), strict=strict)
    calls = program.graph.find_nodes(op="call_function", target=executorch_call_delegate)
    assert len(calls) == 1
    manager = to_edge(program)
    torch.testing.assert_close(manager.exported_program().module()(X, Y), Inner()(X, Y)[0] + 1)
    ((_, inner, call),) = get_lowered_submodules(manager.exported_program().graph_module)
    assert inner.processed_bytes == b"3" and call.target is executorch_call_delegate
    whole = manager.to_backend(Everything())
    ((_, outer, _),) = get_lowered_submodules(whole.exported_program().graph_module)
    assert outer.processed_bytes == b"3"  # the inner call, its item, the sum
    delegates = manager.to_executorch().executorch_program.execution_plan[0].delegates
    assert [delegate.id for delegate in delegates] == ["NestedBlobs"]


def test_a_lowered_module_is_traced(lowered: LoweredBackendModule) -> None:
    graph = make_fx(lambda x, y: lowered(x, y))(X, Y).graph
    assert len(graph.find_nodes(op="call_function", target=executorch_call_delegate)) == 1


def test_attributes_and_copies(lowered: LoweredBackendModule) -> None:
    assert lowered.meta == {"debug_handle_map": None}
    assert lowered._original_exported_program is lowered.original_module
    twin = copy.deepcopy(lowered)
    original, other = lowered.original_module, twin.original_module
    assert original is not other and original.state_dict["offset"] is other.state_dict["offset"]
    assert twin.processed_bytes == lowered.processed_bytes and twin.meta == lowered.meta
    assert lowered.original_module.call_spec.out_spec.type is tuple


class Everything(Partitioner):
    """All calls, whatever they are; `edit` is done to the program first."""

    def __init__(self, edit: Any = None) -> None:
        super().__init__()
        self._edit = edit

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        for node in exported_program.graph.find_nodes(op="get_attr"):
            node.meta["delegation_tag"] = "all"
        for node in exported_program.graph.nodes:
            if node.op == "call_function":
                node.meta["delegation_tag"] = "all"
        if self._edit is not None:
            self._edit(exported_program)
        tags = {"all": DelegationSpec("NestedBlobs", [])}
        return PartitionResult(exported_program, tags)


def tag_first(op: str) -> Any:
    def edit(program: ExportedProgram) -> None:
        next(n for n in program.graph.nodes if n.op == op and n.name != "b_offset").meta[
            "delegation_tag"
        ] = "all"

    return edit


def rename_a_target(program: ExportedProgram) -> None:
    node = next(n for n in program.graph.nodes if n.op == "call_function")
    node.args = (node.args[0], node.args[0])


@pytest.mark.parametrize(
    ("edit", "kind", "text"),
    [
        (tag_first("placeholder"), RuntimeError, "should not be tagged"),
        (tag_first("output"), RuntimeError, "output node should not be tagged"),
        (rename_a_target, AssertionError, "should not modify the graph module"),
    ],
    ids=["input", "output", "graph"],
)
def test_what_partitioners_may_not_do(edit: Any, kind: type, text: str) -> None:
    with pytest.raises(kind, match=text):
        to_backend(edge(Inner(), X, Y), Everything(edit))


def test_checks_of_partitioners_can_be_left_out() -> None:
    with validation_disabled():
        assert not backend_api._ENABLE_VALIDATION
        to_backend(edge(Inner(), X, Y), Everything(rename_a_target))
    assert backend_api._ENABLE_VALIDATION


def test_the_call_of_a_delegate_has_the_next_debug_handle() -> None:
    program = edge(Inner(), X, Y)
    largest = max(n.meta["debug_handle"] for n in program.graph.nodes if n.op == "call_function")
    graph = to_backend(program, Everything()).graph
    (call,) = graph.find_nodes(op="call_function", target=executorch_call_delegate)
    assert call.meta["debug_handle"] == largest + 1
    assert all(user.meta["debug_handle"] <= largest for user in call.users)


class Chain(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x + y
        product = total * x
        difference = torch.sin(y) - x
        return product + difference, torch.cos(difference)


def calls_of(program: ExportedProgram) -> list[Node]:
    return [node for node in program.graph.nodes if node.op == "call_function"]


def test_nodes_become_a_module() -> None:
    program = edge(Chain(), X, Y)
    first = calls_of(program)[:2]
    module, call = create_submodule_from_nodes(program.graph_module, first, "tag7")
    assert call.target == "fused_tag7" and isinstance(module.graph.output_node().args[0], list)
    assert [user.name for user in call.users] == ["getitem"]
    torch.testing.assert_close(module(X, Y), [(X + Y) * X])
    torch.testing.assert_close(program.graph_module(X, Y), Chain()(X, Y))
    with pytest.raises(RuntimeError, match="no nodes to fuse"):
        create_submodule_from_nodes(program.graph_module, [], "none")


class Calls(OperatorSupportBase):
    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node.op == "call_function"


def names(partitions: list[Any]) -> list[list[str]]:
    return [sorted(node.name for node in each.nodes) for each in partitions]


def test_groups_stay_together() -> None:
    program = edge(Chain(), X, Y)
    module, calls = program.graph_module, calls_of(program)
    pairs = [calls[:2], calls[2:4]]
    whole = GroupBasedPartitioner(module, Calls(), node_groups=pairs).propose_partitions()
    assert names(whole) == [sorted(node.name for node in calls)]
    with pytest.raises(ValueError, match="exists in multiple groups"):
        GroupBasedPartitioner(module, Calls(), node_groups=[calls[:1], calls[:2]])
    found = names(generate_grouped_partitions_from_list_of_nodes(module, pairs))
    assert sorted(sum(found, [])) == sorted(node.name for node in calls[:4])
    assert calls[0].meta["match"] and "match" not in calls[4].meta
    with pytest.raises(AssertionError, match="Did not give a pattern"):
        generate_partitions_from_list_of_nodes(module)


def test_graphs_are_compared() -> None:
    one, other = (edge(Chain(), X, Y).graph_module for _ in range(2))
    assert is_identical_graph(one, other)
    assert not is_identical_graph(one, edge(Inner(), X, Y).graph_module)


def test_constants_and_dequantized_values_are_given_to_each_user() -> None:
    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", torch.arange(3.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sin(x + self.w) * self.w

    program = edge(Twice(), X)
    assert duplicate_constant_node(program, "b_w") == {"b_w_copy_0"}
    assert duplicate_constant_node(program, "x") == set()
    assert "w_copy_0" in program.state_dict
    torch.testing.assert_close(program.module()(X), Twice()(X))

    class Dequantized(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            ops = torch.ops.quantized_decomposed
            d = ops.dequantize_per_tensor(x, 0.5, 0, -128, 127, torch.int8)
            return d.sin() + d.cos()

    q = torch.arange(6, dtype=torch.int8)
    module = edge(Dequantized(), q).graph_module
    expected = module(q)
    result = DuplicateDequantNodePass()(module)
    assert result.modified
    torch.testing.assert_close(result.graph_module(q), expected)
    kinds = [node.name for node in module.graph.nodes if "dequantize" in node.name]
    assert len(kinds) == 2


NESTINGS = {
    "list": (lambda values: values[0] + values[1], ([X, Y],)),
    "dict": (lambda values: {"sum": values["a"] + values["b"]}, ({"a": X, "b": Y},)),
    "both": (lambda values: [values[0]["q"] + values[1]], (({"q": X}, Y),)),
    "flat": (lambda x, y: x + y, (X, Y)),
}


class CallsFunction(torch.nn.Module):
    def __init__(self, called: Any) -> None:
        super().__init__()
        self.called = called

    def forward(self, *arguments: Any) -> Any:
        return self.called(*arguments)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", NESTINGS)
def test_a_lowered_module_takes_and_gives_what_nests(name: str, strict: bool) -> None:
    function, inputs = NESTINGS[name]
    module = to_backend("NestedBlobs", edge(CallsFunction(function), *inputs), [])
    torch.testing.assert_close(module(*inputs), function(*inputs))
    program = export(CallsFunction(module), inputs, strict=strict)
    calls = program.graph.find_nodes(op="call_function", target=executorch_call_delegate)
    assert len(calls) == 1
    torch.testing.assert_close(program.module()(*inputs), function(*inputs))


def test_a_lowered_module_of_nothing() -> None:
    module = LoweredBackendModule(None, "", b"", [])
    for name in ("backend_id", "processed_bytes", "compile_specs", "original_module"):
        with pytest.raises(AttributeError):
            setattr(module, name, None)


def test_items_go_into_the_module_of_their_call() -> None:
    program = edge(CallsFunction(lambda x: [part * 2 for part in torch.split(x, 1)]), X)
    graph = program.graph_module.graph
    split = [node for node in graph.nodes if "split" in node.name]
    module, call = create_submodule_from_nodes(program.graph_module, split, "tag")
    (outputs,) = module.graph.output_node().args
    assert isinstance(outputs, list) and [node.name for node in outputs] == ["getitem", "getitem_1"]
    assert (call.op, call.name) == ("call_module", "fused_tag")
    assert [user.args[1] for user in call.users] == [0, 1]


class TagsNodes(Partitioner):
    def __init__(self, tag: Any, tags: tuple[str, ...] = ("one",)) -> None:
        super().__init__()
        self.tag, self.tags = tag, tags

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        for module in exported_program.graph_module.modules():
            for node in module.graph.nodes:
                tag = self.tag(node, module is exported_program.graph_module)
                if tag is not None:
                    node.meta["delegation_tag"] = tag
        return PartitionResult(
            exported_program, {tag: DelegationSpec("NestedBlobs", []) for tag in self.tags}
        )


def test_tags_inside_of_a_claimed_branch_do_not_count() -> None:
    """Both branches go into the delegate as they are, tags and all."""
    chosen = CallsFunction(
        lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y * 2, (x,)).sin()
    )

    def tag(node: Node, is_outer: bool) -> str | None:
        if is_outer:
            return "one" if node.name in ("cond", "getitem") else None
        return "unknown" if node.op == "call_function" else None

    program = to_backend(edge(chosen, X), TagsNodes(tag))
    (call,) = get_lowered_submodules(program.graph_module)
    assert "cond" in [node.name for node in call[1].original_module.graph.nodes]
    torch.testing.assert_close(program.module()(X), chosen(X))


def test_a_constant_that_must_not_be_copied_has_one_owner() -> None:
    class Twice(Inner):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x + self.offset) * (x - self.offset)

    def tag(node: Node, is_outer: bool) -> str | None:
        if node.op == "placeholder" and node.name == "b_offset":
            node.meta["no_copy"] = True
            return "one"
        return "one" if "add" in node.name else None

    with pytest.raises(
        RuntimeError,
        match=r"\(b_offset\) is tagged with \(one\) but has user \(aten_sub_tensor\) which has tag \(None\)",
    ):
        to_backend(edge(Twice(), X), TagsNodes(tag))
