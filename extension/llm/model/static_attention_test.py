# SPDX-License-Identifier: BSD-3-Clause
"""Static attention says what attention with caches inside says, token by token, in eager mode and in programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.examples.models.llama.static_attention import (
    StaticAttentionIOManager,
    StaticAttentionMask,
    StaticKCache,
    StaticKVCache,
    StaticVCache,
    transform_attention_mha_to_static_attention,
)
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import Transformer, construct_transformer
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

ARGS = ModelArgs(dim=32, n_layers=2, n_heads=4, n_kv_heads=2, vocab_size=64, hidden_dim=48, max_seq_len=48,
                 max_context_len=48)  # fmt: skip
PROMPT, COUNT = [3, 5, 7, 9, 11, 13], 14


def decoder(**changes: Any) -> Transformer:
    torch.manual_seed(3)
    model = construct_transformer(dataclasses.replace(ARGS, **changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter))
    return model


def by_caches(model: Transformer) -> list[int]:
    """Tokens that the same weights give with caches inside."""
    cached = construct_transformer(dataclasses.replace(model.params, use_kv_cache=True)).eval()
    cached.load_state_dict(model.state_dict(), strict=False)
    found, at, tokens = [], 0, PROMPT
    for _ in range(COUNT):
        logits = cached(torch.tensor([tokens]), {"input_pos": torch.tensor([at])})
        at += len(tokens)
        tokens = [int(logits.reshape(-1, 64)[-1].argmax())]
        found += tokens
    return found


def by_manager(manager: StaticAttentionIOManager, model: Callable[..., Any]) -> list[int]:
    first = int(manager.prefill(model, PROMPT).reshape(-1, 64)[-1].argmax())
    return manager.decode(model, first, COUNT - 1)


@pytest.mark.parametrize("style", ["shift_pointer", "smart_mask"])
@pytest.mark.parametrize(
    "options", [{}, {"split_mha": False}, {"use_conv2d": True}, {"use_hf_rope": True}], ids=str
)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"generate_full_logits": True, "attention_qkv_bias": True},
        {"use_qk_norm": True, "qk_norm_before_rope": True},
        {"use_qk_norm": True, "scale_query_by": 0.5, "attention_multiplier": 0.2},
        {"use_hf_rope": True, "partial_rotary_factor": 0.5},
    ],
    ids=str,
)  # fmt: skip
def test_the_same_tokens(changes: dict[str, Any], options: dict[str, Any], style: str) -> None:
    model = decoder(**changes)
    static = transform_attention_mha_to_static_attention(model, inplace=False, **options)
    wanted = by_caches(model)
    assert len(set(wanted)) > 3  # a text, not one token
    manager = StaticAttentionIOManager(static, 4, 24, style=style)
    assert by_manager(manager, static) == wanted
    manager.reset()
    assert by_manager(manager, static) == wanted


def flat(run: Any, spec: pytree.TreeSpec) -> Callable[..., Any]:
    """A program as the manager calls it."""

    def call(*args: Any) -> Any:
        return pytree.tree_unflatten(run.forward(tuple(pytree.tree_leaves(args))), spec)

    return call


@pytest.mark.parametrize("partitioners", [[], [XnnpackPartitioner()]], ids=["kernels", "xnnpack"])
def test_a_program_gives_the_same_tokens(partitioners: list[Any]) -> None:
    model = decoder(attention_type="mha")
    static = transform_attention_mha_to_static_attention(model, inplace=False, use_hf_rope=True)
    manager = StaticAttentionIOManager(static, 4, [24, 8])
    seen: list[Any] = []
    wanted = by_manager(manager, lambda *args: (seen.append(args), static(*args))[1])
    manager.reset()
    exported = torch.export.export(static, seen[0])
    lowered = to_edge_transform_and_lower(exported, partitioner=partitioners)
    run = _load_for_executorch_from_buffer(lowered.to_executorch().buffer)
    assert by_manager(manager, flat(run, exported.call_spec.out_spec)) == wanted


def test_a_config_makes_the_same_caches_as_its_model() -> None:
    for kind in ("static", "static_mha"):
        model = decoder(attention_type=kind, generate_full_logits=True)
        managers = [StaticAttentionIOManager(each, 4, [24, 0]) for each in (model.params, model)]
        shapes = [
            {key: tuple(rows.shape) for key, rows in manager.k_caches.items()}
            for manager in managers
        ]
        assert shapes[0] == shapes[1]
        heads = {
            "static": {"l0,h0": (1, 24, 8), "l0,h1": (1, 24, 8)},
            "static_mha": {"l0,h0": (1, 2, 24, 8)},
        }
        assert shapes[0] == heads[kind]
        assert by_manager(managers[0], model) == by_manager(managers[1], model)


def test_a_short_cache_is_a_window() -> None:
    model = decoder(n_layers=1)
    static = transform_attention_mha_to_static_attention(model, inplace=False)
    manager = StaticAttentionIOManager(static, 1, 3)  # a token and the three before it
    logits = manager.prefill(static, PROMPT)
    torch.testing.assert_close(logits[0], _with_window(model, 4)(torch.tensor([PROMPT])))


def _with_window(model: Transformer, window: int) -> Transformer:
    windowed = dataclasses.replace(
        model.params, sliding_window=window, layer_types=["sliding_attention"]
    )
    other = construct_transformer(windowed).eval()
    other.load_state_dict(model.state_dict())
    return other


def test_guesses_change_nothing_but_the_number_of_calls() -> None:
    model = decoder(generate_full_logits=True)
    with torch.no_grad():  # weights that repeat themselves, so that guesses come true
        model.output.weight[32:] = -model.output.weight[32:]
    static = transform_attention_mha_to_static_attention(model, inplace=False)
    manager = StaticAttentionIOManager(static, 14, 48)
    calls: list[int] = []

    def counted(*args: Any) -> Any:
        calls.append(1)
        return static(*args)

    first = int(manager.prefill(static, PROMPT)[0, -1].argmax())
    wanted = manager.decode(static, first, 24)
    for sizes in ((3, 4, 2), (3, 3, 4), (2, 7, 7), (4, 3, 1), (3, 4, 0)):
        manager.reset()
        manager.prefill(static, PROMPT)
        calls.clear()
        assert manager.lookahead_decode(counted, first, 24, *sizes) == wanted
        assert len(calls) <= 24 and manager.pos == len(PROMPT) + 24
        kept: dict[int, Any] = {}
        for _ in range(2):  # what one text taught serves the next
            manager.reset()
            manager.prefill(static, PROMPT)
            calls.clear()
            manager.lookahead_decode(counted, first, 24, *sizes, ngram_caches=kept)
        if sizes[2] > 1:
            assert len(calls) < 24
    manager.reset()
    manager.prefill(static, PROMPT)
    end = wanted.index(wanted[5], 1)
    assert manager.lookahead_decode(static, first, 24, 3, 4, 2, [wanted[5]]) == wanted[: end + 1]
    with pytest.raises(ValueError, match="of at most input_len, 14, found 20"):
        manager.lookahead_decode(static, first, 24, 3, 8, 2)


def test_a_mask_opens_as_the_cache_fills() -> None:
    # the numbers of release 1.4.1
    for style, rows in (
        ("shift_pointer", [[-9, -9, -9, -9], [-9, -9, 0, 0], [-9, 0, 0, 0], [0, 0, 0, 0]]),
        ("smart_mask", [[-9, -9, -9, -9], [0, 0, -9, -9], [0, 0, 0, -9], [0, 0, 0, 0]]),
    ):
        mask = StaticAttentionMask(3, 4, style, mask_val=-9.0)
        inner = torch.arange(9.0).view(3, 3)
        mask.set_input_mask(inner)
        for row, more in zip(rows, (2, 1, 5, 0)):
            wanted = torch.cat([torch.tensor([row] * 3).float(), inner], 1)
            assert torch.equal(mask.tensor, wanted[None])
            mask.unmask(more)
        mask.reset()
        assert mask.tensor[0, 0].tolist() == [-9, -9, -9, -9, 0, 1, 2]
    with pytest.raises(ValueError, match="shift_pointer or smart_mask, found 'ring'"):
        StaticAttentionMask(3, 4, "ring")


@pytest.mark.parametrize(
    "style, pos, first, count, wanted",
    [  # of release 1.4.1
        ("shift_pointer", 0, 0, None, [40, 50, 1, 3, 5]),
        ("shift_pointer", 1, 0, 2, [30, 40, 50, 1, 3]),
        ("shift_pointer", 1, 1, 2, [30, 40, 50, 3, 5]),
        ("smart_mask", 0, 0, None, [1, 3, 5, 40, 50]),
        ("smart_mask", 1, 0, None, [10, 1, 3, 5, 50]),
        ("smart_mask", 1, 1, 2, [10, 3, 5, 40, 50]),
    ],
)
def test_new_rows_join_a_cache(
    style: str, pos: int, first: int, count: int | None, wanted: list[float]
) -> None:
    cache = (torch.arange(1.0, 6) * 10)[None, :, None].expand(1, 5, 2).clone()
    new = torch.arange(1.0, 7).view(1, 3, 2)
    for transposed in (False, True):
        args = [
            each.transpose(1, 2).clone() if transposed else each.clone() for each in (cache, new)
        ]
        found = StaticKVCache.apply_update(*args, pos, style, transposed, first, count)
        found = found.transpose(1, 2) if transposed else found
        assert found[0, :, 0].tolist() == wanted
    with pytest.raises(ValueError, match="up to position 5, found 6"):
        StaticKVCache.apply_update(cache, new, 3, "smart_mask")


def test_new_rows_come_behind_the_cached_ones() -> None:
    keys, values = StaticKCache(1, 2), StaticVCache(1, 2)
    turned = StaticKCache(1, 2, transpose=True)
    assert keys.cache_key() == StaticKVCache.calculate_cache_key(1, 2) == "l1,h2"
    new, held = torch.rand(1, 3, 2), torch.rand(1, 4, 2)
    state, joined = ({"l1,h2": held}, {"l1,h2": -held}), torch.cat([held, new], 1)
    out: Any = ({}, {})
    rows, out = keys.update(new, state, out)
    assert torch.equal(rows, joined)
    rows, out = values.update(-new, state, out)
    assert torch.equal(rows, -joined) and torch.equal(out[0]["l1,h2"], new)
    assert torch.equal(out[1]["l1,h2"], -new)
    rows, _ = turned.update(new, ({"l1,h2": held.transpose(1, 2)}, {}), ({}, {}))
    assert torch.equal(rows, joined.transpose(1, 2))
    assert keys.update(new, None, None) == (new, None)


def test_wrong_usage_is_told() -> None:
    static = transform_attention_mha_to_static_attention(decoder())
    with pytest.raises(ValueError, match="expected the option masks"):
        static(torch.tensor([PROMPT]))
    with pytest.raises(ValueError, match="one of each of 2 layers, found 3"):
        StaticAttentionIOManager(static, 4, [1, 2, 3])
    with pytest.raises(ValueError, match="with static attention"):
        StaticAttentionIOManager(decoder(), 4, 8)
    with pytest.raises(ValueError, match="a model without attn_logit_softcapping"):
        transform_attention_mha_to_static_attention(decoder(attn_logit_softcapping=30.0))
    with pytest.raises(ValueError, match=r"tables of width 8 \(use_hf_rope=True\), found 4"):
        turned = transform_attention_mha_to_static_attention(decoder(), use_hf_rope=True)
        StaticAttentionIOManager(decoder().params, 4, 8).prefill(turned, PROMPT)
    full = StaticAttentionIOManager(static, 4, 8, style="smart_mask")
    full.prefill(static, PROMPT)
    with pytest.raises(ValueError, match="8 tokens at most, which the caches hold, found 9"):
        full.decode(static, 1, 5)
    assert full.cache_full and full.pos == 8
    with pytest.raises(ValueError, match="positions below 48"):
        StaticAttentionIOManager(static, 4, 8).prefill(static, list(range(49)))
