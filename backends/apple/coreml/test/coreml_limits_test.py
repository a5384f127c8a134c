# SPDX-License-Identifier: BSD-3-Clause
"""Both sides of every condition, what a model can be given and give, and the targets that it needs."""

from __future__ import annotations

from typing import Any

import pytest
import torch

ct = pytest.importorskip("coremltools")

import torchao.prototype.quantization.codebook_coreml  # noqa: E402, F401  defines operators
from torch.export import Dim, ExportedProgram  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from executorch.backends.apple.coreml.aot import (  # noqa: E402
    ops,
    package,
    specs,
    states,
    torchao_weights,
)
from executorch.backends.apple.coreml.aot.boundary import check_boundary  # noqa: E402
from executorch.backends.apple.coreml.aot.compiler import convert  # noqa: E402
from executorch.backends.apple.coreml.aot.frontend_program import adapt, adapt_more  # noqa: E402
from executorch.backends.apple.coreml.aot.translations import attention  # noqa: E402
from executorch.backends.apple.coreml.partition import CoreMLPartitioner  # noqa: E402
from executorch.backends.test.conformance.condition_cases import (  # noqa: E402
    Case,
    among,
    claimed_by,
    without_case,
)
from executorch.backends.test.conformance.single_call import Call, Data, program_of  # noqa: E402
from executorch.backends.test.corpus.row import Function, numbers  # noqa: E402
from executorch.exir import to_edge  # noqa: E402
from executorch.exir.backend.compile_spec_schema import CompileSpec  # noqa: E402
from executorch.exir.backend.lowering.external.compiler import Refused  # noqa: E402
from executorch.exir.backend.lowering.payload.options import OptionError  # noqa: E402
from executorch.exir.graph_facts import op_name  # noqa: E402

X, IMAGE = numbers(3, 4), numbers(2, 3, 4, 4)
q = torch.ops.quantized_decomposed
AFFINE, CODEBOOK = torchao_weights.AFFINE, torchao_weights.CODEBOOK
CLONE = "dim_order_ops._clone_dim_order.default"
BYTES, ONES, TWOS = (
    torch.arange(32, dtype=torch.int8).reshape(4, 8),
    torch.ones(4, 1),
    torch.ones(4, 2),
)


def call(name: str, *args: Any, **kwargs: Any) -> Call:
    return Call(name if name.count(".") > 1 else f"aten.{name}", args, kwargs)


def affine(block: list[int], low: int = -8, high: int = 7, data: Any = None) -> Call:
    """Groups of weights with a scale for each."""
    weights = Data(BYTES) if data is None else data
    rows, columns = BYTES.shape[0] // block[0], BYTES.shape[1] // block[1]
    return call(AFFINE, weights, block, Data(torch.ones(rows, columns)), None, torch.int8, low, high)  # fmt: skip


