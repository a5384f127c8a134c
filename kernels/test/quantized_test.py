# SPDX-License-Identifier: BSD-3-Clause
"""Quantized kernels against PyTorch's decomposed operators, or against the formula where PyTorch has none."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed

from executorch.codegen.schema import Schema
from kernels.test.error_text_test import is_reported
from kernels.test.kernel_call import Call, load_library, load_schemas

REFERENCE = torch.ops.quantized_decomposed
Shapes = tuple[int, ...]
RANGES = {
    torch.int8: (-128, 127), torch.uint8: (0, 255), torch.int16: (-32768, 32767),
    torch.int32: (-(2**31), 2**31 - 1),
}  # fmt: skip
SMALL = [torch.int8, torch.uint8, torch.int16]
SHAPES: list[Shapes] = [(3, 5), (2, 3, 4, 5), (7,), (0, 3), (2, 300)]


@cache
def library() -> ModuleType:
    return load_library("quantized")


@cache
def schemas() -> dict[str, Schema]:
    return load_schemas("quantized")


def run(name: str, inputs: list[Any], like: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """The kernel's outputs, which are resized from larger ones; fails when the kernel does."""
    call = make_call(name, inputs, like, dynamic=True)
    assert call.run() == 0, f"{name} failed"
    return call.results()


def make_call(
    name: str, inputs: list[Any], like: tuple[torch.Tensor, ...], dynamic: bool = False
) -> Call:
    schema = schemas()[f"quantized_decomposed::{name}"]
    call = Call(library(), schema, dynamic)
    arguments = [a for a in schema.arguments if not a.is_out]
    for argument, value in zip(arguments, inputs, strict=True):
        call.add_input(argument, value)
    call.add_outputs(like)
    return call


def floats(shape: Shapes, dtype: torch.dtype = torch.float32, scale: float = 2.0) -> torch.Tensor:
    return (torch.randn(shape, generator=torch.Generator().manual_seed(5)) * scale).to(dtype)


def codes(shape: Shapes, dtype: torch.dtype) -> torch.Tensor:
    low, high = RANGES[dtype]
    generator = torch.Generator().manual_seed(9)
    return torch.randint(low, high + 1, shape, generator=generator).to(dtype)


def layouts(x: torch.Tensor) -> list[torch.Tensor]:
    """The tensor, and in memory order of channels last and of reversed dimensions."""
    reverse = tuple(reversed(range(x.dim())))
    found = [x, torch.empty_permuted(x.shape, reverse, dtype=x.dtype).copy_(x)]
    if x.dim() == 4:
        found.append(x.contiguous(memory_format=torch.channels_last))
    return found


@pytest.mark.parametrize("dtype", RANGES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_per_tensor(dtype: torch.dtype, shape: Shapes) -> None:
    low, high = RANGES[dtype]
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        for x in layouts(floats(shape, kind)):
            args = [0.03, 3, low, high, dtype]
            wanted = REFERENCE.quantize_per_tensor(x.float(), *args)
            wanted = torch.empty_like(x, dtype=dtype).copy_(wanted)
            (found,) = run("quantize_per_tensor.out", [x, *args], (wanted,))
            assert torch.equal(found, wanted)
            tensors = [torch.tensor(0.03), torch.tensor(3, dtype=torch.int32), low, high, dtype]
            (found,) = run("quantize_per_tensor.Tensor_out", [x, *tensors], (wanted,))
            assert torch.equal(found, REFERENCE.quantize_per_tensor.tensor(x.float(), *tensors))
    for q in layouts(codes(shape, dtype)):
        args = [0.03, 3, low, high, dtype]
        wanted = REFERENCE.dequantize_per_tensor(q, *args)
        (found,) = run("dequantize_per_tensor.out", [q, *args, None], (wanted,))
        torch.testing.assert_close(found, wanted, rtol=1e-6, atol=0)
        tensors = [torch.tensor(0.03), torch.tensor(3), low, high, dtype, torch.float64]
        wide = q.double()
        (found,) = run("dequantize_per_tensor.Tensor_out", [q, *tensors], (wide,))
        torch.testing.assert_close(found, (wide - 3) * float(tensors[0]), rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype", SMALL, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_per_channel(dtype: torch.dtype, shape: Shapes) -> None:
    low, high = RANGES[dtype]
    for axis in [*range(len(shape)), -1]:
        size = shape[axis]
        for kind in (torch.float32, torch.float64):
            scales = floats((size,), kind).abs() * 0.02 + 0.01
            zeros = torch.arange(size) % 5
            for x in layouts(floats(shape)):
                args = [scales, zeros, axis, low, high, dtype]
                wanted = REFERENCE.quantize_per_channel(x, *args)
                (found,) = run("quantize_per_channel.out", [x, *args], (wanted,))
                assert torch.equal(found, wanted)
            for q in layouts(codes(shape, dtype)):
                for zero in (zeros, None):
                    args = [scales, zero, axis, low, high, dtype]
                    wanted = REFERENCE.dequantize_per_channel(q, *args)
                    (found,) = run("dequantize_per_channel.out", [q, *args, None], (wanted,))
                    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype", SMALL, ids=str)
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4, 5), (7,), (2, 300)], ids=str)
def test_per_token(dtype: torch.dtype, shape: Shapes) -> None:
    low, high = RANGES[dtype]
    x = floats(shape)
    wanted = REFERENCE.choose_qparams_per_token_asymmetric(x, torch.int8)
    scales, zeros = run("choose_qparams_per_token_asymmetric.out", [x, torch.int8], wanted)
    torch.testing.assert_close(scales, wanted[0], rtol=1e-6, atol=0)
    assert torch.equal(zeros, wanted[1])
    args = [scales, zeros.clamp(low, high), low, high, dtype]
    tokens = REFERENCE.quantize_per_token(x, *args)
    (found,) = run("quantize_per_token.out", [x, *args], (tokens,))
    assert torch.equal(found, tokens)
    for output in (torch.float32, torch.float16):
        back = REFERENCE.dequantize_per_token(found, *args, output)
        (values,) = run("dequantize_per_token.out", [found, *args, output], (back,))
        torch.testing.assert_close(
            values, back, rtol=1e-3 if output == torch.float16 else 1e-6, atol=0
        )


