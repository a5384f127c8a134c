# SPDX-License-Identifier: BSD-3-Clause
"""Buffers that a model writes, as Core ML's states: of float16, zero at the start, from iOS 18 on."""

from __future__ import annotations

from collections.abc import Iterable

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.apple.coreml.aot import specs
from executorch.backends.apple.coreml.aot.library import ct
from executorch.exir.backend._partitions import written_buffers
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.graph_facts import data_specs, holder_of


def possible(program: ExportedProgram, compile_specs: Iterable[CompileSpec]) -> dict[Node, str]:
    """Written buffers, and why each cannot be a state; empty for those that can."""
    target = specs.min_deployment_target(compile_specs)
    written = written_buffers(program)
    return {
        node: _why_not(program, spec.target, target)
        for node, spec in data_specs(program).items()
        if spec.target in written
    }


def _why_not(program: ExportedProgram, name: str, target: ct.target | None) -> str:
    start = f"buffer {name} stays an input and an output of its delegate: a state of Core ML"
    if target is not None and target < ct.target.iOS18:
        return (
            f"{start} needs minimum_deployment_target iOS18 or later, {target.name} was asked for"
        )
    value = holder_of(program, name)[name]
    if not value.is_floating_point() or value.element_size() > 4:
        return f"{start} is of float16, found {str(value.dtype).removeprefix('torch.')}"
    if value.count_nonzero():
        return f"{start} is zero at the start, and this is not"
    return ""
