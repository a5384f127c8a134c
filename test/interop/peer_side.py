# SPDX-License-Identifier: BSD-3-Clause
"""Runs inside the upstream wheel's environment: lowers saved programs and runs files, as a list of jobs says.

usage: python peer_side.py jobs.json     (a list of {"do": "lower" | "read" | "run", ...}; see peer.py)
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
    edge = to_edge(programs)
    if job.get("partitioner"):
        edge = edge.to_backend(partitioner_named(job["partitioner"]))
    program = edge.to_executorch(config)
    out = Path(job["out"])
    with out.open("wb") as file:
        program.write_to_file(file)
    if job["external_constants"]:
        program.write_tensor_data_to_file(str(out.parent))


def partitioner_named(name: str) -> object:
    if name == "xnnpack":
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        return XnnpackPartitioner()
    from executorch.exir.backend.test.op_partitioner_demo import AddMulPartitionerDemo

    return AddMulPartitionerDemo()


def read(job: dict) -> None:
    """The delegates of a file as the peer's reader sees them: [backend, {key: spec}, blob] in hexadecimal."""
    from executorch.exir._serialize._program import deserialize_pte_binary

    program = deserialize_pte_binary(Path(job["program"]).read_bytes()).program
    found = []
    for plan in program.execution_plan:
        for delegate in plan.delegates:
            blob = program.backend_delegate_data[delegate.processed.index].data
            specs = {spec.key: bytes(spec.value).hex() for spec in delegate.compile_specs}
            found.append([delegate.id, specs, bytes(blob).hex()])
    Path(job["out"]).write_text(json.dumps(found))


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
            {"lower": lower, "read": read, "run": run}[job["do"]](job)
        except Exception:
            Path(job["out"] + ".error").write_text(traceback.format_exc())


main()
