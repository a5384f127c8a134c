# SPDX-License-Identifier: BSD-3-Clause
"""The documents' Swift and Objective-C of iOS compile: Swift with Swift 6's compiler over the layer's sources,
Objective-C with clang under GNUstep's Foundation and under ARC."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from executorch.extension.apple.test.objc import CLANG, MISSING, flags, run
from executorch.extension.apple.test.swift import NEEDS_SWIFT, in_root
from executorch.test.documents import guide
from executorch.test.e2e.build_tree import build_folder
from executorch.test.repository.sources import ROOT

PAGE = "ios.md"
SWIFT = guide.listings(PAGE, "swift")
OBJECTIVE_C = guide.listings(PAGE, "objectivec")
MANIFEST = "181.1"
# What the blocks of Swift take from earlier text.
TEXT_RUNNER = 'let runner = TextRunner(modelPath: "", tokenizerPath: "")'
MODULE = 'let module = Module(filePath: "")'
BEFORE = {
    **dict.fromkeys(("132.6", "132.8", "132.10", "132.12"), TEXT_RUNNER),
    "132.18": TEXT_RUNNER.replace("Text", "Multimodal"),
    "132.20": TEXT_RUNNER.replace("Text", "Multimodal")
    + '\nlet textInput = MultimodalInput(""), imageInput = textInput',
    "181.15": "let originalTensor = Tensor<Float>([1])",
    "181.23": "let anyTensor = AnyTensor.zeros(shape: [1], dataType: .float)",
    "181.25": "let anyTensor = AnyTensor.zeros(shape: [1], dataType: .float)",
    "181.27": "let tensor = Tensor<Float>([1, 2, 3, 4], shape: [2, 2])",
    **dict.fromkeys(("181.34", "181.36", "181.38", "181.40"), MODULE),
}
# Likewise of Objective-C: parameters of the function that the block stands in.
GIVEN = {
    **dict.fromkeys(("132.5", "132.7", "132.9", "132.11"), "ExecuTorchLLMTextRunner *runner"),
    "132.17": "ExecuTorchLLMMultimodalRunner *runner",
    "132.19": "ExecuTorchLLMMultimodalRunner *runner, id textInput, id imageInput",
    "181.14": "ExecuTorchTensor *originalTensor",
    **dict.fromkeys(("181.22", "181.24", "181.26"), "ExecuTorchTensor *tensor"),
    **dict.fromkeys(("181.33", "181.35", "181.37", "181.39"), "ExecuTorchModule *module"),
}
UMBRELLA = "ExecuTorch/ExecuTorch.h"
HEADERS = {
    "132.1": ["ExecuTorchLLM/ExecuTorchLLM.h"],
    "181.10": [
        UMBRELLA,
        "executorch/extension/module/module.h",
        "executorch/extension/tensor/tensor.h",
    ],
    "181.28": [UMBRELLA],
    "181.31": [UMBRELLA],
    "181.41": [UMBRELLA, "os/log.h"],
}
# Apple's logging, as far as the documents call it.
OS_LOG_SWIFT = """
enum OSLogType { case debug, info, error, fault }
func os_log(_ type: OSLogType, _ message: StaticString, _ arguments: Any...) {}
func os_log(_ message: StaticString, _ arguments: Any...) {}
"""
OS_LOG_C = """
enum { OS_LOG_TYPE_DEBUG, OS_LOG_TYPE_INFO, OS_LOG_TYPE_ERROR, OS_LOG_TYPE_FAULT };
#define OS_LOG_DEFAULT 0
static inline void et_log(int type, const char *text, id value) {}
#define os_log_with_type(log, type, ...) et_log(type, __VA_ARGS__)
#define os_log(log, ...) et_log(0, __VA_ARGS__)
"""


def kind(name: str, today: str) -> str:
    """How far the block is from the print: types in angle brackets are what the documents' pages have lost."""
    as_printed = guide.printed(PAGE)[name]
    if guide.fingerprint(today) == guide.fingerprint(as_printed):
        return "as printed"
    if guide.fingerprint(re.sub(r"<[^<>()]*>", "", today)) == guide.fingerprint(as_printed):
        return "as printed, with its types"
    return "changed"


def report(language: str, compiled: dict[str, str]) -> None:
    """The table of a full run: rows of document and language."""
    for document in ("132", "181"):
        kinds = Counter(kind(n, code) for n, code in compiled.items() if n.startswith(document))
        print(f"{document} {language}: {sum(kinds.values())} compiled: {dict(kinds)}")


def swift_file(listings: dict[str, str]) -> str:
    """Each block in a function of its own; classes and what they import stand outside."""
    imports, bodies = {"import ExecuTorch", "import ExecuTorchLLM", "import Foundation"}, []
    for name, code in listings.items():
        imports |= set(re.findall(r"^import .*$", code, re.M))
        code = re.sub(r"^import .*$", "", code, flags=re.M)
        if "class " in code:
            bodies.append(code)
        else:
            bodies.append(
                f"func listing{name.replace('.', '_')}() throws {{\n{BEFORE.get(name, '')}\n{code}}}\n"
            )
    return "\n".join([*sorted(imports), OS_LOG_SWIFT, *bodies])


