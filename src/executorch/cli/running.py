# SPDX-License-Identifier: BSD-3-Clause
"""What `executorch run` does, with NumPy alone."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy

from executorch.devtools.commands.inputs.used import sentence, used_inputs
from executorch.devtools.commands.program_file import plan_of
from executorch.runtime import Runtime


def run_program(options: argparse.Namespace) -> int:
    plan = plan_of(options.program, options.method)
    used = used_inputs(plan, options)
    arrays = [each.value for each in used]
    if options.runs < 1:
        raise ValueError(f"--runs: expected 1 or more, found {options.runs}")
    program = Runtime.get().load_program(options.program, data_path=options.data)
    method = program.load_method(plan.name)
    for _ in range(options.runs):
        start = time.perf_counter()
        outputs = method.execute(arrays)
        milliseconds = (time.perf_counter() - start) * 1e3
    names = method.metadata.output_names()
    if options.output:
        # arr_0, arr_1, ... where the file has no names
        keys = [name or f"arr_{number}" for number, name in enumerate(names)]
        numpy.savez(options.output, **dict(zip(keys, map(as_numpy, outputs), strict=True)))
    shown = [described(each, options.top) for each in outputs]
    if options.json:
        head = {"program": str(options.program), "method": plan.name, "milliseconds": milliseconds}
        inputs = [each.row() | described(each.value, 0) for each in used]
        print(json.dumps({**head, "inputs": inputs, "outputs": shown}))
        return 0
    print(f"{options.program}: {plan.name}, {milliseconds:.2f} ms")
    print(sentence(used))
    for number, each in enumerate(shown):
        print(f"  output {names[number] or number}: {line(each)}")
    if options.output:
        print(f"wrote {options.output}")
    return 0


def as_numpy(value: Any) -> numpy.ndarray:
    """Also of torch's tensors, which NumPy may lack the dtype of."""
    try:
        return numpy.asarray(value)
    except TypeError:
        return numpy.asarray(value.float())


def described(value: Any, top: int) -> dict[str, Any]:
    if not hasattr(value, "shape"):
        return {"value": value}
    dtype = str(value.dtype).removeprefix("torch.")
    found: dict[str, Any] = {"dtype": dtype, "shape": list(value.shape)}
    value = as_numpy(value)
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


def line(shown: dict[str, Any]) -> str:
    if "value" in shown:
        return repr(shown["value"])
    words = f"{shown['dtype']}{shown['shape']}"
    if "min" in shown:
        words += f" from {shown['min']:.4g} to {shown['max']:.4g}, mean {shown['mean']:.4g}"
    if "not finite" in shown:
        words += f", {shown['not finite']} are infinite or no number"
    for each in shown.get("top", []):
        words += f"\n    {each['value']:.6g} at {each['at']}"
    return words
