# SPDX-License-Identifier: BSD-3-Clause
"""Programs with loops, written here, run on upstream's runtime."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.export import export

from executorch.exir import to_edge
from executorch.exir.emit.loops_test import CASES, Call
from executorch.test.interop import peer

pytestmark = pytest.mark.interop
MODULES = {name: Call(function).eval() for name, (function, _) in CASES.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, version: str) -> Path:
    """All files, run in one process of the peer."""
    folder = tmp_path_factory.mktemp("loops")
    jobs = []
    for name, (_, inputs) in CASES.items():
        path = folder / f"{name.replace(' ', '_')}.pte"
        to_edge(export(MODULES[name], inputs)).to_executorch().save(path)
        jobs.append(peer.run_job(path, [("forward", inputs)], path.with_suffix(".out")))
    peer.do(jobs, folder, version)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_upstream_runs_our_loops(folder: Path, name: str) -> None:
    out = peer.result(folder / f"{name.replace(' ', '_')}.out")
    expected = MODULES[name](*CASES[name][1])
    expected = expected if isinstance(expected, tuple) else (expected,)
    (got,) = torch.load(out)
    torch.testing.assert_close(tuple(got), expected)
