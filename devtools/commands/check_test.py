# SPDX-License-Identifier: BSD-3-Clause
"""check says what is missing there, and agrees with loading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.codegen.tools.gen_oplist import gen_oplist
from executorch.devtools import commands
from executorch.devtools.commands.targets import dtypes_of, kernel_key
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import binary


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(self.head(x), 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")

    def lower(name: str, x: torch.Tensor, **options: Any) -> None:
        model = Model().to(x.dtype)
        edge = to_edge_transform_and_lower(export(model, (x,)), **options)
        edge.to_executorch().save(folder / f"{name}.pte")

    lower("float", torch.ones(2, 8))
    lower("double", torch.ones(2, 8, dtype=torch.float64))
    lower("delegated", torch.ones(2, 8), partitioner=[XnnpackPartitioner()])
    edge = to_edge_transform_and_lower(export(Model(), (torch.ones(2, 8),)))
    outside = edge.to_executorch(ExecutorchBackendConfig(external_constants=True))
    outside.save(folder / "outside.pte")
    outside.write_tensor_data_to_file(str(folder))
    return folder


def check(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, dict[str, Any]]:
    status = commands.main(["check", *map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out)


def lacking(report: dict[str, Any]) -> dict[str, str]:
    """What is not there, with the next step."""
    rows = [row for row in report["requirements"] if row["found"] not in ("ok", "unknown")]
    assert all(row["next step"] for row in rows)
    return {row["needs"].split(",")[0].split(" on ")[0]: row["next step"] for row in rows}


@pytest.mark.parametrize("name", ["float", "double", "delegated"])
def test_here_agrees_with_loading(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, report = check(capsys, folder / f"{name}.pte")
    assert status == 0 and not lacking(report)
    assert {"loading"} <= {row["kind"] for row in report["requirements"]}
    assert Runtime.get().load_program(folder / f"{name}.pte").load_method("forward") is not None


def test_a_library_without_the_kernels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, report = check(capsys, folder / "delegated.pte", "--against", "quantized")
    missing = lacking(report)
    assert status == 1 and set(missing) == {"aten::cumsum.out", "XnnpackBackend"}
    assert "portable" in missing["aten::cumsum.out"]
    status, _ = check(capsys, folder / "delegated.pte", "--against", "portable+XnnpackBackend")
    assert status == 0


def test_a_selection_without_the_dtype(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    selection = folder / "selected_operators.yaml"
    gen_oplist(selection, model_file_path=str(folder / "float.pte"))
    assert check(capsys, folder / "float.pte", "--against", selection)[0] == 0
    status, report = check(capsys, folder / "double.pte", "--against", selection)
    assert status == 1 and set(lacking(report)) == {"aten::linear.out", "aten::cumsum.out"}
    assert any("Double" in row["needs"] for row in report["requirements"])


def test_a_binary_is_read_not_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runner = binary("executor_runner")
    assert check(capsys, folder / "delegated.pte", "--against", runner)[0] == 0
    fake = folder / "firmware.bin"
    fake.write_bytes(b"\x7f\0aten::linear.out\0XnnpackBackend\0" + bytes(64))
    status, report = check(capsys, folder / "delegated.pte", "--against", fake)
    assert status == 1 and set(lacking(report)) == {"aten::cumsum.out"}
    fake.write_bytes(bytes(64))
    assert commands.main(["check", str(folder / "float.pte"), "--against", str(fake)]) == 2
    assert "no operator is named" in capsys.readouterr().err


def test_memory_and_external_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, report = check(capsys, folder / "float.pte", "--memory", 10)
    assert status == 1 and any("planned for forward" in needs for needs in lacking(report))
    status, report = check(capsys, folder / "outside.pte")
    assert status == 1 and len(lacking(report)) == 2  # weight and bias
    (data,) = folder.glob("*.ptd")
    assert check(capsys, folder / "outside.pte", "--data", data)[0] == 0


def test_an_unknown_target(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["check", str(folder / "float.pte"), "--against", "nothing"]) == 2
    assert "expected here, a file" in capsys.readouterr().err


def test_kernel_keys() -> None:
    class Tensor:
        scalar_type, dim_order = 6, (0, 1)

    assert kernel_key([Tensor, Tensor]) == "v1/6;0,1|6;0,1"
    assert dtypes_of("v1/6;0,1|4;0") == ["Float", "Long"]
