# SPDX-License-Identifier: BSD-3-Clause
"""Networks of which nothing is left out: published depth, widths, vocabulary and input size."""

from __future__ import annotations

from executorch.tools.architectures.row import Input, floats, ids, ones
from executorch.tools.bench.suite.network import hub

FAMILY = "full size"
IMAGE: dict[str, Input] = {"pixel_values": floats(1, 3, 224, 224)}
SECOND: dict[str, Input] = {"input_values": floats(1, 16000)}


def tokens(high: int, count: int = 128) -> dict[str, Input]:
    return {"input_ids": ids(1, count, high=high)}


def masked(high: int, count: int = 128) -> dict[str, Input]:
    return {**tokens(high, count), "attention_mask": ones(1, count)}


ROWS = [
    hub("resnet50_full", FAMILY, "ResNet", IMAGE, model="ForImageClassification"),
    hub("convnext_tiny_full", FAMILY, "ConvNext", IMAGE, model="ForImageClassification"),
    hub("swin_tiny_full", FAMILY, "Swin", IMAGE, model="ForImageClassification"),
    hub("vit_base_full", FAMILY, "ViT", IMAGE, model="ForImageClassification"),
    hub("bert_base_full", FAMILY, "Bert", masked(30522)),
    hub("distilbert_full", FAMILY, "DistilBert", masked(30522)),
    hub("gpt2_full", FAMILY, "GPT2", tokens(50257), model="LMHeadModel", use_cache=False),
    hub(
        "t5_small_full",
        FAMILY,
        "T5",
        {**tokens(32128), "decoder_input_ids": ids(1, 32, high=32128)},
        use_cache=False,
    ),
    hub("wav2vec2_base_full", FAMILY, "Wav2Vec2", SECOND),
    hub(  # SmolLM2-135M
        "smollm2_135m_full",
        FAMILY,
        "Llama",
        tokens(49152),
        model="ForCausalLM",
        is_uncut=True,
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        tie_word_embeddings=True,
        use_cache=False,
    ),
]
