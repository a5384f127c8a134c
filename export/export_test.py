# SPDX-License-Identifier: BSD-3-Clause
"""Recipes, sessions and stages from model to running program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import executorch.export
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir.backend.test.op_partitioner_demo import AddMulPartitionerDemo
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.error import ExportError
from executorch.exir.pass_base import ExportPass
from executorch.export import (
    BackendRecipeProvider,
    ExportRecipe,
    ExportSession,
    LoweringRecipe,
    QuantizationRecipe,
    RecipeType,
    StageType,
    export,
    recipe_registry,
)
from executorch.export.recipe import AOQuantizationConfig, Mode
from executorch.export.stages import (
    EdgeProgramManagerTransformStage,
    PipelineArtifact,
    QuantizeStage,
    SourceTransformStage,
    ToBackendStage,
    TorchExportStage,
)
from executorch.export.target_recipes import get_android_recipe, get_ios_recipe
from executorch.export.utils import (
    is_fbcode,
    is_supported_platform_for_coreml_lowering,
    is_supported_platform_for_qnn_lowering,
)
from executorch.test.e2e.build_tree import load_demo_backends

load_demo_backends()


class AddMul(torch.nn.Module):
    def forward(self, a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return (a @ x + x).relu() * 2


class ReluToSigmoid(ExportPass):
    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
        if op == exir_ops.edge.aten.relu.default:
            op = exir_ops.edge.aten.sigmoid.default
        return super().call_operator(op, args, kwargs, meta)


INPUTS = (torch.tensor([[1.0, -2.0], [3.0, 4.0]]), torch.tensor([[0.5, -1.0], [2.0, 1.0]]))


@pytest.mark.req("CMP-014", "CMP-C07")
def test_an_empty_recipe_gives_a_program_that_runs(tmp_path: Path) -> None:
    session = executorch.export(
        model=AddMul(), example_inputs=[INPUTS], export_recipe=ExportRecipe()
    )
    torch.testing.assert_close(session.run_method()[0], AddMul()(*INPUTS))
    session.save_to_pte(str(tmp_path / "model"))
    assert (tmp_path / "model.pte").read_bytes() == session.get_pte_buffer()
    assert session.get_example_input() is INPUTS
    assert session.get_exported_program().graph_signature.user_outputs
    assert session.get_executorch_program().execution_plan[0].name == "forward"


@pytest.mark.req("CMP-014", "CMP-C07")
def test_the_package_is_callable_after_importing_the_root_alone() -> None:
    code = (
        "import executorch; print(callable(executorch.export), callable(executorch.export.export))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


@pytest.mark.req("CMP-015")
def test_the_usual_stages_run_in_order() -> None:
    session = export(AddMul(), [INPUTS])
    artifacts = session.get_stage_artifacts()
    assert [kind.value for kind in artifacts] == [
        "source_transform",
        "quantize",
        "torch_export",
        "to_edge_transform_and_lower",
        "to_executorch",
    ]
    assert all(one.get_context("duration_ms") >= 0 for one in artifacts.values())


@pytest.mark.req("CMP-015")
@pytest.mark.parametrize("in_steps", [False, True])
def test_passes_and_partitioners_of_the_recipe_are_used(
    in_steps: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def choose(method: str, program: Any) -> list[Any]:
        asked.append(method)
        return [ReluToSigmoid()]

    stages = [
        StageType.TORCH_EXPORT,
        StageType.TO_EDGE,
        StageType.EDGE_PROGRAM_MANAGER_TRANSFORM,
        StageType.TO_BACKEND,
        StageType.TO_EXECUTORCH,
    ]
    recipe = ExportRecipe(
        lowering_recipe=LoweringRecipe([AddMulPartitionerDemo()], [choose]),
        pipeline_stages=stages if in_steps else None,
    )
    session = export(AddMul(), [INPUTS], recipe)
    a, x = INPUTS
    torch.testing.assert_close(session.run_method()[0], (a @ x + x).sigmoid() * 2)
    assert asked == ["forward"]
    targets = [
        str(n.target) for n in session.get_edge_program_manager().exported_program().graph.nodes
    ]
    assert "executorch_call_delegate" in targets
    session.print_delegation_info()
    assert "Total delegated subgraphs: 1" in capsys.readouterr().out


@pytest.mark.req("CMP-015")
def test_manager_passes_see_the_manager() -> None:
    recipe = ExportRecipe(
        lowering_recipe=LoweringRecipe(
            edge_manager_transform_passes=[
                lambda manager: [ReluToSigmoid()] if "forward" in manager.methods else []
            ]
        ),
        pipeline_stages=[
            StageType.TORCH_EXPORT,
            StageType.TO_EDGE,
            StageType.EDGE_PROGRAM_MANAGER_TRANSFORM,
            StageType.TO_EXECUTORCH,
        ],
    )
    a, x = INPUTS
    torch.testing.assert_close(
        export(AddMul(), [INPUTS], recipe).run_method()[0], (a @ x + x).sigmoid() * 2
    )


def test_several_methods_shapes_and_constants() -> None:
    rows = {0: torch.export.Dim("rows", min=2, max=8)}
    session = export(
        {"forward": AddMul(), "half": torch.nn.Linear(2, 1).eval()},
        {"forward": [INPUTS], "half": [(torch.ones(3, 2),)]},
        dynamic_shapes={"half": ({0: rows[0]},)},
        constant_methods={"limit": 7},
    )
    assert session.run_method("half", (torch.ones(8, 2),))[0].shape == (8, 1)
    assert session.run_method("limit", ()) == [7]


def test_programs_start_at_lowering(tmp_path: Path) -> None:
    program = torch.export.export(AddMul(), INPUTS)
    torch.export.save(program, tmp_path / "saved.pt2")
    for model in (program, str(tmp_path / "saved.pt2")):
        session = export(model)
        assert StageType.TORCH_EXPORT not in session.get_stage_artifacts()
        torch.testing.assert_close(session.run_method("forward", INPUTS)[0], AddMul()(*INPUTS))


def test_a_registered_stage_replaces_the_usual_one() -> None:
    class Counted(TorchExportStage):
        runs = 0

        def run(self, artifact: PipelineArtifact) -> None:
            self.runs += 1
            super().run(artifact)

    session = ExportSession(AddMul(), [INPUTS])
    stage = Counted()
    session.register_stage(StageType.TORCH_EXPORT, stage)
    session.export()
    assert session.get_registered_stage(StageType.TORCH_EXPORT) is stage and stage.runs == 1


class DemoRecipe(RecipeType):
    DELEGATED = "delegated"
    UNKNOWN = "unknown"

    @classmethod
    def get_backend_name(cls) -> str:
        return "demo"


class DemoProvider(BackendRecipeProvider):
    @property
    def backend_name(self) -> str:
        return "demo"

    def get_supported_recipes(self) -> list[RecipeType]:
        return [DemoRecipe.DELEGATED]

    def create_recipe(self, recipe_type: RecipeType, **kwargs: Any) -> ExportRecipe | None:
        if recipe_type != DemoRecipe.DELEGATED:
            return None
        return ExportRecipe(
            name="demo", lowering_recipe=LoweringRecipe([AddMulPartitionerDemo()]), **kwargs
        )


def test_recipes_come_from_providers_and_combine() -> None:
    recipe_registry.register_backend_recipe_provider(DemoProvider())
    recipe = ExportRecipe.get_recipe(DemoRecipe.DELEGATED, strict=False)
    other = ExportRecipe(name="own", strict=False, lowering_recipe=LoweringRecipe(None, [list]))
    both = ExportRecipe.combine([recipe, other])
    assert both.name == "demo_own" and both.lowering_recipe is not None
    assert both.lowering_recipe.partitioners == recipe.lowering_recipe.partitioners
    assert both.lowering_recipe.edge_transform_passes == [list]
    with pytest.raises(ValueError, match="disagree on strict"):
        ExportRecipe.combine([recipe, ExportRecipe()])
    with pytest.raises(ValueError, match="Recipe 'unknown' not supported by 'demo'"):
        ExportRecipe.get_recipe(DemoRecipe.UNKNOWN)
    assert recipe_registry.create_recipe(DemoRecipe.UNKNOWN, "demo") is None
    with pytest.raises(ValueError, match="Backend 'nobody' not available"):
        recipe_registry.create_recipe(DemoRecipe.UNKNOWN, "nobody")


def run_with(recipe: ExportRecipe, **arguments: Any) -> ExportSession:
    return export(
        **{"model": AddMul(), "example_inputs": [INPUTS]} | arguments, export_recipe=recipe
    )


@pytest.mark.parametrize(
    ("recipe", "arguments", "error", "text"),
    [
        (ExportRecipe(), {"example_inputs": None}, ValueError, "example_inputs are required"),
        (ExportRecipe(), {"model": 3}, TypeError, "Unsupported model type"),
        (ExportRecipe(), {"model": {"a": AddMul()}}, ValueError, "as a dict by method"),
        (
            ExportRecipe(pipeline_stages=[StageType.TO_EXECUTORCH]),
            {},
            ValueError,
            "cannot start a pipeline",
        ),
        (
            ExportRecipe(pipeline_stages=[StageType.TORCH_EXPORT, StageType.TO_BACKEND]),
            {},
            ValueError,
            "Invalid transition from",
        ),
    ],
)
def test_wrong_use_says_what_to_do(
    recipe: ExportRecipe, arguments: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        run_with(recipe, **arguments)


@pytest.mark.parametrize(
    "quantization",
    [QuantizationRecipe([object()]), QuantizationRecipe(None, [AOQuantizationConfig(object())])],
)
def test_quantizing_without_torchao_names_it(
    quantization: QuantizationRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ["torchao", *(name for name in sys.modules if name.startswith("torchao."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ExportError, match="pip install torchao"):
        run_with(ExportRecipe(quantization_recipe=quantization))


class Untraceable(torch.nn.Module):
    """torch.export follows it by running it (strict=False) and not by its bytecode."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        id(torch._dynamo.graph_break())
        return self.linear(x)


