# SPDX-License-Identifier: BSD-3-Clause
"""Facts of operators: known words only, the same for all overloads of a name where they are read by name."""

from __future__ import annotations

from collections import defaultdict

import pytest
import torch

from executorch.exir.operator.facts import KINDS_OF_WORK, facts_by_name, operator_facts
from executorch.exir.operator.served import has_kernel_for


def test_facts_are_known_words() -> None:
    for name, facts in operator_facts().items():
        assert facts.work in KINDS_OF_WORK, name
        assert facts.is_data_movement in (True, False) and facts.complex in (True, False, None), (
            name
        )


@pytest.mark.parametrize("fact", ["work", "is_data_movement"])
def test_overloads_of_a_name_agree(fact: str) -> None:
    by_name = defaultdict(set)
    for full, facts in operator_facts().items():
        if not full.startswith("quantized_decomposed::"):
            by_name[full.partition("::")[2].partition(".")[0]].add(getattr(facts, fact))
    assert {name for name, values in by_name.items() if len(values) > 1} == set()


def test_a_row_says_which_dtypes_its_kernels_take() -> None:
    aten = torch.ops.aten
    assert has_kernel_for(aten.cat.out, torch.uint16) and not has_kernel_for(
        aten.add.out, torch.uint16
    )
    assert has_kernel_for(aten.add.out, torch.complex64)
    assert not has_kernel_for(aten.amax.out, torch.complex64)
    assert operator_facts()["aten::add.out"].complex is True
    assert facts_by_name()["add"].complex is None and facts_by_name()["amax"].complex is False
