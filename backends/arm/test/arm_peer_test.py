# SPDX-License-Identifier: BSD-3-Clause
"""TOSA graphs beside those of ExecuTorch 1.4.1 for the same module, inputs and seed: operators, attributes, and the
bytes of the constants that each reads, in any order."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.test import arm_peer_networks
from executorch.exir.backend.lowering.external_tool import tool_path

PEER = os.environ.get("EXECUTORCH_PEER_PYTHON", "")
MODEL = tool_path("arm", "tosa_reference_model")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not PEER or MODEL is None, reason="needs EXECUTORCH_PEER_PYTHON and TOSA's packages"
    ),
]


def operators(graph: bytes) -> Counter[Any]:
    """Each with its attributes, and with the constants among its inputs; zeros, as the zero points of channels, are
    one zero."""
    (block,) = SCHEMA.unpack(graph).regions[0].blocks
    constants = (each for each in (*block.tensors, *block.shapes) if each.data)
    data = {each.name: bytes(each.data).strip(b"\0") and bytes(each.data) for each in constants}
    found: Counter[Any] = Counter()
    for each in block.operators:
        if not each.op.name.startswith("CONST"):
            read = tuple(data[name] for name in each.inputs if name in data)
            found[each.op.name, str(_fields(each.attribute)), read] += 1
    return found


def _fields(attribute: Any) -> Any:
    return dataclasses.asdict(attribute) if dataclasses.is_dataclass(attribute) else attribute


def test_graphs_are_equal(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    (packages,) = MODEL.parent.parent.glob("lib/python3*/site-packages")
    script = Path(arm_peer_networks.__file__)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [PEER, str(script), str(theirs), str(packages)], capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stderr[-2000:]
    arm_peer_networks.write(ours)
    other = [
        name
        for name in arm_peer_networks.EQUAL
        if operators((ours / f"{name}.tosa").read_bytes())
        != operators((theirs / f"{name}.tosa").read_bytes())
    ]
    assert other == []
