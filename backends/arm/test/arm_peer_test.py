# SPDX-License-Identifier: BSD-3-Clause
"""TOSA graphs beside those of ExecuTorch 1.4.1 for the same module, inputs and seed: operators, attributes, and the
bytes of the constants that each reads, in any order. Files of both go both ways."""

from __future__ import annotations

import dataclasses
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.ethosu.payload import read
from executorch.backends.arm.test import arm_peer_networks
from executorch.backends.arm.test.arm_reference import run_all
from executorch.exir.backend.lowering.external.tool import tool_path
from executorch.exir.backend.lowering.payload.blocks import ETHOS_U_BLOCKS
from executorch.test.interop import peer

MODEL = tool_path("arm", "tosa_reference_model")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(MODEL is None, reason="needs TOSA's packages"),
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


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Ours and theirs: graphs and payloads of both, and ours as 1.4.1's tool dumps them."""
    ours, theirs = tmp_path_factory.mktemp("ours"), tmp_path_factory.mktemp("theirs")
    arm_peer_networks.write(ours)
    arm_peer_networks.write_compiled(ours)
    (packages,) = MODEL.parent.parent.glob("lib/python3*/site-packages")
    tools = f"{MODEL.parent}{os.pathsep}{os.environ['PATH']}"
    peer.run(arm_peer_networks.__file__, theirs, packages, f"--dump={ours}", PATH=tools)
    return ours, theirs


def test_graphs_are_equal(folders: tuple[Path, Path]) -> None:
    ours, theirs = folders
    other = [
        name
        for name in arm_peer_networks.EQUAL
        if operators((ours / f"{name}.tosa").read_bytes())
        != operators((theirs / f"{name}.tosa").read_bytes())
    ]
    assert other == []


def test_their_graphs_are_read_and_written_again(folders: tuple[Path, Path]) -> None:
    """Nothing is lost: what is written reads as what was read, and the reference model computes the same."""
    _, theirs = folders
    for path in sorted(theirs.glob("*.tosa")):
        graph = SCHEMA.unpack(path.read_bytes())
        written = SCHEMA.pack(graph)
        assert SCHEMA.unpack(written) == graph, path.name
        (block,) = graph.regions[0].blocks
        shapes = {each.name: list(each.shape) for each in block.tensors}
        torch.manual_seed(0)
        inputs = [torch.randint(-128, 128, shapes[name], dtype=torch.int8) for name in block.inputs]
        results = run_all([(path.read_bytes(), inputs), (written, inputs)])
        assert all(map(torch.equal, *results)), path.name


def test_their_payloads_are_read_and_written_again(folders: tuple[Path, Path]) -> None:
    """Byte for byte; and of equal graphs Vela makes the same commands."""
    ours, theirs = folders
    for name in arm_peer_networks.COMPILED:
        data = (theirs / f"{name}.bin").read_bytes()
        assert ETHOS_U_BLOCKS.write(ETHOS_U_BLOCKS.read(data)) == data
        found, expected = read((ours / f"{name}.bin").read_bytes()), read(data)
        assert found.commands == expected.commands, name
        assert found.weights == expected.weights, name


def test_their_tool_dumps_our_graphs(folders: tuple[Path, Path]) -> None:
    """With all operators, in their order."""
    ours, theirs = folders
    for name in arm_peer_networks.EQUAL:
        dumped = json.loads((theirs / f"{name}.json").read_text())
        (block,) = dumped["regions"][0]["blocks"]
        (own,) = SCHEMA.unpack((ours / f"{name}.tosa").read_bytes()).regions[0].blocks
        found = [each.get("op", "") for each in block["operators"]]
        assert found == [each.op.name for each in own.operators], name
