# SPDX-License-Identifier: BSD-3-Clause
"""The suite finds what is wrong: each kind of failure, skips, sums, reports."""

from __future__ import annotations

import re
import unittest
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.backends.discovery import backends
from executorch.backends.test.harness import Tester
from executorch.backends.test.harness.stages import Serialize, StageType
from executorch.backends.test.suite import dtype_to_str, operators
from executorch.backends.test.suite.discovery import TestFilter, discover_tests
from executorch.backends.test.suite.flow import TestFlow, all_flows, is_here
from executorch.backends.test.suite.reporting import (
    TestCaseSummary,
    TestResult,
    begin_test_session,
    complete_test_session,
    count_ops,
)
from executorch.backends.test.suite.runner import run_test


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x


class Wrong(Serialize):
    def run_artifact(self, inputs: Any) -> list[Any]:
        return [result + 1 for result in super().run_artifact(inputs)]


class Broken(Serialize):
    def run_artifact(self, inputs: Any) -> list[Any]:
        raise RuntimeError("kernel refused")


def portable(**options: Any) -> TestFlow:
    return TestFlow("mine", "portable", Tester, is_delegated=False, **options)


def run(flow: TestFlow, model: torch.nn.Module | None = None) -> TestCaseSummary:
    return run_test(model or Model(), (torch.randn(3),), flow, "test_x", "test_x", 0, {"n": 1})


def with_serialize(stage: type[Serialize]) -> TestFlow:
    def factory(*args: Any, **options: Any) -> Tester:
        classes = Tester.default_stage_classes() | {StageType.SERIALIZE: stage}
        return Tester(*args, stage_classes=classes, **options)

    return TestFlow("mine", "portable", factory)


def test_a_right_result_is_a_success() -> None:
    summary = run(portable())
    assert summary.error is None and summary.result is TestResult.SUCCESS_UNDELEGATED
    assert summary.undelegated_op_counts == {"aten::add.Tensor": 1}
    assert summary.tensor_error_statistics[0].error_max == 0
    assert summary.pte_size_bytes and not summary.is_delegated()


def test_failures_are_told_apart() -> None:
    class Unexportable(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if x.sum().item() > 0 else -x

    assert run(portable(), Unexportable()).result is TestResult.LOWER_FAIL
    assert run(portable(quantize=True)).result is TestResult.QUANTIZE_FAIL
    assert run(with_serialize(Wrong)).result is TestResult.OUTPUT_MISMATCH_FAIL
    assert run(with_serialize(Broken)).result is TestResult.PTE_RUN_FAIL


def test_flows_skip_by_name_and_by_parameter() -> None:
    skipped = run(portable(skip_patterns=["x"]))
    assert skipped.result is TestResult.SKIPPED
    assert portable(skip_patterns=["x"]).should_skip_test("test_x") == (
        True,
        "Skipped by mine skip_patterns",
    )
    by_value = portable(param_skip_reasons={"n": {1: "one is odd"}})
    assert by_value.should_skip_test("t", {"n": 1}) == (True, "one is odd")
    assert by_value.should_skip_test("t", {"n": 2}) == (False, "")


def test_a_session_sums_and_reports(tmp_path: Path) -> None:
    report = tmp_path / "report.csv"
    begin_test_session(str(report), seed=1)
    with pytest.raises(AssertionError, match="is active"):
        begin_test_session(None, seed=1)
    run(portable())
    run(with_serialize(Wrong))
    run(portable(skip_patterns=["x"]))
    summary = complete_test_session()
    assert (summary.total_passed, summary.total_failed, summary.total_skipped) == (1, 1, 1)
    assert summary.aggregated_results[TestResult.OUTPUT_MISMATCH_FAIL] == 1
    lines = report.read_text().splitlines()
    assert len(lines) == 4 and "Output Mismatch" in lines[2]
    with pytest.raises(AssertionError, match="No test session"):
        complete_test_session()


def test_tests_are_discovered_per_flow() -> None:
    chosen = TestFilter(backends={"portable"}, flows=None, name_regex=re.compile("^test_add"))
    suite = discover_tests(operators, chosen)
    names = {case.id() for case in suite}
    assert "test_add_dtype[portable-torch.float32]" in names
    assert all(name.startswith("test_add") and "[portable" in name for name in names)
    result = unittest.TestResult()
    suite.run(result)
    assert result.testsRun == 3 and result.wasSuccessful()


def test_every_backend_that_runs_here_has_flows() -> None:
    """And none has them whose compiler is not here."""
    flows = all_flows()
    lowers = {name: each for name, each in backends().items() if not each.why_absent()}
    runs = {name for name, each in lowers.items() if is_here(each)}
    found = {flow.backend for flow in flows.values()} - {"portable"}
    assert runs <= found <= set(lowers)
    assert flows["xnnpack_static_int8_per_tensor"].quantize


def test_operators_are_counted_over_methods() -> None:
    program = torch.export.export(Model(), (torch.randn(3),))
    assert count_ops({"a": program, "b": program}) == {"aten::add.Tensor": 2}
    assert dtype_to_str(torch.float32) == "float32"
