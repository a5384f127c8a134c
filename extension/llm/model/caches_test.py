# SPDX-License-Identifier: BSD-3-Clause
"""Each kind of cache beside a list of what each position was given, as attention reads it."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from executorch.extension.llm.model import caches
from executorch.extension.llm.model.attention import SDPA

HEADS, WIDTH, WINDOW, SINK, LENGTH = 2, 4, 5, 2, 24
ASYMMETRIC = caches.QuantizedCacheType.AffineAsymmetric
SIZES = (1, LENGTH, HEADS, WIDTH)
RINGS = (1, WINDOW, HEADS, WIDTH)
KINDS: dict[str, Callable[[], caches.Cache]] = {
    "floats": lambda: caches.KVCache(*SIZES, True),
    "custom": lambda: caches.CustomKVCache(*SIZES),
    "int8": lambda: caches.QuantizedKVCache(*SIZES),
    "int8 asymmetric": lambda: caches.QuantizedKVCache(*SIZES, ASYMMETRIC),
    "int8 custom": lambda: caches.QuantizedKVCache.from_float(
        caches.CustomKVCache(*SIZES), ASYMMETRIC, True),
    "ring": lambda: caches.RingKVCache(*RINGS, True),
    "ring custom": lambda: caches.CustomRingKVCache.from_custom_kv_cache(
        caches.CustomKVCache(*SIZES), WINDOW),
    "ring int8": lambda: caches.QuantizedRingKVCache(*RINGS),
    "ring int8 custom": lambda: caches.QuantizedRingKVCache.from_quantized_kv_cache(
        caches.QuantizedKVCache(*SIZES, ASYMMETRIC, True), WINDOW),
    "sink": lambda: caches.KVCacheWithAttentionSink(HEADS, WIDTH, True, None, WINDOW, SINK),
    "sink custom": lambda: caches.CustomKVCacheWithAttentionSink.from_kv_cache_with_attention_sink(
        caches.KVCacheWithAttentionSink(HEADS, WIDTH, True, None, WINDOW, SINK)),
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def operators() -> None:
    import torch.ao.quantization.fx._decomposed  # noqa: F401

    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401


@pytest.mark.parametrize("name", KINDS)
def test_a_cache_gives_what_each_position_was_given(name: str) -> None:
    """By attention: what is visible counts, wherever its row is. A second text overwrites the first."""
    torch.manual_seed(0)
    cache = KINDS[name]()
    attend = SDPA(HEADS * 2 * WIDTH, WIDTH, 2, LENGTH)
    sink = SINK if "sink" in name else 0
    most = 0.02 if "int8" in name else 1e-5
    for counts in ([5, 1, 6, 1, 1, 4, 1, 5], [3, 1, 1, 6, 2]):
        held: list[tuple[Tensor, Tensor]] = []
        for count in counts:
            start = len(held)
            q = torch.randn(1, 2 * HEADS, count, WIDTH)
            k, v = (torch.randn(1, HEADS, count, WIDTH) for _ in range(2))
            held += [(k[0, :, i], v[0, :, i]) for i in range(count)]
            position = torch.tensor([start])
            keys, values = cache.update(position, k, v)
            if cache.is_ring_buffer:
                mask = cache.create_causal_mask_for_ring_buffer(position[0], count)
            else:
                rows = torch.arange(keys.shape[2])
                mask = torch.zeros(count, len(rows)).masked_fill(
                    rows > start + torch.arange(count)[:, None], -math.inf)  # fmt: skip
            found = attend(position, q, keys, values, 1, count, mask)
            window = WINDOW if cache.is_ring_buffer else LENGTH
            expected = attended(q[0], held, start, window, sink)
            assert (found[0] - expected).abs().max() < most, start


def attended(
    q: Tensor, held: list[tuple[Tensor, Tensor]], start: int, window: int, sink: int
) -> Tensor:
    rows = []
    for token in range(q.shape[1]):
        place = start + token
        seen = [i for i in range(place + 1) if place - i < window or i < sink]
        made = []
        for head in range(q.shape[0]):
            own = head // 2
            scores = torch.stack([held[i][0][own] @ q[head, token] for i in seen]) * WIDTH**-0.5
            made.append(sum(s * held[i][1][own] for s, i in zip(scores.softmax(0), seen)))
        rows.append(torch.cat(made))
    return torch.stack(rows)


def test_rings_take_a_window_and_one_token_in_a_call() -> None:
    cache = caches.RingKVCache(*RINGS, True)
    assert (cache.max_tokens, cache.max_context_length) == (WINDOW + 1, 2 * WINDOW)
    x = torch.zeros(1, HEADS, WINDOW + 2, WIDTH)
    with pytest.raises(RuntimeError, match="at most 6 tokens"):
        cache.update(torch.tensor([0]), x, x)
    cache = caches.KVCacheWithAttentionSink(HEADS, WIDTH, True, None, WINDOW, SINK)
    assert cache.max_context_length == SINK + 2 * WINDOW and cache.evict_tokens(x, 1) == 0


def test_rows_may_be_given() -> None:
    """Of a tree of tokens: one row of indices for each of a batch."""
    for cache in (caches.KVCache(*SIZES, True), caches.CustomKVCache(*SIZES),
                  caches.QuantizedKVCache(*SIZES), KINDS["int8 custom"]()):  # fmt: skip
        k, rows = torch.randn(1, HEADS, 3, WIDTH), torch.tensor([[7, 2, 9]])
        keys, _ = cache.update(torch.tensor([0]), k, k, rows)
        torch.testing.assert_close(keys[:, :, rows[0]], k)
        rest = [row for row in range(LENGTH) if row not in (7, 2, 9)]
        assert keys[:, :, rest].unique().numel() == 1


def test_texts_of_sessions_lie_one_after_the_other() -> None:
    cache = caches.SessionsKVCache(2, caches.CustomKVCache(1, 6, HEADS, WIDTH))
    k = torch.randn(1, HEADS, 2, WIDTH)
    keys, _ = cache.update(torch.tensor([3, 8]), k, k)
    assert keys.shape[2] == 12
    torch.testing.assert_close(keys[:, :, [3, 8]], k)


def test_stored_bytes_and_their_scales() -> None:
    """What the largest of a head is as 127, or the least and the largest as 8 bits have them."""
    k = torch.tensor([0.5, -2.0, 1.0, 0.25]).reshape(1, 1, 1, 4).expand(1, HEADS, 1, 4)
    cache = caches.QuantizedKVCache(*SIZES, return_float_values=False)
    keys, _ = cache.update(torch.tensor([3]), k, k)
    assert keys[0, 0, 3].tolist() == [32, -127, 64, 16] and keys.dtype == torch.int8
    assert cache.k_cache_scales[0, 3, 0, 0].item() == pytest.approx(2 / 127)
    assert cache.k_cache_zero_points[0, 3, 0, 0].item() == 0
    cache = caches.QuantizedKVCache(*SIZES, ASYMMETRIC)
    cache.update(torch.tensor([3]), k, k)
    assert cache.k_cache_scales[0, 3, 0, 0].item() == pytest.approx(3 / 255, rel=1e-3)
    for wrong in (caches.QuantizedCacheType.AffineSymmetricGroupWise,):
        with pytest.raises(ValueError, match="expected AffineSymmetric"):
            caches.QuantizedKVCache(*SIZES, wrong)
    with pytest.raises(ValueError, match="expected RING_BUFFER"):
        caches.CachePositionsManager(4, caches.CacheUpdateStrategy.INVALID)
