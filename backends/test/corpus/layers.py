# SPDX-License-Identifier: BSD-3-Clause
"""Rows: every kind of layer of torch.nn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from executorch.backends.test.corpus.row import Row, integers, numbers, row

LINE, IMAGE, VOLUME = numbers(2, 4, 12), numbers(2, 4, 8, 10), numbers(1, 4, 6, 6, 8)
ROWS, WORDS = numbers(3, 8), integers(10, 2, 6)

_ACTIVATIONS: list[nn.Module] = [
    nn.ELU(), nn.Hardshrink(), nn.Hardsigmoid(), nn.Hardtanh(), nn.Hardswish(), nn.LeakyReLU(),
    nn.LogSigmoid(), nn.PReLU(), nn.ReLU(), nn.ReLU6(), nn.RReLU(), nn.SELU(), nn.CELU(),
    nn.GELU(), nn.GELU("tanh"), nn.Sigmoid(), nn.SiLU(), nn.Mish(), nn.Softplus(), nn.Softshrink(),
    nn.Softsign(), nn.Tanh(), nn.Tanhshrink(), nn.Threshold(0.1, 20.0), nn.GLU(), nn.Softmin(-1),
    nn.Softmax(-1), nn.LogSoftmax(-1), nn.Identity(), nn.Dropout(), nn.AlphaDropout(),
]  # fmt: skip

_SHAPED: list[tuple[nn.Module, torch.Tensor]] = [
    (nn.Conv1d(4, 6, 3, padding=1), LINE),
    (nn.Conv2d(4, 6, 3, stride=2), IMAGE),
    (nn.Conv2d(4, 8, 3, groups=4, dilation=2), IMAGE),
    (nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"), IMAGE),
    (nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular"), IMAGE),
    (nn.Conv3d(4, 3, 3), VOLUME),
    (nn.ConvTranspose1d(4, 6, 3, stride=2), LINE),
    (nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1), IMAGE),
    (nn.ConvTranspose3d(4, 3, 2, stride=2), VOLUME),
    (nn.Unfold(3, padding=1), IMAGE),
    (nn.Fold((4, 5), 2, stride=1), numbers(1, 12, 12)),
    (nn.MaxPool1d(2), LINE),
    (nn.MaxPool2d(3, 2, 1), IMAGE),
    (nn.MaxPool2d(2, return_indices=True), IMAGE),
    (nn.MaxPool3d(2), VOLUME),
    (nn.AvgPool1d(3, 2), LINE),
    (nn.AvgPool2d(3, 2, 1), IMAGE),
    (nn.AvgPool3d(2), VOLUME),
    (nn.LPPool1d(2, 3), LINE),
    (nn.LPPool2d(2, 3), IMAGE),
    (nn.AdaptiveMaxPool1d(5), LINE),
    (nn.AdaptiveMaxPool2d((3, 4)), IMAGE),
    (nn.AdaptiveMaxPool2d(1), IMAGE),
    (nn.AdaptiveMaxPool2d((4, 5)), IMAGE),
    (nn.AdaptiveMaxPool2d((3, 4), return_indices=True), IMAGE),
    (nn.AdaptiveMaxPool3d((2, 4, 3)), VOLUME),
    (nn.AdaptiveAvgPool1d(5), LINE),
    (nn.AdaptiveAvgPool2d((3, 4)), IMAGE),
    (nn.AdaptiveAvgPool3d((2, 4, 3)), VOLUME),
    (nn.ReflectionPad1d(2), LINE),
    (nn.ReflectionPad2d(2), IMAGE),
    (nn.ReflectionPad3d(1), VOLUME),
    (nn.ReplicationPad1d(2), LINE),
    (nn.ReplicationPad2d(2), IMAGE),
    (nn.ReplicationPad3d(1), VOLUME),
    (nn.ZeroPad2d(2), IMAGE),
    (nn.ConstantPad2d(2, 1.5), IMAGE),
    (nn.CircularPad2d(2), IMAGE),
    (nn.BatchNorm1d(4), LINE),
    (nn.BatchNorm2d(4), IMAGE),
    (nn.BatchNorm3d(4), VOLUME),
    (nn.GroupNorm(2, 4), IMAGE),
    (nn.InstanceNorm1d(4), LINE),
    (nn.InstanceNorm2d(4, affine=True), IMAGE),
    (nn.InstanceNorm2d(4, track_running_stats=True), IMAGE),
    (nn.LayerNorm(10), IMAGE),
    (nn.LocalResponseNorm(2), IMAGE),
    (nn.RMSNorm(10), IMAGE),
    (nn.Linear(8, 5), ROWS),
    (nn.Flatten(), IMAGE),
    (nn.Unflatten(1, (2, 2)), IMAGE),
    (nn.PixelShuffle(2), IMAGE),
    (nn.PixelUnshuffle(2), IMAGE),
    (nn.ChannelShuffle(2), IMAGE),
    (nn.Upsample(scale_factor=2), IMAGE),
    (nn.Upsample(scale_factor=2), LINE),
    (nn.Upsample(scale_factor=2), VOLUME),
    (nn.Upsample(scale_factor=2, mode="nearest-exact"), IMAGE),
    (nn.Upsample(scale_factor=2, mode="linear"), LINE),
    (nn.Upsample(scale_factor=1.5, mode="bilinear", align_corners=True), IMAGE),
    (nn.Upsample(size=(12, 7), mode="bicubic"), IMAGE),
    (nn.Upsample(scale_factor=2, mode="trilinear"), VOLUME),
    (nn.Embedding(10, 4), WORDS),
    (nn.Embedding(10, 4, padding_idx=0, max_norm=None), WORDS),
    (nn.EmbeddingBag(10, 4, mode="sum"), WORDS),
    (nn.EmbeddingBag(10, 4, mode="mean"), WORDS),
    (nn.EmbeddingBag(10, 4, mode="max"), WORDS),
    (nn.RNN(8, 4, batch_first=True), numbers(2, 3, 8)),
    (nn.RNN(8, 4, 2, bidirectional=True), numbers(2, 3, 8)),
    (nn.LSTM(8, 4, 2, batch_first=True), numbers(2, 3, 8)),
    (nn.LSTM(8, 4, bidirectional=True, proj_size=2), numbers(2, 3, 8)),
    (nn.GRU(8, 4, 2, bidirectional=True), numbers(2, 3, 8)),
    (nn.LSTMCell(8, 4), ROWS),
    (nn.GRUCell(8, 4), ROWS),
    (nn.RNNCell(8, 4), ROWS),
    (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), numbers(2, 3, 8)),
    (
        nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
        numbers(2, 3, 8),
    ),
]


def _name(module: nn.Module) -> str:
    text = repr(module).replace("\n", " ")
    return " ".join(text.split())[:70]


_TWO: list[tuple[nn.Module, tuple[Any, ...]]] = [
    (nn.Bilinear(8, 8, 3), (ROWS, ROWS + 1)),
    (nn.CosineSimilarity(), (ROWS, ROWS + 1)),
    (nn.PairwiseDistance(), (ROWS, ROWS + 1)),
    (nn.EmbeddingBag(10, 4, mode="sum"), (WORDS.flatten(), torch.tensor([0, 3, 3, 7]))),
    (
        nn.EmbeddingBag(10, 4, mode="mean", padding_idx=2),
        (WORDS.flatten(), torch.tensor([0, 3, 7])),
    ),
    (nn.EmbeddingBag(10, 4, mode="sum"), (WORDS, None, numbers(2, 6))),
    (nn.MultiheadAttention(8, 2, batch_first=True), (numbers(2, 3, 8),) * 3),
    (
        nn.MultiheadAttention(8, 2, kdim=6, vdim=5),
        (numbers(2, 3, 8), numbers(4, 3, 6), numbers(4, 3, 5)),
    ),
    (nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), (numbers(2, 3, 8), numbers(2, 4, 8))),
    (nn.Transformer(8, 2, 1, 1, 16, batch_first=True), (numbers(2, 3, 8), numbers(2, 4, 8))),
    (nn.MaxUnpool2d(2), nn.MaxPool2d(2, return_indices=True)(IMAGE)),
    (nn.MSELoss(), (ROWS, ROWS + 1)),
    (nn.L1Loss(reduction="sum"), (ROWS, ROWS + 1)),
    (nn.SmoothL1Loss(), (ROWS, ROWS + 1)),
    (nn.HuberLoss(), (ROWS, ROWS + 1)),
    (nn.CrossEntropyLoss(), (ROWS, torch.tensor([1, 7, 0]))),
    (nn.CrossEntropyLoss(label_smoothing=0.1, reduction="none"), (ROWS, torch.tensor([1, 7, 0]))),
    (nn.NLLLoss(), (ROWS.log_softmax(-1), torch.tensor([1, 7, 0]))),
    (nn.KLDivLoss(reduction="batchmean"), (ROWS.log_softmax(-1), (ROWS + 1).softmax(-1))),
    (nn.BCELoss(), (ROWS.sigmoid(), (ROWS > 0).float())),
    (nn.BCEWithLogitsLoss(), (ROWS, (ROWS > 0).float())),
    (nn.PoissonNLLLoss(), (ROWS, ROWS.abs())),
    (nn.HingeEmbeddingLoss(), (ROWS, ROWS.sign())),
    (nn.MarginRankingLoss(), (ROWS[0], ROWS[1], ROWS[2].sign())),
    (nn.MultiLabelMarginLoss(), (ROWS, integers(8, 3, 8))),
    (nn.MultiLabelSoftMarginLoss(), (ROWS, (ROWS > 0).float())),
    (nn.MultiMarginLoss(), (ROWS, torch.tensor([1, 7, 0]))),
    (nn.SoftMarginLoss(), (ROWS, ROWS.sign())),
    (nn.CosineEmbeddingLoss(), (ROWS, ROWS + 1, torch.tensor([1.0, -1.0, 1.0]))),
    (nn.TripletMarginLoss(), (ROWS, ROWS + 1, ROWS - 2)),
]

_REFUSED: list[Row] = [
    row(
        "FractionalMaxPool2d",
        nn.FractionalMaxPool2d(2, output_ratio=0.5, _random_samples=torch.rand(2, 4, 2)),
        IMAGE,
        refused=r"aten::fractional_max_pool2d",
    ),
    row(
        "GaussianNLLLoss",
        nn.GaussianNLLLoss(),
        ROWS,
        ROWS + 1,
        ROWS.abs() + 0.1,
        is_exported=False,
    ),
    row(
        "CTCLoss",
        nn.CTCLoss(),
        numbers(6, 2, 5).log_softmax(-1),
        torch.tensor([[1, 2, 1], [3, 4, 1]]),
        torch.tensor([6, 5]),
        torch.tensor([3, 2]),
        is_exported=False,
    ),
]


def _distinct(rows: list[Row]) -> list[Row]:
    """Layers that print alike get numbers."""
    seen: Counter[str] = Counter()
    named = []
    for each in rows:
        seen[each.name] += 1
        number = f" #{seen[each.name]}" if seen[each.name] > 1 else ""
        named.append(replace(each, name=each.name + number))
    return named


FAMILIES = {
    "activations": _distinct([row(_name(module), module, ROWS) for module in _ACTIVATIONS]),
    "layers": _distinct(
        [
            *(row(f"{_name(module)} {list(x.shape)}", module, x) for module, x in _SHAPED),
            *(row(f"{_name(module)} of {len(inputs)}", module, *inputs) for module, inputs in _TWO),
            *_REFUSED,
        ]
    ),
}
