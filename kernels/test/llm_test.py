# SPDX-License-Identifier: BSD-3-Clause
"""Operators of language models against their eager implementations, on arguments drawn at random."""

from __future__ import annotations

import math
import random
from functools import cache
from types import ModuleType
from typing import Any

import pytest
import torch

import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401  (eager implementations)
from executorch.codegen.schema import Schema
from kernels.test.kernel_call import Call, load_library, load_schemas

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
NEAR = {torch.float32: 1e-4, torch.float64: 1e-9, torch.float16: 2e-3, torch.bfloat16: 2e-2}
DRAWS = range(60)


@cache
def library() -> ModuleType:
    return load_library("llm")


@cache
def schemas() -> dict[str, Schema]:
    return load_schemas("llm")


def namespace_of(name: str) -> str:
    return "preprocess" if name == "tile_crop" else "llama"


def make_call(name: str, inputs: list[Any], like: tuple[torch.Tensor, ...]) -> Call:
    schema = schemas()[f"{namespace_of(name)}::{name}.out"]
    call = Call(library(), schema)
    arguments = [a for a in schema.arguments if not a.is_out]
    for argument, value in zip(arguments, inputs, strict=True):
        call.add_input(argument, value)
    call.add_outputs(like)
    return call


def eager(name: str, inputs: list[Any]) -> tuple[torch.Tensor, ...]:
    results = getattr(getattr(torch.ops, namespace_of(name)), name)(*inputs)
    return results if isinstance(results, tuple) else (results,)


def compare(name: str, inputs: list[Any], words: Any) -> None:
    """Results, and what the call has written to its inputs, are eager's; where eager refuses, so does the kernel."""
    ours = [v.clone() if isinstance(v, torch.Tensor) else v for v in inputs]
    theirs = [v.clone() if isinstance(v, torch.Tensor) else v for v in inputs]
    wanted = eager(name, theirs)
    call = make_call(name, ours, wanted)
    assert call.run() == 0, words
    if "update" not in name:  # whose results mean nothing
        for found, expected in zip(call.results(), wanted, strict=True):
            near = NEAR.get(expected.dtype, 0)
            torch.testing.assert_close(
                found, expected, rtol=near, atol=near, equal_nan=True, msg=lambda m: f"{m}\n{words}"
            )
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, torch.Tensor):
            bytes_of = (each.contiguous().view(torch.uint8) for each in (one, other))
            assert torch.equal(*bytes_of), words


