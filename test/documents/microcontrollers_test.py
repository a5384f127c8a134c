# SPDX-License-Identifier: BSD-3-Clause
"""The int8 example of docs/guide/microcontrollers.md, as printed, from the model to firmware in QEMU."""

from __future__ import annotations

import re
import shutil

import pytest

from executorch.test.documents.readme_test import FIRMWARE_TOOLS
from executorch.test.documents.run_page import blocks
from executorch.test.repository.sources import ROOT


@pytest.mark.full
@pytest.mark.req("ARM-037", "KS-017")
def test_the_int8_example_becomes_firmware(run) -> None:
    """All calls are int8, besides the first and the last; the numbers are this computer's, bit for bit."""
    page = (ROOT / "docs" / "guide" / "microcontrollers.md").read_text()
    section = page[page.index("## int8\n") :]
    (run.folder / "camera.py").write_text(blocks(section, "python")[0])
    lines = blocks(section, "bash")[0].splitlines(True)
    missing = [each for each in FIRMWARE_TOOLS if not shutil.which(each)]
    printed = run("".join(lines[:2] if missing else lines))
    source = (run.folder / "camera" / "model" / "camera.cpp").read_text()
    calls = re.findall(r"return static_cast<int>.*// (\w+)::(\w+)", source)
    portable = {name for space, name in calls if space != "cortex_m"}
    assert len(calls) > 6 and portable == {"_clone_dim_order"}
    if missing:
        pytest.skip(f"compiling needs {', '.join(missing)}")
    assert "output 0: differs by at most 0.0e+0" in printed and "100% tests passed" in printed
