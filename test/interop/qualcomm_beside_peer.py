# SPDX-License-Identifier: BSD-3-Clause
"""Networks lowered here and by the released package, in turns, each with a recorder in the SDK's place: delegates,
calls that are left on the CPU, and seconds of the processor of both.

    python -m executorch.test.interop.qualcomm_beside_peer [--quantize 8a8w] [--refuse TYPE ...] [NAME ...]"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from executorch.backends.test.corpus import NETWORKS, rows
from executorch.examples.models import NETWORKS as EXAMPLES
from executorch.examples.models import make_example
from executorch.test.interop import peer
from executorch.test.interop import qualcomm_networks as networks

Made = tuple[torch.nn.Module, tuple[Any, ...]]
ROW = "{:28} {:>9} {:>5} {:>9} {:>5} {:>8} {:>8} {:>6}"


def chosen() -> dict[str, Callable[[], Made]]:
    """The suite's networks, with the sizes that they are exported with, and the examples'."""
    found: dict[str, Callable[[], Made]] = {}
    for row in rows():
        if row.family in NETWORKS:
            name = re.sub(r"[^a-z0-9]+", "-", row.id.partition("/")[2].lower())[:24].strip("-")
            found[name] = lambda row=row: (row.static().module(), row.inputs)
    for name in EXAMPLES:
        method = lambda name=name: make_example(name).forward  # noqa: E731
        found[name] = lambda method=method: (method().module.eval(), method().inputs)
    return found


class Worker:
    """A process that lowers networks of a folder, one after the other; another one where it aborts."""

    def __init__(self, python: str, words: Sequence[str]) -> None:
        paths = {"PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"}
        self._environment = {
            **os.environ,
            **paths,
            "QNN_SDK_ROOT": "/no/sdk",
        }  # or 1.4.1 fetches one
        if python != sys.executable:
            self._environment.pop("PYTHONPATH", None)
        self._command, self._folder = [python, str(Path(networks.__file__)), *words], words[0]
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command, env=self._environment, cwd=self._folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def result_of(self, name: str) -> dict[str, Any]:
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        for text in self._process.stdout:
            if text.startswith(networks.REPLY):
                return json.loads(text.removeprefix(networks.REPLY))
        status = self._process.wait()
        self._start()
        return {"error": f"the process ended with {status}"}

    def end(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def write(name: str, make: Callable[[], Made], folder: Path) -> None:
    torch.manual_seed(0)
    module, inputs = make()
    with torch.no_grad():
        torch.export.save(torch.export.export(module, inputs), folder / f"{name}.pt2")


def line(name: str, theirs: dict[str, Any], ours: dict[str, Any]) -> str:
    cells = [name]
    for each in (theirs, ours):
        cells += ["error", "-"] if "error" in each else [each["delegates"], calls_left(each)]
    times = [each.get("seconds") for each in (theirs, ours)]
    cells += ["-" if each is None else f"{each:.2f}" for each in times]
    cells += ["-" if None in times else f"{times[0] / times[1]:.1f}"]
    return ROW.format(*cells)


def calls_left(found: dict[str, Any]) -> int:
    return sum(found["left"].values())


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="of networks; default: all")
    parser.add_argument("--quantize", default="", help="dtypes, such as 8a8w; default: floats")
    parser.add_argument(
        "--refuse", nargs="*", default=[], metavar="TYPE", help="of QNN's operators"
    )
    options = parser.parse_args(argv)
    words = ["--quantize", options.quantize, "--refuse", *options.refuse]
    known = chosen()
    compared = []
    print(ROW.format("network", "delegates", "left", "delegates", "left", "1.4.1 s", "s", "times"))
    with tempfile.TemporaryDirectory() as folder:
        workers = [Worker(each, [folder, *words]) for each in (peer.python(), sys.executable)]
        chosen_names = options.names or list(known)
        write(chosen_names[0], known[chosen_names[0]], Path(folder))
        for each in workers:
            each.result_of(chosen_names[0])  # what is imported at first use is in nobody's time
        for name in chosen_names:
            write(name, known[name], Path(folder))
            theirs, ours = (each.result_of(name) for each in workers)
            print(line(name, theirs, ours), flush=True)
            for who, found in (("1.4.1", theirs), ("here", ours)):
                for text in filter(None, (found.get("error"), found.get("left"))):
                    print(f"    {who}: {text}")
            if "error" not in theirs and "error" not in ours:
                compared.append((theirs, ours))
        for each in workers:
            each.end()
    more = sum(
        calls_left(b) > calls_left(a) or b["delegates"] > a["delegates"] for a, b in compared
    )
    faster = sum(a["seconds"] >= 5 * b["seconds"] for a, b in compared)
    print(
        f"{len(compared)} networks of both: more delegates or calls left here in {more}; 5 times faster in {faster}"
    )


if __name__ == "__main__":
    main()
