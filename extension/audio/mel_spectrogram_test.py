# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of sounds are those of transformers' extractor, and programs make the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from executorch.extension.audio.mel_spectrogram import WhisperAudioProcessor, main
from executorch.runtime import Runtime


def sound(samples: int) -> torch.Tensor:
    return torch.randn(samples, generator=torch.Generator().manual_seed(samples)) * 0.1


@pytest.mark.parametrize("bands", [80, 128])
@pytest.mark.parametrize("samples", [1, 12_345, 32_000])
def test_a_chunk_is_as_transformers_sees_it(bands: int, samples: int) -> None:
    theirs = transformers.WhisperFeatureExtractor(feature_size=bands, chunk_length=2)
    wanted = theirs(sound(samples).numpy(), sampling_rate=16000, return_tensors="pt").input_features
    found = WhisperAudioProcessor(bands, chunk_length=2)(sound(samples))
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-4)


def test_pieces_of_a_stream_get_no_silence() -> None:
    whole = WhisperAudioProcessor(chunk_length=1)(sound(32_000))
    pieces = WhisperAudioProcessor(streaming=True)(sound(32_000))
    torch.testing.assert_close(pieces, whole)  # nothing to fill up
    assert WhisperAudioProcessor(streaming=True)(sound(1_700)).shape == (1, 80, 10)
    frames = torch.stft(
        sound(1_700), 400, 160, window=torch.hann_window(400), return_complex=True
    ).abs()[:, :10]
    model = WhisperAudioProcessor(streaming=True)
    bands = torch.log10((model.filters @ frames**2).clamp(min=1e-10))
    wanted = (torch.maximum(bands, bands.max() - 8) + 4) / 4
    torch.testing.assert_close(model(sound(1_700))[0], wanted, rtol=0, atol=1e-4)


def test_filters_are_triangles_of_one_area() -> None:
    filters = WhisperAudioProcessor().get_mel_filters(16000, 4000, 40, torch.float64)
    assert filters.shape == (40, 2001)
    torch.testing.assert_close(filters.sum(1) * 4, torch.ones(40).double(), rtol=0, atol=2e-2)


@pytest.mark.parametrize(
    "flags, options",
    [
        (["--stack_output"], {"stack_output": True}),
        ([], {}),
        (["--streaming", "--feature_size", "128"], {"streaming": True, "feature_size": 128}),
    ],
)
def test_one_program_takes_sounds_of_any_length(
    flags: list[str], options: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "preprocessor.pte"
    common = ["--chunk_length", "1", "--max_audio_len", "3", "--output_file", str(file)]
    assert main([*common, *flags]) == 0
    model = WhisperAudioProcessor(chunk_length=1, max_audio_len=3, **options)
    method = Runtime.get().load_program(str(file)).load_method("forward")
    for samples in (5_000, 16_000, 16_001, 48_000):
        (found,) = method.execute([sound(samples)])
        torch.testing.assert_close(found, model(sound(samples)), rtol=1e-4, atol=1e-5)
    assert main([*common, "--backend", "mlx"]) == 1
