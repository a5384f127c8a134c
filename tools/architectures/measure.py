# SPDX-License-Identifier: BSD-3-Clause
"""One architecture through three environments: transformers' (model, eager, export), ours, upstream's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from executorch.tools.architectures.row import Architecture
from executorch.tools.measure.processes import Program, environment_of

ENGINE = Path(__file__).resolve().parent / "engine.py"
LIMITS = {"seconds": 600, "memory": 16 << 30}
Answer = dict[str, Any]


class Engine(Program):
    """A process that forks one process per job; imports (seconds) are paid once."""

    def __init__(self, python: str, folder: Path, label: str, modules: list[str]) -> None:
        self._answer = folder / f"{label}.answer"
        super().__init__([python, str(ENGINE), *modules], folder, label, environment_of(python))

    def do(self, what: str, **job: Any) -> Answer:
        return self.ask({"do": what, "answer": str(self._answer), **LIMITS, **job})


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
        exported = self._maker.do("export", row=row.as_json(), out=str(program))
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
        ask = self._engines[engine].do
        bound = {"bound": engine == "ours"} if self._lowering == "lower" else {}
        found = ask(self._lowering, program=str(program), out=str(file), **bound)
        if "error" in found:
            return {"step": "lower", **found}
        ran = ask("run", program=str(file), calls=f"{program}.calls")
        return {**found, **ran, **({"step": "run"} if "error" in ran else {})}

    def close(self) -> None:
        for engine in (self._maker, *self._engines.values()):
            engine.close()
