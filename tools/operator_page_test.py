# SPDX-License-Identifier: BSD-3-Clause
"""The page of operators is current, and counts what it should."""

from __future__ import annotations

import pytest

from tools.operator_page import PAGE, core_out_variants, missing, page


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == page(), "run python -m tools.operator_page"


def test_core_operators_are_found_with_their_out_variants() -> None:
    core = core_out_variants()
    assert core["aten::add.Tensor"] == ["aten::add.out"]
    assert len(core) > 150


@pytest.mark.req("KS-C04")
def test_every_core_operator_with_an_out_variant_has_a_kernel() -> None:
    assert missing() == []
