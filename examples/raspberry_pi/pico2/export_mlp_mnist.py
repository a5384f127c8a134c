# SPDX-License-Identifier: BSD-3-Clause
"""Writes balanced_tiny_mlp_mnist.pte: a classifier of the digits 0, 1, 4 and 7, with weights made by hand.

Each digit has a detector that counts the white pixels where it expects some, less those where it expects none; the
other six digits score -3.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import torch
from torch import nn

from executorch.exir import to_edge

LABELS = (0, 1, 4, 7)


def read_digits() -> dict[int, torch.Tensor]:
    """The firmware's pictures: 784 numbers, 1 for white, by label."""
    text = (Path(__file__).parent / "digits.h").read_text()
    found = {}
    for label, rows in re.findall(r"\{(\d), \{(.*?)\}\}", text, re.DOTALL):
        pixels = "".join(re.findall(r'"([.#]{28})"', rows))
        found[int(label)] = torch.tensor([float(pixel == "#") for pixel in pixels])
    return found


class BalancedTinyMLP(nn.Module):
    """784 pixels, four detectors, ten scores."""

    def __init__(self) -> None:
        super().__init__()
        self.detect, self.score = nn.Linear(784, len(LABELS)), nn.Linear(len(LABELS), 10)
        digits = read_digits()
        with torch.no_grad():
            for row, label in enumerate(LABELS):
                self.detect.weight[row] = 2 * digits[label] - 1
            self.detect.bias.zero_()
            self.score.weight.zero_()
            self.score.bias.fill_(-3)
            for column, label in enumerate(LABELS):
                self.score.weight[label, column] = 10
                self.score.bias[label] = 0

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.score(torch.relu(self.detect(pixels)))


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, epilog="example: python export_mlp_mnist.py"
    ).parse_args()
    model, inputs = BalancedTinyMLP().eval(), (torch.zeros(1, 784),)
    program = to_edge(torch.export.export(model, inputs)).to_executorch()
    program.save("balanced_tiny_mlp_mnist.pte")
    print(f"balanced_tiny_mlp_mnist.pte: {len(program.buffer)} bytes")


if __name__ == "__main__":
    main()
