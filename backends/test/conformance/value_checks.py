# SPDX-License-Identifier: BSD-3-Clause
"""Delegates compute what eager does: on the runtime, or by the backend's reference where that is not here."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch.export import Dim

from executorch.backends.test.conformance.backend import Backend
from executorch.backends.test.conformance.compile_checks import calls_of, twice
from executorch.backends.test.conformance.lowered import lower, named_data
from executorch.backends.test.conformance.models import Calls, Sum, Uses
from executorch.backends.test.conformance.needs import needs_values


@needs_values
def test_what_is_claimed_is_right(backend: Backend) -> None:
    lowered, inputs = calls_of(backend), Calls.inputs(backend)
    lowered.check(lowered.runner()(inputs), (inputs,), names=list(inputs))


@needs_values
def test_results_are_right_however_they_are_used(backend: Backend) -> None:
    ones = backend.floats((torch.ones(2, 2), torch.ones(2, 2)))
    lowered = lower(backend, Uses(), ones)
    run = lowered.runner()
    for sign in (1, -1, 1):
        inputs = backend.floats((sign * torch.rand(2, 2), torch.randn(2, 2)))
        lowered.check(run(*inputs), inputs)


@needs_values
def test_sizes_that_vary(backend: Backend) -> None:
    rows = Dim("rows", min=1, max=9)
    ones = backend.floats((torch.ones(4, 3), torch.ones(4, 3)))
    lowered = lower(backend, Sum(), ones, dynamic_shapes=({0: rows}, {0: rows}))
    assert bool(lowered.delegates) == backend.dynamic_shapes
    run = lowered.runner()
    for size in (4, 1, 9, 2):
        inputs = backend.floats((torch.randn(size, 3), torch.randn(size, 3)))
        lowered.check(run(*inputs), inputs)


@needs_values
def test_methods_that_share_weights_are_right(backend: Backend) -> None:
    lowered, inputs = twice(backend, 1 << 10)
    for method in lowered.modules:
        lowered.check(lowered.runner(method)(*inputs), inputs, method)


@needs_values
def test_the_reference_computes_what_the_runtime_does(backend: Backend) -> None:
    if not (backend.runtime and backend.reference):
        pytest.skip(f"{backend.id} has only one of a runtime and a reference")
    lowered, inputs = calls_of(backend), Calls.inputs(backend)
    reference = dataclasses.replace(lowered, backend=dataclasses.replace(backend, runtime=False))
    lowered.check(reference.runner()(inputs), (inputs,), names=list(inputs))


@needs_values
def test_the_reference_refuses_payloads_that_end_early(backend: Backend) -> None:
    if backend.reference is None:
        pytest.skip(f"{backend.id} has no reference")
    model, inputs = backend.sample(1 << 10)
    (delegate,) = lower(backend, model, inputs).delegates
    payload, data = bytes(delegate.processed_bytes), named_data(delegate)
    for size in (0, 1, len(payload) // 2):
        with pytest.raises((RuntimeError, ValueError)):
            backend.reference(payload[:size], data)(list(inputs))
