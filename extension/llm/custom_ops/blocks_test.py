# SPDX-License-Identifier: BSD-3-Clause
"""Weights of GGUF blocks: the packing keeps every number, and the kernels' products are those of the dequantized
matrix, in float64, with the rounding of activations that the header states."""

from __future__ import annotations

from functools import cache
from types import ModuleType

import numpy as np
import pytest
import torch

import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401  (registers the operators)
from executorch.extension.llm.formats.blocks import BLOCK_FORMATS
from executorch.extension.llm.formats.panels import NUMBERS, pack_panels, unpack_panels
from kernels.test.kernel_call import Call, load_library, load_schemas

# Where a block has float16 numbers.
HALVES = {
    "Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,), "Q2_K": (80, 82), "Q3_K": (108,),
    "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,), "IQ4_NL": (0,), "IQ4_XS": (0,),
}  # fmt: skip
SHAPES = [(1, 256, 1), (16, 256, 2), (33, 512, 3), (5, 768, 4), (40, 256, 9), (130, 512, 64)]
SMALL = [(3, 32, 1), (18, 96, 5)]  # of formats of 32 numbers


@cache
def library() -> ModuleType:
    return load_library("llm")


def run(
    name: str, inputs: list[object], results: list[torch.Tensor], status: int = 0
) -> list[torch.Tensor]:
    schema = load_schemas("llm")[f"llama::{name}.out"]
    call = Call(library(), schema)
    for argument, value in zip((a for a in schema.arguments if not a.is_out), inputs, strict=True):
        call.add_input(argument, value)
    call.add_outputs(tuple(results))
    assert (call.run() == 0) == (status == 0)
    return call.results()


