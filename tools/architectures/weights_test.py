# SPDX-License-Identifier: BSD-3-Clause
"""Drawn weights keep signals alive in networks whose own start values let them die."""

from __future__ import annotations

import torch
from torch import nn

from executorch.tools.architectures import weights

DEPTH = 24


def spread(values: torch.Tensor) -> float:
    return float(values.detach().std())


def dying_network() -> nn.Module:
    """Each block shrinks its input a thousand times; the last layer starts at zero."""
    torch.manual_seed(0)
    blocks: list[nn.Module] = []
    for _ in range(DEPTH):
        conv = nn.Conv2d(4, 4, 3, padding=1)
        nn.init.normal_(conv.weight, std=1e-4)
        nn.init.zeros_(conv.bias)
        blocks += [conv, nn.BatchNorm2d(4), nn.ReLU()]
    head = nn.Linear(4 * 64, 8)
    nn.init.zeros_(head.weight)
    return nn.Sequential(*blocks, nn.Flatten(), head).eval()


def test_each_layers_output_has_variance_one() -> None:
    model, x = dying_network(), torch.randn(2, 4, 8, 8)
    assert spread(model[:-1](x)) < 1e-3
    weights.draw(model, (x,))
    for layer in model:
        x = layer(x)
        if isinstance(layer, nn.Conv2d | nn.Linear | nn.BatchNorm2d):
            assert 0.7 < spread(x) < 1.4


class Tied(nn.Module):
    """One matrix looks tokens up and gives their scores; a table of positions and a scale start dead."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(32, 16)
        self.scores = nn.Linear(16, 32)
        self.scores.weight = self.tokens.weight
        self.positions = nn.Parameter(torch.zeros(1, 8, 16))
        self.scale = nn.Parameter(torch.full((16,), 1e-6))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden = self.tokens(ids) + self.positions
        return self.scores(hidden * self.scale)


def test_shared_weights_are_scaled_once_and_dead_parameters_drawn() -> None:
    model, ids = Tied().eval(), torch.arange(8)[None]
    weights.draw(model, (ids,))
    assert abs(spread(model.tokens(ids)) - 1) < 1e-4
    assert model.scores.weight is model.tokens.weight
    assert spread(model.positions) > 0.3 and spread(model.scale) > 0.03
    assert spread(model(ids)) > 0.1


def test_the_same_seed_draws_the_same() -> None:
    found = []
    for _ in range(2):
        model = dying_network()
        torch.manual_seed(1)
        weights.draw(model, (torch.randn(2, 4, 8, 8),))
        found.append(model[-1].weight.clone())
    assert torch.equal(found[0], found[1])
