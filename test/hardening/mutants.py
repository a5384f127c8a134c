# SPDX-License-Identifier: BSD-3-Clause
"""How the runtime takes corrupted programs: mutants of a file, loaded and run in forked children.

usage: python -m executorch.test.hardening.mutants --count 2000 [--seed 7] [program.pte ...]

Without files, these programs are made: plain, with a cache in buffers, with a branch, with two methods, with a
dynamic shape, with constants in the program data, delegated to XNNPACK: float, 8-bit, with a dynamic shape, with
large matrices, with ring buffers, and language models (language_models.py).
Only the program part and the delegates' graphs and lists of files are corrupted (weights are numbers). Methods run
twice: delegates pack matrices the second time. A mutant may be refused (an exception) or accepted (it runs); CRASH,
ABORT (SIGABRT) and HANG (ten seconds) fail the run. Under sanitizers set
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
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.examples.models import make_example
from executorch.examples.models.example import Method
from executorch.examples.xnnpack.quantization import quantized_method
from executorch.exir import ExecutorchProgramManager, to_edge_transform_and_lower
from executorch.exir._serialize._codec import program_codec
from executorch.runtime import Runtime
from executorch.test.hardening import language_models

PLAIN = ("linear", "llama_kv", "cond", "two_methods", "dynamic_rows")
INLINE = ("inline_linear",)  # constants in the program data, as before 2024-09
DELEGATED = ("linear", "small_image", "small_image_q8", "dynamic_rows", "wide", "expansion")
LANGUAGE = language_models.NAMES
PROGRAMS = (*PLAIN, *INLINE, *(f"xnnpack_{name}" for name in DELEGATED), *LANGUAGE)
SECONDS = 10
BATCH = (
    32  # mutants that one child runs: forking a process with PyTorch takes longer than most of them
)
ACCEPTED, REFUSED = b"a", b"r"
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
# The list of a Core ML model's files, which is JSON, reversed: from "}]}" on.
FILES = b'[:"sedon"{'
Inputs = dict[str, list[Any]]


def methods_of(name: str) -> dict[str, Method]:
    """Of the example behind one of PROGRAMS."""
    name = name.removeprefix("xnnpack_").removeprefix("inline_")
    methods = make_example(name.removesuffix("_q8")).methods
    if name.endswith("_q8"):
        return {key: quantized_method(method) for key, method in methods.items()}
    return methods


def make_programs(folder: Path) -> list[Path]:
    paths = [folder / f"{name}.pte" for name in PROGRAMS]
    for name, path in zip(PROGRAMS, paths):
        if name in LANGUAGE:
            language_models.make(name, folder)
            continue
        exported = {key: method.export() for key, method in methods_of(name).items()}
        partitioner = [XnnpackPartitioner()] if name.startswith("xnnpack_") else None
        edge = to_edge_transform_and_lower(exported, partitioner=partitioner)
        program = edge.to_executorch()
        if name in INLINE:
            path.write_bytes(with_inline_constants(program))
        else:
            program.save(str(path))
    return paths


def with_inline_constants(program: ExecutorchProgramManager) -> bytes:
    """The file as exporters wrote it before 2024-09: no segments, constants in the program data."""
    return program_codec().pack(program.executorch_program, {"Buffer.storage": 16})


def intended_inputs(path: Path) -> Inputs:
    """What to run each method with: an example's own inputs, zeros of the wanted shapes for any other file."""
    if path.stem in LANGUAGE:
        return language_models.INPUTS
    if path.stem in PROGRAMS:
        methods = methods_of(path.stem.removesuffix("_q8"))
        return {name: tree_leaves(method.inputs) for name, method in methods.items()}
    program = Runtime.get().load_program(path)
    return {name: zeros(program, name) for name in sorted(program.method_names)}


def zeros(program: Any, name: str) -> list[Any]:
    meta = program.load_method(name).metadata
    infos = [meta.input_tensor_meta(index) for index in range(meta.num_inputs())]
    return [torch.zeros(tuple(info.sizes()), dtype=DTYPES[int(info.dtype())]) for info in infos]


def program_spans(data: bytes) -> list[range]:
    """Where the program and, each as long as all of it, the graphs of XNNPACK delegates and the lists of files of Core
    ML's lie in the file: the extended header says where segments begin, a delegate's header how long its graph is."""
    if not data[8:12].startswith(b"eh"):
        return [range(len(data))]
    spans = [range(min(len(data), struct.unpack_from("<Q", data, 16)[0]))]
    at = data.find(b"XH00")
    while at >= 4:
        (graph, size) = struct.unpack_from("<II", data, at + 6)
        spans.append(range(at - 4, at - 4 + graph + size))
        at = data.find(b"XH00", at + 1)
    at = data.find(FILES)
    while at >= 0:
        spans.append(range(max(0, data.rfind(b"}]}", 0, at)), at + len(FILES)))
        at = data.find(FILES, at + 1)
    return spans


