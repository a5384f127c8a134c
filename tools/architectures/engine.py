# SPDX-License-Identifier: BSD-3-Clause
"""Runs inside one environment (transformers', ours or upstream's) and forks one process per job.

usage: python engine.py < jobs     one JSON job a line; answers one JSON line each. Imports nothing of this repository
but the public package `executorch`, so that the same code asks both implementations.
"""

import ctypes
import json
import logging
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import torch  # noqa: E402
import weights  # noqa: E402  (beside this file: the folder of a script is where it imports from)
from models import build, tensor  # noqa: E402

FAINT = 1e-3


def sizes_to_try(sizes: dict[str, list[int]]) -> list[dict[str, int]]:
    """Between first (it is what the export sees), then the minimum and the maximum."""
    between = {name: (low + high) // 2 for name, (low, high) in sizes.items()}
    ends = [{name: ends[which] for name, ends in sizes.items()} for which in (0, 1)]
    return [between, *ends] if sizes else [{}]


def dynamic_shapes(row: dict) -> dict | None:
    if not row["sizes"]:
        return None
    dims = {n: torch.export.Dim(n, min=low, max=high) for n, (low, high) in row["sizes"].items()}
    shapes = [wanted["shape"] for wanted in row["inputs"].values()]
    return {
        "inputs": tuple({axis: dims[s] for axis, s in enumerate(sh) if s in dims} for sh in shapes)
    }


def export(job: dict) -> dict:
    """Builds the model, asks eager for the results, exports and saves all of it."""
    row, out = job["row"], Path(job["out"])
    model = build(row)
    tries = sizes_to_try(row["sizes"])
    calls = [tuple(tensor(wanted, sizes) for wanted in row["inputs"].values()) for sizes in tries]
    weights.draw(model, calls[0])
    with torch.no_grad():
        expected = [model(*call) for call in calls]
    start = time.perf_counter()
    try:
        with torch.no_grad():
            program = torch.export.export(
                model, calls[0], dynamic_shapes=dynamic_shapes(row), strict=False
            )
    except Exception as problem:
        return {"refused": f"{type(problem).__name__}: {first_line(problem)}"}
    seconds = time.perf_counter() - start
    torch.export.save(program, out)
    torch.save([(list(c), list(e)) for c, e in zip(calls, expected)], f"{out}.calls")
    size = sum(p.numel() * p.element_size() for p in model.parameters())
    return {
        "export_seconds": seconds,
        "weights": size,
        "nodes": len(program.graph.nodes),
        "norm": min(norm(each) for results in expected for each in results),
        "dead": sorted({i for results in expected for i, e in enumerate(results) if is_dead(e)}),
    }


def norm(output: torch.Tensor) -> float:
    """Root of the mean square; 1 where there is nothing to measure."""
    return float(output.double().square().mean().sqrt()) if output.numel() else 1.0


def is_dead(output: torch.Tensor) -> bool:
    """Whether `output` cannot tell right from wrong: all but zero beside the unit scale that weights.draw gives to
    signals, all but constant, or not finite."""
    if output.numel() == 0:
        return False
    values, size = output.double(), norm(output)
    if not values.isfinite().all() or size < FAINT:
        return True
    return values.numel() > 1 and float(values.std()) < FAINT * size


def first_line(problem: Exception) -> str:
    return next((line.strip() for line in str(problem).splitlines() if line.strip()), "")[:300]


def lower(job: dict) -> dict:
    """Lowers without a delegate and writes the file; counts what was planned."""
    from executorch.exir import ExecutorchBackendConfig, to_edge

    program = torch.export.load(job["program"])
    start = time.process_time()
    manager = to_edge(program).to_executorch(ExecutorchBackendConfig())
    with open(job["out"], "wb") as file:
        manager.write_to_file(file)
    seconds = time.process_time() - start
    sizes = manager.executorch_program.execution_plan[0].non_const_buffer_sizes
    found = {
        "cpu_seconds": seconds,
        "bytes": os.path.getsize(job["out"]),
        "planned": sum(sizes),
    }
    if job.get("bound"):
        found["bound"] = bound(manager.exported_program())
    return found


def delegate(job: dict) -> dict:
    """Lowers with XNNPACK and writes the file; counts delegates, and by operator what they leave."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.devtools.backend_debug import get_delegation_info
    from executorch.exir import to_edge_transform_and_lower

    program = torch.export.load(job["program"])
    start = time.process_time()
    manager = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    info = get_delegation_info(manager.exported_program().graph_module)
    with open(job["out"], "wb") as file:
        manager.to_executorch().write_to_file(file)
    rows = info.delegation_by_operator.items()
    left = {name: row.non_delegated for name, row in rows if row.non_delegated}
    left.pop("getitem", None)  # gives an operator's results names, computes nothing
    return {
        "cpu_seconds": time.process_time() - start,
        "delegates": info.num_delegated_subgraphs,
        "left": left,
    }


def forecast(job: dict) -> dict:
    """Lowers with XNNPACK and writes the file; what doctor's forecast says, and what is not delegated then."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.devtools.commands.arguments.options import XNNPACK
    from executorch.devtools.commands.doctor import examine, forecast
    from executorch.devtools.commands.program_file import ProgramFile
    from executorch.exir import to_edge_transform_and_lower
    from executorch.exir.lowered_backend_module import get_lowered_backend_modules

    lowered = to_edge_transform_and_lower(
        torch.export.load(job["program"]),
        partitioner=[XnnpackPartitioner()],
        generate_etrecord=True,
    )
    module = lowered.exported_program().graph_module
    outside = calls_of(module)
    inside = {
        name
        for each in get_lowered_backend_modules(module)
        for name in calls_of(each.original_module.graph_module)
    }
    program = lowered.to_executorch()
    with open(job["out"], "wb") as file:
        program.write_to_file(file)
    record = program.get_etrecord()
    reasons = forecast([XNNPACK], record)
    findings, _, _ = examine(ProgramFile(Path(job["out"])), record)
    why: dict = {}
    for name in outside & reasons.keys():
        reason = reasons[name].rpartition(": ")[2]  # without the operand's name
        why[reason] = why.get(reason, 0) + 1
    return {
        "forecast": len(reasons.keys() & (outside | inside)),
        "undelegated": len(outside),
        "missed": sorted(outside - reasons.keys()),
        "wrong": sorted(reasons.keys() & inside),
        "why": why,
        "findings": len(findings),
        "lines": sum(bool(each.lines) for each in findings),
    }


def calls_of(module: torch.fx.GraphModule) -> set:
    """Names of the calls of operators."""
    return {
        node.name
        for node in module.graph.nodes
        if node.op == "call_function"
        and not any(word in str(node.target) for word in ("getitem", "call_delegate"))
    }


def bound(program: torch.export.ExportedProgram) -> int:
    """The largest live set of a planned method, as our planner counts it."""
    from executorch.exir.memory_planning import peak_live_bytes, update_all_tensors_lifetime

    return peak_live_bytes(
        update_all_tensors_lifetime(program.graph_module, program.graph_signature)
    )


def run(job: dict) -> dict:
    """Runs the file on every call and compares with eager: the largest norm of a difference, relative to the norm of
    what eager gives."""
    from executorch.runtime import Runtime

    method = Runtime.get().load_program(job["program"]).load_method("forward")
    worst = 0.0
    for inputs, expected in torch.load(job["calls"], weights_only=True):
        results = method.execute(inputs)
        assert len(results) == len(expected), f"{len(results)} results, expected {len(expected)}"
        worst = max([worst, *(difference(r, e) for r, e in zip(results, expected))])
    return {"difference": worst}


def difference(result: object, expected: torch.Tensor) -> float:
    """||result - expected|| / ||expected||; infinite where one of them is not a number and the other is."""
    result = torch.as_tensor(result)
    assert result.shape == expected.shape, f"shape {result.shape}, expected {expected.shape}"
    left, right = result.double(), expected.double()
    same = (left == right) | (left.isnan() & right.isnan())
    if bool(same.all()):
        return 0.0
    gap = float(torch.where(same, 0.0, left - right).norm() / right[right.isfinite()].norm())
    return gap if gap == gap else float("inf")


DO = {"export": export, "lower": lower, "delegate": delegate, "forecast": forecast, "run": run}


def child(job: dict) -> None:
    """One job in this process, its answer in a file; the process has limits of time and memory."""
    signal.alarm(job["seconds"])
    resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    try:
        answer = DO[job["do"]](job)
    except Exception as problem:
        answer = {"error": f"{type(problem).__name__}: {problem}"[:3000]}
        answer["trace"] = traceback.format_exc()[-6000:]
    Path(job["answer"]).write_text(json.dumps(answer))


def do(job: dict) -> dict:
    answer = Path(job["answer"])
    answer.unlink(missing_ok=True)
    process = os.fork()
    if process == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends with its parent
        try:
            child(job)
        finally:
            os._exit(0)
    _, status = os.waitpid(process, 0)
    if answer.exists():
        return json.loads(answer.read_text())
    ended = os.waitstatus_to_exitcode(status)
    if ended == -signal.SIGALRM:
        return {"error": f"took longer than {job['seconds']} seconds"}
    return {"error": f"the process ended with {ended} and no answer"}


def warm_up(modules: list[str]) -> None:
    """Imports what every job imports, and what the first export and lowering import on their way."""
    torch.set_num_threads(1)  # threads would not survive the forks
    for module in modules:
        __import__(module)
    with torch.no_grad():
        program = torch.export.export(torch.nn.Linear(2, 2).eval(), (torch.ones(1, 2),))
    if "executorch.exir" in modules:
        sys.modules["executorch.exir"].to_edge(program).to_executorch()


def main() -> None:
    warm_up(sys.argv[1:])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write("RESULT " + json.dumps(do(json.loads(line))) + "\n")
        answers.flush()


main()
