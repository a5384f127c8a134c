# SPDX-License-Identifier: BSD-3-Clause
"""Passes and partitioners of others run here unchanged, and give what upstream's package gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.test.interop import peer, third_party

pytestmark = pytest.mark.interop
EAGER = third_party.Net()(third_party.X, third_party.Y)


def results_of(python: str, environment: dict[str, str], folder: Path) -> dict[str, Any]:
    out = folder / "result.json"
    done = subprocess.run(
        [python, str(peer.HERE / "third_party.py"), str(out)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(out.read_text())


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return results_of(sys.executable, dict(os.environ), tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory, version: str) -> dict[str, Any]:
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    return results_of(peer.python(version), environment, tmp_path_factory.mktemp("theirs"))


@pytest.mark.req("CMP-027", "CMP-045")
@pytest.mark.parametrize("name", third_party.RESULTS)
def test_they_give_what_eager_gives(ours: dict[str, Any], name: str) -> None:
    result = ours[name]
    if "value" in result:
        torch.testing.assert_close(torch.tensor(result["value"]), EAGER)
    else:
        assert result == {"arenas": 3, "of relu": 32}


@pytest.mark.parametrize("name", third_party.RESULTS)
def test_they_give_what_upstream_gives(
    ours: dict[str, Any], theirs: dict[str, Any], name: str
) -> None:
    got, expected = dict(ours[name]), dict(theirs[name])
    values = [torch.tensor(result.pop("value", 0.0)) for result in (got, expected)]
    torch.testing.assert_close(*values)
    assert got == expected
