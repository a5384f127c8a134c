# SPDX-License-Identifier: BSD-3-Clause
"""Runs inside the upstream wheel's environment: lowers saved programs and runs files, as a list of jobs says.

usage: python peer_side.py jobs.json     (a list of {"do": "lower" | "run", ...}; see peer.py)
This file imports nothing of this repository. Every job leaves its result or `<out>.error`.
"""

import json
import logging
import sys
import traceback
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import torch  # noqa: E402

from executorch.exir import ExecutorchBackendConfig, to_edge  # noqa: E402


def lower(job: dict) -> None:
    programs = {name: torch.export.load(path) for name, path in job["methods"].items()}
    config = ExecutorchBackendConfig(external_constants=job["external_constants"])
    program = to_edge(programs).to_executorch(config)
    out = Path(job["out"])
    with out.open("wb") as file:
        program.write_to_file(file)
    if job["external_constants"]:
        program.write_tensor_data_to_file(str(out.parent))


def run(job: dict) -> None:
    calls = torch.load(job["calls"], weights_only=True)
    results = []
    if job.get("data"):
        from executorch.extension.pybindings.portable_lib import _load_for_executorch

        module = _load_for_executorch(job["program"], job["data"])
        results = [[o.clone() for o in module.run_method(name, inputs)] for name, inputs in calls]
    else:
        from executorch.runtime import Runtime

        program = Runtime.get().load_program(job["program"])
        methods = {name: program.load_method(name) for name in sorted({name for name, _ in calls})}
        for name, inputs in calls:
            outputs = methods[name].execute(inputs)
            results.append([o.clone() if isinstance(o, torch.Tensor) else o for o in outputs])
    torch.save(results, job["out"])


def main() -> None:
    torch.set_grad_enabled(False)
    for job in json.loads(Path(sys.argv[1]).read_text()):
        try:
            {"lower": lower, "run": run}[job["do"]](job)
        except Exception:
            Path(job["out"] + ".error").write_text(traceback.format_exc())


main()
