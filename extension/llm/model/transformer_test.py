# SPDX-License-Identifier: BSD-3-Clause
"""Which tokens a decoder computes logits of, and that the others end at the last attention."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import Transformer, construct_transformer

SHAPE = {
    "dim": 32,
    "n_heads": 4,
    "n_layers": 2,
    "vocab_size": 40,
    "hidden_dim": 48,
    "max_seq_len": 16,
    "max_batch_size": 2,
}
TOKENS = torch.tensor([[5, 17, 3, 9, 30], [1, 2, 3, 4, 5]])
# what the options and the arguments say, and whose logits follow
ROWS: list[tuple[dict[str, Any], dict[str, Any], list[int]]] = [
    ({}, {}, [4]),
    ({"last_valid_token_pos": torch.tensor([2])}, {}, [2]),
    ({"last_valid_token_pos": None}, {}, [4]),
    ({"logits_of": torch.tensor([1, 3])}, {}, [1, 3]),
    ({"logits_of": torch.tensor([1, 3])}, {"generate_full_logits": True}, [1, 3]),
    ({"last_valid_token_pos": torch.tensor([2])}, {"generate_full_logits": True}, [0, 1, 2, 3, 4]),
    ({}, {"use_ffn_norm": False}, [4]),
    ({}, {"post_ffn_norm": True, "residual_multiplier": 0.5}, [4]),
    ({}, {"layer_types": ["full_attention", "conv"]}, [4]),
    ({}, {"moe": True, "num_experts": 2, "num_activated_experts": 1}, [4]),
    ({}, {"mlp_type": ["default", "skip"]}, [4]),
]


def made(**changes: Any) -> Transformer:
    torch.manual_seed(0)
    return construct_transformer(ModelArgs(**{**SHAPE, **changes})).eval()


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_tokens_without_logits_end_at_the_last_attention(
    row: tuple[dict[str, Any], dict[str, Any], list[int]],
) -> None:
    options, changes, places = row
    expected = made(**{**changes, "generate_full_logits": True})(TOKENS)[:, places]
    model, seen = made(**changes), []
    last = model.layers[-1]
    for part in (last.feed_forward, last.block_sparse_moe, model.norm):
        if part is not None:
            part.register_forward_hook(
                lambda _m, given, _o: seen.append(given[0].shape[1:-1].numel())
            )
    found = model(TOKENS, options)
    torch.testing.assert_close(found.reshape(expected.shape), expected)
    assert set(seen) == {len(places)} and len(seen) == (1 if "mlp_type" in changes else 2)
