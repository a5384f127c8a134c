# SPDX-License-Identifier: BSD-3-Clause
"""A GGUF file of a Llama as a program: token ids int64 (1, n) -> logits float32 (1, n, vocabulary)."""

from __future__ import annotations

import re

import torch
from torch import nn

from executorch.exir import to_edge_transform_and_lower
from executorch.extension.gguf_util.load_gguf import GGUFModelArgs, GGUFWeights
from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.keys import GGUF_NAMES
from executorch.extension.llm.checkpoint.load import check_complete, load_pairs, tie
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import construct_transformer

LONGEST = 128  # tokens of a call


def _convert_gguf_tensor_name_to_llama_nn(gguf_name: str) -> str:
    """The model's name of a tensor; raises CheckpointError for one that a Llama does not have."""
    layer = re.match(r"blk\.(\d+)\.", gguf_name)
    plain = re.sub(r"^(blk)\.\d+\.", r"\1.{}.", gguf_name)
    if plain not in GGUF_NAMES:
        raise CheckpointError(f"tensor {gguf_name!r} is none of a Llama's")
    return GGUF_NAMES[plain].format(layer[1] if layer else "")


def _create_pt_model(gguf_model_args: GGUFModelArgs) -> nn.Module:
    """The model without weights, on the meta device."""
    args = gguf_model_args
    head_dim = args.embedding_length // args.attention.head_count
    with torch.device("meta"):
        return construct_transformer(
            ModelArgs(
                dim=args.embedding_length,
                n_layers=args.block_count,
                n_heads=args.attention.head_count,
                n_kv_heads=args.attention.head_count_kv,
                vocab_size=args.vocab_size,
                hidden_dim=args.feed_forward_length,
                norm_eps=args.attention.layer_norm_rms_epsilon,
                rope_theta=args.rope.freq_base,
                partial_rotary_factor=(args.rope.dimension_count or head_dim) / head_dim,
                max_seq_len=LONGEST,
                max_context_len=LONGEST,
                generate_full_logits=True,
            )
        )


def convert_to_pte(gguf_model_args: GGUFModelArgs, gguf_weights: GGUFWeights) -> bytes:
    """The bytes of a `.pte` file.

    Raises:
        CheckpointError: tensors that are missing, unknown, or of another shape.
    """
    model = _create_pt_model(gguf_model_args)
    where = "GGUF weights"
    pairs = (
        (_convert_gguf_tensor_name_to_llama_nn(tensor.name), tensor.read())
        for tensor in gguf_weights.tensors
        if tensor.name != "rope_freqs.weight"
    )
    if "output.weight" not in load_pairs(model, pairs, where, torch.float32):
        tie(model)
    check_complete(model, where)
    model.eval().requires_grad_(False)
    tokens = {1: torch.export.Dim("tokens", max=LONGEST)}
    example = (torch.zeros(1, 3, dtype=torch.long),)
    exported = torch.export.export(model, example, dynamic_shapes=(tokens,), strict=False)
    return to_edge_transform_and_lower(exported).to_executorch().buffer
