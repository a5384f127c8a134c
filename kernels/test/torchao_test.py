# SPDX-License-Identifier: BSD-3-Clause
"""torchao's operators on weights of 1 to 8 bits: bytes as torchao lays them out, kernels beside eager, programs."""

from __future__ import annotations

import random
from functools import cache
from types import ModuleType
from typing import Any

import pytest
import torch

import executorch.kernels.torchao  # noqa: F401  (registers the operators)
from executorch.codegen.schema import Schema
from executorch.exir import to_edge
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from executorch.kernels.torchao import bit_blocks
from kernels.test.kernel_call import Call, load_library, load_schemas

BITS = range(1, 9)


@cache
def library() -> ModuleType:
    return load_library("torchao")


@cache
def schemas() -> dict[str, Schema]:
    return load_schemas("torchao")


def op(name: str, bits: int) -> Any:
    return getattr(torch.ops.torchao, name.replace("Nbit", f"{bits}bit"))


def make_call(name: str, bits: int, inputs: list[Any], shape: tuple[int, ...]) -> Call:
    schema = schemas()[f"torchao::{name.replace('Nbit', f'{bits}bit')}.out"]
    call = Call(library(), schema)
    for argument, value in zip(schema.arguments, inputs, strict=False):
        call.add_input(argument, value)
    call.add_outputs((torch.empty(shape),))
    return call


def run(name: str, bits: int, inputs: list[Any], shape: tuple[int, ...]) -> torch.Tensor:
    call = make_call(name, bits, inputs, shape)
    assert call.run() == 0, name
    return call.results()[0]


class Weight:
    """A quantized matrix from a seed, and what it stands for."""

    def __init__(self, seed: int, bits: int, group_unit: int = 16) -> None:
        pick = random.Random(seed).choice
        generator = torch.Generator().manual_seed(seed)
        low, high = -(1 << bits - 1), 1 << bits - 1
        self.bits, self.n = bits, pick([1, 7, 8, 9, 40, 131])
        self.group_size = pick([g for g in (16, 32, 48, 64, 128, 256) if g % group_unit == 0])
        self.k = self.group_size * pick([1, 2, 5])
        groups = self.k // self.group_size
        self.values = torch.randint(low, high, (self.n, self.k), generator=generator).to(torch.int8)
        self.scales = torch.rand(self.n, groups, generator=generator) * 0.1 + 0.01
        self.zeros = None
        if pick([True, False]):
            self.zeros = torch.randint(low, high, (self.n, groups), generator=generator).to(torch.int8)  # fmt: skip
        self.bias = torch.randn(self.n, generator=generator) if pick([True, False]) else None
        self.generator, self.pick = generator, pick

    def zeros_or_0(self) -> torch.Tensor:
        return torch.zeros_like(self.scales, dtype=torch.int8) if self.zeros is None else self.zeros

    def dense(self) -> torch.Tensor:
        codes = self.values.double().reshape(self.n, -1, self.group_size)
        codes = codes - self.zeros_or_0().double()[..., None]
        return (codes * self.scales.double()[..., None]).flatten(1)

    def packed(self) -> torch.Tensor:
        zeros = None if self.zeros is None else self.zeros.reshape(-1)
        arguments = (self.values, self.scales.reshape(-1), zeros, self.group_size, self.bias, None)
        return op("_pack_8bit_act_Nbit_weight", self.bits)(*arguments)

    def rows(self) -> torch.Tensor:
        return torch.randint(0, self.n, (self.pick([1, 3, 20]),), generator=self.generator)


