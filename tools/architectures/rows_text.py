# SPDX-License-Identifier: BSD-3-Clause
"""Text: encoders, decoders, encoder-decoders, state-space and recurrent models; sizes are small, weights random."""

from __future__ import annotations

from typing import Any

from executorch.tools.architectures.row import VOCABULARY, Architecture, Input, ids, ones

TOKENS: dict[str, Input] = {"input_ids": ids(1, 16), "attention_mask": ones(1, 16)}
PLAIN: dict[str, Input] = {"input_ids": ids(1, 16)}
LENGTH: dict[str, Input] = {"input_ids": ids(1, "length")}
BATCH: dict[str, Input] = {"input_ids": ids("batch", 16), "attention_mask": ones("batch", 16)}
PAIR: dict[str, Input] = {"input_ids": ids(1, 16), "decoder_input_ids": ids(1, 8)}

SMALL: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 64,
}
DECODER: dict[str, Any] = {**SMALL, "use_cache": False, "num_key_value_heads": 2, "pad_token_id": 0}
EXPERTS: dict[str, Any] = {**DECODER, "num_experts_per_tok": 2}
SEQUENCE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 64,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "max_position_embeddings": 64,
    "use_cache": False,
}
GPT2: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "n_positions": 64,
    "n_embd": 64,
    "n_layer": 2,
    "n_head": 4,
    "use_cache": False,
}
T5: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 64,
    "d_kv": 16,
    "d_ff": 128,
    "num_layers": 2,
    "num_heads": 4,
    "use_cache": False,
}
UP_TO_32 = {"length": (2, 32)}
UP_TO_4 = {"batch": (1, 4)}


def encoder(stem: str, **more: Any) -> Architecture:
    return Architecture(
        stem.lower(), "text encoder", f"{stem}Model", f"{stem}Config", {**SMALL, **more}, TOKENS
    )


def decoder(stem: str, model: str = "ForCausalLM", **more: Any) -> Architecture:
    return Architecture(
        stem.lower(), "text decoder", stem + model, f"{stem}Config", {**DECODER, **more}, PLAIN
    )