def write_os_log(folder: Path) -> None:
    """The module os.log of Swift, the header os/log.h of Objective-C."""
    (folder / "os").mkdir()
    (folder / "os" / "log.h").write_text(OS_LOG_C)
    (folder / "os" / "empty.h").write_text("")
    (folder / "module.modulemap").write_text('module os { module log { header "os/empty.h" } }\n')


COMPILE = """
swiftc -emit-library -emit-module -module-name ExecuTorch -I {c} {apple}/Swift/*.swift -o libExecuTorch.so -L{library} \
  -lexecutorch_c
swiftc -emit-module -module-name ExecuTorchLLM -I {c} -I . {llm}/Swift/*.swift
swiftc -typecheck -D DEBUG -I {c} -I . listings.swift
swift package --package-path manifest --scratch-path build dump-package >manifest.json
! swiftc -typecheck -I {c} -I . wrong.swift 2>wrong.txt
grep "no exact matches\\|has no member" wrong.txt
"""


@pytest.mark.full
@NEEDS_SWIFT
@pytest.mark.req("APL-039", "APL-056", "APL-C05")
def test_the_swift_of_the_documents_compiles(tmp_path: Path) -> None:
    write_os_log(tmp_path)
    listings = {name: code for name, code in SWIFT.items() if name != MANIFEST}
    (tmp_path / "listings.swift").write_text(swift_file(listings))
    wrong = SWIFT["132.12"].replace("reset", "restart")
    (tmp_path / "wrong.swift").write_text(swift_file({"132.12": wrong}))
    (tmp_path / "manifest" / "Sources" / "YourTargetName").mkdir(parents=True)
    (tmp_path / "manifest" / "Package.swift").write_text(SWIFT[MANIFEST])
    places = {
        "c": ROOT / "extension/apple/ExecuTorch/CExecuTorch",
        "apple": ROOT / "extension/apple/ExecuTorch",
        "llm": ROOT / "extension/llm/apple/ExecuTorchLLM",
        "library": build_folder(),
    }
    assert "restart" in in_root(tmp_path, COMPILE.format(**places))
    assert '"executorch"' in (tmp_path / "manifest.json").read_text()
    report("Swift", SWIFT)
    assert Counter(name[:3] for name in SWIFT) == {"132": 10, "181": 18}


def objective_c_file(name: str, code: str) -> str:
    headers = iter(HEADERS.get(name, []))
    code = re.sub(r"^#import$", lambda _: f"#import <{next(headers)}>", code, flags=re.M)
    imports = "\n".join(re.findall(r"^#import .*$", code, re.M))
    code = re.sub(r"^#import .*$", "", code, flags=re.M)
    common = f"#import <{UMBRELLA}>\n#import <ExecuTorchLLM/ExecuTorchLLM.h>\n#include <stdlib.h>\n"
    if "@interface" in code:
        return common + imports + code
    return f"{common}{imports}\nvoid listing({GIVEN.get(name, 'void')}) {{\n{code}}}\n"


def objective_c_errors(path: Path, *more: str) -> list[str]:
    """What clang says of this file; headers of GCC have errors of their own under ARC."""
    words = [
        "-fsyntax-only", "-fobjc-runtime=gnustep-2.2", "-ferror-limit=0", "-DDEBUG=1", "-Werror=objc-method-access",
        f"-I{path.parent}", *more,
    ]  # fmt: skip
    found = run([CLANG, *flags(), *words, path]).stderr
    return [line for line in found.splitlines() if line.startswith(str(path)) and "error:" in line]


def compile_objective_c(folder: Path, name: str, code: str) -> list[str]:
    # Its headers of C++ are for Objective-C++.
    path = folder / f"listing_{name.replace('.', '_')}.{'mm' if name == '181.10' else 'm'}"
    path.write_text(objective_c_file(name, code))
    if path.suffix == ".mm":
        words = ["-std=gnu++17", f"-I{ROOT / 'src'}", f"-I{build_folder() / 'generated'}"]
        return objective_c_errors(path, *words)
    return [*objective_c_errors(path), *objective_c_errors(path, "-fobjc-arc")]


