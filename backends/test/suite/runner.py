# SPDX-License-Identifier: BSD-3-Clause
"""Runs one model through one flow, and suites of such tests.

usage: python -m executorch.backends.test.suite.runner operators --backend xnnpack --filter add
"""

from __future__ import annotations

import argparse
import importlib
import re
import unittest
from typing import Any

import torch

from executorch.backends.test.harness import Tester
from executorch.backends.test.harness.error_statistics import ErrorStatistics
from executorch.backends.test.suite.attempt import (
    Failed,
    begin_case,
    make_program,
    skip_if_asked,
    success_of,
)
from executorch.backends.test.suite.discovery import TestFilter, discover_tests
from executorch.backends.test.suite.flow import TestFlow
from executorch.backends.test.suite.reporting import (
    RunSummary,
    TestCaseSummary,
    TestResult,
    begin_test_session,
    complete_test_session,
    log_test_summary,
)

# Of int8 values, results may be apart by this many steps.
_STEPS = 1


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
    summary = begin_case(flow, test_name, test_base_name, subtest_index, params)
    try:
        skip_if_asked(flow, test_name, params)
        chosen = None if generate_random_test_inputs else inputs
        _run(summary, model, inputs, flow, dynamic_shapes, chosen, artifact_dir)
    except Failed as failed:
        failed.note(summary)
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
    tester = make_program(summary, flow, model, inputs, dynamic_shapes)
    if flow.supports_serialize:
        _compare(summary, tester, chosen, artifact_dir)
    summary.result = success_of(summary)


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
        raise Failed(TestResult.OUTPUT_MISMATCH_FAIL, error) from error
    except Exception as error:
        loads = "load" in str(error)
        kind = TestResult.PTE_LOAD_FAIL if loads else TestResult.PTE_RUN_FAIL
        raise Failed(kind, error) from error


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
