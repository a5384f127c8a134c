# SPDX-License-Identifier: BSD-3-Clause
"""What code written against upstream relies on beyond signatures: results, attributes, order, exceptions. Expected
values were printed by upstream's package, except where docs/compatibility.md says otherwise."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch.export import Dim, ExportedProgram, export
from torch.fx import GraphModule
from torch.fx.graph import CodeGen
from torch.fx.passes.infra.pass_base import PassResult
from torch.fx.passes.utils.source_matcher_utils import SourcePartition

from executorch import exir
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.exir.backend import utils as backend_utils
from executorch.exir.backend.backend_api import to_backend
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.canonical_partitioners.all_node_partitioner import AllNodePartitioner
from executorch.exir.backend.canonical_partitioners.config_partitioner import DSJ
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data
from executorch.exir.dialects._ops import bind_pattern_to_op
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.error import ExportError
from executorch.exir.memory_planning import REGISTERED_ALGOS, MemoryAlgoResult, Verifier, greedy
from executorch.exir.pass_base import ExportPass, ExportPassBaseError
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.cse_pass import CSEPass
from executorch.exir.passes.executorch_prim_ops_registry import executorch_prims_lib
from executorch.exir.passes.legalize_portable_dim_order_pass import LegalizePortableDimOrderPass
from executorch.exir.passes.prune_empty_tensors_pass import PruneEmptyTensorsPass
from executorch.exir.passes.sym_shape_eval_pass import (
    HintBasedSymShapeEvalPass,
    upper_bound_shape_inference_table,
)
from executorch.exir.print_program import pretty_print
from executorch.exir.program._program import (
    _gen_edge_manager_for_partitioners,
    _generate_edge_program,
    _remove_invalid_ops_for_not_decompose,
    edge_to_executorch_passes,
    et_logger,
)

aten, edge_aten = torch.ops.aten, exir_ops.edge.aten
X = torch.ones(2, 3)
CONFIG = exir.EdgeCompileConfig()


class Call(torch.nn.Module):
    def __init__(self, function: Any, **data: torch.Tensor) -> None:
        super().__init__()
        self.function = function
        for name, value in data.items():
            self.register_buffer(name, value)

    def forward(self, *arguments: Any) -> Any:
        return self.function(self, *arguments)


def edge_of(function: Any, *inputs: Any, **data: torch.Tensor) -> ExportedProgram:
    return to_edge(export(Call(function, **data), inputs)).exported_program()


def targets(program: ExportedProgram) -> list[Any]:
    return [node.target for node in program.graph.nodes if node.op == "call_function"]


class ContractsBackend(BackendDetails):
    @staticmethod
    def preprocess(edge_program: ExportedProgram, compile_specs: Any) -> PreprocessResult:
        return PreprocessResult(b"blob")


class Tagging(Partitioner):
    """Each operator its own tag; `whole` stays undecomposed."""

    def __init__(self, tags: dict[Any, str], whole: tuple[Any, ...] = ()) -> None:
        super().__init__()
        self.tags, self.whole = tags, whole
        self.mark: Any = None

    def ops_to_not_decompose(self, ep: ExportedProgram) -> Any:
        return (list(self.whole), None)

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        for node in exported_program.graph.nodes:
            if node.target in self.tags:
                node.meta["delegation_tag"] = self.tags[node.target]
            if self.mark is not None:
                self.mark(node)
        tag_constant_data(exported_program)
        spec = DelegationSpec("ContractsBackend", [])
        return PartitionResult(exported_program, dict.fromkeys(self.tags.values(), spec))


# ---- Programs ----


def test_what_stays_whole_whoever_wants_it() -> None:
    some = [aten.silu.default, aten.add_.Tensor, aten.view.default, aten.chunk.default]
    never = [aten._to_copy.default, aten.mul.Tensor, aten.unbind.int, aten.item.default]
    assert _remove_invalid_ops_for_not_decompose([*some, *never]) == [aten.silu.default]
    program = export(Call(lambda m, x: torch.nn.functional.silu(x)), (X,))
    claimed = Tagging({edge_aten.silu.default: "a"}, (aten.silu.default,))
    edge = _gen_edge_manager_for_partitioners(
        {"forward": [claimed]}, {"forward": program}, CONFIG, None
    )
    assert targets(edge.exported_program()) == [edge_aten.silu.default]
    kept = _generate_edge_program(CONFIG, program, preserve_ops=[aten.silu.default])
    assert targets(kept) == [edge_aten.silu.default]
    assert edge_aten.silu.default not in targets(_generate_edge_program(CONFIG, program))
    assert et_logger("to_edge")(lambda text: len(text))("abc") == 3


def test_what_nobody_takes_is_taken_apart() -> None:
    """Upstream raises "was not decomposed or delegated"."""
    program = export(Call(lambda m, x: torch.nn.functional.silu(x)), (X,))
    idle = Tagging({}, (aten.silu.default,))
    lowered = to_edge_transform_and_lower(program, partitioner=[idle]).exported_program()
    assert targets(lowered) == [edge_aten.sigmoid.default, edge_aten.mul.Tensor]


def test_a_record_has_the_program_after_transforms() -> None:
    class Nothing(ExportPass):
        pass

    program = export(Call(lambda m, x: x + 1), (X,))
    manager = to_edge_transform_and_lower(program, [Nothing()], generate_etrecord=True)
    (kept,) = manager._etrecord.graph_map.items()
    assert kept[0] == "edge_after_transform/forward"
    assert kept[1] is not manager.exported_program()
    assert targets(kept[1]) == [edge_aten.add.Tensor]


def test_a_constant_method_that_no_file_holds() -> None:
    manager = to_edge(export(Call(lambda m, x: x + 1), (X,)), {"bad": object()})
    with pytest.raises(
        ExportError, match="Error emitting bad which returns a value of type .*object"
    ):
        manager.to_executorch()


def test_attributes_of_a_finished_program() -> None:
    manager = to_edge(export(Call(lambda m, x: x + 1), (X,))).to_executorch()
    assert manager._buffer is None and manager.buffer is manager.buffer is manager._buffer
    assert type(manager._data_serializer).__name__ == "FlatTensorSerializer"
    assert bytes(manager._pte_data) == manager.buffer and manager._tensor_data == {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = exir.capture(Call(lambda m, x: x + 1), (X,)).to_edge().to_executorch()
    assert isinstance(old.exported_program, ExportedProgram)
    assert (old._emitter_output, old._buffer, old._pte_data, old._tensor_data) == (None,) * 4
    assert old.buffer == old._buffer and old._emitter_output.program is old.program


def test_outputs_of_a_finished_program_are_the_users() -> None:
    def count(m: Any, x: torch.Tensor) -> torch.Tensor:
        m.state.add_(x)
        return m.state * 2

    program = to_edge(export(Call(count, state=torch.zeros(2, 3)), (X,))).to_executorch()
    method = program.exported_program()
    (results,) = method.graph.output_node().args
    assert [node.name for node in results] == ["aten_mul_tensor"]
    kinds = [spec.kind.name for spec in method.graph_signature.output_specs]
    assert kinds == ["BUFFER_MUTATION", "USER_OUTPUT"]
    assert len(program.executorch_program.execution_plan[0].outputs) == 1


def test_the_passes_before_planning_by_hand() -> None:
    names = [
        getattr(one, "__name__", type(one).__name__)
        for one in edge_to_executorch_passes(ExecutorchBackendConfig())
    ]
    expected = ["LegalizePortableDimOrderPass", "SpecPropPass", "PropagateDevicePass", "EdgeToBackendOpsPass",
                "RemoveGraphAssertsPass", "NormalizeViewCopyBasePass", "dead_code_elimination_pass",
                "ReplaceViewCopyWithViewPass", "ConstraintBasedSymShapeEvalPass", "ToOutVarPass"]  # fmt: skip
    assert [name for name in names if name in expected] == expected
    no_orders = exir.EdgeCompileConfig(_skip_dim_order=True)
    passes = edge_to_executorch_passes(ExecutorchBackendConfig(), "forward", no_orders)
    assert not any(isinstance(one, LegalizePortableDimOrderPass) for one in passes)


# ---- Delegation ----


def test_all_nodes_have_the_backends_name_as_their_tag() -> None:
    program = edge_of(lambda m, x: x.sin() + m.w, X, w=torch.ones(3))
    result = AllNodePartitioner("ContractsBackend", []).partition(program)
    assert list(result.partition_tags) == ["ContractsBackend"]
    tags = {
        n.name: n.meta.get("delegation_tag") for n in result.tagged_exported_program.graph.nodes
    }
    assert tags["b_w"] == tags["aten_sin_default"] == "ContractsBackend"


def test_a_constant_of_two_delegates_may_be_one_that_must_not_be_copied() -> None:
    def program() -> ExportedProgram:
        return edge_of(lambda m, x: (x + m.w).sin() * m.w, X, w=torch.ones(3))

    both = Tagging({edge_aten.add.Tensor: "a", edge_aten.mul.Tensor: "b"})
    assert len(targets(to_backend(program(), both))) == 5  # two calls, two getitems, sin
    both.mark = lambda node: node.meta.update(no_copy=True) if node.op == "placeholder" else None
    with pytest.raises(
        RuntimeError, match=r"constant data node \(b_w\) is tagged with \(a\) but has user"
    ):
        to_backend(program(), both)


def _quantized() -> GraphModule:
    def quantized(m: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        q = torch.ops.quantized_decomposed
        numbers = (0.5, 0, -128, 127, torch.int8)
        a, b = (
            q.dequantize_per_tensor(q.quantize_per_tensor(v, *numbers), *numbers) for v in (x, y)
        )
        total = q.quantize_per_tensor(a + b, *numbers)
        return q.dequantize_per_tensor(total, *numbers)

    return edge_of(quantized, X, X + 1).graph_module


def test_quantized_partitions_become_one_operator() -> None:
    module = _quantized()
    (add,) = module.graph.find_nodes(op="call_function", target=edge_aten.add.Tensor)
    around = SourcePartition([add], "add", list(add.args), [add], [])
    call, dequants, quants = backend_utils.replace_quantized_partition_with_op(
        module, around, aten.maximum.default
    )
    assert [n.target for n in call.args] == [backend_utils.T_QuantPerTensor] * 2
    assert len(dequants) == 2 and len(quants) == 1
    calls = [n.target for n in module.graph.nodes if n.op == "call_function"]
    quantize, dequantize = backend_utils.T_QuantPerTensor, backend_utils.T_DQuantPerTensor
    assert [c for c in calls if c in (quantize, dequantize)] == [quantize, quantize, dequantize]
    (alone,) = module.graph.find_nodes(op="call_function", target=aten.maximum.default)
    with pytest.raises(AssertionError, match="Dequant nodes missing"):
        backend_utils.replace_quantized_partition_with_op(
            module, SourcePartition([alone], "max", [], [alone], []), aten.relu.default
        )


def test_a_graph_of_bytes() -> None:
    module = _quantized()
    backend_utils.remove_first_quant_and_last_dequant(module)
    calls = [n.target for n in module.graph.nodes if n.op == "call_function"]
    quantize, dequantize = backend_utils.T_QuantPerTensor, backend_utils.T_DQuantPerTensor
    assert calls == [dequantize, dequantize, edge_aten.add.Tensor, quantize]


def test_results_of_delegates_are_found() -> None:
    lowered = to_backend(edge_of(lambda m, x: x.sin(), X), Tagging({edge_aten.sin.default: "a"}))
    find = backend_utils._get_item_from_executorch_call_delegate
    assert [node.name for node in lowered.graph.nodes if find(node)] == ["getitem"]


def test_disjoint_sets() -> None:
    sets = DSJ()
    for one, other in ((1, 2), (3, 4), (2, 3), (7, 8)):
        sets.union(one, other)
    assert sets.find(1) == sets.find(4) != sets.find(7)
    assert sets.contains(1) and not sets.contains(5)
    assert sorted(map(sorted, sets.gen_groups())) == [[1, 2, 3, 4], [7, 8]]


# ---- Dialects ----


def test_operators_of_the_dialects() -> None:
    packet = exir_ops.edge.aten.expm1
    assert packet.op is aten.expm1 and packet.default in vars(packet).values()
    assert packet._dir == ["default"]
    library = torch.library.Library("contracts_test", "DEF")

    @bind_pattern_to_op(library, "twice(Tensor a) -> Tensor")
    def twice(a: torch.Tensor) -> torch.Tensor:
        return a + a

    bound = exir_ops.backend.contracts_test.twice.default
    assert bound._equivalent_callable is twice
    torch.testing.assert_close(bound(X), X + X)
    assert executorch_prims_lib.ns == "executorch_prim"


# ---- Passes ----


def test_a_tracer_of_ones_own() -> None:
    class Sines(ExportPass):
        pass

    tracer = ExportPass.ExportTracer(Sines(), CodeGen())
    node = tracer.graph.placeholder("x")
    assert tracer.create_arg([node, 3]) == [node, 3]
    tracer.set_metadata(node, X)
    assert node.meta["val"] is X and tracer.submodules == {} and tracer.tensor_attrs == {}
    constant = tracer.create_arg(torch.ones(1))
    assert constant.op == "get_attr" and len(tracer.tensor_attrs) == 1
    with pytest.raises(ExportPassBaseError, match="doesn't support trace"):
        tracer.trace()


def test_sizes_that_vary_go_on_varying() -> None:
    class Fixed(ExportPass):
        preserve = True

        def placeholder(self, name: str, arg: Any, meta: Any) -> Any:
            return super().placeholder(name, X, meta)

        def should_preserve_symbolic_input_metadata(self) -> bool:
            return self.preserve

    program = export(
        Call(lambda m, x: x.sin()), (X,), dynamic_shapes=(({0: Dim("n", min=2, max=8)},),)
    )
    with pytest.raises(
        ExportPassBaseError, match="Input at position 0 did not preserve symbolic metadata"
    ):
        Fixed()(program.graph_module)
    Fixed.preserve = False
    assert Fixed()(program.graph_module).modified


def test_a_pass_over_a_graph_cannot_add_inputs() -> None:
    def add(module: GraphModule) -> PassResult:
        first = next(iter(module.graph.nodes))
        with module.graph.inserting_before(first):
            module.graph.placeholder("extra").meta["val"] = first.meta["val"]
        return PassResult(module, True)

    with pytest.raises(Exception, match="'add' pass") as caught:
        to_edge(export(Call(lambda m, x: x.sin()), (X,))).transform([add])
    assert "doesn't support changing the placeholders" in str(caught.value.__cause__)


def test_operators_that_are_never_shared() -> None:
    assert "aten::native_dropout" in CSEPass.UNSAFE_OPS and len(CSEPass.UNSAFE_OPS) == 13

    class Careful(CSEPass):
        UNSAFE_OPS = CSEPass.UNSAFE_OPS | {"aten::sin"}

    def count(kind: type[CSEPass]) -> int:
        module = export(Call(lambda m, x: x.sin() + x.sin()), (X,)).graph_module
        return sum(n.target is aten.sin.default for n in kind()(module).graph_module.graph.nodes)

    assert (count(CSEPass), count(Careful)) == (1, 2)


def test_nothing_but_empty_tensors_is_an_empty_tensor() -> None:
    module = export(Call(lambda m, x: torch.cat([x, x])), (torch.ones(0, 3),)).graph_module
    (call,) = PruneEmptyTensorsPass()(module).graph_module.graph.find_nodes(
        op="call_function", target=edge_aten.full.default
    )
    assert (call.args, call.kwargs) == (((0, 3), 0), {"dtype": torch.float32})


def test_bounds_of_operators_and_hints() -> None:
    assert aten.nonzero.default in upper_bound_shape_inference_table
    with pytest.warns(FutureWarning, match="HintBasedSymShapeEvalPass"):
        HintBasedSymShapeEvalPass()


# ---- Memory ----


def test_an_algorithm_gets_a_list_and_gives_sizes() -> None:
    seen: list[Any] = []

    def algorithm(alignment: int, specs: Any, *others: Any) -> MemoryAlgoResult:
        seen.append((alignment, type(specs)))
        return greedy(alignment, specs, *others)

    planner = MemoryPlanningPass(memory_planning_algo=algorithm)
    config = ExecutorchBackendConfig(memory_planning_pass=planner)
    to_edge(export(Call(lambda m, x: x.sin().cos()), (X,))).to_executorch(config)
    assert seen[0] == (16, list) and REGISTERED_ALGOS == {}


def test_planning_without_the_signature_is_deprecated() -> None:
    module = (
        to_edge(export(Call(lambda m, x: x.sin()), (X,)))
        .to_executorch()
        .exported_program()
        .graph_module
    )
    with pytest.warns(FutureWarning, match="without the signature"):
        MemoryPlanningPass()(module)


def test_a_state_that_one_method_writes_is_read_by_another() -> None:
    class Steps(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("state", torch.zeros(2, 3))

        def write(self, x: torch.Tensor) -> torch.Tensor:
            self.state.add_(x)
            return x + 1

        def read(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.state

    steps, programs = Steps(), {}
    for name in ("write", "read"):
        steps.forward = getattr(steps, name)
        programs[name] = export(steps, (X,))
    planner = MemoryPlanningPass(share_mutable_buffers=True)
    plans = to_edge(programs).to_executorch(ExecutorchBackendConfig(memory_planning_pass=planner))
    places = {}
    for plan in plans.executorch_program.execution_plan:
        infos = [v.val.allocation_info for v in plan.values if hasattr(v.val, "allocation_info")]
        places[plan.name] = [
            i.memory_offset_low for i in infos if i is not None and i.memory_id == 2
        ]
        assert plan.non_const_buffer_sizes[2] == 32
    assert places["read"] == [0] and set(places["write"]) == {0}


def test_intervals_without_points_overlap_nothing() -> None:
    assert Verifier.has_overlap([0, 3], [2, 5]) and not Verifier.has_overlap([3, 1], [0, 9])


def test_a_graph_module_is_not_pretty() -> None:
    with pytest.raises(ExportError, match="pretty_print"):
        pretty_print(export(Call(lambda m, x: x.sin()), (X,)).graph_module)
