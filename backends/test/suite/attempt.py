# SPDX-License-Identifier: BSD-3-Clause
"""Takes a model through the stages of a flow to a program, and notes in a summary what came of each."""

from __future__ import annotations

import random
import time
import unittest
import zlib
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch

from executorch.backends.test.harness import Tester
from executorch.backends.test.harness.stages import Export, StageType
from executorch.backends.test.suite.flow import TestFlow
from executorch.backends.test.suite.reporting import (
    TestCaseSummary,
    TestResult,
    count_ops,
    get_active_test_session,
)
from executorch.exir.lowered_backend_module import get_lowered_backend_modules


class Failed(Exception):
    def __init__(
        self, result: TestResult, error: Exception, stage: StageType | None = None
    ) -> None:
        super().__init__(result, error)
        self.result, self.error, self.stage = result, error, stage

    def note(self, summary: TestCaseSummary) -> None:
        summary.result, summary.error = self.result, self.error
        summary.failed_stage = self.stage


def begin_case(
    flow: TestFlow, name: str, base_name: str, subtest_index: int = 0, params: dict | None = None
) -> TestCaseSummary:
    """Random numbers of the case are those of its name and the session's seed."""
    session = get_active_test_session()
    seed = (session.seed if session else 0) ^ zlib.crc32(base_name.encode())
    torch.manual_seed(seed)
    random.seed(seed)
    return TestCaseSummary(
        backend=flow.backend, base_name=base_name, flow=flow.name, name=name,
        subtest_index=subtest_index, params=params, result=TestResult.UNKNOWN_FAIL, error=None,
        tensor_error_statistics=[],
    )  # fmt: skip


def skip_if_asked(flow: TestFlow, name: str, params: dict | None = None) -> None:
    skip, why = flow.should_skip_test(name, params)
    if skip:
        raise Failed(TestResult.SKIPPED, unittest.SkipTest(why))


def make_program(
    summary: TestCaseSummary,
    flow: TestFlow,
    model: torch.nn.Module,
    inputs: Any,
    dynamic_shapes: Any = None,
    export: Export | None = None,
) -> Tester:
    """Raises Failed."""
    try:
        tester = flow.tester_factory(model, inputs, dynamic_shapes=dynamic_shapes)
    except Exception as error:
        raise Failed(TestResult.UNKNOWN_FAIL, error) from error
    if flow.quantize:
        stage = flow.quantize_stage_factory() if flow.quantize_stage_factory else None
        summary.quantize_time = _timed(
            lambda: tester.quantize(stage), TestResult.QUANTIZE_FAIL, StageType.QUANTIZE
        )
    exporting = _timed(lambda: tester.export(export), TestResult.LOWER_FAIL, StageType.EXPORT)
    last = StageType.TO_EDGE_TRANSFORM_AND_LOWER
    summary.lower_time = exporting + _timed(lambda: _lower(tester), TestResult.LOWER_FAIL, last)
    count_calls(summary, tester)
    _timed(lambda: tester.to_executorch(), TestResult.LOWER_FAIL, StageType.TO_EXECUTORCH)
    if flow.supports_serialize:
        _timed(lambda: tester.serialize(), TestResult.PTE_LOAD_FAIL, StageType.SERIALIZE)
        summary.pte_size_bytes = len(tester.get_artifact())
    return tester


def count_calls(summary: TestCaseSummary, tester: Tester) -> None:
    program = tester.get_artifact().exported_program()
    summary.undelegated_op_counts = count_ops(program)
    lowered = get_lowered_backend_modules(program.graph_module)
    summary.delegated_op_counts = sum(
        (count_ops(each.original_module) for each in lowered), start=Counter()
    )


def success_of(summary: TestCaseSummary) -> TestResult:
    delegated = summary.is_delegated()
    return TestResult.SUCCESS if delegated else TestResult.SUCCESS_UNDELEGATED


def _timed(step: Callable[[], Any], otherwise: TestResult, stage: StageType) -> timedelta:
    start = time.perf_counter()
    try:
        step()
    except Exception as error:
        raise Failed(otherwise, error, stage) from error
    return timedelta(seconds=time.perf_counter() - start)


def _lower(tester: Tester) -> None:
    if StageType.TO_EDGE_TRANSFORM_AND_LOWER not in tester.stage_classes:
        tester.to_edge().partition()
    else:
        tester.to_edge_transform_and_lower()