@pytest.mark.parametrize("dtype", SMALL, ids=str)
@pytest.mark.parametrize("shift", [-9.0, 0.0, 9.0])
@pytest.mark.parametrize("name", ["choose_qparams", "choose_qparams_symmetric"])
def test_choose_qparams(name: str, dtype: torch.dtype, shift: float) -> None:
    low, high = RANGES[dtype]
    for x in (floats((4, 9)) + shift, floats((600,)) + shift, torch.zeros(3)):
        args = [low, high, 1e-5, dtype]
        wanted = getattr(REFERENCE, name).tensor(x, *args)
        scale, zero = run(f"{name}.Tensor_out", [x, *args], wanted)
        torch.testing.assert_close(scale, wanted[0], rtol=1e-6, atol=0)
        assert torch.equal(zero, wanted[1])


@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_add(dtype: torch.dtype) -> None:
    low, high = RANGES[dtype]
    a, b = codes((3, 4, 5), dtype), codes((4, 1), dtype)
    sides = [0.5, 3, low, high], [0.25, 7, low, high], [1.0, 2, low, high]
    total = (a.double() - 3) * 0.5 + (b.double() - 7) * 0.25
    wanted = (total.round() + 2).clamp(low, high).to(dtype)
    (found,) = run("add.out", [a, *sides[0], b, *sides[1], *sides[2]], (wanted,))
    assert torch.equal(found, wanted)


def unpack(packed: torch.Tensor, bits: int) -> torch.Tensor:
    """Columns of a packed table: of 4 bits the high half first, of 2 bits the lowest first."""
    if bits == 8:
        return packed.double()
    shifts = [4, 0] if bits == 4 else [0, 2, 4, 6]
    parts = [(packed.int() >> s & (2**bits - 1)) - 2 ** (bits - 1) for s in shifts]
    return torch.stack(parts, -1).flatten(-2).double()


@pytest.mark.parametrize("name,bits", [("byte", 8), ("4bit", 4), ("2bit", 2)])
@pytest.mark.parametrize("groups", [0, 1, 3])
def test_embedding(name: str, bits: int, groups: int) -> None:
    weight = codes((5, 12), torch.uint8)
    shape = (5, groups) if groups else (5,)
    scales = floats(shape).abs()
    low, high = (0, 255) if bits == 8 else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    values = unpack(weight, bits).reshape(5, max(groups, 1), -1)
    for zeros in (None, torch.randint(-3, 4, shape).float(), torch.randint(-3, 4, shape).char()):
        shift = 0 if zeros is None else zeros.double().reshape(5, -1, 1)
        table = ((values - shift) * scales.double().reshape(5, -1, 1)).reshape(5, -1)
        for indices in (torch.tensor([[0, 4], [2, 2]]), torch.tensor(3, dtype=torch.int32)):
            args = [weight, scales, zeros, low, high, indices]
            wanted = table[indices.long()].float()
            (found,) = run(f"embedding_{name}.out", args, (wanted,))
            torch.testing.assert_close(found, wanted)
            half = wanted.half()
            (found,) = run(f"embedding_{name}.dtype_out", [*args, torch.float16], (half,))
            torch.testing.assert_close(found, half)


