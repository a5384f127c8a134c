# SPDX-License-Identifier: BSD-3-Clause
"""Commands that run a program take its data file (.ptd), whoever reads it: kernels, or a delegate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools import commands
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes.external_constants_pass import (
    delegate_external_constants_pass_unlifted,
)


@pytest.fixture(scope="module", params=["kernels", "xnnpack"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    model, inputs = torch.nn.Linear(8, 4), (torch.randn(2, 8),)
    exported, partitioner = export(model, inputs), None
    if request.param == "xnnpack":
        module = exported.module()
        delegate_external_constants_pass_unlifted(module, lambda _: "weights")
        exported, partitioner = export(module, inputs), [XnnpackPartitioner()]
    program = to_edge_transform_and_lower(
        exported, partitioner=partitioner, generate_etrecord=True
    ).to_executorch(ExecutorchBackendConfig(external_constants=partitioner is None))
    program.save(folder / "model.pte")
    program.write_tensor_data_to_file(str(folder))
    program.get_etrecord().save(folder / "model.etrecord")
    return folder


def test_commands_that_run_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    (data,) = folder.glob("*.ptd")
    model, record = folder / "model.pte", folder / "model.etrecord"

    def run(*arguments: Any, status: int = 0) -> Any:
        assert commands.main([*map(str, arguments), "--data", str(data), "--json"]) == status
        return json.loads(capsys.readouterr().out)

    assert {"loading"} <= {row["kind"] for row in run("check", model)["requirements"]}
    assert run("bench", model, "--rounds", "1", "--cold", "1")["kinds"]
    assert run("bisect", record, model)["first"] is None
    assert run("doctor", model, "--etrecord", record)["kinds"]
    tested = run("self_test", model, "--etrecord", record, "--output", folder / "tested.pte")
    assert [row["passes"] for row in tested["cases"]] == [True]


def test_without_it_the_error_says_what_to_give(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, record = str(folder / "model.pte"), str(folder / "model.etrecord")
    for words in (["bisect", record, model], ["bench", model, "--cold", "1"]):
        assert commands.main(words) == commands.FAILED
        error = capsys.readouterr().err
        assert "does not run" in error and "--data" in error
