# SPDX-License-Identifier: BSD-3-Clause
"""What can be seen of a backend's compiler without running anything: what it takes and says of the rest, what its
payloads and named data are, which programs and options it refuses."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from torch.export import ExportedProgram, export

from executorch.backends.test.conformance.backend import Backend, Weights
from executorch.backends.test.conformance.lowered import (
    Lowered,
    lower,
    lower_again,
    named_data,
)
from executorch.backends.test.conformance.models import Calls
from executorch.exir import to_edge
from executorch.exir.backend.backend_api import to_backend
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError
from executorch.exir.lowered_backend_module import LoweredBackendModule

_KILOBYTES = 1 << 16
_HEAD = 1 << 13  # bytes of a payload of one call, beside its weights, at most


# ---- Partitions ----


@functools.cache
def calls_of(backend: Backend) -> Lowered:
    return lower(backend, Calls(), (Calls.inputs(backend),))


def _edge_program(backend: Backend) -> ExportedProgram:
    return to_edge(calls_of(backend).exported["forward"]).exported_program()


def test_a_partitioner_only_tags(backend: Backend) -> None:
    partitioner = backend.partitioner()
    program = _edge_program(backend)
    partitioner.prepare(program)
    before = [(node.name, node.op, node.target, node.args) for node in program.graph.nodes]
    result = partitioner.partition(program)
    nodes = list(result.tagged_exported_program.graph.nodes)
    assert [(node.name, node.op, node.target, node.args) for node in nodes] == before
    tags = {node.meta["delegation_tag"] for node in nodes if "delegation_tag" in node.meta}
    assert tags and tags == set(result.partition_tags)
    assert {spec.backend_id for spec in result.partition_tags.values()} == {backend.id}


def test_what_is_left_has_a_reason(backend: Backend) -> None:
    """As data, of partitioners that give it; of calls that are left only."""
    partitioner, program = backend.partitioner(), _edge_program(backend)
    if not hasattr(partitioner, "why_not_delegated"):
        pytest.skip(f"{type(partitioner).__name__} has no why_not_delegated()")
    reasons = partitioner.why_not_delegated(program)
    assert all(reasons.values()), [node for node, reason in reasons.items() if not reason]
    assert not any("delegation_tag" in node.meta for node in program.graph.nodes), "it tags"
    partitioner.partition(program)
    calls = {node for node in program.graph.nodes if node.op == "call_function"}
    left = {node for node in calls if "delegation_tag" not in node.meta}
    assert set(reasons) <= left
    assert {node for node in left if "getitem" not in node.name} <= set(reasons)


def test_what_is_claimed_is_compiled(backend: Backend) -> None:
    delegates = calls_of(backend).delegates
    assert delegates and {each.backend_id for each in delegates} == {backend.id}


def test_the_same_program_gives_the_same_bytes(backend: Backend) -> None:
    first = calls_of(backend)
    again = lower_again(first)
    for one, other in zip(first.delegates, again.delegates, strict=True):
        assert bytes(one.processed_bytes) == bytes(other.processed_bytes)
        assert named_data(one) == named_data(other)
    assert first.to_executorch().buffer == again.to_executorch().buffer


# ---- Constants ----


def _with_weights(backend: Backend) -> LoweredBackendModule:
    model, inputs = backend.sample(_KILOBYTES)
    (delegate,) = lower(backend, model, inputs).delegates
    return delegate


class Twice(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.inner = model

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        once = self.inner(*inputs)
        return once + once


def twice(backend: Backend, num_bytes: int) -> tuple[Lowered, tuple[Any, ...]]:
    """Two methods with the same weights."""
    model, inputs = backend.sample(num_bytes)
    return lower(backend, {"once": (model, inputs), "twice": (Twice(model), inputs)}), inputs


def test_named_data_is_stored_once(backend: Backend) -> None:
    lowered, _ = twice(backend, _KILOBYTES)
    keys = [set(named_data(each)) for each in lowered.delegates]
    shared = backend.named_data or backend.joins_methods
    assert bool(set().union(*keys)) == shared
    if not shared:
        return
    assert _KILOBYTES <= len(lowered.to_executorch().buffer) < 1.5 * _KILOBYTES
    for delegate, names in zip(lowered.delegates, keys, strict=True):
        payload = bytes(delegate.processed_bytes)
        assert all(name.encode() in payload for name in names), "the payload names its data"


def test_a_payload_is_as_large_as_what_it_must_hold(backend: Backend) -> None:
    """Weights stand once: in the payload, or in named data, or outside."""
    delegate = _with_weights(backend)
    payload = len(delegate.processed_bytes)
    data = sum(map(len, named_data(delegate).values()))
    if backend.weights is Weights.INPUTS:
        assert payload + data < _HEAD
    elif backend.named_data:
        assert payload < _HEAD and _KILOBYTES <= data < 1.25 * _KILOBYTES
    else:
        assert _KILOBYTES <= payload < 1.25 * _KILOBYTES and data == 0


def test_who_owns_weights(backend: Backend) -> None:
    state = _with_weights(backend).original_module.state_dict
    owned = sum(tensor.nbytes for tensor in state.values())
    assert (owned >= _KILOBYTES) == (backend.weights is not Weights.INPUTS)


# ---- What is refused ----


def test_an_option_that_is_unknown_is_refused(backend: Backend) -> None:
    delegate = _with_weights(backend)
    options = [*delegate.compile_specs, CompileSpec("no_such_option", b"1")]
    if not backend.refuses_options:
        to_backend(backend.id, delegate.original_module, options)
        return
    with pytest.raises(ExportError, match="no_such_option"):
        to_backend(backend.id, delegate.original_module, options)


@functools.cache
def _define_unknown() -> torch.library.Library:
    """What it defines lives as long as it does."""
    library = torch.library.Library("conformance", "FRAGMENT")
    library.define("unknown(Tensor x) -> Tensor")
    library.impl("unknown", torch.clone, "CompositeExplicitAutograd")
    torch.library.register_fake("conformance::unknown", torch.empty_like, lib=library)
    return library


class Unknown(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.conformance.unknown(x) + x


def test_an_operator_that_is_unknown_is_refused(backend: Backend) -> None:
    _define_unknown()
    program = to_edge(export(Unknown(), (torch.ones(2, 2, dtype=backend.precision),)))
    with pytest.raises(ExportError, match="unknown"):
        to_backend(backend.id, program.exported_program(), _with_weights(backend).compile_specs)
