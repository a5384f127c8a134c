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
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.e2e.programs import Calls, assert_same, run_in_python
from executorch.test.interop import peer
from executorch.test.interop.exchanged import Exported, Row, label, lowered_there

pytestmark = pytest.mark.interop

# Upstream drops start values of mutable buffers, so this program means something else there.
NAMES = [name for name in EXAMPLES if name != "running_total"]
WITH_DATA = [(name, False) for name in ("mv2", "bert", "llama")]
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


def calls_and_answers(name: str, dynamic: bool) -> tuple[Calls, list]:
    calls, expected = [], []
    for method_name, method in make_example(name, dynamic).methods.items():
        for inputs, outputs in zip(method.calls, method.eager()):
            calls.append((method_name, torch.utils._pytree.tree_leaves(inputs)))
            expected.append(outputs)
    return calls, expected


def lowered_here(store: ProgramStore, row: Row, exported: Exported) -> Path:
    """Our `model.pte`, and of those with data `data/model.pte` and its data beside it."""

    def make(folder: Path) -> None:
        to_edge(exported.programs()).to_executorch().save(str(folder / "model.pte"))
        if row in WITH_DATA:
            (folder / "data").mkdir()
            config = ExecutorchBackendConfig(external_constants=True)
            program = to_edge(exported.programs()).to_executorch(config)
            program.save(str(folder / "data" / "model.pte"))
            program.write_tensor_data_to_file(str(folder / "data"))

    return store.folder(f"lowered here/{label(row)}", make)


@pytest.fixture(scope="module")
def cases(
    tmp_path_factory: pytest.TempPathFactory, program_store: ProgramStore, version: str
) -> dict[Row, Case]:
    """Everything is lowered on both sides, and ours run there."""
    folder = tmp_path_factory.mktemp("interop")
    exported = {row: Exported(program_store, row) for row in ROWS}
    theirs = lowered_there(program_store, exported, version, with_data=WITH_DATA)
    cases, jobs = {}, []
    for row in ROWS:
        ours = lowered_here(program_store, row, exported[row]) / "model.pte"
        out = folder / f"{label(row)}.out"
        case = Case(*calls_and_answers(*row), theirs / f"{label(row)}.pte", ours, out)
        jobs.append(peer.run_job(ours, case.calls, out))
        cases[row] = case
    peer.do(jobs, folder, version)
    return cases


def parameters() -> list:
    return [pytest.param(row, id=label(row)) for row in ROWS]


@pytest.mark.parametrize("row", parameters())
def test_their_file_runs_here(row: Row, cases: dict[Row, Case]) -> None:
    case = cases[row]
    assert_same(run_in_python(peer.result(case.theirs), case.calls), case.expected)


@pytest.mark.parametrize("row", parameters())
def test_our_file_runs_there(row: Row, cases: dict[Row, Case]) -> None:
    case = cases[row]
    results = torch.load(peer.result(case.ours_run_there), weights_only=True)
    assert_same(results, case.expected)


@pytest.mark.parametrize("row", WITH_DATA, ids=label)
def test_program_and_data_files_both_ways(
    row: Row, cases: dict[Row, Case], tmp_path: Path, version: str
) -> None:
    """Weights in a .ptd: theirs here (Python and C++), ours there."""
    case = cases[row]
    ours, theirs = case.ours.parent / "data", case.theirs.with_suffix("")
    (our_data,), (their_data,) = ours.glob("*.ptd"), theirs.glob("*.ptd")
    their_program, out = theirs / "model.pte", tmp_path / "there.out"
    peer.do([peer.run_job(ours / "model.pte", case.calls, out, our_data)], tmp_path, version)
    module = _load_for_executorch(str(their_program), str(their_data))
    here = [list(module.run_method(method, inputs)) for method, inputs in case.calls]
    assert_same(here, case.expected)
    assert_same(call_in_cpp(their_program, case.calls, [their_data]), case.expected)
    assert_same(torch.load(peer.result(out), weights_only=True), case.expected)
