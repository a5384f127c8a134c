# SPDX-License-Identifier: BSD-3-Clause
"""What each pass of aot/passes.py makes of a few calls, and what it leaves as it is. Values are the same after each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram

from executorch.backends.cadence.aot import passes, programs, table
from executorch.backends.test.conformance.single_call import OPERAND, RESULT, Numbers
from executorch.exir import to_edge
from executorch.exir.backend.lowering.table_pass import TablePass
from executorch.exir.graph_facts import op_name

_OF = torch.ops.quantized_decomposed
WIDE: Numbers = (0.01, 5, -32768, 32767, torch.int16)
NARROW: Numbers = (0.05, 3, -127, 127, torch.int8)
HIGH: Numbers = (0.04, -9, -128, 100, torch.int8)
LONG: Numbers = (0.01, 5, -(2**31), 2**31 - 1, torch.int32)
BYTES: Numbers = (0.05, 3, 0, 255, torch.uint8)
WORDS: Numbers = (0.05, 3, 0, 65535, torch.uint16)
X, PHOTO = torch.randn(2, 3, 4), torch.randn(1, 2, 3, 4)


def stored(x: Tensor, numbers: Numbers = OPERAND) -> Tensor:
    return _OF.quantize_per_tensor(x, *numbers)


def floats(x: Tensor, numbers: Numbers = OPERAND) -> Tensor:
    return _OF.dequantize_per_tensor(x, *numbers)


def between(x: Tensor, numbers: Numbers = OPERAND) -> Tensor:
    return floats(stored(x, numbers), numbers)


def same(x: Tensor) -> Tensor:
    return torch.ops.aten.view_copy.default(x, x.shape)


def scaled(x: Tensor, number: float) -> Tensor:
    return torch.ops.aten.mul.Scalar(x, number)


class Calls(nn.Module):
    def __init__(self, compute: Callable[..., Any]) -> None:
        super().__init__()
        self.compute = compute

    def forward(self, x: Tensor) -> Any:
        return self.compute(x)


def program_of(compute: Callable[..., Any], x: Tensor) -> ExportedProgram:
    return to_edge(torch.export.export(Calls(compute), (x,))).exported_program()


def names(program: ExportedProgram) -> list[str]:
    nodes = [node for node in program.graph.nodes if node.op == "call_function"]
    return [op_name(node).split(".")[1].removesuffix("_per_tensor") for node in nodes]


VIEW, QUANTIZE, DEQUANTIZE = "view_copy", "quantize", "dequantize"
BOTH = [QUANTIZE, DEQUANTIZE]
Case = tuple[Callable[..., Any], list[str]]  # calls, and the names of those that are left

NOPS: list[Case] = [
    (lambda x: same(x).abs(), ["abs"]),
    (lambda x: x[:, 0:3].abs(), ["abs"]),
    (lambda x: x.expand(2, -1, 4).abs(), ["abs"]),
    (lambda x: same(x) + x[:, :2].sum(), ["slice_copy", "sum", "add"]),
    (lambda x: x.reshape(3, 2, 4).abs(), [VIEW, "abs"]),
    (lambda x: x[:, 1:].abs(), ["slice_copy", "abs"]),
    (lambda x: x.relu().abs(), ["relu", "abs"]),
    # A copy that is given to the caller stays, as that of two readers does.
    (lambda x: same(x.abs()), ["abs", VIEW]),
    (lambda x: [y := same(x.abs()), y.neg()], ["abs", VIEW, "neg"]),
    (lambda x: same(same(x.abs())), ["abs", VIEW]),
]
POSTPONED: list[Case] = [
    (lambda x: between(x).reshape(-1) + 1, [QUANTIZE, VIEW, DEQUANTIZE, "add"]),
    (lambda x: between(x).permute(1, 0, 2) + 1, [QUANTIZE, "permute_copy", DEQUANTIZE, "add"]),
    (lambda x: between(x).amax(1), [QUANTIZE, "amax", DEQUANTIZE]),
    (lambda x: between(x)[:, 1] + 1, [QUANTIZE, "select_copy", DEQUANTIZE, "add"]),
    # A dequantize that is read by others, too, is there twice.
    (
        lambda x: [y := between(x), y.reshape(-1) + 1],
        [QUANTIZE, DEQUANTIZE, VIEW, DEQUANTIZE, "add"],
    ),
    (lambda x: x.reshape(-1) + 1, [VIEW, "add"]),
    (lambda x: between(x).abs(), [*BOTH, "abs"]),
    (lambda x: between(x).to(torch.float64), [*BOTH, "_to_dim_order_copy"]),
    (lambda x: torch.cat([between(x), x]), [*BOTH, "cat"]),
    (lambda x: nn.functional.pad(between(x), (1, 1), value=0.5), [*BOTH, "constant_pad_nd"]),
    (lambda x: between(x, NARROW).reshape(-1), [QUANTIZE, VIEW, DEQUANTIZE]),
]
ADVANCED: list[Case] = [
    (lambda x: floats(stored(x.reshape(-1))), [QUANTIZE, VIEW, DEQUANTIZE]),
    (
        lambda x: floats(stored(x.reshape(-1).reshape(4, 6))),
        [QUANTIZE, VIEW, VIEW, DEQUANTIZE],
    ),
    (lambda x: floats(stored(x.amin(1))), [QUANTIZE, "amin", DEQUANTIZE]),
    (lambda x: floats(stored(x.abs())), ["abs", *BOTH]),
    (lambda x: [y := x.reshape(-1), between(y)], [VIEW, *BOTH]),
    (lambda x: floats(stored(x.to(torch.float32))), BOTH),
    (lambda x: floats(stored(torch.cat([x, x * 2]))), ["mul", "cat", *BOTH]),
    (lambda x: between(nn.functional.pad(x, (1, 1), value=0.5)), ["constant_pad_nd", *BOTH]),
    (lambda x: between(x.reshape(-1), NARROW), [QUANTIZE, VIEW, DEQUANTIZE]),
]
SCALED: list[Case] = [
    (lambda x: scaled(between(x), 0.5), BOTH),
    (lambda x: scaled(scaled(between(x), 0.5), 0.25), [*BOTH, "mul"]),
    (lambda x: scaled(between(x), 0.0), [*BOTH, "mul"]),
    (lambda x: scaled(between(x), -0.5), [*BOTH, "mul"]),
    (lambda x: scaled(x, 0.5), ["mul"]),
    (lambda x: between(x) + 0.5, [*BOTH, "add"]),
    (lambda x: between(x) * x, [*BOTH, "mul"]),
]
PASSES = {
    passes.RemoveNopSliceOrViewOpPass: NOPS,
    passes.PostponeDequantizeOpBelowUseChainPass: POSTPONED,
    passes.AdvanceQuantizeOpAboveDefChainPass: ADVANCED,
    passes.FuseMulScalarIntoDequantPass: SCALED,
}


@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.__name__)
def test_what_a_pass_makes(one: Any) -> None:
    for place, (compute, expected) in enumerate(PASSES[one]):
        program = program_of(compute, X)
        wanted = program.module()(X)
        one()(program.graph_module)
        assert names(program) == expected, place
        torch.testing.assert_close(program.module()(X), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", (torch.int32, torch.float64))
def test_another_dtype_is_not_moved(dtype: torch.dtype) -> None:
    program = program_of(lambda x: between(x.to(torch.float32)), X.to(dtype))
    passes.AdvanceQuantizeOpAboveDefChainPass()(program.graph_module)
    assert names(program) == ["_to_dim_order_copy", *BOTH]


def test_scales_by_channel_are_not_moved() -> None:
    class ByChannel(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scales = nn.Buffer(torch.tensor([0.1, 0.2]))
            self.points = nn.Buffer(torch.zeros(2, dtype=torch.int64))

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            of = (self.scales, self.points, 0, -128, 127, torch.int8)
            value = _OF.dequantize_per_channel(_OF.quantize_per_channel(x, *of), *of)
            more = _OF.quantize_per_channel(x.permute(0, 2, 1), *of)
            return scaled(value.permute(1, 0, 2), 0.5), _OF.dequantize_per_channel(more, *of)

    program = to_edge(torch.export.export(ByChannel(), (X,))).exported_program()
    before = names(program)
    for one in PASSES:
        one()(program.graph_module)
    assert names(program) == before


# Numbers before and behind, and whether the dequantize and quantize between become one call.
REQUANTIZED = [
    (OPERAND, RESULT, True),
    (OPERAND, WIDE, True),
    (WIDE, BYTES, True),
    (OPERAND, HIGH, False),
    (NARROW, RESULT, False),
    (LONG, RESULT, False),
    (OPERAND, WORDS, False),
]


@pytest.mark.parametrize(("before", "behind", "is_one"), REQUANTIZED)
def test_requantizing(before: Numbers, behind: Numbers, is_one: bool) -> None:
    x = torch.randint(0, 100, (2, 3)).to(before[-1])
    program = program_of(lambda x: stored(floats(x, before), behind), x)
    wanted = program.module()(x)
    found = TablePass(table.TABLE, program)(program.graph_module).graph_module
    assert [op_name(node) for node in found.graph.nodes if node.op == "call_function"] == (
        ["cadence.requantize.per_tensor"]
        if is_one
        else [f"quantized_decomposed.{each}_per_tensor.default" for each in BOTH[::-1]]
    )
    assert torch.equal(found(x)[0], wanted)


def test_stored_values_in_another_order_are_not_requantized() -> None:
    program = program_of(lambda x: stored(floats(x).permute(0, 2, 1), RESULT), stored(X))
    assert TablePass(table.TABLE, program).why_not(program.graph_module) == {}
    x = stored(PHOTO.to(memory_format=torch.channels_last))
    program = program_of(lambda x: stored(floats(x), RESULT), x)
    (reason,) = TablePass(table.TABLE, program).why_not(program.graph_module).values()
    assert reason.startswith("contiguous int8, uint8 or int16")


# Of kernels: numbers up to 32 bits, floats of 32.
LEFT: list[tuple[Callable[..., Any], Tensor, int]] = [
    (lambda x: between(x), X, 2),
    *((lambda x, n=numbers: between(x, n), X, 2) for numbers in (NARROW, HIGH, WIDE, LONG)),
    *((lambda x, n=numbers: between(x, n), X, 2) for numbers in (BYTES, WORDS)),
    (lambda x: between(x), PHOTO.to(memory_format=torch.channels_last), 0),
    (lambda x: between(x), X.transpose(0, 1), 0),
    (
        lambda x: _OF.dequantize_per_tensor(stored(x), *OPERAND, out_dtype=torch.float16),
        X,
        1,
    ),
]


@pytest.mark.parametrize(("compute", "x", "count"), LEFT)
def test_what_is_left_between_floats_and_bytes(
    compute: Callable[..., Any], x: Tensor, count: int
) -> None:
    program = program_of(compute, x)
    wanted = program.module()(x)
    found = TablePass(table.QUANTIZE_TABLE)(program.graph_module).graph_module
    own = [op_name(node) for node in found.graph.nodes if op_name(node).startswith("cadence.")]
    assert len(own) == count
    assert torch.equal(found(x)[0], wanted)


def test_levels() -> None:
    counts = [len(passes.get_passes_in_default_order(level)) for level in (0, 1, 2, 3)]
    assert counts == [1, 13, 14, 14]
    assert len(passes.get_passes_in_default_order()) == 13


def test_names_and_files(tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    program = program_of(lambda x: (x.abs() + 1).abs(), X)
    counts = programs.get_ops_count(program.graph_module)
    assert counts == {"aten.abs.default": 2, "aten.add.Tensor": 1}
    after = program_of(lambda x: x.abs() * x, X).graph_module
    with caplog.at_level("INFO"):
        programs.print_ops_info(program.graph_module, after)
    assert [line.split() for line in caplog.messages[-1].splitlines()] == [
        ["Final", "Operators", "Final", "Export"],
        ["aten.abs.default", "1", "2"],
        ["aten.mul.Tensor", "1", "0"],
        ["aten.add.Tensor", "0", "1"],
    ]
    nothing = program_of(lambda x: x, X).graph_module
    with caplog.at_level("INFO"):
        programs.print_ops_info(nothing, nothing)
    assert sum("Final Operators" in each for each in caplog.messages) == 1
    path = tmp_path / "a" / "b" / "m.pte"
    for data in (b"1", b"22"):
        assert programs.written(path, data).read_bytes() == data
    assert programs.with_end("m.pte", ".pte") == programs.with_end("m", ".pte") == "m.pte"
