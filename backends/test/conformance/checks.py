# SPDX-License-Identifier: BSD-3-Clause
"""What every backend must pass, as tests of a fixture `backend`: a Backend, whose field `runtime` says whether the
runtime half is loaded. What it says that it lacks (backend.py) is checked to be lacking. conformance_test.py runs them
on the backends of this package; a project of its own imports them: `executorch new-backend` writes such a test."""

import pytest

for _part in ("argument", "compile", "runtime", "value"):
    pytest.register_assert_rewrite(f"executorch.backends.test.conformance.{_part}_checks")

from executorch.backends.test.conformance.argument_checks import *  # noqa: E402, F403
from executorch.backends.test.conformance.compile_checks import *  # noqa: E402, F403
from executorch.backends.test.conformance.runtime_checks import *  # noqa: E402, F403
from executorch.backends.test.conformance.value_checks import *  # noqa: E402, F403
