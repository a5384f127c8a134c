# SPDX-License-Identifier: BSD-3-Clause
"""Weights that torchao stores in few bits, and recipes: what a model holds, and what it computes by the evaluator."""

from __future__ import annotations

from typing import Any

import pytest
import torch

ct = pytest.importorskip("coremltools")

from torchao.prototype.quantization.codebook_coreml import (  # noqa: E402
    CodebookWeightOnlyConfig,
)
from torchao.quantization.granularity import PerAxis, PerGroup  # noqa: E402
from torchao.quantization.quant_api import IntxWeightOnlyConfig, quantize_  # noqa: E402

from executorch.backends.apple.coreml.compiler import CoreMLBackend  # noqa: E402
from executorch.backends.apple.coreml.executorchcoreml import read_files  # noqa: E402
from executorch.backends.apple.coreml.partition import CoreMLPartitioner  # noqa: E402
from executorch.backends.apple.coreml.recipes import CoreMLRecipeProvider  # noqa: E402
from executorch.backends.apple.coreml.recipes import CoreMLRecipeType as Type  # noqa: E402
from executorch.backends.apple.coreml.test import mil_evaluator  # noqa: E402
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower  # noqa: E402
from executorch.exir.graph_facts import op_name  # noqa: E402
from executorch.exir.lowered_backend_module import get_lowered_backend_modules  # noqa: E402
from executorch.export import ExportRecipe, export  # noqa: E402
from executorch.export.target_recipes import get_ios_recipe  # noqa: E402

MODEL = "model.mlpackage/Data/com.apple.CoreML/model.mlmodel"
INPUTS = (torch.tensor([1, 2, 31]),)


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(32, 64)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(self.table(x))


def has_weights(module: torch.nn.Module, name: str) -> bool:
    return isinstance(module, torch.nn.Linear | torch.nn.Embedding)


def network(config: Any = None) -> torch.nn.Module:
    torch.manual_seed(0)
    model = Network().eval()
    if config is not None:
        quantize_(model, config, has_weights)
    return model


def lower(model: torch.nn.Module, target: Any) -> EdgeProgramManager:
    specs = CoreMLBackend.generate_compile_specs(
        minimum_deployment_target=target, compute_precision=ct.precision.FLOAT32
    )
    program = torch.export.export(model, INPUTS)
    return to_edge_transform_and_lower(
        program, partitioner=[CoreMLPartitioner(compile_specs=specs)]
    )


def left(edge: EdgeProgramManager) -> list[str]:
    return [name for node in edge.exported_program().graph.nodes if (name := op_name(node))]


def payload(edge: EdgeProgramManager) -> bytes:
    (found,) = get_lowered_backend_modules(edge.exported_program().graph_module)
    return found.processed_bytes


def spec_of(blob: bytes) -> Any:
    spec = ct.proto.Model_pb2.Model()
    spec.ParseFromString(read_files(blob)[MODEL])
    return spec


def stored(blob: bytes) -> list[tuple[str, tuple[int, ...], int]]:
    """Of each weight in few bits: its operation, the sizes of what it is stored in, its data type."""
    (function,) = spec_of(blob).mlProgram.functions.values()
    (block,) = function.block_specializations.values()
    found = []
    for operation in block.operations:
        if operation.type.startswith("constexpr_"):
            given = {**operation.inputs, **operation.attributes}
            name = next(n for n in ("data", "quantized_data", "indices") if n in given)
            value = given[name] if name in operation.attributes else given[name].arguments[0].value
            kind = value.type.tensorType
            sizes = tuple(each.constant.size for each in kind.dimensions)
            found.append((operation.type, sizes, kind.dataType))
    return found


INT4, GROUPS = torch.int4, PerGroup(32)
TYPES = ct.proto.MIL_pb2.DataType
CASES = [
    (IntxWeightOnlyConfig(weight_dtype=INT4, granularity=GROUPS), "iOS18", TYPES.INT4),
    (IntxWeightOnlyConfig(weight_dtype=INT4, granularity=PerAxis(0)), None, TYPES.INT4),
    (IntxWeightOnlyConfig(weight_dtype=torch.int8, granularity=GROUPS), "iOS18", TYPES.INT8),
    (IntxWeightOnlyConfig(weight_dtype=torch.int8, granularity=PerAxis(0)), "iOS16", TYPES.INT8),
    (IntxWeightOnlyConfig(weight_dtype=torch.int8, granularity=PerAxis(0)), "iOS18", TYPES.INT8),
    (CodebookWeightOnlyConfig(dtype=torch.uint3, block_size=[16, -1]), "iOS18", TYPES.UINT3),
    (CodebookWeightOnlyConfig(dtype=torch.uint5, block_size=[-1, 32]), None, TYPES.UINT6),
    (CodebookWeightOnlyConfig(dtype=torch.uint8, block_size=[-1, -1]), "iOS18", TYPES.UINT8),
]


