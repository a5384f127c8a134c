# SPDX-License-Identifier: BSD-3-Clause
"""Lowers examples to files and runs all their calls, in Python and in C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from executorch.examples.models import make_example
from executorch.exir import to_edge
from executorch.runtime import Runtime
from executorch.test.e2e.cpp_calls import call_in_cpp
from executorch.test.e2e.program_store import ProgramStore

Calls = list[tuple[str, list[Any]]]


@dataclass(frozen=True)
class Lowered:
    """A program in a file and what eager says about its calls, method after method."""

    path: Path
    calls: Calls
    expected: list[list[Any]]


def lower(store: ProgramStore, name: str, dynamic: bool = False) -> Lowered:
    """One of examples/models, for the kernels."""
    example = make_example(name, dynamic)

    def make(folder: Path) -> None:
        to_edge(example.export()).to_executorch().save(str(folder / f"{name}.pte"))

    path = store.folder(f"e2e/{name}", make, dynamic=dynamic) / f"{name}.pte"
    calls, expected = [], []
    for name, method in example.methods.items():
        for inputs, outputs in zip(method.calls, method.eager()):
            calls.append((name, torch.utils._pytree.tree_leaves(inputs)))
            expected.append(outputs)
    return Lowered(path, calls, expected)


def run_in_python(path: Path, calls: Calls) -> list[list[Any]]:
    program = Runtime.get().load_program(path)
    methods = {name: program.load_method(name) for name in sorted(program.method_names)}
    results = []
    for name, inputs in calls:
        outputs = methods[name].execute(inputs)
        results.append([o.clone() if isinstance(o, torch.Tensor) else o for o in outputs])
    return results


RUNTIMES: dict[str, Callable[[Path, Calls], list[list[Any]]]] = {
    "python": run_in_python,
    "cpp": call_in_cpp,
}


def assert_same(
    actual: Sequence[Sequence[Any]],
    expected: Sequence[Sequence[Any]],
    rtol: float = 1e-3,
    atol: float = 1e-5,
) -> None:
    """Numbers, shapes and dtypes of every output of every call."""
    assert len(actual) == len(expected)
    for index, (ours, eager) in enumerate(zip(actual, expected)):
        assert len(ours) == len(eager), f"call {index}: {len(ours)} outputs, eager has {len(eager)}"
        for position, (a, e) in enumerate(zip(ours, eager)):
            where = f"call {index}, output {position}"
            if not isinstance(e, torch.Tensor):
                assert a == e, where
                continue
            torch.testing.assert_close(
                a, e, rtol=rtol, atol=atol, msg=lambda text, where=where: f"{where}: {text}"
            )
