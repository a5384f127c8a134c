# SPDX-License-Identifier: BSD-3-Clause
"""No row drops an argument: two calls that eager computes otherwise have other payloads, or are not delegated. Asked of
each operator's arguments one at a time, of floats and of stored values; nothing is run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import pytest
from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.backends.test.conformance.arguments import Call, differ, samples, variations
from executorch.backends.test.conformance.backend import Backend, KernelBackend
from executorch.backends.test.conformance.lowered import named_data
from executorch.backends.test.conformance.single_call import OPERAND, RESULT, program_of
from executorch.exir.backend.backend_api import to_backend
from executorch.exir.error import ExportError
from executorch.exir.graph_facts import op_name
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

# Those whose arguments rows have dropped, or may: in the fast tier.
FEW = "add.Scalar add.Tensor addmm.default elu.default gelu.default mean.dim sub.Tensor".split()
# What a call becomes: equal for calls that are computed alike; None for one that is left alone.
Written = Callable[[ExportedProgram], Hashable | None]


def dropped(call: Call, written: Written, is_stored: bool) -> Iterator[str]:
    """Arguments of the operator that make no difference to what is written, though they do to what is computed; and
    calls that are claimed and cannot be written."""
    known: list[tuple[Hashable, Call, list[Any]]] = []
    for each, made in variations(call):
        try:
            program = program_of(each, *(OPERAND, RESULT) if is_stored else ())
        except (RuntimeError, TypeError, ValueError):  # no edge program has it
            continue
        try:
            found = written(program)
        except ExportError as error:
            yield f"{each} cannot be written: {str(error)[:200]}"
            continue
        alike = [other for key, other, result in known if key == found and differ(result, made)]
        if found is not None and alike:
            yield f"{each} is written as {alike[0]}"
        known.append((found, each, made))


def _delegated(backend: Backend, program: ExportedProgram) -> Hashable | None:
    lowered = to_backend(program, backend.partitioner())
    delegates = get_lowered_backend_modules(lowered.graph_module)
    payloads = [(bytes(each.processed_bytes), *named_data(each).values()) for each in delegates]
    left = [node.format_node() for node in lowered.graph.nodes if op_name(node).startswith("aten.")]
    return (*payloads, *left) if payloads else None


def _rewritten(backend: KernelBackend, program: ExportedProgram) -> Hashable | None:
    module: GraphModule = program.graph_module
    for each in backend.passes("forward", program):
        module = each(module).graph_module
    own = [
        node.format_node()
        for node in module.graph.nodes
        if op_name(node).startswith(f"{backend.namespace}.quantized")
    ]
    data = [(name, tensor.numpy().tobytes()) for name, tensor in module.named_buffers()]
    return (*own, *data) if own else None


def why_dropped(
    backend: Backend | KernelBackend, calls: Iterable[Call], is_stored: bool
) -> list[str]:
    is_kernels = isinstance(backend, KernelBackend)

    def written(program: ExportedProgram) -> Hashable | None:
        return _rewritten(backend, program) if is_kernels else _delegated(backend, program)

    logging.disable(logging.WARNING)
    try:
        return [text for call in calls for text in dropped(call, written, is_stored)]
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.parametrize("is_stored", [False, True], ids=["floats", "stored"])
def test_rows_read_arguments(backend: Backend | KernelBackend, is_stored: bool) -> None:
    names = {f"aten.{name}" for name in FEW}
    assert why_dropped(backend, [s for s in samples() if s.name in names], is_stored) == []


@pytest.mark.full
def test_no_row_drops_an_argument(backend: Backend | KernelBackend) -> None:
    """Of floats; of stored values, which are finite."""
    calls = list(samples())
    found = why_dropped(backend, calls, False)
    assert found + why_dropped(backend, filter(Call.is_finite, calls), True) == []
