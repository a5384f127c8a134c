# SPDX-License-Identifier: BSD-3-Clause
"""Models of `transformers` that see or hear, as one program of several methods.

usage: python -m executorch.extension.llm.export.multimodal FOLDER [--output model.pte] [--max_seq_len 1024] [--xnnpack]

Llava, Gemma 3 and others that put embeddings of an image among those of words:
    vision_encoder(pixels float32 (1, 3, size, size)) -> (1, tokens, hidden)
Voxtral and others that do so with sound:
    audio_encoder(features float32 (n, mel, frames)), n from 1 to 10 -> (1, tokens, hidden)
both with
    token_embedding(ids int64 (1, n)) -> (1, n, hidden)
    text_decoder(embeddings float32 (1, n, hidden), positions int64 (n)) -> logits (1, n, vocabulary)
Whisper:
    encoder(features float32 (1, mel, frames)) -> (1, frames / 2, hidden)
    text_decoder(id int64 (1, 1), encoder's output, position int64 (1)) -> logits (1, 1, vocabulary)

The decoder's caches are buffers of the program, one row for each position below `max_seq_len`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export

from executorch.exir import (
    EdgeCompileConfig,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge_transform_and_lower,
)
from executorch.exir.passes import MemoryPlanningPass

_LAYER = ("keys", "values", "cumulative_length")
MAX_CHUNKS = 10  # of 30 seconds of sound each
_FRAMES_PER_POSITION = 2  # Whisper's encoder halves them


class _Encoder(nn.Module):
    """`features_of`: the model's method that makes embeddings of an image or of chunks of sound."""

    def __init__(self, model: nn.Module, features_of: str) -> None:
        super().__init__()
        self.model, self.features_of = model, features_of

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return _embeddings(getattr(self.model, self.features_of)(features, return_dict=True))


def _embeddings(found: Any) -> torch.Tensor:
    """(1, tokens, hidden) of what transformers gives for one image or for chunks of sound."""
    rows = getattr(found, "pooler_output", found)
    if isinstance(rows, list | tuple):
        rows = torch.cat([row.flatten(0, -2) for row in rows])
    return rows.reshape(1, -1, rows.shape[-1])


