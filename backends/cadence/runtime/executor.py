# SPDX-License-Identifier: BSD-3-Clause
"""`Executor`: runs a bundled program by `cadence_runner`, which it builds where it is missing."""

from __future__ import annotations

import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_log = logging.getLogger(__name__)
# Where the documents' commands have them, from the folder that they run in.
RUNNER = Path("cmake-out/backends/cadence/cadence_runner")
BUILD_SCRIPT = Path("backends", "cadence", "build_cadence_runner.sh")


def execute(args: Sequence[str | Path]) -> tuple[str, str]:
    """(stdout, stderr), which are passed on as well."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [str(each) for each in args]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        raise RuntimeError(f"Failed to execute. Use the following to debug: {shlex.join(words)}")
    return done.stdout, done.stderr


def runner(force_rebuild: bool = False) -> Path:
    """Of the build that EXECUTORCH_BUILD_DIR names, else of cmake-out."""
    built = os.environ.get("EXECUTORCH_BUILD_DIR")
    path = Path(built) / "backends" / "cadence" / "cadence_runner" if built else RUNNER
    if path.exists() and not force_rebuild:
        _log.info("Reusing existing runner at %s", path)
        return path.resolve()
    if not BUILD_SCRIPT.exists():
        raise RuntimeError(
            f"{path} is not built, and {BUILD_SCRIPT} is not here: run in the folder of the sources, or set "
            "EXECUTORCH_BUILD_DIR to a build with -DEXECUTORCH_CADENCE_CPU_RUNNER=ON"
        )
    execute([BUILD_SCRIPT])
    return RUNNER.resolve()


class Executor:
    """`working_dir` has <file_name>.bpte; events and values go there, too."""

    def __init__(
        self,
        working_dir: str = "",
        file_name: str = "CadenceDemoModel",
        force_rebuild: bool = False,
    ) -> None:
        self.folder = Path(working_dir)
        self.file_name = file_name
        self.force_rebuild = force_rebuild

    def __call__(self, debug_buffer_size: int = 262144) -> None:
        execute(
            [
                runner(self.force_rebuild),
                f"--bundled_program_path={self.folder / self.file_name}.bpte",
                f"--etdump_path={self.folder / 'etdump.etdp'}",
                f"--debug_output_path={self.folder / 'debug_output.bin'}",
                f"--debug_buffer_size={debug_buffer_size}",
                "--dump_outputs=true",
            ]
        )
