# SPDX-License-Identifier: BSD-3-Clause
"""One network: built here, exported, run eager; then lowered and run by engine.py here and, where asked, upstream."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from executorch.tools.accuracy import inputs
from executorch.tools.accuracy.networks import Network
from executorch.tools.measure.processes import environment_of

ENGINE = Path(__file__).resolve().parent / "engine.py"
LIMIT = 1800  # seconds for an engine
Answer = dict[str, Any]


class Prepared:
    """A network as files: its program, and its calls with eager's results."""

    def __init__(self, network: Network, packages: Path, work: Path) -> None:
        inputs.use(packages)
        self._work = work.resolve()
        self._program = self._work / f"{network.name}.pt2"
        self._calls = self._work / f"{network.name}.calls"
        model, calls = network.make(packages)
        model.eval()
        self.parameters = sum(each.numel() for each in model.parameters())
        with torch.no_grad():
            torch.export.save(torch.export.export(model, calls[0]), self._program)
            measured = [(call, pytree.tree_leaves(model(*call))) for call in calls]
        saved = {
            "calibration": calls[: network.calibration],
            "measured": measured[network.calibration :],
        }
        torch.save(saved, self._calls)

    def ask(self, python: str, backends: list[str]) -> Answer:
        """What engine.py answers, in float and int8."""
        return self._asked(python, {"backends": backends})

    def ask_recipes(self, backend: str) -> Answer:
        """By recipe of a backend of ours."""
        answer = self._asked(sys.executable, {"recipes of": backend})
        return {f"{backend} recipes": answer}

    def _asked(self, python: str, question: dict[str, Any]) -> Answer:
        job = {"program": str(self._program), "calls": str(self._calls), **question}
        done = subprocess.run(
            [python, str(ENGINE), json.dumps(job)],
            cwd=self._work,
            env=environment_of(python),
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            error = {"error": lines[-1] if lines else f"exit {done.returncode}"}
            return {"float": error, "int8": error}
        return json.loads(done.stdout.splitlines()[-1])
