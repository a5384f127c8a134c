# SPDX-License-Identifier: BSD-3-Clause
"""bisect finds the operator that is wrong, in networks of more than a hundred, and nothing where nothing is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.devtools import commands
from executorch.devtools.commands.origins import Origins
from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.inspector._graphs import one_method
from executorch.examples.models.mobilenet_v2 import MobileNetV2
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.program._etrecord import parse_etrecord

X = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def network() -> torch.nn.Module:
    """Untrained, but with batch norms that know their inputs: otherwise 8-bit values become all the same."""
    torch.manual_seed(0)
    model = MobileNetV2()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1.0
    model(torch.randn(8, 3, 32, 32))
    return model.eval()


def quantized() -> torch.nn.Module:
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
    prepared = prepare_pt2e(export(network(), (X,)).module(), quantizer)
    prepared(X)
    return convert_pt2e(prepared)


def save(folder: Path, model: torch.nn.Module, partitioner: Any) -> Path:
    exported = export(model, (X,))
    torch.export.save(exported, folder / "model.pt2")
    lowered = to_edge_transform_and_lower(exported, partitioner=partitioner, generate_etrecord=True)
    program = lowered.to_executorch()
    program.save(folder / "model.pte")
    program.get_etrecord().save(folder / "model.etrecord")
    return folder


FULL = pytest.param("xnnpack int8", marks=pytest.mark.full)


@pytest.fixture(scope="module", params=["kernels", "xnnpack", FULL])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = quantized() if request.param == "xnnpack int8" else network()
    partitioner = None if request.param == "kernels" else [XnnpackPartitioner()]
    return save(tmp_path_factory.mktemp("model"), model, partitioner)


def bisect(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, Any]:
    status = commands.main(["bisect", *map(str, arguments), "--json"])
    output = capsys.readouterr()
    return status, json.loads(output.out) if output.out else output.err


def weights_of(folder: Path) -> tuple[str, int, int]:
    """The node of the 31st convolution, and where its weights stand in the file."""
    file, origins = ProgramFile(folder / "model.pte"), Origins.read(folder / "model.etrecord")
    assert origins is not None
    found = [
        (origins.of_call(constant.readers[0])[0].node, constant.offset, constant.num_bytes)
        for constant in file.constants
        if constant.readers and constant.readers[0].name == "aten::convolution.out"
    ]
    places = {each.key: file.place(each.segment_index) for each in file.program.named_data or ()}
    for delegate in file.program.execution_plan[0].delegates:
        for each in file.payload_operators(delegate) or ():
            if "Conv2d" in each.kind:
                node = origins.of_handles(each.debug_handle)[0].node
                found += [(node, *places[constant.key]) for constant in each.constants]
    mine = [each for each in found if each[0] == "aten_convolution_default_30"]
    return max(mine, key=lambda each: each[2])


def plant(folder: Path) -> str:
    """Writes faulty.pte, where one convolution has its weights in another order; gives that convolution's node."""
    name, offset, size = weights_of(folder)
    data = bytearray((folder / "model.pte").read_bytes())
    old = np.frombuffer(bytes(data[offset : offset + size]), np.int32)
    assert old.size > 50
    data[offset : offset + size] = np.random.default_rng(0).permutation(old).tobytes()
    (folder / "faulty.pte").write_bytes(data)
    return name


def test_a_fault_in_one_operator_is_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record, name = folder / "model.etrecord", plant(folder)
    edge = one_method(parse_etrecord(record).edge_dialect_program)
    assert sum(node.op == "call_function" for node in edge.graph.nodes) >= 100
    status, report = bisect(capsys, record, folder / "model.pte")
    assert status == 0 and report["first"] is None and len(report["operators"]) > 50, report[
        "wrong"
    ]
    status, report = bisect(capsys, record, folder / "faulty.pte")
    assert status == 1
    assert name in report["first"]["joined"], (name, report["summary"])
    assert "mobilenet_v2.py:" in report["first"]["line"] and report["first"]["own error"] > 0.1
    assert [row["operator"] for row in report["wrong"]] == [report["first"]["operator"]]
    assert name in " ".join(report["summary"])


class Small(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(torch.softmax(x * 2, -1).transpose(0, 1), 0)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    exported = export(Small(), (torch.randn(3, 5),))
    torch.export.save(exported, folder / "model.pt2")
    for name, partitioner in (("kernels", None), ("xnnpack", [XnnpackPartitioner()])):
        lowered = to_edge_transform_and_lower(
            exported, partitioner=partitioner, generate_etrecord=True
        )
        program = lowered.to_executorch()
        program.save(folder / f"{name}.pte")
        program.get_etrecord().save(folder / f"{name}.etrecord")
    return folder


@pytest.mark.parametrize("name", ["kernels", "xnnpack"])
def test_an_exported_program_is_lowered_as_the_file_was(
    small: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.save((torch.randn(3, 5),), small / "inputs")
    status, report = bisect(
        capsys, small / "model.pt2", small / f"{name}.pte", "--inputs", small / "inputs"
    )
    assert status == 0 and len(report["operators"]) >= 3
    assert max(row["error"] for row in report["operators"]) < 1e-5


def test_wrong_use(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, message = bisect(capsys, small / "kernels.etrecord", small / "xnnpack.pte")
    assert status == commands.FAILED and "of another program" in message
    (small / "text.etrecord").write_text("not a record")
    status, message = bisect(capsys, small / "text.etrecord", small / "xnnpack.pte")
    assert status == commands.FAILED and "text.etrecord" in message and "Traceback" not in message
