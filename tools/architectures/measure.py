# SPDX-License-Identifier: BSD-3-Clause
"""One architecture through three environments: transformers' (model, eager, export), ours, upstream's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from executorch.tools.architectures.row import Architecture

SIDE = Path(__file__).resolve().parent / "side.py"
ROOT = Path(__file__).resolve().parents[2]
LIMITS = {"seconds": 600, "memory": 16 << 30}
Answer = dict[str, Any]


class Side:
    """A process that forks one process per job; imports (seconds) are paid once."""

    def __init__(self, python: str, folder: Path, label: str, modules: list[str]) -> None:
        hidden = ("PYTHONPATH", "VIRTUAL_ENV")
        environment = {k: v for k, v in os.environ.items() if k not in hidden}
        if python == sys.executable:
            environment["PYTHONPATH"] = str(ROOT / "src")
        self._answer = folder / f"{label}.answer"
        self._errors = (folder / f"{label}.errors").open("w")
        self._process = subprocess.Popen(
            [python, str(SIDE), *modules],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def ask(self, do: str, **job: Any) -> Answer:
        assert self._process.stdin and self._process.stdout
        job = {"do": do, "answer": str(self._answer), **LIMITS, **job}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            errors = Path(self._errors.name).read_text()
            raise RuntimeError(f"a side ended:\n{errors[-2000:]}")
        return json.loads(line)

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        self._errors.close()


class Measure:
    """`peer` None leaves upstream out. Files go to `work`. `lowering` is the job that makes one."""

    def __init__(
        self, transformers: str, peer: str | None, work: Path, lowering: str = "lower"
    ) -> None:
        self._lowering = lowering
        self._work = work.resolve()
        self._maker = Side(transformers, self._work, "maker", ["transformers"])
        modules = ["executorch.exir", "executorch.runtime"]
        if lowering != "lower":
            modules.append("executorch.backends.xnnpack.partition.xnnpack_partitioner")
        self._sides = {"ours": Side(sys.executable, self._work, "ours", modules)}
        if peer:
            self._sides["upstream"] = Side(peer, self._work, "upstream", modules)

    def __call__(self, row: Architecture) -> Answer:
        program = self._work / f"{row.name}.pt2"
        exported = self._maker.ask("export", row=row.as_json(), out=str(program))
        result = {
            "name": row.name,
            "kind": row.kind,
            "dynamic": {name: list(ends) for name, ends in row.sizes.items()},
            "export": exported,
        }
        if "refused" not in exported and "error" not in exported:
            for side in self._sides:
                result[side] = self._lower_and_run(side, program)
        return result

    def _lower_and_run(self, side: str, program: Path) -> Answer:
        file = program.with_name(f"{program.stem}-{side}.pte")
        ask = self._sides[side].ask
        bound = {"bound": side == "ours"} if self._lowering == "lower" else {}
        found = ask(self._lowering, program=str(program), out=str(file), **bound)
        if "error" in found:
            return {"step": "lower", **found}
        ran = ask("run", program=str(file), calls=f"{program}.calls")
        return {**found, **ran, **({"step": "run"} if "error" in ran else {})}

    def close(self) -> None:
        for side in (self._maker, *self._sides.values()):
            side.close()
