# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of each row: `python -m executorch.test.survey.survey [--backend xnnpack] [--order reversed] [name ...]`
prints it.

works: the program gives what eager gives. speaks: exporting raises an error that says what to do. torch: torch.export
itself refuses. silent: exporting succeeds, and loading or running fails. wrong: other values than eager's.
"""

from __future__ import annotations

import argparse
import collections
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils._pytree import tree_leaves, tree_map

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.error import ExportError
from executorch.runtime import Runtime
from executorch.test.survey import functions, layers, mathematics
from executorch.test.survey.row import Function, Row

ROWS: list[Row] = [*layers.ALL, *functions.ALL, *mathematics.ALL]
BACKENDS = ("portable", "xnnpack")


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.contiguous(memory_format=formats.get(tensor.dim(), torch.contiguous_format))


def _reversed(tensor: torch.Tensor) -> torch.Tensor:
    order = tuple(reversed(range(tensor.dim())))
    return tensor.permute(order).contiguous().permute(order)


# How the tensors that a program is given lie in memory.
ORDERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "plain": torch.clone,
    "channels_last": _channels_last,
    "reversed": _reversed,
}


def in_order(row: Row, order: str) -> Row:
    def laid(value: Any) -> Any:
        return ORDERS[order](value) if isinstance(value, torch.Tensor) else value

    return replace(row, inputs=tree_map(laid, row.inputs), more=tree_map(laid, row.more))


@dataclass(frozen=True)
class Outcome:
    kind: str
    text: str = ""


def outcome(row: Row, backend: str) -> Outcome:
    module = row.module()
    try:
        shapes = (row.dynamic_shapes,) if isinstance(module, Function) else row.dynamic_shapes
        if row.dynamic_shapes is None:
            shapes = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.export(module, row.inputs, dynamic_shapes=shapes)
    except Exception as error:
        return Outcome("torch", _first_line(error))
    try:
        data = _lowered(program, backend)
    except ExportError as error:
        return Outcome("speaks", str(error))
    except Exception as error:
        return Outcome("crash", f"{type(error).__name__}: {_first_line(error)}")
    try:
        method = Runtime.get().load_program(data).load_method("forward")
        calls = [row.inputs, *row.more]
        found = [_results(method.execute(_tensors(inputs))) for inputs in calls]
    except Exception as error:
        return Outcome("silent", _first_line(error))
    for inputs, results in zip(calls, found, strict=True):
        with torch.no_grad():
            expected = tree_leaves(module(*inputs))
        difference = _difference(row, results, expected)
        if difference:
            return Outcome("wrong", difference)
    return Outcome("works")


def _lowered(program: ExportedProgram, backend: str) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if backend == "xnnpack":
            edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
        else:
            edge = to_edge(program)
        return edge.to_executorch().buffer


def _tensors(inputs: Any) -> list[Any]:
    return tree_leaves(inputs)


def _results(values: Any) -> list[Any]:
    return [v.clone() if isinstance(v, torch.Tensor) else v for v in values]


def _difference(row: Row, found: list[Any], expected: list[Any]) -> str:
    if len(found) != len(expected):
        return f"{len(found)} results, eager has {len(expected)}"
    for have, want in zip(found, expected, strict=True):
        if not isinstance(want, torch.Tensor):
            if have != want:
                return f"{have}, eager has {want}"
            continue
        if have.shape != want.shape or have.dtype != want.dtype:
            return f"{have.dtype}{list(have.shape)}, eager has {want.dtype}{list(want.shape)}"
        if row.is_random:
            continue
        try:
            torch.testing.assert_close(
                have, want, rtol=row.tolerance, atol=row.tolerance, equal_nan=True
            )
        except AssertionError as error:
            return _first_line(error)
    return ""


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only rows whose names contain one of these")
    parser.add_argument("--backend", choices=BACKENDS, default="portable")
    parser.add_argument("--order", choices=ORDERS, default="plain", help="of inputs, in memory")
    options = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    for row in ROWS:
        if options.names and not any(name in row.name for name in options.names):
            continue
        found = outcome(in_order(row, options.order), options.backend)
        counts[found.kind] += 1
        if found.kind != "works" or options.names:
            text = " ".join(found.text.split())
            print(
                f"{found.kind:8} {row.name:50} {text[: None if options.names else 150]}", flush=True
            )
    print(f"{options.backend}: {counts.total()} rows: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    main()
