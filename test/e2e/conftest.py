# SPDX-License-Identifier: BSD-3-Clause
"""Each example is lowered once in a run, however many tests use it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from executorch.examples.models import make_example
from executorch.test.e2e.programs import Lowered, lower

LowerByName = Callable[..., Lowered]


@pytest.fixture(scope="session")
def lowered(tmp_path_factory: pytest.TempPathFactory) -> LowerByName:
    folder: Path = tmp_path_factory.mktemp("programs")
    done: dict[tuple[str, bool], Lowered] = {}

    def get(name: str, dynamic: bool = False) -> Lowered:
        key = (name, dynamic)
        if key not in done:
            suffix = "_dynamic" if dynamic else ""
            done[key] = lower(make_example(name, dynamic), folder / f"{name}{suffix}.pte")
        return done[key]

    return get
