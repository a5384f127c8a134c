# SPDX-License-Identifier: BSD-3-Clause
"""Networks as a whole: what is delegated, and LiteRT's results call by call beside PyTorch's; a sample of the corpus,
and what 1.4.1 delegates of the same networks."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from executorch.backends.nxp.test import networks, stand_in
from executorch.backends.nxp.test.corpus_values import QUANTUM, WHOLE, WRONG, compared, outcome_of
from executorch.backends.test.conformance.lowered import lower
from executorch.backends.test.corpus import rows
from executorch.test.interop import peer

pytestmark = [
    pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing()),
    pytest.mark.usefixtures("stand_in_sdk"),
]
LEFT = {"cifar": {"aten._softmax.default": 1}}  # of 10 channels, no multiple of 8


@pytest.mark.parametrize("name", networks.NETWORKS)
def test_networks(name: str) -> None:
    model, x = networks.made(name)
    lowered = lower(stand_in.backend(), model, (x,))
    found = compared(lowered, (x,))
    left = {each: count for each, count in found.left.items() if "quantized_decomposed" not in each}
    assert left == LEFT.get(name, {}) and len(lowered.delegates) == 1
    assert found.quanta <= QUANTUM, found.text
    results, expected = lowered.runner()(x)[0], model(x)
    assert float((results - expected).norm() / expected.norm()) < 0.2


def _sampled() -> list[str]:
    return [each.id for each in rows() if each.family in ("convolutions", "calls")][::23]


@pytest.mark.parametrize("name", _sampled())
def test_rows_of_the_corpus(name: str) -> None:
    (row,) = (each for each in rows() if each.id == name)
    found = outcome_of(row)
    assert found.kind not in (WRONG, "failed"), found.text
    assert found.kind != WHOLE or found.calls > 0


@pytest.mark.full
def test_no_network_has_fewer_calls_delegated_than_the_released_package(tmp_path: Path) -> None:
    python = peer.python()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(stand_in.SDK), *_litert()])}
    ran = subprocess.run(
        [str(python), str(Path(networks.__file__))],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    theirs = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [each["network"] for each in theirs] == list(networks.NETWORKS)
    for each in theirs:
        if isinstance(each["left"], dict):  # else it ends in an error
            ours = networks.left_of(each["network"])
            assert sum(ours.values()) <= sum(each["left"].values()), (each, Counter(ours))


def _litert() -> list[str]:
    import ai_edge_litert

    return [str(Path(next(iter(ai_edge_litert.__path__))).parent)]


def test_the_script_says_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    networks.main(["linear layers"])
    assert json.loads(capsys.readouterr().out) == {"network": "linear layers", "left": {}}
