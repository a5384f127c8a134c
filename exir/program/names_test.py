# SPDX-License-Identifier: BSD-3-Clause
"""What code imports from the programs' modules beside the managers: transforms of one program, fake programs,
verifiers, the captures before torch.export."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest
import torch
from torch._export.verifier import SpecViolationError
from torch.export import ExportedProgram, export
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch import exir
from executorch.exir import CaptureConfig, EdgeCompileConfig, EdgeProgramManager, to_edge
from executorch.exir._program_utils import (
    _get_updated_graph_signature,
    _get_updated_range_constraints,
)
from executorch.exir.capture._capture import patch_forward
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.operator.convert import (
    get_out_args_from_opoverload,
    is_inplace_variant,
    is_out_variant,
    output_to_aliased_input_map,
    parse_qualified_opname,
    to_out_variant,
    unwrap_op_overload,
)
from executorch.exir.operator.util import _QUANT_PRIMITIVES, gen_out_variant_schema
from executorch.exir.program._fake_program import get_fake_program, update_to_real_program
from executorch.exir.program._program import (
    _to_edge,
    _transform,
    _update_exported_program_graph_module,
    lift_constant_tensor_pass,
)
from executorch.exir.program_copies import own_copy
from executorch.exir.tracer import _default_decomposition_table, dispatch_trace, flatten_output
from executorch.exir.verification.arg_validator import (
    EdgeOpArgValidator,
    RunHigherOrderOperatorError,
)
from executorch.exir.verification.verifier import (
    EXIRATenDialectVerifier,
    EXIREdgeDialectVerifier,
    get_aten_verifier,
)

aten = torch.ops.aten
X = torch.randn(2, 3)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)
        self.register_buffer("offset", torch.arange(4.0))

    def forward(self, x: torch.Tensor, others: list[torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"out": self.linear(x).relu() + self.offset * 2.0 + others[0]}


INPUTS = (X, [torch.ones(4)])


def edge_of(module: torch.nn.Module, *inputs: Any, **options: Any) -> ExportedProgram:
    config = EdgeCompileConfig(**options)
    return to_edge(export(module, inputs), compile_config=config).exported_program()


def test_names_of_the_package() -> None:
    assert exir.ExportedProgram is ExportedProgram and exir.Value is Any
    assert exir.ExportGraphSignature is torch.export.graph_signature.ExportGraphSignature
    program = importlib.import_module("executorch.exir.program._program")
    assert program.ExirExportedProgram is exir.ExirExportedProgram
    with pytest.raises(AttributeError):
        program.nothing  # noqa: B018
    for place in (
        "exir.passes.pass_registry",
        "exir.program._program",
        "export.recipe",
        "export.stages",
    ):
        assert hasattr(importlib.import_module(f"executorch.{place}"), "PassType")
    assert importlib.import_module("executorch.exir.version").EXECUTORCH_SCHEMA_VERSION == 0


def test_a_transform_of_one_program() -> None:
    program = export(Model(), INPUTS)

    def rename(module: GraphModule) -> PassResult:
        next(iter(module.graph.nodes))._rename("renamed")
        return PassResult(module, True)

    assert _transform(program) is program
    after = _transform(program, rename)
    assert after is not program
    for one in (after, program):  # the pass has worked in place
        assert one.graph_signature.input_specs[0].arg.name == "renamed"
    for wrong in ([rename], EXIREdgeDialectVerifier(class_only=True)):
        with pytest.raises(AssertionError, match="override_verifiers"):
            _transform(program, wrong)


def test_a_program_over_another_graph() -> None:
    dim = torch.export.Dim("n", min=2, max=9)
    program = export(Model(), INPUTS, dynamic_shapes=({0: dim}, [None]))
    copy = own_copy(program)
    again = _update_exported_program_graph_module(program, copy.graph_module)
    assert again.graph_module is not program.graph_module
    assert _get_updated_graph_signature(program.graph_signature, copy.graph_module) is not None
    (values,) = _get_updated_range_constraints(copy.graph_module).values()
    assert (values.lower, values.upper) == (2, 9)
    torch.testing.assert_close(again.module()(*INPUTS), program.module()(*INPUTS))


def test_tensors_of_a_graph_module_are_lifted() -> None:
    program = own_copy(export(Model(), INPUTS))
    module = program.graph_module
    module.scale = torch.tensor(3.0)
    with module.graph.inserting_before(module.graph.output_node()):
        held = module.graph.get_attr("scale")
        (result,) = module.graph.output_node().args[0]
        product = module.graph.call_function(aten.mul.Tensor, (result, held))
        product.meta["val"] = result.meta["val"]
    module.graph.output_node().args = ((product,),)
    program._graph_signature = _get_updated_graph_signature(program.graph_signature, module)
    assert lift_constant_tensor_pass(program) is program
    assert len(program.constants) == 1 and not module.graph.find_nodes(op="get_attr")


def test_fake_programs_hold_no_data() -> None:
    program = export(Model(), INPUTS)
    fake = get_fake_program(program)
    assert all(isinstance(t, torch._subclasses.FakeTensor) for t in fake.state_dict.values())
    assert not isinstance(program.state_dict["offset"], torch._subclasses.FakeTensor)
    update_to_real_program(fake, program)
    assert fake.state_dict["offset"] is program.state_dict["offset"]


def test_the_edge_verifier_on_programs_and_graphs() -> None:
    exported, verify = export(Model(), INPUTS), EXIREdgeDialectVerifier()
    program = to_edge(exported).exported_program()
    assert verify(program) is None and verify(program.graph_module) is None
    assert verify.is_valid(program.graph_module) and not verify.is_valid(exported.graph_module)
    with pytest.raises(SpecViolationError, match="is not an Edge operator"):
        verify(exported)
    assert EXIREdgeDialectVerifier(class_only=True)().check(program) is None
    EXIREdgeDialectVerifier(EdgeCompileConfig(_check_ir_validity=False))(exported)
    assert program.dialect == "EDGE"


def test_dim_orders_and_memory_formats_do_not_mix() -> None:
    class Cast(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.to(torch.float64)

    new, old = edge_of(Cast(), X), edge_of(Cast(), X, _skip_dim_order=True)
    without = EXIREdgeDialectVerifier(EdgeCompileConfig(_skip_dim_order=True))
    EXIREdgeDialectVerifier()(new)
    without(old)
    with pytest.raises(SpecViolationError, match="should not be used in dim_order mode"):
        EXIREdgeDialectVerifier()(old)
    with pytest.raises(SpecViolationError, match="should not be used in non-dim_order mode"):
        without(new)


def test_the_edge_verifier_knows_dtypes() -> None:
    class Multiply(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.mm(x, x)

    program = own_copy(edge_of(Multiply(), torch.ones(2, 2)))
    first = next(iter(program.graph.nodes))
    first.meta["val"] = first.meta["val"].to(torch.int64)
    with pytest.raises(SpecViolationError, match="mismatched dtypes"):
        EXIREdgeDialectVerifier()(program.graph_module)


def test_the_aten_verifier_wants_core_operators() -> None:
    det = aten._linalg_det.default
    with pytest.raises(SpecViolationError, match="not in Core ATen opset") as caught:
        EXIRATenDialectVerifier().check_valid_op(det)
    assert "_core_aten_ops_exception_list=[torch.ops.aten._linalg_det.default]" in str(caught.value)
    EXIRATenDialectVerifier(core_aten_ops_exception_list=[det]).check_valid_op(det)
    EXIRATenDialectVerifier().check_valid_op(aten.add.Tensor)
    unchecked = get_aten_verifier(EdgeCompileConfig(_check_ir_validity=False))
    assert unchecked.dialect == "OLD_EXIR_ATEN_DISABLED"
    with pytest.raises(RuntimeError, match=r"Cannot preserve operator.*because it is a view"):
        EXIREdgeDialectVerifier(preserve_ops=[aten.view.default])


@pytest.mark.parametrize("option", ["core_aten_ops_exception_list", "preserve_ops"])
def test_operators_that_a_manager_lets_pass_stay_let(option: str) -> None:
    """In its own check and in those of later steps."""
    det = aten._linalg_det.default
    exported = torch.export.export(torch.nn.Identity(), (torch.eye(2),))
    program = to_edge(exported).exported_program()
    (value,) = program.graph.output_node().args[0]
    with program.graph.inserting_before(program.graph.output_node()):
        node = program.graph.call_function(det, (value,))
    node.meta["val"] = det(value.meta["val"])
    with pytest.raises(SpecViolationError, match="_linalg_det"):
        EdgeProgramManager(program)
    manager = EdgeProgramManager(program, **{option: [det]})

    class Again(PassBase):
        def call(self, graph_module: torch.fx.GraphModule) -> PassResult:
            return PassResult(graph_module, True)

    after = manager.transform([Again()])
    assert det in [n.target for n in after.exported_program().graph.nodes]
    field = option if option == "preserve_ops" else f"_{option}"
    assert getattr(after.compile_config, field) == [det]


# ---- Captures before torch.export ----


@pytest.fixture(autouse=True)
def _no_deprecation() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize(
    "config",
    [
        None,
        CaptureConfig(),
        CaptureConfig(enable_aot=True),
        CaptureConfig(enable_aot=True, _unlift=True),
    ],
    ids=["default", "dynamo", "aot", "aot-unlifted"],
)
def test_captured_programs_run_and_lower(config: CaptureConfig | None) -> None:
    model = Model().eval()
    captured = exir.capture(model, INPUTS, config)
    lifted = config is not None and config.enable_aot and not config._unlift
    assert bool(captured.exported_program.state_dict) == lifted
    expected = model(*INPUTS)
    torch.testing.assert_close(captured(*INPUTS), expected)
    lowered = captured.to_edge()
    assert lowered is not captured and lowered.after_to_edge_passes
    torch.testing.assert_close(lowered(*INPUTS), expected)
    program = _to_edge(captured, EdgeCompileConfig()).to_executorch().program
    assert program.execution_plan[0].name == "forward"
    with pytest.raises(RuntimeError, match=r"Must run to_edge before to_executorch\."):
        captured.to_executorch()


def test_a_capture_names_its_nodes_as_before() -> None:
    graph = exir.capture(Model(), INPUTS).exported_program.graph
    names = [node.name for node in graph.nodes]
    assert names[:3] == ["arg0_1", "arg1_1", "_param_constant0"]
    assert isinstance(graph.output_node().args[0], list)


@pytest.mark.parametrize(
    ("args", "config", "code", "text"),
    [
        ([X], None, ExportErrorType.INVALID_INPUT_TYPE, "Expect `args` to be a tuple"),
        ((X,), CaptureConfig(_unlift=True), ExportErrorType.NOT_SUPPORTED, "_unlift"),
        (
            (X,),
            CaptureConfig(enable_aot=True, enable_dynamic_shape=True),
            ExportErrorType.NOT_SUPPORTED,
            "dynamic",
        ),
    ],
)
def test_what_a_capture_refuses(args: Any, config: Any, code: Any, text: str) -> None:
    with pytest.raises(ExportError, match=text) as caught:
        exir.capture(torch.nn.ReLU(), args, config)
    assert caught.value.error_code == code
    assert str(caught.value).startswith(f"[ExportErrorType.{code.name}]: ")


def test_a_dispatch_trace_writes_what_runs() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        return x + y, {"a": x.sin() * 2}

    module = dispatch_trace(function, (X, X))
    assert [node.name for node in module.graph.nodes] == [
        "ph_0",
        "ph_1",
        "add_tensor",
        "sin_default",
        "mul_tensor",
        "output",
    ]
    torch.testing.assert_close(module(X, X), [X + X, X.sin() * 2])
    traced = torch.fx.symbolic_trace(function)
    flatten_output(traced)
    torch.testing.assert_close(traced(X, X), [X + X, X.sin() * 2])


def test_forward_may_be_another_for_a_while() -> None:
    model = torch.nn.ReLU()
    with patch_forward(model, lambda self, x: x + 1):
        torch.testing.assert_close(model(-X), 1 - X)
    torch.testing.assert_close(model(-X), torch.relu(-X))


def test_the_decomposition_table() -> None:
    table = _default_decomposition_table()
    assert aten.linear.default in table and aten.linalg_vector_norm.default in table
    assert not any(op in table for op in _QUANT_PRIMITIVES) and len(_QUANT_PRIMITIVES) >= 8
    assert set(_default_decomposition_table(True)) >= {aten.ones.default, aten.transpose.int}


# ---- Operators ----


def test_operators_and_their_variants() -> None:
    add = exir_ops.edge.aten.add.Tensor
    assert unwrap_op_overload(add) is unwrap_op_overload(aten.add.Tensor) is aten.add.Tensor
    with pytest.raises(TypeError, match=r"expected a torch\._ops\.OpOverload"):
        unwrap_op_overload(torch.add)
    assert to_out_variant(add) == (aten.add.out, ("out",))
    with pytest.raises(RuntimeError, match="Missing out variant for functional op"):
        to_out_variant(aten.sym_size.int)
    assert is_out_variant("aten::add", "out") and not is_out_variant("aten::add", "Tensor")
    assert is_inplace_variant("aten::add_", "Tensor")
    assert get_out_args_from_opoverload(aten.topk.values) == ("values", "indices")
    with pytest.raises(AssertionError, match="Expect an out variant"):
        get_out_args_from_opoverload(aten.add.Tensor)
    assert output_to_aliased_input_map(aten.topk.values._schema) == {0: 5, 1: 6}
    assert output_to_aliased_input_map(aten.add_.Tensor._schema) == {0: 0}
    assert parse_qualified_opname("aten::add") == ("aten", "add")
    with pytest.raises(RuntimeError, match="Invalid qualified_opname"):
        parse_qualified_opname("add")


@pytest.mark.parametrize(
    ("schema", "out"),
    [
        ("ns::f(Tensor a) -> Tensor", "ns::f.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)"),
        (
            "ns::f.x(Tensor a, *, bool k=True) -> Tensor",
            "ns::f.x_out(Tensor a, *, bool k=True, Tensor(a!) out) -> Tensor(a!)",
        ),
        (
            "ns::f(Tensor a, int b=1) -> (Tensor, Tensor)",
            "ns::f.out(Tensor a, int b=1, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
        ),
        ("ns::f(Tensor a) -> Tensor[]", "ns::f.out(Tensor a, *, Tensor(a!)[] out) -> ()"),
        (
            "aten::add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
            "aten::add.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
        ),
    ],
)
def test_schemas_of_out_variants(schema: str, out: str) -> None:
    assert gen_out_variant_schema(schema) == out
    torch._C.parse_schema(out)


def test_results_that_are_no_tensors_have_no_out_variant() -> None:
    with pytest.raises(AssertionError, match="at least one tensor-like return"):
        gen_out_variant_schema("ns::f(int a) -> int")


def test_graphs_are_run_to_judge_their_dtypes() -> None:
    class Doubled(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + x

    square = torch.ones(2, 2)
    module = edge_of(Doubled(), square).graph_module
    good, bad = EdgeOpArgValidator(module), EdgeOpArgValidator(module)
    good.run(square)
    assert good.violating_ops == {}
    bad.run(square.to(torch.complex64))  # a dtype that edge.yaml does not list
    ((op, (dtypes, node)),) = bad.violating_ops.items()
    assert op is exir_ops.edge.aten.add.Tensor and node.target is op
    assert dtypes == dict.fromkeys(("self", "other", "__ret_0"), torch.complex64)

    class Branch(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))

    with pytest.raises(RunHigherOrderOperatorError, match="cond"):
        EdgeOpArgValidator(edge_of(Branch(), square).graph_module).run(square)
