# SPDX-License-Identifier: BSD-3-Clause
"""Swift on this system: a root that extension/apple/scripts/swift_root.sh makes, named by EXECUTORCH_SWIFT_ROOT."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import build_folder, loadable
from executorch.test.repository.sources import ROOT
from executorch.tools.apple.frameworks import AVAILABLE
from executorch.tools.apple.package import variants

SWIFT = os.environ.get("EXECUTORCH_SWIFT_ROOT", "")
SCRIPT = ROOT / "extension" / "apple" / "scripts" / "swift_root.sh"
NEEDS_SWIFT = pytest.mark.skipif(not SWIFT, reason="needs EXECUTORCH_SWIFT_ROOT, of swift_root.sh")


def in_root(folder: Path, commands: str) -> str:
    """What the commands print, run in `folder`; they must not fail."""
    folders = f"{ROOT}:{build_folder()}:{loadable('executorch_c').parent}:{folder}"
    words = ["timeout", "600", "sh", "-ec", f"cd {folder} && {commands}"]
    done = subprocess.run(
        [SCRIPT, SWIFT, "--run", folders, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


# Modules of both layers, as an app in Release has them, and a program of each file, over libexecutorch_c.
_COMPILE = """
swiftc -O -emit-library -emit-module -module-name ExecuTorch -I {c} {core}/*.swift -L{library} -lexecutorch_c \
  -o libExecuTorch.so
swiftc -O -emit-library -emit-module -module-name ExecuTorchLLM -I {c} -I . {llm}/*.swift -L. -lExecuTorch \
  -L{library} -lexecutorch_c -o libExecuTorchLLM.so
for name in {names}; do
  swiftc -O -parse-as-library -warnings-as-errors -I . -I {c} {programs}/$name.swift -L. -lExecuTorch \
    -lExecuTorchLLM -L{library} -lexecutorch_c -Xlinker -rpath -Xlinker . -Xlinker -rpath -Xlinker {library} -o $name
done
"""


def compile_programs(folder: Path, *names: str) -> None:
    """Of the files in swift/. glibc's figures of the heap are the module Heap, which Swift's Glibc leaves out."""
    (folder / "heap.h").write_text("#include <malloc.h>\n")
    (folder / "module.modulemap").write_text('module Heap { header "heap.h" }\n')
    places = {
        "c": ROOT / "extension/apple/ExecuTorch/CExecuTorch",
        "core": ROOT / "extension/apple/ExecuTorch/Swift",
        "llm": ROOT / "extension/llm/apple/ExecuTorchLLM/Swift",
        "programs": Path(__file__).parent / "swift",
        "library": loadable("executorch_c").parent,
    }
    in_root(folder, _COMPILE.format(names=" ".join(names), **places))


_FRAMEWORK = """<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
<key>AvailableLibraries</key><array/>
<key>CFBundlePackageType</key><string>XFWK</string>
<key>XCFrameworkFormatVersion</key><string>1.0</string>
</dict></plist>
"""


def write_package_of_frameworks(folder: Path) -> list[str]:
    """The package as in a checkout behind build_apple_frameworks.sh, with frameworks that have nothing in them. Their
    names."""
    folder.mkdir()
    shutil.copy(ROOT / "Package.swift", folder)
    shutil.copytree(ROOT / ".Package.swift", folder / ".Package.swift")
    names = [framework.name + suffix for framework, suffix in variants(AVAILABLE)]
    for name in names:
        (folder / "cmake-out" / f"{name}.xcframework").mkdir(parents=True)
        (folder / "cmake-out" / f"{name}.xcframework" / "Info.plist").write_text(_FRAMEWORK)
    return names
