# SPDX-License-Identifier: BSD-3-Clause
"""The managers: what each step gives, takes and refuses."""

from __future__ import annotations

import copy
import io
import operator
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export

import executorch.exir as exir
from executorch.exir import (
    EdgeCompileConfig,
    EdgeProgramManager,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    memory,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.error import ExportError
from executorch.exir.memory_planning import greedy
from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass
from executorch.exir.schema import Bool, Double, Int, KernelCall, Tensor, TensorShapeDynamism
from executorch.exir.tensor import TensorSpec
from executorch.runtime import Runtime

aten = torch.ops.aten


class LinearRelu(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


class Total(nn.Module):
    """`total` starts at 5; `unused` is read by nobody."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.full((3,), 5.0))
        self.register_buffer("unused", torch.ones(7))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total * 2


class Rows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.reshape(-1) * 2).reshape(x.shape[0] * 2, -1)


def program() -> ExportedProgram:
    return export(LinearRelu(), (torch.ones(2, 4),))


def rows(maximum: int | None) -> ExportedProgram:
    return export(Rows(), (torch.ones(3, 4),), dynamic_shapes=({0: Dim("n", min=2, max=maximum)},))


def calls(exported: ExportedProgram) -> list[Any]:
    return [n.target for n in exported.graph.nodes if n.op == "call_function"]


def operators(executorch: ExecutorchProgramManager, method: int = 0) -> list[str]:
    plan = executorch.executorch_program.execution_plan[method]
    return [
        f"{plan.operators[i.instr_args.op_index].name}.{plan.operators[i.instr_args.op_index].overload}"
        for i in plan.chains[0].instructions
        if isinstance(i.instr_args, KernelCall)
    ]


@pytest.mark.req("CMP-001", "CMP-003")
def test_to_edge_names_a_single_program_forward() -> None:
    edge = to_edge(program())
    assert isinstance(edge, EdgeProgramManager)
    assert edge.methods == {"forward"} and edge.config_methods == set()
    assert edge.exported_program().dialect == "EDGE"
    from executorch.exir import program as program_package

    assert program_package.to_edge is to_edge


@pytest.mark.req("CMP-001")
def test_to_edge_leaves_the_given_program_as_it_is() -> None:
    source = export(Total(), (torch.ones(3),))
    before, state = str(source), {k: v.clone() for k, v in source.state_dict.items()}
    to_edge(source).to_executorch()
    assert str(source) == before
    assert all(torch.equal(source.state_dict[k], v) for k, v in state.items())
    dynamic = rows(9)
    before = str(dynamic)
    to_edge(dynamic).to_executorch()
    assert str(dynamic) == before


@pytest.mark.req("CMP-002")
def test_to_edge_transform_and_lower_without_backends() -> None:
    edge = to_edge_transform_and_lower(program(), transform_passes=[], partitioner=[])
    assert calls(edge.exported_program()) == [
        exir_ops.edge.aten.linear.default,
        exir_ops.edge.aten.relu.default,
    ]
    assert edge.to_backend() is not None


def test_partitioner_keeps_operators_whole() -> None:
    class KeepsSilu:
        def ops_to_not_decompose(self, exported: ExportedProgram) -> tuple[list[Any], Any]:
            return [aten.hardswish.default], lambda node: node.args[0].op == "placeholder"

    class TwoHardswish(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.functional.hardswish(nn.functional.hardswish(x))

    from executorch.exir.program._delegation import kept_by, partitioners_of

    source = export(TwoHardswish(), (torch.ones(2),))
    kept = kept_by(partitioners_of(KeepsSilu, "forward"), source)
    assert [node.target for node in kept] == [aten.hardswish.default]
    with pytest.raises(ExportError, match="KeepsSilu"):
        to_edge_transform_and_lower(source, partitioner=[KeepsSilu()])


@pytest.mark.req("CMP-007")
def test_preserved_operators_are_not_decomposed() -> None:
    source = export(nn.Hardswish(), (torch.ones(2),))
    whole = to_edge(source, compile_config=EdgeCompileConfig(preserve_ops=[aten.hardswish.default]))
    assert calls(whole.exported_program()) == [exir_ops.edge.aten.hardswish.default]
    assert exir_ops.edge.aten.hardswish.default not in calls(to_edge(source).exported_program())


@pytest.mark.req("CMP-026")
def test_hardsigmoid_becomes_a_clamp_and_core_operators_stay() -> None:
    targets = calls(to_edge(export(nn.Hardsigmoid(), (torch.ones(2),))).exported_program())
    assert any("clamp" in target.__name__ for target in targets)
    assert all(isinstance(target, EdgeOpOverload) for target in targets)
    gelu = calls(to_edge(export(nn.GELU(), (torch.ones(2),))).exported_program())
    assert gelu == [exir_ops.edge.aten.gelu.default]


def test_narrow_is_a_slice() -> None:
    """The kernel of narrow_copy in released runtimes takes no negative dimension."""
    module = nn.Sequential(nn.ReLU(), nn.ReLU())
    module.forward = lambda x: x.narrow(-1, 0, 1)  # type: ignore[method-assign]
    targets = calls(to_edge(export(module, (torch.ones(2, 3),))).exported_program())
    assert targets == [exir_ops.edge.aten.slice_copy.Tensor]


@pytest.mark.req("CMP-016", "CMP-017")
def test_edge_graph_has_no_writes_no_views_no_bare_numbers() -> None:
    class Mixed(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x.transpose(0, 1) + 1
            y.mul_(2)
            return y.to(memory_format=torch.contiguous_format).to(torch.float64)

    edge = to_edge(export(Mixed(), (torch.ones(2, 3),))).exported_program()
    for target in calls(edge):
        assert isinstance(target, EdgeOpOverload)
        assert not target._op._schema.is_mutable
        assert all(ret.alias_info is None for ret in target._op._schema.returns)
    assert exir_ops.edge.dim_order_ops._to_dim_order_copy.default in calls(edge)
    assert "executorch_exir_dialects_edge__ops_aten_add_Tensor(" in edge.graph_module.code
    for node in edge.graph.nodes:
        if node.target in (exir_ops.edge.aten.add.Tensor, exir_ops.edge.aten.mul.Tensor):
            assert all(isinstance(arg, torch.fx.Node) for arg in node.args)
    without = to_edge(
        export(Mixed(), (torch.ones(2, 3),)), compile_config=EdgeCompileConfig(_skip_dim_order=True)
    )
    assert exir_ops.edge.aten._to_copy.default in calls(without.exported_program())


@pytest.mark.req("CMP-003")
def test_managers_can_be_copied() -> None:
    edge = to_edge(program())
    twin = copy.deepcopy(edge)
    assert twin.exported_program() is not edge.exported_program()
    assert calls(twin.exported_program()) == calls(edge.exported_program())
    assert twin.to_executorch().buffer == edge.to_executorch().buffer


@pytest.mark.req("CMP-003", "CMP-036")
def test_to_executorch_leaves_the_edge_program_as_it_is() -> None:
    edge = to_edge(program())
    before = str(edge.exported_program())
    first = edge.to_executorch().buffer
    assert str(edge.exported_program()) == before
    assert edge.to_executorch().buffer == first


@pytest.mark.req("CMP-036")
def test_planned_graph_has_alloc_nodes_views_and_places() -> None:
    class Views(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(torch.relu(x).view(8)) + 1

    planned = to_edge(export(Views(), (torch.ones(2, 4),))).to_executorch().exported_program()
    targets = calls(planned)
    assert memory.alloc in targets and memory.view in targets and aten.relu.out in targets
    for node in planned.graph.nodes:
        if node.target is memory.alloc:
            spec = node.meta["spec"]
            assert spec.mem_id == 1 and spec.mem_offset % 16 == 0
        if node.target is aten.relu.out:
            assert node.kwargs["out"].meta["spec"] is node.meta["spec"]


@pytest.mark.req("CMP-006")
def test_executorch_manager_writes_what_buffer_holds(tmp_path: Any) -> None:
    manager = to_edge(program(), constant_methods={"get_n": 7}).to_executorch()
    assert manager.methods == {"forward"} and manager.config_methods == {"get_n"}
    stream = io.BytesIO()
    manager.write_to_file(stream)
    manager.save(str(tmp_path / "model.pte"))
    assert stream.getvalue() == manager.buffer == (tmp_path / "model.pte").read_bytes()
    assert manager.buffer[4:6] == b"ET"
    assert set(manager.debug_handle_map) == {"forward"}
    text = io.StringIO()
    manager.dump_executorch_program(out=text)
    assert "aten::linear.out" in text.getvalue() and "method get_n" in text.getvalue()
    manager.dump_executorch_program(verbose=True, out=text)
    with pytest.raises(ValueError, match="does not end with .pte"):
        manager.save(str(tmp_path / "model.bin"))


@pytest.mark.req("CMP-008")
def test_external_constants_leave_the_program_file(tmp_path: Any) -> None:
    inside = to_edge(program()).to_executorch()
    outside = to_edge(program()).to_executorch(ExecutorchBackendConfig(external_constants=True))
    outside.write_tensor_data_to_file(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["_default_external_constant.ptd"]
    tagged = ExecutorchBackendConfig(
        external_constants=lambda node: "weights" if "weight" in node.name else None
    )
    to_edge(program()).to_executorch(tagged).write_tensor_data_to_file(str(tmp_path))
    assert (tmp_path / "weights.ptd").exists()
    names = [
        value.val.extra_tensor_info.fully_qualified_name
        for value in outside.executorch_program.execution_plan[0].values
        if isinstance(value.val, Tensor) and value.val.extra_tensor_info is not None
    ]
    assert sorted(names) == ["linear.bias", "linear.weight"]
    assert len(inside.executorch_program.constant_buffer) == 3


@pytest.mark.req("CMP-008")
def test_passes_of_the_backend_config_run_on_the_edge_graph() -> None:
    seen: list[Any] = []

    def relu_to_sigmoid(graph_module: torch.fx.GraphModule) -> None:
        for node in graph_module.graph.nodes:
            seen.append(node.target)
            if node.target == exir_ops.edge.aten.relu.default:
                node.target = exir_ops.edge.aten.sigmoid.default

    manager = to_edge(program()).to_executorch(ExecutorchBackendConfig(passes=[relu_to_sigmoid]))
    assert exir_ops.edge.aten.linear.default in seen
    assert operators(manager) == ["aten::linear.out", "aten::sigmoid.out"]


@pytest.mark.req("CMP-033")
def test_specs_follow_the_ranges_of_sizes() -> None:
    planned = to_edge(rows(9)).to_executorch().exported_program()
    specs = [
        n.meta["spec"] for n in planned.graph.nodes if isinstance(n.meta.get("spec"), TensorSpec)
    ]
    assert {spec.shape_dynamism for spec in specs} == {TensorShapeDynamism.DYNAMIC_BOUND}
    assert specs[0].shape == [9, 4] and [36] in [spec.shape for spec in specs]
    names = [getattr(target, "__name__", "") for target in calls(planned)]
    assert "executorch_prim.mul.Scalar" in names


@pytest.mark.req("CMP-025", "CMP-052")
def test_sizes_are_computed_by_the_runtime() -> None:
    manager = to_edge(rows(9)).to_executorch()
    assert operators(manager)[:1] == ["aten::sym_size.int"]
    assert "executorch_prim::mul.Scalar" in operators(manager)
    assert not [name for name in operators(manager) if "view_copy" in name]


@pytest.mark.req("CMP-040", "CMP-052")
def test_sizes_without_a_bound_are_refused_all_at_once() -> None:
    class Two(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x + 1, y * 2

    shapes = ({0: Dim("n")}, {0: Dim("m")})
    source = export(Two(), (torch.ones(3, 4), torch.ones(5, 4)), dynamic_shapes=shapes)
    with pytest.raises(ExportError, match=r"without an upper bound: x .*; y .*max=") as error:
        to_edge(source).to_executorch()
    assert "method forward" in str(error.value)


def test_a_dtype_that_files_cannot_hold_is_named_with_its_line() -> None:
    class Cast(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.to(torch.float8_e8m0fnu)

    with pytest.raises(ExportError, match=r"has dtype torch.float8_e8m0fnu") as error:
        to_edge(export(Cast(), (torch.ones(2),))).to_executorch()
    assert "program_test.py" in str(error.value) and "x.to(torch.float8_e8m0fnu)" in str(
        error.value
    )


def test_all_missing_out_variants_are_named_with_their_line() -> None:
    library = torch.library.Library("front_test", "DEF")
    for name in ("first", "second"):
        library.define(f"{name}(Tensor x) -> Tensor")
        library.impl(name, lambda x: x.clone(), "CompositeExplicitAutograd")

    class Custom(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.front_test.first(torch.ops.front_test.second(x))

    edge = to_edge(export(Custom(), (torch.ones(2),)))
    with pytest.raises(
        RuntimeError, match="Missing out variants: {'front_test::first', 'front_test::second'}"
    ) as error:
        edge.to_executorch()
    assert "program_test.py" in str(error.value) and "torch.ops.front_test.first" in str(
        error.value
    )
    library._destroy()


@pytest.mark.req("CMP-053")
def test_buffer_is_written_back_at_the_end_and_keeps_its_start_value() -> None:
    edge = to_edge(export(Total(), (torch.ones(3),)))
    assert list(edge.exported_program().graph_signature.buffers_to_mutate.values()) == ["total"]
    manager = edge.to_executorch()
    assert operators(manager)[-1] == "aten::copy_."
    output = manager._emitter_output.mutable_data
    assert output is not None
    assert torch.frombuffer(bytearray(output[1].storage), dtype=torch.float32).tolist() == [5, 5, 5]
    assert "unused" not in {
        s.target for s in manager.exported_program().graph_signature.input_specs
    }


def test_old_value_of_a_buffer_is_returned_as_a_copy() -> None:
    class Swap(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("last", torch.zeros(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            before = self.last.clone()
            self.last.copy_(x)
            return before

    edge = to_edge(export(Swap(), (torch.ones(2),)))
    output = next(iter(reversed(edge.exported_program().graph.nodes))).args[0]
    assert output[1].target == exir_ops.edge.dim_order_ops._clone_dim_order.default
    run = edge.exported_program().module()
    assert run(torch.ones(2)).tolist() == [0, 0] and run(torch.zeros(2)).tolist() == [1, 1]


@pytest.mark.parametrize("is_kept", [True, False], ids=["buffer written", "buffer read"])
@pytest.mark.parametrize("is_changed", [True, False], ids=["input written", "input read"])
def test_a_buffer_may_be_named_as_an_input(is_kept: bool, is_changed: bool) -> None:
    class Difference(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("x", torch.ones(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result = x - self.x
            if is_kept:
                self.x.copy_(x)
            if is_changed:
                x.mul_(3)
            return result

    module = Difference()
    data = to_edge(export(module, (torch.ones(2),))).to_executorch().buffer
    method = Runtime.get().load_program(data).load_method("forward")
    for call in range(3):
        x = torch.tensor([1.0, 2.0]) * (call + 1)
        *changed, found = method.execute([x.clone()])
        torch.testing.assert_close(found, module(x.clone()))
        torch.testing.assert_close(changed, [x * 3] if is_changed else [])


def test_written_user_input() -> None:
    class WritesInput(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x.add_(1)
            return x * 2

    manager = to_edge(export(WritesInput(), (torch.zeros(2),))).to_executorch()
    assert operators(manager)[-1] == "aten::copy_."


@pytest.mark.req("CMP-054")
def test_both_branches_of_a_condition_are_lowered() -> None:
    class Branch(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: torch.sin(x), (x,))

    edge = to_edge(export(Branch(), (torch.ones(3),)))
    run = edge.exported_program().module()
    torch.testing.assert_close(run(torch.ones(3)), torch.full((3,), 2.0))
    torch.testing.assert_close(run(-torch.ones(3)), torch.sin(-torch.ones(3)))
    names = operators(edge.to_executorch())
    assert "aten::mul.Scalar_out" in names and "aten::sin.out" in names


@pytest.mark.req("CMP-055", "CMP-056")
def test_methods_and_constant_methods() -> None:
    methods = {"encode": program(), "decode": export(Total(), (torch.ones(3),))}
    constants = {"get_int": 3, "get_float": 2.5, "get_flag": True, "get_list": [1, 2]}
    manager = to_edge(methods, constant_methods=constants).to_executorch()
    assert manager.methods == {"encode", "decode"} and manager.config_methods == set(constants)
    plans = {plan.name: plan for plan in manager.executorch_program.execution_plan}
    assert set(plans) == set(methods) | set(constants)
    assert plans["get_int"].values[0].val == Int(3)
    assert plans["get_float"].values[0].val == Double(2.5)
    assert plans["get_flag"].values[0].val == Bool(True)


def test_containers_without_a_name_become_tuples_with_a_warning(caplog: Any) -> None:
    class Max(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return x.max(0)

    with caplog.at_level("WARNING"):
        manager = to_edge(export(Max(), (torch.ones(2, 3),))).to_executorch()
    assert "tuple" in caplog.text
    assert len(manager.executorch_program.execution_plan[0].outputs) == 2


def test_wrong_programs_are_refused_by_name() -> None:
    with pytest.raises(
        ExportError, match="method 'forward': expected what torch.export.export returns"
    ):
        to_edge(nn.Linear(2, 2))  # type: ignore[arg-type]
    with pytest.raises(ExportError, match="no programs"):
        to_edge({})


@pytest.mark.req("CMP-008", "CMP-037")
def test_memory_planning_pass_is_taken_from_the_config() -> None:
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(
            memory_planning_algo=greedy, alloc_graph_input=False
        )
    )
    plan = to_edge(program()).to_executorch(config).executorch_program.execution_plan[0]
    assert plan.values[plan.inputs[0]].val.allocation_info is None
    assert plan.values[plan.outputs[0]].val.allocation_info is not None


@pytest.mark.req("CMP-009")
def test_older_classes_take_one_program_all_the_way() -> None:
    from executorch.exir.capture import CaptureConfig

    captured = exir.capture(LinearRelu(), (torch.ones(2, 4),), CaptureConfig())
    executorch = captured.to_edge().to_executorch()
    assert isinstance(executorch, exir.ExecutorchProgram)
    assert (
        executorch.buffer[4:6] == b"ET" and executorch.program.execution_plan[0].name == "forward"
    )
    with pytest.raises(RuntimeError, match="to_edge"):
        captured.to_executorch()


def test_getitem_of_list_results_shares_specs() -> None:
    class Split(nn.Module):
        def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
            return [part + 1 for part in x.split(2)]

    planned = to_edge(export(Split(), (torch.ones(4, 2),))).to_executorch().exported_program()
    picks = [n for n in planned.graph.nodes if n.target is operator.getitem]
    assert len(picks) == 2
    for pick in picks:
        assert pick.args[0].target is memory.alloc
        assert pick.meta["spec"] is pick.args[0].meta["spec"][pick.args[1]]