ENCODERS = [
    Architecture("bert", "text encoder", "BertModel", "BertConfig", SMALL, BATCH, UP_TO_4),
    encoder("Roberta"),
    encoder("Electra", embedding_size=32),
    encoder("Albert", embedding_size=32),
    encoder("Camembert"),
    encoder("XLMRoberta"),
    encoder("Deberta", relative_attention=True, pos_att_type=["c2p", "p2c"]),
    encoder("DebertaV2", relative_attention=True, pos_att_type=["c2p", "p2c"]),
    encoder("MPNet"),
    encoder("Ernie"),
    encoder("MegatronBert"),
    encoder("RoFormer"),
    encoder("SqueezeBert", embedding_size=64),
    encoder("MobileBert", embedding_size=32, intra_bottleneck_size=32),
    encoder("ConvBert", embedding_size=32),
    encoder("ModernBert", global_attn_every_n_layers=2, local_attention=8, pad_token_id=0),
    encoder("IBert"),
    encoder("LayoutLM"),
    Architecture(
        "distilbert",
        "text encoder",
        "DistilBertModel",
        "DistilBertConfig",
        {"vocab_size": VOCABULARY, "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128},
        BATCH,
        UP_TO_4,
    ),
    Architecture("fnet", "text encoder", "FNetModel", "FNetConfig", SMALL, PLAIN),
    Architecture(
        "funnel",
        "text encoder",
        "FunnelModel",
        "FunnelConfig",
        {
            "vocab_size": VOCABULARY,
            "d_model": 64,
            "n_head": 4,
            "d_head": 16,
            "d_inner": 128,
            "block_sizes": [1, 1],
        },
        PLAIN,
    ),
    Architecture(
        "xlm",
        "text encoder",
        "XLMModel",
        "XLMConfig",
        {"vocab_size": VOCABULARY, "emb_dim": 64, "n_layers": 2, "n_heads": 4},
        PLAIN,
    ),
    Architecture(
        "xlnet",
        "text encoder",
        "XLNetModel",
        "XLNetConfig",
        {"vocab_size": VOCABULARY, "d_model": 64, "n_layer": 2, "n_head": 4, "d_inner": 128},
        PLAIN,
    ),
    Architecture(
        "canine",
        "text encoder",
        "CanineModel",
        "CanineConfig",
        {**SMALL, "local_transformer_stride": 8, "num_hash_buckets": 64},
        {"input_ids": ids(1, 64)},
    ),
]

DECODERS = [
    Architecture("gpt2", "text decoder", "GPT2LMHeadModel", "GPT2Config", GPT2, LENGTH, UP_TO_32),
    Architecture(
        "llama", "text decoder", "LlamaForCausalLM", "LlamaConfig", DECODER, LENGTH, UP_TO_32
    ),
    Architecture(
        "qwen2", "text decoder", "Qwen2ForCausalLM", "Qwen2Config", DECODER, LENGTH, UP_TO_32
    ),
    Architecture(
        "qwen3",
        "text decoder",
        "Qwen3ForCausalLM",
        "Qwen3Config",
        {**DECODER, "head_dim": 16},
        LENGTH,
        UP_TO_32,
    ),
    decoder("Mistral"),
    decoder("Gemma", head_dim=16),
    decoder("Gemma2", head_dim=16),
    decoder("Phi"),
    decoder("Phi3"),
    decoder("StableLm"),
    decoder("Olmo"),
    decoder("Olmo2"),
    decoder("Granite"),
    decoder("Cohere"),
    decoder("Starcoder2"),
    decoder("SmolLM3"),
    decoder("GPTNeoX"),
    decoder("Helium", head_dim=16),
    decoder("Glm", head_dim=16),
    decoder("Nemotron"),
    decoder("Ernie4_5", head_dim=16),
    decoder("Persimmon"),
    decoder(
        "Mixtral", num_local_experts=4, num_experts_per_tok=2, experts_implementation="batched_mm"
    ),
    Architecture(
        "gemma3",
        "text decoder",
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        {**DECODER, "head_dim": 16},
        PLAIN,
    ),
    Architecture(
        "opt",
        "text decoder",
        "OPTForCausalLM",
        "OPTConfig",
        {**SMALL, "ffn_dim": 128, "word_embed_proj_dim": 64, "use_cache": False},
        TOKENS,
    ),
    Architecture(
        "bloom",
        "text decoder",
        "BloomForCausalLM",
        "BloomConfig",
        {
            "vocab_size": VOCABULARY,
            "hidden_size": 64,
            "n_layer": 2,
            "n_head": 4,
            "use_cache": False,
        },
        PLAIN,
    ),
    Architecture(
        "gpt_neo",
        "text decoder",
        "GPTNeoForCausalLM",
        "GPTNeoConfig",
        {
            **SMALL,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 8,
            "use_cache": False,
        },
        PLAIN,
    ),
    Architecture(
        "gptj",
        "text decoder",
        "GPTJForCausalLM",
        "GPTJConfig",
        {**GPT2, "rotary_dim": 8},
        PLAIN,
    ),
    Architecture(
        "codegen",
        "text decoder",
        "CodeGenForCausalLM",
        "CodeGenConfig",
        {**GPT2, "rotary_dim": 8},
        PLAIN,
    ),
    Architecture(
        "falcon",
        "text decoder",
        "FalconForCausalLM",
        "FalconConfig",
        {**SMALL, "use_cache": False},
        PLAIN,
    ),
    Architecture(
        "mpt",
        "text decoder",
        "MptForCausalLM",
        "MptConfig",
        {
            "vocab_size": VOCABULARY,
            "d_model": 64,
            "n_heads": 4,
            "n_layers": 2,
            "max_seq_len": 64,
            "use_cache": False,
        },
        PLAIN,
    ),
    Architecture(
        "openai_gpt", "text decoder", "OpenAIGPTLMHeadModel", "OpenAIGPTConfig", GPT2, PLAIN
    ),
    Architecture(
        "biogpt",
        "text decoder",
        "BioGptForCausalLM",
        "BioGptConfig",
        {**SMALL, "use_cache": False},
        PLAIN,
    ),
    Architecture(
        "xglm",
        "text decoder",
        "XGLMForCausalLM",
        "XGLMConfig",
        {
            "vocab_size": VOCABULARY,
            "d_model": 64,
            "num_layers": 2,
            "attention_heads": 4,
            "ffn_dim": 128,
            "max_position_embeddings": 64,
            "use_cache": False,
        },
        PLAIN,
    ),
]

PAIRS = [
    Architecture("t5", "text pair", "T5ForConditionalGeneration", "T5Config", T5, PAIR),
    Architecture("t5_encoder", "text encoder", "T5EncoderModel", "T5Config", T5, LENGTH, UP_TO_32),
    Architecture("mt5", "text pair", "MT5ForConditionalGeneration", "MT5Config", T5, PAIR),
    Architecture("bart", "text pair", "BartModel", "BartConfig", SEQUENCE, PAIR),
    Architecture("mbart", "text pair", "MBartModel", "MBartConfig", SEQUENCE, PAIR),
    Architecture(
        "marian",
        "text pair",
        "MarianModel",
        "MarianConfig",
        {**SEQUENCE, "pad_token_id": 0, "decoder_start_token_id": 0},
        PAIR,
    ),
    Architecture("pegasus", "text pair", "PegasusModel", "PegasusConfig", SEQUENCE, PAIR),
    Architecture("blenderbot", "text pair", "BlenderbotModel", "BlenderbotConfig", SEQUENCE, PAIR),
    Architecture("m2m_100", "text pair", "M2M100Model", "M2M100Config", SEQUENCE, PAIR),
]

ROWS: list[Architecture] = [*ENCODERS, *DECODERS, *PAIRS]
