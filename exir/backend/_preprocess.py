# SPDX-License-Identifier: BSD-3-Clause
"""Hands programs to the backends' ahead-of-time halves and checks what comes back."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from torch.export import ExportedProgram

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.lowered_backend_module import LoweredBackendModule
from executorch.exir.program_copies import own_copy


class BackendNotFound(ExportError, NotImplementedError):
    """No imported class has the backend's name."""


@dataclass(frozen=True)
class Task:
    """One program for one backend. `tag` is empty for a whole program."""

    method: str
    tag: str
    delegation: DelegationSpec
    program: ExportedProgram


def preprocess_all(tasks: list[Task]) -> list[LoweredBackendModule]:
    """Modules in the order of `tasks`; each backend gets all of its programs in one call."""
    results: dict[int, PreprocessResult] = {}
    for backend_id in dict.fromkeys(task.delegation.backend_id for task in tasks):
        mine = [i for i, task in enumerate(tasks) if task.delegation.backend_id == backend_id]
        made = _preprocess(find_backend(backend_id), [tasks[i] for i in mine])
        results.update(zip(mine, made, strict=True))
    return [_module(task, results[i]) for i, task in enumerate(tasks)]


def find_backend(backend_id: str) -> type[BackendDetails]:
    """The class named `backend_id`; of several, the one defined last."""
    known = {
        cls.__name__: cls for cls in _subclasses(BackendDetails) if not inspect.isabstract(cls)
    }
    if backend_id not in known:
        raise BackendNotFound(
            ExportErrorType.NOT_SUPPORTED,
            f"Backend {backend_id} was not found: expected an imported class {backend_id}(BackendDetails), found "
            f"{', '.join(sorted(known)) or 'none'}. Import the module that defines it before to_backend",
        )
    return known[backend_id]


def _subclasses(base: type) -> Iterator[type]:
    for cls in base.__subclasses__():
        yield cls
        yield from _subclasses(cls)


def _preprocess(backend: type[BackendDetails], tasks: list[Task]) -> list[PreprocessResult]:
    programs: dict[str, list[ExportedProgram]] = {}
    specs: dict[str, list[list[CompileSpec]]] = {}
    for task in tasks:
        programs.setdefault(task.method, []).append(own_copy(task.program))
        specs.setdefault(task.method, []).append(task.delegation.compile_specs)
    made = backend.preprocess_multimethod(programs, specs)
    counts = {method: len(each) for method, each in programs.items()}
    found = {method: len(made.get(method, ())) for method in counts}
    if counts != found:
        raise ExportError(
            ExportErrorType.INVALID_OUTPUT_TYPE,
            f"{backend.__name__}.preprocess_multimethod: expected results for programs {counts} (by method), found "
            f"{found}; return one PreprocessResult per program, in order",
        )
    queues = {method: iter(results) for method, results in made.items()}
    return [next(queues[task.method]) for task in tasks]


def _module(task: Task, result: PreprocessResult) -> LoweredBackendModule:
    backend_id, compile_specs = task.delegation
    if not isinstance(result, PreprocessResult) or not isinstance(result.processed_bytes, bytes):
        raise ExportError(
            ExportErrorType.INVALID_OUTPUT_TYPE,
            f"{backend_id}.preprocess (method {task.method}{f', tag {task.tag}' if task.tag else ''}): expected a "
            f"PreprocessResult whose processed_bytes are bytes, found {result!r}",
        )
    if result.compile_specs is not None:
        compile_specs = result.compile_specs
    module = LoweredBackendModule(
        task.program, backend_id, result.processed_bytes, compile_specs, result.data_store_output
    )
    module.meta = {"debug_handle_map": result.debug_handle_map}
    if result._delegate_info_meta is not None:
        module.meta["_delegate_info_meta"] = result._delegate_info_meta
    return module