@pytest.mark.parametrize("bits", BITS)
def test_blocks_use_every_bit_once_and_come_back(bits: int) -> None:
    for count in (32, 64, 128):
        fields = bit_blocks.fields(bits, count)
        places = [f.byte * 8 + f.to_bit + i for f in fields for i in range(f.width)]
        assert sorted(places) == list(range(count * bits))
        values = torch.randint(0, 1 << bits, (3, count)).to(torch.uint8)
        packed = bit_blocks.pack(values, bits)
        assert packed.shape == (3, count * bits // 8)
        assert torch.equal(bit_blocks.unpack(packed, bits), values)


def test_blocks_lie_as_torchao_has_them() -> None:
    """Some bytes by the formulas of the format."""
    v = torch.arange(128, dtype=torch.uint8)
    assert bit_blocks.pack(v & 15, 4)[5] == 5 | (21 & 15) << 4
    one = bit_blocks.pack(v % 3 % 2, 1)
    assert one[2] == sum((2 + 16 * j) % 3 % 2 << 7 - j for j in range(8))
    three = bit_blocks.pack(v * 5 % 8, 3)
    w = [5 * (1 + 16 * j) % 8 for j in range(8)]
    assert three[1] == (w[6] & 3) << 6 | w[0] << 3 | w[1]
    assert three[33] == (w[6] & 4) << 5 | (w[7] & 4) << 4 | w[4] << 3 | w[5]
    seven = bit_blocks.pack(v, 7)
    assert seven[2 * 16 + 3] == (2 * 16 + 3) | ((112 + 3) >> 2 & 1) << 7
    assert bit_blocks.pack(v[:32] % 4, 2)[1] == 1 << 6 | 1 << 4 | 1 << 2 | 1


@pytest.mark.parametrize("bits", BITS)
def test_headers(bits: int) -> None:
    w = Weight(3, bits)
    numbers = w.packed()[:64].view(torch.int32).tolist()
    assert numbers == [6712, 1, bits, w.zeros is not None, w.bias is not None, 8, 16, 2, *[0] * 8]
    table = torch.zeros(4, 96, dtype=torch.int8)
    packed = op("_pack_embedding_Nbit", bits)(table)
    assert packed[:64].view(torch.int32).tolist() == [6712, 2, 1, bits, 32, 128, *[0] * 10]
    assert packed.numel() == 64 + 4 * 96 * bits // 8


@pytest.mark.req("KS-008")
@pytest.mark.parametrize("bits", BITS)
def test_linear(bits: int) -> None:
    for seed in range(40):
        w = Weight(seed, bits)
        m = w.pick([0, 1, 1, 3, 4, 5, 70])
        x = torch.randn(m, w.k, generator=w.generator) * w.pick([1e-3, 1.0, 50.0])
        x = x + w.pick([0.0, 0.0, 2.0])
        inputs = [x, w.packed(), w.group_size, w.n, w.k]
        wanted = op("_linear_8bit_act_Nbit_weight", bits)(*inputs)
        found = run("_linear_8bit_act_Nbit_weight", bits, inputs, (m, w.n))
        # A row's scale may differ in its last bit, and one of its codes then by one.
        size = float(wanted.abs().max()) if m else 0.0
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5 * size + 1e-6)
        dense = x.double() @ w.dense().T + (0 if w.bias is None else w.bias.double())
        bound = (x.amax(1).clamp(min=0) - x.amin(1).clamp(max=0)).double()[:, None] / 255
        error = (found.double() - dense).abs()
        assert bool((error <= bound * w.dense().abs().sum(1) + 1e-3 * size + 1e-6).all())


