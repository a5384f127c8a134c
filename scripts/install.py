# SPDX-License-Identifier: BSD-3-Clause
"""Installs the Python package and what it needs into the active environment, or removes build results.

install_executorch.sh and install_requirements.sh at the root call this; on Windows call it directly.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD_RESULTS = ("cmake-out*", "pip-out*", "build", "dist", "*.egg-info", "src/*.egg-info")


def run(*command: str) -> None:
    print("+", " ".join(command), flush=True)
    if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
        sys.exit(f"error: `{' '.join(command)}` ended with code {code}; see the lines above")


def pip(*arguments: str) -> None:
    run(sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *arguments)


def install_requirements(examples: bool) -> None:
    """torch first and alone, so that nothing else chooses another build of it."""
    index = os.environ.get("TORCH_INDEX_URL")
    pip(*(["--index-url", index] if index else []), "-r", "scripts/requirements-torch.txt")
    pip("-r", "scripts/requirements.txt")
    if examples:
        pip("-r", "scripts/requirements-examples.txt")
    fetch = ROOT / "scripts" / "fetch_sources.sh"
    if fetch.exists() and shutil.which("bash"):
        run("bash", str(fetch))


def clean() -> None:
    """Build trees, pip's results, native modules beside their packages, and the compiler cache."""
    for pattern in BUILD_RESULTS:
        for path in ROOT.glob(pattern):
            print(f"removing {path.relative_to(ROOT)}")
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for folder in ("exir", "extension", "kernels"):
        for pattern in ("*.so", "*.pyd", "__pycache__"):
            for path in (ROOT / folder).rglob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    if shutil.which("ccache"):
        run("ccache", "--clear")


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=os.environ.get("EXECUTORCH_COMMAND"), description=__doc__)
    parser.add_argument("--clean", action="store_true", help="remove build results and stop")
    parser.add_argument(
        "-e", "--editable", action="store_true", help="Python edits show without a reinstall"
    )
    parser.add_argument(
        "-m", "--minimal", action="store_true", help="leave out what only examples need"
    )
    parser.add_argument(
        "--use-pt-pinned-commit",
        action="store_true",
        help="accepted for compatibility: the pinned PyTorch release is what is always installed",
    )
    parser.add_argument(
        "--optional-dependency",
        action="append",
        default=[],
        choices=["ethos_u", "openvino", "vgf"],
        help="also what tools for this processor need; may be given again",
    )
    parser.add_argument(
        "--requirements-only", action="store_true", help="dependencies, not the package"
    )
    parser.add_argument(
        "--example", action="store_true", help="with --requirements-only: examples' too"
    )
    return parser.parse_args(argv)


def main(argv: list[str]) -> None:
    options = parse(argv)
    if not (3, 10) <= sys.version_info[:2] < (3, 14):
        sys.exit(
            f"error: expected Python 3.10 to 3.13, found {sys.version.split()[0]}: activate another one"
        )
    if options.clean:
        clean()
        return
    examples = options.example if options.requirements_only else not options.minimal
    install_requirements(examples)
    if not options.requirements_only:
        extras = f"[{','.join(options.optional_dependency)}]" if options.optional_dependency else ""
        editable = ["--editable"] if options.editable else []
        pip(*editable, f".{extras}", "--no-build-isolation", "-v")
        print(
            "installed; try: python -m executorch.examples.portable.scripts.export --model_name=add"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
