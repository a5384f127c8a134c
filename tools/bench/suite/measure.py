# SPDX-License-Identifier: BSD-3-Clause
"""A network on several engines, each in its own process, in turns."""

from __future__ import annotations

import random
import statistics
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

from executorch.tools.bench.suite.network import Network
from executorch.tools.bench.suite.ratios import RIGHT
from executorch.tools.measure.processes import Worker, ahead

HERE = str(Path(__file__).parent)
CODE = f"import sys; sys.path.insert(0, {HERE!r}); from engines import process; process.main()"
SECONDS = 600  # to lower, load and run once, in all ways
TURN_MILLISECONDS = 250
NETWORKS_PER_PROCESS = 8  # exporters and runtimes keep memory
SETTLE_SECONDS = 0.02  # threads that wait for work go to sleep before the next engine begins
Answer = dict[str, Any]


class Engine:
    """`label` runs `kind` of engines/process.py under `python`; its process is started anew after it died."""

    def __init__(self, label: str, kind: str, python: str, folder: Path, threads: int) -> None:
        self.label, self.python = label, python
        self._kind, self._folder, self._threads = kind, folder, threads
        self._worker: Worker | None = None
        self._prepared = 0

    def start(self) -> Worker:
        if self._worker is None:
            self._worker = Worker(self.python, CODE, self._folder, self.label)
            self._worker.ask(["threads", self._threads])
        return self._worker

    def ask(self, question: list[Any]) -> Any:
        try:
            answer = self.start().ask(question)
        except (RuntimeError, BrokenPipeError) as problem:
            self.close()
            answer = {"error": f"the process ended (a limit is {SECONDS} s): {str(problem)[-300:]}"}
        return answer

    def prepare(self, precision: str, program: Path, calls: Path) -> Answer:
        if self._prepared % NETWORKS_PER_PROCESS == 0:
            self.close()
        self._prepared += 1
        names = [str(program), str(calls)]
        return self.ask(["prepare", self._kind, precision, *names, SECONDS, RIGHT[precision]])

    def accuracy(self, precision: str, program: Path, calls: Path) -> Answer:
        """How far from eager each of the other calls is. Takes its time: nothing is measured that others disturb."""
        limit = 4 * SECONDS
        answer = self.ask(["accuracy", self._kind, precision, str(program), str(calls), limit])
        return answer if isinstance(answer, dict) else {"differences": answer}

    def convert(self, program: Path, calls: Path) -> str:
        """The ONNX file of a program, or a name that no runtime can open."""
        answer = self.ask(["convert", "float", str(program), str(calls), SECONDS])
        return answer if isinstance(answer, str) else f"{program}.onnx"

    def process(self) -> Worker | None:
        return self._worker

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def save(
    network: Network,
    folder: Path,
    others: int = 0,
    batch: int = 1,
    dtype: torch.dtype | None = None,
) -> tuple[Path, Path]:
    """The exported program, and its calls: the inputs with eager's results, and so many others. `batch`: inputs stand
    so many times in each; `dtype`: of weights and floating inputs."""
    module, inputs = network.build()
    module = module if dtype is None else module.to(dtype)

    def asked(of: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        tensors = (torch.cat([each] * batch) for each in of)
        return tuple(
            each.to(dtype) if dtype and each.is_floating_point() else each for each in tensors
        )

    def results(of: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
        return list(torch.utils._pytree.tree_leaves(module(*of)))

    inputs = asked(inputs)
    with torch.no_grad():
        expected = results(inputs)
        further = [(list(other), results(other)) for other in map(asked, network.others(others))]
        program = torch.export.export(module, inputs, strict=False)
    path = folder / f"{network.name}.pt2"
    torch.export.save(program, path)
    torch.save((list(inputs), expected, further), f"{path}.calls")
    return path, Path(f"{path}.calls")


def prepare(engines: list[Engine], program: Path, calls: Path, precision: str) -> dict[str, Answer]:
    """Interpreters beside each other; the engines of one come in order, as they share what they convert."""
    chains: dict[str, list[Engine]] = defaultdict(list)
    for engine in engines:
        chains[engine.python].append(engine)

    def one_by_one(chain: list[Engine]) -> dict[str, Answer]:
        return {engine.label: engine.prepare(precision, program, calls) for engine in chain}

    with ThreadPoolExecutor(len(chains)) as pool:
        answers = [
            answer for each in pool.map(one_by_one, chains.values()) for answer in each.items()
        ]
    return dict(answers)


def measure(
    engines: list[Engine], found: dict[str, Answer], rounds: int, priority: int, seed: int = 0
) -> None:
    """Puts milliseconds into what preparing found, or what went wrong while running. Engines take turns; in each round
    their order is drawn. `ms` and `busy` are minima, `median` that of the rounds' medians, `rounds` each one's
    minimum."""
    runs: dict[str, int] = {}
    order = random.Random(seed)
    processes = [process.pid for engine in engines if (process := engine.process())]
    with ahead(processes, priority):
        for number in range(rounds + 1):  # the first round tells how many runs make a turn
            for engine in order.sample(engines, len(engines)):
                answer = found[engine.label]
                if "error" in answer:
                    continue
                taken = engine.ask(["run", runs.get(engine.label, 3)])
                if isinstance(taken, dict):
                    answer |= taken
                    continue
                passed = [each for each, _ in taken]
                runs[engine.label] = max(2, min(50, int(TURN_MILLISECONDS / min(passed))))
                if number:
                    answer.setdefault("rounds", []).append(min(passed))
                    answer.setdefault("medians", []).append(statistics.median(passed))
                    busy = min(each for _, each in taken)
                    answer["busy"] = min(answer.get("busy", busy), busy)
                time.sleep(SETTLE_SECONDS)
    for answer in found.values():
        if "rounds" in answer:
            answer["ms"] = min(answer["rounds"])
            answer["median"] = statistics.median(answer.pop("medians"))
