# SPDX-License-Identifier: BSD-3-Clause
"""The methods of Arm's quantizers: each configuration where it was asked for, in one call and by parts."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from executorch.backends.arm.ethosu import EthosUCompileSpec
from executorch.backends.arm.quantizer import (
    EthosUQuantizer,
    TOSAQuantizer,
    VgfQuantizer,
    get_symmetric_a16w8_quantization_config,
    get_symmetric_quantization_config,
    get_uint8_io_quantization_config,
)
from executorch.backends.arm.vgf import VgfCompileSpec
from executorch.exir.backend.lowering.quantized import quantization_of

INPUTS = (torch.linspace(-1, 1, 12).reshape(3, 4),)
MAKE = {
    "ethos-u": lambda: EthosUQuantizer(EthosUCompileSpec("ethos-u55-128")),
    "vgf": lambda: VgfQuantizer(VgfCompileSpec()),
}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second, self.gate = nn.Linear(4, 4), nn.Linear(4, 4), nn.Sigmoid()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gate(self.second(torch.relu(self.first(x))))


def captured() -> GraphModule:
    return torch.export.export(Model().eval(), INPUTS).module()


def converted(quantizer: TOSAQuantizer) -> GraphModule:
    prepared = prepare_pt2e(captured(), quantizer)
    prepared(*INPUTS)
    return convert_pt2e(prepared)


def dtypes(model: GraphModule) -> list[torch.dtype | None]:
    """In which the results of the linears and of the sigmoid are stored; None: floats."""
    kinds = ("aten.linear.", "aten.sigmoid.")
    return [_stored(node) for node in model.graph.nodes if str(node.target).startswith(kinds)]


def _stored(node: Node) -> torch.dtype | None:
    (reader,) = node.users
    if "relu" in str(reader.target):
        return _stored(reader)
    qparams = quantization_of(reader)
    return None if qparams is None else qparams.dtype


@pytest.mark.req("ARM-009")
@pytest.mark.parametrize("kind", MAKE)
def test_configurations_where_they_are_asked_for(kind: str) -> None:
    """All setters give the quantizer; the most particular one counts; None leaves floats."""
    small, wide = get_symmetric_quantization_config(), get_symmetric_a16w8_quantization_config()
    quantizer = MAKE[kind]()
    assert quantizer.set_global(small).set_module_name("second", wide) is quantizer
    assert quantizer.set_module_type(nn.Sigmoid, None) is quantizer
    model = converted(quantizer)
    assert dtypes(model) == [torch.int8, torch.int16, None]


@pytest.mark.req("ARM-009")
def test_what_the_model_is_given_and_gives() -> None:
    quantizer = MAKE["vgf"]().set_global(get_symmetric_quantization_config())
    quantizer.set_io(get_uint8_io_quantization_config())
    nodes = converted(quantizer).graph.nodes
    ends = [
        node
        for node in nodes
        if (qparams := quantization_of(node)) and qparams.dtype == torch.uint8
    ]
    assert len(ends) == 4  # a quantize and a dequantize at both ends


@pytest.mark.req("ARM-013")
def test_while_training() -> None:
    """Fake quantization learns, and its ranges are those of what comes out."""
    quantizer = MAKE["ethos-u"]().set_global(get_symmetric_quantization_config(is_qat=True))
    prepared = prepare_qat_pt2e(captured(), quantizer)
    prepared(*INPUTS).square().mean().backward()
    assert all(each.grad is not None for each in prepared.parameters() if each.dim() == 2)
    assert dtypes(convert_pt2e(prepared)) == [torch.int8] * 3


def test_what_is_computed_of_zeros_stays_so() -> None:
    """The first state's share of a cell's gates is a constant, to which the input's was added in place."""
    torch.manual_seed(0)
    cell, x = nn.LSTMCell(6, 5).eval(), torch.randn(3, 6)
    prepared = prepare_pt2e(
        torch.export.export(cell, (x,)).module(),
        MAKE["ethos-u"]().set_global(get_symmetric_quantization_config()),
    )
    prepared(x)
    model = convert_pt2e(prepared)
    first, again = model(x), model(x)
    assert all(map(torch.equal, first, again))
    for found, wanted in zip(first, cell(x), strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=0.03)


@pytest.mark.req("ARM-009")
@pytest.mark.parametrize("kind", MAKE)
def test_in_one_call(kind: str) -> None:
    """As prepare, samples and convert; branches are refused by name."""
    config = get_symmetric_quantization_config()
    expected = converted(MAKE[kind]().set_global(config))
    quantizer = MAKE[kind]().set_global(config)
    found = quantizer.quantize_with_submodules(captured(), [INPUTS])
    torch.testing.assert_close(found(*INPUTS), expected(*INPUTS), rtol=0, atol=0)

    class Branches(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, torch.relu, torch.neg, (x,))

    branches = torch.export.export(Branches(), INPUTS).module(check_guards=False)
    with pytest.raises(NotImplementedError, match="branches of torch.cond"):
        quantizer.quantize_with_submodules(branches, [INPUTS])
