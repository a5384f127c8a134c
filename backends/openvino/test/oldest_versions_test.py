# SPDX-License-Identifier: BSD-3-Clause
"""The tests of this folder with the oldest versions that the extras allow, which pip puts into a folder of their own;
the versions that are installed are the other end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.backends.openvino.backend import BACKENDS

# The newest release of each first version: what a range begins with.
OLDEST = {"openvino": "2025.4.1", "nncf": "3.1.0"}
HERE = Path(__file__).parent
_PIP = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]


def test_the_oldest_are_where_the_extra_begins() -> None:
    (backend,) = BACKENDS
    begins = dict(each.split(",")[0].split(">=") for each in backend.extras["openvino-nncf"])
    assert all(OLDEST[name].startswith(f"{version}.") for name, version in begins.items())


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("oldest")
    wanted = [f"{name}=={version}" for name, version in OLDEST.items()]
    done = subprocess.run([*_PIP, "--target", str(folder), *wanted], check=False)
    if done.returncode:
        pytest.skip("no package index can be reached")
    return folder


@pytest.mark.full
def test_all_tests_pass_with_the_oldest_versions(
    oldest: Path, request: pytest.FixtureRequest
) -> None:
    files = [
        str(each) for each in sorted(HERE.glob("*_test.py")) if each.name != Path(__file__).name
    ]
    found = [str(oldest), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, found))}
    environment.pop("OPENVINO_LIB_PATH", None)
    print_version = [sys.executable, "-c", "import openvino; print(openvino.get_version())"]
    version = subprocess.run(
        print_version, env=environment, capture_output=True, text=True, check=True
    )
    assert version.stdout.startswith(OLDEST["openvino"])
    config = ["-c", str(request.config.inipath), "--rootdir", str(request.config.rootpath)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *config, *files],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert " passed" in done.stdout and "skipped" not in done.stdout.splitlines()[-1]
