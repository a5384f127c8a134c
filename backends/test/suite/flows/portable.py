# SPDX-License-Identifier: BSD-3-Clause
"""No delegate: the portable kernels run everything."""

from executorch.backends.test.harness import Tester
from executorch.backends.test.suite.flow import TestFlow

PORTABLE_TEST_FLOW = TestFlow("portable", "portable", tester_factory=Tester, is_delegated=False)
FLOWS = [PORTABLE_TEST_FLOW]
