# SPDX-License-Identifier: BSD-3-Clause
"""Delegation as the graph shows it: what is claimed, what is owned, what is refused and with which words."""

from __future__ import annotations

import operator

import pytest
import torch
from torch.export import ExportedProgram, export

from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.backend.backend_api import MethodProgramsPartitionerSpec, to_backend
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.test.op_partitioner_demo import AddMulPartitionerDemo
from executorch.exir.backend.utils import tag_constant_data, tag_mutated_buffer
from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.error import ExportError
from executorch.exir.lowered_backend_module import (
    LoweredBackendModule,
    get_lowered_backend_modules,
)
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from executorch.test.e2e.build_tree import load_demo_backends

load_demo_backends()


class EchoBackend(BackendDetails):
    """The blob names the operators."""

    @staticmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: list) -> PreprocessResult:
        calls = [node for node in edge_program.graph.nodes if node.op == "call_function"]
        return PreprocessResult(" ".join(node.name for node in calls).encode())


class ByName(Partitioner):
    """Tags by node name; `data` and `buffers` tag what the documented helpers tag."""

    def __init__(self, tags: dict[str, str], backend: str = "EchoBackend", **options: bool) -> None:
        super().__init__()
        self.tags, self.backend, self.options = tags, backend, options

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        for node in exported_program.graph.nodes:
            if node.name in self.tags:
                node.meta["delegation_tag"] = self.tags[node.name]
        if self.options.get("data"):
            tag_constant_data(exported_program)
        if self.options.get("buffers"):
            tag_mutated_buffer(exported_program)
        spec = DelegationSpec(self.backend, [])
        return PartitionResult(exported_program, dict.fromkeys(self.tags.values(), spec))


