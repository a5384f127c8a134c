# SPDX-License-Identifier: BSD-3-Clause
"""`SkeletonCompilerBackend`, the ahead-of-time half: programs become payloads, and context binaries that methods share.
The class's name is the backend's id."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import torch
from torch.export import ExportedProgram

from executorch.backends.skeleton_compiler.aot.compiler import COMPILER, SCHEMA, compiled
from executorch.backends.skeleton_compiler.aot.options import SkeletonCompilerOptions
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import Refused, options_of
from executorch.exir.backend.lowering.payload.constant_store import ConstantStore
from executorch.exir.backend.lowering.payload.options import from_compile_specs

_ALIGNMENT = 16  # of context binaries, in bytes
_log = logging.getLogger(__name__)


class SkeletonCompilerBackend(BackendDetails):
    """Takes the programs that SkeletonCompilerPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        _options(compile_specs)
        return _filed(SCHEMA.unpack(COMPILER.payload(edge_program, options_of(compile_specs))))

    @classmethod
    def preprocess_multimethod(
        cls,
        edge_programs: dict[str, list[ExportedProgram]],
        compile_specs: dict[str, list[list[CompileSpec]]],
    ) -> dict[str, list[PreprocessResult]]:
        """Programs of the same options become graphs of one context, with their weights in common."""
        alike: dict[SkeletonCompilerOptions, list[tuple[str, int]]] = {}
        for method, of_programs in compile_specs.items():
            for place, specs in enumerate(of_programs):
                alike.setdefault(_options(specs), []).append((method, place))
        results = {method: [None] * len(each) for method, each in edge_programs.items()}
        for options, places in alike.items():
            programs = [edge_programs[method][place] for method, place in places]
            made = _together(programs, options) if len(programs) > 1 else None
            for number, (method, place) in enumerate(places):
                specs = compile_specs[method][place]
                alone = cls.preprocess(programs[number], specs) if made is None else made[number]
                results[method][place] = alone
        return results


def _options(specs: list[CompileSpec]) -> SkeletonCompilerOptions:
    return from_compile_specs(SkeletonCompilerOptions, specs, SkeletonCompilerBackend.__name__)


def _together(
    programs: list[ExportedProgram], options: SkeletonCompilerOptions
) -> list[PreprocessResult] | None:
    """None where the vendor takes each, but not all in one context."""
    COMPILER.require()
    try:
        return [_filed(each) for each in compiled(programs, options)]
    except Refused as refused:
        _log.warning("methods share no context: %s", refused.reason)
        return None


def _filed(payload: Any) -> PreprocessResult:
    """With its binaries as named data, under the hash of their bytes."""
    store, binaries = ConstantStore(_ALIGNMENT), []
    for each in payload.binaries:
        data = torch.frombuffer(bytearray(each.bytes), dtype=torch.uint8)
        key = store.file_in(None, data, "context_").key
        binaries.append(SCHEMA.make("Binary", device=each.device, key=key))
    packed = SCHEMA.pack(replace(payload, binaries=binaries))
    return PreprocessResult(packed, data_store_output=store.output())
