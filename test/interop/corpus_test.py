# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus on upstream's runtime: it gives what eager does, or says which operators it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.utils import _pytree as pytree

from executorch.backends.test.corpus import rows
from executorch.backends.test.corpus.row import Row
from executorch.backends.test.suite.attempt import Failed, begin_case
from executorch.backends.test.suite.flow import all_flows
from executorch.backends.test.suite.rows import difference, make_row
from executorch.test.interop import peer

pytestmark = pytest.mark.interop
SAMPLE = 8


def ran(chosen: tuple[Row, ...], flow: str, folder: Path, version: str) -> dict[str, str]:
    """Row -> "" where the peer computes what eager does, "lacks ..." where it does not load the file, else what is
    wrong. Rows that exporting refuses are not among them."""
    jobs, made = [], {}
    for number, row in enumerate(chosen):
        taken = all_flows()[flow]
        try:
            tester = make_row(begin_case(taken, row.id, row.id), row, taken)
        except Failed:
            continue
        file = folder / f"{number}.pte"
        file.write_bytes(tester.get_artifact())
        made[row.id] = (row, folder / f"{number}.out")
        calls = [("forward", pytree.tree_leaves(inputs)) for inputs in row.calls]
        jobs.append(peer.run_job(file, calls, made[row.id][1]))
    peer.do(jobs, folder, version)
    return {name: _verdict(row, out) for name, (row, out) in made.items()}


def _verdict(row: Row, out: Path) -> str:
    error = Path(f"{out}.error")
    if error.exists():
        return f"lacks: {error.read_text().strip().splitlines()[-1]}"
    for inputs, found in zip(row.calls, torch.load(out), strict=True):
        text = difference(row, found, pytree.tree_leaves(row.module()(*inputs)), 1e-3)
        if text:
            return text
    return ""


def check(chosen: tuple[Row, ...], flow: str, folder: Path, version: str) -> None:
    verdicts = ran(chosen, flow, folder, version)
    wrong = {name: text for name, text in verdicts.items() if text and not text.startswith("lacks")}
    assert not wrong, wrong
    right = sum(not text for text in verdicts.values())
    assert right > 0.8 * len(verdicts), verdicts


@pytest.mark.parametrize("flow", ["portable", "xnnpack"])
def test_a_sample_runs_upstream(flow: str, tmp_path: Path, version: str) -> None:
    check(rows()[3::SAMPLE], flow, tmp_path, version)


@pytest.mark.full
@pytest.mark.parametrize("flow", ["portable", "xnnpack"])
def test_the_corpus_runs_upstream(flow: str, tmp_path: Path, version: str) -> None:
    check(rows(), flow, tmp_path, version)
