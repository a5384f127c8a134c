# SPDX-License-Identifier: BSD-3-Clause
"""What the ahead-of-time half of a backend implements. The class name is the backend's id in files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch.export import ExportedProgram

from executorch.exir._serialize._named_data_store import NamedDataStoreOutput
from executorch.exir.backend.compile_spec_schema import CompileSpec


def enforcedmethod(func: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a method that subclasses must define; kept for backends that import it."""
    func.__enforcedmethod__ = True  # type: ignore[attr-defined]
    return func


@dataclass
class PreprocessResult:
    """What a backend makes of one program.

    `debug_handle_map`: the backend's own identifiers (all int or all str) to debug handles of the nodes they stand
    for. `data_store_output`: named blobs for the program file or data files, read by the runtime half by key.
    `compile_specs`: what the file says in place of the specs that were given (None: those).
    """

    processed_bytes: bytes = b""
    debug_handle_map: dict[int, tuple[int, ...]] | dict[str, tuple[int, ...]] | None = None
    data_store_output: NamedDataStoreOutput | None = None
    _delegate_info_meta: Any | None = None
    compile_specs: list[CompileSpec] | None = None


class BackendDetails(ABC):
    """Subclasses are found by their name among all that are imported; they are never instantiated."""

    @staticmethod
    @abstractmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        """Compiles one program, which the backend may change: it is a copy. Raises for what it cannot compile."""

    @classmethod
    def preprocess_multimethod(
        cls,
        edge_programs: dict[str, list[ExportedProgram]],
        compile_specs: dict[str, list[list[CompileSpec]]],
    ) -> dict[str, list[PreprocessResult]]:
        """Compiles all programs of all methods, for backends that share data between them. Results stand as the
        programs do."""
        return {
            method: [
                cls.preprocess(program, specs)
                for program, specs in zip(programs, compile_specs[method], strict=True)
            ]
            for method, programs in edge_programs.items()
        }
