# SPDX-License-Identifier: BSD-3-Clause
"""Resident memory of an export beyond what torch.export leaves: a Llama-style model with random weights.

usage: python -m executorch.tools.architectures.memory [--layers 16] [--width 2048] [--inner 8192]

The defaults make 1.1 billion parameters (4.4 GB). The excess, peak minus what was resident just after
torch.export, is to stay below the weights and 150 MB.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import tempfile
import time
from pathlib import Path

import torch

from executorch.examples.models.llama_style import LlamaStyle, Shape
from executorch.exir import to_edge

ALLOWANCE = 150e6


def resident() -> int:
    """Bytes of memory that this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def peak() -> int:
    """The most that this program held. (ru_maxrss would also know what its parent held before exec.)"""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found, "the system does not tell the peak of a process"
    return int(found[1]) * 1024


def step(text: str, start: float) -> None:
    print(f"{time.perf_counter() - start:7.1f} s  {resident() / 1e9:6.2f} GB  {text}", flush=True)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--inner", type=int, default=8192)
    parser.add_argument("--vocabulary", type=int, default=32000)
    options = parser.parse_args(argv)
    start = time.perf_counter()
    shape = Shape(**vars(options))
    model = LlamaStyle(shape).eval()
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    step(f"made {weights / 4e9:.2f} billion parameters, {weights / 1e9:.2f} GB", start)
    with torch.no_grad():
        program = torch.export.export(model, (torch.ones(1, 8, dtype=torch.int64),))
    before = resident()
    step("exported", start)
    edge = to_edge(program)
    step("edge program", start)
    manager = edge.to_executorch()
    step("planned and emitted", start)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.pte"
        with file.open("wb") as out:
            manager.write_to_file(out)
        step(f"wrote {file.stat().st_size / 1e9:.2f} GB", start)
    excess = peak() - before
    print(f"peak {peak() / 1e9:.2f} GB, {excess / 1e6:.0f} MB beyond torch.export")
    return 0 if excess <= weights + ALLOWANCE else 1


if __name__ == "__main__":
    sys.exit(main())