@pytest.mark.parametrize("quantize", [False, True])
def test_strict_is_for_every_capture(quantize: bool) -> None:
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
    quantization = QuantizationRecipe([quantizer]) if quantize else None
    examples, model = [(torch.ones(1, 2),)], Untraceable()
    with pytest.raises(Exception, match="graph_break|Unsupported"):
        export(model, examples, ExportRecipe(quantization_recipe=quantization))
    session = export(model, examples, ExportRecipe(quantization_recipe=quantization, strict=False))
    torch.testing.assert_close(session.run_method()[0], model(*examples[0]), rtol=0.1, atol=0.1)


def test_quantization_that_is_left_out_is_told() -> None:
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
    recipe = ExportRecipe(quantization_recipe=QuantizationRecipe([quantizer]))
    program = torch.export.export(AddMul(), INPUTS)
    for captured in (program, program.module(check_guards=False)):
        with pytest.warns(UserWarning, match="quantization is left out: .* counts as quantized"):
            export(captured, [INPUTS], recipe)


def test_debug_mode_keeps_a_record_and_python_lines() -> None:
    debug, release = (
        export(AddMul(), [INPUTS], ExportRecipe(mode=mode)) for mode in (Mode.DEBUG, Mode.RELEASE)
    )
    assert debug.get_etrecord().exported_program is not None
    (chain,) = debug.get_executorch_program().execution_plan[0].chains
    lines = [frame.name for frames in chain.stacktrace for frame in frames.items]
    assert "forward" in lines
    (chain,) = release.get_executorch_program().execution_plan[0].chains
    assert chain.stacktrace is None
    with pytest.raises(RuntimeError, match="recipe of mode DEBUG"):
        release.get_etrecord()


