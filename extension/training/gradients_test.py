# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of operators, layers and losses against eager PyTorch. The branches of a table are one program, each with
parameters of its own, so that each has gradients of its own to compare."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import export
from torch.export.experimental import _export_forward_backward

from executorch.exir import ExecutorchBackendConfig, to_edge

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from executorch.extension.training import (
        TrainingModule,
        _load_for_executorch_for_training_from_buffer,
        get_sgd_optimizer,
    )

pytestmark = pytest.mark.filterwarnings("ignore:This API is experimental", "ignore:method forward")

Branch = Callable[[Tensor], Tensor]
MATRIX, IMAGE, WORDS = (4, 8), (2, 3, 8, 8), (2, 6, 16)
CLASSES = torch.tensor([3, 0, 7, 1])
SHARES = torch.linspace(-1, 1, 32).view(MATRIX).softmax(-1)
PLACES = torch.arange(8).expand(4, 8)


class Branches(nn.Module):
    """The sum of the mean squares of all branches, which see x plus a start of their own."""

    def __init__(self, branches: Mapping[str, Branch], sizes: tuple[int, ...]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.branches = dict(branches)
        self.layers = nn.ModuleDict({k: v for k, v in branches.items() if isinstance(v, nn.Module)})
        self.starts = nn.ParameterDict({name: torch.randn(sizes) for name in branches})

    def forward(self, x: Tensor) -> Tensor:
        parts = [
            (branch(self.starts[name] + x) ** 2).mean() for name, branch in self.branches.items()
        ]
        return torch.stack(parts).sum()


class Attention(nn.Module):
    def __init__(self, is_causal: bool, mask: Tensor | None = None) -> None:
        super().__init__()
        self.input = nn.Linear(16, 48)
        self.is_causal, self.mask = is_causal, mask

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.input(x).view(2, 6, 3, 2, 8).permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask=self.mask, is_causal=self.is_causal
        )


class First(nn.Module):
    """The first result of a recurrent layer."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)[0]


class Words(nn.Module):
    """Embeddings of words that x does not choose."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 16, **options)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table(torch.tensor([1, 2, 2, 19, 0, 1]))


