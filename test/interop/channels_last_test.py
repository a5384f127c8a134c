# SPDX-License-Identifier: BSD-3-Clause
"""Programs that reduce channels-last inputs, written here, run on upstream's runtime, which wants row-major ones."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.export import export

from executorch.exir import to_edge
from executorch.exir.passes.row_major_pass_test import INPUTS, REDUCED, Call
from executorch.test.interop import peer

pytestmark = pytest.mark.interop
X = INPUTS["channels last"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, version: str) -> Path:
    """All files, run in one process of the peer."""
    folder = tmp_path_factory.mktemp("channels_last")
    jobs = []
    for name in REDUCED:
        path = folder / f"{name.replace(' ', '_')}.pte"
        to_edge(export(Call(name), (X,))).to_executorch().save(path)
        jobs.append(peer.run_job(path, [("forward", (X,))], path.with_suffix(".out")))
    peer.do(jobs, folder, version)
    return folder


@pytest.mark.parametrize("name", REDUCED)
def test_upstream_runs_reductions_of_channels_last(folder: Path, name: str) -> None:
    (found,) = torch.load(peer.result(folder / f"{name.replace(' ', '_')}.out"))
    torch.testing.assert_close(tuple(found), Call(name)(X))
