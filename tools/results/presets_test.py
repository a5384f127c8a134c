# SPDX-License-Identifier: BSD-3-Clause
"""The page of presets is current, and has them all."""

from __future__ import annotations

from tools.results.presets import PAGE, PROOFS, ROOT, options, page, variables_of_presets


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == page(), "run python -m executorch.tools.results.presets"


def test_each_preset_has_a_row_and_each_proof_a_file() -> None:
    assert set(PROOFS) == set(variables_of_presets())
    for proof in PROOFS.values():
        for path in (proof.configured, proof.built, proof.ran):
            assert not path or (ROOT / path).is_file(), path
        assert proof.configured or not proof.built
        assert proof.built or not proof.ran


def test_a_preset_takes_what_it_inherits() -> None:
    assert variables_of_presets()["asan"]["EXECUTORCH_BUILD_TESTS"] == "ON"
    assert options(variables_of_presets()["minsize"])["EXECUTORCH_BUILD_PTHREADPOOL"] == "OFF"