class _SpeechEncoder(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.encoder = model.get_encoder()

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.encoder(features).last_hidden_state


class _Caches(nn.Module):
    """transformers' static cache of a decoder, its tensors as buffers of this module."""

    def __init__(self, config: Any, heads: int, head_dim: int, rows: int) -> None:
        super().__init__()
        from transformers import StaticCache
        from transformers.cache_utils import StaticLayer

        self.static = StaticCache(config=config, max_cache_len=rows)
        # layers of a window would choose by their length: masks keep the window without them
        self.static.layers = [StaticLayer(rows) for _ in self.static.layers]
        self.static.early_initialization(1, heads, head_dim, torch.float32, torch.device("cpu"))
        for place, layer in enumerate(self.static.layers):
            for name in _LAYER:
                self.register_buffer(f"{name}_{place}", getattr(layer, name), persistent=False)

    def forward(self, position: torch.Tensor) -> Any:
        """The cache, with the rows before `position` (int64, (1)) in use."""
        for place, layer in enumerate(self.static.layers):
            for name in _LAYER:
                setattr(layer, name, getattr(self, f"{name}_{place}"))
            layer.cumulative_length.copy_(position[0])
        return self.static


class _SpeechDecoder(nn.Module):
    """One token at a time; keys and values of the sound are computed again for each."""

    def __init__(self, model: nn.Module, max_seq_len: int) -> None:
        super().__init__()
        config = model.config
        self.decoder, self.project, self.config = model.get_decoder(), model.proj_out, config
        heads = config.decoder_attention_heads
        self.caches = _Caches(config, heads, config.d_model // heads, max_seq_len)

    def forward(
        self, token: torch.Tensor, sound: torch.Tensor, position: torch.Tensor
    ) -> torch.Tensor:
        from transformers import DynamicCache, EncoderDecoderCache

        caches = EncoderDecoderCache(self.caches(position), DynamicCache(config=self.config))
        found = self.decoder(
            input_ids=token,
            encoder_hidden_states=sound,
            past_key_values=caches,
            position_ids=position.unsqueeze(0),
            use_cache=True,
        )
        return self.project(found.last_hidden_state)


class _TextDecoder(nn.Module):
    def __init__(self, model: nn.Module, max_seq_len: int) -> None:
        super().__init__()
        text = model.config.get_text_config()
        heads = text.num_attention_heads
        head_dim = getattr(text, "head_dim", None) or text.hidden_size // heads
        self.model = model
        self.caches = _Caches(text, text.num_key_value_heads or heads, head_dim, max_seq_len)

    def forward(self, embeddings: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        caches = self.caches(positions[:1])
        return self.model(
            inputs_embeds=embeddings,
            position_ids=positions.unsqueeze(0),
            past_key_values=caches,
            use_cache=True,
        ).logits


def _is_speech(model: nn.Module) -> bool:
    return hasattr(model, "proj_out")


def _has_audio_input(model: nn.Module) -> bool:
    return hasattr(model.config, "audio_config")


def example_features(model: nn.Module) -> torch.Tensor:
    """Zeros of the shape that the encoder takes: an image, or chunks of 30 seconds of sound as mel spectra."""
    config = model.config
    if _is_speech(model):
        frames = _FRAMES_PER_POSITION * config.max_source_positions
        return torch.zeros(1, config.num_mel_bins, frames)
    if _has_audio_input(model):
        audio = config.audio_config
        frames = _FRAMES_PER_POSITION * audio.max_source_positions
        return torch.zeros(2, audio.num_mel_bins, frames)
    size = config.vision_config.image_size
    return torch.zeros(1, 3, size, size)


def export_methods(model: nn.Module, max_seq_len: int) -> dict[str, ExportedProgram]:
    """Method -> captured program of a model in eval mode, which needs no gradients from then on.

    Raises:
        ValueError: a model that takes neither images nor audio.
    """
    if not (_is_speech(model) or _has_audio_input(model) or hasattr(model.config, "vision_config")):
        raise ValueError(
            f"expected a model with an encoder of images or sound, found {type(model).__name__}; "
            "text models go through executorch.extension.llm.export.export_llm"
        )
    model.requires_grad_(False)
    features = example_features(model)
    with torch.no_grad():
        if _is_speech(model):
            return _speech(model, features, max_seq_len)
        return _mixed(model, features, max_seq_len)


def _speech(
    model: nn.Module, features: torch.Tensor, max_seq_len: int
) -> dict[str, ExportedProgram]:
    encoder = _SpeechEncoder(model)
    inputs = (torch.zeros(1, 1, dtype=torch.long), encoder(features), torch.tensor([0]))
    return {
        "encoder": export(encoder, (features,), strict=False),
        "text_decoder": export(_SpeechDecoder(model, max_seq_len), inputs, strict=False),
    }


def _mixed(
    model: nn.Module, features: torch.Tensor, max_seq_len: int
) -> dict[str, ExportedProgram]:
    decoder = _TextDecoder(model, max_seq_len)
    tokens = Dim("tokens", max=max_seq_len - 1)
    ids = torch.zeros(1, 3, dtype=torch.long)
    table = model.get_input_embeddings()
    embeddings = (table(ids), torch.arange(3))
    shapes = ({1: tokens}, {0: tokens})
    sort = "audio" if _has_audio_input(model) else "vision"
    features_of = {"audio": "get_audio_features", "vision": "get_image_features"}[sort]
    chunks = ({0: Dim("chunks", min=1, max=MAX_CHUNKS)},) if sort == "audio" else None
    return {
        "text_decoder": export(decoder, embeddings, dynamic_shapes=shapes, strict=False),
        "token_embedding": export(table, (ids,), dynamic_shapes=({1: tokens},), strict=False),
        f"{sort}_encoder": export(
            _Encoder(model, features_of), (features,), dynamic_shapes=chunks, strict=False
        ),
    }


def metadata_of(model: nn.Module, max_seq_len: int) -> dict[str, Any]:
    """Constant methods that runners ask for."""
    text = model.config.get_text_config()
    found = {"get_max_seq_len": max_seq_len, "get_vocab_size": text.vocab_size}
    ids = {"get_bos_id": "bos_token_id", "get_eos_id": "eos_token_id"}
    found |= {key: getattr(text, name) for key, name in ids.items()}
    if _is_speech(model):
        found["decoder_start_token_id"] = model.config.decoder_start_token_id
    elif _has_audio_input(model):
        found |= {"modality": "audio", "audio_token_id": model.config.audio_token_id}
    else:
        found |= {"modality": "vision", "vision_token_id": model.config.image_token_id}
    return {key: value for key, value in found.items() if value is not None}


def lower(
    model: nn.Module, max_seq_len: int, partitioners: Sequence[Any] = ()
) -> ExecutorchProgramManager:
    """One program of all methods; `partitioners` are asked for each. Weights that methods share are stored once."""
    edge = to_edge_transform_and_lower(
        export_methods(model, max_seq_len),
        partitioner=list(partitioners) or None,
        constant_methods=metadata_of(model, max_seq_len),
        compile_config=EdgeCompileConfig(_check_ir_validity=False, _skip_dim_order=True),
    )
    return edge.to_executorch(
        ExecutorchBackendConfig(
            extract_delegate_segments=True,
            do_quant_fusion_and_const_prop=True,
            memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False),
        )
    )


def load(folder: str | Path) -> nn.Module:
    """The model of a Hugging Face folder, in float32 and eval mode.

    Raises:
        ImportError: transformers is not installed.
    """
    try:
        from transformers import (
            AutoConfig,
            AutoModelForPreTraining,
            AutoModelForSpeechSeq2Seq,
            WhisperConfig,
        )
    except ImportError as error:
        raise ImportError(
            "models that see or hear are those of transformers: pip install transformers"
        ) from error
    config = AutoConfig.from_pretrained(folder)
    speech = isinstance(config, WhisperConfig)
    kind = AutoModelForSpeechSeq2Seq if speech else AutoModelForPreTraining
    return kind.from_pretrained(folder, dtype=torch.float32).eval()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", help="of config.json and weights, as Hugging Face has them")
    parser.add_argument("--output", type=Path, default=Path("model.pte"))
    parser.add_argument("--max_seq_len", type=int, default=1024, help="rows of the caches")
    parser.add_argument("--xnnpack", action="store_true", help="lower to XNNPACK")
    options = parser.parse_args(argv)
    partitioners: list[Any] = []
    if options.xnnpack:
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        partitioners.append(XnnpackPartitioner())
    try:
        program = lower(load(options.folder), options.max_seq_len, partitioners)
    except (ImportError, OSError, ValueError) as error:
        sys.exit(f"multimodal: error: {error}")
    program.save(str(options.output))
    print(f"{options.output}: {', '.join(sorted(program.methods))}")


if __name__ == "__main__":
    main()
