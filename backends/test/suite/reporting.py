# SPDX-License-Identifier: BSD-3-Clause
"""What became of each test case, and the sums of a session."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from pathlib import Path

from torch._ops import OpOverload
from torch.export import ExportedProgram

from executorch.backends.test.harness.error_statistics import ErrorStatistics
from executorch.backends.test.harness.stages import StageType
from executorch.exir.dialects.edge._ops import EdgeOpOverload


class TestResult(IntEnum):
    __test__ = False

    SUCCESS = 0  # delegated, outputs right
    SUCCESS_UNDELEGATED = 1  # outputs right, nothing delegated
    SKIPPED = 2
    QUANTIZE_FAIL = 3
    LOWER_FAIL = 4
    PTE_LOAD_FAIL = 5
    PTE_RUN_FAIL = 6
    OUTPUT_MISMATCH_FAIL = 7
    UNKNOWN_FAIL = 8

    def is_success(self) -> bool:
        return self in (TestResult.SUCCESS, TestResult.SUCCESS_UNDELEGATED)

    def is_non_backend_failure(self) -> bool:
        """Not run for a reason outside the backend."""
        return self is TestResult.SKIPPED

    def is_backend_failure(self) -> bool:
        return not self.is_success() and not self.is_non_backend_failure()

    def to_short_str(self) -> str:
        if self.is_success():
            return "Pass"
        return "Skip" if self is TestResult.SKIPPED else "Fail"

    def to_detail_str(self) -> str:
        return _DETAILS.get(self, "")

    def display_name(self) -> str:
        return _DISPLAYED[self]


_DETAILS = {
    TestResult.QUANTIZE_FAIL: "Quantization Failed",
    TestResult.LOWER_FAIL: "Lowering Failed",
    TestResult.PTE_LOAD_FAIL: "PTE Load Failed",
    TestResult.PTE_RUN_FAIL: "PTE Run Failed",
    TestResult.OUTPUT_MISMATCH_FAIL: "Output Mismatch",
    TestResult.UNKNOWN_FAIL: "Unknown Failure",
}
_DISPLAYED = {
    TestResult.SUCCESS: "Success (Delegated)",
    TestResult.SUCCESS_UNDELEGATED: "Success (Undelegated)",
    TestResult.SKIPPED: "Skipped",
    TestResult.QUANTIZE_FAIL: "Fail (Quantize)",
    TestResult.LOWER_FAIL: "Fail (Lowering)",
    TestResult.PTE_LOAD_FAIL: "Fail (PTE Load)",
    TestResult.PTE_RUN_FAIL: "Fail (PTE Run)",
    TestResult.OUTPUT_MISMATCH_FAIL: "Fail (Output Mismatch)",
    TestResult.UNKNOWN_FAIL: "Fail (Other)",
}


@dataclass
class TestCaseSummary:
    __test__ = False

    backend: str
    base_name: str
    flow: str
    name: str
    subtest_index: int
    params: dict | None
    result: TestResult
    error: Exception | None
    tensor_error_statistics: list[ErrorStatistics]
    quantize_time: timedelta | None = None
    lower_time: timedelta | None = None
    delegated_op_counts: Counter | None = None
    undelegated_op_counts: Counter | None = None
    pte_size_bytes: int | None = None
    failed_stage: StageType | None = None

    def is_delegated(self) -> bool:
        return bool(self.delegated_op_counts)


@dataclass
class TestSessionState:
    __test__ = False

    seed: int
    has_written_report_header: bool = False
    report_path: str | None = None
    test_case_summaries: list[TestCaseSummary] = field(default_factory=list)


@dataclass
class RunSummary:
    aggregated_results: dict[TestResult, int]
    num_test_cases: int
    test_case_summaries: list[TestCaseSummary]
    total_failed: int
    total_passed: int
    total_skipped: int

    @classmethod
    def from_session(cls, session: TestSessionState) -> RunSummary:
        cases = session.test_case_summaries
        return cls(
            aggregated_results=dict(sorted(Counter(case.result for case in cases).items())),
            num_test_cases=len(cases),
            test_case_summaries=cases,
            total_failed=sum(case.result.is_backend_failure() for case in cases),
            total_passed=sum(case.result.is_success() for case in cases),
            total_skipped=sum(case.result.is_non_backend_failure() for case in cases),
        )


_session: list[TestSessionState] = []  # the active one, or none


def begin_test_session(report_path: str | None, seed: int) -> None:
    assert not _session, "A test session is active; complete_test_session() ends it."
    _session.append(TestSessionState(seed=seed, report_path=report_path))


def get_active_test_session() -> TestSessionState | None:
    return _session[-1] if _session else None


def complete_test_session() -> RunSummary:
    assert _session, "No test session is active; begin_test_session() starts one."
    return RunSummary.from_session(_session.pop())


_COLUMNS = ("name", "base_name", "backend", "flow", "subtest_index", "params", "result", "details",
            "quantize_time", "lower_time", "delegated", "undelegated", "pte_size_bytes")  # fmt: skip


def log_test_summary(summary: TestCaseSummary) -> None:
    """Adds a case to the active session, and a line to its report."""
    session = get_active_test_session()
    if session is None:
        return
    session.test_case_summaries.append(summary)
    if session.report_path is None:
        return
    with Path(session.report_path).open("a", newline="") as file:
        writer = csv.writer(file)
        if not session.has_written_report_header:
            writer.writerow(_COLUMNS)
            session.has_written_report_header = True
        counts = (summary.delegated_op_counts, summary.undelegated_op_counts)
        times = (summary.quantize_time, summary.lower_time)
        writer.writerow([
            summary.name, summary.base_name, summary.backend, summary.flow, summary.subtest_index,
            summary.params or "", summary.result.to_short_str(), summary.result.to_detail_str(),
            *(f"{time.total_seconds():.3f}" if time is not None else "" for time in times),
            *(count.total() if count is not None else "" for count in counts),
            summary.pte_size_bytes if summary.pte_size_bytes is not None else "",
        ])  # fmt: skip


def count_ops(program: Mapping[str, ExportedProgram] | ExportedProgram) -> Counter:
    """Operator (`aten::add.Tensor`) -> the number of its calls, in all methods; what is delegated is not among them."""
    programs = program.values() if isinstance(program, Mapping) else [program]
    return Counter(
        node.target.name()
        for each in programs
        for node in each.graph.nodes
        if isinstance(node.target, OpOverload | EdgeOpOverload)
    )
