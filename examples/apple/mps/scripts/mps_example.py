# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.examples.apple.mps.scripts.mps_example --model_name=mv3`: an example model for Apple's GPUs, as
mv3_mps_float16.pte. The backend is deprecated: examples.apple.coreml is in its place. Without the partitioner the whole
model must be the backend's, or nothing is written."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from executorch.backends.apple.mps.mps_preprocess import MPSBackend
from executorch.backends.apple.mps.partition import MPSPartitioner
from executorch.devtools.bundled_program.serialize import write_bundled_program
from executorch.examples.devtools.scripts.export_bundled_program import suites_of
from executorch.examples.models.command_line import add_model_name, chosen_example
from executorch.examples.models.example import Example, Method
from executorch.exir import (
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.exir.backend.backend_api import to_backend
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.extension.export_util import save_pte_program
from executorch.runtime import Runtime

CONFIG = ExecutorchBackendConfig(extract_delegate_segments=False)
# Switch, its short form, what it is unless given, help.
SWITCHES = (
    ("use_fp16", None, True, "compute in half precision"),
    ("use_partitioner", None, True, "leave what the backend does not compute on the CPU"),
    ("bench_pytorch", None, False, "time the program beside PyTorch's MPS device; needs a Mac"),
    ("bundled", "-b", False, "write the program with inputs and expected outputs"),
    (
        "check_correctness",
        "-c",
        False,
        "run the program and compare it with the model; needs a Mac",
    ),
    ("generate_etrecord", None, False, "also etrecord.bin, for the developer tools"),
)
RUNS = 100  # of --bench_pytorch


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    add_model_name(made)
    for name, short, default, words in SWITCHES:
        forms = [f"--{name}"] if short is None else [short, f"--{name}"]
        made.add_argument(
            *forms, action=argparse.BooleanOptionalAction, default=default, help=words
        )
    return made


def lower(method: Method, args: argparse.Namespace) -> ExecutorchProgramManager:
    specs, record = [CompileSpec("use_fp16", bytes([args.use_fp16]))], args.generate_etrecord
    program = method.export()
    if args.use_partitioner:
        edge = to_edge_transform_and_lower(
            program, partitioner=[MPSPartitioner(specs)], generate_etrecord=record
        )
        return edge.to_executorch(CONFIG)
    whole = to_backend(MPSBackend.__name__, to_edge(program).exported_program(), specs)
    called = torch.export.export(whole, method.inputs)
    return to_edge(called, generate_etrecord=record).to_executorch(CONFIG)


def runner(program: ExecutorchProgramManager, method: Method) -> Callable[[], Any]:
    """RuntimeError where no runtime has the backend."""
    if not Runtime.get().backend_registry.is_available(MPSBackend.__name__):
        raise RuntimeError(
            f"{MPSBackend.__name__} is not in this runtime: running its programs needs macOS, and a build with "
            "EXECUTORCH_BUILD_MPS=ON. Leave out --check_correctness and --bench_pytorch"
        )
    loaded = Runtime.get().load_program(program.buffer).load_method("forward")
    inputs = torch.utils._pytree.tree_leaves(method.inputs)
    return lambda: loaded.execute(inputs)


def check(program: ExecutorchProgramManager, method: Method, name: str) -> None:
    for one, other in zip(runner(program, method)(), method.eager()[0], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)
    words = "Results between ExecuTorch forward pass with MPS backend and PyTorch forward pass"
    print(f"{words} for {name}_mps are matching!")


def bench(program: ExecutorchProgramManager, method: Method) -> None:
    run = runner(program, method)
    model = method.module.to("mps")
    inputs = torch.utils._pytree.tree_map_only(torch.Tensor, lambda x: x.to("mps"), method.inputs)

    def eager() -> None:
        model(*inputs)
        torch.mps.synchronize()

    for words, call in (("PyTorch MPS", eager), ("ExecuTorch MPS delegate", run)):
        call()
        start = time.perf_counter()
        for _ in range(RUNS):
            call()
        print(f"{words} forward pass: {1000 * (time.perf_counter() - start) / RUNS:.2f} ms")


def save(program: ExecutorchProgramManager, name: str, method: Method, is_bundled: bool) -> str:
    if not is_bundled:
        return save_pte_program(program, name)
    path = Path(f"{name}_bundled.pte")
    write_bundled_program(program, suites_of(Example({"forward": method})), path)
    return str(path)


def main(argv: list[str] | None = None) -> int:
    warnings.warn(
        "The MPS example is deprecated as its backend is: use executorch.examples.apple.coreml.scripts.export",
        FutureWarning,
        stacklevel=2,
    )
    arguments = parser()
    args = arguments.parse_args(argv)
    method = chosen_example(arguments, args.model_name).forward
    program = lower(method, args)
    if args.bench_pytorch:
        bench(program, method)
    if args.check_correctness:
        check(program, method, args.model_name)
    if args.generate_etrecord:
        program.get_etrecord().save("etrecord.bin")
    name = f"{args.model_name}_mps_{'float16' if args.use_fp16 else 'float32'}"
    print(f"wrote {save(program, name, method, args.bundled)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