@pytest.mark.parametrize("value", [0.0, 3.0, -3.0])
def test_rows_of_one_number(value: float) -> None:
    w = Weight(2, 4)
    inputs = [torch.full((2, w.k), value), w.packed(), w.group_size, w.n, w.k]
    wanted = value * w.dense().sum(1) + (0 if w.bias is None else w.bias.double())
    found = run("_linear_8bit_act_Nbit_weight", 4, inputs, (2, w.n))
    torch.testing.assert_close(found[0].double(), wanted, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("bits", BITS)
def test_embeddings(bits: int) -> None:
    for seed in range(40):
        w = Weight(seed, bits, group_unit=32)
        rows = w.rows().to(torch.int32 if seed % 2 else torch.int64)
        wanted = w.dense()[rows.long()].float()
        packed = op("_pack_embedding_Nbit", bits)(w.values)
        inputs = [packed, w.n, w.k, w.scales, w.zeros_or_0(), rows]
        shape = (len(rows), w.k)
        torch.testing.assert_close(op("_embedding_Nbit", bits)(*inputs), wanted)
        torch.testing.assert_close(run("_embedding_Nbit", bits, inputs, shape), wanted)
        inputs = [w.packed(), w.group_size, w.n, w.k, rows]
        torch.testing.assert_close(op("_shared_embedding_Nbit", bits)(*inputs), wanted)
        torch.testing.assert_close(run("_shared_embedding_Nbit", bits, inputs, shape), wanted)


W = Weight(5, 4, group_unit=32)
TABLE = torch.ops.torchao._pack_embedding_4bit(W.values)
ROWS = torch.tensor([0])
OTHER = torch.ops.torchao._pack_8bit_act_3bit_weight(
    W.values.clamp(-4, 3), W.scales.reshape(-1), None, W.group_size, None, None
)
LINEAR, EMBEDDING, SHARED = (
    "_linear_8bit_act_Nbit_weight", "_embedding_Nbit", "_shared_embedding_Nbit",
)  # fmt: skip
X = torch.ones(2, W.k)
WRONG: list[tuple[str, list[Any], str]] = [
    (LINEAR, [X, W.packed()[:-1].clone(), W.group_size, W.n, W.k], "after the header"),
    (LINEAR, [X, W.packed()[:20].clone(), W.group_size, W.n, W.k], "at least 64 bytes"),
    (LINEAR, [X, OTHER, W.group_size, W.n, W.k], "weights of 4 bits"),
    (LINEAR, [X, W.packed(), W.group_size, W.n + 8, W.k], "after the header"),
    (LINEAR, [X, W.packed(), W.group_size, 2**60, W.k], "found n 1152921504606846976"),
    (LINEAR, [X, W.packed(), 24, W.n, W.k], "group_size 24"),
    (LINEAR, [X, W.packed(), 0, W.n, W.k], "group_size 0"),
    (LINEAR, [X[:, 1:].clone(), W.packed(), W.group_size, W.n, W.k], "columns of activations"),
    (LINEAR, [X.half(), W.packed(), W.group_size, W.n, W.k], "to be Float"),
    (EMBEDDING, [TABLE, W.n, W.k, W.scales, W.zeros_or_0(), torch.tensor([W.n])], f"[0, {W.n})"),
    (EMBEDDING, [TABLE, W.n, W.k, W.scales, W.zeros_or_0(), torch.tensor([-1])], "found -1"),
    (EMBEDDING, [TABLE, W.n + 1, W.k, W.scales, W.zeros_or_0(), ROWS], "rows of"),
    (EMBEDDING, [TABLE, W.n, W.k + 1, W.scales, W.zeros_or_0(), ROWS], "multiple of 32"),
    (EMBEDDING, [TABLE, W.n, W.k, W.scales[:0], W.zeros_or_0(), ROWS], "weight_scales"),
    (EMBEDDING, [TABLE, W.n, W.k, W.scales, W.zeros_or_0(), ROWS[None]], "1 dim"),
    (EMBEDDING, [W.packed(), W.n, W.k, W.scales, W.zeros_or_0(), ROWS], "embedding of 4 bits"),
    (SHARED, [W.packed(), W.group_size, W.n, W.k, torch.tensor([W.n])], f"[0, {W.n})"),
    (SHARED, [TABLE, W.group_size, W.n, W.k, ROWS], "'universal'"),
]  # fmt: skip


@pytest.mark.parametrize("row", WRONG, ids=lambda row: f"{row[0]}-{row[2]}")
def test_wrong_usage_is_told(row: tuple[str, list[Any], str], capfd: Any) -> None:
    name, inputs, words = row
    assert make_call(name, 4, inputs, (2, W.n)).run() != 0
    assert words in capfd.readouterr().err


def test_packing_refuses_what_does_not_fit() -> None:
    pack = torch.ops.torchao._pack_8bit_act_2bit_weight
    values, scales = torch.ones(2, 32, dtype=torch.int8), torch.ones(2)
    for arguments, word in (
        ((values * 2, scales, None, 32, None, None), "values in"),
        ((values, scales, None, 24, None, None), "group size"),
        ((values, scales[:1], None, 32, None, None), "weight_scales"),
        ((values, scales, None, 32, scales[:1], None), "bias"),
        ((values, scales, None, 32, None, "kleidiai"), "target"),
    ):
        with pytest.raises(ValueError, match=word):
            pack(*arguments)


class Model(torch.nn.Module):
    """An embedding and a linear of one weight, as tied weights are."""

    def __init__(self, weight: Weight) -> None:
        super().__init__()
        self.register_buffer("packed", weight.packed())
        self.sizes = (weight.group_size, weight.n, weight.k)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = torch.ops.torchao._shared_embedding_4bit(self.packed, *self.sizes, tokens)
        return torch.ops.torchao._linear_8bit_act_4bit_weight(x, self.packed, *self.sizes)


@pytest.mark.req("KS-008", "XQ-C04")
def test_programs_call_them() -> None:
    model, tokens = Model(W), torch.tensor([0, W.n - 1, 0])
    program = to_edge(torch.export.export(model, (tokens,))).to_executorch()
    plan = program.executorch_program.execution_plan[0]
    called = {f"{each.name}.{each.overload}" for each in plan.operators}
    assert called == {"torchao::_shared_embedding_4bit.out", "torchao::_linear_8bit_act_4bit_weight.out"}  # fmt: skip
    (found,) = _load_for_executorch_from_buffer(program.buffer).forward((tokens,))
    torch.testing.assert_close(found, model(tokens), rtol=1e-4, atol=1e-4)


def test_torchaos_own_tensors_use_them() -> None:
    """quantize_ with an opaque packing, which needs the packing operators, in eager."""
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
    from torchao.quantization.granularity import PerGroup
    from torchao.quantization.quantize_.workflows import IntxPackingFormat

    model = torch.nn.Sequential(torch.nn.Linear(64, 24))
    x = torch.randn(3, 64)
    wanted = model(x)
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int5,
        weight_granularity=PerGroup(32),
        intx_packing_format=IntxPackingFormat.OPAQUE_TORCHAO_LOWBIT,
    )
    quantize_(model, config)
    error = (model(x) - wanted).norm() / wanted.norm()
    assert 0 < float(error) < 0.1
