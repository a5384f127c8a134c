# SPDX-License-Identifier: BSD-3-Clause
"""Runs one model through one flow, and suites of such tests.

usage: python -m executorch.backends.test.suite.runner operators --backend xnnpack --filter add
"""

from __future__ import annotations

import argparse
import importlib
import random
import re
import time
import unittest
import zlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch

from executorch.backends.test.harness import Tester
from executorch.backends.test.harness.error_statistics import ErrorStatistics
from executorch.backends.test.harness.stages import StageType
from executorch.backends.test.suite.discovery import TestFilter, discover_tests
from executorch.backends.test.suite.flow import TestFlow
from executorch.backends.test.suite.reporting import (
    RunSummary,
    TestCaseSummary,
    TestResult,
    begin_test_session,
    complete_test_session,
    count_ops,
    get_active_test_session,
    log_test_summary,
)
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

# Of int8 values, results may be apart by this many steps.
_STEPS = 1


class _Failed(Exception):
    def __init__(self, result: TestResult, error: Exception) -> None:
        super().__init__(result, error)
        self.result, self.error = result, error


def _timed(step: Callable[[], Any], otherwise: TestResult) -> timedelta:
    start = time.perf_counter()
    try:
        step()
    except Exception as error:
        raise _Failed(otherwise, error) from error
    return timedelta(seconds=time.perf_counter() - start)


def _lower(tester: Tester) -> None:
    tester.export()
    if StageType.TO_EDGE_TRANSFORM_AND_LOWER not in tester.stage_classes:
        tester.to_edge().partition()
    else:
        tester.to_edge_transform_and_lower()


def run_test(
    model: torch.nn.Module,
    inputs: Any,
    flow: TestFlow,
    test_name: str,
    test_base_name: str,
    subtest_index: int,
    params: dict | None,
    dynamic_shapes: Any | None = None,
    generate_random_test_inputs: bool = True,
    artifact_dir: str | None = None,
) -> TestCaseSummary:
    """Lowers and runs `model` as `flow` says; failures are part of the summary, which the active session gets, too."""
    summary = TestCaseSummary(
        backend=flow.backend, base_name=test_base_name, flow=flow.name, name=test_name,
        subtest_index=subtest_index, params=params, result=TestResult.UNKNOWN_FAIL, error=None,
        tensor_error_statistics=[],
    )  # fmt: skip
    session = get_active_test_session()
    seed = (session.seed if session else 0) ^ zlib.crc32(test_base_name.encode())
    torch.manual_seed(seed)
    random.seed(seed)
    skip, why = flow.should_skip_test(test_name, params)
    try:
        if skip:
            raise _Failed(TestResult.SKIPPED, unittest.SkipTest(why))
        chosen = None if generate_random_test_inputs else inputs
        _run(summary, model, inputs, flow, dynamic_shapes, chosen, artifact_dir)
    except _Failed as failed:
        summary.result, summary.error = failed.result, failed.error
    log_test_summary(summary)
    return summary


def _run(
    summary: TestCaseSummary,
    model: torch.nn.Module,
    inputs: Any,
    flow: TestFlow,
    dynamic_shapes: Any,
    chosen: Any,
    artifact_dir: str | None,
) -> None:
    try:
        tester = flow.tester_factory(model, inputs, dynamic_shapes=dynamic_shapes)
    except Exception as error:
        raise _Failed(TestResult.UNKNOWN_FAIL, error) from error
    if flow.quantize:
        stage = flow.quantize_stage_factory() if flow.quantize_stage_factory else None
        summary.quantize_time = _timed(
            lambda: tester.quantize(stage), otherwise=TestResult.QUANTIZE_FAIL
        )
    summary.lower_time = _timed(lambda: _lower(tester), otherwise=TestResult.LOWER_FAIL)
    program = tester.get_artifact().exported_program()
    summary.undelegated_op_counts = count_ops(program)
    lowered = get_lowered_backend_modules(program.graph_module)
    summary.delegated_op_counts = sum(
        (count_ops(each.original_module) for each in lowered), start=type(count_ops(program))()
    )
    _timed(lambda: tester.to_executorch(), otherwise=TestResult.LOWER_FAIL)
    if not flow.supports_serialize:
        summary.result = TestResult.SUCCESS if lowered else TestResult.SUCCESS_UNDELEGATED
        return
    _timed(lambda: tester.serialize(), otherwise=TestResult.PTE_LOAD_FAIL)
    summary.pte_size_bytes = len(tester.get_artifact())
    _compare(summary, tester, chosen, artifact_dir)
    summary.result = TestResult.SUCCESS if lowered else TestResult.SUCCESS_UNDELEGATED


def _compare(
    summary: TestCaseSummary, tester: Tester, chosen: Any, artifact_dir: str | None
) -> None:
    statistics: list[ErrorStatistics] = summary.tensor_error_statistics
    try:
        tester.run_method_and_compare_outputs(
            inputs=chosen, atol=1e-3, rtol=1e-3, qtol=_STEPS,
            statistics_callback=statistics.append,
            artifact_dir=artifact_dir, artifact_name=summary.name,
        )  # fmt: skip
    except AssertionError as error:
        raise _Failed(TestResult.OUTPUT_MISMATCH_FAIL, error) from error
    except Exception as error:
        loads = "load" in str(error)
        kind = TestResult.PTE_LOAD_FAIL if loads else TestResult.PTE_RUN_FAIL
        raise _Failed(kind, error) from error


def print_summary(summary: RunSummary) -> None:
    print(f"{summary.num_test_cases} cases: {summary.total_passed} passed, "
          f"{summary.total_failed} failed, {summary.total_skipped} skipped")  # fmt: skip
    for result, count in summary.aggregated_results.items():
        print(f"  {count:5} {result.display_name()}")


def runner_main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", nargs="?", default="operators", help="a package of the suite")
    parser.add_argument("-b", "--backend", action="append", help="only flows of this backend")
    parser.add_argument("-l", "--flow", action="append", help="only this flow")
    parser.add_argument("-f", "--filter", help="regular expression over names of tests")
    parser.add_argument("-r", "--report", help="CSV file to write")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begin_test_session(options.report, options.seed)
    chosen = TestFilter(
        backends=set(options.backend) if options.backend else None,
        flows=set(options.flow) if options.flow else None,
        name_regex=re.compile(options.filter) if options.filter else None,
    )
    module = importlib.import_module(f"executorch.backends.test.suite.{options.suite}")
    unittest.TextTestRunner().run(discover_tests(module, chosen))
    print_summary(complete_test_session())


if __name__ == "__main__":
    runner_main()
