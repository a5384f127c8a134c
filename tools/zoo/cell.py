# SPDX-License-Identifier: BSD-3-Clause
"""Exports example models in given columns and measures each; prints a line of JSON before it and after it.

python -m executorch.tools.zoo.cell NAME:BACKEND:[QUANTIZE] ...
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from executorch.backends.discovery import backends
from executorch.cli import export, exporting
from executorch.cli.sources import Source, source
from executorch.devtools.backend_debug import get_delegation_info
from executorch.devtools.commands import given
from executorch.devtools.commands.check import missing_here
from executorch.devtools.commands.program_file import ProgramFile, plan_of
from executorch.devtools.commands.python_model import PythonModel
from executorch.examples.models.comparison import largest_error
from executorch.tools.measure.processes import ahead
from executorch.tools.zoo.models import Column

RUNS, SECONDS = 20, 2.0  # the fastest of so many runs, or of so long
MESSAGE = 160
REPORT = "CELL "
ITEM = "getitem"  # of several results: no call


def downloads_nothing(*_: Any, **__: Any) -> Any:
    raise OSError("the zoo downloads nothing")


def model(name: str) -> Source:
    torch.manual_seed(0)
    return source(name)


def parameters(found: Source) -> int:
    modules = [each.module for each in found.methods.values()]
    return sum({id(p): p.numel() for module in modules for p in module.parameters()}.values())


def measured(name: str, column: Column, found: Source, folder: Path) -> dict[str, Any]:
    words = [
        name,
        "--backend",
        column.backend,
        *(["--quantize", column.quantize] * bool(column.quantize)),
    ]
    options = export.parser("executorch export").parse_args(words)
    target = folder / "model.pte"
    started = time.perf_counter()
    session = exporting.exported(options, found.to_be_quantized() if column.quantize else found)
    session.save_to_pte(str(target))
    row: dict[str, Any] = {"seconds": round(time.perf_counter() - started, 1)}
    row["bytes"] = target.stat().st_size
    row["taken"], row["left"] = taken(column, target, session, found)
    row["missing"] = missing_here(target)[:1]
    if not row["missing"]:
        runs = [run(target, method, each) for method, each in found.methods.items()]
        row["error"] = max(error for error, _ in runs)
        row["ms"] = sum(milliseconds for _, milliseconds in runs)
    return row


def taken(column: Column, target: Path, session: Any, found: Source) -> tuple[int, int]:
    """Calls that the backend has, and calls that the portable kernels have."""
    backend = backends().get(column.backend)
    if backend is not None and backend.passes:
        calls = [call.name.startswith(f"{column.backend}::") for call in ProgramFile(target).calls]
        return sum(calls), len(calls) - sum(calls)
    manager = session.get_edge_program_manager()
    graphs = [manager.exported_program(method).graph_module for method in found.methods]
    rows = [
        row
        for graph in graphs
        for name, row in get_delegation_info(graph).delegation_by_operator.items()
        if name != ITEM
    ]
    return sum(row.delegated for row in rows), sum(row.non_delegated for row in rows)


def run(target: Path, method: str, model: PythonModel) -> tuple[float, float]:
    """The error beside the model, of a first run, and the milliseconds of the fastest one."""
    from executorch.runtime import Runtime

    expected = given.expected_outputs(
        copy.deepcopy(model.callable), model.inputs, plan_of(target, method), model.keywords
    )
    loaded = Runtime.get().load_program(target).load_method(method)
    inputs = pytree.tree_leaves(given.copies((model.inputs, dict(model.keywords))))
    error = largest_error(loaded.execute(inputs), expected)
    fastest, begin = float("inf"), time.perf_counter()
    with quiet():
        for _ in range(RUNS):
            start = time.perf_counter()
            loaded.execute(inputs)
            fastest = min(fastest, time.perf_counter() - start)
            if time.perf_counter() - begin > SECONDS:
                break
    return error, fastest * 1e3


@contextlib.contextmanager
def quiet() -> Any:
    """Others wait, where the system lets this process go first."""
    try:
        with ahead([os.getpid()], 10):
            yield
    except PermissionError:
        yield


def report(row: Mapping[str, Any]) -> None:
    print(REPORT + json.dumps(row), flush=True)


def main() -> None:
    torch.hub.load_state_dict_from_url = downloads_nothing
    for text in sys.argv[1:]:
        name, backend, quantize = text.split(":")
        column = Column(backend, quantize)
        key = {"name": name, "column": column.name}
        report(key)
        try:
            found = model(name)
            with tempfile.TemporaryDirectory() as folder:
                row = measured(name, column, found, Path(folder))
            row["parameters"] = parameters(found)
        except (Exception, SystemExit) as problem:  # whatever is raised is the cell's content
            traceback.print_exc()
            lines = f"{type(problem).__name__}: {problem}".strip().splitlines()
            row = {"failed": lines[0][:MESSAGE]}
        report(key | row)


if __name__ == "__main__":
    main()