def cases() -> list[Case]:
    number, dtype, sizes = ops.TABLE.of_tensors
    data, matrix, groups, bits = torchao_weights.CONDITIONS[AFFINE]
    last, five = IMAGE.contiguous(memory_format=torch.channels_last), torch.zeros([2] * 5)
    norm, to = "instance_norm.default", "dim_order_ops._to_dim_order_copy.default"
    return [
        Case(number.reason, [among("mul.Scalar", lambda x: torch.ops.aten.mul.Scalar(x, x.sum().item()), X)]),
        Case(dtype.reason, [call("exp.default", X.double())],
             [call("abs.default", (X * 9).to(each)) for each in ops.DTYPES if each != torch.bool]),
        Case(sizes.reason, [call("exp.default", five[None])], [call("exp.default", five)]),
        Case(ops.NO_ALPHA, [call("add.Tensor", X, X, alpha=2), call("sub.Tensor", X, X, alpha=2),
             call("rsub.Scalar", X, 2.0, 3)],
             [call("add.Tensor", X, X), call("sub.Tensor", X, X, alpha=1), call("rsub.Scalar", X, 2.0)]),
        Case(ops.A_DIMENSION, [call("argmax.default", X), call("argmin.default", X, None)],
             [call("argmax.default", X, 0), call("argmin.default", X, 1, True)]),
        Case(ops.OWN_STATISTICS, [call(norm, IMAGE, None, None, *[torch.ones(3)] * 2, False, 0.1, 1e-5, False)],
             [call(norm, IMAGE, None, None, None, None, True, 0.1, 1e-5, False)]),
        Case(ops.MATRICES, [call("matmul.default", X, X[0]), call("matmul.default", X[:, 0], X)],
             [call("matmul.default", X, X.mT)]),
        Case(ops.CONTIGUOUS, [among(CLONE, lambda x: x.exp().clone(memory_format=torch.channels_last), IMAGE),
                              among(to, lambda x: x.half(), last)],
             [among(CLONE, torch.clone, IMAGE), among(to, lambda x: x.half(), IMAGE)]),
        Case(data, [affine([1, 4], data=BYTES)],
             [affine([1, 4]), among(AFFINE, lambda x: x[0, 0] * torch.ops.torchao.dequantize_affine.default(
                 BYTES[:, :4], [1, 4], ONES, None, torch.int8, -8, 7), X)]),
        Case(matrix, [call(AFFINE, Data(BYTES[None]), [1, 1, 4], Data(torch.ones(1, 4, 2)), None, torch.int8, -8,
             7)], [affine([1, 8])]),
        Case(groups, [affine([2, 4]), affine([4, 8])], [affine([1, 4]), affine([1, 2])]),
        Case(bits, [affine([1, 4], -4, 3), affine([1, 4], -8, 8), affine([1, 4], -127, 127)],
             [affine([1, 4], -8, 7), affine([1, 4], -128, 127)]),
    ]  # fmt: skip


def test_calls_on_both_sides() -> None:
    why_not = claimed_by(CoreMLPartitioner())
    assert [text for case in cases() for text in case.disagreements(why_not)] == []


def test_every_condition_has_calls_on_both_sides() -> None:
    known = {each.reason: each for row in ops.TABLE.values() for each in row.conditions}.values()
    tables = torchao_weights.CONDITIONS[CODEBOOK][-1]
    assert without_case(known, cases()) == {tables.reason}


def test_tables_of_numbers() -> None:
    """One for a group of rows or of columns, not of both; of numbers, not of vectors."""
    condition = torchao_weights.CONDITIONS[CODEBOOK][-1]
    for sizes, is_taken in (((4, 1, 16, 1), True), ((1, 2, 16, 1), True), ((2, 2, 16, 1), False),
                            ((4, 1, 16, 2), False), ((4, 16, 1), False), ((2, 2, 1, 1), False)):  # fmt: skip
        graph = torch.fx.Graph()
        codes, tables = graph.placeholder("codes"), graph.placeholder("tables")
        tables.meta["val"] = torch.zeros(sizes)
        node = graph.call_function(
            torch.ops.quant.dequantize_codebook.default, (codes, tables, 4, [1, 1])
        )
        assert condition.test(node, ()) is is_taken, sizes


def test_rows_are_of_calls_that_change_nothing() -> None:
    """As an edge program has them: none writes its arguments, and none is Python's own."""
    for name in ops.TABLE:
        space, operator, overload = name.split(".")
        op = getattr(getattr(getattr(torch.ops, space), operator), overload)
        assert not op._schema.is_mutable and not operator.endswith("_"), name


