# SPDX-License-Identifier: BSD-3-Clause
"""The Swift layers on this system, by their XCTests, in a root that extension/apple/scripts/swift_root.sh makes; the
package as Swift reads it; that a target of the package links what registers itself; classes of `executorch wrap`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from executorch.exir import to_edge
from executorch.extension.apple.test.swift import (
    NEEDS_SWIFT,
    SWIFT,
    in_root,
    write_package_of_frameworks,
)
from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.cli import wrapped
from executorch.test.e2e.build_tree import build_folder, loadable
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.repository.sources import ROOT
from executorch.tools.apple.frameworks import AVAILABLE, FRAMEWORKS, named
from executorch.tools.apple.package import link_source, variants

PROMPT = "The capital of France is"
pytestmark = [pytest.mark.full, NEEDS_SWIFT]


class Subtract(torch.nn.Module):
    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return left - right


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, program_store: ProgramStore) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    shutil.copy(ROOT / "extension" / "module" / "test" / "resources" / "add.pte", folder)
    exported = torch.export.export(Subtract(), (torch.ones(1), torch.ones(1)))
    (folder / "subtract.pte").write_bytes(to_edge(exported).to_executorch().buffer)
    llama = tiny_llama.kept(tmp_path_factory.mktemp("tiny_llama"), program_store)
    shutil.copy(llama.program, folder / "llm.pte")
    shutil.copy(llama.tokenizer, folder / "llm.json")
    (folder / "answer").write_text(llama.decode(llama.greedy(llama.encode(PROMPT), 16)))
    return folder


@pytest.mark.req(
     "APL-040", "APL-041", "APL-042", "APL-043", "APL-044", "APL-045", "APL-046", "APL-047", "APL-048",
    "APL-049", "APL-050", "APL-051", "APL-053", "APL-054", "APL-C04", "APL-C07",
)  # fmt: skip
def test_every_swift_test_passes(programs: Path) -> None:
    library = loadable("executorch_c").parent
    found = in_root(
        programs,
        f'export EXECUTORCH_FROM_SOURCE=1 EXECUTORCH_PROGRAMS={programs} EXECUTORCH_ANSWER="$(cat answer)"; '
        f"swift test --package-path {ROOT} --scratch-path {programs}/build -j 1 "
        f"-Xlinker -L{library} -Xlinker -rpath -Xlinker {library}",
    )
    counts = re.findall(r"Executed (\d+) tests, with (\d+) failure", found)
    assert counts and counts[-1][1] == "0" and int(counts[-1][0]) >= 40, found[-2000:]
    assert "skipped" not in found
    print(counts[-1][0], "tests")


def test_the_readme_s_command_runs_the_tests(tmp_path: Path) -> None:
    """As printed, in a checkout with a build; the root is the one that is here."""
    readme = (ROOT / "extension" / "apple" / "README.md").read_text()
    (command,) = re.findall(r"^ {4}(\S+swift_root.sh /opt/swift --run .*)$", readme, re.M)
    checkout = tmp_path / "executorch"
    for name in (
        "extension/module/test/resources/add.pte",
        "extension/apple",
        "extension/llm/apple",
        "Package.swift",
        "extension/c/executorch.h",
    ):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, checkout / name)
    (checkout / "cmake-out").mkdir()
    shutil.copy(loadable("executorch_c"), checkout / "cmake-out")
    done = subprocess.run(
        command.replace("/opt/swift", SWIFT),
        shell=True,
        cwd=checkout,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = done.stdout + done.stderr
    # But for those of programs that are made: subtract.pte and a language model.
    assert re.search(r"Executed \d+ tests, with 3 tests skipped and 0 failures", found), found
    assert found.count("Test skipped - set EXECUTORCH_PROGRAMS to ") == 3


@pytest.mark.req("APL-033", "APL-C08")
def test_swift_reads_the_package_as_the_table_has_it(tmp_path: Path) -> None:
    command = f"swift package --package-path {ROOT} --scratch-path {tmp_path}/build dump-package"
    found = in_root(tmp_path, f"{command} 2>/dev/null")
    package = json.loads(found[found.index("{") :])
    assert package["toolsVersion"]["_version"] == "5.9.0"
    assert {each["platformName"]: each["version"] for each in package["platforms"]} == {
        "ios": "17.0", "macos": "12.0",
    }  # fmt: skip
    products = {each["name"]: each["targets"] for each in package["products"]}
    assert products == {
        f"{each.name}{suffix}": [f"{each.name}{suffix}_with_dependencies"]
        for each, suffix in variants()
        if each.is_product
    }
    targets = {each["name"]: each for each in package["targets"]}
    for framework, suffix in variants():
        name = framework.name + suffix
        assert targets[name]["path"] == f"cmake-out/{name}.xcframework"
        if framework.is_product:
            wrapper = targets[f"{name}_with_dependencies"]
            linked = [list(each["kind"].values())[0]["_0"] for each in wrapper["settings"]]
            assert linked == [*framework.system_frameworks, *framework.system_libraries]
            assert wrapper["path"] == f".Package.swift/{name}"


def test_swift_takes_the_package_where_some_frameworks_were_built(tmp_path: Path) -> None:
    """As in a checkout behind `build_apple_frameworks.sh`: without MPS, then without the Debug ones and Core ML."""
    package, out = tmp_path / "executorch", tmp_path / "executorch" / "cmake-out"
    built = write_package_of_frameworks(package)
    describe = f"swift package --package-path {package} --scratch-path build describe --type json"
    purge = f"swift package --package-path {package} purge-cache"

    def products(commands: str) -> list[str]:
        found = in_root(tmp_path, commands)
        return sorted(each["name"] for each in json.loads(found[found.index("{") :])["products"])

    assert products(describe) == sorted(set(built) - {"threadpool", "threadpool_debug"})
    for name in built:
        if name.endswith("_debug") or name == "backend_coreml":
            shutil.rmtree(out / f"{name}.xcframework")
    # SwiftPM checks each; what the file said before it keeps until the last command of the script.
    missing = in_root(tmp_path, f"! {describe}")
    assert ".xcframework does not contain binary artifact" in missing
    left = sorted({row.name for row in AVAILABLE if row.is_product} - {"backend_coreml"})
    assert products(f"{purge}; {describe}") == left


LINKED = {
    name: named(name)
    for name in ("backend_xnnpack", "kernels_quantized", "kernels_llm", "kernels_optimized", "kernels_torchao")
}  # fmt: skip


def test_a_target_of_the_package_links_its_framework_without_flags(tmp_path: Path) -> None:
    """The object of each target asks for a symbol that a library of the build here has."""
    for name, framework in LINKED.items():
        (tmp_path / f"{name}.swift").write_text(link_source(framework))
    names = " ".join(LINKED)
    in_root(
        tmp_path,
        f"for name in {names}; do swiftc -O -parse-as-library -c $name.swift -o $name.o; done",
    )
    for name, framework in LINKED.items():
        wanted = subprocess.run(
            ["nm", "-u", tmp_path / f"{name}.o"], capture_output=True, text=True, check=True
        ).stdout.split()
        assert framework.symbol in wanted
        assert framework in FRAMEWORKS


LIFECYCLE = """
import ExecuTorchLLM
func text() throws { try TextRunner(modelPath: "", tokenizerPath: "").load() }
func more() throws { try MultimodalRunner(modelPath: "", tokenizerPath: "").load() }
"""


@pytest.mark.req("APL-052")
def test_what_is_experimental_warns(tmp_path: Path) -> None:
    """Of the two runners the one that is; Objective-C's likewise (objc_test.py)."""
    (tmp_path / "use.swift").write_text(LIFECYCLE)
    layers = f"-I {ROOT}/extension/apple/ExecuTorch/CExecuTorch -I ."
    core = f"{ROOT}/extension/apple/ExecuTorch/Swift/*.swift"
    llm = f"{ROOT}/extension/llm/apple/ExecuTorchLLM/Swift/*.swift"
    found = in_root(
        tmp_path,
        f"swiftc -emit-module -module-name ExecuTorch {layers} {core}; "
        f"swiftc -emit-module -module-name ExecuTorchLLM {layers} {llm}; "
        f"swiftc -typecheck {layers} use.swift",
    )
    warnings = [line for line in found.splitlines() if ": warning:" in line]
    assert len(warnings) == 1 and warnings[0].startswith("use.swift:4:"), found
    assert "'MultimodalRunner' is deprecated: This API is experimental" in warnings[0]


