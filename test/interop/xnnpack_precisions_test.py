# SPDX-License-Identifier: BSD-3-Clause
"""Upstream's files for XNNPACK in every precision run here and give upstream's outputs."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.extension.pybindings.portable_lib import _load_for_executorch
from executorch.test.interop import peer
from executorch.test.interop.xnnpack_precisions import IMAGES, NETWORKS, TEXTS

pytestmark = [
    pytest.mark.interop,
    pytest.mark.full,
    needs_runtime,
]

SOME_IMAGES = ["resnet", "mobilenet2", "perceptron", "mixer"]
SOME_TEXTS = ["encoder", "decoder"]
CASES = [
    *((name, "by_channel") for name in NETWORKS),
    *((name, "by_tensor") for name in SOME_IMAGES + SOME_TEXTS),
    # Upstream's own batch norm pass refuses half precision.
    *((name, "half") for name in ["unbiased", "perceptron", "mixer", *SOME_TEXTS]),
    *((name, "dynamic") for name in [*TEXTS, "resnet", "perceptron", "mixer"]),
    *((name, "groups4") for name in [*TEXTS, "perceptron", "mixer"]),
    *((name, "channels4") for name in ["encoder", "perceptron"]),
]
# Of what has no quanta at its end. What is quantized while running may round a tie the other way, a
# 255th of a row's range, and further layers carry it on.
ROWS = 2e-2
RELATIVE = {"half": 2e-3, "dynamic": ROWS, "groups4": ROWS, "channels4": ROWS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("precisions")
    jobs = [
        peer.quantize_job(
            name, precision, folder / f"{name}-{precision}.pte", folder / f"{name}-{precision}.pt"
        )
        for name, precision in CASES
    ]
    peer.do(jobs, folder)
    return folder


def quantum(values: torch.Tensor) -> float:
    """The smallest step between values that are 8-bit numbers by a scale; 0 when they are not."""
    distinct = values.double().unique()
    if not 1 < distinct.numel() <= 256:
        return 0.0
    steps = distinct.diff()
    step = steps.min()
    is_grid = ((steps / step) - (steps / step).round()).abs().max() < 1e-2
    return float(step) if is_grid else 0.0


def test_there_are_networks_enough() -> None:
    assert len(IMAGES) >= 20
    assert len(NETWORKS) == len(IMAGES) + len(TEXTS)


@pytest.mark.req("XQ-010")
@pytest.mark.parametrize(("name", "precision"), CASES)
def test_their_file_gives_their_outputs(name: str, precision: str, folder: Path) -> None:
    saved = torch.load(peer.result(folder / f"{name}-{precision}.pt"), weights_only=True)
    program = folder / f"{name}-{precision}.pte"
    assert b"XnnpackBackend" in program.read_bytes()
    outputs = _load_for_executorch(str(program)).forward(saved["inputs"])
    for found, expected in zip(outputs, saved["outputs"], strict=True):
        assert found.dtype == expected.dtype
        error = (found.double() - expected.double()).abs().max().item()
        scale = expected.double().abs().max().item()
        step = quantum(expected)
        assert error <= max(1.01 * step, RELATIVE.get(precision, 1e-4) * scale), (error, step)
