# SPDX-License-Identifier: BSD-3-Clause
"""`Tester`: goes from a module to a program stage by stage; every method returns the tester.

    Tester(model, inputs).export().to_edge_transform_and_lower().check_count({"executorch_call_delegate": 1}) \\
        .to_executorch().serialize().run_method_and_compare_outputs()
"""

from __future__ import annotations

import random
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.export import Dim, ExportedProgram
from torch.testing import FileCheck
from torch.utils import _pytree as pytree

from executorch.backends.test.harness.error_statistics import ErrorStatistics
from executorch.backends.test.harness.stages import (
    Export,
    Partition,
    Quantize,
    RunPasses,
    Serialize,
    Stage,
    StageType,
    ToEdge,
    ToEdgeTransformAndLower,
    ToExecutorch,
)
from executorch.exir.backend.lowering.quantized import is_dequantize, quantization_of

_DEFAULT_CLASSES: dict[StageType, Callable] = {
    StageType.QUANTIZE: Quantize,
    StageType.EXPORT: Export,
    StageType.RUN_PASSES: RunPasses,
    StageType.TO_EDGE: ToEdge,
    StageType.TO_EDGE_TRANSFORM_AND_LOWER: ToEdgeTransformAndLower,
    StageType.PARTITION: Partition,
    StageType.TO_EXECUTORCH: ToExecutorch,
    StageType.SERIALIZE: Serialize,
}
# stage -> those that may come next
_NEXT = {
    None: [StageType.QUANTIZE, StageType.EXPORT],
    StageType.QUANTIZE: [StageType.EXPORT],
    StageType.EXPORT: [
        StageType.RUN_PASSES,
        StageType.TO_EDGE,
        StageType.TO_EDGE_TRANSFORM_AND_LOWER,
    ],
    StageType.TO_EDGE_TRANSFORM_AND_LOWER: [StageType.RUN_PASSES, StageType.TO_EXECUTORCH],
    StageType.TO_EDGE: [StageType.PARTITION, StageType.RUN_PASSES, StageType.TO_EXECUTORCH],
    StageType.RUN_PASSES: [
        StageType.PARTITION,
        StageType.TO_EDGE_TRANSFORM_AND_LOWER,
        StageType.TO_EXECUTORCH,
    ],
    StageType.PARTITION: [StageType.TO_EXECUTORCH],
    StageType.TO_EXECUTORCH: [StageType.SERIALIZE],
    StageType.SERIALIZE: [],
}


