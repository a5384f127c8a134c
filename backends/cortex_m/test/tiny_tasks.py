# SPDX-License-Identifier: BSD-3-Clause
"""The four tasks of the MLPerf Tiny benchmark on data of our own, as its sets cannot be had here: smooth random
patterns, one for each class, of which a sample is one, moved, louder or softer, and in noise. Networks are trained on
them for some seconds, so that scores are far from each other where a sample is clear, and near where it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from executorch.examples.models.mlperf_tiny import (
    DSCNNKWS,
    DeepAutoEncoder,
    MobileNetV1025,
    ResNet8,
)

KNOWN = 8  # patterns that the anomaly detector learns; as many more are anomalies


@dataclass(frozen=True)
class Task:
    """`sizes` of a sample; `coarse`, those that its patterns are drawn at; `noise` beside patterns of size 1."""

    make: Callable[[], nn.Module]
    sizes: tuple[int, ...]
    coarse: tuple[int, ...]
    classes: int
    noise: float
    steps: int

    @property
    def rebuilds(self) -> bool:
        """An anomaly is what the network, which learned the first patterns, rebuilds badly."""
        return self.make is DeepAutoEncoder

    def network(self) -> nn.Module:
        torch.manual_seed(0)
        model = self.make()
        return model if self.rebuilds else model.to(memory_format=torch.channels_last)

    def samples(self, count: int, seed: int, classes: int | None = None) -> tuple[Tensor, Tensor]:
        """With the number of each one's pattern."""
        drawn = torch.Generator().manual_seed(seed)
        labels = torch.randint(classes or self.classes, (count,), generator=drawn)
        shown = self._patterns()[labels]
        steps = torch.randint(-3, 4, (count,), generator=drawn)
        shown = torch.stack([each.roll(int(by), -1) for each, by in zip(shown, steps, strict=True)])
        loudness = 0.7 + 0.6 * torch.rand(count, *[1] * len(self.sizes), generator=drawn)
        found = loudness * shown + self.noise * torch.randn(shown.shape, generator=drawn)
        return found if self.rebuilds else found.to(memory_format=torch.channels_last), labels

    def _patterns(self) -> Tensor:
        drawn = torch.Generator().manual_seed(1)
        coarse = torch.randn(self.classes, *self.coarse, generator=drawn)
        if self.rebuilds:
            return nn.functional.interpolate(coarse[:, None], self.sizes, mode="linear")[:, 0]
        return nn.functional.interpolate(coarse, self.sizes[1:], mode="bilinear")

    def trained(self) -> nn.Module:
        model = self.network().train()
        optimizer = torch.optim.Adam(model.parameters(), 5e-3)
        slower = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, self.steps)
        for step in range(self.steps):
            given, labels = self.samples(16, 100 + step, KNOWN if self.rebuilds else None)
            made = model(given)
            loss = (
                nn.functional.mse_loss(made, given)
                if self.rebuilds
                else nn.functional.cross_entropy(made, labels)
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            slower.step()
        return model.eval()

    def accuracy(self, outputs: Tensor, given: Tensor, labels: Tensor) -> float:
        """The share that is told right; of anomalies, that of the pairs in which the anomaly is rebuilt worse."""
        if not self.rebuilds:
            return float((outputs.argmax(1) == labels).float().mean())
        errors = (outputs - given).square().mean(1)
        odd, known = errors[labels >= KNOWN], errors[labels < KNOWN]
        return float((odd[:, None] > known).float().mean())


TASKS = {
    "anomaly detector": Task(DeepAutoEncoder, (640,), (20,), 2 * KNOWN, 2.0, 120),
    "keyword spotter": Task(DSCNNKWS, (1, 49, 10), (1, 7, 4), 12, 0.7, 90),
    "image classifier": Task(ResNet8, (3, 32, 32), (3, 4, 4), 10, 1.5, 40),
    "person detector": Task(MobileNetV1025, (3, 96, 96), (3, 5, 5), 2, 1.5, 60),
}
