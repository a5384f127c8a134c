# SPDX-License-Identifier: BSD-3-Clause
"""The interface's sources as one script, which Emscripten puts ahead of its own, and the package that npm takes:
`python bundle.py script OUT`, `python bundle.py package|threads CORE.js FOLDER`."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Each after those that it imports.
SOURCES = "raw memory dtypes tensor module text tokenizers interface".split()
LINE = re.compile(r"^import .*?;\n|^export ", re.M | re.S)


def script() -> str:
    """A function createExecuTorch(runtime), within which all other names are."""
    bodies = [LINE.sub("", (HERE / "src" / f"{name}.mjs").read_text()) for name in SOURCES]
    return (
        "const createExecuTorch = (() => {\n"
        + "\n".join(bodies)
        + "\nreturn createInterface;\n})();\n"
    )


def package(core: Path, folder: Path) -> None:
    """core: of Emscripten, with MODULARIZE and the name loadCore; its .wasm is beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    text = core.read_text()
    (folder / "core.mjs").write_text(text + "\nexport default loadCore;\n")
    (folder / "core.cjs").write_text(text + "\nmodule.exports = loadCore;\n")
    shutil.copy(core.with_suffix(".wasm"), folder / "executorch.wasm")
    for file in sorted((HERE / "package").iterdir()):
        shutil.copy(file, folder / file.name)
    version = (HERE.parents[1] / "version.txt").read_text().strip()
    described = json.loads((HERE / "package" / "package.json").read_text())
    (folder / "package.json").write_text(
        json.dumps({**described, "version": version}, indent=2) + "\n"
    )


def threads(core: Path, folder: Path) -> None:
    """The program with threads, a folder of the package: core.js is for Node and what its workers begin with."""
    folder.mkdir(parents=True, exist_ok=True)
    text = core.read_text()
    (folder / "core.js").write_text(text)
    (folder / "core.mjs").write_text(text + "\nexport default loadCore;\n")
    (folder / "package.json").write_text('{"type": "commonjs"}\n')
    shutil.copy(core.with_suffix(".worker.js"), folder / "executorch.worker.js")
    shutil.copy(core.with_suffix(".wasm"), folder / "executorch.wasm")


def main(argv: list[str]) -> None:
    if argv[0] == "script":
        Path(argv[1]).write_text(script())
    else:
        {"package": package, "threads": threads}[argv[0]](Path(argv[1]), Path(argv[2]))


if __name__ == "__main__":
    main(sys.argv[1:])
