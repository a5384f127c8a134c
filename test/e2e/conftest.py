# SPDX-License-Identifier: BSD-3-Clause
"""Each example is lowered once for these sources, however many tests and runs use it."""

from collections.abc import Callable

import pytest

from executorch.test.e2e.program_store import ProgramStore
from executorch.test.e2e.programs import Lowered, lower

LowerByName = Callable[..., Lowered]


@pytest.fixture(scope="session")
def lowered(program_store: ProgramStore) -> LowerByName:
    done: dict[tuple[str, bool], Lowered] = {}

    def get(name: str, dynamic: bool = False) -> Lowered:
        key = (name, dynamic)
        if key not in done:
            done[key] = lower(program_store, name, dynamic)
        return done[key]

    return get
