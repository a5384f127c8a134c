# SPDX-License-Identifier: BSD-3-Clause
"""The small model that tests of this folder share."""

import pytest

from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.e2e.program_store import ProgramStore


@pytest.fixture(scope="session")
def llama(
    tmp_path_factory: pytest.TempPathFactory, program_store: ProgramStore
) -> tiny_llama.TinyLlama:
    return tiny_llama.kept(tmp_path_factory.mktemp("tiny_llama"), program_store)
