# SPDX-License-Identifier: BSD-3-Clause
"""Audio, multimodal, and other kinds: speech encoders, image and text together, time series."""

from __future__ import annotations

from typing import Any

from executorch.tools.architectures.row import VOCABULARY, Architecture, Input, floats, ids, ones

WAVE: dict[str, Input] = {"input_values": floats(1, 1600)}
SPEECH: dict[str, Any] = {
    "vocab_size": 32,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "conv_dim": [16, 16, 16],
    "conv_kernel": [10, 3, 2],
    "conv_stride": [5, 2, 2],
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
}
TEXT_TOWER: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 32,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 1,
}
IMAGE_TOWER: dict[str, Any] = {
    "image_size": 32,
    "patch_size": 8,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
}
TWO_TOWERS: dict[str, Any] = {
    "text_config": TEXT_TOWER,
    "vision_config": IMAGE_TOWER,
    "projection_dim": 32,
}
BOTH: dict[str, Input] = {
    "input_ids": ids(1, 16),
    "pixel_values": floats(1, 3, 32, 32),
    "attention_mask": ones(1, 16),
}


def speech(stem: str, **more: Any) -> Architecture:
    return Architecture(
        stem.lower(), "audio", f"{stem}Model", f"{stem}Config", {**SPEECH, **more}, WAVE
    )


AUDIO = [
    speech("Wav2Vec2"),
    speech("Hubert"),
    speech("WavLM"),
    speech("UniSpeech"),
    speech("UniSpeechSat"),
    speech("SEW", squeeze_factor=1),
    speech("Data2VecAudio", conv_pos_kernel_size=5),
    speech("Wav2Vec2Conformer", position_embeddings_type="rotary"),
    Architecture(
        "whisper",
        "audio",
        "WhisperModel",
        "WhisperConfig",
        {
            "vocab_size": VOCABULARY,
            "d_model": 64,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 128,
            "decoder_ffn_dim": 128,
            "num_mel_bins": 16,
            "max_source_positions": 50,
            "max_target_positions": 32,
            "use_cache": False,
            "pad_token_id": 0,
        },
        {"input_features": floats(1, 16, 100), "decoder_input_ids": ids(1, 8)},
    ),
    Architecture(
        "audio_spectrogram",
        "audio",
        "ASTModel",
        "ASTConfig",
        {
            "hidden_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 128,
            "max_length": 64,
            "num_mel_bins": 32,
        },
        {"input_values": floats(1, 64, 32)},
    ),
    Architecture(
        "wav2vec2_bert",
        "audio",
        "Wav2Vec2BertModel",
        "Wav2Vec2BertConfig",
        {
            "hidden_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 128,
            "feature_projection_input_dim": 32,
            "conv_depthwise_kernel_size": 7,
        },
        {"input_features": floats(1, 40, 32)},
    ),
    Architecture(
        "encodec",
        "audio",
        "EncodecModel",
        "EncodecConfig",
        {"hidden_size": 32, "num_filters": 8, "codebook_size": 64, "codebook_dim": 32},
        {"input_values": floats(1, 1, 1600)},
    ),
]

BOTH_KINDS = [
    Architecture("clip", "image and text", "CLIPModel", "CLIPConfig", TWO_TOWERS, BOTH),
    Architecture(
        "siglip",
        "image and text",
        "SiglipModel",
        "SiglipConfig",
        {"text_config": TEXT_TOWER, "vision_config": IMAGE_TOWER},
        BOTH,
    ),
    Architecture("clipseg", "image and text", "CLIPSegModel", "CLIPSegConfig", TWO_TOWERS, BOTH),
    Architecture(
        "altclip",
        "image and text",
        "AltCLIPModel",
        "AltCLIPConfig",
        {**TWO_TOWERS, "text_config": {**TEXT_TOWER, "project_dim": 32}},
        BOTH,
    ),
    Architecture(
        "vilt",
        "image and text",
        "ViltModel",
        "ViltConfig",
        {**IMAGE_TOWER, "vocab_size": VOCABULARY, "max_position_embeddings": 32},
        BOTH,
    ),
    Architecture(
        "groupvit_text",
        "image and text",
        "GroupViTTextModel",
        "GroupViTTextConfig",
        TEXT_TOWER,
        {"input_ids": ids(1, 16)},
    ),
    Architecture(
        "visual_bert",
        "image and text",
        "VisualBertModel",
        "VisualBertConfig",
        {**{k: v for k, v in TEXT_TOWER.items() if "token" not in k}, "visual_embedding_dim": 32},
        {"input_ids": ids(1, 16), "visual_embeds": floats(1, 4, 32)},
    ),
]

OTHERS = [
    Architecture(
        "patchtst",
        "time series",
        "PatchTSTModel",
        "PatchTSTConfig",
        {
            "num_input_channels": 2,
            "context_length": 32,
            "patch_length": 4,
            "patch_stride": 4,
            "d_model": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "ffn_dim": 64,
        },
        {"past_values": floats(1, 32, 2)},
    ),
    Architecture(
        "patchtsmixer",
        "time series",
        "PatchTSMixerModel",
        "PatchTSMixerConfig",
        {
            "num_input_channels": 2,
            "context_length": 32,
            "patch_length": 4,
            "patch_stride": 4,
            "d_model": 16,
            "num_layers": 2,
        },
        {"past_values": floats(1, 32, 2)},
    ),
    Architecture(
        "decision_transformer",
        "control",
        "DecisionTransformerModel",
        "DecisionTransformerConfig",
        {
            "state_dim": 4,
            "act_dim": 2,
            "hidden_size": 64,
            "n_layer": 2,
            "n_head": 4,
            "max_ep_len": 64,
            "use_cache": False,
        },
        {
            "states": floats(1, 5, 4),
            "actions": floats(1, 5, 2),
            "rewards": floats(1, 5, 1),
            "returns_to_go": floats(1, 5, 1),
            "timesteps": ids(1, 5, high=32),
            "attention_mask": ones(1, 5),
        },
    ),
    Architecture(
        "mamba",
        "state space",
        "MambaForCausalLM",
        "MambaConfig",
        {
            "vocab_size": VOCABULARY,
            "hidden_size": 32,
            "state_size": 8,
            "num_hidden_layers": 2,
            "use_cache": False,
        },
        {"input_ids": ids(1, 8)},
    ),
    Architecture(
        "esm",
        "protein",
        "EsmModel",
        "EsmConfig",
        {
            **{k: v for k, v in TEXT_TOWER.items() if "token" not in k},
            "vocab_size": 33,
            "pad_token_id": 1,
            "mask_token_id": 32,
            "position_embedding_type": "rotary",
        },
        {"input_ids": ids(1, 16, high=31), "attention_mask": ones(1, 16)},
    ),
]

ROWS: list[Architecture] = [*AUDIO, *BOTH_KINDS, *OTHERS]
