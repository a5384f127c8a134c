# SPDX-License-Identifier: BSD-3-Clause
"""Exports MobileNetV2, runs the file from Python and, where it is built, with executor_runner, and compares with eager
PyTorch; then the same through XNNPACK, in float and with 8-bit operators.

usage: python -m executorch.examples.demo.demo [--model mv2] [--out build/demo] [--runs 20]
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.examples.models import EXAMPLES, make_example
from executorch.examples.models.comparison import largest_error
from executorch.examples.models.example import Method
from executorch.examples.xnnpack.quantization import quantized_method
from executorch.exir import ExecutorchProgramManager, to_edge, to_edge_transform_and_lower
from executorch.runtime import Runtime

ROOT = Path(__file__).resolve().parents[2]
LARGEST_DIFFERENCE = 1e-4
# Beside the norm of the outputs; random weights let a step of rounding grow from layer to layer.
LARGEST_ERROR = {"float": 1e-4, "8-bit": 0.25}


@dataclass
class Report:
    """What the table shows, filled step by step."""

    seconds: dict[str, float] = field(default_factory=dict)
    rows: list[tuple[str, str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        print(f"  {name:<44s}", end="", flush=True)
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start
        print(f"{self.seconds[name]:8.2f} s", flush=True)

    def compare(self, where: str, ours: list[torch.Tensor], eager: list[torch.Tensor]) -> None:
        differences = [(a.double() - b.double()).abs().max() for a, b in zip(ours, eager)]
        worst = torch.stack(differences).max().item()
        same = worst <= LARGEST_DIFFERENCE  # false for NaN, too
        verdict = "same" if same else f"MORE THAN {LARGEST_DIFFERENCE:g}"
        if not same:
            self.failed.append(where)
        self.rows.append((f"largest difference, {where}", f"{worst:.1e}  ({verdict})"))

    def table(self) -> str:
        rows = self.rows + [(f"seconds: {name}", f"{s:.2f}") for name, s in self.seconds.items()]
        wide = [max(len(row[i]) for row in rows) for i in range(2)]
        line = f"+-{'-' * wide[0]}-+-{'-' * wide[1]}-+"
        body = [f"| {a:<{wide[0]}} | {b:<{wide[1]}} |" for a, b in rows]
        return "\n".join([line, *body, line])


def shapes(values: list[Any]) -> str:
    return ", ".join("x".join(map(str, v.shape)) if v.dim() else "scalar" for v in values)


def side_by_side(
    eager: Callable[[], Any], ours: Callable[[], Any], runs: int
) -> tuple[float, float]:
    """Median milliseconds of both, in short blocks by turns so that noise hits both alike.

    Before each block the other side's idle threads get time to go to sleep.
    """
    times: tuple[list[float], list[float]] = ([], [])
    block = max(1, runs // 4)
    while len(times[1]) < runs:
        for function, taken in zip((eager, ours), times):
            time.sleep(0.1)
            function()
            for _ in range(block):
                start = time.perf_counter()
                function()
                taken.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[0]), statistics.median(times[1])


def find_executor_runner() -> Path | None:
    """That of the build folder, else one on the PATH. A Python environment may have none; a checkout must."""
    folder = os.environ.get("EXECUTORCH_BUILD_DIR")
    if folder is None and (ROOT / "CMakeLists.txt").exists():
        folder = str(ROOT / "cmake-out")
    if folder is not None:
        return Path(folder) / "executor_runner"
    found = shutil.which("executor_runner")
    return Path(found) if found else None


def run_executor_runner(
    program: Path, pte: Path, inputs: list[torch.Tensor], like: list[torch.Tensor], runs: int
) -> tuple[list[torch.Tensor], float]:
    """Outputs of the C++ program and its milliseconds per execution."""
    files = []
    for index, value in enumerate(inputs):
        files.append(pte.with_name(f"input-{index}.bin"))
        value.contiguous().numpy().tofile(files[-1])
    base = pte.with_name("output")
    command = [
        str(program),
        f"--model_path={pte}",
        f"--inputs={','.join(map(str, files))}",
        f"--output_file={base}",
        f"--num_executions={runs}",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit(f"\n{program} is not built: run `make build` first")
    text = done.stdout + done.stderr
    found = re.search(r"executed successfully \d+ time\(s\) in ([0-9.]+) ms", text)
    if done.returncode != 0 or not found:
        sys.exit(f"\n{' '.join(command)}\nended with {done.returncode}:\n{text}")
    outputs = []
    for index, tensor in enumerate(like):
        data = bytearray(Path(f"{base}-{index}.bin").read_bytes())
        outputs.append(torch.frombuffer(data, dtype=tensor.dtype).reshape(tensor.shape))
    return outputs, float(found[1]) / runs


def one_call(name: str) -> Method:
    """The first method of the model with the largest of its calls alone: executor_runner sets inputs of the largest
    sizes, as a file says no others."""
    method = next(iter(make_example(name).methods.values()))

    def elements(call: Any) -> int:
        return sum(torch.as_tensor(leaf).numel() for leaf in torch.utils._pytree.tree_leaves(call))

    return dataclasses.replace(method, calls=(max(method.calls, key=elements),))


def lower(name: str, pte: Path, report: Report) -> tuple[Method, ExecutorchProgramManager]:
    with report.step("make the model and its weights"):
        method = one_call(name)
    with report.step("torch.export"):
        exported = method.export()
    with report.step("to_edge"):
        edge = to_edge(exported)
    with report.step("to_executorch (plan memory, emit)"):
        program = edge.to_executorch()
    with report.step(f"write {pte.name}"):
        program.save(str(pte))
    return method, program


def delegated(
    method: Method, eager: torch.nn.Module, pte: Path, runs: int, report: Report, name: str
) -> float:
    """Lowers to XNNPACK, times it beside `eager`, and gives its error beside the norm of the method's outputs."""
    with report.step(f"lower to XNNPACK, {name}"):
        edge = to_edge_transform_and_lower(method.export(), partitioner=[XnnpackPartitioner()])
        edge.to_executorch().save(str(pte))
    calls = method.calls[0]
    inputs = torch.utils._pytree.tree_leaves(calls)
    loaded = Runtime.get().load_program(pte).load_method("forward")
    first = [value.double() for value in loaded.execute(inputs)]
    expected = [value.double() for value in method.eager()[0]]
    with report.step(f"time eager and XNNPACK, {name}"), torch.inference_mode():
        eager_ms, ours_ms = side_by_side(
            lambda: eager(*calls), lambda: loaded.execute(inputs), runs
        )
    size = f"{pte.stat().st_size / 1e6:.2f} MB"
    report.rows.append(
        (f"XNNPACK, {name}", f"{ours_ms:.2f} ms  ({ours_ms / eager_ms:.2f}x eager float), {size}")
    )
    return largest_error(first, expected)


