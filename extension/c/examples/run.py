# SPDX-License-Identifier: BSD-3-Clause
"""The method forward of a program on bytes of a file, and text, by ctypes: see run.c, which does the same.

LIBRARY, the library's path, comes before its arguments."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from executorch.extension.c.python import FORMATS, ExecuTorchError, Library, raw


def run(library: Library, program: str, inputs: str, outputs: str) -> None:
    data = memoryview(bytearray(Path(inputs).read_bytes()))
    with library.load(program) as module:
        arrays = []
        for index in range(module.method_info().num_inputs):
            info = module.value_info(raw.INPUT, index)
            part, data = data[: info.num_bytes], data[info.num_bytes :]
            arrays.append(part.cast(FORMATS[info.dtype], tuple(info.sizes[: info.rank])))
        results = module.execute(*arrays)
        Path(outputs).write_bytes(b"".join(each.view().tobytes() for each in results))


def generate(library: Library, program: str, tokenizer: str, prompt: str) -> None:
    with library.text(program, tokenizer) as session:
        session.generate(
            prompt,
            lambda piece: print(piece, end="", flush=True),
            sampling={"temperature": 0},
            max_new_tokens=40,
            ignores_end=1,
        )


def load(library: Library, program: str, count: str) -> None:
    after_warming = 0
    for index in range(int(count)):
        library.load(program).close()
        if index == int(count) // 10:
            after_warming = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - after_warming, "KiB more")


if __name__ == "__main__":
    try:
        {"run": run, "text": generate, "load": load}[sys.argv[2]](
            Library(sys.argv[1]), *sys.argv[3:]
        )
    except ExecuTorchError as error:
        sys.exit(str(error))
