# SPDX-License-Identifier: BSD-3-Clause
"""`executorch wrap`: what the class in Python does, and what no class is made of. The compiled languages are tested
where their compilers are: test/install, extension/android, extension/apple and extension/wasm."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from executorch.cli.main import FAILED
from executorch.cli.wrap.languages import NAMES, language
from executorch.cli.wrap.names import Words, identifiers, type_name
from executorch.cli.wrap.program import read
from executorch.test.cli import wrapped
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.repository.sources import ROOT


@pytest.fixture(scope="module")
def program(program_store: ProgramStore) -> Path:
    parts = ("exir", "test/cli")
    return next(program_store.folder("wrapped", wrapped.write, parts).glob("*.pte"))


@pytest.fixture(scope="module")
def module(program: Path, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    made, _ = wrapped.wrapped(program, "python", tmp_path_factory.mktemp("python"), ".py")
    spec = importlib.util.spec_from_file_location("all_of_it", made)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def model(module: ModuleType, program: Path) -> Any:
    return module.AllOfIt(program)


def test_inputs_and_outputs_have_their_names(model: Any) -> None:
    one, two = np.ones(2, np.float32), np.full(2, 2, np.float32)
    given = {"state_in_class": one, "state_in_a_b": two, "state_list_0": one, "state_list_1": two}
    found = model.forward(input_ids=one, inputIds=two, self_=one, **given)
    total = 1 + 2 * 2 + 3 * 1 + (1 + 2) + 2  # Names.forward
    assert found._fields == ("class_", "in_0", "in_1", "count_", "output_4_0")
    for more, values in enumerate(found):
        np.testing.assert_array_equal(values, [total + more] * 2)
    assert found.count_[0] == total + 3


def test_what_is_no_tensor_stays_as_exported(model: Any) -> None:
    found = model.scalars(np.ones((4, 2), np.float32))
    np.testing.assert_array_equal(found.output_0, np.full((4, 2), 1 + 7 + 0.5, np.float32))
    assert found[1:] == (4, 2.5, True)  # x.shape[0], 2.5, flag; None is left out
    np.testing.assert_array_equal(
        model.text(np.ones(2, np.float32)), [15.0, 15.0]
    )  # the text's length


def test_methods_without_inputs_and_without_outputs(model: Any) -> None:
    np.testing.assert_array_equal(model.delete(), [0.25, 1.25, 2.25])
    assert model.get_max_seq_len() == 128 and model.use_kv_cache() is True
    assert model.store(np.ones(2, np.float32)) is None


def test_dtypes_go_in_and_come_out(model: Any) -> None:
    dtypes = [str(each).removeprefix("torch.") for each in wrapped.NUMPY_DTYPES]
    arrays = [np.array([1, 0]).astype(each) for each in dtypes]
    for given, found, dtype in zip(arrays, model.types(*arrays), dtypes, strict=True):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.concatenate([given, given]))
    waves = np.array([1 + 2j, 3], np.complex64)
    np.testing.assert_array_equal(model.waves(waves), [1 + 2j, 3, 1 + 2j, 3])
    halves = model.halves(torch.tensor([1.5, 2], dtype=torch.bfloat16))  # NumPy has none
    assert halves.dtype == torch.bfloat16 and halves.tolist() == [1.5, 2, 1.5, 2]


def test_an_array_may_lie_in_memory_as_it_likes(model: Any) -> None:
    image = np.arange(12, dtype=np.uint8).reshape(1, 3, 2, 2)
    np.testing.assert_array_equal(model.image(image), image * 2)
    rows = np.arange(9, dtype=np.float32).reshape(3, 3)
    others = np.ones(6, np.float32), np.zeros(1, np.float32)
    np.testing.assert_array_equal(model.ranges(rows.T, *others), rows.sum(0) + 2)


F32 = np.float32
WRONG = {
    "dtype": (lambda m: m.ranges(np.ones((3, 3)), np.ones(6, F32), np.ones(1, F32)), "input rows.*Float.*Double"),
    "rank": (lambda m: m.ranges(np.ones(3, F32), np.ones(6, F32), np.ones(1, F32)), "input rows.*2 dim.*got 1"),
    "fixed size": (
        lambda m: m.ranges(np.ones((3, 4), F32), np.ones(6, F32), np.ones(1, F32)), "rows.*expected 3, found 4",
    ),
    "range": (lambda m: m.ranges(np.ones((9, 3), F32), np.ones(18, F32), np.ones(1, F32)), "rows.*6.*9"),
    "sizes that go together": (
        lambda m: m.ranges(np.ones((3, 3), F32), np.ones(8, F32), np.ones(1, F32)),
        "pairs.*expected 6.*found 8|pairs.*6.*8",
    ),
    "no array": (lambda m: m.store([1.0, 2.0]), "input x.*torch.Tensor or numpy.ndarray.*list"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_named(name: str, model: Any) -> None:
    call, expected = WRONG[name]
    with pytest.raises(RuntimeError) as found:
        call(model)
    assert re.search(expected, str(found.value), re.S), str(found.value)


def test_a_file_of_another_program_is_said(module: ModuleType, tmp_path: Path) -> None:
    other = module.AllOfIt(wrapped.save(tmp_path / "other.pte", wrapped.others()))
    with pytest.raises(KeyError, match="no method forward"):
        other.forward(*[np.ones(2, F32)] * 7)
    with pytest.raises(RuntimeError, match="expected 5 inputs, got 0"):
        other.delete()
    with pytest.raises(
        ValueError,
        match="expected an output of complex64, found float32: the file is another program",
    ):
        other.waves(np.ones(2, F32))
    with pytest.raises(
        ValueError, match=r"expected an output of torch.bfloat16, found torch.float32"
    ):
        other.halves(torch.ones(2))


def test_labels_are_those_of_the_exporter(module: ModuleType) -> None:
    assert module.AllOfIt.LABELS == tuple(wrapped.LABELS)


def test_results_have_labels(module: ModuleType, model: Any) -> None:
    """x + [0, 2, 1, -1], sorted; the last score, -0.5, is of no class."""
    found = model.ranked(np.full((1, 4), 0.5, np.float32))
    assert found.scores.tolist() == [[2.5, 1.5, 0.5, -0.5]]
    pairs = [(wrapped.LABELS[1], 2.5), (wrapped.LABELS[2], 1.5), (wrapped.LABELS[0], 0.5)]
    assert module.AllOfIt.labeled(found) == pairs
    assert module.AllOfIt.labeled(found._replace(classes=found.classes + 1)) != pairs


def test_the_program_beside_runs(program: Path, tmp_path: Path) -> None:
    """The class looks for its program beside itself. PyTorch is imported for a dtype that NumPy
    lacks, and by the runtime where no input says whose tensors the outputs are."""
    (tmp_path / program.name).symlink_to(program)
    without = ("halves", "delete")
    chosen = [name for name in wrapped.EXPECTED if name not in without]
    words = [word for name in chosen for word in ("--method", name)]
    _, caller = wrapped.wrapped(program, "python", tmp_path, ".py", *words)
    with caller.open("a") as file:
        file.write("import sys\nassert 'torch' not in sys.modules\n")
    command = [sys.executable, caller]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    wrapped.same(re.sub(r"\((\S+?)\+0j\)", r"\1", done.stdout), {}, without)


@pytest.mark.full
def test_mypy_finds_nothing(program: Path, tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    files = wrapped.wrapped(program, "python", tmp_path, ".py")
    command = [sys.executable, "-m", "mypy", "--strict", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import numpy as np\nfrom AllOfIt import AllOfIt\n"
        "wide = np.ones(2, np.float64)\nAllOfIt().store(wide)\nAllOfIt().forward(wide)\n"
    )
    done = subprocess.run([*command[:-2], wrong], capture_output=True, text=True, cwd=tmp_path)
    assert 'Argument 1 to "store"' in done.stdout, done.stdout
    assert "Missing positional arguments" in done.stdout, done.stdout


REFUSED = {
    "kotlin": "method image, input image: kotlin has no tensors whose dim order is 0, 2, 3, 1; --method takes",
    "swift": "method halves, input x: swift has no elements of bfloat16; --method takes the other methods",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_language_lacks_is_said(
    name: str, program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wrapped.wrap(program, name, "-o", tmp_path / "x") == FAILED
    assert REFUSED[name] in capsys.readouterr().err and not (tmp_path / "x").exists()
    wrapped.wrapped(program, name, tmp_path, ".x", "--method", "forward", "--method", "types")
    assert "delete" not in (tmp_path / "AllOfIt.x").read_text()


def test_texts_are_no_inputs_in_kotlin(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--method", "text", "-o", tmp_path / "x")
    assert wrapped.wrap(program, "kotlin", *words) == FAILED
    assert "input text: kotlin has no inputs of kind str" in capsys.readouterr().err


WRONG_WORDS = {
    "no such method": (["--method", "forwards"], r"expected a method of delete, forward.*found forwards"),
    "no name": (["--name", "my-model"], "--name: expected letters and digits.*'my-model'"),
    "a name that the class uses": (["--name", "NDArray"], "no name that the class uses"),
    "a keyword": (["--name", "None"], "no name that the class uses, found 'None'"),
    "a package in Python": (["--package", "com.example"], "--package: expected a language whose classes have one"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_WORDS)
def test_wrong_words_are_sentences(
    name: str, program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, expected = WRONG_WORDS[name]
    assert wrapped.wrap(program, "python", "-o", tmp_path / "x.py", *words) == FAILED
    assert re.search(expected, capsys.readouterr().err) and not list(tmp_path.iterdir())


def test_a_corrupted_program_is_a_sentence(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = program.read_bytes()
    for number, broken in enumerate((b"", data[:1000], data[:8] + b"\xff" * 40 + data[48:])):
        path = tmp_path / f"{number}.pte"
        path.write_bytes(broken)
        assert wrapped.wrap(path, "python", "-o", tmp_path / "x.py") == FAILED
        assert f"{path}: expected a program file (.pte)" in capsys.readouterr().err
    assert not (tmp_path / "x.py").exists()


def test_a_file_of_somebody_else_stays(
    program: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The model is often a file of the same name."""
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "all_of_it.py"
    mine.write_text("import torch\n")
    assert wrapped.wrap(program, "python") == FAILED
    assert "all_of_it.py is there and was not made by this command" in capsys.readouterr().err
    assert mine.read_text() == "import torch\n"
    mine.unlink()
    assert [wrapped.wrap(program, "python") for _ in range(2)] == [0, 0]
    assert mine.read_text().startswith("# Made by `executorch wrap all-of it.pte --lang python`")


