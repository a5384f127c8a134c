# SPDX-License-Identifier: BSD-3-Clause
"""Operators of language models in eager PyTorch and in graphs of torch.export."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.export import Dim, export

import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401  (registers the operators)

llama = torch.ops.llama


def by_torch(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """Tensors [B, S, H, D]; keys that no query sees are left out by the caller."""
    q, k, v = (each.transpose(1, 2) for each in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True).transpose(1, 2)


def rows(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("heads, key_heads", [(4, 4), (6, 2), (3, 1)])
@pytest.mark.parametrize("start", [0, 2, 5])
def test_attention_is_torchs(start: int, heads: int, key_heads: int, dtype: torch.dtype) -> None:
    q, k, v = (
        rows(2, 3, heads, 8).to(dtype), rows(2, 8, key_heads, 8).to(dtype), -rows(2, 8, key_heads, 8).to(dtype),
    )  # fmt: skip
    end = start + 3
    causal = torch.arange(end) <= start + torch.arange(3)[:, None]
    near = {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 2e-2, "atol": 2e-2}
    for is_causal, mask in ((True, causal), (False, None)):
        found = llama.custom_sdpa(q, k, v, start, None, 0.0, is_causal)
        wanted = by_torch(q.float(), k[:, :end].float(), v[:, :end].float(), mask)
        torch.testing.assert_close(found, wanted.to(dtype), **near)
    added = rows(3, 8)
    found = llama.custom_sdpa(q, k, v, 0, added)
    torch.testing.assert_close(
        found, by_torch(q.float(), k.float(), v.float(), added).to(dtype), **near
    )
    new, caches = rows(2, 3, key_heads, 8).to(dtype), (k.clone(), v.clone())
    found = llama.sdpa_with_kv_cache(q, new, -new, *caches, start, 3, None, 0.0, True)
    assert torch.equal(caches[0][:, start:end], new)
    assert torch.equal(caches[1][:, :start], v[:, :start])
    assert torch.equal(found, llama.custom_sdpa(q, *caches, start, None, 0.0, True))


def test_the_out_variant_and_a_scale() -> None:
    q, k, v = rows(1, 2, 2, 4), rows(1, 6, 2, 4), rows(1, 6, 2, 4)
    out = torch.empty(0)
    assert llama.custom_sdpa.out(q, k, v, 1, scale=0.3, out=out) is out
    wanted = by_torch(q * 0.3 * math.sqrt(4), k[:, :3], v[:, :3], None)
    torch.testing.assert_close(out, wanted)


@pytest.mark.parametrize("is_seq_at_dim_2", [False, True])
def test_quantized_attention_is_that_of_the_numbers_it_stands_for(is_seq_at_dim_2: bool) -> None:
    shapes = [(1, 3, 4, 8), (1, 6, 2, 8), (1, 6, 2, 8)]
    codes = [(rows(*shape) * 40).clamp(-128, 127).to(torch.int8) for shape in shapes]
    scales = [rows(*shape[:3], 1).abs() * 0.02 + 0.01 for shape in shapes]
    zeros = [(rows(*shape[:3], 1) * 5).to(torch.int8) for shape in shapes]
    numbers = [(c.float() - z) * s for c, z, s in zip(codes, zeros, scales, strict=True)]
    wanted = llama.custom_sdpa(*numbers, 3, None, 0.0, True)
    if is_seq_at_dim_2:
        codes, scales, zeros = (
            [each.transpose(1, 2).contiguous() for each in group]
            for group in (codes, scales, zeros)
        )
        wanted = wanted.transpose(1, 2)
    parameters = [each for pair in zip(zeros, scales, strict=True) for each in pair]
    found = llama.custom_quantized_sdpa(
        *codes, 3, None, 0.0, True, None, *parameters, is_seq_at_dim_2
    )
    torch.testing.assert_close(found, wanted)


def test_caches_get_rows() -> None:
    cache, value = torch.zeros(2, 5, 1, 2), rows(2, 2, 1, 2)
    llama.update_cache(value, cache, 3)
    assert torch.equal(cache[:, 3:], value)
    assert not cache[:, :3].any()
    llama.update_cache_with_indices(value, cache, 0, torch.tensor([[0, 4], [2, 2]]))
    assert torch.equal(cache[0, 0], value[0, 0])
    assert torch.equal(cache[0, 4], value[0, 1])
    assert torch.equal(cache[1, 2], value[1, 1])  # the last of equal indices


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_caches_of_half_the_size_hold_floats_rounded(dtype: torch.dtype) -> None:
    cache, value = torch.zeros(1, 6, 2, 4, dtype=dtype), rows(1, 2, 2, 4)
    llama.update_cache(value, cache, 1)
    llama.update_cache_with_indices(-value, cache, 0, torch.tensor([[5, 4]]))
    assert torch.equal(cache[:, 1:3], value.to(dtype))
    assert torch.equal(cache[:, 4:].flip(1), -value.to(dtype))
    query = rows(1, 3, 4, 4)
    found = llama.custom_sdpa(query, cache, -cache, 2, None, 0.0, True)
    assert found.dtype == torch.float32
    assert torch.equal(
        found, llama.custom_sdpa(query, cache.float(), -cache.float(), 2, None, 0.0, True)
    )


@pytest.mark.parametrize("size", [1, 2, 64, 28, 56])
def test_hadamard_is_a_product_with_its_matrix(size: int) -> None:
    matrix = llama.fast_hadamard_transform(torch.eye(size, dtype=torch.float64))
    assert torch.allclose(matrix.abs(), matrix.abs()[0, 0])
    length = 28 if size % 28 == 0 else 1
    torch.testing.assert_close(matrix @ matrix.T, length * torch.eye(size, dtype=torch.float64))
    x = rows(3, size)
    torch.testing.assert_close(llama.fast_hadamard_transform(x), (x.double() @ matrix).float())


def test_delta_rule_step_by_step() -> None:
    steps, depth, width = 4, 3, 2
    q, k, decay = (
        rows(1, 1, steps, depth),
        -rows(1, 1, steps, depth),
        rows(1, 1, steps, depth).abs(),
    )
    v, beta, state = rows(1, 1, steps, width), rows(1, 1, steps), rows(1, 1, depth, width)
    out, last = llama.channelwise_gated_delta_rule(q, k, v, decay, beta, state)
    s = state[0, 0].double()
    for t in range(steps):
        s = s * decay[0, 0, t].double()[:, None]
        change = beta[0, 0, t].double() * (v[0, 0, t].double() - s.T @ k[0, 0, t].double())
        s = s + torch.outer(k[0, 0, t].double(), change)
        torch.testing.assert_close(
            out[0, 0, t].double(), s.T @ q[0, 0, t].double(), rtol=1e-4, atol=1e-5
        )
    torch.testing.assert_close(last[0, 0].double(), s, rtol=1e-4, atol=1e-5)


def test_images_are_cut_into_tiles() -> None:
    image = torch.arange(3 * 4 * 6.0).view(3, 4, 6)
    tiles = torch.ops.preprocess.tile_crop(image, 2)
    expected = [image[:, y : y + 2, x : x + 2] for y in (0, 2) for x in (0, 2, 4)]
    assert tiles.is_contiguous() and torch.equal(tiles, torch.stack(expected))
    out = torch.ops.preprocess.tile_crop.out(image, 2, out=torch.empty(0))
    assert torch.equal(out, tiles)
    with pytest.raises(ValueError, match=r"sides 4 divides, found \[3, 4, 6\]"):
        torch.ops.preprocess.tile_crop(image, 4)

    class Cut(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.preprocess.tile_crop(x, 2)

    smaller = image[:, :, :4].contiguous()
    program = torch.export.export(Cut(), (smaller,))
    (value,) = (n.meta["val"] for n in program.graph.nodes if "tile_crop" in str(n.target))
    count = value.shape[0]
    assert isinstance(count, torch.SymInt) and list(value.shape[1:]) == [3, 2, 2]
    assert program.range_constraints[count.node.expr].upper == 4
    assert torch.equal(program.module()(smaller), tiles[[0, 1, 3, 4]])


def test_the_last_state_has_memory_of_its_own() -> None:
    state = rows(1, 2, 4, 5)
    args = (
        *(rows(1, 2, 3, 4) for _ in range(2)),
        rows(1, 2, 3, 5),
        rows(1, 2, 3, 4),
        rows(1, 2, 3),
    )
    out, apart = torch.empty(1, 2, 3, 5), torch.empty(2, *state.shape)
    call = llama.channelwise_gated_delta_rule.out
    _, last = call(*args, state, out=out, final_state_out=apart[0])
    assert last.data_ptr() == apart.data_ptr()
    flat = torch.zeros(60)
    initial, overlapping = flat[:40].view(state.shape), flat[20:].view(state.shape)
    for final in (initial, overlapping):
        with pytest.raises(RuntimeError, match="final_state_out must not alias initial_state"):
            call(*args, initial, out=out, final_state_out=final)


@pytest.mark.parametrize("tokens", [130, 17])
def test_attention_of_many_heads_is_exact(tokens: int) -> None:
    """Within 1e-6 and 1e-5 of float64, which rounding of float32 alone takes most of."""
    torch.manual_seed(0)
    q, k, v = (torch.rand(1, tokens, 32, 128) for _ in range(3))
    caches = [torch.zeros(1, 140, 32, 128) for _ in range(2)]
    found = llama.sdpa_with_kv_cache(q, k, v, *caches, 0, tokens, None, 0, True)
    wide = (each.double().transpose(1, 2) for each in (q, k, v))
    expected = torch.nn.functional.scaled_dot_product_attention(*wide, is_causal=True)
    torch.testing.assert_close(found.double(), expected.transpose(1, 2), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("is_bool", [False, True])
def test_a_query_that_sees_no_key_gives_nan(is_bool: bool) -> None:
    """As the kernel does (`forbidden_is_nan`)."""
    mask = torch.ones(2, 6, dtype=torch.bool)
    mask[1] = False
    if not is_bool:
        mask = torch.zeros(2, 6).masked_fill(~mask, -torch.inf)
    found = llama.custom_sdpa(Q, K, K, 0, mask)
    assert found[:, 0].isfinite().all() and found[:, 1].isnan().all()


Q, K = rows(1, 2, 2, 4), rows(1, 6, 2, 4)
I8 = torch.zeros(1, 2, 2, 4, dtype=torch.int8)
BAD: dict[str, tuple[Any, ...]] = {
    "start_pos": (llama.update_cache, Q, K, 5),
    "rows": (llama.update_cache, K, Q, 0),
    "indices": (llama.update_cache_with_indices, Q, K, 0, torch.tensor([[0, 6]])),
    "int64": (llama.update_cache_with_indices, Q, K, 0, torch.tensor([[0, 1]], dtype=torch.int32)),
    "heads": (llama.custom_sdpa, rows(1, 2, 3, 4), K, K, 0),
    "keys": (llama.custom_sdpa, Q, K, K, 5),
    "key and value": (llama.custom_sdpa, Q, K.half(), K, 0),
    "of the query's torch.float16": (llama.custom_sdpa, Q.half(), K, K, 0),
    "one size": (llama.update_cache, Q.double(), K.half(), 0),
    "both": (llama.custom_sdpa, Q, K, K, 0, rows(2, 6), 0.0, True),
    "attn_mask": (llama.custom_sdpa, Q, K, K, 0, rows(2, 5)),
    "scales": (llama.custom_quantized_sdpa, I8, I8, I8, 0),
    "last dimension": (llama.fast_hadamard_transform, rows(2, 6)),
    "float32": (llama.fast_hadamard_transform, rows(2, 4).bfloat16()),
    "dims": (llama.channelwise_gated_delta_rule, Q, Q, Q, Q, Q, Q),
}  # fmt: skip


@pytest.mark.parametrize("word", BAD)
def test_wrong_usage_is_told(word: str) -> None:
    op, *args = BAD[word]
    with pytest.raises(ValueError, match=word):
        op(*args)


class Attention(torch.nn.Module):
    """A layer with caches of 8 rows."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, 8, 2, 4))

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        start = position[0].item()
        torch._check(start >= 0)
        torch._check(start < 8)
        new = self.linear(x).view(1, -1, 2, 4)
        llama.update_cache(new, self.keys, start)
        llama.update_cache(new * 2, self.values, start)
        out = llama.custom_sdpa(new, self.keys, self.values, start, None, 0.0, True)
        return out.view(1, -1, 8)


