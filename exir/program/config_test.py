# SPDX-License-Identifier: BSD-3-Clause
"""Options of to_executorch: writing in place, data files for what is written, fusion, modes of memory planning."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # (defines the operators)
from torch.export import Dim, export
from torch.export.graph_signature import (
    ExportGraphSignature,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

from executorch.exir import (
    EdgeProgramManager,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    edge_to_executorch_passes,
    to_edge,
)
from executorch.exir._serialize._program import _get_extended_header, read_program
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dynamic_shape import DynamicMemoryPlanningMode
from executorch.exir.passes.reinplace import (
    DEFAULT_INPLACEABLE_OPS,
    _derive_edge_inplace_overload,
    reinplace_pass,
)
from executorch.exir.program._program import pre_memory_planning_passes
from executorch.runtime import Runtime

edge = exir_ops.edge.aten


class Cache(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(4, 2))

    def forward(self, place: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
        self.cache.index_put_((place,), row)
        return self.cache.sum(0)


CACHE_INPUTS = (torch.tensor([1]), torch.ones(1, 2))


def operators(manager: ExecutorchProgramManager) -> list[str]:
    plan = manager.executorch_program.execution_plan[0]
    return [f"{op.name}.{op.overload}".rstrip(".") for op in plan.operators]


def run(manager: ExecutorchProgramManager, *calls: Any) -> list[Any]:
    method = Runtime.get().load_program(manager.buffer).load_method("forward")
    return [method.execute(list(inputs))[0].clone() for inputs in calls]


def lowered(module: torch.nn.Module, inputs: Any, **options: Any) -> ExecutorchProgramManager:
    return to_edge(export(module, inputs)).to_executorch(ExecutorchBackendConfig(**options))


@pytest.mark.req("CMP-008")
def test_a_cache_is_written_in_place() -> None:
    calls = [CACHE_INPUTS, (torch.tensor([3]), torch.full((1, 2), 2.0))]
    plain, inplace = (lowered(Cache(), CACHE_INPUTS, run_reinplace_pass=on) for on in (False, True))
    assert operators(plain) == ["aten::index_put.out", "aten::sum.IntList_out", "aten::copy_"]
    assert operators(inplace) == ["aten::index_put_", "aten::sum.IntList_out"]
    model = Cache()
    expected = [model(*inputs) for inputs in calls]
    torch.testing.assert_close(run(plain, *calls), expected)
    torch.testing.assert_close(run(inplace, *calls), expected)
    sizes = [
        m.executorch_program.execution_plan[0].non_const_buffer_sizes[1] for m in (plain, inplace)
    ]
    assert sizes[1] < sizes[0]


class Chain(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = x.sin()
        b = a + x
        return torch.relu(b) * a


class Viewed(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a = x.sin()
        return torch.relu(a.view(-1)), a.cos()


class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x), torch.relu(x.sin())


@pytest.mark.parametrize(
    ("module", "written"),
    [(Chain(), ["relu_", "mul_"]), (Viewed(), []), (Twice(), ["relu_"])],
    ids=["chain", "a view that is read later", "an input"],
)
def test_only_what_nobody_reads_again_is_written(module: torch.nn.Module, written: list) -> None:
    x = torch.randn(2, 3)
    program = to_edge(export(module, (x,))).exported_program()
    ops = [edge.add.Tensor, edge.relu.default, edge.mul.Tensor, edge.sin.default, edge.mm.default]
    assert reinplace_pass(program, ops) is program
    names = [
        n.target.__name__.split(".")[1] for n in program.graph.nodes if n.op == "call_function"
    ]
    assert [name for name in names if name.endswith("_")] == written
    torch.testing.assert_close(program.module()(x.clone()), module(x))


def test_more_operators_write_in_place_on_request() -> None:
    """For runtimes that have such kernels."""
    x, relu = torch.randn(2, 3), frozenset({edge.relu.default})
    written = [
        [name for name in operators(lowered(Chain(), (x,), **options)) if "relu" in name]
        for options in (
            {"run_reinplace_pass": True},
            {"reinplace_extra_ops": relu, "allow_missing_kernels": True},
        )
    ]
    assert written == [["aten::relu.out"], ["aten::relu_"]]


def test_forms_of_operators() -> None:
    assert DEFAULT_INPLACEABLE_OPS == {edge.index_put.default}
    assert _derive_edge_inplace_overload(edge.add.Tensor) is edge.add_.Tensor
    assert _derive_edge_inplace_overload(edge.mm.default) is None
    program = to_edge(export(Chain(), (torch.ones(2),))).exported_program()
    with pytest.raises(ValueError, match="Schema mismatch in reinplace registration"):
        reinplace_pass(program, inplace_overrides={edge.mul.Tensor: edge.add_.Tensor})


class Scaled(torch.nn.Module):
    """Its weight is stored in int8."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("w", torch.arange(6, dtype=torch.int8).reshape(3, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        dequantize = torch.ops.quantized_decomposed.dequantize_per_tensor
        return x @ dequantize(self.w, 0.5, 1, -128, 127, torch.int8)