@pytest.mark.req("APL-013", "APL-014")
@pytest.mark.parametrize(("config", "target", "dtype"), CASES)
def test_weights_stay_as_they_are_stored(config: Any, target: str | None, dtype: int) -> None:
    """The model computes what the quantized one does, and holds its integers: none is float again."""
    model = network(config)
    edge = lower(model, ct.target[target] if target else None)
    assert left(edge) == []
    blob = payload(edge)
    assert [(sizes, kind) for _, sizes, kind in stored(blob)] == [
        ((32, 64), dtype), ((32, 64), dtype), ((16, 32), dtype),
    ]  # fmt: skip
    with torch.no_grad():
        (found,) = mil_evaluator.load(blob, {})(list(INPUTS))
        torch.testing.assert_close(found, model(*INPUTS), rtol=1e-5, atol=1e-6)
    assert spec_of(blob).specificationVersion == ct.target[target or "iOS18"].value


def test_what_a_target_lacks_stays_on_the_cpu_with_the_reason() -> None:
    config = IntxWeightOnlyConfig(weight_dtype=INT4, granularity=GROUPS)
    specs = CoreMLBackend.generate_compile_specs(minimum_deployment_target=ct.target.iOS17)
    partitioner = CoreMLPartitioner(compile_specs=specs)
    program = torch.export.export(network(config), INPUTS)
    edge = to_edge_transform_and_lower(program, partitioner=[partitioner])
    assert left(edge) == ["torchao.dequantize_affine.default"] * 3
    (reason,) = set(partitioner._undelegated.values())
    assert "weights of torchao needs minimum_deployment_target iOS18 or later, iOS17" in reason
    assert "ExecuTorch hint: pass `compile_specs=CoreMLBackend" in reason
    edge.to_executorch()


# ---- Recipes ----

KEYWORDS = {Type.CODEBOOK_WEIGHT_ONLY: {"bits": 3, "block_size": [16, -1]}}
LEAST = {
    Type.PT2E_INT8_STATIC: "iOS17",
    Type.PT2E_INT8_WEIGHT_ONLY: "iOS17",
    Type.TORCHAO_INT4_WEIGHT_ONLY_PER_CHANNEL: "iOS18",
    Type.TORCHAO_INT4_WEIGHT_ONLY_PER_GROUP: "iOS18",
    Type.TORCHAO_INT8_WEIGHT_ONLY_PER_CHANNEL: "iOS16",
    Type.TORCHAO_INT8_WEIGHT_ONLY_PER_GROUP: "iOS18",
    Type.CODEBOOK_WEIGHT_ONLY: "iOS18",
}


def _limit(kind: Type) -> float:
    """Of the relative error: steps of 1/127 or 1/7 of the largest value, of which weights are a third on average; of 8
    numbers for 16 rows about as much as of 4 bits; half precision rounds to 2^-11."""
    name = kind.value.removeprefix("coreml_")
    return next(
        limit
        for part, limit in (
            ("fp32", 1e-5), ("fp16", 2e-3), ("int8", 3 / 127), ("int4", 3 / 7 / 2), ("codebook", 3 / 7 / 2),
        )
        if part in name
    )  # fmt: skip


@pytest.mark.parametrize("kind", list(Type), ids=lambda kind: kind.name)
def test_a_recipe_makes_a_model(kind: Type) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16))
    inputs = (torch.randn(4, 64),)
    expected = model.eval()(*inputs).detach()
    recipe = ExportRecipe.get_recipe(kind, **KEYWORDS.get(kind, {}))
    assert recipe.name == kind.value
    session = export(model, [inputs], recipe)
    edge = session.get_edge_program_manager()
    assert left(edge) == []
    blob = payload(edge)
    (found,) = mil_evaluator.load(blob, {})(list(inputs))
    error = float((found - expected).norm() / expected.norm())
    assert error <= _limit(kind) and (error > _limit(Type.FP32) or kind is Type.FP32)
    least = LEAST.get(kind, "iOS15")
    assert spec_of(blob).specificationVersion == ct.target[least].value


