# SPDX-License-Identifier: BSD-3-Clause
"""The documents' commands on MPS (044) run as far as no Mac is needed, and say what they need from there on. Blocks
that only a Mac can run: tools (1), the runner (4, 5, 9), pybindings (6), frameworks (11, 12)."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from executorch.devtools import parse_etrecord
from executorch.devtools.bundled_program.serialize import (
    deserialize_from_flatbuffer_to_bundled_program,
)
from executorch.devtools.commands.program_file import ProgramFile
from executorch.exir import to_edge
from executorch.runtime import Runtime
from executorch.test.documents import guide
from executorch.test.repository.sources import ROOT

COMMANDS = guide.commands("mps.md")
needs_no_mac = pytest.mark.skipif(platform.system() == "Darwin", reason="a Mac has what is missing")


TORCHVISION = """
from types import SimpleNamespace
from executorch.tools.bench.suite.images import MobileNetV3
def mobilenet_v3_small(weights=None):
    return MobileNetV3()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where `executorch` is a checkout into which commands may write, and torchvision has its MobileNetV3 alone."""
    models = tmp_path / "packages/torchvision/models/__init__.py"
    models.parent.mkdir(parents=True)
    models.write_text(TORCHVISION)
    (models.parents[1] / "__init__.py").touch()
    checkout = tmp_path / "executorch"
    checkout.mkdir()
    for name in ("examples", "devtools", "scripts", "tools", "CMakeLists.txt"):
        (checkout / name).symlink_to(ROOT / name)
    python = tmp_path / "bin/python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/bash\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return tmp_path


def run(folder: Path, lines: str) -> tuple[int, str]:
    first = {"PATH": "bin", "PYTHONPATH": "packages"}
    paths = {name: f"{folder / part}:{os.environ.get(name, '')}" for name, part in first.items()}
    done = subprocess.run(
        ["bash", "-c", f"set -e\n{lines}"], cwd=folder, env={**os.environ, **paths}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.full
@pytest.mark.req("APL-021", "DT-013", "IX-058")
def test_mobilenet_with_its_inputs_and_its_record(folder: Path) -> None:
    code, text = run(folder, COMMANDS["044.2"])
    assert code == 0, text[-3000:]
    assert "--use_partitioner, --no-use_partitioner" in " ".join(text.split())
    path = folder / "executorch/mv3_mps_float16_bundled.pte"
    bundle = deserialize_from_flatbuffer_to_bundled_program(path.read_bytes())
    assert len(bundle.method_test_suites[0].test_cases) == 1
    file = ProgramFile(Path("mv3.pte"), bytes(bundle.program))
    assert file.backends == {"MPSBackend"} and not file.program.execution_plan[0].operators
    path.unlink()
    code, text = run(folder, COMMANDS["044.8"])
    assert code == 0 and path.exists(), text[-3000:]
    assert parse_etrecord(str(folder / "executorch/etrecord.bin")).edge_dialect_program is not None


@needs_no_mac
@pytest.mark.full
def test_what_runs_a_program_says_what_it_needs(folder: Path) -> None:
    """Before it is built, or the program written."""
    check, bench = COMMANDS["044.7"].split("\n\n")
    for lines in (check, f"cd executorch\n{bench}"):
        code, text = run(folder, lines)
        assert (
            code
            and "running its programs needs macOS, and a build with EXECUTORCH_BUILD_MPS=ON" in text
        )
    assert not list(folder.glob("executorch/*.pte"))
    code, text = run(folder, COMMANDS["044.3"])
    assert code == 1 and "mps_executor_runner needs macOS with Xcode, found Linux" in text


@pytest.mark.req("APL-026")
def test_the_profile_of_a_dump_and_a_record(folder: Path) -> None:
    """Any program's: who computed is no matter to the command."""
    program = to_edge(
        torch.export.export(torch.nn.ReLU(), (torch.randn(3),)), generate_etrecord=True
    ).to_executorch()
    program.get_etrecord().save(folder / "executorch/etrecord.bin")
    loaded = Runtime.get().load_program(program.buffer, enable_etdump=True)
    loaded.load_method("forward").execute((torch.randn(3),))
    loaded.write_etdump_result_to_file(str(folder / "executorch/etdump.etdp"), None)
    code, text = run(folder, f"cd executorch\n{COMMANDS['044.10']}")
    assert code == 0 and "native_call_relu.out" in text, text[-3000:]