def position(spans: list[range], chance: random.Random, unit: int = 1) -> int:
    """Somewhere in one of the spans, at a multiple of `unit` from its start."""
    span = chance.choice(spans)
    return span[0] + chance.randrange(len(span) - unit + 1) // unit * unit


def corrupt(data: bytes, chance: random.Random) -> bytes:
    """One mutant: a truncation, or one to four of flipped bits, boundary words, copied words."""
    if chance.random() < 0.1:
        return data[: chance.randrange(len(data))]
    mutant, spans = bytearray(data), program_spans(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        kind = chance.random()
        if kind < 0.45:
            mutant[position(spans, chance)] ^= 1 << chance.randrange(8)
            continue
        at = position(spans, chance, 4)
        if kind < 0.9:
            word = chance.choice((*BOUNDARIES, chance.randrange(300), chance.getrandbits(32)))
            struct.pack_into("<I", mutant, at, word)
        else:
            source = position(spans, chance, 4)
            mutant[at : at + 4] = data[source : source + 4]
    return bytes(mutant)


def mutants(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    chance = random.Random(seed)
    for _ in range(count):
        yield corrupt(data, chance)


def run_in_child(files: Sequence[Path], inputs: Inputs, answers: int) -> None:
    """Writes an answer for each file to the descriptor `answers`. Never returns."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    for path in files:
        signal.alarm(SECONDS)
        try:
            run_program(path, inputs)
            answer = ACCEPTED
        except Exception:
            answer = REFUSED
        os.write(answers, answer)
    os._exit(0)


def run_program(path: Path, inputs: Inputs) -> None:
    program = Runtime.get().load_program(path)
    for name, values in inputs.items():
        method = program.load_method(name)
        method.execute(values)
        method.execute(values)


def verdict(path: Path, inputs: Inputs) -> str:
    """What becomes of the file at `path`."""
    return verdicts([path], inputs)[0]


def verdicts(files: Sequence[Path], inputs: Inputs) -> list[str]:
    """Of each. A hang must happen twice: a busy machine may stall a child once."""
    found = _first_verdicts(files, inputs)
    return [
        _first_verdicts([path], inputs)[0] if each == "HANG" else each
        for path, each in zip(files, found, strict=True)
    ]


def _first_verdicts(files: Sequence[Path], inputs: Inputs) -> list[str]:
    """A child goes on until a file ends it; the next child has those behind that file."""
    found: list[str] = []
    while len(found) < len(files):
        answers, status = _answers_of_child(files[len(found) :], inputs)
        found += ["accepted" if each == ACCEPTED[0] else "refused" for each in answers]
        if len(found) < len(files):
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            found.append({signal.SIGALRM: "HANG", signal.SIGABRT: "ABORT"}.get(number, "CRASH"))
    return found


def _answers_of_child(files: Sequence[Path], inputs: Inputs) -> tuple[bytes, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        run_in_child(files, inputs, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answers = pipe.read()
    return answers, os.waitpid(child, 0)[1]


def try_program(path: Path, count: int, seed: int, keep: Path) -> Counter[str]:
    """Verdicts on `count` mutants; those that failed are kept in `keep`. The file itself must run."""
    data, inputs = path.read_bytes(), intended_inputs(path)
    if (whole := verdict(path, inputs)) != "accepted":
        raise ValueError(f"{path}: expected a program that runs, found that it is {whole}")
    counts: Counter[str] = Counter()
    made = enumerate(mutants(data, count, seed))
    while batch := list(islice(made, BATCH)):
        files = [keep / f"mutant-{os.getpid()}-{index}.pte" for index, _ in batch]
        for file, (_, mutant) in zip(files, batch, strict=True):
            file.write_bytes(mutant)
        for file, (index, _), found in zip(files, batch, verdicts(files, inputs), strict=True):
            counts[found] += 1
            if found.isupper():
                file.rename(keep / f"{found}-{path.stem}-{seed}-{index}.pte")
            file.unlink(missing_ok=True)
    return counts


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="mutants of each program")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", type=Path, help="folder for mutants that failed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("programs", nargs="*", type=Path)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    folder = options.keep or Path(tempfile.mkdtemp(prefix="mutants-"))
    folder.mkdir(parents=True, exist_ok=True)
    total: Counter[str] = Counter()
    programs = options.programs or make_programs(folder)
    tried = partial(try_program, count=options.count, seed=options.seed, keep=folder)
    with get_context("fork").Pool(options.jobs) as pool:
        for path, found in zip(programs, pool.imap(tried, programs), strict=True):
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
