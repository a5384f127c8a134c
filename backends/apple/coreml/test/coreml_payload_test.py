# SPDX-License-Identifier: BSD-3-Clause
"""What tools are told of a payload."""

from __future__ import annotations

import pytest
import torch

ct = pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.compiler import CoreMLBackend  # noqa: E402
from executorch.backends.apple.coreml.partition import CoreMLPartitioner  # noqa: E402
from executorch.backends.apple.coreml.payload_reader import facts, operators  # noqa: E402
from executorch.exir import to_edge_transform_and_lower  # noqa: E402
from executorch.exir.lowered_backend_module import get_lowered_backend_modules  # noqa: E402


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(torch.relu(self.linear(x)))
        return self.total * 2


def payloads(*methods: str) -> list[bytes]:
    specs = CoreMLBackend.generate_compile_specs(minimum_deployment_target=ct.target.iOS18)
    programs = {name: torch.export.export(Counter().eval(), (torch.ones(4),)) for name in methods}
    partitioners = {name: [CoreMLPartitioner(compile_specs=specs)] for name in methods}
    edge = to_edge_transform_and_lower(programs, partitioner=partitioners)
    return [
        bytes(each.processed_bytes)
        for name in methods
        for each in get_lowered_backend_modules(edge.exported_program(name).graph_module)
    ]


def test_a_model_is_described() -> None:
    (payload,) = payloads("forward")
    found = operators(payload)
    kinds = [each.kind for each in found]
    assert "linear" in kinds and "relu" in kinds and "const" not in kinds
    assert any(each.debug_handle for each in found if each.kind == "relu")
    record = facts(payload)
    assert ("specification version", "9") in record and ("state", "total") in record
    assert ("input", "x: float32 [4]") in record
    assert dict(record)["identifier"].startswith("executorch_")


def test_methods_name_the_model_that_they_share() -> None:
    first, second = payloads("once", "twice")
    (place,), (other,) = facts(first), facts(second)
    assert place[1].replace("once", "twice") == other[1] and "function once" in place[1]
    with pytest.raises(ValueError, match="several methods share"):
        operators(first)
    for read in (operators, facts):
        with pytest.raises(ValueError, match="a flattened directory ends with reversed JSON"):
            read(b"junk")
