# SPDX-License-Identifier: BSD-3-Clause
"""Each recipe takes a model to a program that computes what the model does."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from executorch.backends.openvino.aot.compiler import OPENVINO
from executorch.backends.openvino.quantizer import QuantizationMode
from executorch.backends.openvino.quantizer.nncf_library import NNCF
from executorch.backends.openvino.recipes import OpenvinoRecipeType as Type
from executorch.backends.openvino.test.lowered import BACKEND, delegates, left, needs_runtime
from executorch.export import ExportRecipe, export

MISSING = NNCF.why_missing() or OPENVINO.why_missing()
pytestmark = [pytest.mark.skipif(bool(MISSING), reason=MISSING), needs_runtime]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 8))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


def _limit(kind: Type) -> float:
    """Of the relative error: steps of 1/127 or 1/7 of the largest value, of which weights are a third on average."""
    name = kind.value.removeprefix("openvino_")
    return {"fp32": 1e-5, "int8": 3 / 127, "int4": 3 / 7 / 2}[name[:4]]


@pytest.mark.parametrize("kind", list(Type), ids=lambda kind: kind.name)
def test_a_recipe_makes_a_program(kind: Type) -> None:
    torch.manual_seed(0)
    model, inputs = Net().eval(), (torch.randn(16, 256),)
    options = {"group_size": 32, "all_layers": True} if "int4" in kind.value else {}
    recipe = ExportRecipe.get_recipe(kind, **options)
    session = export(model, [inputs], recipe)
    edge = session.get_edge_program_manager()
    assert [each.backend_id for each in delegates(edge)] == [BACKEND] and left(edge) == []
    found, expected = session.run_method("forward", inputs)[0], model(*inputs)
    assert recipe.name == kind.value
    error = float((found - expected).norm() / expected.norm())
    assert error <= _limit(kind) and (error > _limit(Type.FP32) or kind is Type.FP32)


def test_every_mode_has_a_recipe() -> None:
    named = {kind.value.removeprefix("openvino_") for kind in Type}
    assert named == {mode.value for mode in QuantizationMode} | {"fp32"}


def test_a_recipe_takes_a_device_and_options_of_the_quantizer() -> None:
    recipe = ExportRecipe.get_recipe(Type.INT4WO_SYM, device="AUTO", group_size=64)
    (partitioner,) = recipe.lowering_recipe.partitioners
    (quantizer,) = recipe.quantization_recipe.quantizers
    specs = {spec.key: spec.value for spec in partitioner.delegation_spec.compile_specs}
    assert specs == {"device": b"AUTO"}
    assert quantizer.get_weights_compression_config()["group_size"] == 64
    with pytest.raises(ValueError, match="no keyword but device, found group_size"):
        ExportRecipe.get_recipe(Type.FP32, group_size=64)