def test_what_is_wanted_whole() -> None:
    """Of a captured program: what has a row, but for views and what is left to decompose; and which calls of these are
    taken in a target."""

    def captured(x: torch.Tensor) -> torch.Tensor:
        rsub = torch.ops.aten.rsub.Scalar(F.gelu(x).view(4, 3).T.tril(), 2.0, 3)
        return torch.ops.aten.rsub.Scalar(rsub.lgamma(), 2.0)

    program = torch.export.export(Function(captured), (X,))
    wanted, is_taken = ops.preserved_ops(program, None)
    assert sorted(map(str, wanted)) == ["aten.gelu.default", "aten.rsub.Scalar"]
    calls = [node for node in program.graph.nodes if op_name(node) in map(str, wanted)]
    assert [is_taken(node) for node in calls] == [True, False, True]
    program = torch.export.export(Function(by_group), (X,))
    (call_of,) = (node for node in program.graph.nodes if op_name(node) == AFFINE)
    for target, is_preserved in ((None, True), (ct.target.iOS17, False), (ct.target.iOS18, True)):
        assert ops.preserved_ops(program, target)[1](call_of) is is_preserved


@pytest.mark.parametrize(("dropout", "has_fewer_keys"), [(0.5, False), (0.0, True)])
def test_attention_that_is_taken_in_pieces(dropout: float, has_fewer_keys: bool) -> None:
    with pytest.raises(NotImplementedError, match="no dropout, and as many keys as queries"):
        attention(None, None, None, None, dropout, False, None, has_fewer_keys)


# ---- The boundary ----


def edge(code: Any, *inputs: Any, **how: Any) -> ExportedProgram:
    module = code if isinstance(code, torch.nn.Module) else Function(code)
    return to_edge(torch.export.export(module, inputs, **how)).exported_program()


