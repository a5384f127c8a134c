# SPDX-License-Identifier: BSD-3-Clause
"""The documents' commands around example_runner."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from executorch.devtools import Inspector
from executorch.devtools.bundled_program.serialize import (
    deserialize_from_flatbuffer_to_bundled_program,
)
from executorch.examples.devtools.scripts import export_bundled_program
from executorch.examples.models import make_example
from executorch.runtime import Runtime
from executorch.test.e2e import build_tree


def example_runner(*flags: object) -> subprocess.CompletedProcess[str]:
    return build_tree.run(build_tree.binary("examples/devtools/example_runner"), *flags)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    export_bundled_program.main(["-m", "small_image", "-d", str(folder)])
    return folder / "small_image_bundled.bpte"


@pytest.mark.req("DT-008", "DT-040", "DT-C01")
def test_nothing_is_said_when_outputs_agree(bundle: Path, tmp_path: Path) -> None:
    """The document's flags, with a space before the value."""
    done = example_runner(
        "--bundled_program_path", bundle, "--output_verification",
        "--etdump_path", tmp_path / "etdump.etdp",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "etdump.etdp").stat().st_size > 0


@pytest.mark.req("DT-018", "DT-C05")
def test_events_and_values_have_documented_names(bundle: Path, tmp_path: Path) -> None:
    """etdump.etdp and debug_output.bin, in the folder where it runs."""
    binary = build_tree.binary("examples/devtools/example_runner").resolve()
    done = subprocess.run(
        [binary, f"--bundled_program_path={bundle}", "--dump_intermediate_outputs"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    inspector = Inspector(
        etdump_path=str(tmp_path / "etdump.etdp"),
        debug_buffer_path=str(tmp_path / "debug_output.bin"),
        etrecord=str(bundle.with_name("small_image_etrecord.bin")),
    )
    (block,) = (block for block in inspector.event_blocks if block.name == "Execute")
    expected = make_example("small_image").forward.eager()[0]
    assert all(
        torch.allclose(a, b, atol=1e-4) for a, b in zip(block.run_output, expected, strict=True)
    )
    assert any(event.debug_data and event.stack_traces for event in block.events)


def test_wrong_outputs_and_wrong_use(bundle: Path, tmp_path: Path) -> None:
    data = bytearray(bundle.read_bytes())
    tables = deserialize_from_flatbuffer_to_bundled_program(bytes(data))
    expected = tables.method_test_suites[0].test_cases[0].expected_outputs[0].val.data
    at = data.index(expected)
    data[at + 3] ^= 0x40
    path = tmp_path / "wrong.bpte"
    path.write_bytes(data)
    etdump = f"--etdump_path={tmp_path / 'x'}"
    done = example_runner(f"--bundled_program_path={path}", "--output_verification", etdump)
    assert done.returncode == 1 and "output 0, element 0" in done.stderr
    assert example_runner(f"--bundled_program_path={path}", etdump).returncode == 0
    for flags in (
        [f"--bundled_program_path={tmp_path / 'absent'}"],
        [f"--bundled_program_path={bundle}", "--testset_idx=9"],
        [f"--bundled_program_path={bundle}", "--testset_idx=-1"],
        [f"--bundled_program_path={bundle}", "--dump_outputs", "--debug_buffer_size=0"],
    ):
        done = example_runner(*flags, etdump)
        assert done.returncode == 1 and done.stderr


def test_a_full_debug_buffer_loses_values_and_says_so(bundle: Path, tmp_path: Path) -> None:
    done = example_runner(
        f"--bundled_program_path={bundle}", "--dump_intermediate_outputs", "--debug_buffer_size=4096",
        f"--etdump_path={tmp_path / 'x.etdp'}", f"--debug_output_path={tmp_path / 'x.bin'}",
    )  # fmt: skip
    assert done.returncode == 0 and "events are lost" in done.stderr
    assert (tmp_path / "x.bin").stat().st_size == 4096


@pytest.mark.req("PY-017")
def test_python_runs_a_bundled_program(bundle: Path) -> None:
    tables = deserialize_from_flatbuffer_to_bundled_program(bundle.read_bytes())
    method = Runtime.get().load_program(bytes(tables.program)).load_method("forward")
    ((call, *_), expected) = (
        make_example("small_image").forward.inputs,
        make_example("small_image").forward.eager()[0],
    )
    found = method.execute([call])
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(found, expected, strict=True))


@pytest.mark.full
@pytest.mark.req("DT-009")
def test_the_documents_script(tmp_path: Path) -> None:
    """It builds in a copy of the tree, with the compiler's cache. The tree has it; the wheel has no scripts."""
    script = Path(__file__).resolve().parent / "test_example_runner.sh"
    environment = {**os.environ, "PYTHON_EXECUTABLE": sys.executable}
    done = subprocess.run(
        ["bash", str(script)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "Success!"
