# SPDX-License-Identifier: BSD-3-Clause
"""The door to the SDK: who is asked of an operator, and compiles graphs. `using` puts another in its place: a recorder,
an evaluator, a list of what to refuse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol

from executorch.backends.qualcomm.aot import native, sdk
from executorch.backends.qualcomm.aot.graph import Graph
from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchOptions
from executorch.exir.backend.lowering.external.compiler import MissingCompiler
from executorch.exir.error import ExportErrorType


class Door(Protocol):
    def why_missing(self, options: QnnExecuTorchOptions) -> str:
        """What is missing to compile with these options, and how one gets it; empty when nothing is."""

    def why_refused(self, graph: Graph, options: QnnExecuTorchOptions) -> str:
        """Of the graph of one call, whose inputs and outputs are between operators; empty when it is taken."""

    def compile(self, graphs: Sequence[Graph], options: QnnExecuTorchOptions) -> bytes:
        """One context binary of all, with their weights in common. Raises Refused (external/compiler.py)."""


class SdkDoor:
    """The user's SDK, or the library that the options name."""

    def why_missing(self, options: QnnExecuTorchOptions) -> str:
        missing = "" if _named(options) else sdk.why_missing(options.backend_options.backend_type)
        return missing or native.why_missing(_library(options))

    def why_refused(self, graph: Graph, options: QnnExecuTorchOptions) -> str:
        return native.why_refused(_library(options), graph, options)

    def compile(self, graphs: Sequence[Graph], options: QnnExecuTorchOptions) -> bytes:
        return native.compiled(_library(options), graphs, options)


def _named(options: QnnExecuTorchOptions) -> str:
    """The saver's is one that the SDK has beside the others."""
    return "" if options.saver else options.library_path


def _library(options: QnnExecuTorchOptions) -> Path:
    named = _named(options)
    return Path(named) if named else sdk.library(options.backend_options.backend_type)


_SDK = SdkDoor()
_door: ContextVar[Door | None] = ContextVar("door", default=None)


def door_for(options: QnnExecuTorchOptions) -> Door:
    """MissingCompiler, before work starts, that says which variable, file or version is missing."""
    found = _door.get() or _SDK
    missing = found.why_missing(options)
    if missing:
        raise MissingCompiler(ExportErrorType.MISSING_PROPERTY, missing)
    return found


@contextmanager
def using(door: Door) -> Iterator[Door]:
    before = _door.set(door)
    try:
        yield door
    finally:
        _door.reset(before)
