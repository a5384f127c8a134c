# SPDX-License-Identifier: BSD-3-Clause
"""Programs of a device check: what they are made of, and their bytes with their cases."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from executorch.backends.discovery import backends
from executorch.backends.test.corpus import rows
from executorch.backends.test.corpus.row import Row
from executorch.backends.test.suite.flow import Lower
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.self_tests import with_self_test
from executorch.examples.models import NETWORKS, make_example
from executorch.examples.models.example import Method
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.runtime import Runtime

USUAL = ("mv2", "llama_kv")  # of the networks; others, of more bytes, are asked for by name
LANGUAGE_MODEL = "llama"
HALF_TOLERANCE = 2e-2  # at least: networks round as often as eager does, elsewhere
# Sums of many layers, in another order than eager's.
NETWORK_TOLERANCE = 1e-3


class NotTaken(Exception):
    """No program of this subject; the text says why."""


@dataclass(frozen=True)
class Subject:
    """`method`: makes the model; None of the language model, which its own exporter lowers."""

    name: str
    tolerance: float
    method: Callable[[], Method] | None


def subjects(backend: str, every: int, names: Sequence[str]) -> Iterator[Subject]:
    """Networks first: they take longest."""
    found = [
        Subject(f"networks/{name}", NETWORK_TOLERANCE, lambda name=name: make_example(name).forward)
        for name in NETWORKS
        if name in USUAL or f"networks/{name}" in names
    ]
    if backends()[backend].language_models:
        found.append(Subject(f"networks/{LANGUAGE_MODEL}", NETWORK_TOLERANCE, None))
    steady = [row for row in rows() if not row.is_random and row.is_exported]
    found += [
        Subject(row.id, row.tolerance, lambda row=row: _method(row)) for row in steady[::every]
    ]
    yield from (each for each in found if not names or any(name in each.name for name in names))


def _method(row: Row) -> Method:
    return Method(row.module(), row.inputs, row.calls, row.shapes())


def program_of(subject: Subject, backend: str, half: bool = False) -> bytes:
    """A program file that carries its cases. NotTaken where nothing is delegated, or the model cannot be exported."""
    if subject.method is None:
        if half:
            raise NotTaken("it is exported in float32 alone")
        return _language_model(backend, subject.tolerance)
    method = subject.method()
    stage = Lower(backends()[backend])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exact = method.eager()
            method = _halved(method) if half else method
            stage.run(method.export())
            edge = stage.edge_dialect_program
            if not get_lowered_backend_modules(edge.exported_program().graph_module):
                raise NotTaken("no call is delegated")
            buffer = edge.to_executorch().buffer
            results = method.eager()
    except (
        Exception
    ) as error:  # of torch.export and of kernels that are not there; the suite judges them
        raise NotTaken(" ".join(str(error).split())[:200]) from error
    tolerance = subject.tolerance
    if half:
        tolerance = max(HALF_TOLERANCE, 2 * _largest_difference(exact, results))
    return with_cases(buffer, method.calls, results, tolerance)


def _halved(method: Method) -> Method:
    def half(value: Any) -> Any:
        is_float = isinstance(value, torch.Tensor) and value.dtype == torch.float32
        return value.half() if is_float else value

    inputs, calls = pytree.tree_map(half, (method.inputs, list(method.calls)))
    return Method(method.module.half(), inputs, calls, method.dynamic_shapes)


def _largest_difference(exact: Sequence[Any], rounded: Sequence[Any]) -> float:
    pairs = zip(pytree.tree_leaves(exact), pytree.tree_leaves(rounded), strict=True)
    return max(
        (
            float((one.double() - other.double()).abs().max())
            for one, other in pairs
            if isinstance(one, torch.Tensor) and one.is_floating_point() and one.numel()
        ),
        default=0.0,
    )


def with_cases(
    buffer: bytes, calls: Sequence[Any], results: Sequence[Any], tolerance: float
) -> bytes:
    try:
        cases = [MethodTestCase(*each) for each in zip(calls, results, strict=True)]
        return with_self_test(buffer, [MethodTestSuite("forward", cases)], tolerance, tolerance)
    except AssertionError as error:  # an input or a result that is no number
        raise NotTaken(str(error)) from error


def _language_model(backend: str, tolerance: float) -> bytes:
    """A prompt, then token by token, beside the same program without the backend."""
    from executorch.extension.llm.runner.test import tiny_llama

    with tempfile.TemporaryDirectory() as place:
        tiny_llama.make(Path(place))
        made = {each: _exported_llama(Path(place), backend, each) for each in (True, False)}
    plain = Runtime.get().load_program(made[False]).load_method("forward")
    calls = [
        (torch.tensor([tokens]), torch.tensor([start]))
        for start, tokens in ((0, [1, 5, 9, 2]), (4, [7]), (5, [3]), (6, [8]))
    ]
    results = [[out.clone() for out in plain.execute(list(inputs))] for inputs in calls]
    return with_cases(made[True], calls, results, tolerance)


def _exported_llama(folder: Path, backend: str, enabled: bool) -> bytes:
    from executorch.extension.llm.runner.test import tiny_llama

    lengths = {"max_seq_length": 64, "max_context_length": 64}
    given = {
        "base": {"model_class": "llama3_2", "checkpoint": str(folder)},
        "model": {"use_kv_cache": True, "use_sdpa_with_kv_cache": True},
        "backend": {backend: {"enabled": enabled}},
        "export": {**lengths, "output_name": str(folder / f"{enabled}.pte")},
    }
    return Path(tiny_llama.export_llama(tiny_llama.build(given))).read_bytes()
