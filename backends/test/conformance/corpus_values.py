# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus lowered for a backend whose payloads a reference runs: whether a delegate takes them, and whether
what it computes is what eager PyTorch computes; where results were quantized, but for a step."""

from __future__ import annotations

import argparse
import re
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from executorch.backends.test.conformance import precision
from executorch.backends.test.conformance.backend import Backend, Unknown
from executorch.backends.test.conformance.lowered import (
    Lowered,
    exported,
    lower,
    lower_exported,
)
from executorch.backends.test.conformance.models import is_wide
from executorch.backends.test.corpus import rows
from executorch.backends.test.corpus.row import Row
from executorch.exir.backend.lowering.payload.writer import NotCompiled
from executorch.exir.error import ExportError
from executorch.exir.graph_facts import op_name

# What becomes of a row.
WHOLE, PART, CPU = "whole", "in part", "CPU"  # who computes it
REFUSED, TORCH = "refused", "torch"  # exporting says why, or torch.export does
UNKNOWN = "not evaluated"  # lowered; the reference lacks an operation
WRONG, FAILED = "wrong", "failed"  # never
KINDS = (WHOLE, PART, CPU, REFUSED, TORCH, UNKNOWN, WRONG, FAILED)
BAD = (WRONG, FAILED, UNKNOWN)
# By what the floats of a row's inputs are multiplied: with 1 as they are, small and large ones, a padding of zeros.
EXTREMES = (1.0, 1e-3, 300.0, 0.0)


@dataclass
class Outcome:
    kind: str
    text: str = ""
    left: Counter[str] = field(default_factory=Counter)


def outcome_of(
    row: Row, made_for: Backend, tolerance: float = 0.0, scales: Iterable[float] = (1.0,)
) -> Outcome:
    """`tolerance`: of the largest result, where the row's own error in the backend's floats is not what it may be off
    by. `scales`: of the inputs' floats; those that PyTorch refuses the row with are left out."""
    given = {"dynamic_shapes": row.shapes(), "strict": False}
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            program = exported(made_for, row.module(), row.inputs, **given)
    except Exception as error:
        return Outcome(TORCH, str(error))
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            lowered = lower_exported(made_for, {"forward": program})
            return _compared(row, lowered, tolerance, scales)
    except Unknown as unknown:
        return Outcome(UNKNOWN, str(unknown))
    except NotCompiled as error:  # by a backend whose partitioner claimed it
        return Outcome(FAILED, str(error))
    except ExportError as error:
        return Outcome(REFUSED, str(error))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(FAILED, f"{type(error).__name__} in {place.name}: {error}")


def _compared(row: Row, lowered: Lowered, tolerance: float, scales: Iterable[float]) -> Outcome:
    nodes = lowered.manager.exported_program().graph.nodes
    left = Counter(name for node in nodes if (name := op_name(node)) and "delegate" not in name)
    if not lowered.delegates:
        return Outcome(CPU, left=left)
    run, module = lowered.runner(), lowered.modules["forward"]
    least = max(tolerance, row.tolerance if row.tolerance > Row.tolerance else 0.0)
    step = 1.01 * lowered.steps["forward"]  # as in lowered.check(): float32 rounds both ends of it
    for scale in scales:
        for inputs in row.calls:
            given = _scaled(inputs, scale)
            try:
                bounds = precision.Bounds.of(
                    lowered.backend.floats_inside, module, given, least, step
                )
            except Exception:
                if scale == 1:
                    raise
                continue
            text = bounds.difference(run(*given), is_random=row.is_random)
            if text:
                return Outcome(
                    WRONG, text if scale == 1 else f"inputs times {scale:g}: {text}", left
                )
    return Outcome(PART if left else WHOLE, left=left)


def _scaled(inputs: tuple[Any, ...], scale: float) -> tuple[Any, ...]:
    if scale == 1:
        return inputs
    is_float = lambda each: each.is_floating_point()  # noqa: E731
    return pytree.tree_map_only(
        torch.Tensor, lambda each: each * scale if is_float(each) else each, inputs
    )


def chunks(chosen: Sequence[Row], size: int = 5) -> list[list[Row]]:
    """For tests that take less than a second each."""
    return [list(chosen[start : start + size]) for start in range(0, len(chosen), size)]


def beside_whole(
    chosen: Iterable[Row], made_for: Backend, as_they_are: Collection[str] = ()
) -> dict[str, Any]:
    """By name, of rows that are not one delegate: what is wrong, or how many calls of each operator stay outside.
    Inputs are small, large and zeros, too, but for the rows of `as_they_are`."""
    found = {}
    for row in chosen:
        scales = EXTREMES[:1] if row.name in as_they_are else EXTREMES
        outcome = outcome_of(row, made_for, scales=scales)
        if outcome.kind != WHOLE:
            is_partial = outcome.kind in (PART, CPU)
            found[row.name] = (
                dict(outcome.left) if is_partial else f"{outcome.kind}: {outcome.text}"
            )
    return found


def taken_by(made_for: Backend, row: Row) -> set[str]:
    """Names of the operators that delegates have of a row."""
    given = {"dynamic_shapes": row.shapes(), "strict": False}
    delegates = lower(made_for, row.module(), row.inputs, **given).delegates
    nodes = (node for each in delegates for node in each.original_module.graph.nodes)
    return {name for node in nodes if (name := op_name(node))}


def bad_rows(
    chosen: Iterable[Row], made_for: Backend, scales: Iterable[float] = (1.0,)
) -> dict[str, str]:
    """By id, what is wrong with them."""
    found = {row.id: outcome_of(row, made_for, scales=scales) for row in chosen}
    return {name: f"{each.kind}: {each.text}" for name, each in found.items() if each.kind in BAD}


def add_choice_of_rows(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--filter", default="", help="regular expression over names of rows")
    parser.add_argument("--every", type=int, default=1, help="every so many rows")
    parser.add_argument("--rows", default=":", metavar="A:B", help="numbers A to B - 1, from 0 on")
    parser.add_argument(
        "--extremes", action="store_true", help="also small and large inputs, and zeros"
    )


def chosen_rows(options: argparse.Namespace) -> list[tuple[int, Row]]:
    """With their numbers."""
    first, last = (int(each) if each else None for each in options.rows.split(":"))
    return [
        (number, row)
        for number, row in list(enumerate(rows()))[first:last]
        if number % options.every == 0 and re.search(options.filter, row.id)
    ]


def print_outcomes(
    options: argparse.Namespace,
    made_for: Backend,
    name: str,
    takes: Callable[[Row], bool] = lambda row: True,
) -> None:
    """A line for each row of the choice that is not one delegate, and one of sums. Rows of integers that a backend of
    32 bits does not hold are left out."""
    counts: Counter[str] = Counter()
    scales = EXTREMES if options.extremes else (1.0,)
    for number, row in chosen_rows(options):
        is_held = made_for.wide_integers or not is_wide(row)
        if is_held and takes(row):
            found = outcome_of(row, made_for, scales=scales)
            counts[found.kind] += 1
            if found.kind not in (WHOLE, TORCH):
                text = f"{row.id}: {found.text[:600]} {dict(found.left)}"
                print(f"{number} {found.kind}: {text}", flush=True)
    print(f"{name}: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS))