LACKS = ("halves", "waves")
WRONG = """
import ExecuTorch

func said(_ call: () throws -> Any) -> String {
  do { return "no error: \\(try call())" } catch { return "\\(error)" }
}
let path = CommandLine.arguments[1]
let model = AllOfIt(filePath: path)
func floats(_ sizes: Int...) -> Tensor<Float> { Tensor.zeros(shape: sizes) }
print(said { try model.ranges(rows: floats(3, 3), pairs: floats(8), width: floats(1)) })
print(said { try model.ranges(rows: floats(3, 4), pairs: floats(6), width: floats(1)) })
let other = AllOfIt(filePath: CommandLine.arguments[2])
print(said { try other.delete() })
print(said { try other.useKvCache() })
print(said { try other.image(image: Tensor<UInt8>.zeros(shape: [1, 3, 2, 2])) })
print(said { try AllOfIt(filePath: "absent.pte").delete() })
print(try model.scalars(x: floats(4, 2)).output1, AllOfIt.labels[1])
"""
COMPILE = """
[ -f libExecuTorch.so ] || swiftc -emit-library -emit-module -module-name ExecuTorch -I {sources}/CExecuTorch \
  {sources}/Swift/*.swift -o libExecuTorch.so -L{library} -lexecutorch_c
swiftc -warnings-as-errors -I . -I {sources}/CExecuTorch AllOfIt.swift {main}/main.swift -o app -L. -lExecuTorch \
  -L{library} -lexecutorch_c -Xlinker -rpath -Xlinker . -Xlinker -rpath -Xlinker {library}
./app all.pte other.pte
"""


