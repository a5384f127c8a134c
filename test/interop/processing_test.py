# SPDX-License-Identifier: BSD-3-Clause
"""Upstream's runtime opens programs with steps before and after the model, and gives their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.export import export
from executorch.extension.processing import Processing
from executorch.test.interop import peer

pytestmark = pytest.mark.interop


class Classes(torch.nn.Module):
    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return image.mean((2, 3))


class Boxes(torch.nn.Module):
    """Each pixel is two corners, which red, green and blue say, and scores of two classes."""

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        rows = image.flatten(2).transpose(1, 2)
        corner = 20 * rows[..., :2]
        return torch.cat([corner, corner + 5], -1), rows[..., 1:]


# Upstream's antialiased kernel refuses results whose size varies: a short side goes without it.
MODELS = {
    "classes": (Classes(), "bgr, resize 10, crop 8, normalize imagenet", "softmax, top 2"),
    "smooth": (Classes(), "resize 8x8 antialias", "softmax, top 1"),
    "boxes": (Boxes(), "resize 8x8", "sigmoid, nms 0.3 12 0.55"),
}


@pytest.mark.parametrize("name", MODELS)
def test_upstream_runs_a_program_with_steps(tmp_path: Path, name: str, version: str) -> None:
    model, before, after = MODELS[name]
    labels = "ab" if name == "boxes" else "abc"
    session = export(
        model, [(torch.zeros(1, 3, 8, 8),)], processing=Processing(before, after, tuple(labels))
    )
    path = tmp_path / f"{name}.pte"
    session.save_to_pte(str(path))
    generator = torch.Generator().manual_seed(0)
    pictures = [
        torch.randint(0, 256, (*sizes, 3), dtype=torch.uint8, generator=generator)
        for sizes in ((24, 31), (8, 8), (40, 17))
    ]
    calls: list[Any] = [("forward", (picture,)) for picture in pictures]
    peer.do([peer.run_job(path, calls, path.with_suffix(".out"))], tmp_path, version)
    found = torch.load(peer.result(path.with_suffix(".out")))
    for picture, got in zip(pictures, found, strict=True):
        expected = session.run_method("forward", (picture,))
        torch.testing.assert_close(list(got), list(expected), rtol=1e-4, atol=1e-5)