@pytest.mark.parametrize("kind", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("groups", [0, 1, 2])
@pytest.mark.parametrize("depth", [8, 600])
def test_mixed_linear_and_mm(kind: torch.dtype, groups: int, depth: int) -> None:
    x = floats((3, depth), kind, 0.2)
    weight = codes((4, depth), torch.int8)
    scales = floats((4, groups) if groups else (4,)).abs() * 0.01
    for zeros in (None, torch.ones_like(scales)):
        shift = 0 if zeros is None else 1
        dense = (weight.double() - shift).reshape(4, max(groups, 1), -1)
        dense = (dense * scales.double().reshape(4, -1, 1)).reshape(4, -1)
        wanted = (x.double() @ dense.T).to(kind)
        (found,) = run("mixed_linear.out", [x, weight, scales, zeros, None], (wanted,))
        torch.testing.assert_close(found, wanted, rtol=2e-3, atol=2e-3)
    rows = floats((depth,)).abs() * 0.01
    columns = weight.T.contiguous()
    wanted = (x.double() @ (columns.double() * rows.double()[:, None])).to(kind)
    (found,) = run("mixed_mm.out", [x, columns, rows, None], (wanted,))
    torch.testing.assert_close(found, wanted, rtol=2e-3, atol=2e-3)


X, Q = floats((2, 4)), codes((2, 4), torch.int8)
ONES, ZEROS, INDEX = torch.ones(2), torch.zeros(2, dtype=torch.int64), torch.tensor([0])
BAD: list[tuple[str, list[Any], torch.Tensor]] = [
    ("quantize_per_tensor.out", [X, 1.0, 0, -129, 127, torch.int8], Q),
    ("quantize_per_tensor.out", [X, 1.0, 0, 5, 4, torch.int8], Q),
    ("quantize_per_tensor.out", [X, 1.0, 0, 0, 255, torch.uint8], Q),
    ("quantize_per_tensor.out", [Q, 1.0, 0, -128, 127, torch.int8], Q),
    ("quantize_per_tensor.Tensor_out", [X, ONES, ZEROS, -128, 127, torch.int8], Q),
    ("quantize_per_channel.out", [X, ONES, ZEROS, 2, -128, 127, torch.int8], Q),
    ("quantize_per_channel.out", [X, ONES, ZEROS, 1, -128, 127, torch.int8], Q),
    ("quantize_per_token.out", [X, torch.ones(3), ZEROS, -128, 127, torch.int8], Q),
    ("dequantize_per_tensor.out", [Q, 1.0, 0, -128, 127, torch.int16, None], X),
    ("dequantize_per_tensor.out", [Q, 1.0, 0, -128, 127, torch.int8, torch.float64], X),
    ("embedding_byte.out", [Q, ONES, None, -128, 127, torch.tensor([2])], X[:1]),
    ("embedding_byte.out", [Q, ONES, None, -128, 127, torch.tensor([-1])], X[:1]),
    ("embedding_byte.out", [Q, ONES, None, -128, 127, torch.tensor([0.0])], X[:1]),
    ("embedding_byte.out", [Q, torch.ones(2, 3), None, -128, 127, INDEX], X[:1]),
    ("embedding_4bit.out", [Q.byte(), ONES, None, 0, 15, INDEX], floats((1, 8))),
    ("mixed_linear.out", [X, Q[:, :3].contiguous(), ONES, None, None], floats((2, 2))),
    ("mixed_linear.out", [X, Q, torch.ones(3), None, None], floats((2, 2))),
    ("mixed_mm.out", [X, Q, ONES, None], X),
    ("add.out", [Q, 1.0, 0, -128, 127, Q[:, :3].contiguous(), 1.0, 0, -128, 127, 1.0, 0, -128, 127], Q),
]  # fmt: skip


@pytest.mark.parametrize("row", BAD, ids=lambda row: row[0])
def test_wrong_usage_is_told(row: tuple[str, list[Any], torch.Tensor], capfd: Any) -> None:
    name, inputs, like = row
    assert make_call(name, inputs, (like,)).run() != 0
    text = capfd.readouterr().err
    assert is_reported(text, schemas()[f"quantized_decomposed::{name}"]), text


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_parameters_of_numbers_that_are_not_finite_are_an_error(value: float) -> None:
    x = torch.tensor([1.0, value])
    like = (torch.zeros(1, dtype=torch.float64), torch.zeros(1, dtype=torch.int64))
    call = make_call("choose_qparams.Tensor_out", [x, -128, 127, 1e-5, torch.int8], like)
    assert call.run() != 0


def test_a_nan_becomes_the_least_value() -> None:
    x = torch.tensor([float("nan"), float("inf"), -float("inf")])
    args = [x, 1.0, 0, -128, 127, torch.int8]
    (found,) = run("quantize_per_tensor.out", args, (x.char(),))
    assert found.tolist() == [-128, 127, -128]


def test_the_library_registers_its_whole_table() -> None:
    assert len(schemas()) == 20
    assert set(schemas()) <= set(library().registered())