class Chain(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cos(torch.sin(x + y)) * y


class Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("scale", torch.full((3,), 2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sin(self.linear(x)) * self.scale + self.linear.bias


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x)
        return self.count * 2


XY = (torch.randn(2, 3), torch.randn(2, 3))


def edge(module: torch.nn.Module, inputs: tuple = XY) -> ExportedProgram:
    return to_edge(export(module, inputs)).exported_program()


def calls(program: ExportedProgram) -> list[str]:
    return [
        node.name
        for node in program.graph.nodes
        if node.op == "call_function" and node.target is not operator.getitem
    ]


def assert_same(program: ExportedProgram, module: torch.nn.Module, inputs: tuple) -> None:
    torch.testing.assert_close(program.module()(*inputs), module(*inputs))


# ---- The overloads ----


@pytest.mark.req("CMP-042", "CMP-043", "CMP-044")
def test_a_whole_program_becomes_a_module() -> None:
    lowered = to_backend("EchoBackend", edge(Chain()), [])
    assert isinstance(lowered, LoweredBackendModule)
    assert lowered.backend_id == "EchoBackend" and lowered.compile_specs == []
    assert (
        lowered.processed_bytes
        == b"aten_add_tensor aten_sin_default aten_cos_default aten_mul_tensor"
    )
    assert isinstance(lowered.original_module, ExportedProgram)
    torch.testing.assert_close(lowered(*XY), Chain()(*XY))
    plan = lowered.program().execution_plan[0]
    assert [delegate.id for delegate in plan.delegates] == ["EchoBackend"]
    assert lowered.processed_bytes in lowered.buffer()


@pytest.mark.req("CMP-042", "CMP-045", "CMP-047")
def test_claimed_nodes_become_a_call() -> None:
    before = edge(Chain())
    names = calls(before)
    after = to_backend(before, ByName({"aten_sin_default": "a", "aten_cos_default": "a"}))
    assert calls(before) == names, "the given program stays"
    assert calls(after) == ["aten_add_tensor", "executorch_call_delegate", "aten_mul_tensor"]
    (call,) = after.graph.find_nodes(op="call_function", target=executorch_call_delegate)
    assert call.args[0].op == "get_attr" and call.args[0].target == "lowered_module_0"
    assert [user.target for user in call.users] == [operator.getitem]
    assert (
        after.graph_module.lowered_module_0.processed_bytes == b"aten_sin_default aten_cos_default"
    )
    assert_same(after, Chain(), XY)
    after.validate()


@pytest.mark.req("CMP-005", "CMP-C03")
def test_a_partitioner_may_be_given_as_a_class() -> None:
    program = to_backend(edge(Chain()), AddMulPartitionerDemo)
    assert len(get_lowered_backend_modules(program.graph_module)) == 1
    manager = to_edge(export(Chain(), XY)).to_backend(AddMulPartitionerDemo)
    assert len(get_lowered_backend_modules(manager.exported_program().graph_module)) == 1


@pytest.mark.req("CMP-005", "CMP-C06")
def test_no_partitioner_lowers_nothing() -> None:
    manager = to_edge(export(Chain(), XY))
    assert calls(manager.to_backend().exported_program()) == calls(manager.exported_program())


@pytest.mark.req("CMP-051")
def test_two_backends_one_after_the_other() -> None:
    first = to_backend(edge(Chain()), ByName({"aten_sin_default": "a"}))
    second = to_backend(first, ByName({"aten_cos_default": "a", "aten_mul_tensor": "a"}))
    modules = get_lowered_backend_modules(second.graph_module)
    blobs = [module.processed_bytes for module in modules]
    assert blobs == [b"aten_sin_default", b"aten_cos_default aten_mul_tensor"]
    assert second.graph_module.lowered_module_1 is modules[1]
    assert_same(second, Chain(), XY)


@pytest.mark.req("CMP-051")
def test_one_partitioner_with_two_backends() -> None:
    class Other(EchoBackend):
        pass

    class Both(ByName):
        def partition(self, exported_program: ExportedProgram) -> PartitionResult:
            result = super().partition(exported_program)
            result.partition_tags["b"] = DelegationSpec("Other", [])
            return result

    program = to_backend(edge(Chain()), Both({"aten_sin_default": "a", "aten_cos_default": "b"}))
    ids = [module.backend_id for module in get_lowered_backend_modules(program.graph_module)]
    assert ids == ["EchoBackend", "Other"]


@pytest.mark.req("CMP-C05")
def test_the_older_return_value_of_partition_is_understood() -> None:
    class Older(Partitioner):
        def partition(self, exported_program: ExportedProgram) -> ExportedProgram:
            self.partition_tags = {"a": DelegationSpec("EchoBackend", [])}
            for node in exported_program.graph.nodes:
                if node.name == "aten_sin_default":
                    node.meta["delegation_tag"] = "a"
            return exported_program

    assert "executorch_call_delegate" in calls(to_backend(edge(Chain()), Older()))


def test_methods_are_lowered_together() -> None:
    seen = []

    class Together(EchoBackend):
        @classmethod
        def preprocess_multimethod(cls, edge_programs, compile_specs):  # type: ignore[no-untyped-def]
            seen.append({method: len(each) for method, each in edge_programs.items()})
            return super().preprocess_multimethod(edge_programs, compile_specs)

    tags = ByName({"aten_sin_default": "a", "aten_mul_tensor": "b"}, "Together")
    programs = {"one": edge(Chain()), "two": edge(Chain()), "three": edge(Chain())}
    spec = MethodProgramsPartitionerSpec(programs, {"one": tags, "two": tags})
    result = to_backend(spec)
    assert seen == [{"one": 2, "two": 2}]
    assert "executorch_call_delegate" in calls(result["two"])
    assert calls(result["three"]) == calls(programs["three"])


# ---- Order ----


def test_nodes_between_claimed_ones_move() -> None:
    """The claimed sin stands before an undelegated cos that the claimed product needs."""

    class Diamond(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            a = torch.sin(x)
            b = torch.cos(y)
            return a * b

    tags = ByName({"aten_sin_default": "a", "aten_mul_tensor": "a"})
    program = to_backend(edge(Diamond()), tags)
    assert calls(program) == ["aten_cos_default", "executorch_call_delegate"]
    assert_same(program, Diamond(), XY)
    program.graph.lint()


def test_a_value_that_leaves_and_is_used_inside_is_an_output() -> None:
    class Two(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple:
            a = torch.sin(x)
            return a, torch.cos(a) + y

    program = to_backend(edge(Two()), ByName({"aten_sin_default": "a", "aten_cos_default": "a"}))
    assert_same(program, Two(), XY)


def test_items_of_several_results_go_with_their_call() -> None:
    class Max(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple:
            values, places = torch.max(x, 1)
            return values * 2, places

    program = to_backend(edge(Max()), ByName({"aten_max_dim": "a"}))
    (module,) = get_lowered_backend_modules(program.graph_module)
    assert len(module.original_module.graph_signature.user_outputs) == 2
    assert_same(program, Max(), XY)


# ---- Data ----


@pytest.mark.req("CMP-046")
def test_tagged_data_moves_into_the_delegate() -> None:
    module = Linear().eval()
    before = edge(module, XY[:1])
    tags = {"aten_linear_default": "a", "aten_sin_default": "a"}
    after = to_backend(before, ByName(tags, data=True))
    (lowered,) = get_lowered_backend_modules(after.graph_module)
    inner = lowered.original_module
    assert set(inner.state_dict) == {"linear.weight", "linear.bias"}
    assert inner.state_dict["linear.weight"] is before.state_dict["linear.weight"], "no copy"
    assert set(after.state_dict) == {"linear.bias", "scale"}, "what others read stays"
    assert list(after.graph_signature.parameters) == ["linear.bias"]
    assert "linear.weight" in before.state_dict
    assert_same(after, module, XY[:1])


@pytest.mark.req("CMP-046")
def test_untagged_data_is_an_argument() -> None:
    module = Linear().eval()
    after = to_backend(edge(module, XY[:1]), ByName({"aten_linear_default": "a"}))
    (lowered,) = get_lowered_backend_modules(after.graph_module)
    assert not lowered.original_module.state_dict
    assert len(lowered.original_module.graph_signature.user_inputs) == 3
    assert_same(after, module, XY[:1])


def test_two_delegates_share_a_constant_they_own() -> None:
    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", torch.randn(2, 3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cos(torch.sin(x) + self.w) * self.w

    module = Twice()
    tags = {"aten_add_tensor": "a", "aten_mul_tensor": "b"}
    after = to_backend(edge(module, XY[:1]), ByName(tags, data=True))
    first, second = get_lowered_backend_modules(after.graph_module)
    assert first.original_module.state_dict["w"] is second.original_module.state_dict["w"]
    assert not after.state_dict
    assert_same(after, module, XY[:1])


def test_a_delegate_owns_a_buffer_it_writes() -> None:
    before = edge(Counter(), (torch.ones(2),))
    tags = {"aten_add_tensor": "a", "aten_mul_tensor": "a"}
    after = to_backend(before, ByName(tags, buffers=True))
    (lowered,) = get_lowered_backend_modules(after.graph_module)
    assert list(lowered.original_module.graph_signature.buffers_to_mutate.values()) == ["count"]
    assert not after.graph_signature.buffers_to_mutate and "count" not in after.state_dict
    assert len(after.graph.output_node().args[0]) == 1
    assert lowered.original_module.graph_signature.output_specs[0].target == "count"


def test_a_buffer_that_stays_outside_is_written_outside() -> None:
    before = edge(Counter(), (torch.ones(2),))
    after = to_backend(before, ByName({"aten_add_tensor": "a", "aten_mul_tensor": "a"}))
    assert list(after.graph_signature.buffers_to_mutate.values()) == ["count"]
    module = after.module()
    for step in (1, 2):
        torch.testing.assert_close(module(torch.ones(2)), torch.full((2,), 2.0 * step))


# ---- Branches ----


class Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x, y: x + y, lambda x, y: torch.sin(x) * y, [x, y])


class EveryAdd(Partitioner):
    """Claims additions in branches, and on top what `outer` says."""

    def __init__(self, claims_branch: bool) -> None:
        super().__init__()
        self.claims_branch = claims_branch

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        tags = {"add": DelegationSpec("EchoBackend", [])}
        for module in exported_program.graph_module.modules():
            for node in getattr(module, "graph", torch.fx.Graph()).nodes:
                if node.name == "aten_add_tensor":
                    node.meta["delegation_tag"] = "add"
                if node.name == "cond" and self.claims_branch:
                    node.meta["delegation_tag"] = "whole"
                    tags["whole"] = DelegationSpec("EchoBackend", [])
        return PartitionResult(exported_program, tags)


def test_nodes_in_a_branch_are_lowered_there() -> None:
    program = to_backend(edge(Branches()), EveryAdd(False))
    assert not program.graph.find_nodes(op="call_function", target=executorch_call_delegate)
    (lowered,) = get_lowered_backend_modules(program.graph_module)
    assert lowered.processed_bytes == b"aten_add_tensor"
    assert_same(program, Branches(), XY)
    assert_same(program, Branches(), (-XY[0].abs(), XY[1]))


def test_a_delegate_may_hold_a_branch_that_holds_a_delegate() -> None:
    program = to_backend(edge(Branches()), EveryAdd(True))
    (outer,) = get_lowered_backend_modules(program.graph_module)
    (inner,) = get_lowered_backend_modules(outer.original_module.graph_module)
    assert outer.processed_bytes.startswith(b"cond") and inner.processed_bytes == b"aten_add_tensor"
    assert_same(program, Branches(), XY)


# ---- What is refused ----


class Wrong(Partitioner):
    """Does one wrong thing."""

    def __init__(self, deed) -> None:  # type: ignore[no-untyped-def]
        super().__init__()
        self.deed = deed

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        result = PartitionResult(exported_program, {"a": DelegationSpec("EchoBackend", [])})
        return self.deed(exported_program, result) or result


def node_named(program: ExportedProgram, name: str) -> torch.fx.Node:
    return next(node for node in program.graph.nodes if node.name == name)


def tag(name: str, tag: str = "a"):  # type: ignore[no-untyped-def]
    def deed(program: ExportedProgram, result: PartitionResult) -> None:
        node_named(program, name).meta["delegation_tag"] = tag

    return deed


def erase_mul(program: ExportedProgram, result: PartitionResult) -> None:
    node = node_named(program, "aten_mul_tensor")
    node.replace_all_uses_with(node.args[0])
    program.graph.erase_node(node)


@pytest.mark.req("CMP-045")
@pytest.mark.parametrize(
    "deed, words",
    [
        (erase_mul, "changed the program: expected node aten_mul_tensor"),
        (tag("aten_sin_default", "b"), "tag 'b', which partition_tags does not hold"),
        (tag("x"), "an input of the method"),
        (tag("output"), "the output node has delegation tag"),
        (lambda program, result: 3, "in a PartitionResult"),
    ],
)
def test_a_partitioner_that_breaks_its_contract(deed, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ExportError, match=words):
        to_backend(edge(Chain()), Wrong(deed))


def test_a_partitioner_may_rewrite_before_it_tags() -> None:
    class Prepared(ByName):
        def prepare(self, exported_program: ExportedProgram) -> None:
            node = node_named(exported_program, "aten_sin_default")
            with exported_program.graph.inserting_after(node):
                copy = exported_program.graph.node_copy(node)
            copy.name = "another_sin"
            node.replace_all_uses_with(copy)

    program = edge(Chain())
    lowered = to_backend(program, Prepared({"another_sin": "a"}))
    (module,) = get_lowered_backend_modules(lowered.graph_module)
    assert module.processed_bytes == b"another_sin"
    assert "another_sin" not in {node.name for node in program.graph.nodes}


def test_a_partitioner_may_rewrite_behind_its_tags() -> None:
    class Finished(ByName):
        def finish(self, tagged_program: ExportedProgram) -> None:
            node = node_named(tagged_program, "aten_sin_default")
            with tagged_program.graph.inserting_after(node):
                copy = tagged_program.graph.node_copy(node)
            copy.name = "another_sin"
            node.replace_all_uses_with(copy)
            tagged_program.graph.erase_node(node)

    lowered = to_backend(edge(Chain()), Finished({"aten_sin_default": "a"}))
    (module,) = get_lowered_backend_modules(lowered.graph_module)
    assert module.processed_bytes == b"another_sin"


def test_a_cycle_through_an_undelegated_node_names_it() -> None:
    tags = ByName({"aten_add_tensor": "a", "aten_cos_default": "a"})
    with pytest.raises(ExportError, match="cycles: 'a' -> 'a' through aten_sin_default"):
        to_backend(edge(Chain()), tags)


def test_a_cycle_of_two_delegates_names_both() -> None:
    class Cross(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple:
            a, b = torch.sin(x), torch.cos(y)
            return b * x, a * y

    tags = dict.fromkeys(("aten_sin_default", "aten_mul_tensor"), "a")
    tags |= dict.fromkeys(("aten_cos_default", "aten_mul_tensor_1"), "b")
    with pytest.raises(ExportError, match="cycles: '(a' -> 'b' -> 'a|b' -> 'a' -> 'b)'. Each"):
        to_backend(edge(Cross()), ByName(tags))


def test_a_delegate_may_not_take_a_buffer_that_others_read() -> None:
    class Tags(ByName):
        def partition(self, exported_program: ExportedProgram) -> PartitionResult:
            node_named(exported_program, "b_count").meta["delegation_tag"] = "a"
            return super().partition(exported_program)

    with pytest.raises(ExportError, match="buffer count .* must own it"):
        to_backend(edge(Counter(), (torch.ones(2),)), Tags({"aten_mul_tensor": "a"}))


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(ExportError, match="Backend Nowhere was not found.*EchoBackend"):
        to_backend("Nowhere", edge(Chain()), [])
    with pytest.raises(NotImplementedError, match="Import the module"):
        to_backend(edge(Chain()), ByName({"aten_sin_default": "a"}, "Nowhere"))


def test_a_backend_that_returns_something_else() -> None:
    class ReturnsText(BackendDetails):
        @staticmethod
        def preprocess(edge_program: ExportedProgram, compile_specs: list) -> PreprocessResult:
            return PreprocessResult("text")  # type: ignore[arg-type]

    with pytest.raises(ExportError, match=r"ReturnsText.preprocess .*processed_bytes are bytes"):
        to_backend("ReturnsText", edge(Chain()), [])


def test_wrong_arguments_are_explained() -> None:
    with pytest.raises(ExportError, match="found .EdgeProgramManager, AddMulPartitionerDemo"):
        to_backend(to_edge(export(Chain(), XY)), AddMulPartitionerDemo())
    with pytest.raises(
        ExportError, match=r"methods \['other'\], but the methods are \['forward'\]"
    ):
        to_edge(export(Chain(), XY)).to_backend({"other": AddMulPartitionerDemo()})


def test_nothing_claimed_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    manager = to_edge(export(Chain(), XY)).to_backend(ByName({}))
    assert len(calls(manager.exported_program())) == 4
    assert "expected delegates, but ByName claimed no node" in caplog.text
    assert "aten.sin.default x1" in caplog.text


@pytest.mark.req("CMP-C10")
def test_both_ways_of_lowering_write_the_same_file() -> None:
    inputs = tuple(torch.randn(2, 2) for _ in range(3))

    class Model(torch.nn.Module):
        def forward(self, a: torch.Tensor, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return torch.mm(torch.mm(a, x) + b - a, x) + b

    program = export(Model(), inputs)
    in_steps = to_edge(program).to_backend(AddMulPartitionerDemo())
    at_once = to_edge_transform_and_lower(program, partitioner=[AddMulPartitionerDemo()])
    both = [manager.to_executorch().buffer for manager in (in_steps, at_once)]
    assert both[0] == both[1]
    modules = get_lowered_backend_modules(at_once.exported_program().graph_module)
    assert len(modules) == 2
    (result,) = _load_for_executorch_from_buffer(both[0]).forward(inputs)
    torch.testing.assert_close(result, Model()(*inputs))