def through_xnnpack(method: Method, pte: Path, runs: int, report: Report) -> None:
    """The float program must give eager's numbers; the quantized one those of the quantized model."""
    for name, made in (("float", lambda: method), ("8-bit", lambda: quantized_method(method))):
        with report.step(f"model for XNNPACK, {name}"):
            model = made()
        path = pte.with_name(f"{pte.stem}_xnnpack_{name}.pte")
        eager = copy.deepcopy(method.module)  # it may keep state
        error = delegated(model, eager, path, runs, report, name)
        same = error <= LARGEST_ERROR[name]  # false for NaN, too
        report.rows.append((f"error beside PyTorch's, XNNPACK {name}", f"{error:.1e}"))
        if not same:
            report.failed.append(f"XNNPACK {name}")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="mv2", choices=sorted(EXAMPLES))
    parser.add_argument(
        "--out", type=Path, default=Path("build/demo"), help="folder of the files (build/demo)"
    )
    parser.add_argument("--runs", type=int, default=20, help="timed runs of each side")
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    pte = options.out / f"{options.model}.pte"
    report = Report()
    print(f"\n{options.model}: from PyTorch to {pte}\n")
    method, program = lower(options.model, pte, report)
    inputs = torch.utils._pytree.tree_leaves(method.calls[0])
    expected = method.eager()[0]

    with report.step("load and run in Python"):
        loaded = Runtime.get().load_program(pte).load_method("forward")
        from_python = [o.clone() for o in loaded.execute(inputs)]
    runner = find_executor_runner()
    if runner is not None:
        with report.step("run with executor_runner (C++)"):
            from_cpp, _ = run_executor_runner(runner, pte, inputs, expected, 1)
            _, cpp_ms = run_executor_runner(runner, pte, inputs, expected, options.runs)
    with report.step("time eager and ours in turns"), torch.inference_mode():
        eager = copy.deepcopy(method.module)  # it may keep state
        eager_ms, ours_ms = side_by_side(
            lambda: eager(*method.calls[0]), lambda: loaded.execute(inputs), options.runs
        )
    arenas = program.executorch_program.execution_plan[0].non_const_buffer_sizes[1:]
    report.rows += [
        ("inputs", shapes(inputs)),
        ("outputs", shapes(expected)),
        ("file", f"{pte.stat().st_size / 1e6:.2f} MB"),
        ("planned memory", f"{sum(arenas) / 1e6:.2f} MB"),
        (f"eager PyTorch, {torch.get_num_threads()} threads", f"{eager_ms:.2f} ms"),
        ("ours, from Python", f"{ours_ms:.2f} ms  ({ours_ms / eager_ms:.2f}x eager)"),
        (
            "ours, executor_runner",
            f"{cpp_ms:.2f} ms"
            if runner
            else "left out: it is part of a build of the C++ libraries",
        ),
    ]
    report.compare("Python", from_python, expected)
    if runner is not None:
        report.compare("executor_runner", from_cpp, expected)
    through_xnnpack(method, pte, options.runs, report)
    print(f"\n{report.table()}\n")
    if report.failed:
        print(f"FAILED: {' and '.join(report.failed)} differ from eager by more than the limit")
        return 1
    print(
        f"The same numbers every time. Next: python -m executorch.examples.demo.demo --model vit, or {pte}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
