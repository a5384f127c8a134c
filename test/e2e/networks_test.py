# SPDX-License-Identifier: BSD-3-Clause
"""The real networks through a .pte file: both runtimes give what eager PyTorch gives."""

import pytest
import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.examples.models import NETWORKS
from executorch.examples.models.mobilenet_v2 import MobileNetV2
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from executorch.test.e2e.conftest import LowerByName
from executorch.test.e2e.programs import RUNTIMES, assert_same


@pytest.mark.req("RT-011", "PY-001", "PY-003", "PY-004")
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", NETWORKS)
def test_network_equals_eager(name: str, runtime: str, lowered: LowerByName) -> None:
    program = lowered(name)
    assert_same(RUNTIMES[runtime](program.path, program.calls), program.expected)


@pytest.mark.req("PY-004")
@pytest.mark.parametrize("seed", range(3))
def test_the_documents_network_at_several_draws(seed: int) -> None:
    """Of the documents: allclose(rtol=1e-3, atol=1e-5) for MobileNetV2 on XNNPACK. It holds when errors are those of
    float32, which float64 shows: PyTorch's own are as large."""
    torch.manual_seed(seed)
    module = MobileNetV2()
    for each in module.modules():
        if isinstance(each, torch.nn.BatchNorm2d):
            each.momentum = 1.0
    module(torch.randn(8, 3, 224, 224))  # untrained norms would make everything small
    module.eval()
    x = torch.randn(1, 3, 224, 224)
    lowered = to_edge_transform_and_lower(
        torch.export.export(module, (x,)), partitioner=[XnnpackPartitioner()]
    )
    method = Runtime.get().load_program(lowered.to_executorch().buffer).load_method("forward")
    output = method.execute([x])
    with torch.no_grad():
        eager, exact = module(x), module.double()(x.double())
    assert isinstance(output, list) and method.metadata.name() == "forward"
    assert torch.allclose(output[0], eager, rtol=1e-3, atol=1e-5)
    assert 0.5 < eager.abs().max()
    assert (output[0] - exact).norm() < 1.5 * (eager - exact).norm() < 1e-5 * exact.norm()


@pytest.mark.req("RT-024", "RT-C03", "CMP-040", "CMP-052")
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", NETWORKS)
def test_network_equals_eager_at_three_sizes(name: str, runtime: str, lowered: LowerByName) -> None:
    program = lowered(name, dynamic=True)
    sizes = {tuple(inputs[0].shape) for _, inputs in program.calls}
    assert len(sizes) == 3
    assert_same(RUNTIMES[runtime](program.path, program.calls), program.expected)
