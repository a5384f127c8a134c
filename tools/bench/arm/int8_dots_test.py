# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from executorch.tools.bench.arm.int8_dots import counts_of, table_of

# Two products by two kinds; of the second one bits differ.
LINES = """plain\tQ4_0\t1\t100\taa
plain\tQ8_0\t1\t200\tbb
dot\tQ4_0\t1\t100\taa
dot\tQ8_0\t1\t200\tcc
"""
MARKS = [9, 110, 9, 220, 9, 25, 9, 50]


def test_each_case_is_what_ran_between_its_two_marks() -> None:
    marks = "a warning\n" + "".join(f"mark {number}\n" for number in MARKS)
    lines, same = table_of(counts_of(LINES, marks))
    assert [line.split() for line in lines[1:]] == [
        ["Q4_0", "1", "1.100", "0.250", "-"],
        ["Q8_0", "1", "1.100", "0.250", "-", "different", "bits"],
    ]
    assert not same


def test_a_program_that_stopped_early_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected 2 marks for each of 4 cases, got 1"):
        counts_of(LINES, "mark 5\n")
