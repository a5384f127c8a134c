# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the corpus lowered for a backend whose payloads a reference runs: whether a delegate takes them, and whether
what it computes is what eager PyTorch computes."""

from __future__ import annotations

import argparse
import re
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch
from torch.utils import _pytree as pytree

from executorch.backends.test.conformance.backend import Backend, Unknown
from executorch.backends.test.conformance.lowered import Lowered, lower
from executorch.backends.test.corpus import rows
from executorch.backends.test.corpus.row import Row
from executorch.backends.test.suite.rows import difference
from executorch.exir.error import ExportError
from executorch.exir.graph_facts import op_name

# What becomes of a row.
WHOLE, PART, CPU = "whole", "in part", "CPU"  # who computes it
REFUSED, TORCH = "refused", "torch"  # exporting says why, or torch.export does
UNKNOWN = "not evaluated"  # lowered; the reference lacks an operation
WRONG, FAILED = "wrong", "failed"  # never
KINDS = (WHOLE, PART, CPU, REFUSED, TORCH, UNKNOWN, WRONG, FAILED)
BAD = (WRONG, FAILED, UNKNOWN)
# Results of a model in float16 have 11 bits, and errors of the values before them add up: of 2^-11 for each, a hundred
# of the worst kind are 0.05. What is computed otherwise is off by more than that somewhere.
HALF = 0.05


@dataclass
class Outcome:
    kind: str
    text: str = ""
    left: Counter[str] = field(default_factory=Counter)


def outcome_of(row: Row, made_for: Backend, tolerance: float = 0.0) -> Outcome:
    """`tolerance`: of the model's precision."""
    given = {"dynamic_shapes": row.shapes(), "strict": False}
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            module = made_for.prepared(row.module(), row.inputs, **given)
            torch.export.export(module, row.inputs, **given)
    except Exception as error:
        return Outcome(TORCH, str(error))
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            lowered = lower(made_for, row.module(), row.inputs, **given)
            return _compared(row, lowered, tolerance)
    except Unknown as unknown:
        return Outcome(UNKNOWN, str(unknown))
    except ExportError as error:
        return Outcome(REFUSED, str(error))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(FAILED, f"{type(error).__name__} in {place.name}: {error}")


def _compared(row: Row, lowered: Lowered, tolerance: float) -> Outcome:
    nodes = lowered.manager.exported_program().graph.nodes
    left = Counter(name for node in nodes if (name := op_name(node)) and "delegate" not in name)
    if not lowered.delegates:
        return Outcome(CPU, left=left)
    run, module = lowered.runner(), lowered.modules["forward"]
    for inputs in row.calls:
        expected = pytree.tree_leaves(
            module(*pytree.tree_map_only(torch.Tensor, torch.clone, inputs))
        )
        found = run(*inputs)
        text = difference(row, found, expected, max(row.tolerance, tolerance), 0.0)
        if text:
            return Outcome(WRONG, text, left)
    return Outcome(PART if left else WHOLE, left=left)


def bad_rows(chosen: Iterable[Row], made_for: Backend, tolerance: float = 0.0) -> dict[str, str]:
    """By id, what is wrong with them."""
    found = {row.id: outcome_of(row, made_for, tolerance) for row in chosen}
    return {name: f"{each.kind}: {each.text}" for name, each in found.items() if each.kind in BAD}


def add_choice_of_rows(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--filter", default="", help="regular expression over names of rows")
    parser.add_argument("--every", type=int, default=1, help="every so many rows")


def print_outcomes(
    options: argparse.Namespace,
    made_for: Backend,
    tolerance: float,
    name: str,
    takes: Callable[[Row], bool] = lambda row: True,
) -> None:
    """A line for each row of the choice that is not one delegate, and one of sums."""
    counts: Counter[str] = Counter()
    for row in rows()[:: options.every]:
        if re.search(options.filter, row.id) and takes(row):
            found = outcome_of(row, made_for, tolerance)
            counts[found.kind] += 1
            if found.kind not in (WHOLE, TORCH):
                print(f"{found.kind}: {row.id}: {found.text[:600]} {dict(found.left)}", flush=True)
    print(f"{name}: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS))
