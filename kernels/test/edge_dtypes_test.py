# SPDX-License-Identifier: BSD-3-Clause
"""Dtypes of edge.yaml: every combination it allows is computed by the kernels, with the dtypes it says."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from executorch.exir.dialects.edge import edge_yaml_generator as generator
from executorch.exir.dialects.edge._constraints import DTYPES, constraints_of
from executorch.exir.operator.convert import to_out_variant
from kernels.test.kernel_call import Call, load_library, load_schemas

OPERATORS = {op.name(): op for op in generator.operators()}
SCHEMAS = load_schemas()
Results = tuple[torch.Tensor, ...]


def combinations(op: Any) -> list[tuple[list[Any], Results]]:
    """Arguments and results of each call that torch computes, for all combinations of dtypes."""
    count, arguments = generator.operators()[op]
    found = []
    for dtypes in itertools.product(DTYPES.values(), repeat=count):
        args = arguments(*(torch.ones(2, 2).to(dtype) for dtype in dtypes))
        try:
            results = op(*args)
        except (RuntimeError, IndexError, TypeError, NotImplementedError):
            continue
        results = tuple(results) if isinstance(results, (tuple, list)) else (results,)
        if all(result.dtype in DTYPES.values() for result in results):
            found.append((list(args), results))
    return found


def make_call(library: str, op: Any, args: list[Any], results: Results) -> Call:
    """The out variant's kernel with the arguments of the functional form; defaults fill the rest."""
    out_variant = to_out_variant(op)[0]
    schema = SCHEMAS[out_variant.name()]
    names = [argument.name for argument in op._schema.arguments]
    given = {a.name: a.default_value for a in out_variant._schema.arguments if not a.is_out}
    given.update(zip(names, args, strict=False))
    call = Call(load_library(library), schema)
    for argument in schema.arguments:
        if not argument.is_out:
            call.add_input(argument, given[argument.name])
    call.add_outputs(results)
    return call


def dtypes_of(op: Any, args: list[Any], results: Results) -> dict[str, torch.dtype]:
    """Dtypes by the names that the rows of edge.yaml have."""
    count, _ = generator.operators()[op]
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    values = [*tensors[:count], *results]
    names = generator.tensor_names(op, count)
    return {name: tensor.dtype for name, tensor in zip(names, values, strict=True)}


@pytest.mark.req("KS-014")
@pytest.mark.parametrize("library", ["portable", "optimized"])
@pytest.mark.parametrize("name", OPERATORS)
def test_kernels_compute_what_the_constraints_allow(library: str, name: str) -> None:
    op = OPERATORS[name]
    constraints = constraints_of(op._schema)
    assert constraints is not None
    calls = combinations(op)
    assert calls
    failures = []
    for args, results in calls:
        dtypes = dtypes_of(op, args, results)
        if not constraints.accepts(dtypes):
            failures.append(f"{dtypes} is not in edge.yaml")
        call = make_call(library, op, args, results)
        if call.run() != 0:
            failures.append(f"{dtypes}: the kernel failed")
        elif not all(map(_close, call.results(), results)):
            failures.append(f"{dtypes}: the kernel's values differ")
    assert not failures, "\n".join(failures[:12])


def _close(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    return torch.allclose(found.double(), wanted.double(), rtol=1e-4, atol=1e-5, equal_nan=True)