def test_results_before_export_are_refused() -> None:
    session = ExportSession(AddMul(), [INPUTS])
    with pytest.raises(RuntimeError, match="Executorch program manager is not initialized"):
        session.get_pte_buffer()
    with pytest.raises(RuntimeError, match="Edge program manager is not available"):
        session.get_edge_program_manager()
    with pytest.raises(RuntimeError, match="generate_etrecord=True"):
        session.get_etrecord()
    with pytest.raises(KeyError, match="other"):
        session.get_example_input("other")
    with pytest.raises(RuntimeError, match="Exported program is not available"):
        session.get_exported_program()
    with pytest.raises(AssertionError, match="Need a valid output name"):
        session.save_to_pte("")


def test_the_pipeline_depends_on_what_is_given() -> None:
    program = torch.export.export(AddMul(), INPUTS)
    last = [StageType.TO_EDGE_TRANSFORM_AND_LOWER, StageType.TO_EXECUTORCH]
    for model, kind, stages in (
        (
            AddMul(),
            "nn.Module",
            [StageType.SOURCE_TRANSFORM, StageType.QUANTIZE, StageType.TORCH_EXPORT, *last],
        ),
        (torch.fx.symbolic_trace(AddMul()), "GraphModule", [StageType.TORCH_EXPORT, *last]),
        (program, "ExportedProgram", last),
    ):
        session = ExportSession(model, [INPUTS])
        assert session._input_model_type == kind and session._pipeline_stages == stages
        assert session.get_all_registered_stages() is session._stage_registry


