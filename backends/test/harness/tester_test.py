# SPDX-License-Identifier: BSD-3-Clause
"""The tester on a small module: order of stages, checks, comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.test.harness import Tester
from executorch.backends.test.harness.error_statistics import ErrorStatistics
from executorch.backends.test.harness.stages import RunPasses, StageType
from executorch.exir.pass_manager import ExportedProgramPassManager
from executorch.exir.passes.normalize_transpose_pass import NormalizeTransposePass


class LinearRelu(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).relu()


def linear_relu(**options: Any) -> Tester:
    return Tester(LinearRelu(), (torch.randn(2, 4),), **options)


def test_from_the_module_to_its_program() -> None:
    found: list[ErrorStatistics] = []
    done = linear_relu().export().to_edge().to_executorch().serialize()
    assert done.run_method_and_compare_outputs(statistics_callback=found.append) is done
    assert found[0].error_max is not None and found[0].error_max < 1e-5
    assert isinstance(done.get_artifact(), bytes)
    assert isinstance(done.get_artifact(StageType.EXPORT), torch.export.ExportedProgram)


def test_checks_of_the_graph() -> None:
    exported = linear_relu().export()
    relu = "torch.ops.aten.relu.default"
    exported.check([relu]).check_not(["sigmoid"]).check_count({relu: 1})
    exported.check_node_count({torch.ops.aten.relu.default: 1})
    for check, given in (
        (exported.check, ["sigmoid"]), (exported.check_not, [relu]),
        (exported.check_count, {relu: 2}),
    ):  # fmt: skip
        with pytest.raises(RuntimeError):
            check(given)
    with pytest.raises(AssertionError, match="Expected 2 .*relu.* but found 1"):
        exported.check_node_count({torch.ops.aten.relu.default: 2})


def test_stages_have_an_order() -> None:
    with pytest.raises(AssertionError, match="Invalid next stage: StageType.TO_EDGE"):
        linear_relu().to_edge()
    exported = linear_relu().export()
    with pytest.raises(AssertionError, match="Invalid next stage"):
        exported.export()
    with pytest.raises(RuntimeError, match="TO_EDGE has not run; ran so far: EXPORT"):
        exported.get_artifact(StageType.TO_EDGE)


def test_a_wrong_result_is_found() -> None:
    done = linear_relu().export().to_edge()
    program = done.get_artifact().exported_program()
    weight = program.graph_signature.inputs_to_parameters["p_linear_weight"]
    program.state_dict[weight] = nn.Parameter(program.state_dict[weight] + 1)
    with pytest.raises(AssertionError, match="output 0 does not match"):
        done.run_method_and_compare_outputs(inputs=(torch.ones(2, 4),))


def test_passes_run_between_stages() -> None:
    class Manager:
        def __init__(self, program: torch.export.ExportedProgram, passes: list[type]) -> None:
            self.program, self.passes = program, [one() for one in passes]

        def transform(self) -> torch.export.ExportedProgram:
            return ExportedProgramPassManager(self.passes)(self.program).exported_program

    seen = []
    stage = RunPasses(Manager, [NormalizeTransposePass], [lambda ep: seen.append(ep) or ep])
    done = linear_relu().export().to_edge().run_passes(stage).to_executorch().serialize()
    done.run_method_and_compare_outputs(num_runs=2)
    assert len(seen) == 1


def test_sizes_that_vary_are_drawn_within_their_bounds() -> None:
    rows = torch.export.Dim("rows", min=2, max=6)
    varying = Tester(LinearRelu(), (torch.randn(5, 4),), dynamic_shapes=({0: rows},))
    sizes = {varying.generate_random_inputs()[0].shape[0] for _ in range(40)}
    assert sizes == {2, 3, 4, 5}  # not above the example
    varying.export().to_edge().to_executorch().serialize().run_method_and_compare_outputs()


def test_artifacts_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = linear_relu().export().dump_artifact(str(tmp_path / "graph.txt")).dump_artifact()
    assert "aten.linear.default" in (tmp_path / "graph.txt").read_text()
    assert "EXPORT" in capsys.readouterr().out
    done.to_edge().to_executorch().serialize()
    done.run_method_and_compare_outputs(artifact_dir=str(tmp_path), artifact_name="one")
    assert (tmp_path / "one.pte").read_bytes() == done.get_artifact()
    assert (tmp_path / "one_input.bin").stat().st_size == 2 * 4 * 4
    assert (tmp_path / "one_expected_output.bin").stat().st_size == 2 * 3 * 4


def test_errors_are_measured() -> None:
    reference, actual = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([1.0, 2.0, 3.0, 5.0])
    found = ErrorStatistics.from_tensors(actual, reference)
    # the error is (0, 0, 0, 1); |actual|^2 = 39, so 10 log10(39) = 15.911 dB
    assert (found.error_l2_norm, found.error_mae, found.error_max, found.error_msd) == (
        1,
        0.25,
        1,
        0.25,
    )
    assert found.sqnr == pytest.approx(15.911, abs=1e-3)
    assert (found.actual_stats.mean, found.reference_stats.median) == (2.75, 2.0)
    assert ErrorStatistics.from_tensors(torch.ones(3), reference).sqnr is None