def test_a_typed_class_compiles_and_gives_the_numbers(tmp_path: Path) -> None:
    """Of `executorch wrap --lang swift`."""
    program = wrapped.write(tmp_path).rename(tmp_path / "all.pte")
    wrapped.save(tmp_path / "other.pte", wrapped.others(), use_kv_cache=2)
    chosen = [name for name in (*wrapped.EXPECTED, "store") if name not in LACKS]
    words = [word for name in chosen for word in ("--method", name)]
    _, caller = wrapped.wrapped(program, "swift", tmp_path, ".swift", "--name", "AllOfIt", *words)
    for folder in ("right", "wrong"):
        (tmp_path / folder).mkdir()
    caller.rename(tmp_path / "right" / "main.swift")
    (tmp_path / "wrong" / "main.swift").write_text(WRONG)
    places = {"sources": ROOT / "extension" / "apple" / "ExecuTorch", "library": build_folder()}
    printed = in_root(tmp_path, COMPILE.format(main="right", **places))
    names = {"getMaxSeqLen": "get_max_seq_len", "useKvCache": "use_kv_cache"}
    wrapped.same(printed, names, LACKS)
    printed = in_root(tmp_path, COMPILE.format(main="wrong", **places))
    for sentence in (
        "dimension 0 of input rows is 3, so dimension 0 of input pairs must be 6, got 8",
        "Input rows of method ranges, dimension 1: expected 3, found 4",
        "Method delete: expected 5 inputs, input x is missing",
        "Value is not a boolean",
        "No method named 'image' in program with 6 methods",
        "Cannot open absent.pte",
        f"4 {wrapped.LABELS[1]}",  # x.shape[0]
    ):
        assert sentence in printed, printed
