# SPDX-License-Identifier: BSD-3-Clause
"""The whole product in a few seconds: PyTorch model -> .pte -> Python and C++ runtimes -> eager's numbers."""

from pathlib import Path

import pytest
import torch

from executorch.exir import to_edge
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import binary, run
from executorch.test.e2e.cpp_calls import raw_bytes


class Tiny(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.linear = torch.nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.convolution(x)).mean((2, 3))
        return torch.softmax(self.linear(y), -1)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    model, x = Tiny().eval(), torch.randn(2, 3, 8, 8)
    path = tmp_path_factory.mktemp("tiny") / "tiny.pte"
    to_edge(torch.export.export(model, (x,))).to_executorch().save(str(path))
    with torch.no_grad():
        return path, x, model(x)


def test_python(program: tuple[Path, torch.Tensor, torch.Tensor]) -> None:
    path, x, expected = program
    (output,) = Runtime.get().load_program(path).load_method("forward").execute([x])
    torch.testing.assert_close(output, expected, rtol=1e-3, atol=1e-5)


def test_cpp(program: tuple[Path, torch.Tensor, torch.Tensor], tmp_path: Path) -> None:
    path, x, expected = program
    (tmp_path / "x.bin").write_bytes(raw_bytes(x))
    done = run(
        binary("executor_runner"),
        f"--model_path={path}",
        f"--inputs={tmp_path / 'x.bin'}",
        f"--output_file={tmp_path / 'out'}",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    data = bytearray((tmp_path / "out-0.bin").read_bytes())
    output = torch.frombuffer(data, dtype=torch.float32).reshape(expected.shape)
    torch.testing.assert_close(output, expected, rtol=1e-3, atol=1e-5)


def test_a_corrupted_file_is_refused(program: tuple[Path, torch.Tensor, torch.Tensor]) -> None:
    data = program[0].read_bytes()
    with pytest.raises(RuntimeError):
        Runtime.get().load_program(data[: len(data) // 2])
