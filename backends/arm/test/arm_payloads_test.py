# SPDX-License-Identifier: BSD-3-Clause
"""What `explain` says of payloads, and payloads as files for other tools."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.payload_reader import ending, facts
from executorch.backends.arm.scripts import aot_arm_compiler
from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.devtools.__main__ import main
from executorch.exir.backend.lowering.external.tool import tool_path

MISSING = VELA.why_missing() or CONVERTER.why_missing()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)


def payload(target: str, folder: Path, *words: str) -> tuple[Path, bytes]:
    """Of the sum of two rows, written by `explain --extract`."""
    program = folder / "sum.pte"
    words = ("-m", "qadd2", "-d", *words, "-t", target, "-o", str(program))
    assert aot_arm_compiler.main(list(words)) == 0
    assert main(["explain", str(program), "--extract", str(folder / "payloads")]) == 0
    (path,) = (folder / "payloads").iterdir()
    assert path.read_bytes() in program.read_bytes()
    return path, path.read_bytes()


def test_blocks_of_ethos_u(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, data = payload("ethos-u55-128", tmp_path, "-q")
    record = dict(facts(data))
    assert path.suffix == ".bin" and record["commands"].startswith("COP1, ")
    assert record["input 1"].startswith("[1, 1, 1, 1, 13, 3] x 1 bytes, at ")
    assert "What payloads say" in capsys.readouterr().out
    with pytest.raises(ValueError, match="whole"):
        facts(data[:-40])


def test_tosa(tmp_path: Path) -> None:
    path, data = payload("TOSA-1.0+FP", tmp_path)
    assert path.suffix == ".tosa"
    record = dict(facts(data))
    assert record["operators of main"] == "ADD 1" and record["input 0"].startswith("FP32 [13, 3]")


@pytest.mark.req("ARM-035", "ARM-036")
def test_vgf_files_are_those_of_other_tools(tmp_path: Path) -> None:
    path, data = payload("vgf", tmp_path)
    assert path.suffix == ".vgf" and dict(facts(data))["version"] == "0.5.0"
    dumper = tool_path("arm", "vgf_dump")
    done = subprocess.run(
        [dumper, "--input", str(path)], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)["model_sequence"]
    assert [len(found[each]) for each in ("inputs", "outputs")] == [2, 1]
    with pytest.raises(ValueError, match="model sequence|modules|header"):
        facts(data[:200])


def test_other_bytes_are_no_payload() -> None:
    for data in (b"", b"VGF1", b"something else of 20"):
        with pytest.raises(ValueError):
            facts(data)
    with pytest.raises(ValueError, match="expected a payload of Arm's backends"):
        ending(b"")
