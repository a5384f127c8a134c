# SPDX-License-Identifier: BSD-3-Clause
"""The dump says what was lowered, and nothing that stands in a file makes it fail otherwise than with a sentence."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from executorch.exir import ExecutorchBackendConfig, dump, to_edge
from executorch.exir.backend.test.op_partitioner_demo import AddAttributePartitionerDemo

GOLDEN = sorted((Path(__file__).parents[2] / "test" / "golden").glob("*.pte"))


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.linear(x).relu()
        return hidden + hidden


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = torch.export.Dim("rows", min=1, max=8)
    program = torch.export.export(Net(), (torch.ones(2, 4),), dynamic_shapes=({0: rows},))
    lowered = to_edge(program).to_backend(AddAttributePartitionerDemo())
    config = ExecutorchBackendConfig(extract_delegate_segments=True)
    path = tmp_path / "net.pte"
    lowered.to_executorch(config).save(path)
    return path


def test_json_has_sizes_operators_memory_and_segments(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dump.main([str(file), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    (method,) = facts["methods"]
    assert facts["file_bytes"] == file.stat().st_size
    assert method["inputs"] == ["x: float[<=8, 4]"]
    assert method["operators"] == {"aten::linear.out": 1, "aten::relu.out": 1}
    assert sum(method["delegates"].values()) == 1
    assert sum(method["planned_bytes"]) >= 8 * 4 * 4
    held = [what for segment in facts["segments"] for what in segment["holds"]]
    assert "2 constants" in held and any(what.startswith("delegate ") for what in held)
    assert all(s["offset"] + s["bytes"] <= facts["file_bytes"] for s in facts["segments"])


def test_text_and_values(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dump.main([str(file)]) == 0
    short = capsys.readouterr().out
    assert "operator aten::relu.out: 1" in short and "%0 = " not in short
    assert dump.main([str(file), "--values"]) == 0
    assert "%0 = Tensor float32" in capsys.readouterr().out
    assert dump.main([str(file), "--values", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["execution_plan"][0]["name"] == "forward"


def test_the_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "executorch.exir.dump", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--json" in done.stdout and ".pte" in done.stdout
    assert dump.main(["no.pte"]) == 1
    assert capsys.readouterr().err.startswith("no.pte: ")


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.stem)
def test_corruption_gives_a_sentence(
    golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = golden.read_bytes()
    random_numbers = random.Random(0)
    corrupted = tmp_path / "corrupted.pte"
    refused = 0
    for _ in range(300):
        bytes_ = bytearray(good)
        bytes_[random_numbers.randrange(len(bytes_))] ^= 1 << random_numbers.randrange(8)
        corrupted.write_bytes(bytes_)
        code = dump.main([str(corrupted)])
        errors = capsys.readouterr().err
        assert (code == 1) == errors.startswith(str(corrupted))
        refused += code
    assert refused > 0
