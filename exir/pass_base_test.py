# SPDX-License-Identifier: BSD-3-Clause
"""Passes as users write them: replaced, expanded and removed calls, in graphs and through the managers."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torch._export.verifier import SpecViolationError
from torch.fx import GraphModule, subgraph_rewriter
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge
from executorch.exir.dialects._ops import bind_pattern_to_op
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass
from executorch.exir.pass_manager import PassManager
from executorch.exir.passes.replace_aten_with_edge_pass import _trace_and_lower_to_edge_ops
from executorch.exir.passes.scalar_to_tensor_pass import ScalarToTensorPass

edge_aten = exir_ops.edge.aten
INPUTS = (torch.randn(2, 3, generator=torch.Generator().manual_seed(0)), torch.ones(2, 3))


class AddRelu(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + y)


class ConvertReluToSigmoid(ExportPass):
    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
        if op == edge_aten.relu.default:
            return super().call_operator(edge_aten.sigmoid.default, args, kwargs, meta)
        return super().call_operator(op, args, kwargs, meta)


class ReplaceAddWithMulSub(ExportPass):
    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
        if op != edge_aten.add.Tensor:
            return super().call_operator(op, args, kwargs, meta)
        product = super().call_operator(edge_aten.mul.Tensor, args, {}, meta)
        return super().call_operator(edge_aten.sub.Tensor, (product, args[1]), {}, meta)


class RemoveRelu(ExportPass):
    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
        if op == edge_aten.relu.default:
            return args[0]
        return super().call_operator(op, args, kwargs, meta)


def edge() -> EdgeProgramManager:
    return to_edge(torch.export.export(AddRelu(), INPUTS))


def targets(manager: EdgeProgramManager) -> list[str]:
    return [
        node.target.__name__
        for node in manager.exported_program().graph.nodes
        if node.op == "call_function"
    ]


@pytest.mark.req("CMP-004", "CMP-027")
def test_one_to_one_pass_keeps_metadata_and_leaves_the_manager_alone() -> None:
    before = edge()
    after = before.transform((ConvertReluToSigmoid(),))
    assert targets(before) == ["aten.add.Tensor", "aten.relu.default"]
    assert targets(after) == ["aten.add.Tensor", "aten.sigmoid.default"]
    call = list(after.exported_program().graph.nodes)[-2]
    assert "relu" in call.meta["stack_trace"] and "nn_module_stack" in call.meta
    assert call.meta["val"].shape == (2, 3)
    result = after.exported_program().module()(*INPUTS)
    torch.testing.assert_close(result, torch.sigmoid(INPUTS[0] + INPUTS[1]))
    assert len(after.to_executorch().buffer) > 0


@pytest.mark.req("CMP-027")
def test_one_to_many_and_one_to_none_passes_in_order() -> None:
    after = edge().transform([ReplaceAddWithMulSub(), RemoveRelu()])
    assert targets(after) == ["aten.mul.Tensor", "aten.sub.Tensor"]
    result = after.exported_program().module()(*INPUTS)
    torch.testing.assert_close(result, INPUTS[0] * INPUTS[1] - INPUTS[1])


@pytest.mark.req("CMP-027")
def test_pass_called_on_a_graph_module_gives_a_runnable_one() -> None:
    module = edge().exported_program().graph_module
    changed = ConvertReluToSigmoid()(module).graph_module
    torch.testing.assert_close(changed(*INPUTS)[0], torch.sigmoid(INPUTS[0] + INPUTS[1]))
    torch.testing.assert_close(module(*INPUTS)[0], torch.relu(INPUTS[0] + INPUTS[1]))


def test_a_captured_module_keeps_its_containers() -> None:
    class Containers(nn.Module):
        def forward(
            self, x: torch.Tensor, more: dict[str, torch.Tensor]
        ) -> dict[str, torch.Tensor]:
            return {"a": x + 1, "b": more["y"] * 2}

    x, y = INPUTS
    module = torch.export.export(Containers(), (x, {"y": y})).module(check_guards=False)
    found = ExportPass()(module).graph_module(x, {"y": y})
    assert found.keys() == {"a", "b"} and torch.equal(found["b"], y * 2)
    alone = torch.export.export(AddRelu(), INPUTS).module(check_guards=False)
    assert torch.equal(ExportPass()(alone).graph_module(*INPUTS), AddRelu()(*INPUTS))


def test_scalar_to_tensor_pass() -> None:
    program = torch.export.export(torch.nn.ReLU(), (INPUTS[0],))
    graph = program.graph_module.graph
    relu = next(node for node in graph.nodes if node.op == "call_function")
    relu.target, relu.args = torch.ops.aten.add.Tensor, (relu.args[0], 2)
    changed = ScalarToTensorPass()(program.graph_module).graph_module
    torch.testing.assert_close(changed(INPUTS[0])[0], INPUTS[0] + 2)
    assert all(
        not isinstance(arg, int)
        for node in changed.graph.nodes
        if "add" in str(node.target)
        for arg in node.args
    )


def test_passes_run_branches_of_conditions() -> None:
    class Branches(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, lambda x: x.relu(), lambda x: x + 1, (x,))

    manager = to_edge(torch.export.export(Branches(), (torch.ones(3),)))
    after = manager.transform([ConvertReluToSigmoid()])
    run = after.exported_program().module()
    torch.testing.assert_close(run(torch.ones(3)), torch.sigmoid(torch.ones(3)))
    torch.testing.assert_close(run(-torch.ones(3)), torch.zeros(3))


@pytest.mark.req("CMP-004")
def test_validity_is_checked_after_every_pass() -> None:
    def breaks(graph_module: GraphModule) -> PassResult:
        relu = next(n for n in graph_module.graph.nodes if n.target == edge_aten.relu.default)
        relu.target = torch.nn.functional.relu
        return PassResult(graph_module, True)

    with pytest.raises(SpecViolationError, match="after transform .*\n.*is not an Edge operator"):
        edge().transform([breaks])
    edge().transform([breaks], EdgeCompileConfig(_check_ir_validity=False))


def test_pass_that_returns_something_else_is_named() -> None:
    with pytest.raises(Exception, match="running the '<lambda>' pass .*found a int") as caught:
        edge().transform([lambda graph_module: 3])
    assert isinstance(caught.value.__cause__, TypeError)


@pytest.mark.req("CMP-004")
def test_a_failing_pass_is_named_with_those_done_before() -> None:
    """As torch's own pass manager says it: the pass, the ones before it, the cause."""

    def first(graph_module: GraphModule) -> None:
        return None

    def second(graph_module: GraphModule) -> None:
        raise KeyError("no such node")

    pattern = r"when running the 'second' pass after the following passes: \['first'\]"
    with pytest.raises(Exception, match=pattern) as caught:
        edge().transform([first, second])
    assert type(caught.value) is Exception and isinstance(caught.value.__cause__, KeyError)