class Drawn:
    """Shapes of attention on a cache, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random.choice
        self.torch = torch.Generator().manual_seed(seed)
        self.batch = pick([1, 1, 2, 3])
        self.key_heads = pick([1, 2, 3])
        self.heads = self.key_heads * pick([1, 1, 2, 3, 4, 9])
        self.depth = pick([1, 7, 16, 48, 64, 80, 128])
        self.queries = pick([1, 1, 1, 2, 5, 33, 130])
        self.start = pick([0, 0, 1, 17, 190, 191, 700])
        self.rows = self.start + self.queries + pick([0, 0, 3, 250])
        self.scale = pick([None, None, 0.3])

    def floats(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, generator=self.torch).to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(low, high, shape, generator=self.torch)

    def mask(self) -> torch.Tensor:
        """Each query sees some keys, at least one."""
        allowed = torch.rand(self.queries, self.rows, generator=self.torch) < 0.6
        allowed[:, self.random.randrange(self.rows)] = True
        if self.random.random() < 0.5:
            return allowed
        return torch.where(allowed, self.floats(self.queries, self.rows), -torch.inf)

    def view(self) -> list[Any]:
        """Start, mask, dropout, is_causal, scale."""
        if self.random.random() < 0.35:
            return [0, self.mask(), 0.0, False, self.scale]
        return [self.start, None, 0.0, self.random.random() < 0.7, self.scale]


@pytest.mark.req("KS-007")
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_attention(dtype: torch.dtype) -> None:
    for seed in DRAWS:
        d = Drawn(seed)
        q = d.floats(d.batch, d.queries, d.heads, d.depth, dtype=dtype)
        k, v = (d.floats(d.batch, d.rows, d.key_heads, d.depth, dtype=dtype) for _ in "kv")
        compare("custom_sdpa", [q, k, v, *d.view()], (seed, vars(d)))


def test_attention_that_writes_its_cache() -> None:
    for seed in DRAWS:
        d = Drawn(seed)
        dtype = FLOATS[seed % 3]
        q = d.floats(d.batch, d.queries, d.heads, d.depth, dtype=dtype)
        new = [d.floats(d.batch, d.queries, d.key_heads, d.depth, dtype=dtype) for _ in "kv"]
        caches = [d.floats(d.batch, d.rows, d.key_heads, d.depth, dtype=dtype) for _ in "kv"]
        rest = [d.start, d.queries, None, 0.0, seed % 2 == 0, d.scale]
        compare("sdpa_with_kv_cache", [q, *new, *caches, *rest], (seed, vars(d)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_attention_of_sessions(dtype: torch.dtype) -> None:
    for seed in DRAWS:
        d = Drawn(seed)
        sessions, per_session = d.random.randint(1, 5), d.rows
        q = d.floats(1, d.queries, d.heads, d.depth, dtype=dtype)
        shape = (1, sessions * per_session, d.key_heads, d.depth)
        k, v = (d.floats(*shape, dtype=dtype) for _ in "kv")
        rows = d.integers(0, sessions * per_session, d.queries)
        run = d.random.randint(0, d.queries)  # neighbours, of one session or of two
        first = d.random.randint(0, sessions * per_session - max(run, 1))
        rows[:run] = torch.arange(first, first + run)
        compare("sdpa_of_sessions", [q, k, v, rows, per_session, d.scale], (seed, vars(d)))


def test_a_session_gets_what_it_gets_alone() -> None:
    q, k, v = torch.randn(1, 4, 6, 64), torch.randn(1, 900, 2, 64), torch.randn(1, 900, 2, 64)
    rows = torch.tensor([299, 300, 301, 640])
    call = make_call("sdpa_of_sessions", [q, k, v, rows, 300, None], (q,))
    assert call.run() == 0
    for queries, session, start in (([0], 0, 299), ([1, 2], 1, 0), ([3], 2, 40)):
        keys = (x[:, session * 300 : (session + 1) * 300].contiguous() for x in (k, v))
        own = q[:, queries].contiguous()
        alone = make_call("custom_sdpa", [own, *keys, start, None, 0.0, True, None], (own,))
        assert alone.run() == 0
        assert torch.equal(call.results()[0][:, queries], alone.results()[0])


def test_attention_on_bytes() -> None:
    for seed in DRAWS:
        d = Drawn(seed)
        at_dim_2 = seed % 2 == 0
        tensors, parameters = [], []
        for rows, heads in ((d.queries, d.heads), (d.rows, d.key_heads), (d.rows, d.key_heads)):
            shape = (d.batch, heads, rows) if at_dim_2 else (d.batch, rows, heads)
            tensors.append(d.integers(-128, 128, *shape, d.depth).to(torch.int8))
            parameters.append(d.integers(-128, 128, *shape, 1).to(torch.int8))
            parameters.append(d.floats(*shape, 1).abs() * 0.01)
        inputs = [*tensors, *d.view(), *parameters, at_dim_2]
        compare("custom_quantized_sdpa", inputs, (seed, vars(d)))


def test_a_query_that_sees_nothing_gives_nan() -> None:
    q, k = torch.randn(1, 2, 2, 8), torch.randn(1, 5, 1, 8)
    mask = torch.tensor([[0.0] * 5, [-torch.inf] * 5])
    compare("custom_sdpa", [q, k, k, 0, mask, 0.0, False, None], "half of it")
    call = make_call("custom_sdpa", [q, k, k, 0, mask, 0.0, False, None], (q,))
    assert call.run() == 0
    assert call.results()[0].isnan().all(-1).tolist() == [[[False] * 2, [True] * 2]]


def test_caches() -> None:
    dtypes = [torch.float32, torch.float16, torch.int8, torch.int64, torch.bool]
    for seed in DRAWS[:30]:
        d = Drawn(seed)
        dtype = dtypes[seed % 5]
        shape = (d.batch, d.queries, d.heads, d.depth)
        value = d.integers(0, 100, *shape).to(dtype)
        cache = d.integers(0, 100, d.batch, d.rows, d.heads, d.depth).to(dtype)
        compare("update_cache", [value, cache, d.start], (seed, vars(d)))
        indices = d.integers(0, d.rows, d.batch, d.queries)
        compare("update_cache_with_indices", [value, cache, d.start, indices], (seed, vars(d)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_hadamard(dtype: torch.dtype) -> None:
    for size in (1, 2, 8, 64, 4096, 28, 56, 28 * 512):
        for shape in ((size,), (3, size), (2, 0, size), (2, 3, size)):
            x = torch.randn(shape, generator=torch.Generator().manual_seed(size)).to(dtype)
            compare("fast_hadamard_transform", [x], shape)
    compare("fast_hadamard_transform", [torch.zeros((), dtype=dtype)[None]], "one element")


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.float16], ids=str)
def test_tiles_and_copies(dtype: torch.dtype) -> None:
    for sizes, tile in (((3, 4, 6), 2), ((3, 4, 6), 1), ((1, 8, 8), 8), ((2, 0, 6), 3)):
        x = torch.arange(math.prod(sizes)).view(sizes).to(dtype)
        compare("tile_crop", [x, tile], sizes)
        compare("fallback", [x], sizes)
    image = torch.rand(1, 3, 4, 5).to(dtype).contiguous(memory_format=torch.channels_last)
    compare("fallback", [image], "channels last")


def test_delta_rule() -> None:
    for seed in DRAWS:
        d = Drawn(seed)
        steps, depth, width = d.queries % 12, d.depth, d.random.choice([1, 5, 16, 64, 72])
        head = (d.batch, d.key_heads)
        q, k = (d.floats(*head, steps, depth) / depth**0.5 for _ in "qk")
        decay = d.floats(*head, steps, depth).sigmoid()
        v, beta = d.floats(*head, steps, width), d.floats(*head, steps).sigmoid()
        state = d.floats(*head, depth, width)
        compare("channelwise_gated_delta_rule", [q, k, v, decay, beta, state], (seed, vars(d)))


Q, K, I8 = torch.ones(1, 2, 2, 4), torch.ones(1, 6, 2, 4), torch.ones(1, 2, 2, 4, dtype=torch.int8)
S, Z = torch.ones(1, 2, 2, 1), torch.zeros(1, 2, 2, 1, dtype=torch.int8)
MASK, NONE = torch.zeros(2, 6), [None, 0.0, False, None]
SIX = [Z, S, Z, S, Z, S]
D3 = torch.ones(1, 2, 3)
DELTA = [torch.ones(1, 2, 3, 4)] * 4 + [D3, torch.ones(1, 2, 4, 4)]
WRONG: list[tuple[str, list[Any], str]] = [
    ("update_cache", [Q, K, 5], "start_pos 5"),
    ("update_cache", [Q, K, -1], "start_pos -1"),
    ("update_cache", [Q, K, 2**62], "start_pos"),
    ("update_cache", [K, Q, 0], "within the cache's 2"),
    ("update_cache", [Q.half(), K, 0], "elements of one size"),
    ("update_cache", [Q[0], K, 0], "dims for value"),
    ("update_cache", [Q, torch.ones(1, 6, 1, 4), 0], "same batch, heads and depth"),
    ("update_cache", [Q, torch.ones(1, 2, 6, 4).transpose(1, 2), 0], "row-major"),
    ("update_cache_with_indices", [Q, K, 0, torch.tensor([[0, 6]])], "found 6"),
    ("update_cache_with_indices", [Q, K, 0, torch.tensor([[-1, 0]])], "found -1"),
    ("update_cache_with_indices", [Q, K, -1, torch.tensor([[0, 1]])], "start_pos"),
    ("update_cache_with_indices", [Q, K, 0, torch.tensor([[0, 1]]).int()], "Long"),
    ("update_cache_with_indices", [Q, K, 0, torch.tensor([[0, 1, 2]])], "indices [1, 2]"),
    ("custom_sdpa", [Q, K, K, 5, *NONE], "start_pos 5"),
    ("custom_sdpa", [Q, K, K, 2**63 - 1, *NONE], "start_pos"),
    ("custom_sdpa", [Q, K, K.half(), 0, *NONE], "to be Float"),
    ("custom_sdpa", [Q.double(), K.double(), K.double(), 0, *NONE], "Float, Half or BFloat16"),
    ("custom_sdpa", [Q, K, K[:, :5].contiguous(), 0, *NONE], "one shape"),
    ("custom_sdpa", [Q, torch.ones(1, 6, 4, 4), torch.ones(1, 6, 4, 4), 0, *NONE], "heads divide"),
    ("custom_sdpa", [Q, torch.ones(1, 6, 0, 4), torch.ones(1, 6, 0, 4), 0, *NONE], "heads divide"),
    ("custom_sdpa", [Q, K, K, 0, MASK, 0.0, True, None], "found both"),
    ("custom_sdpa", [Q, K, K, 0, MASK[:, :5].contiguous(), 0.0, False, None], "attn_mask [2, 6]"),
    ("custom_sdpa", [Q, K, K, 0, MASK.long(), 0.0, False, None], "attn_mask of Float"),
    ("sdpa_of_sessions", [Q, K, K, torch.tensor([0, 6]), 3, None], "found 6"),
    ("sdpa_of_sessions", [Q, K, K, torch.tensor([-1, 0]), 3, None], "found -1"),
    ("sdpa_of_sessions", [Q, K, K, torch.tensor([0]), 3, None], "rows [2]"),
    ("sdpa_of_sessions", [Q, K, K, torch.tensor([0, 1]).int(), 3, None], "Long"),
    ("sdpa_of_sessions", [Q, K, K, torch.tensor([0, 1]), 4, None], "that divide the 6"),
    ("sdpa_of_sessions", [Q, K, K, torch.tensor([0, 1]), 0, None], "that divide the 6"),
    ("sdpa_of_sessions", [Q, K, K.half(), torch.tensor([0, 1]), 3, None], "to be Float"),
    ("sdpa_with_kv_cache", [Q, Q, Q, K, K, 5, 2, *NONE], "start_pos 5"),
    ("sdpa_with_kv_cache", [Q, Q, Q, K, K, 0, 7, *NONE], "seq_len"),
    ("custom_quantized_sdpa", [I8, I8, I8, 0, *NONE, *[None] * 6, False], "q_zero_points"),
    ("custom_quantized_sdpa", [Q, Q, Q, 0, *NONE, *SIX, False], "to be Char"),
    ("custom_quantized_sdpa", [I8, I8, I8, 0, *NONE, *SIX[:5], S[:, :1], False], "v_scales"),
    ("fast_hadamard_transform", [torch.ones(2, 6)], "found 6"),
    ("fast_hadamard_transform", [torch.ones(2, 8).bfloat16()], "found BFloat16"),
    ("fast_hadamard_transform", [torch.ones(8, 2).T], "row-major"),
    ("tile_crop", [D3, 2], "sides 2 divides, found [1, 2, 3]"),
    ("tile_crop", [D3, 0], "sides 0 divides"),
    ("tile_crop", [Q, 2], "input"),
    ("tile_crop", [torch.ones(2, 4, 2).transpose(1, 2), 1], "row-major"),
    ("channelwise_gated_delta_rule", [*DELTA[:4], torch.ones(1, 2, 4), DELTA[5]], "beta"),
    ("channelwise_gated_delta_rule", [*DELTA[:5], torch.ones(1, 2, 4, 5)], "initial_state"),
    ("channelwise_gated_delta_rule", [DELTA[0].double(), *DELTA[1:]], "query to be Float"),
]  # fmt: skip


@pytest.mark.parametrize("row", WRONG, ids=lambda row: f"{row[0]}-{row[2]}")
def test_wrong_usage_is_told_and_writes_nothing(
    row: tuple[str, list[Any], str], capfd: Any
) -> None:
    name, inputs, words = row
    inputs = [v.clone() if isinstance(v, torch.Tensor) else v for v in inputs]
    before = [v.clone() if isinstance(v, torch.Tensor) else v for v in inputs]
    like = (Q.float(),)
    if name == "channelwise_gated_delta_rule":
        like = (DELTA[2], DELTA[5])
    elif name == "tile_crop":
        like = (torch.empty(8, 2, 1, 1),)
    elif name == "fast_hadamard_transform":
        like = (torch.empty_like(inputs[0], memory_format=torch.contiguous_format),)
    assert make_call(name, inputs, like).run() != 0
    assert words in capfd.readouterr().err
    for one, other in zip(inputs, before, strict=True):
        assert not isinstance(one, torch.Tensor) or torch.equal(one, other)
