# SPDX-License-Identifier: BSD-3-Clause
"""What data files are for: one shared by several programs, one replaced without touching the program."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.extension.pybindings.portable_lib import _load_for_executorch
from executorch.runtime import Runtime
from executorch.test.e2e.cpp_calls import call_in_cpp

X = torch.linspace(-1, 1, 6).reshape(2, 3)


class Plain(torch.nn.Module):
    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        self.linear = linear

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


class Squashed(Plain):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear(x))


def write(model: torch.nn.Module, folder: Path) -> tuple[Path, Path]:
    """A program whose weights are all in a data file beside it."""
    folder.mkdir(exist_ok=True)
    program = to_edge(torch.export.export(model.eval(), (X,))).to_executorch(
        ExecutorchBackendConfig(external_constants=True)
    )
    program.save(str(folder / "model.pte"))
    program.write_tensor_data_to_file(str(folder))
    (data,) = folder.glob("*.ptd")
    return folder / "model.pte", data


def in_python(program: Path, data: Path) -> torch.Tensor:
    return _load_for_executorch(str(program), str(data)).forward([X])[0]


def in_cpp(program: Path, data: Path) -> torch.Tensor:
    return call_in_cpp(program, [("forward", [X])], [data])[0][0]


@pytest.mark.req("RT-008")
@pytest.mark.parametrize("run", [in_python, in_cpp])
def test_two_programs_share_one_data_file(run: object, tmp_path: Path) -> None:
    linear = torch.nn.Linear(3, 4)
    models = {"plain": Plain(linear), "squashed": Squashed(linear)}
    files = {name: write(model, tmp_path / name) for name, model in models.items()}
    shared = files["plain"][1]
    for name, model in models.items():
        with torch.no_grad():
            torch.testing.assert_close(run(files[name][0], shared), model(X), rtol=1e-3, atol=1e-5)


@pytest.mark.req("RT-008")
@pytest.mark.parametrize("run", [in_python, in_cpp])
def test_a_data_file_is_replaced(run: object, tmp_path: Path) -> None:
    """The program stays; numbers follow the data."""
    old, new = Plain(torch.nn.Linear(3, 4)), Plain(torch.nn.Linear(3, 4))
    program, _ = write(old, tmp_path / "old")
    _, data = write(new, tmp_path / "new")
    with torch.no_grad():
        torch.testing.assert_close(run(program, data), new(X), rtol=1e-3, atol=1e-5)
        assert not torch.allclose(new(X), old(X))


def test_weights_are_in_the_data_file_only(tmp_path: Path) -> None:
    program, data = write(Plain(torch.nn.Linear(3, 4096)), tmp_path / "big")
    assert program.stat().st_size < 4096 < 3 * 4096 * 4 <= data.stat().st_size


@pytest.mark.req("PY-002")
def test_operator_names_of_the_runtime() -> None:
    assert "aten::add.out" in Runtime.get().operator_registry.operator_names