@pytest.mark.full
@pytest.mark.skipif(bool(MISSING), reason=f"needs {' '.join(MISSING)} (apt-get install)")
@pytest.mark.req("APL-039", "APL-056", "APL-C06")
def test_the_objective_c_of_the_documents_compiles(tmp_path: Path) -> None:
    write_os_log(tmp_path)
    layers = {
        "ExecuTorch": ROOT / "extension/apple/ExecuTorch/Exported",
        "ExecuTorchLLM": ROOT / "extension/llm/apple/ExecuTorchLLM/Exported",
    }
    for name, headers in layers.items():
        (tmp_path / name).symlink_to(headers)
    for name, code in OBJECTIVE_C.items():
        assert compile_objective_c(tmp_path, name, code) == []
    wrong = OBJECTIVE_C["132.11"].replace("reset", "restart")
    assert len(compile_objective_c(tmp_path, "132.11", wrong)) == 2
    report("Objective-C", OBJECTIVE_C)
    assert Counter(name[:3] for name in OBJECTIVE_C) == {"132": 10, "181": 16}


def test_which_blocks_are_not_as_printed() -> None:
    """The print has no such values, settings outside of their target, and class methods sent to objects."""
    blocks = SWIFT | OBJECTIVE_C
    assert {name for name, code in blocks.items() if kind(name, code) == "changed"} == {
        "132.13", "132.14", "181.1", "181.12", "181.13", "181.28", "181.37",
    }  # fmt: skip


RECORDER = """
import os, sys
def main():
    with open(os.environ["ASKED"], "a") as file:
        print(*sys.argv[1:], file=file)
"""


def write_recorder(folder: Path) -> None:
    """A pip that writes down what it is asked."""
    (folder / "pip" / "_internal" / "cli").mkdir(parents=True)
    for package in ("pip", "pip/_internal", "pip/_internal/cli"):
        (folder / package / "__init__.py").touch()
    (folder / "pip" / "_internal" / "cli" / "main.py").write_text(RECORDER)
    (folder / "pip" / "__main__.py").write_text(f"{RECORDER}main()\n")


def write_mirror(folder: Path) -> None:
    """What installing needs, as the branch that the documents clone; sources of others are not fetched."""
    apple = "backends/apple"
    names = [
        "install_requirements.sh",
        f"{apple}/requirements.txt",
        f"{apple}/coreml/scripts",
        "scripts",
    ]
    for name in names:
        for path in [ROOT / name] if (ROOT / name).is_file() else (ROOT / name).glob("*.*"):
            place = folder / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
    (folder / "scripts" / "fetch_sources.sh").write_text('echo fetched >>"$ASKED"\n')
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "-b", "viable/strict"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], check=True)


@pytest.mark.full
@pytest.mark.skipif(not (ROOT / "scripts" / "install.py").exists(), reason="needs a checkout")
@pytest.mark.req("APL-032")
def test_the_steps_before_a_build(tmp_path: Path) -> None:
    """Cloning, an environment and its requirements, as printed; Xcode and CMake's application need a Mac."""
    write_recorder(tmp_path / "recorded")
    write_mirror(tmp_path / "mirror")
    steps = guide.commands(PAGE)
    script = "\n".join(
        ["set -e", *(steps[f"181.{number}"] for number in (4, 5, 6)), "which python"]
    )
    asked = tmp_path / "asked.txt"
    settings = {
        "ASKED": str(asked), "PYTHONPATH": str(tmp_path / "recorded"), "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{tmp_path}/mirror.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/pytorch/executorch.git",
    }  # fmt: skip
    env = {key: value for key, value in os.environ.items() if key not in {"VIRTUAL_ENV", "PYTHON"}}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=env | settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path / "executorch" / ".venv" / "bin" / "python")
    lines = asked.read_text().splitlines()
    assert lines[0] == "install --upgrade pip" and "fetched" in lines
    assert any(line.endswith("-r scripts/requirements.txt") for line in lines)
    assert lines[-1] == f"install -r {tmp_path}/executorch/backends/apple/requirements.txt"
    assert Path(lines[-1].split()[-1]).is_file()


@pytest.mark.req("APL-036")
def test_the_command_that_resets_the_package_manager(tmp_path: Path) -> None:
    """It removes the caches of SwiftPM and Xcode and nothing beside them. Today's folders are those that it names."""
    command = guide.commands(PAGE)["181.44"]
    library = "Library/Caches/org.swift.swiftpm Library/Caches/com.apple.dt.Xcode Library/org.swift.swiftpm"
    caches = [*library.split(), "Library/Developer/Xcode/DerivedData"]
    resolved = ".xcodeproj/project.xcworkspace/xcshareddata"
    for name in (*caches, "Library/Caches/other", "Library/Developer/Xcode/Archives"):
        (tmp_path / name / "inside").mkdir(parents=True)
    (tmp_path / "project" / resolved / "swiftpm").mkdir(parents=True)
    (tmp_path / "project" / resolved / "kept").touch()
    subprocess.run(
        ["sh", "-ec", command], cwd=tmp_path / "project", check=True,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert not any((tmp_path / name).exists() for name in caches)
    assert (tmp_path / "Library/Caches/other/inside").is_dir()
    assert (tmp_path / "Library/Developer/Xcode/Archives/inside").is_dir()
    assert [path.name for path in (tmp_path / "project" / resolved).iterdir()] == ["kept"]
