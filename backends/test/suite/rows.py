# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus through flows: what became of each, and the table of all."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from executorch.backends.test.corpus.row import Row
from executorch.backends.test.harness import Tester
from executorch.backends.test.harness.stages import Export, StageType
from executorch.backends.test.suite.attempt import (
    Failed,
    begin_case,
    make_program,
    skip_if_asked,
    success_of,
)
from executorch.backends.test.suite.flow import TestFlow
from executorch.backends.test.suite.reporting import TestCaseSummary, TestResult, log_test_summary
from executorch.exir.error import ExportError

# What a row and a flow are to each other.
WHOLE, PART, KERNELS = "whole", "in part", "kernels"  # accepted: who computes it
REFUSED, TORCH, SKIPPED = "refused", "torch", "skipped"  # exporting says why; torch.export does
WRONG, FAILED = "wrong", "failed"  # never
KINDS = (WHOLE, PART, KERNELS, REFUSED, TORCH, SKIPPED, WRONG, FAILED)
ACCEPTED = (WHOLE, PART, KERNELS)
# What rounding to 8 bits in other places than the exported program's may come to.
_STEPS = 1
# What the error of such a program may be, beside that of the exported one.
_TIMES = 1.5


def run_row(row: Row, flow: TestFlow) -> TestCaseSummary:
    """A quantized flow runs it at its example's sizes, beside the quantized program; others beside the module."""
    if flow.quantize:
        row = row.static()
    name = f"{row.id}[{flow.name}]"
    summary = begin_case(flow, name, row.id, params={"row": row.id})
    try:
        skip_if_asked(flow, name, summary.params)
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            tester = make_row(summary, row, flow)
            if flow.supports_serialize:
                compare(row, flow, tester, tester.stages[StageType.SERIALIZE].run_artifact)
        summary.result = success_of(summary)
    except Failed as failed:
        failed.note(summary)
    log_test_summary(summary)
    return summary


def make_row(summary: TestCaseSummary, row: Row, flow: TestFlow) -> Tester:
    export = Export(row.shapes(), strict=False)
    return make_program(summary, flow, row.module(), row.inputs, row.shapes(), export)


def compare(
    row: Row, flow: TestFlow, tester: Tester, run: Callable[[tuple[Any, ...]], list[Any]]
) -> None:
    """Results of `run` for all calls of the row; raises Failed."""
    reference, step = row.module(), 0.0
    if flow.quantize:
        exported = tester.get_artifact(StageType.EXPORT)
        reference, step = exported.module(), tester.output_step()
    least, texts = max(row.tolerance, flow.tolerance), []
    all_found, all_wanted = [], []
    for inputs in row.calls:
        expected = reference(*pytree.tree_map_only(torch.Tensor, torch.clone, inputs))
        try:
            all_found.append(run(inputs))
        except Exception as error:
            raise Failed(TestResult.PTE_RUN_FAIL, error, StageType.SERIALIZE) from error
        all_wanted.append(pytree.tree_leaves(expected))
        texts.append(difference(row, all_found[-1], all_wanted[-1], least, _STEPS * (step or 0.0)))
    if any(texts) and not (flow.quantize and _are_as_near(row, all_found, all_wanted)):
        raise Failed(TestResult.OUTPUT_MISMATCH_FAIL, AssertionError(next(filter(None, texts))))


def difference(
    row: Row, found: list[Any], expected: list[Any], tolerance: float, step: float = 0.0
) -> str:
    """Where results are not those of eager; "" where they are."""
    if len(found) != len(expected):
        return f"{len(found)} results, eager has {len(expected)}"
    for have, want in zip(found, expected, strict=True):
        if not isinstance(want, torch.Tensor):
            if have != want:
                return f"{have}, eager has {want}"
            continue
        if have.shape != want.shape or have.dtype != want.dtype:
            return f"{have.dtype}{list(have.shape)}, eager has {want.dtype}{list(want.shape)}"
        if row.is_random:
            continue
        try:
            torch.testing.assert_close(
                have, want, rtol=tolerance, atol=tolerance + step, equal_nan=True,
                check_stride=False,
            )  # fmt: skip
        except AssertionError as error:
            return str(error)
    return ""


def _are_as_near(
    row: Row, all_found: Sequence[list[Any]], all_quantized: Sequence[list[Any]]
) -> bool:
    """Whether results of all calls together are as near to those of the floats as the quantized program's, of which
    each quantized value may be rounded to another neighbour here, as dynamic scales are found in another way."""
    off = torch.zeros(2, dtype=torch.float64)
    for inputs, found, quantized in zip(row.calls, all_found, all_quantized, strict=True):
        exact = pytree.tree_leaves(row.module()(*inputs))
        for have, want, value in zip(found, quantized, exact, strict=True):
            if not isinstance(value, torch.Tensor) or not value.is_floating_point():
                return False
            if have.shape != value.shape or have.dtype != value.dtype:
                return False
            off += (
                torch.stack([(have - value).double().norm(), (want - value).double().norm()]) ** 2
            )
    return bool(off[0] <= _TIMES**2 * off[1])


def kind_of(summary: TestCaseSummary) -> str:
    """One of KINDS."""
    if summary.result.is_success():
        left = sum((summary.undelegated_op_counts or Counter()).values())
        return KERNELS if not summary.is_delegated() else PART if left else WHOLE
    if summary.result is TestResult.SKIPPED:
        return SKIPPED
    if summary.result is TestResult.OUTPUT_MISMATCH_FAIL:
        return WRONG
    if isinstance(summary.error, ExportError):
        return REFUSED
    return TORCH if summary.failed_stage is StageType.EXPORT else FAILED


def problem_of(row: Row, summary: TestCaseSummary) -> str:
    """Why the outcome is none that the row allows; "" where it is. A delegate may take what kernels refuse."""
    kind, text = kind_of(summary), str(summary.error or "")
    if kind in ACCEPTED or kind == SKIPPED:
        return ""
    is_captured = summary.failed_stage in (StageType.EXPORT, StageType.QUANTIZE)
    if is_captured and not row.is_exported:  # quantization captures the module, too
        return ""
    if summary.failed_stage is StageType.QUANTIZE and "is not finite" in text and not row.is_finite:
        return ""  # torch's histograms say it
    if kind == REFUSED and row.refused:
        return "" if re.search(row.refused, text) else f"expected {row.refused} in: {text}"
    return f"{kind}: {type(summary.error).__name__}: {text}"


def table(found: Iterable[tuple[str, Row, TestCaseSummary]]) -> str:
    """Rows by driver: (driver, row, what became of it)."""
    counts: dict[str, Counter[str]] = {}
    for driver, _, summary in found:
        counts.setdefault(driver, Counter())[kind_of(summary)] += 1
    width = max((len(driver) for driver in counts), default=0)
    lines = [f"{'driver':{width}}  {'rows':>5}" + "".join(f"{kind:>9}" for kind in KINDS)]
    for driver, kinds in counts.items():
        numbers = "".join(f"{kinds[kind]:9}" for kind in KINDS)
        lines.append(f"{driver:{width}}  {kinds.total():5}{numbers}")
    return "\n".join(lines)
