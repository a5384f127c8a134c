# SPDX-License-Identifier: BSD-3-Clause
"""Whisper's picture of a sound: the logarithm of its energy in bands of pitch, as a module that exports.

usage: python -m executorch.extension.audio.mel_spectrogram --feature_size 128 --stack_output --max_audio_len 300 \
    --output_file preprocessor.pte
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional


def _pitch(hertz: torch.Tensor) -> torch.Tensor:
    """Mel of Slaney's scale: even steps up to 1000 Hz (15), then 27 for each factor of 6.4."""
    high = 15 + 27 * torch.log(hertz.clamp(min=1e-9) / 1000) / torch.log(torch.tensor(6.4).double())
    return torch.where(hertz < 1000, hertz * 3 / 200, high)


def _hertz(mel: torch.Tensor) -> torch.Tensor:
    return torch.where(mel < 15, mel * 200 / 3, 1000 * 6.4 ** ((mel - 15) / 27))


class WhisperAudioProcessor(nn.Module):
    """waveform (samples,) float32 to (1, feature_size, frames), a frame every `hop_length` samples.

    Silence (`padding_value`) follows up to a multiple of `chunk_length` seconds. `stack_output`: (chunks, feature_size,
    frames of a chunk). `streaming`: nothing follows, for sound that comes in pieces. A program takes up to
    `max_audio_len` seconds.
    """

    def __init__(
        self,
        feature_size: int = 80,
        sampling_rate: int = 16000,
        hop_length: int = 160,
        chunk_length: int = 30,
        n_fft: int = 400,
        padding_value: float = 0.0,
        max_audio_len: int = 600,
        stack_output: bool = False,
        streaming: bool = False,
    ) -> None:
        super().__init__()
        self.feature_size, self.sampling_rate = feature_size, sampling_rate
        self.n_fft, self.hop_length, self.padding_value = n_fft, hop_length, padding_value
        self.chunk_length, self.max_audio_len = chunk_length, max_audio_len
        self.n_samples = self.chunk_length * sampling_rate
        self.nb_max_frames = self.n_samples // hop_length
        self.stack_output, self.streaming = stack_output, streaming
        bins = n_fft // 2 + 1
        turns = torch.outer(torch.arange(bins).double(), torch.arange(n_fft).double()) / n_fft
        turns = 2 * torch.pi * (turns % 1)
        window = torch.hann_window(n_fft, dtype=torch.float64)
        waves = torch.cat([turns.cos(), turns.sin()]) * window
        # a Fourier transform of each frame as filters of one convolution
        self.register_buffer("waves", waves.float().unsqueeze(1), persistent=False)
        filters = self.get_mel_filters(sampling_rate, n_fft, feature_size)
        self.register_buffer("filters", filters, persistent=False)

    def get_mel_filters(
        self, sr: int, n_fft: int, n_mels: int = 128, dtype: torch.dtype = torch.float32
    ) -> torch.Tensor:
        """(n_mels, n_fft / 2 + 1): triangles from pitch to pitch, of one area each."""
        ends = _pitch(torch.tensor([0.0, sr / 2], dtype=torch.float64))
        steps = torch.linspace(float(ends[0]), float(ends[1]), n_mels + 2, dtype=torch.float64)
        edges = _hertz(steps)
        found = torch.linspace(0, sr / 2, n_fft // 2 + 1, dtype=torch.float64)
        widths = edges.diff()
        slopes = edges[:, None] - found
        rising, falling = -slopes[:-2] / widths[:-1, None], slopes[2:] / widths[1:, None]
        triangles = torch.minimum(rising, falling).clamp(min=0)
        return (triangles * (2 / (edges[2:] - edges[:-2]))[:, None]).to(dtype)

    def forward(self, waveform: torch.Tensor) -> torch.Tensor:
        samples = waveform.reshape(1, 1, -1)
        if not self.streaming:
            count = samples.shape[-1]
            chunks = (count + self.n_samples - 1) // self.n_samples
            rest = chunks * self.n_samples - count
            samples = functional.pad(samples, (0, rest), value=self.padding_value)
        half = (
            self.n_fft // 2
        )  # a frame has its time in its middle; the one at the end of the sound is left out
        around = functional.pad(samples, (half, half - self.hop_length), mode="reflect")
        parts = functional.conv1d(around, self.waves, stride=self.hop_length)
        energy = parts.square().unflatten(1, (2, -1)).sum(1)
        bands = torch.log10(torch.matmul(self.filters, energy).clamp(min=1e-10))
        bands = (torch.maximum(bands, bands.amax() - 8) + 4) / 4
        if not self.stack_output:
            return bands
        chunks = bands.reshape(self.feature_size, -1, self.nb_max_frames)
        return chunks.transpose(0, 1)


def export_processor(
    output_file: str = "whisper_preprocess.pte", backend: str = "xnnpack", **model_kwargs: Any
) -> None:
    """Writes the program of WhisperAudioProcessor(**model_kwargs), for sound of any length up to `max_audio_len`."""
    from executorch.exir import to_edge_transform_and_lower

    if backend != "xnnpack":
        raise ValueError(
            f"backend: expected xnnpack, found {backend!r}, which is not in this package"
        )
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    model = WhisperAudioProcessor(**model_kwargs).eval()
    most = model.max_audio_len * model.sampling_rate
    # a hint and no Dim: torch.export cannot prove that one chunk needs no program of its own
    least = 2 * model.hop_length if model.streaming else 1
    samples = torch.export.Dim.DYNAMIC(min=least, max=most)
    program = torch.export.export(
        model, (torch.zeros(model.n_samples + 1),), dynamic_shapes=({0: samples},)
    )
    edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    Path(output_file).write_bytes(edge.to_executorch().buffer)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feature_size", type=int, default=80, help="bands of pitch")
    parser.add_argument("--sampling_rate", type=int, default=16000, help="samples of a second")
    parser.add_argument("--hop_length", type=int, default=160, help="samples from frame to frame")
    parser.add_argument("--chunk_length", type=int, default=30, help="seconds of a chunk")
    parser.add_argument("--n_fft", type=int, default=400, help="samples of a frame")
    parser.add_argument("--output_file", default="whisper_preprocess.pte")
    parser.add_argument("--max_audio_len", type=int, default=600, help="seconds at most")
    parser.add_argument("--stack_output", action="store_true", help="a row for each chunk")
    parser.add_argument("--streaming", action="store_true", help="no silence behind the sound")
    parser.add_argument("--backend", default="xnnpack", help="xnnpack")
    options = vars(parser.parse_args(argv))
    try:
        export_processor(**options)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
