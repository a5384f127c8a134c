# SPDX-License-Identifier: BSD-3-Clause
"""Projects for processors: they compile without this package, and give the numbers of eager PyTorch."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from executorch.cli import main as cli
from executorch.codegen.c import kernel_sources
from executorch.codegen.c.__main__ import TABLES, rows_by_operator
from executorch.codegen.c.targets import TARGETS, nbytes
from executorch.codegen.op_table import Kernel
from executorch.exir import to_edge
from executorch.test.e2e.negation import negation

# Of the build, and the folder whose sources are in them.
ARCHIVES = {
    "portable_kernels": "kernels/portable",
    "kernels_util_all_deps": "",
    "quantized_kernels": "kernels/quantized",
    "cortex_m_kernels": "backends/cortex_m",
    "executorch_core": "",
}


class Network(nn.Module):
    """What small networks have; two inputs, and outputs of floats and of whole numbers, one of them channels last."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.out = nn.Linear(4 * 3 * 3, 5)

    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        features = nn.functional.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        scores = torch.softmax(self.out(features.reshape(1, -1)), -1)
        last = (x * 2).to(memory_format=torch.channels_last)
        return scores, scores[0, ids].mul(2), scores.argmax(-1), last


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with net.pte, inputs.npz and what eager PyTorch computes of them, eager.npz."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("case")
    model, inputs = Network().eval(), (torch.randn(1, 2, 6, 6), torch.tensor([3, 1]))
    program = to_edge(torch.export.export(model, inputs)).to_executorch()
    program.save(str(folder / "net.pte"))
    np.savez(folder / "inputs.npz", *(x.numpy() for x in inputs))
    with torch.no_grad():
        np.savez(folder / "eager.npz", *(y.numpy() for y in model(*inputs)))
    return folder


def written(case: Path, folder: Path, *options: str) -> Path:
    given = [str(case / "net.pte"), "--project", str(folder), *options]
    if "--inputs" not in options:
        given += ["--inputs", str(case / "inputs.npz"), "--expected", str(case / "eager.npz")]
    assert cli.main(["c", *given, "--atol=1e-6", "--rtol=1e-5"]) == 0
    return folder


