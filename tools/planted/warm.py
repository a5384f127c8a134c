# SPDX-License-Identifier: BSD-3-Clause
"""Processes that have imported what tests import: each run of tests is a fork of one, and starts some seconds earlier.

They read one JSON line for a run (`words` of pytest, `log`, `limit` in seconds, and `file`, `old`, `new` where one is
hot) and answer with one line: pytest's exit status, `late`, or `cold`. `collect`: a file of tests that a hot one is to
import, before anything is planted.

A cold one has imported PyTorch and nothing of the tree: its runs read what was planted from the file. A hot one has
the tree and its tests as well, and puts the planted text into the functions that are there (swap.py), which takes no
imports; it says `cold` where that cannot be.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

IMPORTED = (
    "numpy", "yaml", "torch", "torch.export", "torch._dynamo", "torch._export.serde.serialize",
    "torch._inductor.decomposition", "torchao", "torchao.quantization.pt2e", "pytest",
)  # fmt: skip
LATE, COLD = "late", "cold"


class Warm:
    """One of them, seen from the process that plants."""

    def __init__(
        self,
        folder: Path,
        environment: dict[str, str],
        hot: bool = False,
        imported: tuple[str, ...] = IMPORTED,
    ) -> None:
        # By run_path: a script's own folder would stand first on sys.path, with our copy.py before Python's.
        start = (
            f"import runpy; runpy.run_path({str(Path(__file__).absolute())!r}, run_name='__main__')"
        )
        if hot:  # threads do not survive a fork: of OpenMP, nor of a driver of Vulkan
            alone = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "VK_ICD_FILENAMES": os.devnull}
            environment = {**environment, **alone}
        self._process = subprocess.Popen(
            [sys.executable, "-c", start, *imported], cwd=folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def pytest(self, words: list[str], log: Path, limit: float, **swap: str) -> int | str:
        """The exit status, LATE where it had no end within the limit, or COLD."""
        return self._asked({"words": words, "log": str(log), "limit": limit, **swap})

    def collect(self, path: str) -> bool:
        """Whether a file of tests could be imported."""
        return self._asked({"collect": path}) == 0

    def _asked(self, asked: dict[str, Any]) -> int | str:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it says nothing then, below
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if not answer:
            raise RuntimeError(f"the process that runs tests ended with {self._process.wait()}")
        return answer if answer in (LATE, COLD) else int(answer)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _run(asked: dict[str, Any]) -> None:
    """In the fork."""
    os.setsid()
    file = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for place, source in ((0, os.open(os.devnull, os.O_RDONLY)), (1, file), (2, file)):
        os.dup2(source, place)
    import pytest

    status = 3  # pytest's own number for an error of its own
    try:
        status = int(pytest.main(asked["words"]))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _forked(asked: dict[str, Any], swap: Any) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        if swap is not None:
            done = swap(asked["file"], asked["old"], asked["new"])
            os.write(writer, b"1" if done else b"0")
            if not done:
                os._exit(0)
        os.close(writer)
        _run(asked)
    os.close(writer)
    with os.fdopen(reader, "rb") as output:
        if swap is not None and output.read(1) != b"1":
            os.waitpid(child, 0)
            return COLD
    end = time.monotonic() + asked["limit"]
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return str(os.waitstatus_to_exitcode(status))
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return LATE


def _collected(path: str) -> int:
    """Imports a file of tests as pytest does; pytest's exit status."""
    import pytest

    return int(pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", path]))


def serve() -> None:
    answers = os.fdopen(os.dup(1), "w")  # what is imported may print as it likes
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for name in sys.argv[1:]:
        with contextlib.suppress(ImportError):  # tests say what they lack
            importlib.import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        if "collect" in asked:
            print(_collected(asked["collect"]), file=answers, flush=True)
            continue
        swap = None
        if "file" in asked:
            from executorch.tools.planted.swap import swapped as swap
        print(_forked(asked, swap), file=answers, flush=True)


if __name__ == "__main__":
    serve()
