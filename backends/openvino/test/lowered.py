# SPDX-License-Identifier: BSD-3-Clause
"""What tests of the backend share: lowering a model, running it, and what both need."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from executorch.backends.openvino.aot.compiler import OPENVINO
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.extension.pybindings import portable_lib
from executorch.runtime import Runtime

BACKEND = "OpenvinoBackend"
HAS_RUNTIME = BACKEND in portable_lib._get_registered_backend_names()
needs_compiler = pytest.mark.skipif(bool(OPENVINO.why_missing()), reason=OPENVINO.why_missing())
needs_runtime = pytest.mark.skipif(not HAS_RUNTIME, reason=f"built without {BACKEND}")


def specs(**texts: str) -> list[CompileSpec]:
    return [CompileSpec(key, text.encode()) for key, text in texts.items()]


def lower(
    model: torch.nn.Module,
    inputs: tuple[Any, ...],
    partitioner: OpenvinoPartitioner | None = None,
    dynamic_shapes: Any = None,
) -> EdgeProgramManager:
    exported = torch.export.export(model.eval(), inputs, dynamic_shapes=dynamic_shapes)
    return to_edge_transform_and_lower(
        exported, partitioner=[partitioner or OpenvinoPartitioner([])]
    )


def delegates(edge: EdgeProgramManager) -> list[Any]:
    return get_lowered_backend_modules(edge.exported_program().graph_module)


def left(edge: EdgeProgramManager) -> list[str]:
    """Operators outside of delegates."""
    names = [op_name(node) for node in edge.exported_program().graph.nodes]
    return [name for name in names if name]


def run(buffer: bytes, inputs: tuple[Any, ...]) -> list[Any]:
    return list(loaded(buffer).execute(list(inputs)))


def loaded(buffer: bytes, **options: Any) -> Any:
    """`options` are the backend's."""
    given = {BACKEND: options} if options else None
    program = Runtime.get().load_program(io.BytesIO(buffer), backend_options=given)
    return program.load_method("forward")


def check(found: list[Any], expected: Any, **tolerance: float) -> None:
    values = pytree.tree_leaves(expected)
    assert len(found) == len(values)
    for one, value in zip(found, values, strict=True):
        torch.testing.assert_close(one, value, check_stride=False, **tolerance)
