# SPDX-License-Identifier: BSD-3-Clause
"""Programs of models that see or hear, at small size: every method gives eager's numbers, and so do all together."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.extension.llm.export import multimodal
from executorch.runtime import Runtime

transformers = pytest.importorskip("transformers")

TEXT = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
SEES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 28,
}
LONGEST = 48
PLACEHOLDER = 9  # the id of tokens that stand for an image or sound


def llava() -> nn.Module:
    vision = transformers.CLIPVisionConfig(**SEES, patch_size=14, projection_dim=32)
    text = transformers.LlamaConfig(**TEXT)
    config = transformers.LlavaConfig(
        vision_config=vision, text_config=text, image_token_index=PLACEHOLDER
    )
    return transformers.LlavaForConditionalGeneration(config)


def gemma3() -> nn.Module:
    config = transformers.Gemma3Config(
        vision_config=transformers.SiglipVisionConfig(**SEES, patch_size=7),
        text_config=transformers.Gemma3TextConfig(**TEXT, sliding_window=LONGEST),
        mm_tokens_per_image=4,
        image_token_index=PLACEHOLDER,
    )
    return transformers.Gemma3ForConditionalGeneration(config)


def voxtral() -> nn.Module:
    audio = transformers.VoxtralEncoderConfig(
        hidden_size=32, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_mel_bins=16, max_source_positions=16,
    )  # fmt: skip
    config = transformers.VoxtralConfig(
        audio_config=audio, text_config=transformers.LlamaConfig(**TEXT), audio_token_id=PLACEHOLDER
    )
    return transformers.VoxtralForConditionalGeneration(config)


def whisper() -> nn.Module:
    config = transformers.WhisperConfig(
        vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_mel_bins=16,
        max_source_positions=16, max_target_positions=LONGEST, decoder_start_token_id=1,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    return transformers.WhisperForConditionalGeneration(config)


class Program:
    def __init__(self, model: nn.Module, folder: Path, delegated: bool) -> None:
        partitioners = [XnnpackPartitioner()] if delegated else []
        path = folder / "model.pte"
        multimodal.lower(model, LONGEST, partitioners).save(str(path))
        self.program = Runtime.get().load_program(path)
        names = sorted(self.program.method_names)
        self.methods = {name: self.program.load_method(name) for name in names}

    def __call__(self, name: str, *inputs: torch.Tensor) -> torch.Tensor:
        return self.methods[name].execute(list(inputs))[0]


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.fixture(params=["kernels", "xnnpack"])
def delegated(request: pytest.FixtureRequest) -> bool:
    return request.param == "xnnpack"


@pytest.mark.req("LLM-033", "LLM-052")
@pytest.mark.parametrize("make", [llava, gemma3, voxtral], ids=lambda f: f.__name__)
@torch.no_grad()
def test_words_among_images_or_sound(make: object, delegated: bool, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = make().eval()
    run = Program(model, tmp_path, delegated)
    has_audio_input = make is voxtral
    encoder = "audio_encoder" if has_audio_input else "vision_encoder"
    assert {encoder, "token_embedding", "text_decoder", "get_max_seq_len"} <= set(run.methods)
    assert run("modality") == ("audio" if has_audio_input else "vision")
    assert run("audio_token_id" if has_audio_input else "vision_token_id") == PLACEHOLDER

    features = torch.randn_like(multimodal.example_features(model))[:1]
    wanted = model.get_audio_features if has_audio_input else model.get_image_features
    rows = wanted(features, return_dict=True).pooler_output
    rows = torch.cat(list(rows)) if isinstance(rows, list | tuple) else rows
    rows = rows.reshape(1, -1, rows.shape[-1])
    found = run(encoder, features)
    close(found, rows)

    ids = torch.tensor([[1, 5, *[PLACEHOLDER] * rows.shape[1], 7, 3]])
    embeddings = run("token_embedding", ids)
    close(embeddings, model.get_input_embeddings()(ids))
    embeddings = embeddings.masked_scatter((ids == PLACEHOLDER).unsqueeze(-1), found)
    count = ids.shape[1]
    after = torch.tensor([[11, 12, 13]])
    logits = [run("text_decoder", embeddings, torch.arange(count))]
    for place in range(3):  # one token at a time, from the caches
        one = run("token_embedding", after[:, place : place + 1])
        logits.append(run("text_decoder", one, torch.tensor([count + place])))
    whole = torch.cat([embeddings, model.get_input_embeddings()(after)], 1)
    close(torch.cat(logits, 1), model(inputs_embeds=whole).logits)


@pytest.mark.req("LLM-033")
@torch.no_grad()
def test_whisper(delegated: bool, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = whisper().eval()
    run = Program(model, tmp_path, delegated)
    features = torch.randn_like(multimodal.example_features(model))
    sound = run("encoder", features)
    close(sound, model.get_encoder()(features).last_hidden_state)
    tokens = torch.tensor([[1, 40, 12, 55, 7]])
    logits = [
        run("text_decoder", tokens[:, place : place + 1], sound, torch.tensor([place]))
        for place in range(tokens.shape[1])
    ]
    expected = model(input_features=features, decoder_input_ids=tokens).logits
    close(torch.cat(logits, 1), expected)
    assert run("decoder_start_token_id") == 1


def test_a_text_model_is_refused() -> None:
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**TEXT))
    with pytest.raises(ValueError, match="export_llm"):
        multimodal.export_methods(model, LONGEST)
