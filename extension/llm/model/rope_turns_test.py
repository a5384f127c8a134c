# SPDX-License-Identifier: BSD-3-Clause
"""How queries and keys are turned, and which tables a call takes: beside complex numbers and transformers' own."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.rope import (
    Rope,
    apply_half_rotary,
    apply_rotary_emb,
    rope_tables,
    token_positions,
)

TOKENS = 5
SMALL: dict[str, Any] = {"dim": 32, "n_heads": 2, "max_seq_len": TOKENS, "max_context_len": 12}
LONG = {
    "rope_scaling_short_factor": [1.0] * 8,
    "rope_scaling_long_factor": [2.0] * 8,
    "use_hf_rope": True,
}


def queries_and_keys(head: int, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    """(batch, tokens, heads, head); fewer heads of keys."""
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(2, TOKENS, heads, head, generator=generator).to(dtype) for heads in (4, 2)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_neighbors_turn_as_complex_numbers(dtype: torch.dtype) -> None:
    angles = torch.rand(TOKENS, 4) * 6
    given = queries_and_keys(8, dtype)
    for found, x in zip(apply_rotary_emb(*given, angles.cos(), angles.sin()), given, strict=True):
        numbers = torch.view_as_complex(x.float().unflatten(-1, (4, 2)))
        turned = numbers * torch.polar(torch.ones_like(angles), angles)[:, None]
        torch.testing.assert_close(found, torch.view_as_real(turned).flatten(-2).to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("width", [8, 4])
def test_halves_turn_as_in_transformers(width: int, dtype: torch.dtype) -> None:
    """What is behind the tables' width stays as it was."""
    angles = (torch.rand(TOKENS, width // 2) * 6).repeat(1, 2)
    cos, sin = angles.cos(), angles.sin()
    given = queries_and_keys(8, dtype)
    expected = apply_rotary_pos_emb(
        *(x[..., :width].float() for x in given), cos[None], sin[None], unsqueeze_dim=2
    )
    for found, x, turned in zip(apply_half_rotary(*given, cos, sin), given, expected, strict=True):
        assert found.shape == x.shape
        torch.testing.assert_close(found[..., :width], turned.to(dtype))
        assert torch.equal(found[..., width:], x[..., width:])


@pytest.mark.parametrize("halves", [True, False])
def test_the_kind_of_turn_is_the_models(halves: bool) -> None:
    rope = Rope(ModelArgs(**SMALL, use_hf_rope=halves))
    given, tables = queries_and_keys(16), rope.get_freqs(None, TOKENS)
    turn = apply_half_rotary if halves else apply_rotary_emb
    for found, expected in zip(rope(*given, *tables), turn(*given, *tables), strict=True):
        assert torch.equal(found, expected)


def test_tables_are_as_wide_as_what_is_turned() -> None:
    part = {**SMALL, "partial_rotary_factor": 0.5}
    assert [t.shape for t in rope_tables(ModelArgs(**part), 1e4)] == [(12, 8)] * 2
    halves = ModelArgs(**part, use_hf_rope=True)
    assert [t.shape for t in rope_tables(halves, 1e4)] == [(12, 8)] * 2
    cos, _ = rope_tables(halves, 1e4)
    exponents = torch.arange(0, 8, 2) / 8  # of the turned width, not of the head's 16
    angles = torch.outer(torch.arange(12.0), 1e4**-exponents)
    torch.testing.assert_close(cos, angles.cos().repeat(1, 2))
    # Llama 3's own code has tables of two contexts where the widths of layers have a multiplier.
    assert rope_tables(ModelArgs(**SMALL, ffn_dim_multiplier=1.3), 1e4)[0].shape == (24, 8)


def magnitude(**given: Any) -> float:
    """cos at position 0, where it would be 1."""
    cos, _ = rope_tables(ModelArgs(**{**SMALL, **LONG, **given}), 1e4)
    return float(cos[0, 0])


def test_longrope_makes_longer_texts_louder() -> None:
    """By sqrt(1 + log(ratio) / log(original)) of the lengths; never quieter."""
    louder = math.sqrt(1 + math.log(3) / math.log(4))
    assert magnitude(original_max_position_embeddings=4) == pytest.approx(louder)  # 12 rows
    given = {"original_max_position_embeddings": 8, "max_position_embeddings": 16}
    assert magnitude(**given) == pytest.approx(math.sqrt(1 + math.log(2) / math.log(8)))
    assert magnitude(**{**given, "max_position_embeddings": 4}) == 1.0
    assert magnitude() == 1.0  # the context is the original


def test_a_context_of_the_original_length_takes_the_short_factors() -> None:
    plain = ModelArgs(**SMALL, use_hf_rope=True)
    short = ModelArgs(**SMALL, **LONG, original_max_position_embeddings=12)
    assert torch.equal(rope_tables(short, 1e4)[0], rope_tables(plain, 1e4)[0])


def test_longrope_without_all_its_factors_is_refused() -> None:
    with pytest.raises(ValueError, match="LongRoPE needs rope_scaling_short_factor and"):
        rope_tables(ModelArgs(**SMALL, **{**LONG, "rope_scaling_short_factor": None}), 1e4)
    with pytest.raises(
        ValueError, match=r"expected 8 \(half the rotated part of a head\), found 7"
    ):
        rope_tables(ModelArgs(**SMALL, **{**LONG, "rope_scaling_short_factor": [1.0] * 7}), 1e4)


def test_sliding_layers_have_a_base_of_their_own_and_no_rule() -> None:
    rule = {"use_scaled_rope": True, "rope_linear_factor": 4.0, **LONG}
    rule["original_max_position_embeddings"] = 4  # so that the long factors count
    rope = Rope(ModelArgs(**SMALL, **rule, local_rope_theta=100.0))
    plain = rope_tables(ModelArgs(**SMALL, use_hf_rope=True), 100.0)
    for found, expected in zip(rope.get_freqs(None, 5, local=True), plain, strict=True):
        assert torch.equal(found, expected[:5])
    assert torch.equal(rope.get_freqs(None, 5)[0], rope.freqs_cos[:5])
    assert not torch.equal(rope.freqs_cos, rope.local_freqs_cos)
    without = Rope(ModelArgs(**SMALL))
    assert torch.equal(without.get_freqs(None, 5, local=True)[0], without.freqs_cos[:5])


def test_a_call_takes_the_rows_of_its_positions() -> None:
    rope = Rope(ModelArgs(**SMALL, use_kv_cache=True))
    for found, table in zip(
        rope.get_freqs(torch.tensor([7]), 3), (rope.freqs_cos, rope.freqs_sin), strict=True
    ):
        assert torch.equal(found, table[7:10])
    cos, sin = rope.get_freqs_using_indices(torch.tensor([4, 0]))
    assert torch.equal(cos, rope.freqs_cos[[4, 0]]) and torch.equal(sin, rope.freqs_sin[[4, 0]])
    assert token_positions(torch.tensor([7, 8]), 3).tolist() == [7, 8, 9]
    with pytest.raises(ValueError, match="expected the position of the first token, found None"):
        rope.get_freqs(None, 3)
    assert rope.half().freqs_cos.dtype == torch.float32