class Tied(nn.Module):
    """One weight in two places."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 16)
        self.head = nn.Linear(16, 20, bias=False)
        self.head.weight = self.table.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.head(x + self.table(torch.tensor([1, 2, 2, 19, 0, 1])))


FUNCTIONS: dict[str, Branch] = {
    "exp": torch.exp,
    "power": lambda x: x**3,
    "real power": lambda x: (x.abs() + 0.1) ** 1.5,
    "sqrt": lambda x: (x.abs() + 1).sqrt(),
    "rsqrt": lambda x: (x.abs() + 1).rsqrt(),
    "sin": torch.sin,
    "erf": torch.erf,
    "atan2": lambda x: torch.atan2(x, x.abs() + 2),
    "clamp": lambda x: x.clamp(-0.1, 0.3),
    "minimum": lambda x: torch.minimum(x, -x + 0.1),
    "where": lambda x: torch.where(x > 0, x, x * 2),
    "masked_fill": lambda x: x.masked_fill(x > 0, -1.0),
    "cumsum": lambda x: x.cumsum(-1),
    "amax": lambda x: x.amax(-1),
    "max": lambda x: x.max(-1)[0],
    "mean": lambda x: x.mean(0),
    "var": lambda x: x.var(-1),
    "std": lambda x: x.std(-1),
    "prod": lambda x: x.prod(-1),
    "logsumexp": lambda x: x.logsumexp(-1),
    "normalize": lambda x: F.normalize(x, dim=-1),
    "cat": lambda x: torch.cat([x[:, :4], x[:, 4:] * 2], 1),
    "stack": lambda x: torch.stack([x, x * 2]).sum(0),
    "roll": lambda x: x.roll(1, 1) * x,
    "flip": lambda x: x.flip(1) * x,
    "tril": lambda x: x.tril(),
    "sort": lambda x: x.sort(-1)[0] * torch.arange(8),
    "topk": lambda x: x.topk(3)[0],
    "gather": lambda x: x.gather(1, PLACES // 2),
    "scatter": lambda x: torch.zeros(MATRIX).scatter(1, PLACES.flip(1), x) * x,
    "index": lambda x: x[:, [0, 1, 1, 7]],
    "index_add": lambda x: torch.zeros(MATRIX).index_add(0, torch.tensor([0, 1, 1, 2]), x),
    "unfold": lambda x: x.unfold(1, 4, 2),
    "bmm": lambda x: torch.bmm(x.view(2, 2, 8), x.view(2, 8, 2)),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "cdist": lambda x: torch.cdist(x, x[:2] + 1),
    "conv1d": lambda x: F.conv1d(x.view(4, 1, 8), torch.ones(1, 1, 3), padding=1),
}
LAYERS: dict[str, Branch] = {
    "linear": nn.Linear(8, 8),
    "relu": nn.ReLU(),
    "relu6": nn.ReLU6(),
    "gelu": nn.GELU(),
    "gelu of tanh": nn.GELU("tanh"),
    "silu": nn.SiLU(),
    "tanh": nn.Tanh(),
    "elu": nn.ELU(),
    "selu": nn.SELU(),
    "celu": nn.CELU(),
    "leaky relu": nn.LeakyReLU(),
    "hardswish": nn.Hardswish(),
    "hardsigmoid": nn.Hardsigmoid(),
    "hardtanh": nn.Hardtanh(),
    "mish": nn.Mish(),
    "softplus": nn.Softplus(),
    "softsign": nn.Softsign(),
    "logsigmoid": nn.LogSigmoid(),
    "threshold": nn.Threshold(0.1, 0.0),
    "softmax": nn.Softmax(-1),
    "log softmax": nn.LogSoftmax(-1),
    "layer norm": nn.LayerNorm(8),
    "rms norm": nn.RMSNorm(8),
    "glu": nn.Sequential(nn.Linear(8, 16), nn.GLU()),
    "dropout of nothing": nn.Dropout(0.0),
}
LOSSES: dict[str, Branch] = {
    "cross entropy": lambda x: F.cross_entropy(x, CLASSES),
    "cross entropy, smoothed": lambda x: F.cross_entropy(x, CLASSES, label_smoothing=0.1),
    "cross entropy, weights": lambda x: F.cross_entropy(
        x, CLASSES, weight=torch.linspace(0.1, 1, 8)
    ),
    "cross entropy, ignored": lambda x: F.cross_entropy(x, CLASSES, ignore_index=3),
    "cross entropy of shares": lambda x: F.cross_entropy(x, SHARES),
    "mse": lambda x: F.mse_loss(x, SHARES),
    "l1": lambda x: F.l1_loss(x, SHARES),
    "smooth l1": lambda x: F.smooth_l1_loss(x, SHARES),
    "huber": lambda x: F.huber_loss(x, SHARES, delta=0.5),
    "bce": lambda x: F.binary_cross_entropy(x.sigmoid(), SHARES),
    "bce of logits": lambda x: F.binary_cross_entropy_with_logits(x, SHARES),
    "kl": lambda x: F.kl_div(x.log_softmax(-1), SHARES, reduction="batchmean"),
    "nll": lambda x: F.nll_loss(x.log_softmax(-1), CLASSES),
    "cosine": lambda x: 1 - F.cosine_similarity(x, SHARES),
    "margin": lambda x: F.multi_margin_loss(x, CLASSES),
    "triplet": lambda x: F.triplet_margin_loss(x, SHARES, -SHARES),
}
IMAGES: dict[str, Branch] = {
    "conv": nn.Conv2d(3, 4, 3),
    "conv of groups": nn.Conv2d(3, 6, 3, groups=3, padding=1),
    "conv with strides": nn.Conv2d(3, 4, 3, stride=2, padding=1),
    "conv with holes": nn.Conv2d(3, 4, 3, dilation=2, bias=False),
    "transposed conv": nn.ConvTranspose2d(3, 4, 2, stride=2),
    "batch norm": nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)),
    "frozen batch norm": nn.BatchNorm2d(3).eval(),
    "group norm": nn.GroupNorm(3, 3),
    "instance norm": nn.InstanceNorm2d(3, affine=True),
    "average pool": nn.AvgPool2d(2),
    "max pool": nn.MaxPool2d(3, 2, 1),
    "adaptive average": nn.AdaptiveAvgPool2d(3),
    "adaptive max": nn.AdaptiveMaxPool2d(3),
    "global average": nn.AdaptiveAvgPool2d(1),
    "nearest": nn.Upsample(scale_factor=2),
    "bilinear": nn.Upsample(scale_factor=2, mode="bilinear"),
    "pixel unshuffle": nn.PixelUnshuffle(2),
    "reflected": nn.ReflectionPad2d((1, 2, 3, 0)),
    "replicated": nn.ReplicationPad2d((1, 2, 3, 0)),
    "replicated column": lambda x: F.pad(x[..., :1], (2, 1, 1, 1), mode="replicate"),
    "prelu": nn.PReLU(),
}
SEQUENCES: dict[str, Branch] = {
    "attention": Attention(is_causal=False),
    "causal attention": Attention(is_causal=True),
    "attention, choice": Attention(False, torch.eye(6, dtype=torch.bool).logical_not()),
    "attention, added": Attention(False, torch.linspace(-2, 2, 36).view(6, 6)),
    "encoder layer": nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True),
    "lstm": First(nn.LSTM(16, 6, batch_first=True)),
    "gru": First(nn.GRU(16, 6, batch_first=True)),
    "rnn": First(nn.RNN(16, 6, batch_first=True)),
    "embedding": Words(),
    "embedding, padded": Words(padding_idx=2),
    "tied": Tied(),
}
TABLES: dict[str, tuple[Mapping[str, Branch], tuple[int, ...]]] = {
    "functions": (FUNCTIONS, MATRIX),
    "layers": (LAYERS, MATRIX),
    "losses": (LOSSES, MATRIX),
    "images": (IMAGES, IMAGE),
    "sequences": (SEQUENCES, WORDS),
}

QUICK = ("losses", "images")


def load(model: nn.Module, inputs: tuple[Any, ...]) -> TrainingModule:
    joint = _export_forward_backward(export(model, inputs, strict=True))
    config = ExecutorchBackendConfig(emit_mutable_buffer_names=True)
    return _load_for_executorch_for_training_from_buffer(
        to_edge(joint).to_executorch(config).buffer
    )


@pytest.mark.req("EXT-031")
@pytest.mark.parametrize(
    "table",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in TABLES],
)
def test_gradients_are_those_of_eager(table: str) -> None:
    branches, sizes = TABLES[table]
    model = Branches(branches, sizes)
    inputs = (torch.randn(sizes),)
    module = load(model, inputs)
    parameters = module.named_parameters("forward")
    assert parameters.keys() == dict(model.named_parameters()).keys()
    ours = get_sgd_optimizer(parameters, lr=0.01, momentum=0.9)
    eager = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for step in range(5):
        (loss,) = module.forward_backward("forward", inputs)
        eager.zero_grad()
        expected = model(*inputs)
        expected.backward()
        torch.testing.assert_close(loss, expected.detach(), rtol=1e-4, atol=1e-6)
        gradients = module.named_gradients()
        for name, parameter in model.named_parameters():
            wrong = f"the gradient of {name} in step {step}: "
            torch.testing.assert_close(
                gradients[name], parameter.grad, rtol=1e-3, atol=1e-5, msg=wrong.__add__
            )
        ours.step(gradients)
        eager.step()
