# SPDX-License-Identifier: BSD-3-Clause
"""Where the package was installed."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import binary
from executorch.test.install.commands import command


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `cmake --install` writes; EXECUTORCH_ARCHIVE: the same from a release's archive."""
    folder = tmp_path_factory.mktemp("prefix")
    if archive := os.environ.get("EXECUTORCH_ARCHIVE"):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        return next(folder.iterdir())
    command("cmake", "--install", binary("executor_runner").parent, "--prefix", folder)
    return folder


@pytest.fixture(scope="module")
def package() -> Path:
    """The folder of the installed wheel."""
    installed = os.environ.get("EXECUTORCH_INSTALLED")
    return Path(installed or pytest.skip("this run takes the packages of the tree"))


@pytest.fixture(scope="module", params=["cmake --install", "wheel"])
def prefix(request: pytest.FixtureRequest) -> Path:
    """A folder with include, lib and share."""
    return request.getfixturevalue("package" if request.param == "wheel" else "installation")
