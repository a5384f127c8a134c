# SPDX-License-Identifier: BSD-3-Clause
"""Upstream's un-delegated files run here, ours run there, and the numbers are eager's on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from executorch.examples.models import EXAMPLES, make_example
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.extension.pybindings.portable_lib import _load_for_executorch
from executorch.test.e2e.cpp_calls import call_in_cpp
from executorch.test.e2e.programs import Calls, assert_same, run_in_python
from executorch.test.interop import peer

pytestmark = [pytest.mark.interop, pytest.mark.slow]

# Upstream drops start values of mutable buffers, so this program means something else there.
NAMES = [name for name in EXAMPLES if name != "running_total"]
WITH_DATA = ["mv2", "bert", "llama"]
# Varying sizes; the image networks are left to e2e/, upstream's portable kernels take minutes for them.
DYNAMIC = ["bert", "llama", "llama_kv"]
ROWS = [(name, False) for name in NAMES] + [(name, True) for name in DYNAMIC]


@dataclass(frozen=True)
class Case:
    """One program on both sides: eager's answers, and files by who lowered them."""

    calls: Calls
    expected: list
    theirs: Path
    ours: Path
    ours_run_there: Path


def export(name: str, dynamic: bool, folder: Path) -> tuple[Case, dict[str, Path], dict]:
    example = make_example(name, dynamic)
    label = f"{name}-dynamic" if dynamic else name
    exported, calls, expected = example.export(), [], []
    saved = {}
    for method_name, program in exported.items():
        saved[method_name] = folder / f"{label}-{method_name}.pt2"
        torch.export.save(program, saved[method_name])
        method = example.methods[method_name]
        for inputs, outputs in zip(method.calls, method.eager()):
            calls.append((method_name, torch.utils._pytree.tree_leaves(inputs)))
            expected.append(outputs)
    case = Case(
        calls,
        expected,
        folder / f"theirs-{label}.pte",
        folder / f"ours-{label}.pte",
        folder / f"ours-{label}.out",
    )
    return case, saved, exported


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, bool], Case]:
    """Everything is lowered on both sides, and ours run there, in one go of the peer."""
    folder = tmp_path_factory.mktemp("interop")
    cases, jobs = {}, []
    for name, dynamic in ROWS:
        case, saved, exported = export(name, dynamic, folder)
        to_edge(exported).to_executorch().save(str(case.ours))
        jobs.append(peer.lower_job(saved, case.theirs))
        jobs.append(peer.run_job(case.ours, case.calls, case.ours_run_there))
        cases[name, dynamic] = case
    peer.do(jobs, folder)
    return cases


def parameters() -> list:
    return [pytest.param(row, id=row[0] + ("-dynamic" if row[1] else "")) for row in ROWS]


@pytest.mark.parametrize("row", parameters())
def test_their_file_runs_here(row: tuple[str, bool], cases: dict[tuple[str, bool], Case]) -> None:
    case = cases[row]
    assert_same(run_in_python(peer.result(case.theirs), case.calls), case.expected)


@pytest.mark.parametrize("row", parameters())
def test_our_file_runs_there(row: tuple[str, bool], cases: dict[tuple[str, bool], Case]) -> None:
    case = cases[row]
    results = torch.load(peer.result(case.ours_run_there), weights_only=True)
    assert_same(results, case.expected)


@pytest.mark.parametrize("name", WITH_DATA)
def test_program_and_data_files_both_ways(name: str, tmp_path: Path) -> None:
    """Weights in a .ptd: theirs here (Python and C++), ours there."""
    sides = {side: tmp_path / side for side in ("theirs", "ours")}
    for folder in sides.values():
        folder.mkdir()
    case, saved, exported = export(name, False, tmp_path)
    ours = to_edge(exported).to_executorch(ExecutorchBackendConfig(external_constants=True))
    ours.save(str(sides["ours"] / "model.pte"))
    ours.write_tensor_data_to_file(str(sides["ours"]))
    (our_data,) = sides["ours"].glob("*.ptd")
    out = tmp_path / "there.out"
    peer.do(
        [
            peer.lower_job(saved, sides["theirs"] / "model.pte", external_constants=True),
            peer.run_job(sides["ours"] / "model.pte", case.calls, out, our_data),
        ],
        tmp_path,
    )
    their_program = peer.result(sides["theirs"] / "model.pte")
    (their_data,) = sides["theirs"].glob("*.ptd")
    module = _load_for_executorch(str(their_program), str(their_data))
    here = [list(module.run_method(method, inputs)) for method, inputs in case.calls]
    assert_same(here, case.expected)
    assert_same(call_in_cpp(their_program, case.calls, [their_data]), case.expected)
    assert_same(torch.load(peer.result(out), weights_only=True), case.expected)