def test_a_transform_without_changes_gives_the_same_program() -> None:
    manager = edge()
    for passes in ([], [lambda module: PassResult(module, False)]):
        assert manager.transform(passes).exported_program() is manager.exported_program()
    changed = manager.transform([lambda module: PassResult(module, True)])
    assert changed.exported_program() is not manager.exported_program()


def test_operators_of_torch_are_refused_in_edge_programs() -> None:
    class Sigmoid(ExportPass):
        def call_operator(self, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
            return super().call_operator(torch.ops.aten.sigmoid.default, args[:1], {}, meta)

    with pytest.raises(SpecViolationError, match="aten.sigmoid.default is not an Edge operator"):
        edge().transform([Sigmoid()])
    exported = torch.export.export(nn.ReLU(), (torch.ones(2),))
    with pytest.raises(SpecViolationError, match="is not an Edge operator"):
        EdgeProgramManager(exported)
    with pytest.raises(AssertionError, match="compile_config="):
        to_edge(exported, EdgeCompileConfig())


@pytest.mark.req("CMP-020", "CMP-021", "CMP-022")
def test_pattern_is_fused_to_a_backend_operator_and_traced_back() -> None:
    library = torch.library.Library("fused_by_test", "DEF")

    @bind_pattern_to_op(library, "add_relu(Tensor self, Tensor other) -> Tensor")
    def pattern(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten.relu.default(torch.ops.aten.add.Tensor(x, y))

    def replacement(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.ops.fused_by_test.add_relu.default(x, y)

    class AddReluFusionPass(ExportPass):
        def call(self, graph_module: GraphModule) -> PassResult:
            subgraph_rewriter.replace_pattern(
                graph_module,
                _trace_and_lower_to_edge_ops(pattern),
                _trace_and_lower_to_edge_ops(replacement),
            )
            return PassResult(graph_module, True)

    fused = edge().transform([AddReluFusionPass()])
    call = next(n for n in fused.exported_program().graph.nodes if n.op == "call_function")
    assert call.name == "fused_by_test_add_relu_default"
    assert call.meta["val"].shape == (2, 3)
    again = torch.export.export(fused.exported_program().module(), INPUTS).run_decompositions()
    names = {str(n.target) for n in again.graph.nodes if n.op == "call_function"}
    assert names == {"aten.add.Tensor", "aten.relu.default"}


class ReplaceTarget(PassBase):
    def __init__(self, old: Any, new: Any) -> None:
        super().__init__()
        self.old, self.new = old, new

    def call(self, graph_module: GraphModule) -> PassResult:
        for node in graph_module.graph.nodes:
            if node.target == self.old:
                node.target = self.new
        return PassResult(graph_module, True)


@pytest.mark.req("CMP-029")
def test_pass_manager_runs_checks_after_each_pass() -> None:
    def check_div_target(graph_module: GraphModule) -> None:
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and node.target != torch.div:
                raise ValueError("Target should be div!")

    def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.add(x, y)

    module = torch.fx.symbolic_trace(add)
    passes = [ReplaceTarget(torch.add, torch.div), ReplaceTarget(torch.div, torch.mul)]
    assert PassManager(passes=passes)(copy.deepcopy(module)).graph_module is not None
    checked = PassManager(passes=passes, run_checks_after_each_pass=True)
    checked.add_checks(check_div_target)
    with pytest.raises(Exception, match="running the 'ReplaceTarget' pass after") as caught:
        checked(copy.deepcopy(module))
    assert str(caught.value.__cause__) == "Target should be div!"
    lenient = PassManager(
        passes=passes, run_checks_after_each_pass=True, suppress_check_failures=True
    )
    lenient.add_checks(check_div_target)
    with pytest.warns(UserWarning, match="Target should be div!"):
        lenient(copy.deepcopy(module))