def specs_of(recipe: ExportRecipe) -> dict[str, str]:
    (partitioner, *_) = recipe.lowering_recipe.partitioners
    return {each.key: each.value.decode() for each in partitioner.delegation_spec.compile_specs}


def test_the_target_of_a_recipe_is_the_users() -> None:
    """1.4.1 takes the least in its place; below it both refuse."""
    int8 = Type.TORCHAO_INT8_WEIGHT_ONLY_PER_CHANNEL
    later = ExportRecipe.get_recipe(int8, minimum_deployment_target=ct.target.iOS18)
    assert specs_of(later)["min_deployment_target"] == "9"
    assert later.lowering_recipe.partitioners[0].take_over_mutable_buffer
    assert (
        not ExportRecipe.get_recipe(int8).lowering_recipe.partitioners[0].take_over_mutable_buffer
    )
    for kind, least in LEAST.items():
        text = f"minimum_deployment_target must be {least} or higher for .* quantization"
        with pytest.raises(ValueError, match=text):
            ExportRecipe.get_recipe(
                kind, minimum_deployment_target=ct.target.iOS15, **KEYWORDS.get(kind, {})
            )
    earlier = {"lower_full_graph": True, "minimum_deployment_target": ct.target.iOS16}
    assert ExportRecipe.get_recipe(Type.FP16, **earlier).lowering_recipe


WRONG = [
    (Type.FP16, {"minimum_deployment_target": 3}, "'minimum_deployment_target' must be an enum of type ct.target, got"),
    (Type.FP16, {"compute_unit": "x"}, "'compute_unit' must be an enum of type ct.ComputeUnit, got <class 'str'>"),
    (Type.TORCHAO_INT4_WEIGHT_ONLY_PER_GROUP, {"group_size": "x"}, "'group_size' must be an integer, got str: x"),
    (Type.TORCHAO_INT4_WEIGHT_ONLY_PER_GROUP, {"group_size": -1}, "'group_size' must be positive, got: -1"),
    (Type.CODEBOOK_WEIGHT_ONLY, {}, "'bits' and 'block_size' must be present for codebook recipes"),
    (Type.CODEBOOK_WEIGHT_ONLY, {"bits": "9", "block_size": [1]}, "'bits' must be an integer, got str: 9"),
    (Type.CODEBOOK_WEIGHT_ONLY, {"bits": 9, "block_size": [1]}, "'bits' must be between 1 and 8, got: 9"),
    (Type.CODEBOOK_WEIGHT_ONLY, {"bits": 3, "block_size": 1}, "'block_size' must be a list, got int: 1"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "keywords", "text"), WRONG)
def test_keywords_are_checked(kind: Type, keywords: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ExportRecipe.get_recipe(kind, **keywords)


def test_keywords_go_to_the_partitioner(caplog: pytest.LogCaptureFixture) -> None:
    skipped = ["aten.mm.default"]
    recipe = ExportRecipe.get_recipe(
        Type.FP32,
        compute_unit=ct.ComputeUnit.CPU_ONLY,
        skip_ops_for_coreml_delegation=skipped,
        take_over_constant_data=False,
        foo=1,
    )
    (partitioner,) = recipe.lowering_recipe.partitioners
    assert partitioner.skip_ops_for_coreml_delegation == skipped
    assert not partitioner.take_over_constant_data
    specs = specs_of(recipe)
    assert (specs["compute_units"], specs["model_compute_precision"]) == ("cpu_only", "float32")
    assert "CoreML recipe 'coreml_fp32' ignoring unexpected parameters: ['foo']" in caplog.text
    assert CoreMLRecipeProvider().create_recipe("no recipe") is None


@pytest.mark.parametrize(
    ("name", "precision", "target"), [("fp32", "float32", ""), ("fp16", "float16", ""), ("int8", "float16", "8")]
)  # fmt: skip
def test_recipes_of_ios(name: str, precision: str, target: str) -> None:
    """Core ML first, then XNNPACK; 8 bits are Core ML's alone."""
    recipe = get_ios_recipe(f"ios-arm64-coreml-{name}")
    specs = specs_of(recipe)
    assert (specs["model_compute_precision"], specs["min_deployment_target"]) == (precision, target)
    others = [type(each).__name__ for each in recipe.lowering_recipe.partitioners[1:]]
    assert others == ([] if name == "int8" else ["XnnpackPartitioner"])
    assert (recipe.quantization_recipe is not None) == (name == "int8")