@pytest.mark.req("CMP-008")
def test_quantized_weights_become_data() -> None:
    x = torch.randn(4, 3)
    plain = lowered(Scaled(), (x,))
    fused = lowered(Scaled(), (x,), do_quant_fusion_and_const_prop=True)
    assert operators(fused) == ["aten::mm.out"] != operators(plain)
    torch.testing.assert_close(run(fused, (x,)), [Scaled()(x)])


@pytest.mark.req("CMP-008")
@pytest.mark.parametrize("alignment", [16, 4096])
def test_segments_and_constants_lie_on_their_alignments(alignment: int) -> None:
    options = {"segment_alignment": alignment, "constant_tensor_alignment": 2 * alignment}
    manager = lowered(TwoWeights(), (torch.ones(3),), **options)
    header = _get_extended_header(manager.buffer)
    assert header.segment_base_offset % alignment == 0
    program = read_program(manager.buffer)
    offsets = program.constant_segment.offsets
    assert len(offsets) == 3 and all(offset % (2 * alignment) == 0 for offset in offsets)
    torch.testing.assert_close(run(manager, (torch.ones(3),)), [TwoWeights()(torch.ones(3))])


@pytest.mark.req("CMP-008")
def test_views_copy_where_they_may_not_share() -> None:
    x = torch.randn(2, 3)
    shared, copied = (lowered(Flat(), (x,), remove_view_copy=on) for on in (True, False))
    assert "aten::view_copy.out" not in operators(shared)
    assert "aten::view_copy.out" in operators(copied)
    for manager in (shared, copied):
        torch.testing.assert_close(run(manager, (x,)), [Flat()(x)])


class TwoWeights(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = (torch.nn.Parameter(torch.arange(3.0) + i) for i in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.a + self.b


class Flat(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.sin(x).view(-1))


def test_symbolic_sizes_are_planned_by_their_bounds() -> None:
    x = torch.randn(3)
    dynamic = export(Chain(), (x,), dynamic_shapes=({0: Dim("n", max=10)},))
    programs = [
        to_edge(dynamic).to_executorch(ExecutorchBackendConfig(dynamic_memory_planning_mode=mode))
        for mode in DynamicMemoryPlanningMode
    ]
    assert programs[0].buffer == programs[1].buffer


def test_defaults_are_shared() -> None:
    one, other = ExecutorchBackendConfig(), ExecutorchBackendConfig()
    assert one == other and one.memory_planning_pass is other.memory_planning_pass
    assert one.to_out_var_pass is other.to_out_var_pass and one.passes is not other.passes


def test_the_list_of_passes_plans_a_graph_by_hand() -> None:
    config = ExecutorchBackendConfig()
    manager: EdgeProgramManager = to_edge(export(Chain(), (torch.ones(2),)))
    names = [getattr(p, "__name__", type(p).__name__) for p in edge_to_executorch_passes(config)]
    later = [getattr(p, "__name__", type(p).__name__) for p in pre_memory_planning_passes(config)]
    assert names[-len(later) :] == later and later[-1] == "ToOutVarPass"
    assert "NormalizeViewCopyBasePass" not in [
        type(p).__name__
        for p in pre_memory_planning_passes(ExecutorchBackendConfig(remove_view_copy=False))
    ]
    after = manager.transform(
        edge_to_executorch_passes(config),
        manager.compile_config.__class__(_check_ir_validity=False),
    )
    targets = [str(n.target) for n in after.exported_program().graph.nodes]
    assert "aten.relu.out" in targets
    with pytest.raises(RuntimeError, match="sym_shape_eval_pass must be a dict or a PassBase"):
        pre_memory_planning_passes(ExecutorchBackendConfig(sym_shape_eval_pass=3))


def test_attributes_and_words_of_a_program(tmp_path: Any) -> None:
    manager = lowered(Chain(), (torch.ones(2),), external_constants=True)
    assert bytes(manager._pte_data) == manager.buffer and manager._tensor_data == {}
    with pytest.raises(ValueError, match="does not end with .pte"):
        manager.save(tmp_path / "program.bin")
    with pytest.raises(RuntimeError, match="ETRecord was not generated"):
        manager.get_etrecord()


class Transposed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.w.t().contiguous()


@pytest.mark.req("CMP-008")
def test_weights_that_a_method_writes_come_from_a_data_file() -> None:
    """Parameters alone: buffers keep their start values in the program."""
    program = to_edge(export(Transposed(), (torch.ones(2, 3),))).exported_program()
    weight = next(n for n in program.graph.nodes if n.name == "p_w")
    (result,) = program.graph.output_node().args[0]
    with program.graph.inserting_before(program.graph.output_node()):
        new = program.graph.call_function(edge.add.Tensor, (weight, weight))
    new.meta = {"val": weight.meta["val"]}
    program.graph.output_node().args = ((new, result),)
    signature = program.graph_signature
    mutation = OutputSpec(OutputKind.PARAMETER_MUTATION, TensorArgument(new.name), "w")
    program._graph_signature = ExportGraphSignature(
        list(signature.input_specs), [mutation, *signature.output_specs]
    )
    config = ExecutorchBackendConfig(external_mutable_weights=True)
    manager = EdgeProgramManager(program).to_executorch(config)
    assert manager._emitter_output.external_constant_map == {"_default_external_constant": {"w": 0}}
    assert list(manager._tensor_data) == ["_default_external_constant"]
