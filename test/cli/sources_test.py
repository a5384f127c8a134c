# SPDX-License-Identifier: BSD-3-Clause
"""What `executorch export` takes for a model: keywords, several methods, exported programs, traced in the way that
works."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from executorch.cli import main
from executorch.runtime import Runtime

MODELS = """import torch
from torch.export import Dim

class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x, scale=None, shift=None):
        y = self.linear(x)
        y = y if scale is None else y * scale
        return y if shift is None else y + shift

class OnlyKeyword(torch.nn.Module):
    def forward(self, *, x):
        return x + 1

class Counted(torch.nn.Module):
    def forward(self, x):
        with open("trace.txt", "a"):  # bytecode tracing stops at a file
            pass
        return x * 2

torch.manual_seed(0)
x, model = torch.randn(6, 3), Scaled().eval()
rows = {0: Dim("rows", min=4, max=9)}
keywords = (model, {"x": x, "shift": torch.ones(4)})
dynamic = (model, {"x": x, "shift": torch.ones(4)}, {"x": rows})
unknown_keyword = (model, {"x": x, "skale": 2.0})
only_keyword = (OnlyKeyword(), {"x": x})
program = torch.export.export(model, (x,), {"shift": torch.ones(4)}, dynamic_shapes={"x": rows, "shift": None})
methods = {"forward": (model, (x,)), "shifted": keywords}
counted = (Counted(), (x,))
nothing = {}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("models_of_many_kinds.py").write_text(MODELS)
    return tmp_path


def exported(name: str, *words: str) -> int:
    return main.main(["export", f"models_of_many_kinds.py:{name}", "-o", "out.pte", *words])


def sizes_taken(counts: range) -> list[int]:
    method = Runtime.get().load_program(Path("out.pte")).load_method("forward")
    taken = []
    for count in counts:
        try:
            method.execute([torch.zeros(count, 3), torch.ones(4)])
        except RuntimeError:
            continue
        taken.append(count)
    return taken


def test_inputs_by_keyword(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exported("keywords") == 0
    assert "differs by" in capsys.readouterr().out
    names = Runtime.get().load_program(Path("out.pte")).load_method("forward").metadata
    assert names.num_inputs() == 2
    assert exported("only_keyword") == 0
    assert exported("unknown_keyword") == main.FAILED
    output = capsys.readouterr().err
    assert "expected inputs of forward(x, scale, shift), found skale" in output


def test_dynamic_sizes_of_keywords(folder: Path) -> None:
    assert exported("dynamic") == 0
    assert sizes_taken(range(1, 11)) == list(range(4, 10))


def test_an_exported_program_is_quantized_with_its_dynamic_sizes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported("program") == 0
    assert sizes_taken(range(1, 11)) == list(range(4, 10))
    error = float(capsys.readouterr().out.partition("differs by ")[2].split()[0])
    assert error < 1e-6
    assert exported("program", "--quantize", "int8") == 0
    assert sizes_taken(range(1, 11)) == list(range(4, 10))
    error = float(capsys.readouterr().out.partition("differs by ")[2].split()[0])
    assert 1e-4 < error < 0.1


def test_several_methods(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exported("methods") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["wrote", "forward", "shifted"]
    assert Runtime.get().load_program(Path("out.pte")).method_names == {"forward", "shifted"}
    assert exported("nothing") == main.FAILED
    assert "found dict" in capsys.readouterr().err


def test_what_one_way_of_tracing_refuses_goes_by_the_other(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported("counted") == 0
    output = capsys.readouterr().err
    assert output.startswith(
        "traced by running Python once (--no-strict), since by Python's bytecode"
    )
    assert exported("counted", "--strict") == main.FAILED
