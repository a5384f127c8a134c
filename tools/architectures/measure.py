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

ENGINE = Path(__file__).resolve().parent / "engine.py"
ROOT = Path(__file__).resolve().parents[2]
LIMITS = {"seconds": 600, "memory": 16 << 30}
Answer = dict[str, Any]


class Engine:
    """A process that forks one process per job; imports (seconds) are paid once."""

    def __init__(self, python: str, folder: Path, label: str, modules: list[str]) -> None:
        hidden = ("PYTHONPATH", "VIRTUAL_ENV")
        environment = {k: v for k, v in os.environ.items() if k not in hidden}
        if python == sys.executable:
            environment["PYTHONPATH"] = str(ROOT / "src")
        self._answer = folder / f"{label}.answer"
        self._errors = (folder / f"{label}.errors").open("w")
        self._process = subprocess.Popen(
            [python, str(ENGINE), *modules],
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
            raise RuntimeError(f"an engine ended:\n{errors[-2000:]}")
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
        self._maker = Engine(transformers, self._work, "maker", ["transformers"])
        modules = ["executorch.exir", "executorch.runtime"]
        if lowering != "lower":
            modules.append("executorch.backends.xnnpack.partition.xnnpack_partitioner")
        self._engines = {"ours": Engine(sys.executable, self._work, "ours", modules)}
        if peer:
            self._engines["upstream"] = Engine(peer, self._work, "upstream", modules)

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
            for engine in self._engines:
                result[engine] = self._lower_and_run(engine, program)
        return result

    def _lower_and_run(self, engine: str, program: Path) -> Answer:
        file = program.with_name(f"{program.stem}-{engine}.pte")
        ask = self._engines[engine].ask
        bound = {"bound": engine == "ours"} if self._lowering == "lower" else {}
        found = ask(self._lowering, program=str(program), out=str(file), **bound)
        if "error" in found:
            return {"step": "lower", **found}
        ran = ask("run", program=str(file), calls=f"{program}.calls")
        return {**found, **ran, **({"step": "run"} if "error" in ran else {})}

    def close(self) -> None:
        for engine in (self._maker, *self._engines.values()):
            engine.close()
