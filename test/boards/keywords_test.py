# SPDX-License-Identifier: BSD-3-Clause
"""A keyword-spotting network (MLPerf Tiny's DS-CNN) on emulated boards, interpreted and as source."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch

from executorch.codegen.memory_bound import memory_bounds
from executorch.examples.models.mlperf_tiny import DSCNNKWS
from executorch.exir import to_edge
from executorch.test.boards.pico2_test import BOARDS, ROOT, emulate, firmware, flash_and_ram

pytestmark = pytest.mark.full

# Batch normalization asks for 512 bytes while it runs; the interpreter has a pool of 1 KB for that.
FORMS = {
    "interpreter": ["-DMETHOD_POOL_BYTES=12288"],
    "source": ["--no-interpreter", "-DSCRATCH_BYTES=1024"],
}
STACK = 16384


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    return DSCNNKWS().eval()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keywords") / "keywords.pte"
    exported = torch.export.export(network(), (torch.zeros(1, 1, 49, 10),))
    to_edge(exported).to_executorch().save(str(path))
    return path


def weights_bytes() -> int:
    """Of the convolutions and the last layer; batch normalization has 4 numbers a channel more until it is folded."""
    return 4 * sum(p.numel() for name, p in network().named_parameters() if p.dim() > 1)


@pytest.mark.req("EMB-025", "EMB-026", "RT-047")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("board", BOARDS)
def test_keywords_are_scored_as_by_pytorch(board: str, form: str, model: Path) -> None:
    """Without heap; all memory is in the sections that the linker counts."""
    options = [*FORMS[form], f"--main={ROOT / 'test/boards/keywords.cpp'}"]
    elf = firmware(model, board, *options, name=f"-keywords-{form}")
    started = time.monotonic()
    code, text = emulate(elf, board)
    seconds = time.monotonic() - started
    assert code == 0, text[-1000:]
    signal = torch.tensor([(i % 13) / 4 - 1.5 for i in range(490)]).reshape(1, 1, 49, 10)
    with torch.no_grad():
        expected = network()(signal)[0]
    found = torch.tensor([float(line) for line in text.split()])
    torch.testing.assert_close(found, expected, rtol=0, atol=6e-4)  # three digits are printed
    flash, ram = flash_and_ram(elf)
    (bound,) = memory_bounds(model)
    print(
        f"{board}, {form}: flash {flash}, of it weights {weights_bytes()}; RAM {ram}, of it a stack of {STACK} "
        f"and arenas of {bound.arena_bytes}; {seconds:.1f} s"
    )
    assert weights_bytes() < flash < weights_bytes() + 160 * 1024
    assert bound.arena_bytes < ram - STACK < bound.arena_bytes + 24 * 1024
