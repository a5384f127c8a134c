# SPDX-License-Identifier: BSD-3-Clause
"""Results that are made wrong on their way to the comparison with eager's: which operators' calls notice?

python -m kernels.test.spoiled --library portable
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from executorch.codegen.schema import Schema
from kernels.test.bounds import rule_of
from kernels.test.differential import ENOUGH_HALVES, OPS, Halves, library, outcome_of, schemas
from kernels.test.fitting_calls import calls_of
from kernels.test.kernel_call import is_dense
from kernels.test.known_differences import known

_ROUNDS = 2


def _next(t: torch.Tensor) -> torch.Tensor:
    """The neighbour of each number, away from 0."""
    made = t.clone()
    bits = made.view(torch.int16) if is_dense(made) else made.contiguous().view(torch.int16)
    bits += torch.where(t.isfinite() & (t != 0), 1, 0).to(torch.int16)
    return bits.view(t.dtype)


@dataclass
class Spoil:
    """A change of all results of some dtypes; `touched` counts the results that it changed."""

    about: str
    dtypes: tuple[torch.dtype, ...]
    change: Callable[[torch.Tensor], torch.Tensor]
    touched: int = field(default=0)

    def __call__(self, t: torch.Tensor) -> torch.Tensor:
        if t.dtype not in self.dtypes:
            return t
        made = self.change(t)
        self.touched += bool(((made != t) & t.isfinite()).any())
        return made


_16_BITS = (torch.float16, torch.bfloat16)
SPOILS = (
    Spoil("bfloat16 5 % off", (torch.bfloat16,), lambda t: (t.double() * 1.05).to(t.dtype)),
    Spoil("16 bits, one unit in the last place off", _16_BITS, _next),
    Spoil("float32 9e-5 off", (torch.float32,), lambda t: (t.double() * (1 + 9e-5)).to(t.dtype)),
)


def _may_give(values: list[Any], spoil: Spoil) -> bool:
    """Whether a call has anything of the dtypes; integers that become floats become float32."""
    flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
    return any(getattr(v, "dtype", v) in spoil.dtypes for v in flat) or not any(
        isinstance(v, torch.Tensor) for v in flat
    )


def noticed(name: str, schema: Schema, spoil: Spoil, step: int = 1) -> bool | None:
    """Whether a call fails by it, or the share of rounded results does; None where no result has the dtype."""
    before, halves = spoil.touched, Halves()
    for round_number in range(_ROUNDS):
        for number, values in enumerate(calls_of(schema, round_number)):
            if number % step or not _may_give(values, spoil):
                continue
            here = spoil.touched
            outcome = outcome_of(library(name), schema, values, spoil=spoil)
            if spoil.touched == here:
                continue
            if outcome.problem is not None and known(schema, values, outcome.problem) is None:
                return True
            halves += outcome.halves
            if (
                halves.numbers >= ENOUGH_HALVES
                and halves.equal < halves.numbers * rule_of(schema).rounded
            ):
                return True
    return None if spoil.touched == before else False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default="portable", choices=["portable", "optimized"])
    parser.add_argument("ops", nargs="*", help="such as aten::add.out; all, when left out")
    options = parser.parse_args()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # refused calls tell why
    warnings.simplefilter("ignore")
    missed = 0
    for spoil in SPOILS:
        found = {op: noticed(options.library, schemas()[op], spoil) for op in options.ops or OPS}
        with_results = [op for op, answer in found.items() if answer is not None]
        not_noticed = [op for op in with_results if not found[op]]
        missed += len(not_noticed)
        count = len(with_results) - len(not_noticed)
        print(f"{spoil.about}: noticed in {count} of {len(with_results)} operators", flush=True)
        for op in not_noticed:
            print(f"      not in {op}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