def test_a_stage_of_ones_own_is_registered_before_it_runs() -> None:
    recipe = ExportRecipe(pipeline_stages=["mine"])
    session = ExportSession(torch.export.export(AddMul(), INPUTS), export_recipe=recipe)
    with pytest.raises(ValueError, match=r"Stage mine not found in registry; .*register_stage"):
        session.export()
    usual = ExportSession(AddMul(), [INPUTS])
    session.register_stage(
        "mine", usual.get_registered_stage(StageType.TO_EDGE_TRANSFORM_AND_LOWER)
    )
    session.export()
    assert session.get_edge_program_manager().methods == {"forward"}


@pytest.mark.parametrize(
    ("stages", "text"),
    [
        ([], "Pipeline stages cannot be empty"),
        ([StageType.TORCH_EXPORT, *[StageType.TO_EDGE] * 2], "Cannot run TORCH_EXPORT stage"),
    ],
)
def test_pipelines_that_cannot_run(stages: list[StageType], text: str) -> None:
    program = torch.export.export(AddMul(), INPUTS)
    with pytest.raises(ValueError, match=text):
        ExportSession(program, export_recipe=ExportRecipe(pipeline_stages=stages)).export()


def test_stages_say_what_they_miss() -> None:
    artifact = PipelineArtifact({"a": AddMul()}, {"example_inputs": {}})
    for stage in (SourceTransformStage(None), QuantizeStage(None)):
        stage.run(artifact)
        assert stage.get_artifacts() is artifact
    with pytest.raises(RuntimeError, match="Stage: TorchExportStage not executed"):
        TorchExportStage().get_artifacts()
    with pytest.raises(ValueError, match="Example inputs for method a not found"):
        TorchExportStage().run(artifact)
    with pytest.raises(RuntimeError, match="Edge program manager is not set"):
        ToBackendStage().run(PipelineArtifact(None, {}))
    with pytest.raises(TypeError, match="Expected EdgeProgramManager"):
        EdgeProgramManagerTransformStage().run(artifact)


def test_recipes_of_targets_need_their_backends() -> None:
    with pytest.raises(ValueError, match="Unsupported iOS configuration: 'x'"):
        get_ios_recipe("x")
    with pytest.raises(ValueError, match="Unsupported Android configuration: 'x'"):
        get_android_recipe("x")
    if not is_supported_platform_for_coreml_lowering():
        with pytest.raises(ValueError, match="CoreML is not supported on this platform"):
            get_ios_recipe()
    if not is_supported_platform_for_qnn_lowering():
        with pytest.raises(ValueError, match="QNN is not supported on this platform"):
            get_android_recipe()
    assert not is_fbcode()
    one = ExportRecipe(name="one")
    assert ExportRecipe.combine([one]) is one
    with pytest.raises(ValueError, match="Recipes cannot be empty"):
        ExportRecipe.combine([])
    with pytest.raises(ValueError, match="Invalid recipe type: 3"):
        ExportRecipe.get_recipe(3)
