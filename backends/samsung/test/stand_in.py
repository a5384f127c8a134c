# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins of the SDK's modules in place, and what tests ask of an export: with them, or without anything of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import nn

from executorch.backends import samsung
from executorch.backends.samsung.aot.compiler import COMPILER, graph_of
from executorch.backends.samsung.aot.graph import Graph
from executorch.backends.samsung.enn_preprocess import EnnBackend
from executorch.backends.samsung.partition.enn_partitioner import EnnPartitioner
from executorch.backends.samsung.test.reference import evaluator
from executorch.backends.test.conformance.backend import Backend
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.backend_details import PreprocessResult

FOLDER = str(Path(__file__).parent)  # of `python`


@contextmanager
def recording() -> Iterator[list[Any]]:
    """What the two modules are asked, in order."""
    use_stand_in()
    try:
        log = import_module(f"{samsung.__name__}.python").LOG
        log.clear()
        yield log
    finally:
        without_stand_in()


def use_stand_in() -> None:
    if FOLDER not in samsung.__path__:
        samsung.__path__.append(FOLDER)
    COMPILER._made.clear()


def without_stand_in() -> None:
    if FOLDER in samsung.__path__:
        samsung.__path__.remove(FOLDER)
    for name in [each for each in sys.modules if each.startswith(f"{samsung.__name__}.python")]:
        del sys.modules[name]
    vars(samsung).pop("python", None)
    COMPILER._made.clear()


def partitioner() -> EnnPartitioner:
    """With the modules in place from here on."""
    use_stand_in()
    return EnnPartitioner()


def backend(quantize: Any = None) -> Backend:
    return Backend(
        "EnnBackend",
        partitioner,
        name="EnnBackend, int8" if quantize else "",
        named_data=False,
        dynamic_shapes=False,
        wide_integers=False,
        runtime=False,
        quantize=quantize,
        reference=evaluator.load,
        converts=True,
        leave=without_stand_in,
    )


def lowered(model: nn.Module, *inputs: Any, specs: Any = None) -> EdgeProgramManager:
    program = torch.export.export(model, inputs)
    return to_edge_transform_and_lower(program, partitioner=[EnnPartitioner(specs)])


def graphs_of(model: nn.Module, *inputs: Any) -> tuple[list[Graph], EdgeProgramManager]:
    """Of the delegates of a program, without any compiler."""
    found: list[Graph] = []

    def payloads(programs: Any, specs: Any) -> list[PreprocessResult]:
        found.extend(map(graph_of, programs))
        return [PreprocessResult(b"none") for _ in programs]

    before = EnnBackend.payloads
    EnnBackend.payloads = staticmethod(payloads)
    try:
        return found, lowered(model, *inputs)
    finally:
        EnnBackend.payloads = staticmethod(before)
