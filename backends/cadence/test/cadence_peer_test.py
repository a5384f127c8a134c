# SPDX-License-Identifier: BSD-3-Clause
"""Operators beside those of ExecuTorch 1.4.1: the same schemas, and the same results of drawn arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from executorch.backends.cadence.aot.ops_registrations import LIBRARY
from executorch.backends.cadence.test import cadence_peer_operators
from executorch.backends.cadence.test.drawn import arguments
from executorch.test.interop.peer import run

pytestmark = pytest.mark.full
CASES = 12
WITHOUT_KERNEL = {"cadence::roi_align_box_processor", "cadence::roi_align_box_processor.out"}
# Where it is wrong, or has another form: docs/compatibility.md.
DIFFERENT = {
    "avg_pool2d",  # its means of stored values count padding as 0
    "linalg_svd",  # signs are free
    "quantized_w8a32_gru",  # it repeats the state for each input value
    "rope_rotate_stacked_halves",  # it mixes the heads of several rows
}
# Its results of these may be a step away: it sums in float32.
STEPS = {"quantized_conv": 1}


def normalized(schema: str) -> str:
    """Without the names of results, which nobody can say."""
    start, _, results = schema.partition(" -> ")
    words = results.strip("()").replace(",", "").split()
    return f"{start} -> {' '.join(each for each in words if each.startswith('Tensor'))}"


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("peer")
    drawn = {
        (name, case): arguments(name, case) for name in LIBRARY.names() for case in range(CASES)
    }
    torch.save(drawn, folder / "arguments")
    run(cadence_peer_operators.__file__, folder / "arguments", folder / "results")
    return torch.load(folder / "results", weights_only=False)


@pytest.mark.req("NPU-050")
def test_schemas_are_the_same(peer: dict[str, Any]) -> None:
    ours = {
        normalized(str(each))
        for each in torch._C._jit_get_all_schemas()
        if each.name.startswith("cadence::")
    }
    theirs = {
        normalized(each) for each in peer["schemas"] if each.partition("(")[0] not in WITHOUT_KERNEL
    }
    assert ours == theirs and len(ours) >= 180


def _is_near(name: str, ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return False
    if ours.is_floating_point():
        return torch.allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    steps = next((most for start, most in STEPS.items() if name.startswith(start)), 0)
    return int((ours.long() - theirs.long()).abs().max()) <= steps


def test_results_are_the_same(peer: dict[str, Any]) -> None:
    compared: set[str] = set()
    for (name, case), theirs in peer["results"].items():
        if isinstance(theirs, str) or name in DIFFERENT:
            continue
        packet, _, overload = name.partition(".")
        operator = getattr(getattr(torch.ops.cadence, packet), overload or "default")
        pairs = zip(
            pytree.tree_leaves(operator(*arguments(name, case))),
            pytree.tree_leaves(theirs),
            strict=True,
        )
        assert all(_is_near(name, *each) for each in pairs), f"{name}, case {case}"
        compared.add(name)
    missing = set(LIBRARY.names()) - compared - DIFFERENT
    # It has no formulas of these, or they refuse the masks that its compiler makes.
    assert missing == {
        "quantized_add_Scalar", "quantized_mul", "quantized_mul_Scalar", "quantized_softmax",
        "quantized_softmax.per_tensor", "quantized_transposed_conv",
    }  # fmt: skip
