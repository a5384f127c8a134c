# SPDX-License-Identifier: BSD-3-Clause
"""Random calls of every kernel with numbers no correct program has and with outputs that do not fit:

    python -m kernels.test.kernel_fuzz --library portable --seconds 300 --seed 1

A call may fail, but must not end the process, nor write beyond its outputs. The last call is kept in --last, so that
a call that ends the process can be repeated with --seed and --only.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import sys
import time
from pathlib import Path
from types import ModuleType

import torch

from executorch.codegen.schema import Schema
from kernels.test.call_generator import DTYPES, SHAPES, Drawer, starts
from kernels.test.kernel_call import Call, load_library, load_schemas

_GUARD = 64  # bytes after an output
_STARTS = list(starts())


def _output(rng: random.Random, call: Call, like: torch.Tensor) -> torch.Tensor:
    """Adds an output of drawn dtype and shape (the first input's or any) with a guard behind it."""
    shape = tuple(like.shape) if rng.random() < 0.6 else rng.choice(SHAPES)
    dtype = like.dtype if rng.random() < 0.7 else rng.choice(DTYPES)
    size = torch.empty(0, dtype=dtype).element_size()
    count = torch.Size(shape).numel()
    memory = torch.full((count * size + _GUARD,), 0x5A, dtype=torch.uint8)
    tensor = memory[: count * size].view(dtype).view(shape)
    call.items.append(("tensor", call.view_of(tensor)))
    return memory


def run_one(module: ModuleType, schema: Schema, seed: int) -> str | None:
    """One call; what is wrong with it, or None."""
    rng = random.Random(seed)
    values = Drawer(seed, rng.choice(_STARTS), wild=True).values(schema)
    call = Call(module, schema)
    inputs = [a for a in schema.arguments if not a.is_out]
    for argument, value in zip(inputs, values, strict=True):
        call.add_input(argument, value)
    first = next((v for v in values if isinstance(v, torch.Tensor)), torch.zeros(2, 3))
    memories = []
    for argument in schema.arguments:
        if argument.type == "Tensor![]":
            return None
        if argument.is_out and rng.random() < 0.05 and first.numel():
            call.items.append(("tensor", call.view_of(first)))  # aliases the input
        elif argument.is_out:
            memories.append(_output(rng, call, first))
    call.run()
    if any(bool((m[-_GUARD:] != 0x5A).any()) for m in memories):
        return "writes beyond an output"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--library", default="portable", choices=["portable", "optimized", "quantized"]
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one operator, e.g. aten::add.out")
    parser.add_argument("--last", type=Path, default=Path("kernel_fuzz_last.txt"))
    options = parser.parse_args()
    # Every refused call tells why; thousands a second are of no use.
    faulthandler.enable(file=os.dup(sys.stderr.fileno()))
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    module = load_library(options.library)
    table = load_schemas(options.library)
    names = [options.only] if options.only else sorted(table)
    calls, found, end = 0, 0, time.monotonic() + options.seconds
    while time.monotonic() < end:
        name, seed = names[calls % len(names)], options.seed * 1_000_003 + calls
        with options.last.open("w") as last:
            last.write(f"{name} {seed}\n")
        problem = run_one(module, table[name], seed)
        if problem is not None:
            found += 1
            print(f"{name} seed {seed}: {problem}", flush=True)
        calls += 1
    print(f"{calls} calls of {len(names)} operators, {found} problems")
    options.last.unlink()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
