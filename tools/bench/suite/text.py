# SPDX-License-Identifier: BSD-3-Clause
"""Networks that read and write: base widths, 128 tokens, four layers; a decoder's step has its cache as inputs."""

from __future__ import annotations

from typing import Any

from executorch.tools.architectures.row import Input, ids, ones
from executorch.tools.bench.suite import sequences
from executorch.tools.bench.suite.network import Network, hub, own

TOKENS: dict[str, Input] = {"input_ids": ids(1, 128, high=8192), "attention_mask": ones(1, 128)}
PLAIN: dict[str, Input] = {"input_ids": ids(1, 128, high=8192)}
PAIR: dict[str, Input] = {**PLAIN, "decoder_input_ids": ids(1, 32, high=8192)}
FIRST: dict[str, Any] = {"vocab_size": 8192, "num_hidden_layers": 4}
SMALL_GPT: dict[str, Any] = {"vocab_size": 8192, "use_cache": False}
DECODER: dict[str, Any] = {
    **SMALL_GPT,
    "num_hidden_layers": 4,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "head_dim": 64,
    "pad_token_id": 0,
}


def encoder(name: str, stem: str, **more: Any) -> Network:
    return hub(name, "text encoder", stem, TOKENS, **{**FIRST, **more})


def decoder(name: str, stem: str, **more: Any) -> Network:
    return hub(name, "text decoder", stem, PLAIN, model="ForCausalLM", **{**DECODER, **more})


ROWS = [
    encoder("bert", "Bert"),
    encoder("roberta", "Roberta", pad_token_id=0),
    encoder("electra", "Electra"),
    encoder("albert", "Albert"),
    encoder("deberta", "Deberta", relative_attention=True, pos_att_type=["c2p", "p2c"]),
    encoder("mpnet", "MPNet"),
    encoder("squeezebert", "SqueezeBert"),
    encoder("mobilebert", "MobileBert"),
    encoder("convbert", "ConvBert"),
    encoder("modernbert", "ModernBert", pad_token_id=0),
    hub("distilbert", "text encoder", "DistilBert", TOKENS, vocab_size=8192, n_layers=4),
    hub("fnet", "text encoder", "FNet", PLAIN, **FIRST),
    hub("xlnet", "text encoder", "XLNet", PLAIN, vocab_size=8192, n_layer=2),
    hub("t5", "text pair", "T5", PAIR, vocab_size=8192, num_layers=4, use_cache=False),
    hub(
        "bart",
        "text pair",
        "Bart",
        PAIR,
        **SMALL_GPT,
        d_model=768,
        encoder_layers=3,
        decoder_layers=3,
        encoder_ffn_dim=3072,
        decoder_ffn_dim=3072,
    ),
    hub("gpt2", "text decoder", "GPT2", PLAIN, model="LMHeadModel", **SMALL_GPT, n_layer=4),
    hub("opt", "text decoder", "OPT", TOKENS, model="ForCausalLM", **FIRST, use_cache=False),
    decoder("llama", "Llama"),
    decoder("qwen3", "Qwen3"),
    decoder("gemma", "Gemma"),
    decoder("phi", "Phi"),
    hub(
        "mamba",
        "state space",
        "Mamba",
        {"input_ids": ids(1, 16, high=8192)},
        model="ForCausalLM",
        **FIRST,
        use_cache=False,
    ),
    own("decode_step", "decode step", sequences.DecodeStep, (1, 1, 576), *sequences.cache_shapes()),
    own("lstm", "recurrent", sequences.Lstm, (1, 64, 256)),
    own("lstm_step", "recurrent", sequences.LstmStep, (1, 256), (1, 512), (1, 512)),
    own("gru_both_ways", "recurrent", sequences.Gru, (1, 32, 128)),
]
