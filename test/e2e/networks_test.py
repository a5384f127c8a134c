# SPDX-License-Identifier: BSD-3-Clause
"""The real networks through a .pte file: both runtimes give what eager PyTorch gives."""

import pytest

from executorch.examples.models import NETWORKS
from executorch.test.e2e.conftest import LowerByName
from executorch.test.e2e.programs import RUNTIMES, assert_same

pytestmark = pytest.mark.slow


@pytest.mark.req("RT-011", "PY-001", "PY-003", "PY-004")
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", NETWORKS)
def test_network_equals_eager(name: str, runtime: str, lowered: LowerByName) -> None:
    program = lowered(name)
    assert_same(RUNTIMES[runtime](program.path, program.calls), program.expected)


@pytest.mark.req("RT-024", "RT-C03", "CMP-040", "CMP-052")
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", NETWORKS)
def test_network_equals_eager_at_three_sizes(name: str, runtime: str, lowered: LowerByName) -> None:
    program = lowered(name, dynamic=True)
    sizes = {tuple(inputs[0].shape) for _, inputs in program.calls}
    assert len(sizes) == 3
    assert_same(RUNTIMES[runtime](program.path, program.calls), program.expected)
