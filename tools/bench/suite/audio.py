# SPDX-License-Identifier: BSD-3-Clause
"""Networks that hear, and time series: one to ten seconds of sound, four layers."""

from __future__ import annotations

from typing import Any

import torch

from executorch.tools.architectures.row import Input, floats, ids
from executorch.tools.bench.suite import sequences
from executorch.tools.bench.suite.network import Made, Network, hub, own

WAVE: dict[str, Input] = {"input_values": floats(1, 16000)}
NARROW: dict[str, Any] = {
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
}
PAST: dict[str, Input] = {"past_values": floats(1, 512, 7)}
PATCHES: dict[str, Any] = {
    "num_input_channels": 7,
    "context_length": 512,
    "patch_length": 16,
    "patch_stride": 16,
}


def speech(name: str, stem: str, **more: Any) -> Network:
    return hub(name, "speech", stem, WAVE, **{**NARROW, **more})


def edges() -> Made:
    """1,000 nodes, 8,000 edges."""
    ends = (torch.randint(0, 1000, (8000,)) for _ in range(2))
    return sequences.GraphAttention(), (torch.randn(1000, 64), *ends)


ROWS = [
    speech("wav2vec2", "Wav2Vec2"),
    speech("hubert_base", "Hubert", num_hidden_layers=2, hidden_size=768, intermediate_size=3072),
    speech("sew", "SEW"),
    speech("conformer", "Wav2Vec2Conformer", position_embeddings_type="rotary"),
    hub(
        "w2v_bert",
        "speech",
        "Wav2Vec2Bert",
        {"input_features": floats(1, 100, 160)},
        **NARROW,
    ),
    hub(
        "whisper",
        "speech",
        "Whisper",
        {"input_features": floats(1, 80, 3000), "decoder_input_ids": ids(1, 8, high=8192)},
        d_model=384,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=6,
        decoder_attention_heads=6,
        encoder_ffn_dim=1536,
        decoder_ffn_dim=1536,
        use_cache=False,
    ),
    hub(
        "audio_spectrogram",
        "audio",
        "AST",
        {"input_values": floats(1, 256, 128)},
        **NARROW,
        max_length=256,
    ),
    hub("encodec", "audio", "Encodec", {"input_values": floats(1, 1, 12000)}),
    own("wavenet", "audio", sequences.WaveNet, (1, 1, 4000), cut="8 layers"),
    own("vocoder", "audio", sequences.Vocoder, (1, 80, 40), cut="small"),
    own("keywords", "audio", sequences.KeywordCnn, (1, 1, 98, 40)),
    own("separation", "audio", sequences.Separation, (1, 1, 8000), cut="6 layers of 24"),
    own("tcn", "time series", sequences.Temporal, (1, 64, 512), cut="blocks alone"),
    hub(
        "patchtst",
        "time series",
        "PatchTST",
        PAST,
        **PATCHES,
    ),
    hub(
        "patchtsmixer",
        "time series",
        "PatchTSMixer",
        PAST,
        **PATCHES,
        d_model=64,
    ),
    Network("graph_attention", "graph", edges),
    own("point_cloud", "points", sequences.PointNet, (1, 3, 1024), cut="no alignment networks"),
]
