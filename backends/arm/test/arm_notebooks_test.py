# SPDX-License-Identifier: BSD-3-Clause
"""The notebooks of examples/arm, cell by cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.devtools.commands.program_file import ProgramFile
from executorch.test.repository.sources import ROOT

NOTEBOOKS = {
    "ethos_u_minimal_example.ipynb": ("ethos_u_minimal_example.pte", "EthosUBackend"),
    "vgf_minimal_example.ipynb": ("simple_example.pte", "VgfBackend"),
}
MISSING = VELA.why_missing() or CONVERTER.why_missing()


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.req("ARM-017", "ARM-031", "ARM-C03")
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads((ROOT / "examples" / "arm" / name).read_text())["cells"]
    names: dict[str, object] = {"__name__": "notebook"}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    program, backend = NOTEBOOKS[name]
    file = ProgramFile(tmp_path / program)
    assert file.backends == {backend}
    assert [call.name for call in file.calls if "aten" in call.name] == []


@pytest.mark.req("ARM-025")
def test_the_porting_guide_names_what_is_there() -> None:
    guide = (ROOT / "examples" / "arm" / "ethos-u-porting-guide.md").read_text()
    declared = (ROOT / "backends" / "arm" / "runtime" / "ethosu_driver_api.h").read_text()
    for name in ("arm_ethos_io_memcpy", "EthosUBackend_execute_begin", "ethosu_fast_scratch_size"):
        assert name in guide and name in declared
