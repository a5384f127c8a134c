# SPDX-License-Identifier: BSD-3-Clause
"""Vela and the model converter take what the tables take; what they refuse stays on the CPU, with the reason."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
from executorch.backends.arm.ethosu.payload import read
from executorch.backends.arm.quantizer import EthosUQuantizer, VgfQuantizer
from executorch.backends.arm.test.arm_reference import delegates, lowered, quantized
from executorch.backends.arm.vgf import VgfCompileSpec, VgfPartitioner
from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.exir.graph_facts import op_name

needs_vela = pytest.mark.skipif(bool(VELA.why_missing()), reason=VELA.why_missing())
needs_converter = pytest.mark.skipif(bool(CONVERTER.why_missing()), reason=CONVERTER.why_missing())


class Add(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(8, 10),
    )  # fmt: skip


def compiled(model: nn.Module, inputs: tuple[torch.Tensor, ...], target: str) -> tuple[Any, Any]:
    spec = EthosUCompileSpec(target)
    partitioner = EthosUPartitioner(spec)
    module = quantized(model, inputs, quantizer=EthosUQuantizer(spec))
    return lowered(module, inputs, "", partitioner), partitioner


@needs_vela
@pytest.mark.req("ARM-013")
@pytest.mark.parametrize("target", ["ethos-u55-128", "ethos-u65-256", "ethos-u85-256"])
def test_a_network_for_ethos_u(target: str) -> None:
    torch.manual_seed(0)
    edge, _ = compiled(net(), (torch.randn(1, 3, 16, 16),), target)
    (delegate,) = delegates(edge)
    payload = read(bytes(delegate.processed_bytes))
    assert [each.shape for each in payload.inputs] == [(1, 1, 1, 3, 16, 16)]
    assert [each.shape for each in payload.outputs] == [(1, 1, 1, 1, 1, 10)]
    assert payload.scratch_size > 0 and payload.commands.startswith(b"COP1")
    names = [node.name for node in edge.exported_program().graph.nodes if "aten" in node.name]
    assert names == []


@needs_vela
def test_the_payload_of_a_sum() -> None:
    """Two inputs and an output of one byte each, in the scratch."""
    inputs = torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 1)
    edge, _ = compiled(Add(), inputs, "ethos-u55-128")
    (delegate,) = delegates(edge)
    payload = read(bytes(delegate.processed_bytes))
    assert [each.shape for each in payload.inputs] == [(1,) * 6] * 2
    assert {each.element_size for each in (*payload.inputs, *payload.outputs)} == {1}
    assert payload.inputs[0].offset != payload.inputs[1].offset
    assert all(each.offset < payload.scratch_size for each in payload.inputs)


@needs_vela
@pytest.mark.req("ARM-011", "ARM-013")
def test_what_is_not_quantized_stays_on_the_cpu() -> None:
    inputs = torch.ones(2, 2), torch.ones(2, 2)
    edge = lowered(Add(), inputs, "", EthosUPartitioner(EthosUCompileSpec("ethos-u55-128")))
    assert delegates(edge) == []
    exported = lowered(Add(), inputs, "TOSA-1.0+INT").exported_program()
    (reason,) = EthosUPartitioner().why_not_delegated(exported).values()
    assert reason.startswith("not quantized")


@needs_vela
def test_a_payload_that_is_cut() -> None:
    inputs = torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 1)
    (delegate,) = delegates(compiled(Add(), inputs, "ethos-u55-128")[0])
    payload = bytes(delegate.processed_bytes)
    for end in range(len(payload)):
        with pytest.raises(ValueError):
            read(payload[:end])


@needs_converter
@pytest.mark.req("ARM-029")
@pytest.mark.parametrize("is_quantized", [False, True])
def test_a_network_for_vgf(is_quantized: bool) -> None:
    torch.manual_seed(0)
    model, inputs = net().eval(), (torch.randn(1, 3, 16, 16),)
    spec = VgfCompileSpec()
    if is_quantized:
        model = quantized(model, inputs, quantizer=VgfQuantizer(spec))
    edge = lowered(model, inputs, "", VgfPartitioner(spec))
    (delegate,) = delegates(edge)
    assert bytes(delegate.processed_bytes)[:4] == b"VGF1"
    names = [node.name for node in edge.exported_program().graph.nodes if "aten" in node.name]
    assert names == []


@needs_vela
@pytest.mark.parametrize(
    "model", [nn.Conv2d(3, 16, 7, 4, 2), nn.Sequential(nn.Conv2d(3, 9, 3), nn.PixelShuffle(3))]
)
def test_what_ethos_u55_takes_in_another_form(model: nn.Module) -> None:
    """Long strides without padding, transposes of four dimensions: nothing is left on the CPU."""
    edge, _ = compiled(model, (torch.randn(1, 3, 32, 32),), "ethos-u55-128")
    names = [node.name for node in edge.exported_program().graph.nodes if "aten" in node.name]
    assert len(delegates(edge)) == 1 and names == []


class Classes(nn.Module):
    """Which class each pixel is of."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, count, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x).argmax(1).to(torch.int32)


@needs_vela
@pytest.mark.req("ARM-013")
@pytest.mark.parametrize(
    ("target", "most"), [("ethos-u55-128", 127), ("ethos-u65-256", 127), ("ethos-u85-256", None)]
)
def test_the_place_of_the_largest(target: str, most: int | None) -> None:
    """Of 127 values on U55 and U65; one more is left before Vela is asked."""
    inputs = (torch.randn(1, 3, 8, 8),)
    counts = (most or 300, 128)
    edges = [compiled(Classes(each), inputs, target) for each in counts]
    left = [[op_name(n) for n in edge.exported_program().graph.nodes] for edge, _ in edges]
    assert "aten.argmax.default" not in left[0]
    assert ("aten.argmax.default" in left[1]) == (most is not None)


MODES = {
    "ethos-u55-128": ["Sram_Only", "Shared_Sram"],
    "ethos-u65-256": ["Sram_Only", "Shared_Sram", "Dedicated_Sram"],
    "ethos-u85-256": ["Sram_Only", "Shared_Sram", "Dedicated_Sram"],
}


@needs_vela
@pytest.mark.req("ARM-014", "ARM-015", "ARM-016")
@pytest.mark.parametrize(
    ("target", "mode"), [(target, mode) for target, modes in MODES.items() for mode in modes]
)
def test_memory_modes(target: str, mode: str, capfd: pytest.CaptureFixture[str]) -> None:
    """With the flags that the documents name; what Vela says of memory is printed."""
    inputs = torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 1)
    flags = ["--optimise", "Size", "--arena-cache-size=65536", "--debug-force-regor"]
    spec = EthosUCompileSpec(target, memory_mode=mode, extra_flags=flags)
    module = quantized(Add(), inputs, quantizer=EthosUQuantizer(spec))
    assert len(delegates(lowered(module, inputs, "", EthosUPartitioner(spec)))) == 1
    assert re.search("Total S?D?RAM used", capfd.readouterr().out)


@pytest.mark.req("ARM-015")
def test_ethos_u55_has_no_sram_of_its_own() -> None:
    with pytest.raises(ValueError, match="Dedicated_Sram is none of ethos-u55"):
        EthosUCompileSpec("ethos-u55-128", memory_mode="Dedicated_Sram")
