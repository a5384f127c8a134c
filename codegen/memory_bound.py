# SPDX-License-Identifier: BSD-3-Clause
"""Prints the memory that the methods of a program are planned for, as constants of C.

    python -m executorch.codegen.memory_bound mnist.pte -o mnist_memory.h

Firmware makes its arrays of these sizes: MNIST_FORWARD_ARENA_BYTES for all arenas of `forward`, one after the other.
Tensors of dynamic size count with their largest. What the runtime and kernels ask for (method and temporary allocator)
is apart.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .c.plan import ELEMENT_BYTES
from .model_operators import ModelError, as_json

ALIGNMENT = 16  # of an arena, as the planner counts offsets


@dataclass(frozen=True)
class Place:
    """Bytes of an input or output, and whether it is in an arena or the caller brings its memory."""

    nbytes: int
    is_planned: bool


@dataclass(frozen=True)
class MemoryBound:
    """What one method needs: arenas in the order of the program, tensor inputs and outputs by their number."""

    method: str
    arenas: tuple[int, ...]
    inputs: dict[int, Place]
    outputs: dict[int, Place]

    @property
    def arena_bytes(self) -> int:
        """Of all arenas, each beginning at an aligned address."""
        return sum(math.ceil(size / ALIGNMENT) * ALIGNMENT for size in self.arenas)


def memory_bounds(path: Path) -> list[MemoryBound]:
    """Of each method of the program at `path`. ModelError for a file that is none."""
    return [_bound(plan) for plan in as_json(path).get("execution_plan", [])]


def _bound(plan: dict[str, Any]) -> MemoryBound:
    def places(indices: list[int]) -> dict[int, Place]:
        values = ((i, plan["values"][index]) for i, index in enumerate(indices))
        return {i: _place(value["val"]) for i, value in values if value["val_type"] == "Tensor"}

    # The first entry of the list stands for constants and is not used.
    arenas = tuple(plan.get("non_const_buffer_sizes", [0])[1:])
    return MemoryBound(plan["name"], arenas, places(plan["inputs"]), places(plan["outputs"]))


def _place(tensor: dict[str, Any]) -> Place:
    dtype = tensor["scalar_type"]
    if dtype not in ELEMENT_BYTES:
        raise ModelError(f"an input or output of dtype {dtype}, whose size is not known here")
    nbytes = math.prod(tensor.get("sizes", [])) * ELEMENT_BYTES[dtype]
    return Place(nbytes, tensor.get("allocation_info") is not None)


def constants(bounds: list[MemoryBound], name: str, origin: str) -> str:
    """A header for C and C++; names begin with `name` and the method's name, in capitals."""
    guard = f"{_capitals(name)}_MEMORY_H"
    lines = [
        f"/* Memory that {origin} is planned for, written by executorch.codegen.memory_bound; do not edit. */",
        f"#ifndef {guard}",
        f"#define {guard}",
    ]
    for bound in bounds:
        prefix = f"{_capitals(name)}_{_capitals(bound.method)}"
        lines += ["", f"#define {prefix}_ARENAS {len(bound.arenas)}"]
        lines += [f"#define {prefix}_ARENA_{i}_BYTES {n}" for i, n in enumerate(bound.arenas)]
        lines.append(
            f"#define {prefix}_ARENA_BYTES {bound.arena_bytes} /* all, aligned to {ALIGNMENT} */"
        )
        for kind, places in (("INPUT", bound.inputs), ("OUTPUT", bound.outputs)):
            for i, place in places.items():
                where = "in an arena" if place.is_planned else "memory of the caller"
                lines.append(f"#define {prefix}_{kind}_{i}_BYTES {place.nbytes} /* {where} */")
    return "\n".join([*lines, "", f"#endif /* {guard} */", ""])


def _capitals(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.codegen.memory_bound",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, help="a .pte")
    parser.add_argument("-o", "--output", type=Path, help="the header; without it, it is printed")
    parser.add_argument(
        "--name", help="what names begin with; without it, the name of the model's file"
    )
    options = parser.parse_args(arguments)
    try:
        bounds = memory_bounds(options.model)
        text = constants(bounds, options.name or options.model.stem, options.model.name)
        if options.output is None:
            print(text, end="")
        else:
            options.output.write_text(text)
    except (ModelError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
