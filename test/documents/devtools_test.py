# SPDX-License-Identifier: BSD-3-Clause
"""The code of the page on bundled programs runs as printed, and its wrong examples fail as they should."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
import torch

from executorch.test.documents import guide

# SHA-256 of the document's blocks without white space, in its order.
BLOCKS = {
    "emit": "922c792814ef850ef9685d1457432782b42c336d1ebf70e5f0ed63ddcb513e09",
    "read": "2de21609ff35e7af9cb2ee0b6355bdea72aaf9f42944681e1eafd868ce4dd6ed",
    "wrong dtype": "79a4f62054360a5c973ffa3ccfe78448a30b4b92bbdf95b2bb32e768da1a9783",
    "missing method": "790613726546dc53174f080242e4a40dbec070541e16b93f2c3e743e968f8ed6",
}


def blocks() -> dict[str, str]:
    page = (Path(__file__).parent / "bundled_program.md").read_text()
    return dict(zip(BLOCKS, re.findall(r"```python\n(.*?)```", page, re.S), strict=True))


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", BLOCKS)
def test_the_code_is_the_documents(name: str) -> None:
    squeezed = re.sub(r"\s+", "", blocks()[name])
    assert hashlib.sha256(squeezed.encode()).hexdigest() == BLOCKS[name]


@pytest.mark.req("DT-001", "DT-002", "DT-003")
def test_a_bundle_goes_to_a_file_and_back() -> None:
    names = guide.run(blocks()["emit"], {})
    names = guide.run(blocks()["read"], names)
    again = names["regenerate_bundled_program"]
    assert again == names["bundled_program"].serialize_to_schema()
    (suite,) = again.method_test_suites
    assert len(suite.test_cases) == 10
    x, q = (torch.tensor([[1, 2], [3, 4]], dtype=torch.int32) for _ in range(2))
    assert torch.equal(names["model"](x, q), 3 * x + 2 + q)


@pytest.mark.req("DT-004")
def test_the_wrong_dtype_is_named() -> None:
    with pytest.raises(AssertionError) as raised:
        guide.run(blocks()["wrong dtype"], {})
    text = str(raised.value)
    assert text.startswith("The input tensor tensor(")
    assert text.endswith("dtype shall be torch.float32, but now is torch.int32")


@pytest.mark.req("DT-005")
def test_the_missing_method_is_named() -> None:
    with pytest.raises(AssertionError) as raised:
        guide.run(blocks()["missing method"], {})
    assert re.sub(r"\s+", " ", str(raised.value)) == (
        "All method names in bundled config should be found in program.execution_plan, "
        "but {'MISSING_METHOD_NAME'} does not include."
    )