def blocks(name: str, rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Random codes, float16 numbers of 0.5 to 1, half of them negative."""
    form, random = BLOCK_FORMATS[number(name)], np.random.default_rng(seed)
    raw = random.integers(0, 256, (rows * columns // form.numbers, form.bytes)).astype(np.uint8)
    for at in HALVES[name]:
        halves = random.uniform(0.5, 1, len(raw)) * random.choice([-1, 1], len(raw))
        raw[:, at : at + 2] = halves.astype(np.float16).view(np.uint8).reshape(-1, 2)
    return raw


def number(name: str) -> int:
    return NUMBERS[name]


def as_the_header_says(x: np.ndarray) -> np.ndarray:
    units = x.reshape(-1, 32)
    largest = np.abs(units).max(1, keepdims=True)
    inverse = np.divide(np.float32(127), largest, out=np.zeros_like(largest), where=largest > 0)
    codes = np.rint(units * inverse).astype(np.float64)
    return (codes * (largest / np.float32(127))).reshape(x.shape)


def shapes(name: str) -> list[tuple[int, int, int]]:
    return SHAPES + (SMALL if BLOCK_FORMATS[number(name)].numbers == 32 else [])


@pytest.mark.parametrize("name", HALVES)
def test_packing_keeps_every_number(name: str) -> None:
    form = BLOCK_FORMATS[number(name)]
    for rows, columns, _ in shapes(name):
        raw = blocks(name, rows, columns)
        panels = pack_panels(form, raw.reshape(rows, -1))
        wanted = form.dequantize(raw).reshape(rows, columns)
        np.testing.assert_array_equal(unpack_panels(form, panels, rows), wanted)
        picked = torch.tensor([rows - 1, 0, rows // 2])
        inputs = [torch.from_numpy(panels), number(name), rows, picked]
        eager = torch.ops.llama.embedding_of_blocks(*inputs)
        np.testing.assert_array_equal(eager.numpy(), wanted[picked])
        (found,) = run("embedding_of_blocks", inputs, [eager])
        # a minimum may be added in one step with the product
        near = 1e-6 * np.abs(wanted).max()
        np.testing.assert_allclose(found.numpy(), wanted[picked], rtol=0, atol=near)


@pytest.mark.parametrize("name", HALVES)
def test_products_are_those_of_the_matrix(name: str) -> None:
    form = BLOCK_FORMATS[number(name)]
    for seed, (rows, columns, count) in enumerate(shapes(name)):
        raw = blocks(name, rows, columns, seed)
        matrix = form.dequantize(raw).reshape(rows, columns).astype(np.float64)
        weight = torch.from_numpy(pack_panels(form, raw.reshape(rows, -1)))
        x = torch.randn(count, columns, generator=torch.Generator().manual_seed(seed))
        x[:, 32:64] = 0.0 if seed % 2 else 1e-3
        bias = torch.randn(rows, generator=torch.Generator().manual_seed(seed))
        near = as_the_header_says(x.numpy())
        rest = as_the_header_says((x.numpy() - near.astype(np.float32)).astype(np.float32))
        size = np.abs(x.numpy().astype(np.float64)) @ np.abs(matrix).T + 1
        for bits, given in ((8, near), (16, near + rest)):
            wanted = given @ matrix.T + bias.double().numpy()
            inputs = [x, [weight, weight], [number(name)] * 2, [rows] * 2, [bias, None], bits]
            empty = [torch.empty(count, rows)] * 2
            with_bias, without = run("linear_of_blocks", inputs, empty)
            for found in (with_bias, without + bias):
                assert (np.abs(found.numpy() - wanted) / size).max() < 3e-6, (rows, columns, bits)
            eager = torch.ops.llama.linear_of_blocks(*inputs)[0]
            assert (np.abs(eager.numpy() - wanted) / size).max() < 3e-6, (rows, columns, bits)
        exact = x.double().numpy() @ matrix.T + bias.double().numpy()
        assert (np.abs(with_bias.numpy() - exact) / size).max() < 1e-4  # of 16 bits, the last


def test_matrices_of_several_formats_in_one_call() -> None:
    names, rows = ["Q4_K", "Q6_K", "Q4_0", "Q5_1"], [33, 16, 7, 64]
    for count in (1, 20):
        x = torch.randn(count, 512, generator=torch.Generator().manual_seed(count))
        weights, wanted = [], []
        for name, size in zip(names, rows, strict=True):
            form, raw = BLOCK_FORMATS[number(name)], blocks(name, size, 512)
            weights.append(torch.from_numpy(pack_panels(form, raw.reshape(size, -1))))
            alone = [x, [weights[-1]], [number(name)], [size], [None], 8]
            wanted += run("linear_of_blocks", alone, [torch.empty(count, size)])
        inputs = [x, weights, [number(each) for each in names], rows, [None] * 4, 8]
        found = run("linear_of_blocks", inputs, [torch.empty(count, size) for size in rows])
        for one, other in zip(found, wanted, strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("name", HALVES)
def test_any_bytes_are_numbers(name: str) -> None:
    form = BLOCK_FORMATS[number(name)]
    raw = np.random.default_rng(1).integers(0, 256, (20, 512 // form.numbers * form.bytes))
    weight = torch.from_numpy(pack_panels(form, raw.astype(np.uint8)))
    for count in (1, 12):
        run("linear_of_blocks", [torch.randn(count, 512), [weight], [number(name)], [20], [None], 8],
            [torch.empty(count, 20)])  # fmt: skip


@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("spoiled", [float("nan"), float("inf")])
def test_what_is_not_finite_is_not_hidden(spoiled: float, count: int) -> None:
    form, raw = BLOCK_FORMATS[2], blocks("Q4_0", 16, 64)
    weight = torch.from_numpy(pack_panels(form, raw.reshape(16, -1)))
    x = torch.randn(count, 64)
    x[0, 40] = spoiled
    inputs = [x, [weight], [2], [16], [None], 8]
    (found,) = run("linear_of_blocks", inputs, [torch.empty(count, 16)])
    assert not found[0].isfinite().any()
    assert found[1:].isfinite().all()


def test_what_does_not_fit_is_refused() -> None:
    weight = torch.from_numpy(pack_panels(BLOCK_FORMATS[2], blocks("Q4_0", 16, 64).reshape(16, -1)))
    good = [torch.randn(1, 64), [weight], [2], [16], [None], 8]
    empty = [torch.empty(1, 16)]
    for place, value in (
        (0, torch.randn(1, 96)), (0, torch.randn(1, 64).double()), (1, [weight[:, 1:].contiguous()]),
        (1, [weight.to(torch.int8)]), (2, [3]), (2, [99]), (2, [2, 2]), (3, [17]), (3, [0]), (3, [-5]),
        (4, [torch.zeros(15)]), (5, 4),
    ):  # fmt: skip
        wrong = [*good[:place], value, *good[place + 1 :]]
        run("linear_of_blocks", wrong, empty, status=1)
        with pytest.raises((ValueError, RuntimeError)):
            torch.ops.llama.linear_of_blocks(*wrong)
    for indices in (torch.tensor([16]), torch.tensor([-1]), torch.tensor([0.5])):
        run("embedding_of_blocks", [weight, 2, 16, indices], [torch.empty(1, 64)], status=1)
