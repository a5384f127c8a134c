# SPDX-License-Identifier: BSD-3-Clause
"""A network as files that every engine reads, and our three programs of it: floats, 8 bits everywhere, and auto."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from executorch.cli import automatic, exporting, main
from executorch.cli.export import parser
from executorch.devtools.accuracy.data import Data
from executorch.devtools.accuracy.evaluation import model_slots
from executorch.devtools.accuracy.readers import read
from executorch.tools.accuracy import inputs
from executorch.tools.accuracy.networks import Calls
from executorch.tools.bench.auto_quantize.cases import Case, Groups, flat
from executorch.tools.measure.processes import environment_of

RIVALS = Path(__file__).with_name("rivals.py")
OURS = ("float", "int8", "auto")
Answer = dict[str, Any]


class Network:
    """Files of a case in a folder: model.pt2; search/GROUP.npz, what --data names; calls.pt, the same samples as the
    search divides them; other.pt, other calls; other.npz, what the model gives for them."""

    def __init__(self, case: Case, packages: Path, folder: Path) -> None:
        self.case, self.folder = case, folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        inputs.use(packages)
        model, search, other = case.make(packages)
        model.eval()
        parameters = sum(each.numel() for each in model.parameters())
        self.model = self.folder / "model.pt2"
        with torch.no_grad():
            example = flat(search)[0]
            torch.export.save(torch.export.export(model, example, strict=False), self.model)
            _save(self.folder / "search", search)
            self.other = self.folder / "other.pt"
            torch.save(flat(other), self.other)
            self.wanted = [_outputs(model, call) for call in flat(other)]
            calibration, held = self._divided()
            pairs = [(call, [torch.from_numpy(o) for o in _outputs(model, call)]) for call in held]
        torch.save({"calibration": calibration, "held": pairs}, self.folder / "calls.pt")
        torch.save(calibration, self.folder / "calibration.pt")
        parts = {"calibration": calibration, "held": held, "other": self.wanted}
        self.about: Answer = {
            "name": case.name,
            "asked": case.asked,
            "parameters": parameters,
            "samples": {name: len(each) for name, each in parts.items()},
        }

    def _divided(self) -> tuple[Calls, Calls]:
        source = exporting.source(str(self.model)).to_be_quantized()
        data = read(self.folder / "search", model_slots(source.methods["forward"]))
        return tuple(_calls(part) for part in data.parts(automatic.SHARE, automatic.LARGEST))

    def answers(self) -> dict[str, Answer]:
        """Of engines, as `keep` got them in an earlier run."""
        path = self.folder / "answers.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def keep(self, answers: dict[str, Answer]) -> None:
        (self.folder / "answers.json").write_text(json.dumps(answers))

    def program(self, name: str) -> Answer:
        """Of OURS."""
        target, start = self.folder / f"{name}.pte", time.perf_counter()
        words = ["export", str(self.model), "-o", str(target), "--no-strict"]
        answer: Answer = {"files": [target.name]}
        try:
            if name == "auto":
                answer |= self._auto([*words[1:], "--quantize", "auto", "--loss", self.case.asked])
            else:
                calibrate = ["--calibrate", str(self.folder / "calibration.pt")]
                quantize = ["--quantize", "int8", *calibrate] if name == "int8" else []
                if main.main([*words, "--no-check", *quantize]) == 2:
                    raise ValueError("no program")
        except Exception as problem:
            return {"error": f"{type(problem).__name__}: {problem}"}
        answer["seconds"] = time.perf_counter() - start
        answer["bytes"] = target.stat().st_size
        return answer

    def _auto(self, words: list[str]) -> Answer:
        words += ["--data", str(self.folder / "search")]
        made = exporting.automatic_program(parser("export").parse_args(words))
        chosen = [option.form for option in made.found.chosen.chosen]
        return {
            "held": made.lost.value,
            "at most": made.lost.high,
            "layers": {form: chosen.count(form) for form in dict.fromkeys(sorted(chosen))},
        }

    def rival(self, name: str, python: str, limit: float) -> Answer:
        """`export` first. Error of its own, or that it took longer than `limit` seconds."""
        asked = float(self.case.asked.removesuffix("%")) / 100
        try:
            done = subprocess.run(
                [python, str(RIVALS), name, str(self.folder), str(asked)],
                cwd=self.folder,
                env=environment_of(python),
                capture_output=True,
                text=True,
                check=False,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            return {"error": f"no result in {limit:.0f} s"}
        lines = done.stdout.splitlines() or [""]
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if line.strip()]
            return {"error": errors[-1] if errors else f"exit {done.returncode}"}
        return json.loads(lines[-1])


def _save(folder: Path, groups: Groups) -> None:
    folder.mkdir(exist_ok=True)
    for name, calls in groups.items():
        stacked = [torch.stack(each).numpy() for each in zip(*calls, strict=True)]
        np.savez(folder / f"{name}.npz", *stacked)


def _calls(data: Data) -> Calls:
    return [tuple(torch.from_numpy(each) for each in sample.inputs) for sample in data]


def _outputs(model: torch.nn.Module, call: tuple[Tensor, ...]) -> list[np.ndarray]:
    return [each.numpy() for each in pytree.tree_leaves(model(*call))]