class Tester:
    __test__ = False  # nothing for pytest to collect

    def __init__(
        self,
        module: torch.nn.Module,
        example_inputs: tuple[torch.Tensor],
        stage_classes: dict[StageType, Callable] | None = None,
        dynamic_shapes: tuple[Any] | None = None,
        training: bool = False,
    ) -> None:
        self.stage_classes = stage_classes or self.default_stage_classes()
        if not training and isinstance(module, torch.nn.Module):
            module.eval()
        self.original_module = module
        self.example_inputs = example_inputs
        self.dynamic_shapes = dynamic_shapes
        self.stages: OrderedDict[StageType, Stage | None] = OrderedDict.fromkeys(StageType)
        self.pipeline = {stage: following for stage, following in _NEXT.items() if stage}
        self.cur: StageType | None = None  # the last stage that ran
        self.reference_output: Any = None
        self.quantization_scale: float | None = None
        self.stage_output: Any = None

    @staticmethod
    def default_stage_classes() -> dict[StageType, Callable]:
        """What makes a stage that is not given."""
        return dict(_DEFAULT_CLASSES)

    # ---- Stages ----

    def quantize(self, quantize_stage: Quantize | None = None) -> Tester:
        return self._run_stage(StageType.QUANTIZE, quantize_stage)

    def export(self, export_stage: Export | None = None) -> Tester:
        if export_stage is None:
            export_stage = self._default(StageType.EXPORT, dynamic_shapes=self.dynamic_shapes)
        return self._run_stage(StageType.EXPORT, export_stage)

    def to_edge(self, to_edge_stage: ToEdge | None = None) -> Tester:
        return self._run_stage(StageType.TO_EDGE, to_edge_stage)

    def to_edge_transform_and_lower(
        self,
        to_edge_and_transform_stage: ToEdgeTransformAndLower | None = None,
        generate_etrecord: bool = False,
    ) -> Tester:
        options = {"generate_etrecord": True} if generate_etrecord else {}
        which = StageType.TO_EDGE_TRANSFORM_AND_LOWER
        return self._run_stage(which, to_edge_and_transform_stage, **options)

    def run_passes(self, run_passes_stage: RunPasses | None = None) -> Tester:
        return self._run_stage(StageType.RUN_PASSES, run_passes_stage)

    def partition(self, partition_stage: Partition | None = None) -> Tester:
        return self._run_stage(StageType.PARTITION, partition_stage)

    def to_executorch(self, to_executorch_stage: ToExecutorch | None = None) -> Tester:
        return self._run_stage(StageType.TO_EXECUTORCH, to_executorch_stage)

    def serialize(self, serialize_stage: Serialize | None = None) -> Tester:
        return self._run_stage(StageType.SERIALIZE, serialize_stage)

    def _default(self, which: StageType, **options: Any) -> Stage:
        if which not in self.stage_classes:
            raise RuntimeError(f"the tester has no class for stage {which}; give the stage")
        return self.stage_classes[which](**options)

    def _run_stage(self, which: StageType, stage: Stage | None, **options: Any) -> Tester:
        assert which in _NEXT[self.cur], f"Invalid next stage: {which} after {self.cur}"
        assert self.stages[which] is None, f"Invalid next stage: {which} has run before"
        stage = self._default(which) if stage is None else stage
        before = self.original_module if self.cur is None else self.get_artifact()
        stage.run(before, self.example_inputs, **options)
        self.stages[which], self.cur = stage, which
        return self

    def _stage(self, stage: StageType | None = None) -> Stage:
        which = stage or self.cur
        found = self.stages[which] if which else None
        if found is None:
            raise RuntimeError(f"stage {which} has not run; ran so far: {self._ran() or 'none'}")
        return found

    def _ran(self) -> str:
        return ", ".join(which.name for which, stage in self.stages.items() if stage)

    def get_artifact(self, stage: StageType | None = None) -> Any:
        """What a stage made; the last one when none is named."""
        return self._stage(stage).artifact

    def dump_artifact(self, path: str | None = None, stage: StageType | None = None) -> Tester:
        self._stage(stage).dump_artifact(path)
        return self

    def visualize(
        self, reuse_server: bool = True, stage: StageType | None = None, **kwargs: Any
    ) -> Tester:
        """Opens the artifact in Model Explorer, which has to be installed."""
        try:
            import model_explorer
        except ImportError as error:
            raise ImportError(
                "visualize() shows graphs in Model Explorer; pip install ai-edge-model-explorer"
            ) from error
        options = {"reuse_server": True} if reuse_server else {}
        model_explorer.visualize_pytorch("model", self.get_artifact(stage), **options, **kwargs)
        return self

    # ---- Checks of the graph ----

    def _code(self) -> str:
        return self._stage().graph_module.code

    def check(self, input: list[str]) -> Tester:
        """Each text stands in the graph's code."""
        for text in input:
            FileCheck().check(text).run(self._code())
        return self

    def check_not(self, input: list[str]) -> Tester:
        for text in input:
            FileCheck().check_not(text).run(self._code())
        return self

    def check_count(self, input: dict[Any, int]) -> Tester:
        """text -> how often it stands in the graph's code, exactly."""
        for text, count in input.items():
            if count == 0:
                FileCheck().check_not(text).run(self._code())
            else:
                FileCheck().check_count(text, count, exactly=True).run(self._code())
        return self

    def check_node_count(self, input: dict[Any, int]) -> Tester:
        """operator -> the number of its calls, exactly."""
        calls = Counter(
            node.target
            for node in self._stage().graph_module.graph.nodes
            if node.op == "call_function"
        )
        for target, expected in input.items():
            found = calls[target]
            assert found == expected, f"Expected {expected} {target} nodes but found {found}."
        return self

    # ---- Running ----

    def generate_random_inputs(self) -> tuple[Any, ...]:
        """Inputs like the examples: floats from a normal distribution, others as they are; dynamic sizes drawn
        within their bounds."""
        drawn: dict[str, int] = {}
        shapes = self.dynamic_shapes or [None] * len(self.example_inputs)
        if isinstance(shapes, dict):
            shapes = list(shapes.values())
        return tuple(
            _random_like(example, varying, drawn)
            for example, varying in zip(self.example_inputs, shapes, strict=True)
        )

    def run_method_and_compare_outputs(
        self,
        stage: StageType | None = None,
        inputs: tuple[torch.Tensor] | None = None,
        num_runs: int = 1,
        atol: float = 1e-3,
        rtol: float = 1e-3,
        qtol: float = 0,
        statistics_callback: Callable[[ErrorStatistics], None] | None = None,
        artifact_dir: str | None = None,
        artifact_name: str | None = None,
    ) -> Tester:
        """Runs a stage (the last when none is named) and the exported program on the same inputs, and compares.
        `qtol`: how many steps of quantization results may be apart besides."""
        number_of_runs = 1 if inputs is not None else num_runs
        reference = self.stages[StageType.EXPORT]
        assert reference is not None, "run_method_and_compare_outputs needs the EXPORT stage"
        for _ in range(number_of_runs):
            chosen = inputs if inputs is not None else self.generate_random_inputs()
            self.reference_output = self._reference(reference.artifact, chosen)
            self.quantization_scale = self.output_step()
            self.stage_output = self._stage(stage).run_artifact(chosen)
            self._compare_outputs(
                self.reference_output, self.stage_output, self.quantization_scale,
                atol, rtol, qtol, statistics_callback,
            )  # fmt: skip
            if artifact_dir is not None:
                self._dump_golden_artifacts(artifact_dir, artifact_name or "test", chosen)
        return self

    def output_step(self) -> float | None:
        """The step of an output that leaves a dequantize node."""
        return _output_scale(self.get_artifact(StageType.EXPORT))

    @staticmethod
    def _reference(program: ExportedProgram, inputs: tuple[Any, ...]) -> Any:
        copies = pytree.tree_map_only(torch.Tensor, torch.clone, inputs)
        return program.module()(*copies)

    def _dump_golden_artifacts(self, folder: str, name: str, inputs: tuple[Any, ...]) -> None:
        """The program, and inputs and expected outputs one after another as bytes."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        serialized = self.stages[StageType.SERIALIZE]
        if serialized is not None:
            serialized.dump_artifact(str(Path(folder, f"{name}.pte")))
        for kind, values in (("input", inputs), ("expected_output", self.reference_output)):
            tensors = [x for x in pytree.tree_leaves(values) if isinstance(x, torch.Tensor)]
            raw = b"".join(
                x.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
                for x in tensors
            )
            Path(folder, f"{name}_{kind}.bin").write_bytes(raw)

    @staticmethod
    def _assert_outputs_equal(
        model_output: Any,
        ref_output: Any,
        atol: float = 1e-3,
        rtol: float = 1e-3,
        statistics_callback: Callable[[ErrorStatistics], None] | None = None,
    ) -> None:
        results, wanted = pytree.tree_leaves(model_output), pytree.tree_leaves(ref_output)
        assert len(results) == len(wanted), f"{len(results)} outputs, expected {len(wanted)}"
        for place, (result, expected) in enumerate(zip(results, wanted, strict=True)):
            if not isinstance(expected, torch.Tensor):
                assert result == expected, f"output {place}: {result}, expected {expected}"
                continue
            if statistics_callback is not None:
                statistics_callback(ErrorStatistics.from_tensors(result, expected))
            assert result.shape == expected.shape, (
                f"output {place} has shape {tuple(result.shape)}, expected {tuple(expected.shape)}"
            )
            torch.testing.assert_close(
                result, expected, atol=atol, rtol=rtol, equal_nan=True,
                msg=lambda text, place=place: f"output {place} does not match: {text}",
            )  # fmt: skip

    @staticmethod
    def _compare_outputs(
        reference_output: Any,
        stage_output: Any,
        quantization_scale: float | None = None,
        atol: float = 1e-3,
        rtol: float = 1e-3,
        qtol: float = 0,
        statistics_callback: Callable[[ErrorStatistics], None] | None = None,
    ) -> None:
        if quantization_scale is not None:
            atol += quantization_scale * qtol
        Tester._assert_outputs_equal(
            stage_output, reference_output, atol, rtol, statistics_callback
        )


def _random_like(example: Any, varying: Any, drawn: dict[str, int]) -> Any:
    if not isinstance(example, torch.Tensor):
        return example
    shape = list(example.shape)
    places = varying.items() if isinstance(varying, dict) else enumerate(varying or ())
    for place, dim in places:
        if hasattr(dim, "min") and hasattr(dim, "max") and dim not in (Dim.AUTO, Dim.STATIC):
            most = min(dim.max, max(shape[place], dim.min))
            shape[place] = drawn.setdefault(dim.__name__, random.randint(max(dim.min, 1), most))
    if example.is_floating_point():
        return torch.randn(shape, dtype=example.dtype).to(
            memory_format=torch.channels_last
            if example.dim() == 4 and example.is_contiguous(memory_format=torch.channels_last)
            else torch.contiguous_format
        )
    if shape == list(example.shape):
        return example.clone()
    pick = [slice(size) for size in shape]  # smaller: values stay valid, indices for example
    return example[tuple(pick)].clone()


def _output_scale(program: ExportedProgram) -> float | None:
    """The step of an output that leaves a dequantize node."""
    (output,) = program.graph.find_nodes(op="output")
    for node in output.all_input_nodes:
        qparams = quantization_of(node) if is_dequantize(node) else None
        if qparams is not None and qparams.is_static:
            return float(qparams.scale)
    return None