@pytest.mark.parametrize("strict", [False, True])
def test_graphs_call_them(strict: bool) -> None:
    shapes = ({1: Dim("rows", min=1, max=7)}, None)
    inputs = (rows(1, 3, 8), torch.tensor([1]))
    program = export(Attention(), inputs, dynamic_shapes=shapes, strict=strict)
    called = [str(n.target) for n in program.graph.nodes if "llama" in str(n.target)]
    assert called == [*["llama.update_cache.default"] * 2, "llama.custom_sdpa.default"]


def test_every_dtype_and_rank_of_a_result_is_what_graphs_expect() -> None:
    """Eager results and the rules for graphs agree."""
    five = [rows(1, 2, 3, 4), rows(1, 2, 3, 4), rows(1, 2, 3, 5), rows(1, 2, 3, 4), rows(1, 2, 3)]
    calls = [
        (llama.update_cache, Q, K, 1), (llama.custom_sdpa, Q.half(), K.half(), K.half(), 1),
        (llama.fast_hadamard_transform, rows(3, 8).double()),
        (llama.channelwise_gated_delta_rule, *five, rows(1, 2, 4, 5)),
        (llama.sdpa_with_kv_cache, Q, Q, Q, K.clone(), K.clone(), 1, 2),
    ]  # fmt: skip
    for op, *args in calls:
        on_meta = [a.to("meta") if isinstance(a, torch.Tensor) else a for a in args]
        for real, fake in itertools.zip_longest(
            *map(torch.utils._pytree.tree_leaves, (op(*args), op(*on_meta)))
        ):
            assert (real.shape, real.dtype) == (fake.shape, fake.dtype), op
