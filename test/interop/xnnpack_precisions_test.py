# SPDX-License-Identifier: BSD-3-Clause
"""Files for XNNPACK in every precision, upstream's here and ours there, give the outputs of where they were made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.extension.pybindings.portable_lib import _load_for_executorch
from executorch.test.interop import peer
from executorch.test.interop.xnnpack_precisions import NETWORKS, TEXTS

pytestmark = [
    pytest.mark.interop,
    pytest.mark.full,
    needs_runtime,
]


ALWAYS = ["float", "half", "by_channel", "dynamic", "groups4"]
CASES = [
    *((name, precision) for precision in ALWAYS for name in NETWORKS),
    *((name, "by_tensor") for name in ["resnet", "mobilenet2", "perceptron", "mixer", *TEXTS]),
    *((name, "channels4") for name in ["perceptron", "mixer", *TEXTS]),
]
# Upstream's XNNPACK quantizes what a convolution of 1 x 1 reads pixel by pixel, though the payload
# says image by image, which the one here does.
POINTWISE = ["bottleneck", "hardtanh", "inception", "mobilenet1", "mobilenet2", "mobilenet3"]
POINTWISE += ["squeeze", "unbiased"]


def limit(name: str, precision: str, expected: torch.Tensor) -> float:
    """Of the difference. Kernels are equal bit by bit; sums of floats are in another order. A last bit of the calls
    between a transformer's delegates may move a value to the next of 255 steps, and layers carry it on: upstream's
    own outputs of a 4-bit BERT move by a hundredth when its embeddings do by one bit."""
    scale = expected.double().abs().max().item()
    match precision:
        case "float":
            return 1e-6 * scale
        case "half":
            return 2**-9 * scale
        case "by_channel" | "by_tensor":
            return 1.01 * quantum(expected) if name in TEXTS else 0.0
        case "dynamic" if name in POINTWISE:
            return 4e-3 * scale
    return (2e-2 if name in TEXTS else 1e-6) * scale


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, version: str) -> Path:
    """All files of both sides, each with its inputs and what it gave where it was made; ours have run there."""
    folder = tmp_path_factory.mktemp("precisions")

    def made_by(side: str, cases: list[tuple[str, str]]) -> list[peer.Job]:
        stems = [(case, folder / f"{side}-{'-'.join(case)}") for case in cases]
        return [
            peer.quantize_job(*case, stem.with_suffix(".pte"), stem.with_suffix(".pt"))
            for case, stem in stems
        ]

    with ThreadPoolExecutor() as pool:
        for done in [
            pool.submit(peer.do, made_by("theirs", CASES), folder, version),
            pool.submit(peer.do_here, made_by("ours", CASES), folder),
        ]:
            done.result()
    peer.do([run_there(made) for made in sorted(folder.glob("ours-*.pt"))], folder, version)
    return folder


def run_there(made: Path) -> peer.Job:
    inputs = torch.load(made, weights_only=True)["inputs"]
    return peer.run_job(made.with_suffix(".pte"), [("forward", inputs)], made.with_suffix(".there"))


def quantum(values: torch.Tensor) -> float:
    """The smallest step between values that are 8-bit numbers by a scale; 0 when they are not."""
    distinct = values.double().unique()
    if not 1 < distinct.numel() <= 256:
        return 0.0
    steps = distinct.diff()
    step = steps.min()
    is_grid = ((steps / step) - (steps / step).round()).abs().max() < 1e-2
    return float(step) if is_grid else 0.0


def assert_agree(found: list, expected: list, name: str, precision: str) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        error = (one.double() - other.double()).abs().max().item()
        assert error <= limit(name, precision, other), (error, other.double().abs().max().item())


def test_there_are_networks_enough() -> None:
    assert len(NETWORKS) >= 20


@pytest.mark.req("XQ-010")
@pytest.mark.parametrize(("name", "precision"), CASES)
def test_their_file_gives_their_outputs(name: str, precision: str, folder: Path) -> None:
    program = folder / f"theirs-{name}-{precision}.pte"
    saved = torch.load(peer.result(program.with_suffix(".pt")), weights_only=True)
    assert b"XnnpackBackend" in program.read_bytes()
    outputs = _load_for_executorch(str(program)).forward(saved["inputs"])
    assert_agree(outputs, saved["outputs"], name, precision)


@pytest.mark.req("XQ-010")
@pytest.mark.parametrize(("name", "precision"), CASES)
def test_our_file_gives_our_outputs_there(name: str, precision: str, folder: Path) -> None:
    program = folder / f"ours-{name}-{precision}.pte"
    saved = torch.load(peer.result(program.with_suffix(".pt")), weights_only=True)
    assert b"XnnpackBackend" in program.read_bytes()
    outputs = torch.load(peer.result(program.with_suffix(".there")), weights_only=True)[0]
    assert_agree(outputs, saved["outputs"], name, precision)