def test_a_package_of_kotlin(program: Path, tmp_path: Path) -> None:
    words = ("--package", "com.example", "--name", "Classifier", "--method", "forward")
    made, caller = wrapped.wrapped(program, "kotlin", tmp_path, ".kt", *words)
    assert "\npackage com.example\n" in made.read_text() and "class Classifier(" in made.read_text()
    assert "import com.example.Classifier\n" in caller.read_text()


PROGRAMS = sorted((ROOT / "test" / "golden").glob("*.pte"))


@pytest.mark.parametrize("name", NAMES)
def test_programs_of_every_release(name: str, tmp_path: Path) -> None:
    """Upstream's have no names: inputs and outputs are counted."""
    assert PROGRAMS
    for path in PROGRAMS:
        wrapped.wrapped(path, name, tmp_path, ".x")
    text = (tmp_path / "AllOfIt.x").read_text()
    assert ("input_0" in text or "input0" in text) and path.name == "upstream_1_0_0.pte"


def test_the_upstream_program_runs(tmp_path: Path) -> None:
    """Made by release 1.0.0 of upstream's package."""
    path = next(each for each in PROGRAMS if each.name == "upstream_1_0_0.pte")
    made, _ = wrapped.wrapped(path, "python", tmp_path, ".py")
    spec = importlib.util.spec_from_file_location("upstream", made)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    model = loaded.Upstream100(path)
    (found,) = model.forward(np.ones((1, 2), F32))
    assert found.shape == (2,)
    with pytest.raises(RuntimeError, match="input 0"):
        model.forward(np.ones((1, 3), F32))


