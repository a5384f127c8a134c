# SPDX-License-Identifier: BSD-3-Clause
"""Whatever kind of operator packs weights finds them in a file again, and computes the same bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.partition.config import ALL_PARTITIONER_CONFIGS
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import to_edge_transform_and_lower
from executorch.test.e2e import build_tree


class Attention(nn.Module):
    """A batch of matrices that are constants, behind a linear layer large enough to be packed late."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(256, 512)
        self.heads = nn.Parameter(torch.randn(4, 128, 32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.bmm(self.up(x).view(-1, 4, 128).transpose(0, 1), self.heads)


IMAGE, ROWS = (1, 8, 20, 20), (6, 256)
NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "filters of all sizes": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1),  # of four channels or fewer
            nn.Conv2d(16, 32, 3, padding=1),  # Winograd
            nn.Conv2d(32, 32, 3, padding=1, groups=32),
            nn.Conv2d(32, 32, 7, padding=3, groups=32),  # more taps than the library's kernels have
            nn.Conv2d(32, 24, 1),
            nn.Conv2d(24, 12, 3, groups=4),
            nn.Conv2d(12, 5, 5, dilation=2),
        ),
        (1, 3, 48, 48),
    ),
    "transposed": (lambda: nn.ConvTranspose2d(8, 6, 4, stride=2, padding=1), IMAGE),
    "small linear": (lambda: nn.Sequential(nn.Linear(256, 20), nn.ReLU(), nn.Linear(20, 3)), ROWS),
    "large linear": (lambda: nn.Sequential(nn.Linear(256, 512), nn.Linear(512, 256)), ROWS),
    "batches of constants": (Attention, ROWS),
}


def lowered(name: str, few_bits: bool, folder: Path) -> Path:
    torch.manual_seed(0)
    make, shape = NETWORKS[name]
    module, inputs = make().eval(), (torch.randn(*shape),)
    program = torch.export.export(module, inputs)
    if few_bits:
        config = get_symmetric_quantization_config(is_per_channel=True)
        prepared = prepare_pt2e(program.module(), XNNPACKQuantizer().set_global(config))
        prepared(*inputs)
        program = torch.export.export(convert_pt2e(prepared), inputs)
    path = folder / "network.pte"
    edge = to_edge_transform_and_lower(
        program, partitioner=[XnnpackPartitioner(configs=ALL_PARTITIONER_CONFIGS)]
    )
    edge.to_executorch().save(str(path))
    inputs[0].numpy().tofile(folder / "input.bin")
    return path


def outputs(program: Path, *flags: str) -> bytes:
    """Of the third run, when everything is packed."""
    folder = program.parent
    done = build_tree.run(
        build_tree.binary("executor_runner"), f"--model_path={program}", "--num_executions=3",
        f"--inputs={folder / 'input.bin'}", f"--output_file={folder / 'output'}", *flags,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return (folder / "output-0.bin").read_bytes()


@pytest.mark.req("XQ-010")
@pytest.mark.parametrize("few_bits", [False, True], ids=["float", "int8"])
@pytest.mark.parametrize("name", NETWORKS)
def test_weights_in_a_file_compute_the_same(name: str, few_bits: bool, tmp_path: Path) -> None:
    program, kept = lowered(name, few_bits, tmp_path), tmp_path / "kept"
    flag = f"--packed_cache_path={kept}"
    packed = outputs(program)
    assert outputs(program, flag) == packed
    first = kept.stat()
    assert first.st_size > 64
    assert outputs(program, flag) == packed
    assert kept.stat().st_ino == first.st_ino, "something was packed that the file has"
