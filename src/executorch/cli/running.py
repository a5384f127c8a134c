# SPDX-License-Identifier: BSD-3-Clause
"""What `executorch run` does, with NumPy alone."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy

from executorch.cli import inputs as given
from executorch.exir.scalar_type import ScalarType
from executorch.runtime import Runtime

# NumPy's names of the format's dtypes; others cannot be drawn.
_DTYPES = {
    ScalarType.BYTE: "uint8",
    ScalarType.CHAR: "int8",
    ScalarType.SHORT: "int16",
    ScalarType.INT: "int32",
    ScalarType.LONG: "int64",
    ScalarType.HALF: "float16",
    ScalarType.FLOAT: "float32",
    ScalarType.DOUBLE: "float64",
    ScalarType.BOOL: "bool",
}


def run_program(options: argparse.Namespace) -> int:
    program = Runtime.get().load_program(options.program, data_path=options.data)
    name = method_name(program, options)
    method = program.load_method(name)
    arrays = arguments(method.metadata, options)
    if options.runs < 1:
        raise ValueError(f"--runs: expected 1 or more, found {options.runs}")
    for _ in range(options.runs):
        start = time.perf_counter()
        outputs = method.execute(arrays)
        milliseconds = (time.perf_counter() - start) * 1e3
    if options.output:
        numpy.savez(options.output, *map(numpy.asarray, outputs))
    told = [described(each, options.top) for each in outputs]
    if options.json:
        head = {"program": str(options.program), "method": name, "milliseconds": milliseconds}
        print(json.dumps({**head, "inputs": [described(a, 0) for a in arrays], "outputs": told}))
        return 0
    sizes = ", ".join(sized(each) for each in arrays) or "nothing"
    print(f"{options.program}: {name} on {sizes}: {milliseconds:.2f} ms")
    for number, each in enumerate(told):
        print(f"  output {method.metadata.output_names()[number] or number}: {line(each)}")
    if options.output:
        print(f"wrote {options.output}")
    return 0


def method_name(program: Any, options: argparse.Namespace) -> str:
    names = sorted(program.method_names)
    chosen = options.method or ("forward" if "forward" in names else names[0])
    if chosen not in names:
        raise ValueError(f"--method: expected one of {', '.join(names)}, found {chosen}")
    return chosen


def arguments(metadata: Any, options: argparse.Namespace) -> list[Any]:
    """The inputs of the file, else drawn ones: standard normal, small whole numbers from 0 on, and no mask of false."""
    count = metadata.num_inputs()
    held = given.read(options.inputs) if options.inputs else {}
    shapes = dict(options.shape)
    known = {str(number) for number in range(count)}
    for name in {*held, *shapes} - known:
        raise ValueError(f"{name}: expected an input of {', '.join(sorted(known)) or 'none'}")
    draw = numpy.random.default_rng(options.seed)
    return [
        held[str(number)]
        if str(number) in held
        else drawn(metadata.input_tensor_meta(number), shapes.get(str(number)), draw)
        for number in range(count)
    ]


def drawn(meta: Any, sizes: tuple[int, ...] | None, draw: numpy.random.Generator) -> Any:
    kind = ScalarType(meta.dtype())
    if kind not in _DTYPES:
        raise ValueError(f"cannot draw an input of {kind.name}: give it with --inputs")
    shape = tuple(meta.sizes()) if sizes is None else sizes
    if "float" in _DTYPES[kind]:
        return draw.standard_normal(shape).astype(_DTYPES[kind])
    return draw.integers(0, 2, shape).astype(_DTYPES[kind])


def sized(array: Any) -> str:
    return f"{array.dtype}{list(array.shape)}" if hasattr(array, "shape") else repr(array)


def described(value: Any, top: int) -> dict[str, Any]:
    if not hasattr(value, "shape"):
        return {"value": value}
    found: dict[str, Any] = {"dtype": str(value.dtype), "shape": list(value.shape)}
    if value.size == 0 or value.dtype == bool:
        return found
    numbers = numpy.asarray(value, dtype=numpy.float64)
    found |= {
        "min": float(numbers.min()),
        "mean": float(numbers.mean()),
        "max": float(numbers.max()),
    }
    odd = int(numbers.size - numpy.isfinite(numbers).sum())
    if odd:
        found["not finite"] = odd
    if top > 0:
        flat = numbers.ravel()
        order = numpy.argsort(-flat, kind="stable")[:top]
        places = [[int(i) for i in numpy.unravel_index(o, numbers.shape)] for o in order]
        found["top"] = [{"at": at, "value": float(flat[o])} for at, o in zip(places, order)]
    return found


def line(told: dict[str, Any]) -> str:
    if "value" in told:
        return repr(told["value"])
    words = f"{told['dtype']}{told['shape']}"
    if "min" in told:
        words += f" from {told['min']:.4g} to {told['max']:.4g}, mean {told['mean']:.4g}"
    if "not finite" in told:
        words += f", {told['not finite']} are infinite or no number"
    for each in told.get("top", []):
        words += f"\n    {each['value']:.6g} at {each['at']}"
    return words