@pytest.mark.parametrize("name", NAMES)
def test_no_keyword_is_a_name(name: str, program: Path) -> None:
    words = language(name).TRAITS.words
    found = read(program, words)
    for method in found.methods:
        used = [[each.name for each in values] for values in (method.inputs, method.outputs)]
        for names in used:
            assert len(set(names)) == len(names)
            assert not set(names) & set(words.keywords)
    keys = [each.key for each in found.methods]
    assert len(set(keys)) == len(keys) and not set(keys) & {*words.keywords, *words.members}


NAMED = {
    "a keyword": (["class"], ["class_"], ["class_"]),
    "dots": (["state.in.0", "a..b"], ["state_in_0", "a_b"], ["stateIn0", "aB"]),
    "nothing": (["", ""], ["input_0", "input_1"], ["input0", "input1"]),
    "a number first": (["0.b"], ["input_0_0_b"], ["input00B"]),
    "the same": (["a.b", "a_b", "aB"], ["a_b", "a_b_2", "aB"], ["aB", "aB2", "aB3"]),
    "clashes with what is made for a clash": (
        ["x_2", "x", "x"],
        ["x_2", "x", "x_3"],
        ["x2", "x", "x3"],
    ),
    "no letters": (["größe", "日本"], ["gr_e", "input_1"], ["grE", "input1"]),
    "underscores": (["__x__"], ["x"], ["x"]),
    "capitals": (["QKV", "InputIds"], ["QKV", "InputIds"], ["qkv", "inputIds"]),
}


@pytest.mark.parametrize("name", NAMED)
def test_names_become_identifiers(name: str) -> None:
    given, snake, camel = NAMED[name]
    rows = [(each, f"input_{place}") for place, each in enumerate(given)]
    for expected, is_camel in ((snake, False), (camel, True)):
        assert identifiers(rows, Words(keywords={"class"}, is_camel=is_camel), ()) == expected


def test_names_of_classes() -> None:
    words = Words(keywords={"None"}, is_camel=True, types=("Module",))
    given = ["my-model.v2", "mv2", "3d", "größe", "module", "none", "日本"]
    expected = ["MyModelV2", "Mv2", "Program3d", "GrE", "ModuleProgram", "NoneProgram", "Program"]
    assert [type_name(each, words) for each in given] == expected


def test_it_needs_no_torch(program: Path, tmp_path: Path) -> None:
    words = ["wrap", str(program), "--lang", "ts", "-o", str(tmp_path / "x.ts")]
    code = (
        "import sys\nfrom executorch.cli.main import main\n"
        f"assert main({words!r}) == 0\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
