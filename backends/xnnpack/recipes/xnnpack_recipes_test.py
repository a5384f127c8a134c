# SPDX-License-Identifier: BSD-3-Clause
"""Each recipe takes a model to a program that computes what the model does."""

from __future__ import annotations

import logging
import operator
from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack.recipes import XNNPACKRecipeProvider, XNNPackRecipeType
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.devtools.etrecord import parse_etrecord
from executorch.export import ExportRecipe, export
from executorch.export.recipe_registry import recipe_registry


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


# Of outputs between about -1 and 1: what 8 and 4 bits keep.
TOLERANCE = {
    XNNPackRecipeType.FP32: 1e-5,
    XNNPackRecipeType.PT2E_INT8_DYNAMIC_PER_CHANNEL: 0.03,
    XNNPackRecipeType.PT2E_INT8_STATIC_PER_CHANNEL: 0.05,
    XNNPackRecipeType.PT2E_INT8_STATIC_PER_TENSOR: 0.05,
    XNNPackRecipeType.TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT_PER_CHANNEL: 0.25,
    XNNPackRecipeType.TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT_PER_TENSOR: 0.2,
}


@needs_runtime
@pytest.mark.parametrize("kind", list(XNNPackRecipeType), ids=lambda kind: kind.name)
def test_a_recipe_makes_a_program(kind: XNNPackRecipeType) -> None:
    torch.manual_seed(0)
    model, inputs = Net().eval(), (torch.randn(4, 64),)
    expected = model(*inputs)
    session = export(model, [inputs], ExportRecipe.get_recipe(kind))
    found = session.run_method("forward", inputs)[0]
    assert (found - expected).abs().max() < TOLERANCE[kind]
    graph = session.get_edge_program_manager().exported_program().graph
    (call, item) = (n for n in graph.nodes if n.op == "call_function")
    assert "executorch_call_delegate" in str(call.target) and item.target is operator.getitem


@needs_runtime
@pytest.mark.req("CMP-014")
def test_the_documented_block_on_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Method 1 of the ETRecord page, as printed, for a model that XNNPACK runs."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    model, example_inputs = Net().eval(), (torch.randn(4, 64),)
    recipe = ExportRecipe.get_recipe(XNNPackRecipeType.FP32)
    names = {"model": model, "example_inputs": example_inputs, "recipe": recipe}
    exec(METHOD_1, names)
    record = parse_etrecord("model_debug.etrecord")
    assert record.edge_dialect_program is not None and record.exported_program is not None
    assert {each["name"] for each in record._delegate_map["forward"].values()} == {"XnnpackBackend"}
    found = names["session"].run_method("forward", example_inputs)[0]
    torch.testing.assert_close(found, model(*example_inputs), rtol=1e-3, atol=1e-5)


METHOD_1 = """
import executorch
from executorch.export import ExportRecipe

# Export with ETRecord generation enabled
session = executorch.export(
    model=model,
    example_inputs=[example_inputs],
    export_recipe=recipe,
    generate_etrecord=True  # Enable ETRecord generation
)

# Get and save the ETRecord
etrecord = session.get_etrecord()
etrecord.save("model_debug.etrecord")
"""


def test_recipes_are_registered_and_named() -> None:
    assert "xnnpack" in recipe_registry.list_backends()
    provider = XNNPACKRecipeProvider()
    assert provider.backend_name == XNNPackRecipeType.get_backend_name() == "xnnpack"
    for kind in provider.get_supported_recipes():
        assert ExportRecipe.get_recipe(kind).name == kind.value
    assert provider.create_recipe("no recipe") is None


def test_keywords_are_checked(caplog: pytest.LogCaptureFixture) -> None:
    grouped = XNNPackRecipeType.TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT_PER_TENSOR
    recipe = ExportRecipe.get_recipe(grouped, group_size=64)
    config = recipe.quantization_recipe.ao_quantization_configs[0].ao_base_config
    assert config.weight_granularity.group_size == 64
    with pytest.raises(ValueError, match="'group_size' must be an integer, got str: x"):
        ExportRecipe.get_recipe(grouped, group_size="x")
    with caplog.at_level(logging.WARNING):
        ExportRecipe.get_recipe(XNNPackRecipeType.FP32, group_size=32)
    assert "ignoring unexpected parameters: ['group_size']" in caplog.text
