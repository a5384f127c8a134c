# SPDX-License-Identifier: BSD-3-Clause
"""How the runtime takes damaged programs: mutants of a file, each loaded and run in a forked child.

usage: python -m executorch.test.hardening.mutants --count 2000 [--seed 7] [program.pte ...]

Without files, five programs are made: plain, with a cache in buffers, with a branch, with two methods, with a
dynamic shape. Only the program part is damaged (weights are numbers). A mutant may be refused (an exception)
or accepted (it runs); CRASH, ABORT (SIGABRT) and HANG (ten seconds) fail the run. Under sanitizers set
ASAN_OPTIONS=abort_on_error=1:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from executorch.examples.models import make_example
from executorch.exir import to_edge
from executorch.runtime import Runtime

PROGRAMS = ("linear", "llama_kv", "cond", "two_methods", "dynamic_rows")
SECONDS = 10
REFUSED = 3
BOUNDARIES = (0, 1, 2, 3, 0x7F, 0x7FFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
DTYPES = {
    0: torch.uint8,
    1: torch.int8,
    2: torch.int16,
    3: torch.int32,
    4: torch.int64,
    5: torch.float16,
    6: torch.float32,
    7: torch.float64,
    11: torch.bool,
    15: torch.bfloat16,
}
Inputs = dict[str, list[Any]]


def make_programs(folder: Path) -> list[Path]:
    paths = [folder / f"{name}.pte" for name in PROGRAMS]
    for name, path in zip(PROGRAMS, paths):
        to_edge(make_example(name).export()).to_executorch().save(str(path))
    return paths


def intended_inputs(path: Path) -> Inputs:
    """What to run each method with: an example's own inputs, zeros of the wanted shapes for any other file."""
    if path.stem in PROGRAMS:
        methods = make_example(path.stem).methods
        return {name: tree_leaves(method.inputs) for name, method in methods.items()}
    program = Runtime.get().load_program(path)
    return {name: zeros(program, name) for name in sorted(program.method_names)}


def zeros(program: Any, name: str) -> list[Any]:
    meta = program.load_method(name).metadata
    infos = [meta.input_tensor_meta(index) for index in range(meta.num_inputs())]
    return [torch.zeros(tuple(info.sizes()), dtype=DTYPES[int(info.dtype())]) for info in infos]


def program_bytes(data: bytes) -> int:
    """Length of the part that is a program: the extended header says where segments begin."""
    if data[8:12].startswith(b"eh"):
        return min(len(data), struct.unpack_from("<Q", data, 16)[0])
    return len(data)


def damage(data: bytes, chance: random.Random) -> bytes:
    """One mutant: a truncation, or one to four of flipped bits, boundary words, copied words."""
    if chance.random() < 0.1:
        return data[: chance.randrange(len(data))]
    mutant, limit = bytearray(data), program_bytes(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        kind = chance.random()
        if kind < 0.45:
            mutant[chance.randrange(limit)] ^= 1 << chance.randrange(8)
            continue
        at = chance.randrange(0, limit - 4) & ~3
        if kind < 0.9:
            word = chance.choice((*BOUNDARIES, chance.randrange(300), chance.getrandbits(32)))
            struct.pack_into("<I", mutant, at, word)
        else:
            source = chance.randrange(0, limit - 4) & ~3
            mutant[at : at + 4] = data[source : source + 4]
    return bytes(mutant)


def mutants(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    chance = random.Random(seed)
    for _ in range(count):
        yield damage(data, chance)


def run_in_child(path: Path, inputs: Inputs) -> None:
    """Never returns: ends with 0 when all methods ran, REFUSED after an exception."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    signal.alarm(SECONDS)
    code = 0
    try:
        program = Runtime.get().load_program(path)
        for name, values in inputs.items():
            program.load_method(name).execute(values)
    except Exception:
        code = REFUSED
    os._exit(code)


def verdict(path: Path, inputs: Inputs) -> str:
    """What becomes of the file at `path`. A hang must happen twice: a busy machine may stall a child once."""
    found = one_verdict(path, inputs)
    return one_verdict(path, inputs) if found == "HANG" else found


def one_verdict(path: Path, inputs: Inputs) -> str:
    child = os.fork()
    if child == 0:
        run_in_child(path, inputs)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return {signal.SIGALRM: "HANG", signal.SIGABRT: "ABORT"}.get(number, "CRASH")
    return {0: "accepted", REFUSED: "refused"}.get(os.WEXITSTATUS(status), "CRASH")


def try_program(path: Path, count: int, seed: int, keep: Path) -> Counter[str]:
    """Verdicts on `count` mutants; those that failed are kept in `keep`. The file itself must run."""
    data, inputs = path.read_bytes(), intended_inputs(path)
    if (whole := verdict(path, inputs)) != "accepted":
        raise ValueError(f"{path}: expected a program that runs, found that it is {whole}")
    verdicts: Counter[str] = Counter()
    mutant_path = keep / f"mutant-{os.getpid()}.pte"
    for index, mutant in enumerate(mutants(data, count, seed)):
        mutant_path.write_bytes(mutant)
        found = verdict(mutant_path, inputs)
        verdicts[found] += 1
        if found.isupper():
            mutant_path.rename(keep / f"{found}-{path.stem}-{seed}-{index}.pte")
    mutant_path.unlink(missing_ok=True)
    return verdicts


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="mutants of each program")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", type=Path, help="folder for mutants that failed")
    parser.add_argument("programs", nargs="*", type=Path)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    folder = options.keep or Path(tempfile.mkdtemp(prefix="mutants-"))
    folder.mkdir(parents=True, exist_ok=True)
    total: Counter[str] = Counter()
    for path in options.programs or make_programs(folder):
        found = try_program(path, options.count, options.seed, folder)
        print(f"{path.name}: {options.count} mutants, {dict(found)}", flush=True)
        total += found
    bad = sum(count for name, count in total.items() if name.isupper())
    print(
        f"{sum(total.values())} mutants in all, {bad} failures"
        + (f", kept in {folder}" if bad else "")
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
