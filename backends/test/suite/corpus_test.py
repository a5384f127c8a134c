# SPDX-License-Identifier: BSD-3-Clause
"""The corpus is sound, and what becomes of its rows is told rightly. The rows run in operators/ and models/."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import torch

from executorch.backends.test.corpus import rows
from executorch.backends.test.corpus.row import ORDERS, Row, row
from executorch.backends.test.harness import Tester
from executorch.backends.test.harness.stages import Serialize, StageType
from executorch.backends.test.suite.flow import TestFlow, all_flows
from executorch.backends.test.suite.rows import (
    ACCEPTED,
    KERNELS,
    REFUSED,
    TORCH,
    WRONG,
    kind_of,
    problem_of,
    run_row,
    table,
)

OTHER_ORDERS = [order for order in ORDERS if order != "plain"]
IN_ANY_ORDER = ["portable", "xnnpack", "vulkan"]
SAMPLE = 48  # every so many rows in the usual tests, all in test-full


def test_rows_have_names_of_their_own() -> None:
    names = Counter(each.id for each in rows())
    assert [name for name, count in names.items() if count > 1] == []
    assert len(names) > 500


def test_rows_are_the_same_in_every_process() -> None:
    """Weights are drawn when the corpus is made, whatever was drawn before."""
    by_id = {each.id: each for each in rows()}
    weight = by_id["convolutions/linear"].code.weight
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    rows.cache_clear()
    assert torch.equal(
        {each.id: each for each in rows()}["convolutions/linear"].code.weight, weight
    )
    assert torch.equal(torch.random.get_rng_state(), before)


class Wrong(Serialize):
    def run_artifact(self, inputs: Any) -> list[Any]:
        return [result + 1 for result in super().run_artifact(inputs)]


def _flow(stage: type[Serialize] = Serialize) -> TestFlow:
    def factory(*args: Any, **options: Any) -> Tester:
        classes = Tester.default_stage_classes() | {StageType.SERIALIZE: stage}
        return Tester(*args, stage_classes=classes, **options)

    return TestFlow("mine", "portable", factory)


def test_what_becomes_of_a_row_is_told() -> None:
    x = torch.randn(3, 4)
    right = row("sum", lambda x: x + x, x, family="mine")
    unserved = row("erfinv", torch.erfinv, x.tanh(), family="mine")
    unknown = row("item", lambda x: x if x.sum() > 0 else -x, x, family="mine")
    found = [
        (flow.name, each, run_row(each, flow))
        for each, flow in [
            (right, _flow()),
            (right, replace(_flow(Wrong), name="off by one")),
            (unserved, _flow()),
            (unknown, _flow()),
        ]
    ]
    assert [kind_of(summary) for _, _, summary in found] == [KERNELS, WRONG, REFUSED, TORCH]
    problems = [problem_of(each, summary) for _, each, summary in found]
    assert problems[0] == "" and all(problems[1:]), problems
    assert problem_of(replace(unserved, refused="aten::erfinv"), found[2][2]) == ""
    assert "expected aten::other" in problem_of(
        replace(unserved, refused="aten::other"), found[2][2]
    )
    assert problem_of(replace(unknown, is_exported=False), found[3][2]) == ""
    lines = table(found).splitlines()
    assert len(lines) == 3 and lines[2].split()[:2] == ["off", "by"]


def test_refusals_name_the_users_line() -> None:
    (erfinv,) = (each for each in rows() if each.name == "erfinv")
    assert 'File "' in str(run_row(erfinv, all_flows()["portable"]).error)


def _check_order(each: Row, order: str, flow: str) -> None:
    """Some views of another order torch.export itself refuses."""
    summary = run_row(each.in_order(order), all_flows()[flow])
    assert kind_of(summary) in (*ACCEPTED, REFUSED, TORCH), summary.error


@pytest.mark.parametrize("flow", IN_ANY_ORDER)
@pytest.mark.parametrize("order", OTHER_ORDERS)
@pytest.mark.parametrize("row", rows()[5::SAMPLE], ids=lambda row: row.id)
def test_a_sample_works_whatever_the_order_in_memory(row: Row, order: str, flow: str) -> None:
    _check_order(row, order, flow)


@pytest.mark.full
@pytest.mark.parametrize("flow", IN_ANY_ORDER)
@pytest.mark.parametrize("order", OTHER_ORDERS)
@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
def test_every_row_works_whatever_the_order_in_memory(row: Row, order: str, flow: str) -> None:
    _check_order(row, order, flow)
