# SPDX-License-Identifier: BSD-3-Clause
"""Silero's detector of speech at 16 kHz, whose state comes in and goes out: it exports as any module does."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

WINDOW_SIZE = 512  # new samples of a call
CONTEXT_SIZE = 64  # samples before them, which come again
HIDDEN_DIM = 128
_BINS = 129  # of a spectrum of 256 samples


class SileroVAD16k(nn.Module):
    """x (batch, CONTEXT_SIZE + WINDOW_SIZE) and state (2, batch, HIDDEN_DIM), zeros at first: gives the probability
    (batch, 1) that somebody speaks, and the next state."""

    def __init__(self) -> None:
        super().__init__()
        # real and imaginary parts of a windowed Fourier transform, as filters
        self.stft_conv = nn.Conv1d(1, 2 * _BINS, 256, stride=128, bias=False)
        widths = [(_BINS, 128, 1), (128, 64, 2), (64, 64, 2), (64, 128, 1)]
        self.encoder = nn.ModuleList(
            nn.Conv1d(width, out, 3, stride=stride, padding=1) for width, out, stride in widths
        )
        self.lstm_cell = nn.LSTMCell(HIDDEN_DIM, HIDDEN_DIM)
        self.final_conv = nn.Conv1d(HIDDEN_DIM, 1, 1)

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        padded = functional.pad(x.unsqueeze(1), (0, CONTEXT_SIZE), mode="reflect")
        parts = self.stft_conv(padded)
        spectrum = torch.sqrt(parts[:, :_BINS] ** 2 + parts[:, _BINS:] ** 2)
        for layer in self.encoder:
            spectrum = torch.relu(layer(spectrum))
        hidden, cell = self.lstm_cell(spectrum.squeeze(-1), (state[0], state[1]))
        score = torch.sigmoid(self.final_conv(torch.relu(hidden).unsqueeze(-1)))
        return score.squeeze(-1), torch.stack([hidden, cell])
