# SPDX-License-Identifier: BSD-3-Clause
"""Attention as one step: products, what is done with scores, softmax, and heads that are read where the layers around
have them. Expected are eager's numbers, and events that say what was one step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack.runtime.plan.own_steps_test import (
    OPTIONS,
    check,
    loaded,
    lowered,
    own_steps,
)
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime

pytestmark = needs_runtime

Tensors = tuple[torch.Tensor, ...]
Scores = Callable[[torch.Tensor], torch.Tensor]


class Heads(nn.Module):
    """Self-attention of `heads` heads by layers of their own. `by_depth`: keys are read with a row for each number."""

    def __init__(
        self, heads: int = 4, depth: int = 16, step: Scores = lambda x: x, by_depth: bool = False
    ) -> None:
        super().__init__()
        width = heads * depth
        self.heads, self.step, self.by_depth = heads, step, by_depth
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(4))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (self.split(layer(x)) for layer in self.layers[:3])
        k = k.transpose(2, 3) if not self.by_depth else k.permute(0, 1, 3, 2).contiguous()
        weights = self.step(q * 0.25 @ k).softmax(-1)
        return self.layers[3]((weights @ v).transpose(1, 2).flatten(2))


class OneLayer(Heads):
    """Queries, keys and values are slices of what one layer writes."""

    def __init__(self) -> None:
        super().__init__()
        self.all = nn.Linear(64, 192)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (self.split(part) for part in self.all(x).chunk(3, -1))
        return (q @ k.transpose(2, 3)).softmax(-1) @ v


class Kept(Heads):
    """The weights are a result, too."""

    def forward(self, x: torch.Tensor) -> Tensors:
        q, k, v = (self.split(layer(x)) for layer in self.layers[:3])
        weights = (q @ k.transpose(2, 3)).softmax(-1)
        return weights, weights @ v


class Given(nn.Module):
    """Of the input alone: as many queries as keys, in windows of two dimensions."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = x.abs()
        return ((x @ x.transpose(-1, -2) * 0.3).softmax(-1) @ values).flatten(0, 1).exp()


class Few(nn.Module):
    """One query of each head, as when a token follows others; keys and values are known."""

    def __init__(self, keys: int) -> None:
        super().__init__()
        self.keys, self.values = (
            nn.Buffer(torch.randn(1, 4, keys, 16)),
            nn.Buffer(torch.randn(1, 4, keys, 24)),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ((x.view(1, 1, 4, 16).transpose(1, 2) @ self.keys.transpose(2, 3)) * 0.1).softmax(
            -1
        ) @ self.values


def masked(rows: int, low: float) -> Scores:
    """No query sees later keys."""
    mask = torch.full((rows, rows), low).triu(1)
    return lambda scores: scores + mask


def biased(scores: torch.Tensor) -> torch.Tensor:
    """By the head, then by batch and key."""
    batch, heads, _, keys = scores.shape
    by_key = torch.linspace(-1, 1, batch * keys).view(batch, 1, 1, keys)
    return (
        scores + torch.linspace(-2, 2, heads).view(heads, 1, 1) * torch.arange(keys).cos() + by_key
    )


def windows(scores: torch.Tensor) -> torch.Tensor:
    """As Swin's masks: batches and heads apart and together."""
    batch, heads, rows, keys = scores.shape
    mask = torch.where(torch.arange(rows).view(-1, 1) // 5 == torch.arange(keys) // 5, 0.0, -100.0)
    return (scores.view(1, batch, heads, rows, keys) + mask).view(-1, heads, rows, keys)


QKV, ONE = ["Matmul"] * 3, ["Matmul + StaticReshape"] * 3
END = " + Softmax + BatchMatrixMultiply + StaticTranspose"
# A network, the sizes of its input, and the nodes of its steps of ours.
ATTENTION: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], list[str]]] = {
    "heads": (Heads, (2, 9, 64), [*QKV, "Attention" + END, "Matmul"]),
    "one head": (lambda: Heads(1, 40), (2, 9, 40), [*ONE, "Attention" + END, "Matmul"]),
    "many keys": (lambda: Heads(2, 20), (1, 700, 40), [*QKV, "Attention" + END, "Matmul"]),
    "masked": (
        lambda: Heads(step=masked(33, -100.0)),
        (2, 33, 64),
        [*QKV, "Attention + Add" + END, "Matmul"],
    ),
    "forbidden": (
        lambda: Heads(step=masked(300, float("-inf"))),
        (1, 300, 64),
        [*QKV, "Attention + Add" + END, "Matmul"],
    ),
    "biased": (
        lambda: Heads(step=biased),
        (3, 33, 64),
        [*QKV, "Attention + Add + Add" + END, "Matmul"],
    ),
    "gated": (
        lambda: Heads(step=lambda x: x * x.sigmoid()),
        (1, 260, 64),
        [*QKV, "Attention + Sigmoid + Multiply" + END, "Matmul"],
    ),
    "windows": (
        lambda: Heads(3, 8, step=windows),
        (4, 25, 24),
        [*QKV, "Attention + StaticReshape + Add + StaticReshape" + END, "Matmul"],
    ),
    "by depth": (
        lambda: Heads(by_depth=True),
        (2, 9, 64),
        [*QKV, "Attention" + END, "Matmul"],
    ),
    "one layer": (OneLayer, (2, 50, 64), ["Matmul", "Attention + Softmax + BatchMatrixMultiply"]),
    "kept": (
        Kept,
        (2, 9, 64),
        [*QKV, "Batch matmul", "Batch matmul"],
    ),
    "given": (
        Given,
        (2, 3, 7, 20),
        ["Attention + Multiply + Softmax + BatchMatrixMultiply + StaticReshape + Exp"],
    ),
    "few": (
        lambda: Few(500),
        (1, 64),
        [
            "Attention + StaticReshape + Multiply + Softmax + StaticReshape + BatchMatrixMultiply + StaticReshape"
        ],
    ),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_attention_is_one_step(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    make, sizes, steps = ATTENTION[name]
    module, x = make(), torch.randn(*sizes)
    data = lowered(module, x)
    assert own_steps(data, x, tmp_path) == steps
    for options in OPTIONS:
        method = loaded(data, **options)
        for _ in range(2):
            check(method, module, torch.randn_like(x))


def test_sizes_change_with_each_run() -> None:
    torch.manual_seed(0)
    module = OneLayer()
    sizes = {
        0: torch.export.Dim("batch", min=1, max=4),
        1: torch.export.Dim("rows", min=2, max=500),
    }
    method = loaded(lowered(module, torch.randn(2, 50, 64), dynamic_shapes=(sizes,)))
    for batch, rows in ((2, 50), (1, 2), (4, 500), (3, 193), (1, 7)):
        check(method, module, torch.randn(batch, rows, 64))


def test_rows_without_keys_are_eagers() -> None:
    """NaN, as the softmax of infinities is; infinite scores are NaN, too."""
    torch.manual_seed(0)
    nothing = torch.full((9, 9), float("-inf")).triu(-1)
    module = Heads(step=lambda x: x + nothing)
    x = torch.randn(1, 9, 64)
    method = loaded(lowered(module, x))
    found, expected = method.execute([x])[0], module(x).detach()
    assert expected.isnan().any() and not expected.isnan().all()
    torch.testing.assert_close(found, expected, equal_nan=True, rtol=2e-5, atol=2e-5)
    x[0, 3, 3] = float("inf")
    torch.testing.assert_close(method.execute([x])[0].isnan(), module(x).isnan())
