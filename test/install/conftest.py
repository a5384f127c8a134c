# SPDX-License-Identifier: BSD-3-Clause
"""Where the package was installed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import binary
from executorch.test.install.commands import command


@pytest.fixture(scope="module", params=["cmake --install", "wheel"])
def prefix(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with include, lib and share; in the wheel that is the package's folder."""
    if request.param == "wheel":
        installed = os.environ.get("EXECUTORCH_INSTALLED")
        return Path(installed or pytest.skip("this run takes the packages of the tree"))
    folder = tmp_path_factory.mktemp("prefix")
    command("cmake", "--install", binary("executor_runner").parent, "--prefix", folder)
    return folder
