# SPDX-License-Identifier: BSD-3-Clause
"""The page of presets is current, and has them all."""

from __future__ import annotations

import pytest

from tools.results.option_builds import BUILDS, documented, file_of_each_value, given
from tools.results.presets import (
    PAGE,
    PROOFS,
    ROOT,
    builds,
    options,
    page,
    values_of_presets,
    variables_of_presets,
)


@pytest.mark.machine("a page of results")
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


def test_every_documented_option_is_built_and_run_with_two_values() -> None:
    """But the level of XNNPACK's own log, a flag of all its files."""
    found = file_of_each_value(builds(values_of_presets()))
    assert len(found) == len(documented()) > 40
    once = [name for name, files in found.items() if len(files) < 2]
    assert once == ["EXECUTORCH_XNNPACK_LOG_LEVEL"]


def test_the_options_of_a_build_stand_in_its_file() -> None:
    for build in BUILDS:
        text = (ROOT / (build.set_in or build.by)).read_text()
        for name in given(build):
            assert name.removeprefix("EXECUTORCH_") in text, f"{name} in {build.by}"
