# SPDX-License-Identifier: BSD-3-Clause
"""Where the tests of architectures find `transformers`."""

from __future__ import annotations

import subprocess

import pytest

from executorch.test.interop import peer


@pytest.fixture(scope="session")
def transformers() -> str:
    """The interpreter that has it."""
    python = peer.python()
    if subprocess.run([python, "-c", "import transformers"], check=False).returncode != 0:
        pytest.skip(f"transformers is not installed for {python}")
    return python
