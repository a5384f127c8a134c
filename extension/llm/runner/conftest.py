# SPDX-License-Identifier: BSD-3-Clause
"""The small model that tests of this folder share."""

import pytest

from executorch.extension.llm.runner.test import tiny_llama


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> tiny_llama.TinyLlama:
    return tiny_llama.make(tmp_path_factory.mktemp("tiny_llama"))