class Counter(torch.nn.Module):
    def __init__(self, start: float = 0.0, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.register_buffer("total", torch.full((3, 4), start, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        return self.total * 2


def test_what_a_model_cannot_be_given_or_give() -> None:
    """With the calls that are left for it: those that read an input, or the one that gives a result."""
    size = (({0: Dim("rows", min=2, max=9)},),)
    wide, empty = (
        "dtype float32, float16, int32, int64, int16, bool is expected",
        "tensors with elements",
    )
    for code, x, reason, names in (
        (lambda x: (x.relu() * 2, x), X.double(), wide, {"aten_relu_default"}),
        (lambda x: x.to(torch.uint8), X, wide, {"dim_order_ops__to_dim_order_copy_default"}),
        (torch.relu, X[:0], empty, {"aten_relu_default"}),
        (lambda x: x[:, 4:], X, empty, {"aten_slice_copy_tensor"}),
    ):
        with pytest.raises(Refused, match=reason) as refused:
            check_boundary(edge(code, x), None)
        assert refused.value.nodes == names and not refused.value.is_final
    with pytest.raises(
        Refused, match="a tensor is expected at the edge of a delegate, found SymInt"
    ):
        check_boundary(edge(lambda x: (x.relu(), x.shape[0]), X, dynamic_shapes=size), None)
    for x in (X, X.half(), (X * 9).int(), (X * 9).long(), (X * 9).short(), X > 0):
        check_boundary(edge(lambda x: x.view(4, 3), x), None)


def by_row(x: torch.Tensor) -> torch.Tensor:
    data, scale = BYTES, ONES
    return x @ torch.ops.torchao.dequantize_affine.default(data, [1, 8], scale, None, torch.int8, -128,
     127)  # fmt: skip


def by_group(x: torch.Tensor) -> torch.Tensor:
    data, scale = BYTES, TWOS
    return x @ torch.ops.torchao.dequantize_affine.default(data, [1, 4], scale, None, torch.int8, -128,
     127)  # fmt: skip


def by_row_of_4_bits(x: torch.Tensor) -> torch.Tensor:
    data, scale = BYTES.clamp(-8, 7), ONES
    return x @ torch.ops.torchao.dequantize_affine.default(
        data, [1, 8], scale, None, torch.int8, -8, 7
    )


def test_targets_that_are_needed() -> None:
    """The least; one that is asked for is no earlier, or it is said which calls need a later one."""
    iOS15, iOS16, iOS17, iOS18 = (ct.target[f"iOS{each}"] for each in (15, 16, 17, 18))
    for code, x, least, names in (
        (torch.relu, (X,), None, set()),
        (torch.relu, (X.half(),), iOS16, {"aten_relu_default"}),
        (by_row, (X,), iOS16, {"torchao_dequantize_affine_default"}),
        (by_group, (X,), iOS18, {"torchao_dequantize_affine_default"}),
        (by_row_of_4_bits, (X,), iOS18, {"torchao_dequantize_affine_default"}),
        (lambda x: by_group(x.float()), (X.half(),), iOS18, {"torchao_dequantize_affine_default"}),
        (lambda: torch.full((2,), 2.0) + 1, (), iOS18, set()),
        (Counter(), (X,), iOS18, set()),
    ):  # fmt: skip
        program = edge(code, *x)
        assert check_boundary(program, None) == least
        assert check_boundary(program, least or iOS15) == (least or iOS15)
        assert check_boundary(program, iOS18) == iOS18
        if least:
            before = iOS17 if least is iOS18 else iOS15
            with pytest.raises(
                Refused, match=f"needs minimum_deployment_target {least.name}"
            ) as refused:
                check_boundary(program, before)
            assert refused.value.is_final
            assert not names or names <= refused.value.nodes or before < iOS16


def rounded(x: torch.Tensor) -> torch.Tensor:
    numbers = (0.1, 3, -128, 127, torch.int8)
    stored = q.quantize_per_tensor.default(x.float(), *numbers)
    return q.dequantize_per_tensor.default(stored, *numbers)


def test_targets_that_coremltools_asks_for() -> None:
    """Versions of the format: 7 is iOS 16's, 8 is iOS 17's, which has the rounding to 8 bits."""
    for code, x, version in (
        (rounded, X, 8),
        (rounded, X.half(), 8),
    ):
        assert convert(edge(code, x), []).get_spec().specificationVersion == version


def test_buffers_that_can_be_states() -> None:
    """The first that a written buffer is not."""
    for model, target, reason in (
        (Counter(), None, ""),
        (Counter(), ct.target.iOS18, ""),
        (Counter(dtype=torch.float16), None, ""),
        (
            Counter(),
            ct.target.iOS17,
            "needs minimum_deployment_target iOS18 or later, iOS17 was asked for",
        ),
        (Counter(dtype=torch.int32), None, "is of float16, found int32"),
        (Counter(dtype=torch.float64), None, "is of float16, found float64"),
        (Counter(start=5.0), None, "is zero at the start, and this is not"),
    ):
        specs = [CompileSpec("min_deployment_target", str(target.value).encode())] if target else []
        x = X.to(model.total.dtype)
        (found,) = states.possible(edge(model, x), specs).values()
        assert found.endswith(reason) and bool(found) is bool(reason)
    assert states.possible(edge(torch.relu, X), []) == {}


def test_handles_are_those_of_the_payload() -> None:
    """Of each of a payload's operations, which the program's calls have."""
    program = edge(lambda x: x.relu() * 2, X)
    for handle, node in enumerate(each for each in program.graph.nodes if op_name(each)):
        node.meta["debug_handle"] = handle + 5
    found = package.result_of(package.payload_of(convert(program, []), specs.MODEL_TYPE.MODEL))
    assert {each for handles in found.debug_handle_map.values() for each in handles} <= {5, 6}


# ---- Compile specs ----


def test_what_compile_specs_say() -> None:
    """The first of a key holds; what nobody says is as documented."""
    kinds, sharing = specs.MODEL_TYPE, specs.MULTIMETHOD_WEIGHT_SHARING_STRATEGY
    for read, key, default, rows in (
        (specs.compute_unit, "compute_units", ct.ComputeUnit.ALL,
         {"cpu_only": ct.ComputeUnit.CPU_ONLY, "cpu_and_ne": ct.ComputeUnit.CPU_AND_NE}),
        (specs.min_deployment_target, "min_deployment_target", None,
         {str(each.value): each for each in (ct.target.iOS15, ct.target.iOS18)}),
        (specs.compute_precision, "model_compute_precision", ct.precision.FLOAT16,
         {each.value: each for each in (ct.precision.FLOAT16, ct.precision.FLOAT32)}),
        (specs.model_type, "model_type", kinds.MODEL, {each.value: each for each in kinds}),
        (specs.weight_sharing, "multimethod_weight_sharing_strategy", sharing.POSITIONAL,
         {each.value: each for each in sharing}),
    ):  # fmt: skip
        assert read([]) == default, key
        for text, meant in rows.items():
            compile_specs = [
                CompileSpec("other", b"x"),
                CompileSpec(key, text.encode()),
                CompileSpec(key, b"nobody's"),
            ]
            assert read(compile_specs) == meant, (key, text)
        specs.check_keys([CompileSpec(key, b"")])
    assert specs.enumerated_shapes([]) is None and specs.op_linear_quantizer_config([]) is None
    assert specs.pass_pipeline([]).passes == ct.PassPipeline.DEFAULT.passes
    with pytest.raises(OptionError, match="compile spec other: expected one of compute_units, "):
        specs.check_keys([CompileSpec("other", b"x")])


# ---- Arguments ----


def test_arguments_are_written_out() -> None:
    """As the frontend counts them; numbers beside floats are floats, and a correction that is left out is 1."""
    whole = (X * 9).int()
    pool = torch.ops.aten.max_pool2d_with_indices.default
    for code, x, name, args, kwargs in (
        (lambda x: pool(x, [2, 2])[0], IMAGE, "aten.max_pool2d_with_indices.default",
         ([2, 2], [2, 2], [0, 0], [1, 1], False), {}),
        (lambda x: pool(x, [2, 2], [1, 1])[0], IMAGE, "aten.max_pool2d_with_indices.default",
         ([2, 2], [1, 1], [0, 0], [1, 1], False), {}),
        (lambda x: F.avg_pool2d(x, 2), IMAGE, "aten.avg_pool2d.default", ([2, 2], [2, 2],
         [0, 0], False, True, None), {}),
        (lambda x: F.hardtanh(x, 0, 6), X, "aten.hardtanh.default", (0.0, 6.0), {}),
        (lambda x: x + 2, X, "aten.add.Tensor", None, {}),
        (lambda x: torch.ops.aten.mul.Scalar(x, 3), whole, "aten.mul.Scalar", (3,), {}),
        (lambda x: torch.ops.aten.var.correction(x, [1]), X, "aten.var.correction", ([1],), {"correction": 1}),
        (lambda x: torch.ops.aten.var.correction(x, [1], correction=0), X, "aten.var.correction", ([1],),
         {"correction": 0}),
    ):  # fmt: skip
        program = among(name, code, x).program()
        adapt(program)
        (node,) = (each for each in program.graph.nodes if op_name(each) == name)
        assert args is None or repr(node.args[1:]) == repr(args), name
        assert dict(node.kwargs) == kwargs, name


def test_a_call_that_the_frontend_counted_is_written_out_once() -> None:
    """Where it then has as many arguments as are expected."""
    message = "node {} ({}) got 2 input(s), expected [{}]"
    for name, count, is_of_use in (
        ("aten_cumsum_default", 3, True),
        ("aten_cumsum_default", 4, False),
        ("other", 3, False),
    ):
        program = program_of(call("cumsum.default", X, 1))
        (node,) = (each for each in program.graph.nodes if op_name(each))
        node.args = node.args[:2]
        found = adapt_more(program, ValueError(message.format(name, "cumsum", count)))
        assert found is False or len(node.args) == count
        assert not adapt_more(program, ValueError("something else"))
        assert found is (is_of_use and count == len(node.args))