def built(folder: Path) -> None:
    launcher = shutil.which("ccache")
    options = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"] if launcher else []
    options += ["-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"] if "host" in folder.name else []
    for words in (
        ["cmake", "-G", "Ninja", "-S", str(folder), "-B", str(folder / "build"), *options],
        ["cmake", "--build", str(folder / "build")],
    ):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def ctest(folder: Path) -> tuple[bool, str]:
    words = ["ctest", "--test-dir", str(folder / "build"), "-V", "--timeout", "120"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout


def set_expected(folder: Path, output: int) -> None:
    """Another first byte of an expected output."""
    path = folder / "test" / "vectors.h"
    start = f"output_{output}[] = {{\n    "
    head, tail = path.read_text().split(start)
    first, rest = tail.split(",", 1)
    # The least byte of a whole number; the second of a float's fraction is large enough, the first is not.
    second, rest = rest.split(",", 1)
    third, rest = rest.split(",", 1)
    changed = f"{int(first) ^ 64},{second},{int(third) ^ 64},{rest}"
    path.write_text(head + start + changed)


@pytest.mark.req("KS-017")
def test_a_project_equals_eager_on_this_computer(case: Path, tmp_path: Path) -> None:
    """Outside of the tree, with the compiler and CMake alone; and its test notices what differs."""
    folder = written(case, tmp_path / "host")
    built(folder)
    passed, printed = ctest(folder)
    assert passed, printed
    assert len(re.findall(r"output [0-3]: differs by at most \d\.\de[-+]\d+\n", printed)) == 4
    run = subprocess.run([str(folder / "build" / "firmware")], check=False)
    assert run.returncode == 0
    text = "".join(path.read_text() for path in folder.rglob("CMakeLists.txt"))
    assert str(kernel_sources._PACKAGE) not in text
    original = (folder / "test" / "vectors.h").read_text()
    for output in (0, 2):  # floats, whole numbers
        (folder / "test" / "vectors.h").write_text(original)
        set_expected(folder, output)
        built(folder)
        passed, printed = ctest(folder)
        assert not passed and f"output {output}: differs by at most" in printed
        assert printed.count("which is too much") == 1


BOARDS = [target for target in TARGETS.values() if not target.is_host]


@pytest.mark.req("KS-017", "EMB-025")
@pytest.mark.parametrize(
    "target",
    [
        pytest.param(t, id=t.name, marks=[] if t.name == "cortex-m33" else pytest.mark.full)
        for t in BOARDS
    ],
)
def test_a_project_equals_eager_on_an_emulated_processor(
    target, case: Path, tmp_path: Path
) -> None:
    for program in (f"{target.tools}g++", target.emulator.split()[0]):
        if not shutil.which(program):
            pytest.skip(f"needs {program}")
    folder = written(case, tmp_path / target.name, "--target", target.name, "--ram", "64K")
    built(folder)
    passed, printed = ctest(folder)
    assert passed, printed
    assert len(re.findall(r"output [0-3]: differs by at most \d\.\de[-+]\d+\n", printed)) == 4
    stack = int(re.search(r"stack: (\d+) bytes were used\n", printed)[1])
    assert 500 < stack < 16 * 1024
    names = subprocess.run(
        [f"{target.tools}nm", "-C", str(folder / "build" / "firmware.elf")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "convolution_out" in names and "malloc" not in names
    assert "native::add_out" not in names and "Method::" not in names
    set_expected(folder, 0)
    built(folder)
    passed, printed = ctest(folder)
    assert not passed and "which is too much" in printed


def all_kernels() -> list[Kernel]:
    return [kernel for row in rows_by_operator(TABLES).values() for kernel in row.kernels]


def test_each_kernel_is_found_in_one_source() -> None:
    """Of its own library: softmax_out and others are in two."""
    found = {k.qualified: kernel_sources.sources_of([k]) for k in all_kernels()}
    assert len(found) > 200
    assert not {name: files for name, files in found.items() if len(files) != 1}
    for space, folder in (("cortex_m", "backends/cortex_m/"), ("torch::executor", "kernels/")):
        (source,) = found[f"{space}::native::softmax_out"]
        assert source.startswith(folder)


def test_what_sources_call_is_beside_what_they_include() -> None:
    """Read off the symbols of this build's archives."""
    from executorch.test.e2e.build_tree import binary

    build = binary("executor_runner").parent
    wanted: dict[tuple[str, str], set[str]] = {}
    places: dict[str, set[str]] = {}
    for archive, folder in ARCHIVES.items():
        path = next(build.rglob(f"lib{archive}.a"))
        words = ["nm", "-A", "-P", str(path)]
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        for member, symbol, kind in re.findall(r"\[(.*?)\.o\]: (\S+) (\w)", text):
            if kind in "TDBRW":
                places.setdefault(symbol, set()).add(member)
            elif kind == "U":
                wanted.setdefault((folder, member), set()).add(symbol)
    sources = kernel_sources.sources_of(all_kernels())
    assert len(sources) > 45
    read = 0
    for folder in filter(None, ARCHIVES.values()):
        inside = [each for each in sources if each.startswith(f"{folder}/")]
        names = Counter(Path(each).name for each in inside)
        for source in inside:
            member = Path(source).name
            if names[member] > 1:
                continue  # which of them the archive means is not told
            closure = {Path(name).name for name in kernel_sources.with_includes([source])}
            called = wanted[folder, member]
            missing = {s for s in called if places.get(s) and not places[s] & closure}
            assert not missing, f"{source} calls {missing}"
            read += 1
    assert read > 40


def test_what_the_user_wrote_stays(case: Path, tmp_path: Path, capsys) -> None:
    folder = written(case, tmp_path / "host")
    (folder / "main.cpp").write_text("int main() {}\n")
    written(case, folder, "--target", "cortex-m4")
    assert (folder / "main.cpp").read_text() == "int main() {}\n"
    assert "main.cpp was there and is as it was" in capsys.readouterr().out
    assert "-mcpu=cortex-m4" in (folder / "board" / "toolchain.cmake").read_text()


def test_headers_say_how_images_lie(case: Path, tmp_path: Path) -> None:
    """Sizes alone do not tell it; output 3 has its channels last."""
    header = (written(case, tmp_path / "host") / "model" / "net.h").read_text()
    assert "NET_INPUT_0_BYTES 288 /* float [1, 2, 6, 6] */" in header
    assert "NET_OUTPUT_3_BYTES 288 /* float [1, 2, 6, 6], channels last */" in header


@pytest.mark.parametrize(
    "options, message",
    [
        (["--target=cortex-m4", "--ram=16K"], "of RAM for tensors, scratch and a stack of 16384;"),
        (["--target=cortex-m4", "--flash=64"], "bytes of flash for weights alone; cortex-m4"),
        (["--target=cortex-m4", "--ram=5M"], "--ram: expected 1 to 4194304 bytes (mps2-an386)"),
        (["--ram=1M"], "--ram: expected no such limit for host, found 1048576"),
        (["-o", "elsewhere"], "-o: expected no other folder beside --project DIR"),
        (["--expected=inputs.npz"], "expected outputs 0, 1, 2, 3, found none of 2, 3"),
    ],
    ids=["ram", "flash", "more than there is", "host", "two folders", "outputs"],
)
def test_what_does_not_fit_is_said(
    options: list[str], message: str, case: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(case)
    status = cli.main(["c", "net.pte", f"--project={tmp_path / 'p'}", *options])
    assert status == cli.FAILED and message in capsys.readouterr().err
    assert not (tmp_path / "p").exists()


class Named(nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"twice": 2 * x, "sum": x + x + x}


def test_what_run_writes_is_expected_by_name(tmp_path: Path) -> None:
    """`executorch run --output` names arrays as the program names its outputs."""
    program = to_edge(torch.export.export(Named(), (torch.ones(3),))).to_executorch()
    program.save(str(tmp_path / "named.pte"))
    output = tmp_path / "out.npz"
    assert cli.main(["run", str(tmp_path / "named.pte"), f"--output={output}"]) == 0
    assert sorted(np.load(output).files) == ["sum", "twice"]
    folder = tmp_path / "host"
    words = ["c", str(tmp_path / "named.pte"), f"--project={folder}"]
    assert cli.main([*words, f"--expected={output}"]) == 0
    drawn = (folder / "test" / "vectors.h").read_text()
    np.savez(tmp_path / "by_number.npz", *(np.load(output)[name] for name in ("twice", "sum")))
    assert cli.main([*words, f"--expected={tmp_path / 'by_number.npz'}"]) == 0
    assert (folder / "test" / "vectors.h").read_text() == drawn


def test_sizes_are_read_as_people_write_them() -> None:
    assert [nbytes(text) for text in ("512K", "4m", "100")] == [512 << 10, 4 << 20, 100]
    with pytest.raises(ValueError, match="expected bytes such as 512K or 4M, found '1.5G'"):
        nbytes("1.5G")


def test_kernels_of_a_user_come_as_a_file(tmp_path: Path, capsys) -> None:
    class Calls(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.project_test.f(x)

    with negation("project_test"):
        exported = torch.export.export(Calls(), (torch.ones(3),))
        to_edge(exported).to_executorch().save(str(tmp_path / "net.pte"))
    (tmp_path / "ops.yaml").write_text(
        "- func: project_test::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  kernels:\n    - arg_meta: null\n      kernel_name: my::f_out\n"
    )
    (tmp_path / "f.cpp").write_text(
        "#include <executorch/runtime/kernel/kernel_includes.h>\n"
        "namespace my::native {\n"
        "executorch::aten::Tensor& f_out(executorch::runtime::KernelRuntimeContext&,\n"
        "    const executorch::aten::Tensor& x, executorch::aten::Tensor& out) {\n"
        "  for (int i = 0; i < x.numel(); ++i)\n"
        "    out.mutable_data_ptr<float>()[i] = -x.const_data_ptr<float>()[i];\n"
        "  return out;\n}\n}  // namespace my::native\n"
    )
    np.savez(tmp_path / "in.npz", np.arange(3, dtype=np.float32))
    np.savez(tmp_path / "out.npz", -np.arange(3, dtype=np.float32))
    options = [f"--custom-ops-yaml-path={tmp_path / 'ops.yaml'}", f"--inputs={tmp_path / 'in.npz'}"]
    options += [f"--expected={tmp_path / 'out.npz'}", f"--project={tmp_path / 'host'}"]
    assert cli.main(["c", str(tmp_path / "net.pte"), *options]) == cli.FAILED
    assert "no source of f_out: give the file that has it with --kernel-source" in (
        capsys.readouterr().err
    )
    options.append(f"--kernel-source={tmp_path / 'f.cpp'}")
    assert cli.main(["c", str(tmp_path / "net.pte"), *options]) == cli.DONE
    built(tmp_path / "host")
    passed, printed = ctest(tmp_path / "host")
    assert passed, printed
