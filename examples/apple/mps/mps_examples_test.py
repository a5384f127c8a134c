# SPDX-License-Identifier: BSD-3-Clause
"""The scripts' files, and what they refuse where there is no Mac."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from executorch.devtools import parse_etrecord
from executorch.devtools.bundled_program.serialize import (
    deserialize_from_flatbuffer_to_bundled_program,
)
from executorch.devtools.commands.program_file import ProgramFile
from executorch.examples.apple.mps.scripts import mps_example
from executorch.exir.backend.lowering.payload.writer import NotCompiled
from executorch.test.repository.sources import ROOT

pytestmark = [
    pytest.mark.filterwarnings("ignore:The MPS:FutureWarning"),
    pytest.mark.skipif(platform.system() == "Darwin", reason="a Mac has what is missing"),
]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("words", [["--no-use_fp16"], ["--no-use_partitioner"]])
def test_an_example_is_all_the_backends(words: list[str]) -> None:
    with pytest.warns(FutureWarning, match="The MPS example is deprecated"):
        assert mps_example.main(["-m", "linear", *words]) == 0
    name = f"linear_mps_{'float32' if '--no-use_fp16' in words else 'float16'}.pte"
    assert [each.name for each in Path().iterdir()] == [name]
    file = ProgramFile(Path(name))
    assert file.backends == {"MPSBackend"} and not file.program.execution_plan[0].operators
    (specs,) = [each.compile_specs for each in file.program.execution_plan[0].delegates]
    assert [bytes(each.value)[0] for each in specs] == [int("float16" in name)]


@pytest.mark.req("DT-013")
def test_inputs_and_a_record_go_with_it() -> None:
    assert mps_example.main(["-m", "linear", "-b", "--generate_etrecord"]) == 0
    bundle = deserialize_from_flatbuffer_to_bundled_program(
        Path("linear_mps_float16_bundled.pte").read_bytes()
    )
    assert len(bundle.method_test_suites[0].test_cases) == 1
    assert parse_etrecord("etrecord.bin").edge_dialect_program is not None


def test_a_model_that_is_not_all_the_backends_needs_the_partitioner() -> None:
    """Its sizes change from run to run."""
    with pytest.raises(NotCompiled, match="static sizes are expected"):
        mps_example.main(["-m", "dynamic_rows", "--no-use_partitioner"])
    assert not list(Path().iterdir())


@pytest.mark.parametrize("switch", ["--check_correctness", "--bench_pytorch"])
def test_running_needs_a_mac(switch: str) -> None:
    with pytest.raises(RuntimeError, match="running its programs needs macOS"):
        mps_example.main(["-m", "add", switch])
    assert not list(Path().iterdir())


def test_the_runner_needs_a_mac() -> None:
    script = ROOT / "examples/apple/mps/scripts/build_mps_executor_runner.sh"
    done = subprocess.run(["bash", script, "--Debug"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "mps_executor_runner needs macOS with Xcode" in done.stderr
    assert "warning: the MPS backend is deprecated" in done.stderr
    done = subprocess.run(["bash", script, "--debug"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "unknown argument --debug" in done.stderr
    done = subprocess.run(["bash", script, "--help"], capture_output=True, text=True, check=True)
    assert "--output=FOLDER" in done.stdout
