# SPDX-License-Identifier: BSD-3-Clause
"""The command `executorch`: what it prints, what it writes, and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.cli import completion, flags, main, sources
from executorch.cli.table import BY_NAME, COMMANDS
from executorch.exir import to_edge

MODEL = """import torch

class Twice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 8)

    def forward(self, x):
        return self.linear(x).relu()

tiny = (Twice().eval(), (torch.randn(2, 4),))
"""


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own."""
    command = [sys.executable, "-m", "executorch", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def doubled(tmp_path: Path) -> Path:
    class Doubled(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    path = tmp_path / "doubled.pte"
    to_edge(torch.export.export(Doubled(), (torch.ones(2, 3),))).to_executorch().save(str(path))
    return path


def test_the_overview_has_a_line_for_each_command(capsys: pytest.CaptureFixture[str]) -> None:
    for given in ([], ["--help"], ["help"]):
        assert main.main(given) == main.DONE
        printed = capsys.readouterr().out
        for command in COMMANDS:
            assert f"  {command.name}" in printed and command.summary in printed


@pytest.mark.parametrize("name", BY_NAME)
def test_each_help_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main([name, "--help"])
    assert ended.value.code == 0
    assert f"    executorch {name} " in capsys.readouterr().out


@pytest.fixture(scope="module")
def without_torch(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which torch and NumPy cannot be imported."""
    folder = tmp_path_factory.mktemp("packages")
    for name in ("torch", "numpy"):
        (folder / f"{name}.py").write_text(f"raise AssertionError('{name} was imported')\n")
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path}


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("asked", [["--help"], ["--no-such-option"]], ids=["help", "wrong"])
def test_help_starts_without_torch(
    name: str, asked: list[str], without_torch: dict[str, str]
) -> None:
    start = time.perf_counter()
    command = [sys.executable, "-m", "executorch", name, *asked]
    done = subprocess.run(command, env=without_torch, capture_output=True, text=True, check=False)
    print(f"executorch {name} {asked[0]}: {time.perf_counter() - start:.2f} s")
    assert done.returncode == (0 if asked == ["--help"] else 2), done.stderr
    assert f"usage: executorch {name} " in done.stdout + done.stderr


def test_completion_needs_no_torch(without_torch: dict[str, str]) -> None:
    command = [sys.executable, "-m", "executorch", "--complete", "doctor", "--sh"]
    done = subprocess.run(command, env=without_torch, capture_output=True, text=True, check=True)
    assert done.stdout == "--shape\n"


def test_what_needs_torch_has_all_of_the_compiler() -> None:
    """Options are read without it, and some module of it may have been imported by then."""
    code = (
        "from executorch import _light\n_light.is_on = True\nimport executorch.exir\n"
        "import sys\nassert 'torch' not in sys.modules\n_light.end()\n"
        "from executorch.exir import to_edge, EdgeCompileConfig\n"
        "import executorch.devtools.commands.doctor"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "words",
    [["run"], ["check"], ["explain"], ["bench", "--rounds", "1", "--cold", "1"]],
    ids=lambda words: words[0],
)
def test_a_program_is_read_and_run_without_torch(words: list[str], doubled: Path) -> None:
    given = [words[0], str(doubled), *words[1:]]
    code = (
        "import sys\nfrom executorch.cli.main import main\n"
        f"assert main({given!r}) == 0\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_an_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["exprt"]) == main.FAILED
    assert "there is no command 'exprt'; did you mean export?" in capsys.readouterr().err


def test_the_version_says_what_is_inside() -> None:
    printed = started("--version").stdout
    assert printed.startswith("executorch 1.")
    assert "XnnpackBackend" in printed and "operators" in printed and torch.__version__ in printed


def test_completion_knows_commands_options_and_choices() -> None:
    assert completion.candidates(["ex"]) == ["export", "explain"]
    assert "--quantize" in completion.candidates(["export", "--q"])
    ways = completion.candidates(["export", "--quantize", "int8"])
    assert {"int8", "int8-dynamic"} <= set(ways) and all(each.startswith("int8") for each in ways)
    assert completion.candidates(["run", "model.p"]) == []
    assert "complete -o default -F _executorch executorch" in completion.script(["bash"])
    with pytest.raises(ValueError, match="expected one of bash, zsh, fish, found tcsh"):
        completion.script(["tcsh"])


def test_a_model_becomes_a_program_that_runs(tmp_path: Path) -> None:
    (tmp_path / "my_model.py").write_text(MODEL)
    target = tmp_path / "tiny.pte"
    done = started("export", f"{tmp_path / 'my_model.py'}:tiny", "-o", str(target))
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith(f"wrote {target}: ")
    assert "beside the model in PyTorch" in second
    done = started("run", str(target), "--json", "--top", "1")
    output = json.loads(done.stdout)
    assert [output["method"], output["outputs"][0]["shape"]] == ["forward", [2, 8]]


@pytest.mark.parametrize("name", ["ds_cnn", "bert"])  # of each table of example models
def test_a_listed_model_is_found(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["export", "--list"]) == main.DONE
    assert f" {name}," in capsys.readouterr().out
    (found,) = sources.source(name).methods.values()
    with torch.no_grad():
        assert torch.utils._pytree.tree_leaves(found.module(*found.inputs))


def test_outputs_are_those_of_the_inputs_given(doubled: Path, tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", x)
    target = tmp_path / "out.npz"
    given = ["run", str(doubled), "--inputs", str(tmp_path / "x.npy"), "--output", str(target)]
    assert main.main(given) == main.DONE
    with np.load(target) as file:
        assert np.array_equal(file["arr_0"], 2 * x)


@pytest.mark.parametrize(
    "given, message",
    [
        (["run", "missing.pte"], "missing.pte"),
        (["run", "{doubled}", "--shape", "4=2x3"], "4: expected an input of 0"),
        (
            ["run", "{doubled}", "--method", "backward"],
            "expected a method of forward, found backward",
        ),
        (["run", "{doubled}", "--runs", "0"], "expected 1 or more, found 0"),
        (["export", "no_such_model"], "expected a .pt2 file, file.py:name, or an example model"),
        (["export"], "expected a MODEL"),
        (["export", "add", "--backend", "none", "--quantize", "int8"], "--backend none"),
        (["export", "add", "--recipe", "fast"], " xnnpack_fp32,"),
        (["chat", "missing.gguf"], "there is no missing.gguf"),
        (["run", "missing.gguf"], "there is no missing.gguf"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    given: list[str], message: str, doubled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.replace("{doubled}", str(doubled)) for word in given]
    assert main.main(words) == main.FAILED
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and lines[0].startswith(f"executorch {given[0]}: ")
    assert message in lines[0]


def installed(folder: Path) -> Path:
    """A package with the folders of a wheel, and some of its libraries."""
    (folder / "lib" / "cmake").mkdir(parents=True)
    for name in ("executorch", "executorch_core", "quantized_ops_lib", "demo_backend"):
        (folder / "lib" / f"lib{name}.a").touch()
    return folder


def test_flags_for_compilers_name_the_package(tmp_path: Path) -> None:
    package = installed(tmp_path)
    assert flags.printed(["--cmakedir"], package) == f"{package}/lib/cmake/ExecuTorch"
    both = flags.printed(["--libs", "--cflags"], package).split()
    assert both[:3] == [
        "-std=c++17",
        "-DC10_USING_CUSTOM_GENERATED_MACROS",
        f"-I{package}/include",
    ]
    if sys.platform.startswith("linux"):
        whole = both[both.index("-Wl,--whole-archive") + 1 : both.index("-Wl,--no-whole-archive")]
        assert whole == ["-lexecutorch", "-lquantized_ops_lib"]
        assert "-Wl,-u,executorch_demo_backend" in both and "-lexecutorch_core" in both
    for asked, message in {
        ("--cflags", "-O2"): "expected --cflags, --libs, --cmakedir, found -O2",
        ("--cmakedir", "--libs"): "--cmakedir: expected no other option beside it",
    }.items():
        with pytest.raises(ValueError, match=message):
            flags.printed(asked, package)
    with pytest.raises(ValueError, match="is no installed package: `pip install .` brings"):
        flags.printed(["--cflags"], tmp_path / "none")
