# SPDX-License-Identifier: BSD-3-Clause
"""Times a row on both engines, in one process, one engine after the other."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch

from executorch.codegen.schema import Schema, parse_signature
from kernels.test.kernel_call import Call
from tools.bench.ops.case import Case

# Arguments that either the functional form or the out-variant may lack: what they say is in the result.
_OF_THE_RESULT = ("dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking")
# A ratio above this is measured again, and the best time of each engine counts: a machine may stall once.
_SURPRISING, _ROUNDS = 2.0, 3
_SETTLE_SECONDS = 0.01  # worker threads of one engine go to sleep before the other engine is timed
_SIDE_SECONDS = 0.03
_REFUSALS = (RuntimeError, NotImplementedError, TypeError, IndexError, ValueError)


@dataclass(frozen=True)
class Row:
    """What a measurement gave: seconds of both engines, or a problem."""

    op: str
    label: str
    elements: int
    eager: float = 0.0
    ours: float = 0.0
    problem: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.eager


def functional_of(schema: Schema) -> Any:
    """The operator without outputs that computes the same."""
    packet = getattr(getattr(torch.ops, schema.namespace), schema.name)
    for overload in packet.overloads():
        found = parse_signature(str(getattr(packet, overload)._schema))
        if not any(a.is_out for a in found.arguments) and _inputs(found) == _inputs(schema):
            return getattr(packet, overload)
    raise LookupError(f"no functional form of {schema.qualified_name}")


def _inputs(schema: Schema) -> list[tuple[str, str]]:
    return [
        (a.name, a.type) for a in schema.arguments if not a.is_out and a.name not in _OF_THE_RESULT
    ]


def eager_takes(schema: Schema, case: Case, seconds: float) -> bool:
    """Whether eager has the operator for these arguments, and computes it in so many seconds at most."""
    start = time.perf_counter()
    try:
        functional_of(schema)(*case.args, **case.kwargs)
    except _REFUSALS:
        return False
    return time.perf_counter() - start <= seconds


def measure(library: ModuleType, schema: Schema, case: Case) -> Row:
    """A row of `case`. Both engines run on as many threads as this process may use."""
    operator = functional_of(schema)

    def eager() -> Any:
        return operator(*case.args, **case.kwargs)

    results = _listed(eager())
    call = _call(library, schema, case, results)
    row = Row(case.op, case.label, max(case.elements, *(t.numel() for t in results)))
    if failed := call.run():
        return replace(row, problem=f"error {failed:#x}")
    if not case.random and not _agree(call.results(), results):
        return replace(row, problem="differs")
    once = _best(eager, 3)
    repeats = int(min(200, max(10, _SIDE_SECONDS / max(once, 1e-7))))
    rounds = []
    for _ in range(_ROUNDS):
        theirs = _best(eager, repeats)
        time.sleep(_SETTLE_SECONDS)
        rounds.append((theirs, library.best_time(schema.qualified_name, call.items, repeats)))
        time.sleep(_SETTLE_SECONDS)
        if rounds[-1][1] < _SURPRISING * rounds[-1][0]:
            break
    theirs, ours = (min(seconds) for seconds in zip(*rounds, strict=True))
    return replace(row, eager=theirs, ours=ours)


def _call(library: ModuleType, schema: Schema, case: Case, results: list[torch.Tensor]) -> Call:
    call = Call(library, schema)
    inputs = [a for a in schema.arguments if not a.is_out]
    functional = {a.name: a.default_value for a in functional_of(schema)._schema.arguments}
    for position, argument in enumerate(inputs):
        if position < len(case.args):
            value = case.args[position]
        else:
            value = case.kwargs.get(argument.name, functional.get(argument.name))
        call.add_input(argument, value)
    call.add_outputs(tuple(results))
    call.items.append(call.items[-1])
    return call


def _listed(result: Any) -> list[torch.Tensor]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _agree(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> bool:
    low = any(t.dtype in (torch.float16, torch.bfloat16) for t in theirs)
    tolerance = 3e-2 if low else 1e-3
    return all(
        torch.allclose(
            a.to(torch.complex128), b.to(torch.complex128), tolerance, tolerance, equal_nan=True
        )
        for a, b in zip(ours, theirs, strict=True)
    )


def _best(run: Any, repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best
